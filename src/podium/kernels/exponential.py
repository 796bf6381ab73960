"""Compute e^x and related functions with the same bits in Python, in kernels, in lanes and on every machine.

The C library's functions differ between machines, cannot be inlined, and handle one number at a time.
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
LARGEST = 708.0  # above this, e^x or e^-x is not a normal floating-point number
FRACTION_BITS = 52  # fraction bits of a double, below the biased exponent
STEPS, STEP_BITS = 128, 7  # steps per power of two
PER_STEP = 184.6649652337873  # STEPS / ln 2
STEP_HIGH, STEP_LOW = 0.0054152123475432745, 5.812982117197185e-13  # ln 2 / STEPS; k * high is exact
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, and puts that into the low bits
BIAS = 1023 << STEP_BITS
FLAT = 22.0  # above this, tanh is 1 in all digits


def _powers() -> tuple[Any, Any]:
    """Return 2^(j / STEPS), rounded to nearest, and the rounding errors, using integer square roots and products."""
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
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def from_bits(bits: int) -> float:
    """Return the floating-point number that has these bits. Only the lowest 64 bits count."""
    return float(struct.unpack("<d", struct.pack("<Q", bits & ALL_BITS))[0])


@in_kernels(lambda _, x: types.int64(types.float64), as_bits)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.bitcast(args[0], ir.IntType(64))


@in_kernels(lambda _, bits: types.float64(types.int64), from_bits)
def _(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.bitcast(args[0], ir.DoubleType())


@kernel
def split_exponential(x: float) -> tuple[int, int, float]:
    """Split e^x, for |x| <= `LARGEST`, into a step, the bits of a power of two, and e^r - 1.

    x = k ln 2 / 128 + r. The series of e^r ends at the fifth power, with an error below 1e-18.
    """
    shifted = x * PER_STEP + ROUND
    bits = as_bits(shifted)
    return bits & (STEPS - 1), ((bits + BIAS) >> STEP_BITS) << FRACTION_BITS, series_of(x, shifted - ROUND)


@kernel
def series_of(x: Any, k: Any) -> Any:
    """Return e^r - 1 for one number, or for four at once."""
    r = (x - k * STEP_HIGH) - k * STEP_LOW
    s = r * r
    return r + s * ((0.5 + r * (1.0 / 6.0)) + s * (1.0 / 24.0 + r * (1.0 / 120.0)))


@kernel
def exp(x: float) -> float:
    """Return e^x within one unit in the last place. x is limited to [-708, 708]."""
    step, scale_bits, series = split_exponential(min(max(x, -LARGEST), LARGEST))
    near = POWERS[step] * from_bits(scale_bits)
    power: float = near + near * series
    return power


@kernel
def expm1(x: float) -> float:
    """Return e^x - 1 within three units in the last place, even near 0. x is limited to [-708, 708]."""
    step, scale_bits, series = split_exponential(min(max(x, -LARGEST), LARGEST))
    scale = from_bits(scale_bits)
    power: float = (POWERS[step] * scale - 1.0) + (POWERS[step] * series + POWERS_REST[step]) * scale
    return power


@kernel
def tanh(x: float) -> float:
    """Return the hyperbolic tangent within four units in the last place."""
    power = expm1(2.0 * min(abs(x), FLAT))
    return math.copysign(power / (power + 2.0), x)
