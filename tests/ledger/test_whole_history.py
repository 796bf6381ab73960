"""Hindsight on the Elo scale equals published numbers and an optimum found by another method."""

import math
from datetime import date
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import approx_fprime, root

import podium
from podium.errors import ParameterError

SCALE = 400.0 / math.log(10.0)


def event(number, day, *sides, quits=()):
    """Return an event on a day of 2001. Each side is a rank and the names of its players, with a space between them."""
    at = {} if day is None else {"started_at": date(2001, 1, day)}
    return [
        {"event_id": f"e{number}", "player": player, "team": players, "position": None if player in quits else rank}
        | {"status": "dnf" if player in quits else "finished"}
        | at
        for rank, players in sides
        for player in players.split()
    ]


def optimum(events, w2=300.0):
    """Return the most probable ratings by player and event, and their deviations if all other players are known."""
    keys = sorted({(name, n) for n, (_, sides) in enumerate(events) for _, side in sides for name in side.split()})
    where = {key: k for k, key in enumerate(keys)}

    def gradient(x):
        pull = np.zeros_like(x)
        for number, (_, sides) in enumerate(events):
            for (rank, names), (other_rank, other_names) in combinations(sides, 2):
                if rank is None and other_rank is None:
                    continue
                mine, theirs = ([where[name, number] for name in each.split()] for each in (names, other_names))
                gap = x[mine].mean() - x[theirs].mean()
                places = [math.inf if each is None else each for each in (rank, other_rank)]
                result = 0.5 * (1 + np.sign(places[1] - places[0]))
                surprise = 3 / (len(sides) + 1) * (result - 1 / (1 + math.exp(-gap)))
                pull[mine] += surprise / len(mine)
                pull[theirs] -= surprise / len(theirs)
        for k, (player, number) in enumerate(keys):
            if k == 0 or keys[k - 1][0] != player:
                pull[k] += (1 - 1 / (1 + math.exp(-x[k]))) + (0 - 1 / (1 + math.exp(-x[k])))
            else:
                days = events[number][0] - events[keys[k - 1][1]][0]
                step = (x[k] - x[k - 1]) * SCALE**2 / max(w2 * days, 0.01)
                pull[k] -= step
                pull[k - 1] += step
        return pull

    found = root(gradient, np.zeros(len(keys)), method="hybr", options={"xtol": 1e-14}).x
    assert np.abs(gradient(found)).max() < 1e-9
    deviations = np.zeros(len(keys))
    hessian = -approx_fprime(found, gradient, 1e-7)
    for player in {player for player, _ in keys}:
        own = [k for k, key in enumerate(keys) if key[0] == player]
        deviations[own] = np.sqrt(np.diag(np.linalg.inv(hessian[np.ix_(own, own)])))
    return {key: (SCALE * found[k], SCALE * deviations[k]) for k, key in enumerate(keys)}


def check(events, system="elo", w2=None, dated=True):
    """Compare hindsight with the optimum, up to a common level."""
    rows = [
        row
        for number, (day, sides) in enumerate(events)
        for row in event(number, day if dated else None, *sides, quits=[s for rank, s in sides if rank is None])
    ]
    frame = pl.DataFrame(rows).with_columns(pl.col("position").cast(pl.Int64))
    if all(" " not in side for _, sides in events for _, side in sides):
        frame = frame.drop("team")
    known = podium.rate(frame, system).hindsight(w2).frame
    expected = optimum(events, 300.0 if w2 is None else w2)
    numbers = [int(name[1:]) for name in known["event_id"]]
    ratings, deviations = np.array([expected[key] for key in zip(known["player"], numbers, strict=True)]).T
    off = known["rating"].to_numpy() - ratings
    np.testing.assert_allclose(off, off.mean(), atol=1e-6)
    np.testing.assert_allclose(known["deviation"], deviations, rtol=1e-6)
    return known


def test_goshrine_ratings_of_two_players():
    """From the tests of github.com/goshrine/whole_history_rating."""
    games = [(1, "shusaku", "shusai"), *((day, "shusai", "shusaku") for day in (2, 3, 4, 4))]  # winner and loser
    rows = [row for k, (day, *names) in enumerate(games) for row in event(k, day, *enumerate(names, start=1))]
    known = podium.rate(pl.DataFrame(rows).drop("team"), "elo").hindsight().frame
    for player, ratings in (("shusaku", [-92, -94, -95, -96, -96]), ("shusai", [92, 94, 95, 96, 96])):
        assert (known.filter(player=player)["rating"] - 1500.0).to_list() == pytest.approx(ratings, abs=1.0)


@pytest.mark.parametrize(
    "events",
    [
        [(1, [(1, "a"), (2, "b")])],
        [(1, [(1, "a"), (1, "b")])],
        [(1 + 3 * k, [(1, "a"), (2, "b")]) for k in range(8)],
        [(1, [(1, "a"), (2, "b")]), (1, [(1, "b"), (2, "c")]), (9, [(1, "d"), (2, "e")]), (9, [(1, "d"), (2, "e")])],
        [(2, [(1, "a b"), (2, "c d")]), (3, [(1, "a c"), (1, "b e")]), (5, [(1, "e a d"), (2, "b c")])],
        [(1, [(1, "a"), (2, "b"), (None, "c"), (None, "d")]), (2, [(1, "d"), (2, "c"), (3, "a"), (4, "b")])],
    ],
    ids=["one game", "one tie", "only wins", "groups that never met", "teams", "fields with quits"],
)
def test_ratings_are_the_most_probable(events):
    check(events)


def test_ratings_of_random_histories_are_the_most_probable():
    rng = np.random.default_rng(7)
    for system, w2 in (("elo", 14.0), ("fide", 300.0), ("dwz", 1.0), ("uscf", None)):
        events = []
        for day in sorted(rng.integers(1, 28, 14).tolist()):
            one, other = rng.choice(list("abcdef"), 2, replace=False)
            events.append((day, [(1, str(one)), (int(rng.choice([1, 2])), str(other))]))
        check(events, system, w2)


def test_without_dates_each_event_counts_as_a_day():
    check([(k, [(1, "ab"[k % 3 == 0]), (2, "ab"[k % 3 != 0])]) for k in range(6)], dated=False)


def test_the_weight_of_events_and_the_scale_count():
    rows = [row | {"weight": 1.0 + k % 2} for k in range(5) for row in event(k, 1 + k, (1, "a"), (2, "b"))]
    frame = pl.DataFrame(rows).drop("team")
    doubled = pl.concat([frame, frame.filter(weight=2.0).with_columns(event_id=pl.col("event_id") + "b")])
    plain, wide = (
        podium.rate(frame, f"elo:scale={scale}").hindsight(w2) for scale, w2 in ((400, 300.0), (800, 1200.0))
    )
    twice = podium.rate(doubled.drop("weight"), "elo").hindsight()
    lead, wide_lead, lead_twice = (each.frame["rating"][0] - each.frame["rating"][1] for each in (plain, wide, twice))
    assert wide_lead == pytest.approx(2.0 * lead)
    assert lead_twice == pytest.approx(lead, abs=1e-3)  # the two events are seconds apart


def test_hindsight_without_games_is_empty():
    alone = pl.DataFrame({"event_id": ["e"], "player": ["a"], "position": [1]})
    assert podium.rate(alone, "elo").hindsight().frame.is_empty()
    assert podium.rate(alone.clear(), "elo").hindsight().best().is_empty()


def test_a_drift_out_of_range_is_an_error():
    frame = pl.DataFrame(event(0, 1, (1, "a"), (2, "b"))).drop("team")
    for w2 in (-1.0, 2e6, math.nan, math.inf):
        with pytest.raises(ParameterError, match=r"w2: .* must be a number from 0 to 1,000,000"):
            podium.rate(frame, "elo").hindsight(w2)
    with pytest.raises(ParameterError, match="w2: adaptive learns how fast skills change"):
        podium.rate(frame, "adaptive").hindsight(300.0)
