"""The equation that both steps of Elo-MMR solve: the x at which the pulls of all factors add up to zero.

A factor pulls towards its mean with weight * tanh(slope * (x - mean)). Factors that are farther away pull harder, but
never harder than their weight. The table of factors has six rows for every `LANES` factors, with one column per factor.
"""

import math
from typing import Any, NamedTuple

from podium.kernels.compiled import kernel
from podium.kernels.exponential import tanh
from podium.kernels.records import LANES, read_fields, write_fields

LAST_STEP = 1e-5  # last step times the steepest slope; the next step would be about its cube
RELATIVE_STEP = 1e-11  # the same, relative to x; whichever is reached first
MAX_STEPS = 200


class Factor(NamedTuple):
    """A term of the sum. A factor with weight 0 does not pull."""

    mean: float
    slope: float
    weight: float


class Pull(NamedTuple):
    """The value of a factor's term, and its first two derivatives."""

    value: float
    slope: float
    bend: float


FACTOR, PULL = Factor(0.0, 1.0, 0.0), Pull(0.0, 0.0, 0.0)
PULL_AT = len(Factor._fields)
BLOCK = PULL_AT + len(Pull._fields)  # rows of the table for `LANES` factors
WORKSPACE = (
    LANES,
    2 * BLOCK,
)  # columns, extra rows: enough for any number of entrants


@kernel
def write_factor(table: Any, k: int, factor: Factor) -> None:
    """Write factor `k` into the table."""
    write_fields(table, k // LANES * BLOCK, k % LANES, factor)


@kernel
def clear_factors(table: Any, first: int) -> None:
    """Fill the table with factors of weight 0, from factor `first` to the end of its block."""
    for k in range(first, (first + LANES - 1) // LANES * LANES):
        write_factor(table, k, FACTOR)


@kernel
def pull_in_lanes(table: Any, block: int, x: float) -> None:
    """Compute each factor's pull at `x`, for one block of factors."""
    for lane in range(LANES):
        factor = read_fields(table, block, lane, FACTOR)
        t = tanh((x - factor.mean) * factor.slope)
        steepness = factor.weight * factor.slope * (1.0 - t * t)
        pull = Pull(factor.weight * t, steepness, -2.0 * factor.slope * t * steepness)
        write_fields(table, block + PULL_AT, lane, pull)


@kernel
def sum_lanes(table: Any, row: int) -> float:
    """Return the sum of a row of lanes: add its two halves until only one lane is left."""
    half = LANES // 2
    while half > 0:
        for lane in range(half):
            table[row, lane] += table[row, lane + half]
        half //= 2
    total: float = table[row, 0]
    return total


@kernel
def sum_of_pulls(table: Any, count: int, x: float) -> Pull:
    """Return the sum of the pulls of the first `count` factors at `x`."""
    value, slope, bend = 0.0, 0.0, 0.0
    for first in range(0, count, LANES):
        block = first // LANES * BLOCK
        pull_in_lanes(table, block, x)
        value += sum_lanes(table, block + PULL_AT)
        slope += sum_lanes(table, block + PULL_AT + 1)
        bend += sum_lanes(table, block + PULL_AT + 2)
    return Pull(value, slope, bend)


@kernel
def balance(table: Any, count: int, x: float, steepest: float, mean: float, weight: float, push: float) -> float:
    """Return the x for which weight * (x - mean) + the factors' pulls = push, using Halley's method within a bracket.

    Args:
        x: Start of the search.
        steepest: The largest slope of any factor.
        weight: Weight of the normal factor, or 0 if there is no normal factor.
    """
    low, high, reach = -math.inf, math.inf, 4.0 / steepest
    for _ in range(MAX_STEPS):
        pull = sum_of_pulls(table, count, x)
        value, slope = weight * (x - mean) + pull.value - push, weight + pull.slope
        if value < 0.0:
            low = x
        else:
            high = x
        step = -value / slope if slope > 0.0 else math.copysign(math.inf, -value)
        curved = 1.0 + 0.5 * step * pull.bend / slope if slope > 0.0 else 1.0
        step = step / curved if curved > 0.5 else step
        if abs(step) > reach:
            step = math.copysign(reach, step)
            reach *= 2.0
        is_precise = abs(step) * steepest <= LAST_STEP or abs(step) <= RELATIVE_STEP * (1.0 + abs(x))
        x += step if low < x + step < high or is_precise else 0.5 * (low + high) - x
        if is_precise:
            break
    return x
