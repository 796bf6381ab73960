"""Changes that are not a sum over pairs are divided by Shapley values, here compared with their definition."""

import functools
from itertools import combinations
from math import factorial

import numpy as np
import pytest

import podium
from podium.engine.inputs import ABSENT, Columns
from podium.ledger.reasons.shares import RatingUpdate, affordable_parts, divided, shapley_values, update_of

START = [
    {"pool": "default", "player": player, "rating": rating}
    for player, rating in zip("abcde", (26.0, 31.0, 22.0, 25.0, 28.0), strict=True)
]


def race(order, **more):
    return [{"event_id": "e", "player": player, "position": place} | more for place, player in enumerate(order, 1)]


def change(rows, system, player):
    if len({row["player"] for row in rows}) < 2:
        return 0.0
    rated = podium.rate(rows, system, start=START)
    return rated.history.filter(player=player)["delta"].item()


def shares_by_definition(parts, worth):
    """Return each part's gain, averaged over all orders by weighted coalitions of all sizes."""
    n, worth = len(parts), functools.cache(worth)
    values = dict.fromkeys(parts, 0.0)
    for part in parts:
        others = [each for each in parts if each != part]
        for size in range(n):
            weight = factorial(size) * factorial(n - 1 - size) / factorial(n)
            for coalition in combinations(others, size):
                values[part] += weight * (worth(frozenset({*coalition, part})) - worth(frozenset(coalition)))
    return values


@pytest.mark.parametrize("system", ["trueskill", "elo-mmr"])
def test_opponents_have_the_shares_of_the_definition(system):
    rows = race("abcde")
    fair = shares_by_definition(
        "abde", lambda them: change([row for row in rows if row["player"] in {*them, "c"}], system, "c")
    )
    why = podium.rate(rows, system, start=START).explain("e", "c")
    found = dict(why.rows.select("opponent", "contribution").iter_rows())
    assert found == pytest.approx(fair, abs=1e-9)
    assert [group.label for group in why.groups] == list("abde")


def test_heats_have_the_shares_of_the_definition():
    rows = [row for heat, order in zip("123", ("cab", "bca", "abc"), strict=True) for row in race(order, heat=heat)]
    fair = shares_by_definition(
        "123", lambda heats: change([row for row in rows if row["heat"] in heats], "trueskill", "a")
    )
    why = podium.rate(rows, "trueskill", start=START).explain("e", "a")
    assert [group.points for group in why.groups] == pytest.approx(list(fair.values()), abs=1e-9)
    assert [group.label for group in why.groups] == ["Heat 1", "Heat 2", "Heat 3"]
    assert why.rows["heat"].to_list() == ["1", "1", "2", "2", "3", "3"]


@pytest.mark.parametrize("system", ["trueskill", "openskill-tm-part", "codeforces", "elo-mmr"])
def test_shares_add_up_even_with_quits(system):
    """A team mate who quits is rated apart from the team, and two players who did not finish tie."""
    lines = [
        {"player": "a", "team": "x", "team_score": 2.0},
        {"player": "b", "team": "x", "status": "quit"},
        {"player": "c", "team": "y", "team_score": 1.0},
        {"player": "d", "team": "y", "status": "dnf"},
        {"player": "e", "team": "z", "team_score": 1.0},
    ]
    teams = [line | {"event_id": "e"} for line in lines]
    solo = [{name: each for name, each in line.items() if "team" not in name} for line in teams]
    solo = [row | ({} if "status" in row else {"position": number}) for number, row in enumerate(solo, 1)]
    for rows in (teams, solo):
        rated = podium.rate(rows, system, start=START)
        for player in "abcde":
            why = rated.explain("e", player)
            assert why.rows["contribution"].sum() == pytest.approx(why.delta, abs=1e-9)
            assert set(why.rows["cause"]) <= {"opponent"}
            assert {"b", "d"} - {player} <= {*why.rows["opponent"]}
            assert "did not finish either" not in why.duels.not_compared


def test_more_than_eight_heats_are_combined_with_their_neighbours():
    rows = [row for heat in range(1, 12) for row in race("abc" if heat % 2 else "bca", heat=f"{heat}")]
    why = podium.rate(rows, "openskill-bt").explain("e", "a")
    labels = [group.label for group in why.groups]
    assert len(labels) == 8
    assert labels[:3] == ["Heat 1", "Heat 2", "Heats 3 and 4"]
    assert why.rows["contribution"].sum() == pytest.approx(why.delta, abs=1e-9)


def test_a_large_field_has_fewer_parts():
    empty = Columns(*[ABSENT] * len(Columns._fields))

    def parts(field):
        sizes = np.array([field])
        return affordable_parts(RatingUpdate(empty, 0, (0, field), 0, np.array([0]), sizes, np.arange(field)))

    assert [parts(field) for field in (9, 22, 200, 3000, 100_000)] == [8, 8, 5, 2, 1]
    rated = podium.rate(
        [{"event_id": "e", "player": f"{k}", "position": k} for k in range(1, 1501)], "openskill-tm-part"
    )
    why = rated.explain("e", "700")
    assert why.rows.height == 1499
    assert why.rows["contribution"].sum() == pytest.approx(why.delta, abs=1e-9)
    assert update_of(rated.events.columns, 0).entrants == (0, 1500)


@pytest.mark.parametrize("system", ["trueskill", "elo"])
def test_a_player_who_met_nobody_has_no_shares(system):
    rows = [row for heat, order in (("1", "a"), ("2", "bc")) for row in race(order, heat=heat)]
    why = podium.rate(rows, system, start=START).explain("e", "a")
    assert (why.delta, why.groups, why.rows.height) == (0.0, (), 0)
    assert why.verdict == "a kept the rating."
    assert why.summary == "a: you kept your rating."
    assert why.duels.headline == "No one was compared with anyone."


def test_shapley_values_and_divided_points():
    worth = np.array([0.0, 10.0, 20.0, 60.0])
    assert shapley_values(worth) == [25.0, 35.0]
    assert divided(6.0, [1.0, 2.0]) == pytest.approx([2.0, 4.0])
    assert divided(6.0, [0.0, 0.0]) == [3.0, 3.0]
    assert sum(divided(1.0, [5.0, -4.9])) == pytest.approx(1.0)
    assert max(map(abs, divided(1.0, [5.0, -4.9]))) < 6.0
