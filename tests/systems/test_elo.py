"""Elo: the percentages that the FIDE handbook prints, and changes worked out by hand."""

import pytest
from entering import ONCE, entry

import podium
from podium.engine.inputs import Heat
from podium.engine.rules import compare, enter
from podium.systems import find

# FIDE Handbook B.02, 8.1.2: differences of ratings (their middle) and the expected score of the higher, in hundredths.
EXPECTED = {0: 50, 7: 51, 50: 57, 95: 63, 125: 67, 166: 72, 202: 76, 251: 81, 309: 86, 351: 89}


@pytest.mark.parametrize("gap", EXPECTED)
def test_expected_scores_on_the_logistic_curve(gap):
    """The handbook's table is the normal curve: it and the logistic one are two hundredths apart at most here."""
    params = find("elo")().params()
    me, them = (enter(params, find("elo").state_type(rating, 1.0), ONCE) for rating in (1500.0 + gap, 1500.0))
    comparison = compare(params, me, them, entry(1.0), entry(2.0), Heat(2.0, 0.0))[0]
    assert comparison.expected == pytest.approx(EXPECTED[gap] / 100.0, abs=0.02)


def rows(*places):
    return [
        {"event_id": "e", "player": player, "position": place} for player, place in zip("abc", places, strict=False)
    ]


def test_equals_win_and_lose_half_of_k():
    assert podium.rate(rows(1, 2), "elo", k=24).ratings["rating"].to_list() == [1512.0, 1488.0]
    assert podium.rate(rows(1, 1), "elo", k=24).ratings["rating"].to_list() == [1500.0, 1500.0]


def test_several_opponents_are_averaged_or_summed():
    """Two wins of a half each: their mean is 12 of 24 points, their sum 24."""
    for pairs, rating in (("mean", 1512.0), ("sum", 1524.0)):
        assert podium.rate(rows(1, 2, 3), "elo", k=24, pairs=pairs).ratings["rating"][0] == rating


def test_a_gap_of_one_scale_is_odds_of_ten_to_one():
    """1900 beats 1500 and gains 24 / 11."""
    system = find("elo")(k=24)
    params = system.params()
    entering_states = [system.state_type(rating, 9.0) for rating in (1900.0, 1500.0)]
    comparison = compare(params, *entering_states, entry(1.0), entry(2.0), Heat(2.0, 0.0))[0]
    assert comparison.weight * (comparison.result - comparison.expected) == pytest.approx(24.0 / 11.0, rel=1e-12)
