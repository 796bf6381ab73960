"""Glicko-2: the example of Glickman's paper, and single rating periods in 40-digit arithmetic."""

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from entering import ONCE
from hypothesis import given, settings
from hypothesis import strategies as st

import podium
from podium.engine.inputs import Entrant
from podium.engine.rules import enter, evidence, update_state
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
    after = update_state(params, me, system.evidence_type(*totals), ONCE)
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
        after = update_state(params, me, system.evidence_type(*totals.tolist()), entrant)
        np.testing.assert_allclose(after[:3], case["after"], rtol=1e-9, err_msg=case["name"])


def field_of(favourite, deviation, others, volatility=0.06):
    """A favourite and a field at 1500 (60)."""
    field = [{"player": f"p{k}", "rating": 1500.0, "deviation": 60.0, "volatility": 0.06} for k in range(others)]
    return [{"player": "favourite", "rating": favourite, "deviation": deviation, "volatility": volatility}, *field]


def race(players):
    """The favourite does not finish; the others do, in their order."""
    others: list[dict[str, Any]] = [{"event_id": "e", "player": f"p{k}", "position": k + 1} for k in range(players)]
    return [{"event_id": "e", "player": "favourite", "status": "dnf"}, *others]


@pytest.mark.parametrize("name", ["glicko2", "trials"])
@pytest.mark.parametrize(
    ("favourite", "deviation", "others", "most"),
    [(2200.0, 60.0, 60, 700.0), (2500.0, 60.0, 60, 700.0), (2200.0, 100.0, 60, 900.0), (4000.0, 350.0, 200, 3150.0)],
)
def test_one_upset_moves_a_rating_by_nine_deviations_or_700_points(name, favourite, deviation, others, most):
    """Step 5 of the paper has more than one root here; taken literally, the first favourite loses 7,007 points."""
    rated = podium.rate(race(others), name, start=field_of(favourite, deviation, others))
    why = rated.explain("e", "favourite")
    assert -most <= why.delta < -0.999 * most
    assert why.rows["contribution"].sum() == pytest.approx(why.delta, abs=1e-9)
    assert (why.rows["contribution"] < 0.0).all()


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(["glicko2", "trials"]),
    rating=st.floats(-3000.0, 6000.0),
    deviation=st.floats(1.0, 700.0),
    volatility=st.floats(1e-6, 5.0),
    others=st.integers(1, 40),
)
def test_no_update_moves_a_rating_further(name, rating, deviation, volatility, others):
    start = pl.DataFrame(field_of(rating, deviation, others, volatility))
    history = podium.rate(race(others), name, start=start).history.join(start, on="player", suffix="_at_start")
    most = pl.max_horizontal(9.0 * pl.col("deviation_at_start"), pl.lit(700.0))
    assert history.filter(pl.col("delta").abs() > most).is_empty()


def test_equals_stay_where_they_are():
    """After some 220,000 games the volatility has crept up to where step 5 lets it run away; the cap holds it."""
    games = 300_000
    winner = np.random.default_rng(1).integers(2, size=games)
    rows = pl.DataFrame(
        {
            "event_id": pl.Series(np.repeat(np.arange(games), 2)).cast(pl.String),
            "player": pl.Series(np.column_stack([winner, 1 - winner]).ravel()).cast(pl.String),
            "position": np.tile([1, 2], games),
        }
    )
    history = podium.rate(rows, "glicko2").history
    assert (history["rating"] - 1500.0).abs().max() < 400.0
    assert 0.19 < history["volatility"].max() <= 0.2


def test_a_volatility_at_the_cap_can_fall_again():
    start = [{"player": name, "rating": 1500.0, "deviation": 60.0, "volatility": 0.2} for name in ("ana", "ben")]
    draw = [{"event_id": "e", "player": player, "position": 1} for player in ("ana", "ben")]
    assert podium.rate(draw, "glicko2", start=start).ratings["volatility"].max() < 0.2


@pytest.mark.parametrize("name", ["glicko2", "trials"])
def test_the_cap_is_never_below_a_newcomers_volatility(name):
    duel = [{"event_id": "e", "player": player, "position": place} for place, player in ((1, "ana"), (2, "ben"))]
    assert podium.rate(duel, name, volatility=0.5).ratings["volatility"].min() == pytest.approx(0.5, rel=1e-2)
