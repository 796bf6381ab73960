"""Podium's own: a Gaussian filter that learns its eight parameters from the results of its pool.

A player has a skill of mean m and variance V in log-odds. The evidence is pairwise and logistic, and one update settles
an event. What the filter has to know of a sport, its parameters theta, is the pool's: after every event one damped
Newton step makes the predictions of such events better. Every state carries its derivatives by theta for that, and its
reading x: by how much it would differ, to first order, had theta always been what it is now. Ratings do not move when
theta moves; predictions, and with them what theta learns, read m + x and V + x.

Sources: M. E. Glickman, "Parameter estimation in large dynamic paired comparison experiments" (1999), for the form of
the update; A. Ebtekar and P. Liu, "Elo-MMR" (2021), for the noise of a day; the learning is Podium's.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from podium.engine.inputs import (
    Columns,
    Heat,
    Scratch,
    comparable,
    entrant_at,
    entries_of,
    entry_at,
    heats_of,
    mode_at,
    slot_at,
    weight_at,
)
from podium.engine.pool_state import LearntParameter
from podium.engine.rules import compare, enter, evidence, expect, kernel, rate_event
from podium.engine.system import System, parameter
from podium.kernels.records import add, read, times, write
from podium.probability.ranks import GumbelPerformances, Performances
from podium.probability.uncertain import uncertain_performances
from podium.systems._podium_rules import (
    LEARNT,
    LEARNT_OF_MODES,
    NEWCOMER_DEVIATION,
    Entering,
    Evidence,
    Params,
    ageing_of,
    expected_log_odds,
    first_day,
    gain,
    growth_of,
    idle_days,
    is_new,
    offset_in,
    read_pool,
    steepness,
)
from podium.systems._podium_state import (
    BESIDE,
    COUNTED,
    DAY,
    DEVIATION,
    EVENTS,
    FIRST,
    LAST,
    MEANS,
    PARAMETERS,
    RATING,
    SCALE,
    Pair,
    Passed,
    begin_event,
    carry_pair,
    count_of,
    enter_row,
    learn_gap,
    learn_pair,
    new_pool,
    offset_at,
    pool_states_with,
    room_for,
    settle_row,
    states_with,
    take_step,
)

LEAST_VARIANCE = 1e-6  # of a skill as it is read, in forecasts


@dataclass(frozen=True, slots=True)
class Podium(System):
    """A filter whose parameters are the pool's own."""

    name: ClassVar[str] = "podium"
    title: ClassVar[str] = "Podium"
    source: ClassVar[str] = "Podium's own; the update after Glickman (1999), the noise of a day after Elo-MMR (2021)"
    formulas: ClassVar[tuple[str, ...]] = (
        "C = 3 / pi^2, rating = initial + 173.7178 m, deviation = 173.7178 sqrt(V); a newcomer has m = 0, V = spread",
        "time: V += event + day days, m += years idle (growth e^(-days since first / 800) - ageing min(decades, 2))",
        "p(i beats j) = sigma((m_i - m_j) / sqrt(1 + C (V_i + V_j + 2 noise))), as today's theta reads m and V",
        "g = 1 / sqrt(1 + C (V_j + noise)), e = sigma(g (m_i - m_j))",
        "w = unfinished^[one did not finish] / (1 + (pi (places apart - 1) / (reach n))^2)",
        "S = sum of w g (s - e), J = sum of w g^2 e (1 - e), D = 1 + (V + noise) J; m += V S / D, V -= V^2 J / D",
        "theta += clip(M^-1 (sum of c (s - p) u + pull to the start), 0.2), u = d logit p / d theta, c = sqrt(2 / n)",
        "M = memory M + (1 - memory) M_0 + sum of c p (1 - p) u u', memory = e^(-sum of c / 20000)",
    )
    state_type = states_with(0)
    entering_type = Entering
    evidence_type = Evidence
    pool_state_type = pool_states_with(PARAMETERS)
    learnt_parameters: ClassVar[tuple[LearntParameter, ...]] = LEARNT
    reads_days: ClassVar[bool] = True
    room: ClassVar[tuple[int, int]] = room_for(0)
    takes_periods: ClassVar[bool] = False
    margin: ClassVar[str] = (
        "Not by time. But the further apart in places two finish, the less their duel counts, as much less as the "
        "pool's results ask for."
    )
    stakes: ClassVar[str] = (
        "Every event counts the same, unless it was sent with a weight. It moves those more of whom less is known."
    )
    unfinished: ClassVar[str] = (
        "It loses to everyone who finished the heat, but such a duel counts for less, as much less as the pool's "
        "results ask for; two who did not finish are not compared."
    )
    signed: ClassVar[tuple[str, ...]] = states_with(0)._fields[MEANS:]

    initial: float = parameter(1500.0, "a newcomer's rating", unit="points")
    growth: bool = parameter(True, "newcomers improve and veterans decline with time, as much as the pool has shown")
    modes: str | None = parameter(
        None, "modes in which a player has an offset, as clay/grass/hard; the rest is one more"
    )

    def __new__(cls, *_: Any, modes: Any = None, **__: Any) -> Self:
        """Of the class for so many modes, whose states have room for an offset in each and in all others."""
        kind = with_modes(len(names_of(modes)) + 1) if isinstance(modes, str) and names_of(modes) else Podium
        return object.__new__(kind)  # type: ignore[return-value]

    def __post_init__(self) -> None:
        if isinstance(self.modes, str):
            object.__setattr__(self, "modes", "/".join(names_of(self.modes)) or None)
        System.__post_init__(self)

    def __reduce__(self) -> Any:
        """Copies and pickles are made anew, of the class that the modes ask for."""
        return functools.partial(Podium, **{setting.name: getattr(self, setting.name) for setting in fields(self)}), ()

    def mode_number(self, mode: str) -> float:
        """The mode's place among those that are named, from 1; 0 for any other."""
        names = names_of(self.modes or "")
        return names.index(mode.casefold()) + 1.0 if mode.casefold() in names else 0.0

    def params(self) -> Params:
        """The numbers that the rules read, in the pool that the system is bound to."""
        names = names_of(self.modes or "")
        own = [self.initial, float(self.growth), len(names) + 1.0 if names else 0.0]
        return read_pool(Params._make([0.0] * (len(Params._fields) - len(own)) + own), *self.standing)

    def newcomer(self) -> Any:
        """A player who has not played."""
        return self.state_type(self.initial, NEWCOMER_DEVIATION, *(0.0,) * (len(self.state_type._fields) - 2))

    def new_pool(self) -> Any:
        """The start, the same everywhere."""
        return new_pool(PARAMETERS + (self.modes is not None))

    def performances(self, entering_states: Sequence[Any]) -> Performances:
        """Logistic performances around uncertain skills, as today's theta reads them; a duel's odds are `expect`'s."""
        params = self.params()
        if len(entering_states) == 2:
            lead = expected_log_odds(params, *entering_states)
            return GumbelPerformances(np.array([-lead, 0.0]), np.ones(2))
        variances = [me.variance + me.variance_reading + params.noise for me in entering_states]
        means = [me.mean + me.mean_reading for me in entering_states]
        return uncertain_performances(means, [math.sqrt(max(each, LEAST_VARIANCE)) for each in variances], 1.0)

    def season_begins(self, states: npt.NDArray[np.float64], keep: float) -> npt.NDArray[np.float64]:
        """The states after a soft reset: means shrink, and with them all that is known of how theta moves them."""
        moved = System.season_begins(self, states, keep)
        count = PARAMETERS + (self.modes is not None)
        blocks = [slice(MEANS, MEANS + count + 1)]
        for mode in range(len(names_of(self.modes or "")) + 1 if self.modes else 0):
            start = offset_at(count, float(mode))
            blocks += [slice(start, start + 1), slice(start + 2, start + 3 + count)]
        for block in blocks:
            moved[:, block] *= keep
        return moved

    def shown(self, states: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[Any]]:
        """The state for people: without days and derivatives."""
        columns = System.shown(self, states)
        return {name: columns[name] for name in ("rating", "deviation", "events")}


def names_of(modes: str) -> tuple[str, ...]:
    """The modes that a text names, apart by commas or slashes."""
    return tuple(dict.fromkeys(filter(None, (name.strip().casefold() for name in modes.replace(",", "/").split("/")))))


@functools.cache
def with_modes(count: int) -> type[Podium]:
    """The class for so many modes."""
    facts = {
        "__slots__": (),
        "__module__": __name__,
        "__qualname__": Podium.__qualname__,
        "__doc__": Podium.__doc__,
        "state_type": states_with(count),
        "signed": states_with(count)._fields[MEANS:],
        "pool_state_type": pool_states_with(PARAMETERS + 1),
        "learnt_parameters": (*LEARNT, LEARNT_OF_MODES),
        "room": room_for(count),
    }
    return type(Podium.__name__, (Podium,), facts)


@rate_event.register
def rate_and_learn(
    params: Params,
    prototypes: Any,
    columns: Columns,
    settlement: int,
    states: Any,
    scratch: Scratch,
    after: Any,
    at: int,
) -> None:
    """Everyone enters, every pair is predicted and compared, everyone settles; then the pool learns."""
    newcomer, entering, zero_evidence = prototypes
    room, pool, count = scratch.room, scratch.pool, count_of(newcomer)
    first = columns.entrants[settlement]
    size = columns.entrants[settlement + 1] - first
    for i in range(size):
        player = columns.player[first + i]
        me = read(states, player, newcomer)
        brought = enter(params, me, entrant_at(columns, first + i))
        write(scratch.entering_states, i, brought)
        write(scratch.sums, i, zero_evidence)
        passed = Passed(is_new(me), idle_days(params, me), growth_of(params, me), ageing_of(params, me))
        enter_row(params, me, brought, passed, offset_in(params, me), states, player, room, i, count)
    learner = room.shape[0] - BESIDE
    first_heat, after_last = heats_of(columns, settlement)
    begin_event(pool, room, learner, count, pairs_counted(columns, first_heat, after_last))
    for heat in range(first_heat, after_last):
        start, stop = entries_of(columns, heat)
        judge_pairs(params, entering, columns, heat, start, stop, first, scratch, learner, count)
    for i in range(size):
        player = columns.player[first + i]
        brought, totals = read(scratch.entering_states, i, entering), read(scratch.sums, i, zero_evidence)
        me = read(states, player, newcomer)
        offset, moved = offset_in(params, me), gain(params, brought, totals)
        write(after, at + i, me)
        settle_row(brought, totals, params.noise, pool, room, i, after, at + i, offset, count)
        after[at + i, RATING] = brought.rating + SCALE * moved * totals.surprise
        after[at + i, DEVIATION] = SCALE * math.sqrt(brought.skill - brought.skill * moved * totals.information)
        after[at + i, EVENTS] += entrant_at(columns, first + i).events
        after[at + i, FIRST] = first_day(params, me)
        after[at + i, LAST] = params.today
        if params.today < COUNTED and me.last > 0.0:
            learn_gap(pool, params.today - me.last)
        if offset:
            free = brought.variance - brought.skill
            share = moved / brought.skill * free
            after[at + i, offset] += share * totals.surprise
            after[at + i, offset + 1] = free - free * share * totals.information
    take_step(pool, room, learner, count)
    pool[DAY] = params.today


@kernel
def pair_weight(entries: float) -> float:
    """What a pair of a heat counts in what theta learns."""
    return math.sqrt(2.0 / entries)


@kernel
def pairs_counted(columns: Columns, first_heat: int, after_last: int) -> float:
    """The pairs of an event, as much as they count."""
    count = 0.0
    for heat in range(first_heat, after_last):
        start, stop = entries_of(columns, heat)
        entries = float(stop - start)
        count += weight_at(columns, heat) * 0.5 * entries * (entries - 1.0) * pair_weight(entries)
    return count


@kernel
def judge_pairs(
    params: Params,
    entering: Any,
    columns: Columns,
    heat: int,
    start: int,
    stop: int,
    first: int,
    scratch: Scratch,
    learner: int,
    count: int,
) -> None:
    """Predict and compare every pair of a heat: entries `start` to `stop`, entrants from `first`."""
    entries, weight = float(stop - start), weight_at(columns, heat)
    course, each = Heat(entries, mode_at(columns, heat)), weight * pair_weight(entries)
    for i in range(start, stop):
        mine = entry_at(columns, i, entries)
        me = slot_at(columns, i, first)
        a = read(scratch.entering_states, me, entering)
        for j in range(i + 1, stop):
            if not comparable(columns, i, j):
                continue
            theirs = entry_at(columns, j, entries)
            you = slot_at(columns, j, first)
            b = read(scratch.entering_states, you, entering)
            for_a, for_b = compare(params, a, b, mine, theirs, course)
            add(scratch.sums, me, times(evidence(params, for_a), weight))
            add(scratch.sums, you, times(evidence(params, for_b), weight))
            unfinished = 0.0 if mine.finished and theirs.finished else 1.0
            pair = Pair(a.mean - b.mean, steepness(params, a, b), unfinished, params.noise)
            carry_pair(pair, for_a, for_b, weight, scratch.room, me, you, count)
            p = expect(params, a, b)
            off, spread = (for_a.result - p) * each, p * (1.0 - p) * each
            learn_pair(pair, off, spread, scratch.pool, scratch.room, me, you, learner, count)


SYSTEM = Podium
