"""The gamma performance model: a performance is Gamma(shape g, rate e^(c alpha (R - 1500))), and 0 is perfect.

Source: D. Mlot, "The Folyami Rating System" (2023), "Expected score and the gamma performance model", which also uses
the model for the strength of a race. Shape 1 is Elo's model, in which a field finishes according to the Plackett-Luce
model.
"""

from collections.abc import Sequence

import numpy as np

from podium.errors import ParameterError
from podium.kernels.compiled import kernel
from podium.kernels.logarithm import LN_10
from podium.probability import ranks
from podium.support.arrays import Floats

ALPHA = LN_10 / 400.0
SHAPES = range(1, 21)
# The slope for each shape. A test solves the equation of `matched_slope` for each of them.
SLOPES = (
    ALPHA,
    0.003759339369690284,
    0.002986329965951851,
    0.002550680092141655,
    0.0022624732754897045,
    0.002053895542514769,
    0.0018939975811304848,
    0.0017663996881765048,
    0.0016615208884335696,
    0.0015733360870151686,
    0.0014978422401617799,
    0.0014322623252273946,
    0.0013746014683650388,
    0.0013233848378852665,
    0.0012774954406205821,
    0.0012360697397213783,
    0.001198428218932704,
    0.0011640278605561346,
    0.0011324288078154536,
    0.0011032704659189386,
)


@kernel
def incomplete_beta(w: float, shape: float) -> float:
    """Return the regularised incomplete beta function I(w; g, g): the probability of winning, for an integer shape g.

    w is beta_mine / (beta_mine + beta_theirs). The sum w^g * sum over k < g of C(g - 1 + k, k) (1 - w)^k is evaluated
    on the smaller side, so that small probabilities keep their precision.
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


def matched_slope(shape: int) -> float:
    """Return c * alpha: the slope of W's log-odds, per point, with which a shape's scores are closest to Elo's.

    c minimises the integral over w of (I(w^c / (w^c + (1 - w)^c); g, g) - w)^2.
    """
    return SLOPES[shape - 1]


def performances(ratings: Sequence[float] | Floats, shape: int = 3) -> ranks.GammaPerformances:
    points = np.asarray(ratings, np.float64)
    if points.ndim != 1 or not points.size or not np.isfinite(points).all():
        raise ParameterError("ratings must be a list of at least one finite number")
    if shape not in SHAPES:
        raise ParameterError(f"shape is {shape!r}; it must be a whole number from {SHAPES[0]} to {SHAPES[-1]}")
    return ranks.GammaPerformances(matched_slope(int(shape)) * points, int(shape))
