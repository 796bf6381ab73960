"""The gamma performance model: a player's performance is Gamma(shape g, rate e^(c alpha (R - 1500))), 0 perfect.

Source: D. Mlot, "The Folyami Rating System" (2023), "Expected score and the gamma performance model".
"""

import functools
import math

import numpy as np

from podium.compiled import kernel

ALPHA = math.log(10.0) / 400.0
# The solver's answers at the defaults, so that rating with them does not load SciPy; a test solves for both.
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
    if shape in KNOWN_SLOPES:
        return KNOWN_SLOPES[shape]
    return solved_match(shape) * ALPHA


def solved_match(shape: int) -> float:
    """C for a gamma shape, by Gauss-Legendre quadrature and Brent's method on the derivative."""
    from scipy.optimize import brentq  # noqa: PLC0415  (a third of a second, and only here)
    from scipy.special import betainc  # noqa: PLC0415

    nodes, weights = np.polynomial.legendre.leggauss(400)
    w = 0.5 * (nodes + 1.0)
    log_odds = np.log(w) - np.log1p(-w)
    beta = math.gamma(shape) ** 2 / math.gamma(2 * shape)

    def slope_of_error(c: float) -> float:
        v = 1.0 / (1.0 + np.exp(-c * log_odds))
        density = (v * (1.0 - v)) ** (shape - 1) / beta
        error = betainc(shape, shape, v) - w
        return float(np.sum(weights * error * density * v * (1.0 - v) * log_odds))

    found: float = brentq(slope_of_error, 0.05, 2.0, xtol=1e-15, rtol=1e-14)
    return found
