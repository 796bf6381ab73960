"""Which duels go together: batches in which nobody plays twice, in each the next duel of those who play in it.

No result changes what another of its batch needs, and everyone's duels keep their order; so the order of the others may
change, and batches fill up even where the same few meet again and again.
"""

from typing import Any, NamedTuple

import numpy as np

from podium.engine.duels.one_by_one import AHEAD
from podium.kernels.compiled import kernel
from podium.kernels.distinct import are_disjoint
from podium.kernels.memory import LINE_BYTES, prefetch
from podium.kernels.records import LANES

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

    Args:
        rated: how many are rated.
        near: up to which states are prefetched.
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
