"""Compute ln x, x^y and interpolation at Chebyshev points, with the same bits everywhere, in Python and in kernels."""

import math
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from podium.kernels.compiled import kernel
from podium.kernels.exponential import FRACTION_BITS, as_bits, exp, from_bits

EXPONENT_BIAS = 1023
FRACTION = (1 << FRACTION_BITS) - 1
BITS_OF_ONE = EXPONENT_BIAS << FRACTION_BITS  # the bits of 1
LEAST_NORMAL, LIFT, LIFTED = 2.0**-1022, 2.0**54, 54  # smaller numbers are scaled up first
ROOT_2, LN_10 = 1.4142135623730951, 2.302585092994046
LN_2_HIGH, LN_2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # the product of the first with an exponent is exact


@kernel
def log(x: float) -> float:
    """Return ln x within one unit in the last place, -inf for 0, and NaN below 0.

    x = 2^e (1 + f), where 1 + f is at most the root of 2. With s = f / (2 + f), ln(1 + f) = f - s (f - rest), where the
    rest is 2 (s^2 / 3 + s^4 / 5 + ...). The terms beyond s^20 are below 1e-18.
    """
    if not 0.0 < x < math.inf:
        return x if x > 0.0 else -math.inf if x == 0.0 else math.nan
    lifted = 0
    if x < LEAST_NORMAL:
        x, lifted = x * LIFT, LIFTED
    bits = as_bits(x)
    exponent = (bits >> FRACTION_BITS) - EXPONENT_BIAS - lifted
    m = from_bits((bits & FRACTION) | BITS_OF_ONE)
    if m > ROOT_2:
        m, exponent = 0.5 * m, exponent + 1
    e, f = float(exponent), m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = 2.0 / 3.0 + w * (2.0 / 7.0 + w * (2.0 / 11.0 + w * (2.0 / 15.0 + w * (2.0 / 19.0))))
    odd = 2.0 / 5.0 + w * (2.0 / 9.0 + w * (2.0 / 13.0 + w * (2.0 / 17.0 + w * (2.0 / 21.0))))
    rest, half = z * (even + z * odd), 0.5 * f * f
    logarithm: float = e * LN_2_HIGH - ((half - (s * (half + rest) + e * LN_2_LOW)) - f)
    return logarithm


@kernel
def power(x: float, y: float) -> float:
    """Return x^y for x > 0, with a relative error of |y ln x| units in the last place. It is exact for y = 1."""
    return x if y == 1.0 else exp(y * log(x))


ONE = 1 << 200  # fixed-point representation of 1


def cosines(count: int) -> Any:
    """Return cos(j pi / (2 count)) for j from 0 to 4 count - 1, rounded to nearest, as a float64 array.

    Args:
        count: A power of two, or three times a power of two.
    """
    size, cosine = (1, 0) if count & (count - 1) == 0 else (3, isqrt(3 * ONE * ONE) // 2)  # cos(pi / (2 size))
    while size < count:
        cosine = isqrt((ONE + cosine) * ONE // 2)  # halves the angle
        size *= 2
    exact = [ONE, cosine]
    while len(exact) < 4 * count:
        exact.append(2 * cosine * exact[-1] // ONE - exact[-2])
    return np.array([float(Fraction(value, ONE)) for value in exact])


def points(count: int) -> Any:
    """Return the Chebyshev points from 1 down to -1: the zeros of the polynomial of degree `count`."""
    return cosines(count)[1 : 2 * count : 2].copy()


def polynomials(count: int) -> Any:
    """Return the Chebyshev polynomials of degrees below `count`, evaluated at the points.

    The shape is (degrees, points).
    """
    odd = 2 * np.arange(count) + 1
    return cosines(count)[np.outer(np.arange(count), odd) % (4 * count)]


def interpolation_weights(count: int) -> Any:
    """Return the weights of the points in the barycentric formula: sines with alternating signs."""
    odd = 2 * np.arange(count) + 1
    sines = cosines(count)[(odd - count) % (4 * count)]
    return np.where(np.arange(count) % 2 == 0, sines, -sines)
