"""SuperTuxKart compared with its text, and with a history rated by an independent implementation."""

import numpy as np
import polars as pl
import pytest
from entering import ONCE, entry
from golden import assert_history_is

import podium
from podium.engine.inputs import Heat
from podium.engine.rules import compare, enter
from podium.systems import find
from podium.systems.stk import lead


def test_expected_result_of_2000_points():
    system = find("stk")
    params = system().params()
    entering_states = [enter(params, system.state_type(rating, rating, 45.0), ONCE) for rating in (4000.0, 2000.0)]
    comparison = compare(params, *entering_states, entry(1.0), entry(2.0), Heat(2.0, 0.0))[0]
    assert comparison.expected == pytest.approx(0.909, abs=0.0005)


def test_base_points_add_up_to_2000():
    """The text says: 4000 in all, of which newcomers have 2000. Equals who tie exchange nothing."""
    rows = [
        {"event_id": f"r{race}", "player": player, "time_s": 100.0} for race in range(50) for player in ("ana", "ben")
    ]
    ratings = podium.rate(rows, "stk").ratings["rating"]
    assert ratings.to_list() == pytest.approx([4000.0, 4000.0], abs=1e-9)


def test_results_are_between_a_tie_and_a_fortieth():
    assert lead(100.0, 100.0) == 0.5
    assert lead(100.0, 101.25) == pytest.approx(0.75)
    assert lead(100.0, 102.5) == 1.0
    assert lead(102.6, 100.0) == 0.0


def test_exchange_without_base_points(shared):
    golden = pl.read_csv(shared("golden/stk_1.golden.csv"))
    rated = podium.rate(shared("golden/stk_1.results.parquet"), "stk", base_points_events=0)
    first = golden.filter(pl.col("event_id") == "r0000")
    ours = rated.history.filter(pl.col("event_id") == "r0000")
    np.testing.assert_allclose(sorted(ours["delta"]), sorted(first["delta_exchange"]), rtol=1e-9)


def test_a_history_equals_the_independent_implementation(shared):
    assert_history_is(shared, "stk", "stk_1")
