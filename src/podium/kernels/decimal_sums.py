"""Sums of decimal numbers that do not depend on the order of the terms or on binary rounding.

In binary, 0.1 + 0.2 + 0.3 differs from 0.3 + 0.2 + 0.1, and 0.1 + 0.1 + 0.1 differs from 0.3. Without this module,
results that are tied on paper would have a winner.
"""

import math
from typing import Any

import numpy as np

from podium.kernels.compiled import compile_kernel, kernel, run_by_steps
from podium.support.arrays import Floats, Integers

# Between these bounds, powers of ten are exact, and one unit in the fifteenth digit exceeds rounding errors.
LEAST_ROUNDED, MAX_ROUNDED = 1e-7, 1e15
FIFTEEN_DIGITS = 1e14  # the smallest number with 15 digits before the point


@kernel
def nearest_decimal(number: float) -> float:
    """Return the number rounded to 15 significant digits. Decimals of that length and all integers stay unchanged."""
    size = abs(number)
    if size < LEAST_ROUNDED or size >= MAX_ROUNDED or number == math.floor(number):
        return number
    scale = 1.0
    while size * scale < FIFTEEN_DIGITS:
        scale *= 10.0
    return float(np.rint(number * scale)) / scale


@kernel
def decimal_sum(values: Any, count: int) -> float:
    """Return the sum of the first `count` values, rounded to the nearest decimal number with 15 digits.

    The values are sorted in place.

    Sorting and Neumaier's compensation (1974) lose less than one unit in the last binary place, and make the sum
    independent of the order.
    """
    for k in range(1, count):
        value = values[k]
        slot = k
        while slot > 0 and values[slot - 1] > value:
            values[slot] = values[slot - 1]
            slot -= 1
        values[slot] = value
    total, lost = 0.0, 0.0
    for k in range(count):
        value = values[k]
        longer = total + value
        lost += (total - longer) + value if abs(total) >= abs(value) else (value - longer) + total
        total = longer
    return nearest_decimal(total + lost) if math.isfinite(total) else total


def _add_each(values: Any, offsets: Any, sums: Any) -> None:
    for k in range(sums.size):
        sums[k] = decimal_sum(values[offsets[k] : offsets[k + 1]], offsets[k + 1] - offsets[k])


_compiled_add_each = compile_kernel(_add_each)


def decimal_sums(values: Floats, sizes: Integers) -> Floats:
    """Return the sum of each run of values, computed by `decimal_sum`.

    Args:
        values: A float64 array of finite terms. It is not changed.
        sizes: The number of terms in each run.

    Returns:
        A float64 array with one sum per run. The sum of an empty run is 0.
    """
    sums = np.empty(sizes.size)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
    run_by_steps(_compiled_add_each, int(sizes @ sizes), values.copy(), offsets, sums)
    return sums
