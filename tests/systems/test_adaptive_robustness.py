"""The system `adaptive` on difficult results: rings of accounts, ties, reversals, crowds, young pools."""

import importlib.util
import math
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import podium
from podium.analysis.audit import audit
from podium.analysis.predictions import HeatSelection
from podium.analysis.scores import judge_heats
from podium.engine.pool_state import new_pools
from podium.engine.tables.encoding import encode
from podium.systems import find

DOCS = Path(__file__).parents[2] / "docs"


def docs_module(name):
    """Return a script of docs/. Its hard cases are measured in full for the documentation."""
    found = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert found is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module


hard = docs_module("hard_cases")
SEASON = hard.young_season(3, hard.YoungPool(field=6, races=240, players=60, days=300))


@pytest.fixture(scope="module")
def rated():
    return podium.rate(SEASON, "adaptive")


def ratings_by_player(rated):
    return rated.ratings.sort("player")["rating"]


def pairs_of_others(rated, strangers):
    pairs = rated.predictions()
    return pairs.filter(~pl.col("player").is_in(strangers) & ~pl.col("opponent").is_in(strangers))


def log_loss(pairs):
    chance = np.where(pairs["result"] == 1.0, pairs["expected"], 1.0 - pairs["expected"])
    return float(-np.log(chance).mean())


def test_the_audit_finds_a_ring_of_accounts_as_an_isolated_group():
    season = hard.young_season(3, hard.YoungPool(field=8, races=1000))
    results = podium.read_results(season)
    midway = hard.START + timedelta(days=300)
    ring = hard.ring_of_accounts(results.frame["pool"][0], midway, accounts=10, duels=300)
    rigged = podium.rate(hard.with_rows(results, ring), "adaptive")
    accounts = sorted(ring["player"].unique())
    assert rigged.ratings["rating"].is_finite().all()
    assert [sorted(players) for players in audit(rigged).isolated_groups["players"]] == [accounts]
    before, after = (log_loss(pairs_of_others(each, accounts)) for each in (podium.rate(season, "adaptive"), rigged))
    assert before != after  # the ring changes the pool's parameters
    assert abs(after - before) <= 0.001


def test_a_frequent_guest_at_random_places_hardly_affects_others(rated):
    visited = podium.rate(hard.with_constant_guest(SEASON), "adaptive")
    played = visited.history.group_by("player").len().sort("len")["player"][-1]
    assert played == "the guest"
    before, after = (log_loss(pairs_of_others(each, ["the guest"])) for each in (rated, visited))
    assert abs(after - before) <= 0.005


def test_one_race_rates_three_newcomers():
    race = SEASON.head(3)
    ratings = podium.rate(race, "adaptive").ratings
    assert ratings["player"].to_list() == race["player"].to_list()
    assert ratings["rating"][1] == pytest.approx(1500.0, abs=1e-9)
    assert ratings["rating"][0] - 1500.0 == pytest.approx(1500.0 - ratings["rating"][2], rel=1e-12)


def test_a_crowd_is_rated_in_its_order():
    ratings = podium.rate(hard.crowd(1500, 1), "adaptive").ratings
    assert ratings["rating"].is_finite().all()
    assert ratings["player"].to_list() == hard.crowd(1500, 1)["player"].to_list()


def test_nobody_gains_if_all_tie():
    ties = podium.rate(hard.all_tied(SEASON), "adaptive")
    assert ties.ratings["rating"].to_numpy() == pytest.approx(1500.0, abs=1e-9)
    assert (ties.predictions()["expected"] == 0.5).all()


def test_reversed_results_mirror_every_rating(rated):
    """The model does not know which end of a race is better. Growth is learnt with the opposite sign."""
    back = podium.rate(hard.reversed_places(SEASON), "adaptive")
    assert ratings_by_player(back).to_numpy() == pytest.approx(3000.0 - ratings_by_player(rated).to_numpy(), abs=1e-6)
    forth, mirrored = (each.learnt() for each in (rated, back))
    assert mirrored["growth"].to_numpy() == pytest.approx(-forth["growth"].to_numpy(), abs=1e-6)
    assert mirrored["spread"].to_numpy() == pytest.approx(forth["spread"].to_numpy(), abs=1e-6)


def test_reversing_the_second_half_leaves_finite_ratings():
    half = SEASON.height // 2
    turned = pl.concat([SEASON.head(half), hard.reversed_places(SEASON.tail(SEASON.height - half))])
    rated = podium.rate(turned, "adaptive")
    assert rated.ratings["rating"].is_finite().all()
    assert all(rated.learnt().select(pl.exclude("event_id", "started_at").is_finite().all()).row(0))


def test_a_young_pool_predicts_nearly_as_well_as_the_true_parameters():
    """The seasons are drawn from the model, and the true parameters stay fixed. Four of twenty seeds."""
    pool = hard.YoungPool(field=4)
    assert np.mean([loss_above_truth(seed, pool) for seed in range(100, 104)]) <= 0.002


def loss_above_truth(seed, pool):
    system = find("adaptive")()
    events = encode(podium.read_results(hard.young_season(seed, pool)), system)
    count = events.columns.entrants.size - 1
    selection = HeatSelection(np.arange(count) >= 0.6 * count)
    fields, true = system.pool_state_type._fields, new_pools(system, 1)
    values = {"spread": pool.spread, "noise": pool.noise, "idle_day": pool.drift, "event": 1e-5}
    for name, value in values.items():
        true[0, fields.index(name)] = math.log(value)
    for k in range(1, 9):
        true[0, fields.index(f"m_{k}_{k}")] = 1e12  # a precision so high that no result changes the value
    losses = [
        judge_heats(events, system, selection, start)[0].select("log_loss", "pairs").sum() for start in (None, true)
    ]
    learnt, still = (each["log_loss"][0] / each["pairs"][0] for each in losses)
    return learnt - still
