"""Numbers that the four texts and Glickman's papers print."""

import math

import pytest

import podium
from podium.entries import Entrant, Entry, Heat
from podium.performance import ALPHA, KNOWN_SLOPES, incomplete_beta, solved_match
from podium.rules import compare, enter, evidence, settle
from podium.systems import find
from podium.systems.folyami import KNOWN_BASES, solved_base
from podium.systems.glicko2 import Comparison

PLACES = (1, 3, 6, 10, 15)
POINTS = {
    -500: (16.8, 14.5, 9.9, 5.7, 3.1),
    -300: (15.0, 12.9, 8.8, 5.0, 2.7),
    -200: (13.4, 11.5, 7.9, 4.5, 2.4),
    -100: (11.2, 9.7, 6.6, 3.8, 2.1),
    -50: (10.0, 8.7, 5.9, 3.4, 1.8),
    -30: (9.6, 8.2, 5.6, 3.2, 1.7),
    -10: (9.1, 7.8, 5.3, 3.0, 1.7),
    0: (8.8, 7.6, 5.2, 3.0, 1.6),
    10: (8.6, 7.4, 5.0, 2.9, 1.6),
    30: (8.1, 7.0, 4.8, 2.7, 1.5),
    50: (7.6, 6.5, 4.5, 2.5, 1.4),  # the text prints 4.7 for six places: a misprint
    100: (6.4, 5.5, 3.8, 2.2, 1.2),
    200: (4.3, 3.7, 2.5, 1.4, 0.8),
    300: (2.6, 2.3, 1.6, 0.9, 0.5),
    500: (0.8, 0.7, 0.5, 0.3, 0.1),
}
VICTORY = {
    0: 50.0, 50: 57.0, 100: 63.7, 150: 70.0, 200: 75.7, 250: 80.7, 300: 85.0, 350: 88.5, 400: 91.4,
    450: 93.7, 500: 95.4, 550: 96.7, 600: 97.7, 650: 98.4, 700: 98.9, 750: 99.2, 800: 99.5,
}  # fmt: skip


ONCE = Entrant(events=1.0, quit=0.0, idle=0.0)


def entry(place, **known):
    return Entry(1.0, place, place, 60.0, 1.0, math.nan, math.nan, 0.0, 1.0)._replace(**known)


@pytest.mark.parametrize("gap", POINTS)
def test_folyami_points_gained_after_a_win(gap):
    system = find("folyami")
    params = system().params()
    me, them = (enter(params, system.state_type(rating, 20.0), ONCE) for rating in (1500.0 + gap, 1500.0))
    for places, points in zip(PLACES, POINTS[gap], strict=True):
        said = compare(params, me, them, entry(1.0), entry(1.0 + places), Heat(20.0, 0.0))[0]
        assert said.weight * (said.result - said.expected) == pytest.approx(points, abs=0.0501)


@pytest.mark.parametrize("gap", VICTORY)
def test_folyami_victory_probabilities(gap):
    w = 1.0 / (1.0 + math.exp(-KNOWN_SLOPES[3] * gap))
    assert 100.0 * incomplete_beta(w, 3.0) == pytest.approx(VICTORY[gap], abs=0.0501)


def test_folyami_constants_are_what_their_equations_say():
    assert solved_match(3) * ALPHA == pytest.approx(KNOWN_SLOPES[3], rel=1e-9)
    assert solved_match(1) == pytest.approx(1.0, rel=1e-9)
    assert solved_base(12, 1.5) == pytest.approx(KNOWN_BASES[12, 1.5], rel=1e-12)


def duel(system, winner, loser, **parameters):
    """The change of both at so many points, settled players both."""
    made = find(system)(**parameters)
    state = made.newcomer()
    forms = [made.form_type(rating, 40.0, 40.0) for rating in (winner, loser)]
    assert state.events == 0.0
    said = compare(made.params(), forms[0], forms[1], entry(1.0), entry(2.0), Heat(2.0, 0.0))
    return [each.weight * (each.result - each.expected) for each in said]


def test_xonstat_worked_example():
    """450 beats 350 at K 40: 14.40; 350 beats 450: 25.60."""
    assert duel("xonstat", 450.0, 350.0) == pytest.approx([14.40, -14.40], abs=0.005)
    assert duel("xonstat", 350.0, 450.0) == pytest.approx([25.60, -25.60], abs=0.005)


def test_stk_expected_result_of_2000_points():
    system = find("stk")
    params = system().params()
    forms = [enter(params, system.state_type(rating, rating, 45.0), ONCE) for rating in (4000.0, 2000.0)]
    said = compare(params, forms[0], forms[1], entry(1.0), entry(2.0), Heat(2.0, 0.0))[0]
    assert said.expected == pytest.approx(0.909, abs=0.0005)


def test_stk_base_points_add_up_to_2000():
    """The text: 4000 in all, 2000 of them to begin with; equals who tie exchange nothing."""
    rows = [
        {"event_id": f"r{race}", "player": player, "time_s": 100.0} for race in range(50) for player in ("ana", "ben")
    ]
    ratings = podium.rate(rows, "stk").ratings["rating"]
    assert ratings.to_list() == pytest.approx([4000.0, 4000.0], abs=1e-9)


def test_stk_results_scale_between_a_tie_and_a_fortieth():
    from podium.systems.stk import lead

    assert lead(100.0, 100.0) == 0.5
    assert lead(100.0, 101.25) == pytest.approx(0.75)
    assert lead(100.0, 102.5) == 1.0
    assert lead(102.6, 100.0) == 0.0


def test_glicko2_paper_example():
    """Glickman (2013), p. 4: rounded on the way there, 1464.06, 151.52, 0.05999."""
    system = find("glicko2")
    params = system.from_text({"tau": 0.5}).params()
    me = enter(params, system.state_type(1500.0, 200.0, 0.06, 0.0), ONCE)
    totals = [0.0, 0.0]
    for rating, deviation, score in ((1400.0, 30.0, 1.0), (1550.0, 100.0, 0.0), (1700.0, 300.0, 0.0)):
        them = enter(params, system.state_type(rating, deviation, 0.06, 0.0), ONCE)
        expected = 1.0 / (1.0 + math.exp(-them.g * (me.mu - them.mu)))
        said = evidence(params, Comparison(score, expected, them.g, 1.0 - expected))
        totals = [a + b for a, b in zip(totals, said, strict=True)]
    after = settle(params, me, system.evidence_type(*totals), ONCE)
    assert after[:3] == pytest.approx((1464.0507, 151.5165, 0.0599960), rel=1e-6)
