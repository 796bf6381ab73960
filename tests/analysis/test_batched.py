"""Judging many parameter sets together gives each the same loss as judging it alone."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from extent import times
from hypothesis import given, settings
from strategies import histories

import podium
from podium.analysis.batched import can_share, sums_of_losses
from podium.analysis.scores import Window, judge_events, judged_heats
from podium.engine.large_heats import LARGE_HEAT
from podium.engine.tables.encoding import encode
from podium.kernels.records import LANES
from podium.systems import find, names

SHARED = [name for name in names() if can_share(find(name)())]


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", times(SHARED[::9], SHARED))  # one kernel for each
@settings(max_examples=10)
@given(rows=histories(heats=2))
def test_each_lane_equals_a_separate_replay(name, rows):
    start: Any = find(name)()
    first = {"tau": 0.4} if hasattr(start, "tau") else {"initial": start.initial + 40.0}
    systems = [start, replace(start, **first)] * (LANES // 2 - 1)
    events = encode(podium.read_results(rows), start)
    judged = judged_heats(events, Window())
    losses, pairs = sums_of_losses(systems, events, judged)
    assert losses.size == len(systems)
    for system, loss in zip(systems[:2], losses[:2], strict=True):
        table, _ = judge_events(events, system, Window())
        assert (loss, pairs) == pytest.approx((table["log_loss"].sum(), table["pairs"].sum()), rel=1e-12)
    assert losses[2:].tobytes() == np.resize(losses[:2], losses.size - 2).tobytes()


def test_systems_learn_from_events_that_are_not_judged():
    rows = [
        {"event_id": f"e{number}", "started_at": f"2025-01-{number + 1:02}", "player": player, "position": place}
        for number in range(20)
        for place, player in enumerate(("ana", "ben"), start=1)
    ]
    elo = find("elo")()
    events = encode(podium.read_results(rows), elo)
    last = np.arange(20) == 19
    (late,), _ = sums_of_losses([elo], events, last)
    (early,), _ = sums_of_losses([elo], events, np.arange(20) == 0)
    assert early == pytest.approx(np.log(2.0))
    assert late < early
    assert sums_of_losses([elo], events, np.zeros(20, bool))[1] == 0.0


def test_large_heats_are_not_judged_together():
    field = [{"event_id": "e", "player": f"p{number}", "position": number + 1} for number in range(LARGE_HEAT)]
    elo = find("elo")()
    assert not can_share(elo, encode(podium.read_results(field), elo))
    assert can_share(elo, encode(podium.read_results(field[1:]), elo))
