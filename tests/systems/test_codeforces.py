"""Codeforces compared with its published program, rewritten with Python's integers, and with real rating changes."""

import math
import random

import polars as pl
import pytest
from extent import times

import podium


def chance(a, b):
    return 1.0 / (1.0 + 10.0 ** ((b - a) / 400.0))


def divided(a, b):
    """Divide integers, and round towards zero."""
    return int(a / b)


def contest(ratings, order, *, counts_self):
    """Return the changes of one contest. `order` is the groups of tied players, best first.

    The published program counts contestants themselves, at their own ratings, among those who may be ahead.
    """
    rank, seen = {}, 0
    for tied in order:
        seen += len(tied)
        rank.update(dict.fromkeys(tied, seen))

    def seed(rating, left_out):
        return 1.0 + sum(chance(other, rating) for name, other in ratings.items() if name != left_out)

    def deserved(place, left_out):
        low, high = 1, 8000
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if seed(middle, left_out) < place else (middle, high)
        return low

    change = {}
    for player, rating in ratings.items():
        place = math.sqrt(rank[player] * seed(rating, player))
        change[player] = divided(deserved(place, None if counts_self else player) - rating, 2)
    n = len(ratings)
    shift = divided(-sum(change.values()), n) - 1
    change = {player: points + shift for player, points in change.items()}
    top = sorted(ratings, key=lambda player: -ratings[player])[: min(4 * round(math.sqrt(n)), n)]
    shift = min(max(divided(-sum(change[player] for player in top), len(top)), -10), 0)
    return {player: points + shift for player, points in change.items()}


@pytest.mark.parametrize("counts_self", [False, True])
def test_ratings_equal_the_published_program(counts_self):
    """The published program counts contestants themselves. The other case differs only in that."""
    rng = random.Random(5)  # noqa: S311
    players = [f"p{k:02d}" for k in range(40)]
    ratings = dict.fromkeys(players, 1500)
    rows = []
    for number in range(25):
        field = rng.sample(players, rng.randint(2, 40))
        places = sorted(rng.randint(1, len(field)) for _ in field)
        rows += [
            {"event_id": f"c{number:02d}", "player": player, "position": place}
            for player, place in zip(field, places, strict=True)
        ]
        order = [[p for p, q in zip(field, places, strict=True) if q == place] for place in sorted(set(places))]
        for player, points in contest(
            {player: ratings[player] for player in field}, order, counts_self=counts_self
        ).items():
            ratings[player] += points
    rated = dict(
        podium.rate(rows, "codeforces", counts_self=counts_self).ratings.select("player", "rating").iter_rows()
    )
    assert rated == {player: float(ratings[player]) for player in rated}


@pytest.mark.parametrize(
    ("rounds", "changes"),
    times(
        [(["1326-global-7", "1349-641-div1"], 11_878)], [(["1326-global-7", "1342-edu-86", "1349-641-div1"], 26_817)]
    ),
)
def test_ratings_equal_the_sites_real_changes(shared, rounds, changes):
    """The contests are from 2020. Each is a pool that starts with the ratings before it."""
    real = pl.read_parquet(shared("golden/codeforces_real.parquet")).filter(pl.col("event_id").is_in(rounds))
    start = real.select(pool="event_id", player="player", rating="rating_before")
    rows = real.select("event_id", "player", "position", pool="event_id")
    history = podium.rate(rows, "codeforces", start=start).history
    both = history.join(real.rename({"delta": "published"}), on=["event_id", "player"], validate="1:1")
    assert both.height == real.height == changes
    assert (both["delta"] != both["published"]).sum() == 0


def test_extreme_ratings_have_finite_changes():
    start = [{"player": name, "rating": rating} for name, rating in (("a", 1e7), ("b", -1e7), ("c", 1e6), ("d", 1500))]
    rows = [{"event_id": "e", "player": name, "position": place} for place, name in enumerate("bdca", start=1)]
    for counts_self in (False, True):
        assert podium.rate(rows, "codeforces", start=start, counts_self=counts_self).history["delta"].is_finite().all()
