"""Hindsight uses later results, has correct intervals, and changes no rating."""

from collections import deque
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import podium
from podium.cli.commands import build
from podium.errors import ParameterError
from podium.ledger.smoothing import propagation
from podium.ledger.smoothing.propagation import Appearances, Heats, SmootherState, converge, least_mix, walk


def seasons(seed, players=60, events=1500):
    """Return duels drawn from the model, with skills that drift randomly in log-odds, and the skills by event."""
    rng = np.random.default_rng(seed)
    skill, rows, truth = rng.normal(0.0, 1.0, players), [], []
    for k in range(events):
        skill += rng.normal(0.0, 0.02, players)
        both = rng.choice(players, 2, replace=False)
        shown = skill[both] + rng.normal(0.0, 0.3, 2) + rng.logistic(0.0, 1.0, 2) / np.sqrt(2.0)
        for player, place in zip(both.tolist(), np.argsort(np.argsort(-shown)) + 1, strict=True):
            when = np.datetime64("2001-01-01") + np.timedelta64(int(k * 2), "D")
            rows.append({"event_id": f"e{k}", "started_at": when, "player": f"p{player}", "position": int(place)})
            truth.append({"event_id": f"e{k}", "player": f"p{player}", "skill": float(skill[player])})
    return pl.DataFrame(rows), pl.DataFrame(truth)


def test_hindsight_is_closer_to_the_truth_than_ratings_and_its_intervals_are_correct():
    inside, before, after = [], [], []
    for seed in range(4):
        results, truth = seasons(seed)
        rated = podium.rate(results, "adaptive")
        known = rated.hindsight().frame.join(truth, on=["event_id", "player"])
        known = known.join(rated.history.select("event_id", "player", day="rating"), on=["event_id", "player"])
        skill = 173.7178 * (known["skill"] - known["skill"].mean()).to_numpy()
        level = 1500.0 + skill - skill.mean() + (known["rating"].mean() - 1500.0)
        off = known["rating"].to_numpy() - level
        inside.append((np.abs(off) < 1.96 * known["deviation"].to_numpy()).mean())
        after.append(np.sqrt((off**2).mean()))
        before.append(np.sqrt(((known["day"] - known["day"].mean()).to_numpy() - (skill - skill.mean())) ** 2).mean())
    assert np.mean(after) < 0.9 * np.mean(before)
    assert 0.9 < np.mean(inside) < 0.99


def test_hindsight_at_the_last_event_is_near_the_ratings():
    results = podium.simulate(players=12, events=120, entrants=4, seed=3).results
    rated = podium.rate(results, "adaptive")
    last = rated.hindsight().frame.group_by("player").last().join(rated.ratings, on="player", suffix="_day")
    assert np.corrcoef(last["rating"], last["rating_day"])[0, 1] > 0.9
    assert rated.ratings.equals(podium.rate(results, "adaptive").ratings)


def test_hindsight_works_with_sides_and_cars():
    rows = [
        {"event_id": f"e{k}", "player": f"p{(k + i) % 5}", "position": 1 + (i + k) % 3, "shared:car": f"c{i % 2}"}
        | ({"side": "white"} if i == 0 else {})
        for k in range(40)
        for i in range(3)
    ]
    known = podium.rate(rows, "adaptive:shared=car").hindsight()
    assert known.frame.height == 120
    assert known.frame["deviation"].min() > 0.0
    assert set(known.frame["player"]) == {f"p{k}" for k in range(5)}


def test_hindsight_rates_pools_separately_whatever_their_size():
    many = podium.simulate(players=6, events=30, entrants=3, seed=5).results.drop_nulls("position")
    many = many.select("event_id", "player", "position")
    one = pl.DataFrame({"event_id": "only", "player": ["a", "b", "c"], "position": [1, 2, 3]})
    both = pl.concat(
        [many.with_columns(pool=pl.lit("many")), one.select(many.columns).with_columns(pool=pl.lit("one"))]
    )
    alone = podium.rate(one, "adaptive").hindsight().frame
    assert podium.rate(one.head(1), "adaptive").hindsight().frame.schema == alone.schema  # nobody met anybody
    known = podium.rate(both, "adaptive").hindsight().frame.filter(pl.col("pool") == "one")
    assert alone["player"].to_list() == ["a", "b", "c"]
    assert alone["rating"].is_sorted(descending=True)
    assert alone["rating"][1] == pytest.approx(1500.0, abs=1e-6)
    np.testing.assert_allclose(known["rating"], alone["rating"], atol=1.0)


def test_dates_before_1970_are_like_other_dates():
    results = podium.simulate(players=8, events=60, seed=2).results
    known = {}
    for year in (1950, 1980):
        start = pl.datetime(year, 1, 1, time_zone="UTC")
        days = 7 * pl.col("event_id").rle_id().cast(pl.Int64)
        rated = podium.rate(results.with_columns(started_at=start + pl.duration(days=days)), "adaptive")
        known[year] = rated.hindsight()
    assert known[1950].frame["at"].dt.year().min() == 1950
    np.testing.assert_allclose(known[1950].frame["rating"], known[1980].frame["rating"], atol=1e-6)
    first = results.filter(pl.col("event_id") == results["event_id"][0])
    assert set(known[1950].at(datetime(1950, 1, 1, tzinfo=UTC))["player"]) == set(first["player"])


def test_rating_gaps_of_frequent_opponents_converge_quickly():
    rng = np.random.default_rng(4)
    rows = [
        {"event_id": f"e{k}", "player": f"p{player}", "position": int(place)}
        for k in range(2000)
        for player, place in zip(rng.choice(4, 2, replace=False), rng.permutation(2) + 1, strict=True)
    ]
    assert podium.rate(pl.DataFrame(rows), "adaptive").hindsight().sweeps < 30


def test_mixed_changes_are_as_small_as_possible():
    rng = np.random.default_rng(0)
    changes = deque(rng.normal(size=(3, 40)))
    shares = least_mix(changes)
    assert shares.sum() == pytest.approx(1.0)
    mixed = shares @ np.array(changes)
    steps = np.diff(np.array(changes), axis=0)
    np.testing.assert_allclose(steps @ mixed, 0.0, atol=1e-9)


def test_other_systems_have_no_hindsight():
    rated = podium.rate(podium.simulate(players=4, events=4, seed=1).results, "glicko2")
    with pytest.raises(ParameterError, match="hindsight is for adaptive"):
        rated.hindsight()


@pytest.mark.parametrize("command", [["hindsight"], ["plot", "histories", "--hindsight"]])
@pytest.mark.parametrize("system", ["glicko2", "adaptive:modes=clay"])
def test_commands_reject_other_systems_before_reading_the_file(tmp_path, command, system):
    file = tmp_path / "results.csv"
    file.write_text("no,results\n", encoding="utf-8")
    done = CliRunner().invoke(build(), [*command, str(file), "--system", system])
    assert isinstance(done.exception, ParameterError)
    assert "hindsight is for adaptive" in str(done.exception)


def test_intervals_allow_for_dependent_pairs_in_a_field():
    """The seasons are drawn from the model with its start parameters, and a player races once a month."""
    inside: dict[str, list[Any]] = {"hindsight": [], "shown": []}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        skill, rows, truth = rng.normal(0.0, 1.0, 80), [], []
        for k in range(200):
            field = rng.choice(80, 12, replace=False)
            skill[field] += rng.normal(0.0, np.sqrt(0.003 + 2e-4 * 30.4), 12)
            shown = skill[field] + rng.normal(0.0, np.sqrt(0.3), 12) + rng.gumbel(0.0, 1.0, 12)
            places = np.argsort(np.argsort(-shown)) + 1
            rows += [
                {"event_id": f"e{k}", "player": f"p{p}", "position": int(at)}
                for p, at in zip(field, places, strict=True)
            ]
            truth += skill[field].tolist()
        rated = podium.rate(rows, "adaptive")
        later = len(rows) // 2  # when everyone has raced a few times
        for name, known, since in (("hindsight", rated.hindsight().frame, 0), ("shown", rated.history, later)):
            rating, deviation = known["rating"].to_numpy()[since:], known["deviation"].to_numpy()[since:]
            off = rating - 173.7178 * np.array(truth[since:])
            off -= np.average(off, weights=deviation**-2.0)
            inside[name].append((np.abs(off) < 1.96 * deviation).mean())
    assert 0.92 < np.mean(inside["hindsight"]) < 0.98
    assert 0.92 < np.mean(inside["shown"]) < 0.98


def test_the_order_of_the_best_is_as_certain_as_stated():
    chances, right = [], []
    for seed in range(6):
        results, truth = seasons(seed, players=40, events=1000)
        best = (
            podium.rate(results, "adaptive")
            .hindsight()
            .best()
            .join(truth, on=["event_id", "player"], maintain_order="left")
        )
        assert (best["ahead"] - 2.0 * best["deviation"]).is_sorted(descending=True)
        assert best["above_next"][-1] is None
        chances += best["above_next"][:-1].to_list()
        right += (best["skill"][:-1] > best["skill"][1:]).to_list()
    assert np.mean(right) == pytest.approx(np.mean(chances), abs=0.08)


def test_the_best_are_compared_with_the_field_of_their_year():
    results, _ = seasons(7, players=20, events=200)
    hindsight = podium.rate(results, "adaptive").hindsight()
    year = pl.col("at").dt.year()
    rise = pl.when(year > year.min()).then(1000.0).otherwise(0.0)
    risen = replace(hindsight, frame=hindsight.frame.with_columns(rating=pl.col("rating") + rise))
    columns = ["player", "event_id", "deviation"]
    assert risen.best().select(columns).equals(hindsight.best().select(columns))
    assert risen.best()["ahead"].to_list() == pytest.approx(hindsight.best()["ahead"].to_list())


def test_a_walk_with_a_vague_start_has_finite_values():
    visits = Appearances._make(np.zeros(2) for _ in Appearances._fields)
    visits.growth[0], visits.precision[1], visits.shift[1] = 1e20, 1.0, 1.0
    walk(visits, 0, 2)
    assert visits.variance == pytest.approx(np.ones(2))
    assert visits.mean == pytest.approx(np.ones(2))


def test_sweeps_that_do_not_converge_keep_finite_values(monkeypatch):
    monkeypatch.setattr(propagation, "sweep", lambda _heats, visits, _way: visits.mean.__iadd__([1e30, -1e30]))
    visits = Appearances._make(np.zeros(2) for _ in Appearances._fields)
    way = SmootherState(*np.array([[0, 1], [0, 1], [0, 0], [0, 0], [0, 0]]))
    assert converge(Heats._make(np.zeros(0) for _ in Heats._fields), visits, way) == propagation.MAX_SWEEPS
    assert np.abs(visits.mean).max() <= propagation.FARTHEST * propagation.MAX_SWEEPS
