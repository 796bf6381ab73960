"""Runs of events of two lone entrants: what holds for the whole table is looked at once, and not at every event.

They go the general way too, to the same bits: it is what tests compare them with.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import Columns, Heat, mode_at, plain, plain_entry
from podium.engine.rule_checks import run_kernel
from podium.engine.rules import judge_heat, rate_event, rate_two
from podium.engine.system import System
from podium.kernels.compiled import compile_kernel, kernel
from podium.kernels.prefetch import prefetch
from podium.kernels.records import read, total, write

# So many duels in a row are worth the second that it takes to compile their kernel once.
MIN_DUELS = 4096
AHEAD = 24  # duels from prefetching their states to reading them
PAIR = 2


class Run(NamedTuple):
    """Consecutive settlements, and whether all are duels."""

    first: int
    last: int
    duels: bool


def rates_two(system: System) -> bool:
    """Whether a system's `rate_two` gives what its `rate_event` would.

    The default does for sums over pairs. A model of another kind needs its own, for exactly its parameters and from
    whoever wrote the other rules: a system derived from it, or one of whose rules is replaced, may rate otherwise.
    """
    kind = type(system.params())
    whole = rate_event.dispatch(kind)
    if whole is rate_event.dispatch(object):
        return True
    if kind not in rate_two.registry:
        return False
    package = rate_two.registry[kind].__module__.partition(".")[0]
    others = whole, judge_heat.dispatch(kind)
    return all(rule.__module__.partition(".")[0] in (package, "podium") for rule in others)


def runs(system: System, columns: Columns, first: int, last: int) -> Iterator[Run]:
    """Settlements `first` to `last` in runs: of at least `MIN_DUELS` duels that `rate_two` serves, and of all else."""
    served = last - first >= MIN_DUELS and columns.played_s.size == 0 and plain(columns) and rates_two(system)
    if not served:
        yield Run(first, last, duels=False)
        return
    if columns.entrants[last] - columns.entrants[first] == PAIR * (last - first):
        yield Run(first, last, duels=True)  # the kernel ends at an event that is none, if there is one all the same
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


def _replay_duels(
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


_duels_cached = compile_kernel(_replay_duels)
_duels_uncached = compile_kernel(_replay_duels, cached=False)


def replay_duels(
    system: System, columns: Columns, first: int, last: int, states: Any, before: Any, after: Any
) -> tuple[int, int]:
    """Rate duels; the settlement that is none, or has a state not finite, and its entrant, or `last` and -1."""
    replay = _duels_cached if system.shipped else _duels_uncached
    params, (newcomer, _, _) = system.arguments()
    arguments = params, newcomer, columns, first, last, system.column("rating"), states, before, after
    stopped, entrant = run_kernel(system, replay, *arguments)
    if entrant < 0:
        return stopped, -1
    for each in (entrant, entrant + 1):
        if not np.isfinite(states[columns.player[each]]).all():
            return stopped, each
    return stopped + 1, -1  # their sum alone was beyond all numbers
