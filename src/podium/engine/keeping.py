"""What an event leaves behind: its players' new states, and what is kept of the change."""

import math
from typing import Any

from podium.kernels.compiled import kernel
from podium.kernels.records import finite, read, total, write, write_column


@kernel
def keep_states(
    columns: Any,
    start: int,
    stop: int,
    rating: int,
    prototypes: Any,
    new_states: Any,
    states: Any,
    before: Any,
    after: Any,
) -> int:
    """Move players on to their new states, and keep what changed; the first entrant with one not finite, or -1.

    Args:
        start: the first entrant.
        stop: the one after the last.
        rating: its column of the states.
        before: the ratings that entrants brought, (entrants); or none, where they are not kept.
        after: the states that they left with, (fields, entrants).
    """
    newcomer, _, _ = prototypes
    keep = before.size > 0
    everything = 0.0  # one sum is checked, not each number
    for i in range(start, stop):
        player = columns.player[i]
        state = read(new_states, i - start, newcomer)
        if keep:
            before[i] = states[player, rating]
            write_column(after, i, state)
        write(states, player, state)
        everything += total(state)
    if not math.isfinite(everything):
        for i in range(start, stop):
            if not finite(read(new_states, i - start, newcomer)):
                return i
    return -1
