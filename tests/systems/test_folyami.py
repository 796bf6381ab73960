"""Folyami compared with the tables in its text and with the original program."""

import math

import numpy as np
import polars as pl
import pytest
import scipy
from entering import ONCE, entry

import podium
from podium.engine.inputs import Heat
from podium.engine.rules import compare, enter
from podium.probability.gamma import ALPHA, SHAPES, SLOPES, incomplete_beta, matched_slope
from podium.systems import find
from podium.systems.folyami import KNOWN_BASES, find_root, solve_base

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
    50: (7.6, 6.5, 4.5, 2.5, 1.4),  # the text prints 4.7 for six places, a misprint
    100: (6.4, 5.5, 3.8, 2.2, 1.2),
    200: (4.3, 3.7, 2.5, 1.4, 0.8),
    300: (2.6, 2.3, 1.6, 0.9, 0.5),
    500: (0.8, 0.7, 0.5, 0.3, 0.1),
}
VICTORY = {
    0: 50.0, 50: 57.0, 100: 63.7, 150: 70.0, 200: 75.7, 250: 80.7, 300: 85.0, 350: 88.5, 400: 91.4,
    450: 93.7, 500: 95.4, 550: 96.7, 600: 97.7, 650: 98.4, 700: 98.9, 750: 99.2, 800: 99.5,
}  # fmt: skip


@pytest.mark.parametrize("gap", POINTS)
def test_points_gained_after_a_win(gap):
    system = find("folyami")
    params = system().params()
    me, them = (enter(params, system.state_type(rating, 20.0), ONCE) for rating in (1500.0 + gap, 1500.0))
    for places, points in zip(PLACES, POINTS[gap], strict=True):
        comparison = compare(params, me, them, entry(1.0), entry(1.0 + places), Heat(20.0, 0.0))[0]
        assert comparison.weight * (comparison.result - comparison.expected) == pytest.approx(points, abs=0.0501)


@pytest.mark.parametrize("gap", VICTORY)
def test_victory_probabilities(gap):
    w = 1.0 / (1.0 + math.exp(-SLOPES[2] * gap))
    assert 100.0 * incomplete_beta(w, 3.0) == pytest.approx(VICTORY[gap], abs=0.0501)


def test_constants_satisfy_their_equations():
    assert solve_base(12, 1.5) == pytest.approx(KNOWN_BASES[12, 1.5], rel=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_slopes_satisfy_their_equation(shape):
    nodes, weights = np.polynomial.legendre.leggauss(400)
    w = 0.5 * (nodes + 1.0)
    log_odds = np.log(w) - np.log1p(-w)

    def slope_of_error(c):
        v = 1.0 / (1.0 + np.exp(-c * log_odds))
        pdf = (v * (1.0 - v)) ** (shape - 1) * math.gamma(2 * shape) / math.gamma(shape) ** 2
        return np.sum(weights * (scipy.special.betainc(shape, shape, v) - w) * pdf * v * (1.0 - v) * log_odds)

    c = scipy.optimize.brentq(slope_of_error, 0.05, 2.0, xtol=1e-15, rtol=1e-14)
    assert SLOPES[shape - 1] == pytest.approx(c * ALPHA, rel=1e-12)


@pytest.mark.parametrize("window", [1, 2, 12, 40, 300])
@pytest.mark.parametrize("factor", [1.01, 1.5, 3.7, 100.0])
def test_roots_equal_those_of_scipy(window, factor):
    powers = np.arange(1, window + 1)
    high = min(factor, (window * factor) ** (1.0 / window))

    def excess(b):
        return float(np.mean(b**powers)) - factor

    assert find_root(excess, 1.0, high) == scipy.optimize.brentq(excess, 1.0, high, xtol=1e-15, rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [
        (lambda x: x**3 - 2.0, -4.0, 9.0),
        (lambda x: math.cos(x) - x, 1.0, 0.0),
        (lambda x: math.atan(x - 0.3), -50.0, 80.0),
        (lambda x: x, 0.0, 1.0),
        (lambda x: x - 1.0, 0.0, 1.0),
        (lambda x: 1.0 if x > 0.123 else -1.0, 0.0, 1.0),
    ],
)
def test_roots_of_other_functions_equal_those_of_scipy(function, low, high):
    assert find_root(function, low, high) == scipy.optimize.brentq(function, low, high, xtol=1e-15, rtol=1e-14)


def test_ratings_equal_the_original_program(shared):
    golden = pl.read_csv(shared("golden/folyami_zakstunts.final.csv"))
    rated = podium.rate(shared("data/zakstunts.parquet"), "folyami")
    both = golden.join(rated.ratings, on="player", how="full", suffix="_ours")
    assert both.null_count()["rating"].item() == both.null_count()["rating_ours"].item() == 0
    np.testing.assert_allclose(both["rating_ours"], both["rating"], rtol=1e-6)
    assert both["events"].to_list() == both["entries"].to_list()


def test_expected_scores(shared):
    for shape, gap, expected in pl.read_csv(shared("golden/folyami_expected.csv")).iter_rows():
        w = 1.0 / (1.0 + math.exp(-matched_slope(int(shape)) * gap))
        assert incomplete_beta(w, float(shape)) == pytest.approx(expected, rel=1e-6)
