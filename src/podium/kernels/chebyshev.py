"""Chebyshev's points and polynomials, with the same bits on every machine: cosines by whole numbers.

A smooth function over [-1, 1] is known from its values at `count` points, and what sources there add up to from as many
sums: both are a matrix of cosines away.
"""

from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

ONE = 1 << 200  # whole numbers stand for so many parts of 1


def cosines(count: int) -> Any:
    """cos(j pi / (2 count)) for j from 0 to 4 count - 1, rounded to the nearest, (4 count) float64.

    Args:
        count: a power of two, or three times one.
    """
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
