"""Glicko-2 compared with the example of Glickman's paper and with rating periods in 40-digit arithmetic."""

import json
import math
from datetime import UTC, datetime
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


def test_the_papers_example():
    """Glickman (2013), p. 4, rounds at each step: 1464.06, 151.52, 0.05999."""
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


def test_a_result_that_changes_nothing_has_no_contribution():
    """The gap is so wide that E (1 - E) underflows, so even the greatest surprise changes nothing."""
    far = pl.DataFrame({"pool": "default", "player": ["ana", "ben"], "rating": [0.0, 1e6]})
    upset = [{"event_id": "e", "player": player, "position": place} for place, player in ((1, "ana"), (2, "ben"))]
    why = podium.rate(upset, "glicko2", start=far).explain("e", "ana")
    assert why.delta == why.rows["contribution"].sum() == 0.0


def test_single_rating_periods(shared):
    """The expected values of 251 periods come from 40-digit arithmetic."""
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
    """Return the states of a favourite and a field at 1500 (60)."""
    field = [{"player": f"p{k}", "rating": 1500.0, "deviation": 60.0, "volatility": 0.06} for k in range(others)]
    return [{"player": "favourite", "rating": favourite, "deviation": deviation, "volatility": volatility}, *field]


def race(players):
    """Return a race in which the favourite does not finish and the others finish in order."""
    others: list[dict[str, Any]] = [{"event_id": "e", "player": f"p{k}", "position": k + 1} for k in range(players)]
    return [{"event_id": "e", "player": "favourite", "status": "dnf"}, *others]


@pytest.mark.parametrize("name", ["glicko2", "trials"])
@pytest.mark.parametrize(
    ("favourite", "deviation", "others", "most"),
    [(2200.0, 60.0, 60, 700.0), (2500.0, 60.0, 60, 700.0), (2200.0, 100.0, 60, 900.0), (4000.0, 350.0, 200, 3150.0)],
)
def test_an_upset_moves_a_rating_by_at_most_nine_deviations_or_700_points(name, favourite, deviation, others, most):
    """Step 5 of the paper has several roots here. Without a limit the first favourite would lose 7,007 points."""
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


def test_equal_players_stay_near_their_ratings():
    """Without the cap, the volatility would grow for some 220,000 games until step 5 diverges."""
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


BY_TIME: dict[str, Any] = {
    "period_days": 4.66505,
    "min_deviation": 45,
    "max_deviation": 500,
    "max_volatility": 0.1,
    "floor": 400,
}
BY_TIME |= {"deviation": 500, "volatility": 0.09, "tau": 0.75}


def duel_at(day="2025-01-01"):
    return [{"event_id": day, "started_at": day, "player": name, "position": k} for k, name in enumerate("ab", 1)]


def known(*states, day=None):
    fields = ("rating", "deviation", "volatility")
    last = {} if day is None else {"last_played_at": day}
    return [
        {"player": name, **dict(zip(fields, map(float, state), strict=True)), **last}
        for name, state in zip("ab", states, strict=True)
    ]


@pytest.mark.parametrize(
    ("players", "after"),
    [  # scalachess, RatingCalculatorTest: the winner and the loser
        (((1500, 500, 0.09), (1500, 500, 0.09)), ((1741, 396, 0.0899983), (1258, 396, 0.0899983))),
        (((1500, 350, 0.06), (1500, 350, 0.06)), ((1662.21, 290.23, 0.0599993), (1337.79, 290.23, 0.0599993))),
        (((1400, 79, 0.06), (1550, 110, 0.065)), ((1422, 77, 0.06), (1506, 105, 0.065))),
        (((1200, 60, 0.053), (1850, 200, 0.062)), ((1216.7, 59.9, 0.053013), (1636, 196.9, 0.062028))),
    ],
)
def test_immediate_updates_equal_lichess(players, after):
    rated = podium.rate(duel_at(), "glicko2", start=known(*players), **BY_TIME | {"min_deviation": 0}).ratings
    for name, (rating, deviation, volatility) in zip("ab", after, strict=True):
        mine = rated.filter(player=name).row(0, named=True)
        assert mine["rating"] == pytest.approx(rating, abs=1.0 if isinstance(rating, int) else 0.1)
        assert mine["deviation"] == pytest.approx(deviation, abs=1.0 if isinstance(deviation, int) else 0.1)
        assert mine["volatility"] == pytest.approx(volatility, abs=1e-5)


@pytest.mark.parametrize(
    ("deviation", "volatility", "days", "grown"),
    [(60, 0.06, 365, 110.0008), (45, 0.09, 30, 59.9746), (490, 0.09, 365, 500), (60, 0.06, 0, 60), (20, 0.06, 0, 45)],
)
def test_the_deviation_grows_with_the_time_before_the_game(deviation, volatility, days, grown):
    system = find("glicko2")(**BY_TIME)
    me = enter(system.params(), system.state_type(1500.0, deviation, volatility, 9.0), Entrant(1.0, 0.0, float(days)))
    assert me.phi * 173.7178 == pytest.approx(grown, abs=1e-4)


def test_live_ratings_equal_a_replay_with_growth_by_the_hour():
    """Hours count, and simultaneous games are rated in their order."""
    times = ["2025-01-01T10:00", "2025-01-01T21:30", "2025-01-01T21:30", "2025-03-02T07:15"]
    games = [[row | {"event_id": f"g{k}"} for row in duel_at(time)] for k, time in enumerate(times)]
    rated = podium.rate([row for game in games for row in game], "glicko2", **BY_TIME)
    live = podium.Live(find("glicko2")(**BY_TIME))
    assert [row for game in games for row in live.rate(game).rows()] == rated.history.rows()
    stakes = rated.stakes(["a", "b"], "a", at=datetime(2025, 6, 1, tzinfo=UTC)).frame["delta"].to_list()
    again = podium.rate(duel_at("2025-06-01"), "glicko2", start=rated, **BY_TIME).history.filter(player="a")
    assert stakes[0] == again["delta"].item()


def test_limits_after_a_game_are_explained():
    weak = known((405, 45, 0.09), (402, 500, 0.09))
    rated = podium.rate(duel_at(), "glicko2", start=weak, **BY_TIME)
    assert rated.ratings.filter(player="b")["rating"].item() == 400.0
    for player in "ab":
        why = rated.explain("2025-01-01", player)
        assert why.rows["contribution"].sum() == pytest.approx(why.delta, abs=1e-9)
    assert podium.check_system(find("glicko2")(**BY_TIME), histories=2).kept
    with pytest.raises(podium.ParameterError, match="has no rating periods"):
        podium.rate(duel_at(), "glicko2", period="1w", **BY_TIME)
