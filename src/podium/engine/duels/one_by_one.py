"""Duels one after the other, for systems whose rules a processor cannot take several of at once."""

import math
from typing import Any

from podium.engine.inputs import Heat, mode_at, plain_entry
from podium.engine.rules import rate_two
from podium.kernels.compiled import compile_kernel, kernel
from podium.kernels.prefetch import prefetch
from podium.kernels.records import read, total, write

AHEAD = 24  # duels from asking for their states to reading them


def _replay_one_by_one(
    params: Any,
    newcomer: Any,
    columns: Any,
    first: int,
    last: int,
    rating: int,
    states: Any,
    before: Any,
    after: Any,
) -> tuple[int, int]:
    """Where it stopped, and the entrant there: of two whose states may not be finite, or -1 where no duel is."""
    start = columns.entrants[first]
    if start < 0:  # never: it spares every index below a look at its sign
        return first, -1
    end = columns.player.size - 1
    for settlement in range(first, last):
        i = start + 2 * (settlement - first)
        if columns.entrants[settlement + 1] != i + 2:
            return settlement, -1
        ahead = min(i + 2 * AHEAD, end - 1)
        prefetch(states, columns.player[ahead])
        prefetch(states, columns.player[ahead + 1])
        everything = rate_one(params, newcomer, columns, settlement, i, rating, states, before, after)
        if not math.isfinite(everything):
            return settlement, i
    return last, -1


@kernel
def rate_one(
    params: Any, newcomer: Any, columns: Any, settlement: int, i: int, rating: int, states: Any, before: Any, after: Any
) -> float:
    """Rate the duel of entrants `i` and `i + 1`; the sum of all numbers of their states."""
    one, other = columns.player[i], columns.player[i + 1]
    heat = Heat(2.0, mode_at(columns, settlement))
    a, b = read(states, one, newcomer), read(states, other, newcomer)
    new_a, new_b = rate_two(params, a, b, plain_entry(columns, i), plain_entry(columns, i + 1), heat)
    if before.size > 0:
        before[i], before[i + 1] = states[one, rating], states[other, rating]
        write(after, i, new_a)
        write(after, i + 1, new_b)
    write(states, one, new_a)
    write(states, other, new_b)
    return total(new_a) + total(new_b)


one_by_one_cached = compile_kernel(_replay_one_by_one)
one_by_one_uncached = compile_kernel(_replay_one_by_one, cached=False)
