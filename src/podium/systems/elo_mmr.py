"""Elo-MMR: each contest gives a performance, based on the whole ranking. A rating is a robust average of performances.

Source: A. Ebtekar and P. Liu, "Elo-MMR: A Rating System for Massive Multiplayer Competitions" (WWW 2021). This is the
logistic variant. A player's past consists of a normal factor and one logistic factor for each of the latest
performances. Older performances are merged into the normal factor, which preserves the total weight.
"""

import math
from collections import namedtuple
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from podium.engine import inputs
from podium.engine.rules import enter, expect, kernel, rate_event
from podium.engine.system import System, conservatism, parameter
from podium.kernels.logarithm import power
from podium.kernels.records import read, write
from podium.probability.logistic import logistic
from podium.probability.ranks import Performances
from podium.probability.uncertain import uncertain_performances
from podium.support.arrays import Floats
from podium.systems._elo_mmr_pulls import WORKSPACE, Factor, balance, clear_factors, write_factor

SLOTS = 16  # logistic factors in a state
UNFINISHED_TIE = 1.0  # weight of a tie between two players who did not finish: half a win and half a loss
LOGISTIC = math.pi / math.sqrt(3.0)  # a logistic variable with deviation 1 has the scale 1 / LOGISTIC
RATING, DEVIATION, EVENTS, NORMAL, NORMAL_WEIGHT, FACTORS, FIRST = range(7)
MEAN, SLOPE, PULL = range(3)  # columns of a factor: pull * tanh(slope * (x - mean))
WIDTH = 3
PERFORMANCE, INFORMATIVE = range(2)  # columns of an entry's line; INFORMATIVE is 1 if the entry has a performance

State = namedtuple(  # type: ignore[misc]  # noqa: PYI024  (one field for each number of each factor)
    "State",
    [
        "rating",
        "deviation",
        "events",
        "normal",
        "normal_weight",
        "factors",
        *(f"{part}_{k}" for k in range(1, SLOTS + 1) for part in ("mean", "slope", "pull")),
    ],
)


class Params(NamedTuple):
    limit_squared: float
    weight_limit: float
    day_variance: float
    transfer_speed: float
    tie: float  # weight of a tie
    history: float
    variance: float  # variance of a performance in an event of weight 1


class Entering(NamedTuple):
    """A player at the start of an event."""

    rating: float
    deviation: float
    events: float
    slope: float  # slope of the player's performance, for opponents


class Evidence(NamedTuple):
    """Empty evidence: nothing is summed, because performances are added to the history one by one."""

    performances: float


@dataclass(frozen=True, slots=True)
class EloMmr(System):
    """Elo-MMR with logistic performances."""

    name = "elo-mmr"
    title = "Elo-MMR"
    for_players = "Your rating moves towards how well you placed in the latest event."
    source = "Ebtekar and Liu, Elo-MMR (2021)"
    formulas = (
        "w = weight_limit * the event's weight, performance variance = (1 + 1 / w) limit^2 + drift / w",
        "before an event: variance += w limit^2 + drift * idle days; the factors lose weight to the normal one",
        "performance: the root of sum over worse of l (1 - tanh) - sum over better of l (1 + tanh) - ties of 2 l tanh",
        "rating: the root of (x - normal) / normal variance + sum over newest performances of l tanh",
    )
    weight_repeats = False  # the evidence is not proportional to weight
    state_type = State
    entering_type = Entering
    evidence_type = Evidence
    teams = False
    needs_finisher = True
    unfinished = (
        "It loses to everyone who finished the heat; two players who did not finish tie for last, with half a win"
        " and half a loss."
    )
    takes_periods = False
    workspace = WORKSPACE
    displayed = 3  # without the factors whose average is the rating
    whole_numbers = ("events", "factors")
    with_level = ("rating", "normal", *(f"mean_{k}" for k in range(1, SLOTS + 1)))
    together = State._fields[NORMAL:]
    most = MappingProxyType({"factors": SLOTS})

    initial: float = parameter(1500.0, "a newcomer's rating", unit="points")
    deviation: float = parameter(350.0, "a newcomer's deviation", unit="points", low=1e-3, high=1e6)
    limit: float = parameter(80.0, "deviation that is reached after many events", unit="points", low=1e-3, high=1e6)
    weight_limit: float = parameter(
        0.2, "weight of a new event relative to earlier events, once there are any", low=1e-6, high=1e3
    )
    drift: float = parameter(
        0.0, "variance added by an idle day", unit="points^2", low=0.0, high=1e9, search=(0.0, 100.0)
    )
    transfer_speed: float = parameter(
        1.0, "how fast performances merge into the normal factor as skill drifts", low=0.0, high=1e3
    )
    split_ties: bool = parameter(False, "a tie is half a win and half a loss, not one of each")
    history: int = parameter(
        SLOTS, "number of latest performances that are kept separately", unit="events", low=1, high=SLOTS
    )
    conservative: float = conservatism()

    @property
    def idle_unit(self) -> str | None:
        """Return "day" if the deviation grows over idle days, otherwise None."""
        return "day" if self.drift else None

    def params(self) -> Params:
        limit_squared = self.limit * self.limit
        return Params(
            limit_squared=limit_squared,
            weight_limit=self.weight_limit,
            day_variance=self.drift,
            transfer_speed=self.transfer_speed,
            tie=1.0 if self.split_ties else 2.0,
            history=float(self.history),
            variance=(1.0 + 1.0 / self.weight_limit) * limit_squared + self.drift / self.weight_limit,
        )

    def performances(self, entering_states: Sequence[Any]) -> Performances:
        """Return performances around uncertain skills, with logistic differences."""
        noise = math.sqrt(2.0 * self.params().variance) / LOGISTIC
        return uncertain_performances(
            [me.rating for me in entering_states], [me.deviation for me in entering_states], noise
        )

    def widen(self, states: Floats, before: Floats, keep: float) -> None:
        """Let skills drift until they are as uncertain as `widen` makes them in other systems."""
        wider, params = states.copy(), self.params()
        System.widen(self, wider, before, keep)
        added = wider[:, DEVIATION] ** 2 - states[:, DEVIATION] ** 2
        for row in np.flatnonzero(added).tolist():
            let_drift(params, states, row, added[row])

    def newcomer(self) -> Any:
        known = (self.initial, self.deviation, 0.0, self.initial, self.deviation**-2, 0.0)
        return State._make((*known, *(0.0,) * (WIDTH * SLOTS)))

    def filled_states(self, known: Mapping[str, Floats]) -> Floats:
        """Complete states of which only some columns are known.

        If the factors are unknown, the normal factor gets the deviation.
        """
        states = System.filled_states(self, known)
        unknown = np.isnan(known["normal"]) if "normal" in known else np.ones(len(states), np.bool_)
        states[unknown, NORMAL_WEIGHT] = states[unknown, DEVIATION] ** -2
        return states


@kernel
def performance_variance(params: Any, weight: float) -> float:
    """Return the variance of a performance in an event of a given weight."""
    w = params.weight_limit * weight
    variance: float = (1.0 + 1.0 / w) * params.limit_squared + params.day_variance / w
    return variance


@kernel
def drift_variance(params: Any, weight: float, idle: float) -> float:
    """Return the variance added by an event and by the idle days before it."""
    variance: float = params.weight_limit * weight * params.limit_squared + params.day_variance * idle
    return variance


@enter.register
def add_drift(params: Params, me: Any, entrant: inputs.Entrant) -> Entering:
    """Return the belief about a player at the start of an event with weight 1."""
    variance = me.deviation * me.deviation + drift_variance(params, 1.0, entrant.idle)
    slope = 0.5 * LOGISTIC / math.sqrt(variance + params.variance)
    return Entering(me.rating, math.sqrt(variance), me.events, slope)


@rate_event.register
def rate_contests(
    params: Params, prototypes: Any, columns: Any, update: int, states: Any, scratch: Any, after: Any, at: int
) -> None:
    """Give every player one performance per heat. All performances in an event use the beliefs before the event."""
    newcomer, entering, _ = prototypes
    entering_states = scratch.entering_states
    first = columns.entrants[update]
    size = columns.entrants[update + 1] - first
    first_heat, after_last = inputs.heats_of(columns, update)
    weight = inputs.weight_at(columns, first_heat)
    variance = performance_variance(params, weight)
    for i in range(size):
        row = at + i
        write(after, row, read(states, columns.player[first + i], newcomer))
        let_drift(params, after, row, drift_variance(params, weight, inputs.entrant_at(columns, first + i).idle))
        deviation = after[row, DEVIATION]
        slope = 0.5 * LOGISTIC / math.sqrt(deviation * deviation + variance)
        write(entering_states, i, Entering(after[row, RATING], deviation, after[row, EVENTS], slope))
    for heat in range(first_heat, after_last):
        start, stop = inputs.entries_of(columns, heat)
        judge_contest(params, entering, columns, start, stop, first, scratch)
        for i in range(start, stop):
            if scratch.lines[i - start, INFORMATIVE]:
                mean = scratch.lines[i - start, PERFORMANCE]
                remember(params, after, at + inputs.slot_at(columns, i, first), mean, variance)
    for i in range(size):
        if inputs.is_sought(columns, first + i):
            after[at + i, RATING] = robust_average(after, at + i, scratch.workspace)
        after[at + i, EVENTS] += inputs.entrant_at(columns, first + i).events


@kernel
def factors_of(table: Any, row: int) -> int:
    """Return the number of logistic factors of a state."""
    count = table[row, FACTORS]
    return int(count) if 0.0 <= count <= SLOTS else 0


@kernel
def let_drift(params: Any, table: Any, row: int, variance: float) -> None:
    """Let a skill drift: every factor loses weight, and part of the lost weight moves to the normal factor."""
    old = table[row, DEVIATION] * table[row, DEVIATION]
    decay = old / (old + variance)
    transfer = power(decay, params.transfer_speed)
    total = table[row, NORMAL_WEIGHT]
    for k in range(factors_of(table, row)):
        total += weight_of(table, row, FIRST + WIDTH * k)
    stays, moved = transfer * table[row, NORMAL_WEIGHT], (1.0 - transfer) * total
    table[row, NORMAL] = (stays * table[row, NORMAL] + moved * table[row, RATING]) / (stays + moved)
    table[row, NORMAL_WEIGHT] = decay * (stays + moved)
    for k in range(factors_of(table, row)):
        table[row, FIRST + WIDTH * k + PULL] *= transfer * decay
    table[row, DEVIATION] = math.sqrt(old + variance)


@kernel
def weight_of(table: Any, row: int, factor: int) -> float:
    """Return the precision that a factor would have as a normal factor."""
    weight: float = table[row, factor + SLOPE] * table[row, factor + PULL] * 2.0 / (LOGISTIC * LOGISTIC)
    return weight


@kernel
def judge_contest(params: Any, entering: Any, columns: Any, start: int, stop: int, first: int, scratch: Any) -> None:
    """Write into each entry's line whether it has a performance, and the performance."""
    lines = scratch.lines
    informative = stop - start > 1 and not inputs.nobody_finished(columns, start, stop)
    for i in range(start, stop):
        slot = inputs.slot_at(columns, i, first)
        lines[i - start, INFORMATIVE] = 1.0 * (informative and inputs.is_sought(columns, first + slot))
        if lines[i - start, INFORMATIVE]:
            count, steepest, push = gather_factors(params, entering, columns, i, start, stop, first, scratch)
            me = read(scratch.entering_states, slot, entering)
            lines[i - start, PERFORMANCE] = balance(scratch.workspace, count, me.rating, steepest, 0.0, 0.0, push)


@kernel
def gather_factors(
    params: Any, entering: Any, columns: Any, i: int, start: int, stop: int, first: int, scratch: Any
) -> tuple[int, float, float]:
    """Write the factors of entry `i` and of all entries with which it is compared.

    Returns:
        The number of factors, the steepest slope, and the push of wins and losses.
    """
    count, steepest, push = 0, 0.0, 0.0
    for j in range(start, stop):
        you = read(scratch.entering_states, inputs.slot_at(columns, j, first), entering)
        pull = 2.0 * you.slope
        ties = columns.place[i] == columns.place[j]
        tie = params.tie if i == j or inputs.comparable(columns, i, j) else UNFINISHED_TIE
        write_factor(scratch.workspace, count, Factor(you.rating, you.slope, pull * tie if ties else pull))
        if not ties:
            push += pull if columns.place[i] < columns.place[j] else -pull
        count += 1
        steepest = max(steepest, you.slope)
    clear_factors(scratch.workspace, count)
    return count, steepest, push


@kernel
def remember(params: Any, table: Any, row: int, mean: float, variance: float) -> None:
    """Add a performance to the history. If the history is full, merge the oldest into the normal factor."""
    count = factors_of(table, row)
    if count >= int(params.history):
        weight = weight_of(table, row, FIRST)
        total = table[row, NORMAL_WEIGHT] + weight
        table[row, NORMAL] = (
            table[row, NORMAL_WEIGHT] * table[row, NORMAL] + weight * table[row, FIRST + MEAN]
        ) / total
        table[row, NORMAL_WEIGHT] = total
        count -= 1
        for k in range(FIRST, FIRST + WIDTH * count):
            table[row, k] = table[row, k + WIDTH]
    new = FIRST + WIDTH * count
    pull = LOGISTIC / math.sqrt(variance)
    table[row, new + MEAN], table[row, new + SLOPE], table[row, new + PULL] = mean, 0.5 * pull, pull
    table[row, FACTORS] = count + 1.0
    table[row, DEVIATION] = 1.0 / math.sqrt(1.0 / (table[row, DEVIATION] * table[row, DEVIATION]) + 1.0 / variance)


@kernel
def robust_average(table: Any, row: int, factors: Any) -> float:
    """Return the point at which the pulls of all factors balance. Only the pull of the normal factor is unbounded."""
    count, steepest = factors_of(table, row), 0.0
    if count == 0:
        normal: float = table[row, NORMAL]
        return normal
    for k in range(count):
        factor = FIRST + WIDTH * k
        mean, slope, weight = table[row, factor + MEAN], table[row, factor + SLOPE], table[row, factor + PULL]
        write_factor(factors, k, Factor(mean, slope, weight))
        steepest = max(steepest, slope)
    clear_factors(factors, count)
    return balance(factors, count, table[row, RATING], steepest, table[row, NORMAL], table[row, NORMAL_WEIGHT], 0.0)


@expect.register
def chance(params: Params, a: Entering, b: Entering) -> float:
    """Return the probability that `a` performs better, treating the difference as logistic."""
    spread = a.deviation * a.deviation + b.deviation * b.deviation + 2.0 * params.variance
    return logistic(LOGISTIC * (a.rating - b.rating) / math.sqrt(spread))


SYSTEM = EloMmr
