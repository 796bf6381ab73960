"""Elo-MMR against its author's program, and where that departs from the paper."""

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from elo_mmr_py import Contest, EloMmrConfig, rate_latest

import podium

START = datetime(2020, 1, 1, tzinfo=UTC)


def season(seed, contests, *, weights=False):
    """Contests as (day, weight, players, ranks), with ties, never all tied."""
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
def test_equals_the_authors_program_while_the_history_has_room(seed):
    events = list(season(seed, 16))
    assert_equal(by_podium(events), by_the_author(events))


@pytest.mark.parametrize("seed", range(3))
def test_equals_it_with_weights_drift_and_split_ties(seed):
    events = list(season(seed, 16, weights=True))
    mine = by_podium(events, drift=9.0, split_ties=True, limit=60.0, weight_limit=0.4)
    authors = by_the_author(events, drift_per_day=9.0, split_ties=True, sig_limit=60.0, weight_limit=0.4)
    assert_equal(mine, authors)


def test_compressing_the_history_costs_next_to_nothing():
    """Sixteen factors against an unbounded history: what is merged has lost nearly all its weight."""
    events = list(season(9, 200))
    mine, authors = by_podium(events), by_the_author(events)
    assert max(abs(mine[name][0] - authors[name][0]) for name in authors) < 1.0
    short = by_podium(events, history=1)
    assert max(abs(short[name][0] - authors[name][0]) for name in authors) > 1.0


def test_a_drawn_duel_counts_where_the_program_leaves_it_out():
    """By the paper's equation: both performances solve l (2 tanh + 2 tanh) = 0, the mean of two equal priors."""
    draw = [(0, 1.0, [1, 2], [0, 0])]
    assert by_the_author(draw) == {}
    mu, sig = by_podium(draw)["p1"]
    limit, variance = 80.0**2, (1.0 + 1.0 / 0.2) * 80.0**2
    assert mu == pytest.approx(1500.0, abs=1e-9)
    assert sig == pytest.approx(1.0 / math.sqrt(1.0 / (350.0**2 + 0.2 * limit) + 1.0 / variance), rel=1e-12)
