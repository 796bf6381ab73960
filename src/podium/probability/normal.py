"""The normal distribution, and what a win or a draw does to a belief about a difference; stable in the tails.

v and w are the additive and multiplicative corrections of Herbrich, Minka and Graepel (TrueSkill, 2006), and of
Weng and Lin (2011): with x the expected difference and t the draw margin, both in standard deviations.
"""

import math

from podium.kernels.compiled import kernel

SQRT_2 = math.sqrt(2.0)
SQRT_2_PI = math.sqrt(2.0 * math.pi)
TAIL = -6.0  # from here down a continued fraction serves, not a quotient of two vanishing numbers
DEPTH = 40
THIN = 1e-3


@kernel
def pdf(x: float) -> float:
    """The standard normal density."""
    return math.exp(-0.5 * x * x) / SQRT_2_PI


@kernel
def distribution(x: float) -> float:
    """The standard normal distribution function."""
    return 0.5 * math.erfc(-x / SQRT_2)


@kernel
def hazard(x: float) -> float:
    """density(x) / distribution(x): finite for any x, about -x far below 0.

    In the tail Laplace's continued fraction for Mills' ratio: Q(z) = density(z) / (z + 1/(z + 2/(z + 3/(z + ...)))).
    """
    if x > TAIL:
        return pdf(x) / distribution(x)
    z = -x
    fraction = z
    k = float(DEPTH)
    while k >= 1.0:
        fraction = z + k / fraction
        k -= 1.0
    return fraction


@kernel
def win_corrections(x: float, t: float) -> tuple[float, float]:
    """V and w of a win: how far it moves the mean, and by how much it shrinks the variance, between 0 and 1."""
    shift = hazard(x - t)
    return shift, min(max(shift * (shift + x - t), 0.0), 1.0)


@kernel
def draw_corrections(x: float, t: float) -> tuple[float, float]:
    """V and w of a draw: towards 0, from either side."""
    if t <= 0.0:
        return -x, 1.0
    # The density falls by e^(-2 t far) across the margin: the quotient with its common factor taken out.
    far = abs(x)
    low, high = far - t, far + t
    inside = margin_mass(low, high)
    if inside <= 0.0:
        return -low if x > 0.0 else low, 1.0
    fall = math.expm1(-2.0 * t * far)
    shift = -fall / (SQRT_2_PI * inside)
    # (t - far) N(t - far) + (t + far) N(t + far), over the mass, plus the shift squared.
    edge = (far * fall + t * (2.0 + fall)) / (SQRT_2_PI * inside)
    return -shift if x > 0.0 else shift, min(max(edge + shift * shift, 0.0), 1.0)


@kernel
def margin_mass(low: float, high: float) -> float:
    """The mass between `low` and `high` over e^(-low^2 / 2)."""
    if high - low < THIN:
        # Too thin for a difference: Simpson's rule on e^((low^2 - u^2) / 2).
        middle = 0.5 * (low + high)
        ends = 1.0 + math.exp(0.5 * (low - high) * (low + high))
        inner = 4.0 * math.exp(0.5 * (low - middle) * (low + middle))
        return (high - low) / 6.0 * (ends + inner) / SQRT_2_PI
    if low < -TAIL:
        return math.exp(0.5 * low * low) * (distribution(-low) - distribution(-high))
    # Both far out: Q(z) = density(z) / hazard(-z).
    near = 1.0 / hazard(-low)
    return (near - math.exp(0.5 * (low - high) * (low + high)) / hazard(-high)) / SQRT_2_PI


@kernel
def inflated(deviation: float, tau_squared: float, idle_variance: float, most: float) -> float:
    """A deviation before an event: each adds tau^2 to the variance, and idleness its own, up to `most`."""
    variance = deviation * deviation
    if idle_variance > 0.0:
        variance = max(variance, min(variance + idle_variance, most * most))
    return math.sqrt(variance + tau_squared)
