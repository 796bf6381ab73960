"""Runs of events of two lone entrants: what holds for the whole table is looked at once, and not at every event.

They go the general way too, to the same bits: it is what tests compare them with.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from podium.engine.fast.lanes import (
    examples_between,
    in_lanes_cached,
    in_lanes_uncached,
    lanes_for,
    nobody_waiting,
    one_by_one_cached,
    one_by_one_uncached,
)
from podium.engine.inputs import ENTRANT_COLUMNS, ENTRY_COLUMNS, Columns, plain
from podium.engine.rule_checks import run_kernel
from podium.engine.rules import is_from_author, judge_heat, rate_event, rate_two
from podium.engine.system import System
from podium.kernels.compiled import compile_kernel

# So many duels in a row are worth the second that it takes to compile their kernel once.
MIN_DUELS = 4096
PAIR = 2


class Run(NamedTuple):
    """Consecutive settlements, and whether all are duels."""

    first: int
    last: int
    duels: bool


def rates_two(system: System) -> bool:
    """Whether a system's `rate_two` gives what its `rate_event` would.

    The default does for sums over pairs. A model of another kind needs its own, from whoever wrote the other rules.
    """
    if system.pool_fields:  # each event moves what the next reads
        return False
    kind = type(system.params())
    if rate_event.dispatch(kind) is rate_event.dispatch(object):
        return True
    return is_from_author(rate_two, kind, rate_event, judge_heat)


def runs(system: System, columns: Columns, first: int, last: int) -> Iterator[Run]:
    """Settlements `first` to `last` in runs: of at least `MIN_DUELS` duels that `rate_two` serves, and of all else."""
    served = last - first >= MIN_DUELS and columns.played_s.size == 0 and plain(columns) and rates_two(system)
    if not served:
        yield Run(first, last, duels=False)
        return
    if _are_duels(columns.entrants[first : last + 1]):
        yield Run(first, last, duels=True)
        return
    duel = np.diff(columns.entrants[first : last + 1]) == PAIR
    edges = np.flatnonzero(np.diff(duel, prepend=~duel[:1], append=~duel[-1:]))
    long = [
        (a, b) for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True) if duel[a] and b - a >= MIN_DUELS
    ]
    at = first
    for start, stop in long:
        if first + start > at:
            yield Run(at, first + start, duels=False)
        yield Run(first + start, first + stop, duels=True)
        at = first + stop
    if at < last:
        yield Run(at, last, duels=False)


@compile_kernel
def _are_duels(offsets: Any) -> bool:
    """Whether the events between these offsets are nothing but duels; it looks at all, several at once."""
    others = 0
    for k in range(offsets.size - 1):
        others += offsets[k + 1] - offsets[k] != PAIR
    return others == 0


def replay_duels(
    system: System, columns: Columns, first: int, last: int, states: Any, before: Any, after: Any
) -> tuple[int, int]:
    """Rate a run of duels; the settlement and entrant with a state that is not finite, or `last` and -1.

    Args:
        before: the ratings that entrants brought, (entrants); or none, where they are not kept.
        after: the states that they left with, (fields, entrants); or none.
    """
    params, (newcomer, _, _) = system.arguments()
    entrant: int
    start, stop = int(columns.entrants[first]), int(columns.entrants[last])
    duels = in_pairs(columns, first, last)
    moved = states, before[start:stop].reshape(-1, PAIR), after, start
    if not goes_in_lanes(system):
        replay = one_by_one_cached if system.shipped else one_by_one_uncached
        entrant = run_kernel(system, replay, params, newcomer, duels, last - first, *moved)
    else:
        replay = in_lanes_cached if system.shipped else in_lanes_uncached
        room = nobody_waiting(), lanes_for(system)
        entrant = run_kernel(
            system, replay, params, newcomer, examples_between(system), duels, last - first, *room, *moved
        )
    return (last, -1) if entrant < 0 else (first + entrant // PAIR, start + entrant)


def goes_in_lanes(system: System) -> bool:
    """Whether a system's duels go together: not where a stranger's rules for pairs may read more than the places."""
    return system.duel_types is not None and (bool(system.duel_types) or system.shipped)


def in_pairs(columns: Columns, first: int, last: int) -> Columns:
    """The columns of a run of duels, whose entrants and entries have two numbers now: of the duel, and 0 or 1.

    A kernel that counts duels from 0 knows that no index is below 0, and spares each a look at its sign.
    """
    start, stop = columns.entrants[first], columns.entrants[last]
    paired = {name: getattr(columns, name)[start:stop].reshape(-1, PAIR) for name in ENTRANT_COLUMNS + ENTRY_COLUMNS}
    return columns._replace(**paired, mode=columns.mode[first:last])
