"""Glicko-2: the example of Glickman's paper, and single rating periods in 40-digit arithmetic."""

import json
import math

import numpy as np
import polars as pl
import pytest
from entering import ONCE

import podium
from podium.engine.inputs import Entrant
from podium.engine.rules import enter, evidence, settle
from podium.systems import find
from podium.systems.glicko2 import Comparison


def test_paper_example():
    """Glickman (2013), p. 4: rounded on the way there, 1464.06, 151.52, 0.05999."""
    system = find("glicko2")
    params = system(tau=0.5).params()
    me = enter(params, system.state_type(1500.0, 200.0, 0.06, 0.0), ONCE)
    totals = [0.0, 0.0]
    for rating, deviation, score in ((1400.0, 30.0, 1.0), (1550.0, 100.0, 0.0), (1700.0, 300.0, 0.0)):
        them = enter(params, system.state_type(rating, deviation, 0.06, 0.0), ONCE)
        expected = 1.0 / (1.0 + math.exp(-them.g * (me.mu - them.mu)))
        comparison = evidence(params, Comparison(score, expected, them.g, 1.0 - expected))
        totals = [a + b for a, b in zip(totals, comparison, strict=True)]
    after = settle(params, me, system.evidence_type(*totals), ONCE)
    assert after[:3] == pytest.approx((1464.0507, 151.5165, 0.0599960), rel=1e-6)


def test_what_moves_nobody_explains_nothing():
    """Of a gap so wide that E (1 - E) underflows the result says nothing, be it the greatest surprise."""
    far = pl.DataFrame({"pool": "default", "player": ["ana", "ben"], "rating": [0.0, 1e6]})
    upset = [{"event_id": "e", "player": player, "position": place} for place, player in ((1, "ana"), (2, "ben"))]
    why = podium.rate(upset, "glicko2", start=far).explain("e", "ana")
    assert why.delta == why.rows["contribution"].sum() == 0.0


def test_periods(shared):
    """251 single rating periods in 40-digit arithmetic."""
    for case in json.loads(shared("golden/glicko2_periods.json").read_text()):
        params = find("glicko2")(tau=case["tau"]).params()
        system = find("glicko2")
        entrant = Entrant(1.0, 0.0, 0.0)
        me = enter(params, system.state_type(case["rating"], case["deviation"], case["volatility"], 0.0), entrant)
        totals = np.zeros(2)
        for rating, deviation, score in case["results"]:
            them = enter(params, system.state_type(rating, deviation, 0.06, 0.0), entrant)
            expected = 1.0 / (1.0 + math.exp(-them.g * (me.mu - them.mu)))
            totals += evidence(params, Comparison(score, expected, them.g, 1.0 - expected))
        after = settle(params, me, system.evidence_type(*totals.tolist()), entrant)
        np.testing.assert_allclose(after[:3], case["after"], rtol=1e-9, err_msg=case["name"])
