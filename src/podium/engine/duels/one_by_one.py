"""Duels one after the other, for systems whose rules a processor cannot take several of at once."""

import math
from typing import Any

from podium.engine.inputs import Heat, mode_at, plain_entry
from podium.engine.rules import rate_two
from podium.kernels.compiled import compile_kernel, kernel
from podium.kernels.memory import prefetch
from podium.kernels.records import finite, read, total, write, write_column

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
