"""Two events side by side, for models that pass messages until they rest.

Such a model is one long chain of numbers, each of which needs the one before: most of the time a processor waits. So
two events that follow each other, and have no player in common, are judged in turn, step by step: while one waits, the
other goes on. Each has the bits that it has alone.
"""

from typing import Any

from podium.engine.inputs import Columns
from podium.engine.keeping import keep_states
from podium.engine.rules import (
    enter_all,
    in_pool,
    is_from_author,
    judge_heat,
    overrides,
    rate_event,
    rate_heats,
    settle_all,
)
from podium.engine.system import System
from podium.engine.two_heats import judge_two_heats
from podium.kernels.compiled import compile_kernel, kernel

MOST_ENTRANTS = 256  # of an event that is compared with the next: each of its players with each of the other's


def judges_two(system: System, columns: Columns) -> bool:
    """Whether events of these columns may be judged side by side, to the bits of one after the other."""
    kind = type(system.params())
    if columns.heats.size or not is_from_author(judge_two_heats, kind, judge_heat):
        return False
    moves_states_alone = not system.pool_fields and not overrides(in_pool, system)
    return moves_states_alone and rate_event.dispatch(kind) is rate_heats


def _replay_side_by_side(
    params: Any,
    prototypes: Any,
    columns: Any,
    first: int,
    last: int,
    rating: int,
    scratch: Any,
    other: Any,
    new_states: Any,
    states: Any,
    before: Any,
    after: Any,
) -> tuple[int, int]:
    """As the loop of `podium.engine.replay`, for columns that `judges_two` admits."""
    settlement = first
    while settlement < last:
        start, middle = columns.entrants[settlement], columns.entrants[settlement + 1]
        stop = columns.entrants[settlement + 2] if settlement + 1 < last else middle
        if not are_apart(columns.player, start, middle, stop):
            stop = middle
        enter_all(params, prototypes, columns, start, middle, states, scratch)
        enter_all(params, prototypes, columns, middle, stop, states, other)
        judge_two_heats(params, prototypes, columns, settlement, start, middle, stop, scratch, other)
        settle_all(params, prototypes, columns, start, middle, scratch, new_states, 0)
        fault = keep_states(columns, start, middle, rating, prototypes, new_states, states, before, after)
        if fault >= 0:
            return settlement, fault
        settle_all(params, prototypes, columns, middle, stop, other, new_states, 0)
        fault = keep_states(columns, middle, stop, rating, prototypes, new_states, states, before, after)
        if fault >= 0:
            return settlement + 1, fault
        settlement += 2 if stop > middle else 1
    return last, -1


@kernel
def are_apart(player: Any, start: int, middle: int, stop: int) -> bool:
    """Whether no entrant from `start` to `middle` is one from there to `stop`; not looked at where they are many."""
    if max(middle - start, stop - middle) > MOST_ENTRANTS:
        return False
    common = 0
    for i in range(start, middle):
        for j in range(middle, stop):
            common += player[i] == player[j]
    return common == 0


side_by_side_cached = compile_kernel(_replay_side_by_side)
side_by_side_uncached = compile_kernel(_replay_side_by_side, cached=False)
