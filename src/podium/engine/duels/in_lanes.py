"""Several duels at once, batch by batch: their states are gathered into lanes, rated together, and put back."""

import math
from typing import Any

import numpy as np

from podium.engine.duels.lanes import PLACES, fields_of, rate_lanes
from podium.engine.duels.one_by_one import is_far, rate_one
from podium.engine.duels.waiting import SLOT, admit
from podium.kernels.compiled import compile_kernel, kernel
from podium.kernels.memory import gather_rows
from podium.kernels.records import LANES, finite, read, read_fields, total, write, write_column

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
