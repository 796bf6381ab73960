"""Judge heats with so many entrants that a system computes the sums over all pairs at once.

This applies to heats without teams that have at least `LARGE_HEAT` entrants. The sums differ in their last digits from
those computed pair by pair. The choice of method depends only on the heat, so live rating, a replay, and a replay of
part of a table agree.
"""

from typing import Any

from numba import types
from numba.extending import overload

from podium.engine.inputs import Columns, Entry, Heat, entry_at, mode_at, slot_at, weight_at
from podium.kernels.compiled import IN_KERNELS, kernel, rule
from podium.kernels.records import add, read, times
from podium.probability.logistic import TOTAL, WEIGHT, X, add_up_logistics

LARGE_HEAT = 256  # entrants; changing this number changes ratings: see `podium.version`


@rule
def judge_in_bulk(
    scratch: Any, params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int
) -> bool:
    """Judge a heat without looping over its pairs, if the scratch memory is large enough. Return True on success."""
    return False


@rule
def compare_all(params: Any, me: Any, mine: Entry, heat: Heat, won: float, expected: float) -> Any:
    """Return the combined evidence of all opponents in a heat, using the sums of the scores.

    This requires that `compare` uses the expected score logistic(params.slope * (a.rating - b.rating)).
    """
    raise NotImplementedError(f"{type(params).__module__} registers no compare_all")


@rule
def judge_large_heat(
    params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> bool:
    """Add the evidence of a large heat to `scratch.sums`, or return False if this must be done pair by pair.

    `scratch.large` comes from the system's `large_heat_workspace`. By default, logistic sums and `compare_all` are
    used.
    """
    _, entering, _ = prototypes
    work, size = scratch.large, stop - start
    table, course = work.table, Heat(float(size), mode_at(columns, heat))
    for i in range(start, stop):
        table[X, i - start] = read(scratch.entering_states, slot_at(columns, i, first), entering).rating
    # Once for the finishers, and once more if some entrants did not finish: they are compared only with finishers.
    for unfinished in range(1 if all_finish(columns, start, stop) else 2):
        for i in range(start, stop):
            table[WEIGHT, i - start] = 0.0 if unfinished and not finishes(columns, i) else 1.0
        if not add_up_logistics(work, size, params.slope):
            return False
        for i in range(start, stop):
            if finishes(columns, i) != bool(unfinished):
                me, mine = slot_at(columns, i, first), entry_at(columns, i, float(size))
                won = 0.0 if unfinished else size - mine.place
                a = read(scratch.entering_states, me, entering)
                summed = compare_all(params, a, mine, course, won, table[TOTAL, i - start])
                add(scratch.sums, me, times(summed, weight_at(columns, heat)))
    return True


def judge_by_sums(
    large: Any, params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> bool:
    """Judge a large heat using the system's rule for it, if there is enough memory. Return True on success."""
    return len(large) > 0 and judge_large_heat(params, prototypes, columns, heat, start, stop, first, scratch)


@kernel
def finishes(columns: Columns, i: int) -> bool:
    return bool(columns.finished.size == 0 or columns.finished[i] != 0.0)


@kernel
def any_teams(columns: Columns, start: int, stop: int) -> bool:
    found = False
    for i in range(start, stop if columns.side.size else start):
        found = found or columns.side[i] >= 0
    return found


@kernel
def all_finish(columns: Columns, start: int, stop: int) -> bool:
    finishers = 0
    for i in range(start, stop):
        finishers += 1 if finishes(columns, i) else 0
    return finishers == stop - start


@overload(judge_by_sums, jit_options=IN_KERNELS)
def _(large, params, prototypes, columns, heat, start, stop, first, scratch):  # type: ignore[no-untyped-def]
    if isinstance(large, types.BaseTuple) and len(large) == 0:
        return lambda large, params, prototypes, columns, heat, start, stop, first, scratch: False  # noqa: ARG005
    return lambda large, params, prototypes, columns, heat, start, stop, first, scratch: judge_large_heat(  # noqa: ARG005
        params, prototypes, columns, heat, start, stop, first, scratch
    )
