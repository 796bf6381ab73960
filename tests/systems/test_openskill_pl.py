"""PlackettLuce of the openskill package, event after event."""

import pytest
from openskill.models import PlackettLuce
from weng_lin import assert_agrees_with_the_package

import podium


@pytest.mark.parametrize("seed", range(6))
def test_equals_the_openskill_package(seed):
    assert_agrees_with_the_package("openskill-pl", PlackettLuce(), seed)


def test_opponents_are_left_out_one_by_one_and_the_rest_is_joint():
    rows = [{"event_id": "e", "player": player, "position": place} for place, player in enumerate("abcd", 1)]
    told = podium.rate(rows, "openskill-pl").explain("e", "b").rows
    assert told["opponent"].to_list() == ["a", "c", "d", None]
    assert told["cause"].to_list() == ["opponent"] * 3 + ["joint"]
    without_a = podium.rate([row for row in rows if row["player"] != "a"], "openskill-pl").explain("e", "b").delta
    whole = podium.rate(rows, "openskill-pl").explain("e", "b").delta
    assert told["contribution"][0] == pytest.approx(whole - without_a, rel=1e-9)


def test_idle_days_widen_the_deviation():
    rows = [
        {"event_id": day, "started_at": day, "player": player, "position": place}
        for day in ("2025-01-01", "2025-07-01")
        for place, player in enumerate("ab", 1)
    ]
    steady = podium.rate(rows, "openskill-pl").ratings["deviation"][0]
    assert podium.rate(rows, "openskill-pl", idle_growth=0.5).ratings["deviation"][0] > steady
