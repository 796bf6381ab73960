"""Glicko's published example."""

import pytest

from podium.engine.inputs import Entrant
from podium.engine.rules import Comparison, enter, evidence, update_state
from podium.probability.logistic import logistic
from podium.systems import find
from podium.systems.glicko import Q


def test_the_papers_example():
    """Glickman, The Glicko system, p. 4: 1500 (200) against 1400 (30), 1550 (100), 1700 (300) gives 1464 (151.4)."""
    system = find("glicko")
    params, once = system().params(), Entrant(1.0, 0.0, 0.0)
    me = enter(params, system.state_type(1500.0, 200.0, 0.0), once)
    totals = [0.0, 0.0]
    expected = []
    for rating, deviation, score in ((1400.0, 30.0, 1.0), (1550.0, 100.0, 0.0), (1700.0, 300.0, 0.0)):
        them = enter(params, system.state_type(rating, deviation, 0.0), once)
        expected.append((them.g, logistic(them.g * Q * (1500.0 - rating))))
        comparison = evidence(params, Comparison(score, expected[-1][1], them.g))
        totals = [a + b for a, b in zip(totals, comparison, strict=True)]
    assert [g for g, _ in expected] == pytest.approx([0.9955, 0.9531, 0.7242], abs=5e-5)
    assert [e for _, e in expected] == pytest.approx([0.639, 0.432, 0.303], abs=5e-4)
    after = update_state(params, me, system.evidence_type(*totals), once)
    assert after.rating == pytest.approx(1464.0, abs=0.5)
    assert after.deviation == pytest.approx(151.4, abs=0.05)


def test_idleness_widens_a_deviation_up_to_a_newcomers():
    """With the paper's c of 63.2 it grows from 50 to 350 in thirty periods, here days."""
    system = find("glicko").from_text({"idle_growth": 63.2})
    widened = enter(system.params(), system.state_type(1500.0, 50.0, 9.0), Entrant(1.0, 0.0, 30.0))
    assert widened.deviation == pytest.approx(350.0, abs=0.5)
    assert enter(system.params(), system.state_type(1500.0, 50.0, 9.0), Entrant(1.0, 0.0, 900.0)).deviation == 350.0
