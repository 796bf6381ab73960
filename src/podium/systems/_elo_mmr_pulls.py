"""Where pulls balance: the root that both of Elo-MMR's equations ask for, the factors of a sum side by side in lanes.

A factor pulls by weight * tanh(slope * (x - mean)) towards its mean: harder the farther away, yet by no more than its
weight. The table of factors has six rows for each `LANES` of them, a number in each.
"""

import math
from typing import Any, NamedTuple

from podium.kernels.compiled import kernel
from podium.kernels.exponential import tanh
from podium.kernels.records import LANES, read_fields, write_fields

SETTLED = 1e-5  # over the steepest slope: the last step; Halley's next would be about its third power
PRECISE = 1e-11  # relative: where steps are that small before
MOST_STEPS = 200


class Factor(NamedTuple):
    """One of the terms of a sum; one of no weight pulls nowhere."""

    mean: float
    slope: float
    weight: float


class Pull(NamedTuple):
    """What a factor adds to the sum, and to its first two derivatives."""

    value: float
    slope: float
    bend: float


FACTOR, PULL = Factor(0.0, 1.0, 0.0), Pull(0.0, 0.0, 0.0)
PULL_AT = len(Factor._fields)
BLOCK = PULL_AT + len(Pull._fields)  # rows of the table for so many factors as there are lanes
ROOM = LANES, 2 * BLOCK  # of a scratch with a row for each entrant, and these beside: enough for any number of them


@kernel
def write_factor(table: Any, k: int, factor: Factor) -> None:
    """Put factor `k` into the table."""
    write_fields(table, k // LANES * BLOCK, k % LANES, factor)


@kernel
def clear_factors(table: Any, first: int) -> None:
    """Let nothing pull from factor `first` to the end of its block."""
    for k in range(first, (first + LANES - 1) // LANES * LANES):
        write_factor(table, k, FACTOR)


@kernel
def pull_in_lanes(table: Any, block: int, x: float) -> None:
    """What each factor of a block adds to the sum at `x`."""
    for lane in range(LANES):
        factor = read_fields(table, block, lane, FACTOR)
        t = tanh((x - factor.mean) * factor.slope)
        steepness = factor.weight * factor.slope * (1.0 - t * t)
        pull = Pull(factor.weight * t, steepness, -2.0 * factor.slope * t * steepness)
        write_fields(table, block + PULL_AT, lane, pull)


@kernel
def sum_lanes(table: Any, row: int) -> float:
    """The sum of a row of lanes: halves together, then halves of what is left."""
    half = LANES // 2
    while half > 0:
        for lane in range(half):
            table[row, lane] += table[row, lane + half]
        half //= 2
    total: float = table[row, 0]
    return total


@kernel
def sum_of_pulls(table: Any, count: int, x: float) -> Pull:
    """The sum of the first `count` factors' pulls at `x`."""
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
    """The root of weight * (x - mean) + the factors' pulls - push: Halley's method within a bracket.

    Args:
        weight: of the normal factor; 0 where there is none.
    """
    low, high, reach = -math.inf, math.inf, 4.0 / steepest
    for _ in range(MOST_STEPS):
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
        is_precise = abs(step) * steepest <= SETTLED or abs(step) <= PRECISE * (1.0 + abs(x))
        x += step if low < x + step < high or is_precise else 0.5 * (low + high) - x
        if is_precise:
            break
    return x
