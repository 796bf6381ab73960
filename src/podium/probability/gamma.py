"""The gamma performance model: a player's performance is Gamma(shape g, rate e^(c alpha (R - 1500))), 0 perfect.

Source: D. Mlot, "The Folyami Rating System" (2023), "Expected score and the gamma performance model" and its use for
the strength of a race. Shape 1 is Elo's model, by which a field finishes as Plackett and Luce say.
"""

import functools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from podium.errors import ParameterError
from podium.kernels.compiled import kernel
from podium.kernels.logarithm import LN_10
from podium.probability import ranks

ALPHA = LN_10 / 400.0
# The solver's answers at the defaults, so that rating with them does not load SciPy; a test solves for both.
SHAPES = range(1, 21)
KNOWN_SLOPES = {1: ALPHA, 3: 0.002986329965951851}


@kernel
def incomplete_beta(w: float, shape: float) -> float:
    """I(w; g, g), the regularised incomplete beta function: the chance to win, for a whole shape g.

    w is beta_mine / (beta_mine + beta_theirs). w^g * sum over k < g of C(g - 1 + k, k) (1 - w)^k, taken from
    the smaller side, so that a sure loser's chance keeps its digits.
    """
    if shape == 1.0:
        return w
    lower = w <= 0.5
    x = w if lower else 1.0 - w
    y = 1.0 - x
    if shape == 3.0:
        small = x * x * x * (1.0 + 3.0 * y + 6.0 * y * y)
        return small if lower else 1.0 - small
    term, total, power = 1.0, 1.0, x
    k = 1.0
    while k < shape:
        term *= y * (shape - 1.0 + k) / k
        total += term
        power *= x
        k += 1.0
    return power * total if lower else 1.0 - power * total


@functools.cache
def matched_slope(shape: int) -> float:
    """C * alpha, per point: the log-odds of W for which a shape's expected score is nearest to Elo's.

    c minimises the integral over w of (I(w^c / (w^c + (1 - w)^c); g, g) - w)^2.
    """
    return KNOWN_SLOPES[shape] if shape in KNOWN_SLOPES else solve_match(shape) * ALPHA


def solve_match(shape: int) -> float:
    """Find c for a gamma shape, by Gauss-Legendre quadrature and Brent's method on the derivative."""
    from scipy.optimize import brentq  # noqa: PLC0415  (a third of a second, and only here)
    from scipy.special import betainc  # noqa: PLC0415

    nodes, weights = np.polynomial.legendre.leggauss(400)
    w = 0.5 * (nodes + 1.0)
    log_odds = np.log(w) - np.log1p(-w)
    beta = math.gamma(shape) ** 2 / math.gamma(2 * shape)

    def slope_of_error(c: float) -> float:
        v = 1.0 / (1.0 + np.exp(-c * log_odds))
        pdf = (v * (1.0 - v)) ** (shape - 1) / beta
        error = betainc(shape, shape, v) - w
        return float(np.sum(weights * error * pdf * v * (1.0 - v) * log_odds))

    c: float = brentq(slope_of_error, 0.05, 2.0, xtol=1e-15, rtol=1e-14)
    return c


def performances(ratings: Sequence[float] | npt.NDArray[np.float64], shape: int = 3) -> ranks.GammaPerformances:
    points = np.asarray(ratings, np.float64)
    if points.ndim != 1 or not points.size or not np.isfinite(points).all():
        raise ParameterError("ratings must be a row of finite numbers, one at least")
    if shape not in SHAPES:
        raise ParameterError(f"shape is {shape!r}; it must be a whole number from {SHAPES[0]} to {SHAPES[-1]}")
    return ranks.GammaPerformances(matched_slope(int(shape)) * points, int(shape))


def win_probability(rating: float, opponent: float, shape: int = 3) -> float:
    """The chance to beat an opponent: I(W; g, g), W the logistic of the slope times the difference of the ratings."""
    mine, theirs = performances([rating, opponent], shape).log_rate
    w = 1.0 / (1.0 + math.exp(min(theirs - mine, 700.0)))
    return float(incomplete_beta(w, float(shape)))


def rank_distribution(
    ratings: Sequence[float] | npt.NDArray[np.float64], shape: int = 3, resolution: float | None = None
) -> npt.NDArray[np.float64]:
    """The chance of each entrant to finish at each rank, within 1e-9.

    Args:
        ratings: (entrants).
        resolution: of the clock, in units of performance (an entrant rated 0 has the mean `shape`); those who tie
            then share the best rank. Without it nobody ties.

    Returns:
        (entrants, ranks) float64, the best rank first.
    """
    field = performances(ratings, shape)
    return ranks.rank_distribution(field) if resolution is None else ranks.tied_rank_distribution(field, resolution)


def top_probabilities(
    ratings: Sequence[float] | npt.NDArray[np.float64], top: int = 1, shape: int = 3
) -> npt.NDArray[np.float64]:
    """The chance of each entrant to finish among the first `top`: (entrants)."""
    chances: npt.NDArray[np.float64] = rank_distribution(ratings, shape)[:, : max(top, 0)].sum(axis=1)
    return chances


def race_strength(
    ratings: Sequence[float] | npt.NDArray[np.float64], top: int = 5, probe: float = 1500.0, shape: int = 3
) -> float:
    """One over the chance of a player rated `probe`, added to the field, to finish among the first `top`.

    1 where the field is so small that the probe cannot miss. Infinite where its chance is below the smallest number.
    """
    if top < 1:
        raise ParameterError(f"top is {top}; it must be at least 1")
    field = performances([*np.asarray(ratings, np.float64).tolist(), probe], shape)
    return ranks.field_strength(field, top)
