"""e^x with the same bits in Python, in kernels, in several lanes at once, and on every machine.

The C library's function differs between machines, cannot be inlined, and serves one number at a time.
"""

import struct
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from podium.kernels.compiled import kernel
from podium.kernels.linking import in_kernels

LARGEST = 708.0  # beyond it e^x, or e^-x, is no normal number
STEPS, STEP_BITS = 128, 7  # a power of two is taken apart in so many steps
PER_STEP = 184.6649652337873  # STEPS / ln 2
STEP_HIGH, STEP_LOW = 0.0054152123475432745, 5.812982117197185e-13  # ln 2 / STEPS; k * high is exact
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to a whole number, which its low bits then are
BIAS = 1023 << STEP_BITS


def _powers() -> Any:
    """2^(j / STEPS) rounded to the nearest: j square roots and multiplications of whole numbers."""
    one = 1 << 200
    root = 2 * one
    for _ in range(STEP_BITS):
        root = isqrt(root * one)
    exact = [one]
    for _ in range(STEPS - 1):
        exact.append(exact[-1] * root // one)
    return np.array([float(Fraction(power, one)) for power in exact])


POWERS = _powers()


def as_bits(x: float) -> int:
    """The 64 bits of a number."""
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


def from_exponent(bits: int) -> float:
    """The power of two whose biased exponent is `bits`."""
    return float(struct.unpack("<d", struct.pack("<q", (bits & 0xFFF) << 52))[0])


@in_kernels(as_bits)
def _(typing: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@in_kernels(from_exponent)
def _(typing: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(builder.shl(args[0], ir.IntType(64)(52)), ir.DoubleType())

    return types.float64(types.int64), generate


@kernel
def exp(x: float) -> float:
    """e^x within a unit in the last place; x is cut to within 708 of 0.

    x = k ln 2 / 128 + r: a power of two, a step of the table, and Taylor's series of e^r to the fifth power, whose
    rest is below 1e-18.
    """
    x = min(max(x, -LARGEST), LARGEST)
    shifted = x * PER_STEP + ROUND
    k = shifted - ROUND
    r = (x - k * STEP_HIGH) - k * STEP_LOW
    bits = as_bits(shifted)
    step = POWERS[bits & (STEPS - 1)]
    s = r * r
    series = r + s * ((0.5 + r * (1.0 / 6.0)) + s * (1.0 / 24.0 + r * (1.0 / 120.0)))
    power: float = (step + step * series) * from_exponent((bits + BIAS) >> STEP_BITS)
    return power
