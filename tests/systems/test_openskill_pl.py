"""PlackettLuce of the openskill package, event after event."""

import pytest
from openskill.models import PlackettLuce
from weng_lin import assert_agrees_with_the_package

import podium


@pytest.mark.parametrize("seed", range(6))
def test_equals_the_openskill_package(seed):
    assert_agrees_with_the_package("openskill-pl", PlackettLuce(), seed)


def test_idle_days_widen_the_deviation():
    rows = [
        {"event_id": day, "started_at": day, "player": player, "position": place}
        for day in ("2025-01-01", "2025-07-01")
        for place, player in enumerate("ab", 1)
    ]
    steady = podium.rate(rows, "openskill-pl").ratings["deviation"][0]
    assert podium.rate(rows, "openskill-pl", idle_growth=0.5).ratings["deviation"][0] > steady
