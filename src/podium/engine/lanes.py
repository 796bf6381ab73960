"""Rate duels in lanes: states are gathered in batches, rated together, and written back."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from podium.engine.inputs import Heat, finisher, mode_at, plain_entry
from podium.engine.rules import face_off, judge_result, rate_two, update_two
from podium.engine.system import System, zeros
from podium.kernels.compiled import IN_KERNELS, compile_twice, kernel
from podium.kernels.memory import AT_ONCE, LINE_BYTES, are_apart, are_disjoint, gather_rows, prefetch
from podium.kernels.records import LANES, finite, read, read_fields, total, write, write_column, write_fields


class Places(NamedTuple):
    """The places of both players."""

    place: float
    other_place: float


PLACES = Places(1.0, 2.0)
BATCH = AT_ONCE  # duels rated together, in half of a row's lanes


class Fields(NamedTuple):
    """The first field of each record in a duel's lane. All records share one table, and overlaps are intended."""

    a: int  # the states before the duel
    b: int
    new_a: int  # the states after the duel
    new_b: int
    places: int
    between: int  # records passed between the steps


@kernel
def fields_of(newcomer: Any) -> Fields:
    state = len(newcomer)
    return Fields(0, state, 2 * state, 3 * state, 4 * state, 4 * state + len(PLACES))


def examples_between(system: System) -> tuple[Any, ...]:
    """Return an example of each type that is passed between the steps of a duel, or () if there is only one step."""
    return tuple(map(zeros, system.duel_types or ()))


def lanes_for(system: System) -> Any:
    """Return a table of lanes, a float64 array of shape (fields, LANES).

    Lanes without a duel of their own hold one between two newcomers.
    """
    newcomer = np.array(system.newcomer(), np.float64)[:, None]
    fields = fields_of(system.newcomer())
    size = (fields.between + sum(map(len, examples_between(system)))) * LANES
    numbers = np.ones(size + LINE_BYTES // 8)
    begin = -numbers.ctypes.data % LINE_BYTES // 8
    table = numbers[begin : begin + size].reshape(-1, LANES)
    table[fields.a : fields.b] = table[fields.b : fields.new_a] = newcomer
    return table


def rate_lanes(params: Any, newcomer: Any, between: Any, table: Any, count: int) -> None:
    """Rate the duels in the first `count` lanes in three steps, or in one step if no types are passed between steps."""
    if between:
        rate_in_three_steps(params, newcomer, between, table, count)
    else:
        rate_pairs(params, newcomer, between, table, count)


@kernel
def rate_pairs(params: Any, newcomer: Any, between: Any, table: Any, count: int) -> None:
    """Rate the duels in the first `count` lanes, with rules that read only the places in a result."""
    fields = fields_of(newcomer)
    for lane in range(count):
        a, b = read_fields(table, fields.a, lane, newcomer), read_fields(table, fields.b, lane, newcomer)
        places = read_fields(table, fields.places, lane, PLACES)
        mine, theirs = finisher(places.place), finisher(places.other_place)
        new_a, new_b = rate_two(params, a, b, mine, theirs, Heat(2.0, 0.0))
        write_fields(table, fields.new_a, lane, new_a)
        write_fields(table, fields.new_b, lane, new_b)


@kernel
def rate_in_three_steps(params: Any, newcomer: Any, between: Any, table: Any, count: int) -> None:
    """Rate the duels in the first `count` lanes, with one loop per step."""
    difference, verdict = between
    fields = fields_of(newcomer)
    verdict_at = fields.between + len(difference)
    for lane in range(count):
        a, b = read_fields(table, fields.a, lane, newcomer), read_fields(table, fields.b, lane, newcomer)
        places = read_fields(table, fields.places, lane, PLACES)
        write_fields(table, fields.between, lane, face_off(params, a, b, places.place, places.other_place))
    for lane in range(count):
        result = judge_result(params, read_fields(table, fields.between, lane, difference))
        write_fields(table, verdict_at, lane, result)
    for lane in range(count):
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
def _(params, newcomer, between, table, count):  # type: ignore[no-untyped-def]
    rate_all = rate_in_three_steps if len(between) else rate_pairs
    return lambda params, newcomer, between, table, count: rate_all(params, newcomer, between, table, count)


AHEAD = 24  # number of duels between prefetching states and reading them
CACHED = 1 << 15  # numbers in the states that fit into a processor's cache
NOBODY = int(np.iinfo(np.int64).max)  # a number higher than every entrant's


def _replay_one_by_one(
    params: Any, newcomer: Any, duels: Any, count: int, states: Any, before: Any, after: Any, first: int
) -> int:
    """Rate the first `count` duels one by one. Their entrants start at `first` in `after`.

    Returns:
        The first entrant whose state is not finite, counting from 0, or -1.
    """
    entrant = rate_each(params, newcomer, duels, 0, count, count, (states, before, after, first))
    return -1 if entrant == NOBODY else entrant


@kernel
def rate_each(params: Any, newcomer: Any, duels: Any, start: int, stop: int, count: int, moved: Any) -> int:
    """Rate duels `start` to `stop` one by one. Return the first entrant with a non-finite state, or `NOBODY`."""
    states, before, after, first = moved
    near = count if is_far(states) else 0
    for k in range(start, stop):
        if k + AHEAD < near:
            prefetch(states, duels.player[np.uint32(k + AHEAD), 0], newcomer)
            prefetch(states, duels.player[np.uint32(k + AHEAD), 1], newcomer)
        everything = rate_one(params, newcomer, duels, k, states, before, after, first)
        if not math.isfinite(everything):
            found = first_fault(newcomer, duels, k, states)
            if found < NOBODY:
                return found
    return NOBODY


@kernel
def first_fault(newcomer: Any, duels: Any, k: Any, states: Any) -> int:
    """Return the first entrant of a duel with a non-finite state, or `NOBODY`."""
    for side in range(2):
        if not finite(read(states, duels.player[k, side], newcomer)):
            return int(2 * np.int64(k) + side)
    return NOBODY


@kernel
def is_far(states: Any) -> bool:
    """Return True if the states do not fit into the processor's cache."""
    return bool(states.size > CACHED)


@kernel
def rate_one(params: Any, newcomer: Any, duels: Any, k: int, states: Any, before: Any, after: Any, first: int) -> float:
    """Rate a duel. Return the sum of all numbers in both states, which is finite only if they all are."""
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


replay_one_by_one = compile_twice(_replay_one_by_one)


BATCHES = 16  # batches that can wait at once; a power of two
SLOT = BATCHES - 1
SEATS = 4096  # players whose numbers have the same low bits share a seat, and may wait for each other; a power of two
SEAT = SEATS - 1
SHORT_STATE = 2  # largest state, in fields, for which rating duels one by one is faster than a queue
COLUMNS_AHEAD = 256  # duels between prefetching players and places and reading them
PLAYERS_PER_LINE, PLACES_PER_LINE = LINE_BYTES // 8, LINE_BYTES // 16  # duels per cache line (4 and 8 bytes per player)


class Queue(NamedTuple):
    """The queue of duels. Lane l of batch b is at index b * BATCH + l."""

    duel: Any  # uint32 (BATCHES * BATCH): number of the duel
    player: Any  # uint32 (BATCHES * BATCH, 2)
    place: Any  # float64 (BATCHES * BATCH, 2)
    counts: Any  # uint32 (BATCHES): number of waiting duels
    free_from: Any  # int32 (SEATS): first batch in which no player of the seat has a duel


def empty_queue() -> Queue:
    """Return an empty queue."""
    size = BATCHES * BATCH
    return Queue(
        duel=np.zeros(size, np.uint32),
        player=np.zeros((size, 2), np.uint32),
        place=np.ones((size, 2)),
        counts=np.zeros(BATCHES, np.uint32),
        free_from=np.zeros(SEATS, np.int32),
    )


@kernel
def admit(newcomer: Any, duels: Any, k: int, count: int, near: int, batch: int, waiting: Any, states: Any) -> int:
    """Queue duels from `k` on until this batch is full or a duel must join a later batch. Return the next duel.

    Indices are unsigned, so that the kernel does not check for negative indices.
    """
    prefetch_columns(duels, k + COLUMNS_AHEAD)
    lane, first_lane = np.int64(waiting.counts[batch & SLOT]), (batch & SLOT) * BATCH
    while k < count and lane < BATCH:
        if k + AHEAD < near:
            prefetch(states, duels.player[np.uint32(k + AHEAD), 0], newcomer)
            prefetch(states, duels.player[np.uint32(k + AHEAD), 1], newcomer)
        one, other = duels.player[np.uint32(k), 0], duels.player[np.uint32(k), 1]
        free = max(waiting.free_from[one & SEAT], waiting.free_from[other & SEAT])
        if free <= batch:
            free = batch
            at = np.uint32(first_lane + lane)
            lane += 1
        else:
            while waiting.counts[free & SLOT] == BATCH:
                free += 1
            if free >= batch + BATCHES:
                break
            at = np.uint32((free & SLOT) * BATCH + waiting.counts[free & SLOT])
            waiting.counts[free & SLOT] += np.uint32(1)
        waiting.duel[at], waiting.player[at, 0], waiting.player[at, 1] = k, one, other
        waiting.place[at, 0], waiting.place[at, 1] = duels.place[np.uint32(k), 0], duels.place[np.uint32(k), 1]
        waiting.free_from[one & SEAT] = waiting.free_from[other & SEAT] = free + 1
        k += 1
    waiting.counts[batch & SLOT] = lane
    return k


@kernel
def prefetch_columns(duels: Any, k: int) -> None:
    """Prefetch the players and places of the duels from `k` on, without reading beyond the last one.

    The processor prefetches columns by itself, but only up to the end of a memory page.
    """
    for later in range(k, k + BATCH, PLAYERS_PER_LINE):
        prefetch(duels.player, later, PLACES)
    for later in range(k, k + BATCH, PLACES_PER_LINE):
        prefetch(duels.place, later, PLACES)


@kernel
def gather(newcomer: Any, source: Any, start: int, table: Any, begin: int, states: Any) -> None:
    """Fill half of the lanes with the states and places of a batch, from the table of duels or from the queue.

    If a queued batch is not full, the remaining lanes repeat an earlier lane.
    """
    fields = fields_of(newcomer)
    gather_rows(states, source.player, start, 0, table, fields.a, begin, newcomer)
    gather_rows(states, source.player, start, 1, table, fields.b, begin, newcomer)
    for side in range(2):
        for lane in range(BATCH):
            table[fields.places + side, np.uint32(begin + lane)] = source.place[np.uint32(start + lane), side]


@kernel
def scatter(newcomer: Any, source: Any, start: int, count: int, table: Any, states: Any) -> bool:
    """Write back the new states of the first `count` lanes. Return True if all of them are certainly finite."""
    fields = fields_of(newcomer)
    everything = 0.0
    for lane in range(count):
        at = np.uint32(start + lane)
        new_a = read_fields(table, fields.new_a, lane, newcomer)
        new_b = read_fields(table, fields.new_b, lane, newcomer)
        one: Any = np.uint32(source.player[at, 0])
        other: Any = np.uint32(source.player[at, 1])
        write(states, one, new_a)
        write(states, other, new_b)
        everything += total(new_a) + total(new_b)
    return math.isfinite(everything)


@kernel
def store_results(newcomer: Any, k: int, lane: int, table: Any, moved: Any) -> None:
    """Store the ratings before duel `k`, which is in `lane`, and the states after it."""
    fields, (_, before, after, first) = fields_of(newcomer), moved
    before[k, 0] = read_fields(table, fields.a, lane, newcomer).rating
    before[k, 1] = read_fields(table, fields.b, lane, newcomer).rating
    write_column(after, first + 2 * k, read_fields(table, fields.new_a, lane, newcomer))
    write_column(after, first + 2 * k + 1, read_fields(table, fields.new_b, lane, newcomer))


@kernel
def rate_in_order(rules: Any, duels: Any, k: int, count: int, table: Any, moved: Any) -> tuple[int, int]:
    """Rate batches of duels from `k` on in file order, until a player appears twice in one batch.

    Batches without a common player are rated in pairs.

    This loop is separate because it is faster than a loop that also handles the queue.

    Returns:
        The next duel, and the first entrant with a non-finite state, or `NOBODY`.
    """
    params, newcomer, between = rules
    states, before, _, _ = moved
    near, found = count if is_far(states) else 0, NOBODY
    while found == NOBODY and k + BATCH <= count and are_disjoint(duels.player, k):
        size = BATCH
        if k + LANES <= count and are_disjoint(duels.player, k + BATCH) and are_apart(duels.player, k, k + BATCH):
            size = LANES
        for begin in range(0, size, BATCH):
            prefetch_columns(duels, k + begin + COLUMNS_AHEAD)
        for later in range(k + AHEAD, min(k + AHEAD + size, near)):
            prefetch(states, duels.player[np.uint32(later), 0], newcomer)
            prefetch(states, duels.player[np.uint32(later), 1], newcomer)
        for begin in range(0, size, BATCH):
            gather(newcomer, duels, k + begin, table, begin, states)
        rate_lanes(params, newcomer, between, table, size)
        if before.size > 0:
            for lane in range(size):
                store_results(newcomer, k + lane, lane, table, moved)
        if not scatter(newcomer, duels, k, size, table, states):
            for later in range(k, k + size):
                found = min(found, first_fault(newcomer, duels, later, states))
        k += size
    return k, found


@kernel
def rate_waiting(rules: Any, duels: Any, waiting: Any, slot: int, count: int, table: Any, moved: Any) -> int:
    """Rate the queued duels of a batch. Return the first entrant with a non-finite state, or `NOBODY`."""
    params, newcomer, between = rules
    states, before, _, _ = moved
    begin, found = slot * BATCH, NOBODY
    gather(newcomer, waiting, begin, table, 0, states)
    rate_lanes(params, newcomer, between, table, BATCH)
    if before.size > 0:
        for lane in range(count):
            store_results(newcomer, waiting.duel[begin + lane], lane, table, moved)
    if not scatter(newcomer, waiting, begin, count, table, states):
        for at in range(begin, begin + count):
            found = min(found, first_fault(newcomer, duels, waiting.duel[at], states))
    return found


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
    """Rate the first `count` duels in lanes. Their entrants start at `first` in `after`.

    Returns:
        The first entrant whose state is not finite, counting from 0, or -1.
    """
    near = count if is_far(states) else 0
    entrant, batch, k = NOBODY, 0, 0
    rated: Any = 0
    rules, moved = (params, newcomer, between), (states, before, after, first)
    while rated < count:
        found = NOBODY
        if rated == k:
            k, found = rate_in_order(rules, duels, k, count, table, moved)
            rated = k
        if len(newcomer) <= SHORT_STATE:
            stop = min(k + BATCH // 2, count) if found == NOBODY else k
            found = min(found, rate_each(params, newcomer, duels, k, stop, count, moved))
            rated = k = stop
        elif found == NOBODY and rated < count:
            k = admit(newcomer, duels, k, count, near, batch, waiting, states)
            waits: Any = np.int64(waiting.counts[batch & SLOT])  # signed, like the number that it is compared with
            waiting.counts[batch & SLOT] = 0
            found = rate_waiting(rules, duels, waiting, batch & SLOT, waits, table, moved)
            rated += waits
            batch += 1
        if found < NOBODY:  # queued duels may come earlier in the file
            entrant, count = min(entrant, found), k
    return -1 if entrant == NOBODY else entrant


replay_in_lanes = compile_twice(_replay_in_lanes)
