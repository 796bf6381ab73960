"""XonStat compared with its text's example and with an independent implementation."""

import pytest
from entering import entry
from golden import assert_history_is

from podium.engine.inputs import Heat
from podium.engine.rules import compare
from podium.systems import find


def duel(system, winner, loser, **parameters):
    """Return the change of each established player in a duel between these ratings."""
    made = find(system)(**parameters)
    state = made.newcomer()
    entering_states = [made.entering_type(rating, 40.0, 40.0) for rating in (winner, loser)]
    assert state.events == 0.0
    comparison = compare(made.params(), *entering_states, entry(1.0), entry(2.0), Heat(2.0, 0.0))
    return [each.weight * (each.result - each.expected) for each in comparison]


def test_the_texts_example():
    """450 beats 350 at K 40: 14.40; 350 beats 450: 25.60."""
    assert duel("xonstat", 450.0, 350.0) == pytest.approx([14.40, -14.40], abs=0.005)
    assert duel("xonstat", 350.0, 450.0) == pytest.approx([25.60, -25.60], abs=0.005)


def test_a_history_equals_the_independent_implementation(shared):
    assert_history_is(shared, "xonstat", "xonstat_5")
