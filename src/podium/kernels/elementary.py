"""e^x, and what is made of it: the same bits in Python, in kernels, in several lanes at once, and on every machine.

The C library's functions differ between machines, cannot be inlined, and serve one number at a time.
"""

import math
import struct
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from podium.kernels.compiled import in_kernels, kernel

ALL_BITS = (1 << 64) - 1
LARGEST = 708.0  # beyond it e^x, or e^-x, is no normal number
FRACTION_BITS = 52  # of a number; its biased exponent stands above them
STEPS, STEP_BITS = 128, 7  # a power of two is taken apart in so many steps
PER_STEP = 184.6649652337873  # STEPS / ln 2
STEP_HIGH, STEP_LOW = 0.0054152123475432745, 5.812982117197185e-13  # ln 2 / STEPS; k * high is exact
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to a whole number, which its low bits then are
BIAS = 1023 << STEP_BITS
FLAT = 22.0  # beyond it the hyperbolic tangent is 1 in all digits


def _powers() -> tuple[Any, Any]:
    """2^(j / STEPS) rounded to the nearest, and what that leaves: square roots and products of whole numbers."""
    one = 1 << 200
    root = 2 * one
    for _ in range(STEP_BITS):
        root = isqrt(root * one)
    exact = [one]
    for _ in range(STEPS - 1):
        exact.append(exact[-1] * root // one)
    rounded = [float(Fraction(power, one)) for power in exact]
    rest = [float(Fraction(power, one) - Fraction(near)) for power, near in zip(exact, rounded, strict=True)]
    return np.array(rounded), np.array(rest)


POWERS, POWERS_REST = _powers()


def as_bits(x: float) -> int:
    """The 64 bits of a number."""
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def from_bits(bits: int) -> float:
    """The number that has these bits, the lowest 64."""
    return float(struct.unpack("<d", struct.pack("<Q", bits & ALL_BITS))[0])


@in_kernels(as_bits)
def _(typing: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@in_kernels(from_bits)
def _(typing: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@kernel
def take_apart(x: float) -> tuple[int, int, float]:
    """The parts of e^x for x within `LARGEST` of 0: which step, the bits of the power of two, and e^r - 1.

    x = k ln 2 / 128 + r: a power of two, a step of the table, and Taylor's series of e^r to the fifth power, whose
    rest is below 1e-18.
    """
    shifted = x * PER_STEP + ROUND
    k = shifted - ROUND
    r = (x - k * STEP_HIGH) - k * STEP_LOW
    bits = as_bits(shifted)
    s = r * r
    series = r + s * ((0.5 + r * (1.0 / 6.0)) + s * (1.0 / 24.0 + r * (1.0 / 120.0)))
    return bits & (STEPS - 1), ((bits + BIAS) >> STEP_BITS) << FRACTION_BITS, series


@kernel
def exp(x: float) -> float:
    """e^x within a unit in the last place; x is cut to within 708 of 0."""
    step, scale_bits, series = take_apart(min(max(x, -LARGEST), LARGEST))
    near = POWERS[step] * from_bits(scale_bits)
    power: float = near + near * series
    return power


@kernel
def expm1(x: float) -> float:
    """e^x - 1 within three units in the last place, near 0 too; x is cut to within 708 of 0."""
    step, scale_bits, series = take_apart(min(max(x, -LARGEST), LARGEST))
    scale = from_bits(scale_bits)
    power: float = (POWERS[step] * scale - 1.0) + (POWERS[step] * series + POWERS_REST[step]) * scale
    return power


@kernel
def tanh(x: float) -> float:
    """The hyperbolic tangent, within four units in the last place."""
    power = expm1(2.0 * min(abs(x), FLAT))
    return math.copysign(power / (power + 2.0), x)


EXPONENT_BIAS = 1023
FRACTION = (1 << FRACTION_BITS) - 1
BITS_OF_ONE = EXPONENT_BIAS << FRACTION_BITS  # the bits of 1
LEAST_NORMAL, LIFT, LIFTED = 2.0**-1022, 2.0**54, 54  # smaller numbers are lifted into range
ROOT_2, LN_10 = 1.4142135623730951, 2.302585092994046
LN_2_HIGH, LN_2_LOW = 0.6931471803691238, 1.9082149292705877e-10  # times an exponent the first is exact


@kernel
def log(x: float) -> float:
    """Ln x within a unit in the last place; -inf at 0, NaN below it.

    x = 2^e (1 + f), a root of 2 from 2^e at most. With s = f / (2 + f), ln(1 + f) = f - s (f - rest), of which the
    rest is 2 (s^2 / 3 + s^4 / 5 + ...): the terms beyond s^20 are below 1e-18.
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
    """x^y of a positive x: with a relative error of |y ln x| units in the last place, and none for y = 1."""
    return x if y == 1.0 else exp(y * log(x))


ONE = 1 << 200  # whole numbers stand for so many parts of 1


def cosines(count: int) -> Any:
    """cos(j pi / (2 count)) for j from 0 to 4 count - 1, rounded to the nearest, (4 count) float64."""
    size, cosine = (1, 0) if count & (count - 1) == 0 else (3, isqrt(3 * ONE * ONE) // 2)  # cos(pi / (2 size))
    while size < count:
        cosine = isqrt((ONE + cosine) * ONE // 2)  # of half the angle
        size *= 2
    exact = [ONE, cosine]
    while len(exact) < 4 * count:
        exact.append(2 * cosine * exact[-1] // ONE - exact[-2])
    return np.array([float(Fraction(each, ONE)) for each in exact])


def points(count: int) -> Any:
    """Chebyshev's points, the zeros of the polynomial of degree `count`, from 1 down to -1."""
    return cosines(count)[1 : 2 * count : 2].copy()


def polynomials(count: int) -> Any:
    """The polynomials of degree below `count` at the points, (degree, point) float64."""
    odd = 2 * np.arange(count) + 1
    return cosines(count)[np.outer(np.arange(count), odd) % (4 * count)]


def interpolation_weights(count: int) -> Any:
    """What each point weighs in the barycentric formula: alternating sines."""
    odd = 2 * np.arange(count) + 1
    sines = cosines(count)[(odd - count) % (4 * count)]
    return np.where(np.arange(count) % 2 == 0, sines, -sines)
