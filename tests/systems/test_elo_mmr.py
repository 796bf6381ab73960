"""Elo-MMR compared with its author's program, and differences between that program and the paper."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from elo_mmr_py import Contest, EloMmrConfig, rate_latest
from scipy.optimize import brentq

import podium
from podium.systems import find, names

START = datetime(2020, 1, 1, tzinfo=UTC)


def season(seed, contests, *, weights=False):
    """Return contests as (day, weight, players, ranks), with ties but never all tied."""
    rng = np.random.default_rng(seed)
    day = 0
    for _ in range(contests):
        day += int(rng.integers(0, 40))
        players = rng.permutation(12)[: rng.integers(2, 9)]
        marks = np.sort(rng.integers(0, 12, players.size))
        marks[-1] += 1
        ranks = np.searchsorted(marks, marks)
        yield day, float(rng.choice([0.5, 1.0, 2.0])) if weights else 1.0, players.tolist(), ranks.tolist()


def by_the_author(events, **options):
    contests = []
    for day, weight, players, ranks in events:
        standings = [
            (f"p{player}", rank, rank + ranks.count(rank) - 1) for player, rank in zip(players, ranks, strict=True)
        ]
        seconds = int((START + timedelta(days=day)).timestamp())
        contests.append(Contest(standings, time_seconds=seconds, weight=weight))
    found = rate_latest(contests, EloMmrConfig("mmr", **options))
    return {name: (estimate.mu, estimate.sig) for name, estimate in found.items()}


def by_podium(events, **options):
    rows = [
        {
            "event_id": f"e{number}",
            "started_at": (START + timedelta(days=day)).isoformat(),
            "weight": weight,
            "player": f"p{player}",
            "position": rank + 1,
        }
        for number, (day, weight, players, ranks) in enumerate(events)
        for player, rank in zip(players, ranks, strict=True)
    ]
    ratings = podium.rate(rows, "elo-mmr", **options).ratings
    return {name: (mu, sig) for name, mu, sig in ratings.select("player", "rating", "deviation").iter_rows()}


def assert_equal(mine, authors, rel=1e-9):
    assert mine.keys() == authors.keys()
    for name, (mu, sig) in authors.items():
        assert mine[name][0] == pytest.approx(mu, rel=rel)
        assert mine[name][1] == pytest.approx(sig, rel=rel)


@pytest.mark.parametrize("seed", range(4))
def test_ratings_equal_the_authors_program_with_unlimited_history(seed):
    events = list(season(seed, 16))
    assert_equal(by_podium(events), by_the_author(events))


@pytest.mark.parametrize("seed", range(3))
def test_ratings_equal_it_with_weights_drift_and_split_ties(seed):
    events = list(season(seed, 16, weights=True))
    mine = by_podium(events, drift=9.0, split_ties=True, limit=60.0, weight_limit=0.4)
    authors = by_the_author(events, drift_per_day=9.0, split_ties=True, sig_limit=60.0, weight_limit=0.4)
    assert_equal(mine, authors)


def test_compressing_the_history_hardly_changes_ratings():
    """Sixteen factors are compared with an unlimited history. Merged factors have lost nearly all their weight."""
    events = list(season(9, 200))
    mine, authors = by_podium(events), by_the_author(events)
    assert max(abs(mine[name][0] - authors[name][0]) for name in authors) < 1.0
    short = by_podium(events, history=1)
    assert max(abs(short[name][0] - authors[name][0]) for name in authors) > 1.0


def test_a_drawn_duel_counts_although_the_program_ignores_it():
    """In the paper's equation both performances solve l (2 tanh + 2 tanh) = 0, the mean of two equal priors."""
    draw = [(0, 1.0, [1, 2], [0, 0])]
    assert by_the_author(draw) == {}
    mu, sig = by_podium(draw)["p1"]
    limit, variance = 80.0**2, (1.0 + 1.0 / 0.2) * 80.0**2
    assert mu == pytest.approx(1500.0, abs=1e-9)
    assert sig == pytest.approx(1.0 / math.sqrt(1.0 / (350.0**2 + 0.2 * limit) + 1.0 / variance), rel=1e-12)


def test_two_players_who_did_not_finish_tie_for_last():
    """A newcomer's performance among equals solves l (wins (1 - t) - losses (1 + t) - ties t) = 0 for t = tanh."""
    statuses = {"ana": (1, "finished"), "ben": (2, "finished"), "cy": (None, "dnf"), "dov": (None, "quit")}
    race = [
        {"event_id": "r", "player": name, "position": place, "status": status}
        for name, (place, status) in statuses.items()
    ]
    ratings = dict(podium.rate(race, "elo-mmr").ratings.select("player", "rating").iter_rows())
    assert ratings["cy"] == ratings["dov"]
    alone = [row for row in race if row["player"] != "dov"]
    assert dict(podium.rate(alone, "elo-mmr").ratings.select("player", "rating").iter_rows())["cy"] != ratings["cy"]
    limit, variance = 80.0**2, (1.0 + 1.0 / 0.2) * 80.0**2
    prior = 350.0**2 + 0.2 * limit
    lost, tied, own = 2.0, 1.0, 2.0
    # Two losses, one tie that counts half for each, and the player's own factor: l (-2 lost) = l (2 lost + 2 tied + 2
    # own) t.
    performance = (
        1500.0 + math.atanh(-lost / (lost + tied + own)) * 2.0 * math.sqrt(prior + variance) * math.sqrt(3.0) / math.pi
    )
    posterior = brentq(
        lambda x: (
            (x - 1500.0) / prior
            + math.pi / math.sqrt(3.0 * variance) * math.tanh(math.pi / math.sqrt(12.0 * variance) * (x - performance))
        ),
        performance,
        1500.0,
    )
    assert ratings["cy"] == pytest.approx(posterior, abs=1e-6)


@pytest.mark.parametrize("name", [name for name in names() if not find(name).needs])
def test_two_unfinished_players_are_compared_if_the_system_says_so(name):
    """If the system ties them, one player's loss depends on the other's rating. If it does not compare them, it does
    not.
    """
    before = [
        {"event_id": f"e{k}", "player": player, "position": 1 + (player != "star"), "status": "finished"}
        for k in range(6)
        for player in ("star", "ana")
    ]

    def fall_beside(other):
        race = [
            {"event_id": "race", "player": player, "position": place, "status": "finished" if place else "dnf"}
            for player, place in (("one", 1), ("two", 2), ("me", None), (other, None))
        ]
        return podium.rate([*before, *race], name).history.filter(event_id="race", player="me")["delta"].item()

    ties = "tie" in find(name).unfinished.replace("not compared", "") or "shares" in find(name).unfinished
    assert (fall_beside("star") != pytest.approx(fall_beside("new"), abs=1e-9)) == ties


def test_ratings_stay_above_a_newcomers_in_every_decade(shared):
    races = pl.read_parquet(shared("data/f1.parquet")).filter(pool="f1-race")
    decade = (pl.col("started_at").dt.year() // 10 * 10).alias("decade")
    means = podium.rate(races, "elo-mmr").history.group_by(decade).agg(pl.col("rating").mean())
    assert means["rating"].min() > find("elo-mmr")().newcomer().rating
    assert podium.evaluate(races, "elo-mmr").scores["log_loss"].item() < 0.645
