"""Codeforces' contest rating, in whole numbers.

Source: M. Mirzayanov, "Open Codeforces Rating System" (2015). Integer division truncates towards zero, as in the
author's program. When that program calculates the rating that a place deserves, it counts each contestant as one of
their own opponents. The site does not: all changes that it published for six rounds in 2020 match the rule without this
extra opponent. `counts_self` selects the published program's rule.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import Columns, Entrant, Scratch, nobody_finished, rank_at, slot_at, weight_at
from podium.engine.rules import Points, enter, expect, judge_heat, kernel, rate_event, rate_heats, update_state
from podium.engine.system import System, parameter
from podium.kernels.logarithm import LN_10
from podium.kernels.records import add, read
from podium.probability.logistic import LARGEST, bradley_terry, logistic
from podium.systems.elo import State, add_points

SLOPE = LN_10 / 400.0
LOW, HIGH = 1.0, 8000.0  # bounds for the rating that a place deserves
DELTA, WORST_RANK = range(2)  # columns of an entry's line
MAX_CORRECTION = 10.0
LARGE = 64  # contestants, from which keeping seeds saves time


class Params(NamedTuple):
    centre: float
    counts_self: float  # 1 if contestants count as their own opponents


class Entering(NamedTuple):
    rating: float
    events: float
    strength: float  # e^(slope (rating - initial))


@dataclass(frozen=True, slots=True)
class Codeforces(System):
    """Half of the distance to the rating that the place deserves, corrected for inflation."""

    name = "codeforces"
    title = "Codeforces"
    for_players = "Place higher than your rating predicts and you gain."
    source = "Mirzayanov, Open Codeforces Rating System (2015), and the changes that the site publishes"
    formulas = (
        "seed = 1 + sum over opponents of 1 / (1 + 10^((me - opponent) / 400))",
        "deserved: the rating whose seed is sqrt(rank seed), ties having the worst rank; d = (deserved - me) / 2",
        "the published program also counts the contestants themselves as opponents (counts_self)",
        "all d move by -sum of d / n - 1, then by -sum / s of the s = 4 sqrt(n) highest rated, within -10 and 0",
    )
    state_type = State
    entering_type = Entering
    teams = False
    needs_finisher = True
    workspace = 1, int(HIGH)  # one seed for each whole rating
    unfinished = "It shares last place: all players who did not finish have the worst rank of the contest."

    initial: int = parameter(1500, "a newcomer's rating", unit="points", low=1, high=8000)
    counts_self: bool = parameter(
        False, "a contestant counts as one of their own opponents, as in the program of 2015 but not on the site"
    )

    def params(self) -> Params:
        return Params(float(self.initial), float(self.counts_self))

    def newcomer(self) -> State:
        return State(float(self.initial), 0.0)


@enter.register
def with_strength(params: Params, me: State, entrant: Entrant) -> Entering:
    """Compute a player's exponential, the only one needed in a contest."""
    return Entering(me.rating, me.events, strength_of(params, me.rating))


rate_event.register(Params, rate_heats)


@judge_heat.register
def judge_contest(
    params: Params, prototypes: Any, columns: Columns, heat: int, start: int, stop: int, first: int, scratch: Scratch
) -> None:
    """Add the points of each contestant in a contest to the sums."""
    _, entering, _ = prototypes
    entering_states, lines = scratch.entering_states, scratch.lines
    n, weight = stop - start, weight_at(columns, heat)
    if n < 2:
        return
    if nobody_finished(columns, start, stop):
        return
    write_worst_ranks(columns, start, stop, lines)
    if n >= LARGE:
        scratch.workspace[: int(HIGH)] = 0.0
    total = 0.0
    for i in range(start, stop):
        me = read(entering_states, slot_at(columns, i, first), entering)
        seed = seed_of(columns, entering, entering_states, start, stop, first, me.strength) - 0.5  # their own half
        rank = math.sqrt(lines[i - start, WORST_RANK] * seed)
        excluded = 0.0 if params.counts_self else me.strength
        deserved = rating_of_rank(
            params, columns, entering, entering_states, start, stop, first, rank, excluded, scratch.workspace
        )
        lines[i - start, DELTA] = truncate((deserved - me.rating) / 2.0)
        total += lines[i - start, DELTA]
    shift = truncate(-total / n) - 1.0
    shift += top_correction(columns, entering, entering_states, start, stop, first, lines, shift)
    for i in range(start, stop):
        points = truncate(weight * (lines[i - start, DELTA] + shift))
        add(scratch.sums, slot_at(columns, i, first), Points(points))


@kernel
def truncate(x: float) -> float:
    """Round towards zero, as integer division does."""
    whole: float = np.trunc(x)
    return whole


@kernel
def write_worst_ranks(columns: Any, start: int, stop: int, lines: Any) -> None:
    """Write each contestant's worst rank within a tie: the number of contestants who placed at least as well."""
    n = stop - start
    for k in range(n):
        lines[k, DELTA] = 0.0
    for i in range(start, stop):
        rank = rank_at(columns, i)
        lines[int(rank) - 1, DELTA] += 1.0
    for i in range(start, stop):
        rank = rank_at(columns, i)
        lines[i - start, WORST_RANK] = rank - 1.0 + lines[int(rank) - 1, DELTA]


@kernel
def strength_of(params: Any, rating: float) -> float:
    """Return e^(slope (rating - initial)), limited so that the sum of two such numbers does not overflow."""
    return bradley_terry(min(max(SLOPE * (rating - params.centre), -LARGEST), LARGEST))


@kernel
def seed_of(columns: Any, entering: Any, states: Any, start: int, stop: int, first: int, mine: float) -> float:
    """Return the expected place for a strength: 1 plus the sum of the contestants' probabilities of being ahead."""
    seed = 1.0
    for i in range(start, stop):
        theirs = read(states, slot_at(columns, i, first), entering).strength
        seed += theirs / (theirs + mine)
    return seed


@kernel
def rating_of_rank(
    params: Any,
    columns: Any,
    entering: Any,
    states: Any,
    start: int,
    stop: int,
    first: int,
    rank: float,
    absent: float,
    seeds: Any,
) -> float:
    """Return the lowest whole rating for which one point more would be expected to place better than `rank`.

    In large fields, `seeds` keeps the seed of each rating among all contestants for the next contestant, or 0.
    """
    low, high = LOW, HIGH
    while high - low > 1.0:
        middle = math.floor(0.5 * (low + high))
        mine, at = strength_of(params, middle), int(middle)
        seed = seeds[at, 0] if stop - start >= LARGE else 0.0
        if seed == 0.0:
            seed = seed_of(columns, entering, states, start, stop, first, mine)
            if stop - start >= LARGE:
                seeds[at, 0] = seed
        if seed - absent / (absent + mine) < rank:
            high = middle
        else:
            low = middle
    return low


@kernel
def order_of(entering: Any, states: Any, slot: int, worst_rank: float, n: int) -> float:
    """Return a whole number that is higher for a contestant with a higher rating or, among equals, a better place."""
    points: float = np.ceil(read(states, slot, entering).rating - 0.5)
    return points * (n + 1.0) - worst_rank


@kernel
def top_correction(
    columns: Any, entering: Any, entering_states: Any, start: int, stop: int, first: int, lines: Any, shift: float
) -> float:
    """Return the correction for inflation, with which the top contestants gain no points in total.

    It is at most ten points per contestant. The top contestants are found by counting, without sorting. Contestants
    with the same rating and place have the same points.
    """
    n = stop - start
    top_size = min(4.0 * math.floor(math.sqrt(float(n)) + 0.5), float(n))
    low, high = math.inf, -math.inf
    for i in range(start, stop):
        order = order_of(entering, entering_states, slot_at(columns, i, first), lines[i - start, WORST_RANK], n)
        low, high = min(low, order - 1.0), max(high, order)
    middle = np.floor(0.5 * (low + high))
    while low < middle < high:
        count = 0.0
        for i in range(start, stop):
            order = order_of(entering, entering_states, slot_at(columns, i, first), lines[i - start, WORST_RANK], n)
            count += 1.0 if order > middle else 0.0
        if count >= top_size:
            low = middle
        else:
            high = middle
        middle = np.floor(0.5 * (low + high))
    total, points, left = 0.0, 0.0, top_size
    for i in range(start, stop):
        order = order_of(entering, entering_states, slot_at(columns, i, first), lines[i - start, WORST_RANK], n)
        if order > high:
            total, left = total + lines[i - start, DELTA] + shift, left - 1.0
        elif order == high:
            points = lines[i - start, DELTA] + shift
    return min(max(truncate(-(total + left * points) / top_size), -MAX_CORRECTION), 0.0)


update_state.register(Params, add_points)


@expect.register
def chance(params: Params, a: Entering, b: Entering) -> float:
    """Return Elo's expected score."""
    return logistic(SLOPE * (a.rating - b.rating))


SYSTEM = Codeforces
