"""Several duels at once, batch by batch: their states are gathered into lanes, rated together, and put back."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from podium.engine.inputs import Heat, finisher, mode_at, plain_entry
from podium.engine.rules import rate_two
from podium.engine.steps import face_off, judge_result, update_two
from podium.engine.system import System, blank
from podium.kernels.compiled import IN_KERNELS, compile_kernel, kernel
from podium.kernels.memory import LINE_BYTES, are_disjoint, gather_rows, prefetch
from podium.kernels.records import LANES, finite, read, read_fields, total, write, write_column, write_fields


class Places(NamedTuple):
    """Where both stand in the result."""

    place: float
    other_place: float


PLACES = Places(1.0, 2.0)


class Fields(NamedTuple):
    """Where what is known of a duel stands in its lane: one table, so that nothing can overlap but what must."""

    a: int  # the states of both, before
    b: int
    new_a: int  # and after
    new_b: int
    places: int
    between: int  # what the steps pass on


@kernel
def fields_of(newcomer: Any) -> Fields:
    """The fields of a lane."""
    state = len(newcomer)
    return Fields(0, state, 2 * state, 3 * state, 4 * state, 4 * state + len(PLACES))


def examples_between(system: System) -> tuple[Any, ...]:
    """An example of each of the types between the steps of a duel; none where it is one step."""
    return tuple(map(blank, system.duel_types or ()))


def lanes_for(system: System) -> Any:
    """A table of lanes, float64 (fields, LANES); those that have had no duel hold one of newcomers."""
    newcomer = np.array(system.newcomer(), np.float64)[:, None]
    fields = fields_of(system.newcomer())
    size = (fields.between + sum(map(len, examples_between(system)))) * LANES
    numbers = np.ones(size + LINE_BYTES // 8)
    begin = -numbers.ctypes.data % LINE_BYTES // 8
    table = numbers[begin : begin + size].reshape(-1, LANES)
    table[fields.a : fields.b] = table[fields.b : fields.new_a] = newcomer
    return table


def rate_lanes(params: Any, newcomer: Any, between: Any, table: Any) -> None:
    """Rate the duels of all lanes: in steps, or in one where there is nothing between."""
    if between:
        rate_in_three_steps(params, newcomer, between, table)
    else:
        rate_pairs(params, newcomer, between, table)


@kernel
def rate_pairs(params: Any, newcomer: Any, between: Any, table: Any) -> None:
    """Rate the duels of all lanes by rules that read only the places of a result."""
    fields = fields_of(newcomer)
    for lane in range(LANES):
        a, b = read_fields(table, fields.a, lane, newcomer), read_fields(table, fields.b, lane, newcomer)
        places = read_fields(table, fields.places, lane, PLACES)
        mine, theirs = finisher(places.place), finisher(places.other_place)
        new_a, new_b = rate_two(params, a, b, mine, theirs, Heat(2.0, 0.0))
        write_fields(table, fields.new_a, lane, new_a)
        write_fields(table, fields.new_b, lane, new_b)


@kernel
def rate_in_three_steps(params: Any, newcomer: Any, between: Any, table: Any) -> None:
    """Rate the duels of all lanes, a loop for each step."""
    difference, verdict = between
    fields = fields_of(newcomer)
    verdict_at = fields.between + len(difference)
    for lane in range(LANES):
        a, b = read_fields(table, fields.a, lane, newcomer), read_fields(table, fields.b, lane, newcomer)
        places = read_fields(table, fields.places, lane, PLACES)
        write_fields(table, fields.between, lane, face_off(params, a, b, places.place, places.other_place))
    for lane in range(LANES):
        result = judge_result(params, read_fields(table, fields.between, lane, difference))
        write_fields(table, verdict_at, lane, result)
    for lane in range(LANES):
        new_a, new_b = update_two(
            params,
            read_fields(table, fields.a, lane, newcomer),
            read_fields(table, fields.b, lane, newcomer),
            read_fields(table, fields.between, lane, difference),
            read_fields(table, verdict_at, lane, verdict),
        )
        write_fields(table, fields.new_a, lane, new_a)
        write_fields(table, fields.new_b, lane, new_b)


@overload(rate_lanes, jit_options=IN_KERNELS)
def _(params, newcomer, between, table):  # type: ignore[no-untyped-def]
    rate_all = rate_in_three_steps if len(between) else rate_pairs
    return lambda params, newcomer, between, table: rate_all(params, newcomer, between, table)


AHEAD = 24  # duels from asking for their states to reading them
NEAR = 1 << 15  # numbers of states that a processor has near at all times


def _replay_one_by_one(
    params: Any, newcomer: Any, duels: Any, count: int, states: Any, before: Any, after: Any, first: int
) -> int:
    """Rate the first `count` duels, whose entrants are those from `first` on in `after`.

    Returns:
        The first entrant whose state is not finite, counting from 0, or -1.
    """
    near = count if is_far(states) else 0
    for k in range(count):
        if k + AHEAD < near:
            prefetch(states, duels.player[k + AHEAD, 0])
            prefetch(states, duels.player[k + AHEAD, 1])
        everything = rate_one(params, newcomer, duels, k, states, before, after, first)
        if not math.isfinite(everything):
            for side in range(2):
                if not finite(read(states, duels.player[k, side], newcomer)):
                    return 2 * k + side
    return -1


@kernel
def is_far(states: Any) -> bool:
    """Whether these states are more than a processor has near."""
    return bool(states.size > NEAR)


@kernel
def rate_one(params: Any, newcomer: Any, duels: Any, k: int, states: Any, before: Any, after: Any, first: int) -> float:
    """Rate a duel; the sum of all numbers of both states."""
    one, other = duels.player[k, 0], duels.player[k, 1]
    a, b = read(states, one, newcomer), read(states, other, newcomer)
    new_a, new_b = rate_two(
        params, a, b, plain_entry(duels, (k, 0)), plain_entry(duels, (k, 1)), Heat(2.0, mode_at(duels, k))
    )
    if before.size > 0:
        before[k, 0], before[k, 1] = a.rating, b.rating
        write_column(after, first + 2 * k, new_a)
        write_column(after, first + 2 * k + 1, new_b)
    write(states, one, new_a)
    write(states, other, new_b)
    return total(new_a) + total(new_b)


one_by_one_cached = compile_kernel(_replay_one_by_one)
one_by_one_uncached = compile_kernel(_replay_one_by_one, cached=False)


BATCHES = 8  # that wait at a time; a power of two
SLOT = BATCHES - 1
SEATS = 4096  # players whose numbers end alike share one, and at worst wait for each other; a power of two
SEAT = SEATS - 1
COLUMNS_AHEAD = 256  # duels from asking for their players and places to reading them
PLAYERS_A_LINE, PLACES_A_LINE = LINE_BYTES // 8, LINE_BYTES // 16  # duels, with 4 and with 8 bytes for each of the two


class Waiting(NamedTuple):
    """The duels of each batch, the one in lane l of batch b at b * LANES + l."""

    duel: Any  # uint32 (BATCHES * LANES): its number
    one: Any  # uint32: its players
    other: Any
    counts: Any  # uint32 (BATCHES): how many wait
    free_from: Any  # int64 (SEATS): the first batch after all of the players who share a seat


def nobody_waiting() -> Waiting:
    """Room for the duels that wait."""
    return Waiting(
        duel=np.zeros(BATCHES * LANES, np.uint32),
        one=np.zeros(BATCHES * LANES, np.uint32),
        other=np.zeros(BATCHES * LANES, np.uint32),
        counts=np.zeros(BATCHES, np.uint32),
        free_from=np.zeros(SEATS, np.int64),
    )


@kernel
def admit(duels: Any, k: int, rated: int, count: int, near: int, batch: int, waiting: Any, states: Any) -> int:
    """Have duels from `k` on wait, until this batch is full, or a duel belongs behind all others; which is next.

    Where none waits, as many as fit are a batch at once if nobody plays twice in them. Indices are numbers without a
    sign, at which a kernel need not look.
    """
    prefetch_columns(duels, k + COLUMNS_AHEAD)
    if rated == k and k + LANES <= count and are_disjoint(duels.player, k):
        admit_all(duels, k, near, batch, waiting, states)
        return k + LANES
    lane, first_lane = np.int64(waiting.counts[batch & SLOT]), (batch & SLOT) * LANES
    while k < count and lane < LANES:
        if k + AHEAD < near:
            prefetch(states, duels.player[np.uint32(k + AHEAD), 0])
            prefetch(states, duels.player[np.uint32(k + AHEAD), 1])
        one, other = duels.player[np.uint32(k), 0], duels.player[np.uint32(k), 1]
        free = max(waiting.free_from[one & SEAT], waiting.free_from[other & SEAT])
        if free <= batch:
            free = batch
            at = np.uint32(first_lane + lane)
            lane += 1
        else:
            while waiting.counts[free & SLOT] == LANES:
                free += 1
            if free >= batch + BATCHES:
                break
            at = np.uint32((free & SLOT) * LANES + waiting.counts[free & SLOT])
            waiting.counts[free & SLOT] += np.uint32(1)
        waiting.duel[at], waiting.one[at], waiting.other[at] = k, one, other
        waiting.free_from[one & SEAT] = waiting.free_from[other & SEAT] = free + 1
        k += 1
    waiting.counts[batch & SLOT] = lane
    return k


@kernel
def prefetch_columns(duels: Any, k: int) -> None:
    """Have the players and places of duels from `k` on brought near; beyond the last nothing is read.

    A processor foresees what a column goes on with, but only up to the end of a page of memory.
    """
    for later in range(k, k + LANES, PLAYERS_A_LINE):
        prefetch(duels.player, later)
    for later in range(k, k + LANES, PLACES_A_LINE):
        prefetch(duels.place, later)


@kernel
def admit_all(duels: Any, k: int, near: int, batch: int, waiting: Any, states: Any) -> None:
    """Make a batch of the duels from `k` on, as many as fit; it is rated before the next are admitted."""
    for later in range(k + LANES, min(k + 2 * LANES, near)):
        prefetch(states, duels.player[np.uint32(later), 0])
        prefetch(states, duels.player[np.uint32(later), 1])
    for lane in range(LANES):
        at = np.uint32((batch & SLOT) * LANES + lane)
        waiting.duel[at] = k + lane
        waiting.one[at], waiting.other[at] = duels.player[np.uint32(k + lane), 0], duels.player[np.uint32(k + lane), 1]
    waiting.counts[batch & SLOT] = LANES


FEWEST = 3  # duels that are quicker in lanes than one after the other
NOBODY = int(np.iinfo(np.int64).max)  # an entrant behind all


@kernel
def gather(newcomer: Any, duels: Any, waiting: Any, slot: int, table: Any, states: Any) -> None:
    """Fill the lanes with a batch's states and places; those without a duel repeat an earlier one's."""
    fields = fields_of(newcomer)
    gather_rows(states, waiting.one, slot * LANES, table, fields.a, newcomer)
    gather_rows(states, waiting.other, slot * LANES, table, fields.b, newcomer)
    gather_rows(duels.place, waiting.duel, slot * LANES, table, fields.places, PLACES)


@kernel
def scatter(newcomer: Any, waiting: Any, slot: int, count: int, table: Any, states: Any) -> bool:
    """Put a batch's new states where they belong; whether all are finite for sure."""
    fields = fields_of(newcomer)
    everything = 0.0
    for lane in range(count):
        at = slot * LANES + lane
        new_a, new_b = (
            read_fields(table, fields.new_a, lane, newcomer),
            read_fields(table, fields.new_b, lane, newcomer),
        )
        write(states, waiting.one[at], new_a)
        write(states, waiting.other[at], new_b)
        everything += total(new_a) + total(new_b)
    return math.isfinite(everything)


@kernel
def keep(newcomer: Any, waiting: Any, slot: int, count: int, table: Any, before: Any, after: Any, first: int) -> None:
    """Keep a batch's ratings before and states after."""
    fields = fields_of(newcomer)
    for lane in range(count):
        k = waiting.duel[slot * LANES + lane]
        before[k, 0] = read_fields(table, fields.a, lane, newcomer).rating
        before[k, 1] = read_fields(table, fields.b, lane, newcomer).rating
        write_column(after, first + 2 * k, read_fields(table, fields.new_a, lane, newcomer))
        write_column(after, first + 2 * k + 1, read_fields(table, fields.new_b, lane, newcomer))


@kernel
def rate_batch(
    params: Any,
    newcomer: Any,
    between: Any,
    duels: Any,
    waiting: Any,
    slot: int,
    table: Any,
    states: Any,
    before: Any,
    after: Any,
    first: int,
) -> int:
    """Rate the duels that wait in a batch; the first entrant whose state is not finite, or `NOBODY`."""
    count: Any = np.int64(waiting.counts[slot])  # with a sign, as what it is compared with
    waiting.counts[slot] = 0
    if count >= FEWEST:
        gather(newcomer, duels, waiting, slot, table, states)
        rate_lanes(params, newcomer, between, table)
        if before.size > 0:
            keep(newcomer, waiting, slot, count, table, before, after, first)
        are_finite = scatter(newcomer, waiting, slot, count, table, states)
    else:
        everything = 0.0
        for lane in range(count):
            k = waiting.duel[slot * LANES + lane]
            everything += rate_one(params, newcomer, duels, k, states, before, after, first)
        are_finite = math.isfinite(everything)
    if not are_finite:
        for at in range(slot * LANES, slot * LANES + count):  # in the order of the duels
            entrant: Any = 2 * np.int64(waiting.duel[at])
            if not finite(read(states, waiting.one[at], newcomer)):
                return int(entrant)
            if not finite(read(states, waiting.other[at], newcomer)):
                return int(entrant) + 1
    return NOBODY


def _replay_in_lanes(
    params: Any,
    newcomer: Any,
    between: Any,
    duels: Any,
    count: int,
    waiting: Any,
    table: Any,
    states: Any,
    before: Any,
    after: Any,
    first: int,
) -> int:
    """Rate the first `count` duels, whose entrants are those from `first` on in `after`.

    Returns:
        The first entrant whose state is not finite, counting from 0, or -1.
    """
    near = count if is_far(states) else 0
    entrant, batch, k = NOBODY, 0, 0
    rated: Any = 0
    while rated < count:
        k = admit(duels, k, rated, count, near, batch, waiting, states)
        slot = batch & SLOT
        rated += np.int64(waiting.counts[slot])
        found = rate_batch(params, newcomer, between, duels, waiting, slot, table, states, before, after, first)
        batch += 1
        if found < NOBODY:  # what waits may stand before it
            entrant, count = min(entrant, found), k
    return -1 if entrant == NOBODY else entrant


in_lanes_cached = compile_kernel(_replay_in_lanes)
in_lanes_uncached = compile_kernel(_replay_in_lanes, cached=False)
