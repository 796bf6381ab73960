"""Sums of scores and times do not depend on the order of rows, and equal decimal sums are a draw."""

import itertools
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium.kernels.decimal_sums import decimal_sums

TEAMS = {"a": ("X", 0.1), "b": ("X", 0.2), "c": ("X", 0.3), "d": ("Y", 0.3), "f": ("Y", 0.2), "g": ("Y", 0.1)}


def ratings(rows, system):
    return dict(podium.rate(rows, system).ratings.select("player", "rating").iter_rows())


def team_rows(scores):
    return [{"event_id": "e", "player": name, "team": team, "score": score} for name, (team, score) in scores.items()]


@pytest.mark.parametrize("system", ["xonstat", "elo", "trueskill"])
def test_equal_teams_draw_in_any_order_of_rows(system):
    """Rounding once made xonstat rate this as a win by 200 to 0."""
    for rows in itertools.islice(itertools.permutations(team_rows(TEAMS)), 0, None, 37):
        found = ratings(rows, system)
        assert max(found.values()) - min(found.values()) < 1e-9, [row["player"] for row in rows]


def test_a_team_draws_with_a_player_who_scores_its_decimal_sum():
    thirds = {"a": ("X", 0.1), "b": ("X", 0.1), "c": ("X", 0.1), "d": ("Y", 0.3)}
    assert len(set(ratings(team_rows(thirds), "elo").values())) == 1


def test_heats_with_equal_sums_of_scores_are_an_overall_draw():
    heats = {"ana": (0.1, 0.2, 0.3), "ben": (0.3, 0.2, 0.1), "cy": (0.2, 0.2, 0.2)}
    rows = [
        {"event_id": "e", "heat": str(heat), "player": name, "score": scores[heat]}
        for heat in range(3)
        for name, scores in heats.items()
    ]
    for system in ("trials", "folyami"):
        events = podium.rate(rows, system).events
        overall = (events.entry_heat == "overall").to_numpy()
        if overall.any():
            assert events.columns.place[overall].tolist() == [2.0, 2.0, 2.0], system
            return
    pytest.fail("no system compares the overall result")


def test_times_of_heats_add_up_in_any_order_and_without_scores():
    rows = [
        {"event_id": "e", "heat": heat, "player": name, "time_s": time_s}
        for name, times in {"ana": (60.1, 60.2, 60.3), "ben": (60.3, 60.2, 60.1)}.items()
        for heat, time_s in zip("123", times, strict=True)
    ]
    events = podium.rate(rows, "trials").events
    overall = (events.entry_heat == "overall").to_numpy()
    assert events.columns.place[overall].tolist() == [1.5, 1.5]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["X", "Y", "Z"]), st.one_of(st.decimals(-99, 99, places=3), st.floats(-1e9, 1e9)).map(float)
        ),
        min_size=2,
        max_size=9,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_rows_changes_no_place(entries, chance):
    rows = team_rows({f"p{k}": entry for k, entry in enumerate(entries)})
    shuffled = chance.sample(rows, len(rows))

    def places(table):
        events = podium.rate(table, "elo").events
        names = [table[row]["player"] for row in events.entry_row.array.tolist()]
        return dict(zip(names, events.columns.place.tolist(), strict=True))

    assert places(shuffled) == places(rows)


@given(st.lists(st.decimals(0, 10**6, places=4), max_size=12))
def test_a_sum_of_decimals_is_exact(parts):
    values = np.array([float(part) for part in parts])
    exact = float(sum((Fraction(part) for part in parts), Fraction(0)))
    assert decimal_sums(values, np.array([len(parts)])).tolist() == [exact]


@given(st.lists(st.floats(-1e300, 1e300), max_size=12))
def test_other_sums_are_exact_to_fifteen_digits(parts):
    (found,) = decimal_sums(np.array(parts, np.float64), np.array([len(parts)])).tolist()
    size = sum(abs(part) for part in parts)
    assert math.isclose(found, math.fsum(parts), rel_tol=1e-14, abs_tol=1e-15 * min(size, 1e300))


def test_runs_are_summed_separately_and_overflow_is_not_nan():
    values = np.array([1.5, 2.25, 1e308, 1e308, -1e308])
    assert decimal_sums(values, np.array([2, 0, 3])).tolist()[:2] == [3.75, 0.0]
    assert decimal_sums(np.array([1e308, 1e308]), np.array([2])).tolist() == [math.inf]
    assert pl.Series(decimal_sums(np.empty(0), np.empty(0, np.int64))).is_empty()
