"""Runs of events of two lone entrants: what holds for the whole table is looked at once, and not at every event.

They go the general way too, to the same bits: it is what tests compare them with.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from podium.engine.duels.in_lanes import in_lanes_cached, in_lanes_uncached, lanes_for, prototypes_for
from podium.engine.duels.one_by_one import one_by_one_cached, one_by_one_uncached
from podium.engine.inputs import Columns, plain
from podium.engine.rule_checks import run_kernel
from podium.engine.rules import judge_heat, rate_event, rate_two
from podium.engine.system import System

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

    The default does for sums over pairs. A model of another kind needs its own, for exactly its parameters and from
    whoever wrote the other rules: a system derived from it, or one of whose rules is replaced, may rate otherwise.
    """
    if system.pool_fields:  # each event moves what the next reads
        return False
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


def replay_duels(
    system: System, columns: Columns, first: int, last: int, states: Any, before: Any, after: Any
) -> tuple[int, int]:
    """Rate duels; the settlement that is none, or has a state not finite, and its entrant, or `last` and -1."""
    params, (newcomer, _, _) = system.arguments()
    table, moved = (columns, first, last, system.column("rating")), (states, before, after)
    if system.duel_types is None:
        replay = one_by_one_cached if system.shipped else one_by_one_uncached
        stopped, entrant = run_kernel(system, replay, params, newcomer, *table, *moved)
    else:
        replay = in_lanes_cached if system.shipped else in_lanes_uncached
        lanes = lanes_for(system, len(states))
        stopped, entrant = run_kernel(system, replay, params, prototypes_for(system), *table, lanes, *moved)
    if entrant < 0:
        return stopped, -1
    for each in (entrant, entrant + 1):
        if not np.isfinite(states[columns.player[each]]).all():
            return stopped, each
    return stopped + 1, -1  # their sum alone was beyond all numbers
