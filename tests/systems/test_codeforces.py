"""Codeforces' published program, written out plainly here with Python's whole numbers."""

import math
import random

import podium


def chance(a, b):
    return 1.0 / (1.0 + 10.0 ** ((b - a) / 400.0))


def divided(a, b):
    """Whole-number division towards zero."""
    return int(a / b)


def contest(ratings, order):
    """The changes of one contest: `order` is groups of players who tie, best first."""
    rank, seen = {}, 0
    for tied in order:
        seen += len(tied)
        rank.update(dict.fromkeys(tied, seen))

    def seed(rating):
        return 1.0 + sum(chance(other, rating) for other in ratings.values())

    def deserved(place):
        low, high = 1, 8000
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if seed(middle) < place else (middle, high)
        return low

    change = {}
    for player, rating in ratings.items():
        own = 1.0 + sum(chance(other, rating) for name, other in ratings.items() if name != player)
        change[player] = divided(deserved(math.sqrt(rank[player] * own)) - rating, 2)
    n = len(ratings)
    shift = divided(-sum(change.values()), n) - 1
    change = {player: points + shift for player, points in change.items()}
    top = sorted(ratings, key=lambda player: -ratings[player])[: min(4 * round(math.sqrt(n)), n)]
    shift = min(max(divided(-sum(change[player] for player in top), len(top)), -10), 0)
    return {player: points + shift for player, points in change.items()}


def test_equals_the_published_program():
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
        for player, points in contest({player: ratings[player] for player in field}, order).items():
            ratings[player] += points
    told = dict(podium.rate(rows, "codeforces").ratings.select("player", "rating").iter_rows())
    assert told == {player: float(ratings[player]) for player in told}
