"""SuperTuxKart with deviations, compared with an independent implementation."""

import pytest
from golden import assert_history_is

import podium


def test_a_history_equals_the_independent_implementation(shared):
    assert_history_is(shared, "stk-rd", "stk_rd_3")


def test_a_day_away_limits_a_deviation_that_quits_raised():
    """A day's growth ends at 1000, also for a deviation that several quits have raised above it."""
    days = ["2025-01-01", "2025-01-01", "2025-01-01", "2025-01-01", "2025-01-02", "2025-01-02"]
    rows = [
        row
        for number, day in enumerate(days)
        for row in (
            {"event_id": f"e{number}", "player": "quits", "status": "quit", "time_s": None, "started_at": day},
            {"event_id": f"e{number}", "player": "wins", "status": "finished", "time_s": 100.0, "started_at": day},
        )
    ]
    deviations = {
        idle_growth: podium.rate(rows, "stk-rd", idle_growth=idle_growth).history.filter(player="quits")["deviation"]
        for idle_growth in (False, True)
    }
    assert deviations[False].to_list() == pytest.approx([1000, 1000, 1015, 1033, 1054, 1078])
    assert deviations[True].to_list() == pytest.approx([1000, 1000, 1015, 1033, 1021, 1045])
