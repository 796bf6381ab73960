"""The engine: rate every event in order, and record each player's state before and after."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.heats import replay_side_by_side, runs_two_events_at_once, sums_up, wide_scratch
from podium.engine.inputs import ENTRANT_COLUMNS, ENTRY_COLUMNS, Columns, empty_scratch, plain
from podium.engine.kernel_calls import run_kernel
from podium.engine.lanes import empty_queue, examples_between, lanes_for, replay_in_lanes, replay_one_by_one
from podium.engine.large_heats import LARGE_HEAT
from podium.engine.pool_state import PoolNumbers, keep_states, new_pools
from podium.engine.rules import is_from_author, judge_heat, params_in_pool, rate_event, rate_two
from podium.engine.system import System
from podium.engine.tables.encoding import Events, Pool, frozen
from podium.engine.tables.selection import idle_between, numbers_at
from podium.engine.tables.sides import empty_sides
from podium.errors import NotFiniteError
from podium.kernels.compiled import MAX_INTERPRETED, compile_kernel, compile_twice
from podium.support.arrays import Array, Floats, Integers
from podium.support.immutable import immutable

# A run of this many duels justifies compiling a kernel for it, which takes a second.
MIN_DUELS = 4096
PAIR = 2


class Run(NamedTuple):
    """Consecutive updates. `duels` is True if all of them are duels."""

    first: int
    last: int
    duels: bool


def rates_two(system: System) -> bool:
    """Return True if a system's `rate_two` gives the same result as its `rate_event`.

    The default `rate_two` does so for systems that sum over pairs. Other models need their own `rate_two`, from the
    author of their other rules.
    """
    if system.pool_fields:  # each event changes the parameters for the next one
        return False
    kind = type(system.params())
    if rate_event.dispatch(kind) is rate_event.dispatch(object):
        return True
    return is_from_author(rate_two, kind, rate_event, judge_heat)


def runs(system: System, columns: Columns, first: int, last: int) -> Iterator[Run]:
    """Split updates `first` to `last` into runs of at least `MIN_DUELS` duels, for `rate_two`, and other runs."""
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
    """Return True if all events between these offsets are duels. Several events are checked at once."""
    others = 0
    for k in range(offsets.size - 1):
        others += offsets[k + 1] - offsets[k] != PAIR
    return others == 0


def replay_duels(
    system: System, columns: Columns, first: int, last: int, states: Any, before: Any, after: Any
) -> tuple[int, int]:
    """Rate a run of duels. Return the update and entrant with a non-finite state, or `last` and -1.

    Args:
        before: Array of shape (entrants,) that receives the ratings before each duel. Empty if they are not needed.
        after: Array of shape (fields, entrants) that receives the states after the event. Empty if they are not needed.
    """
    params, (newcomer, _, _) = system.arguments()
    entrant: int
    start, stop = int(columns.entrants[first]), int(columns.entrants[last])
    steps = 2 * (stop - start)  # more than are run in Python, because a run of duels is long
    # From here on, entrants and entries have two indices: the duel, and 0 or 1. Because the kernel counts duels from 0,
    # no index can be negative, and numba skips that check.
    paired = {name: getattr(columns, name)[start:stop].reshape(-1, PAIR) for name in ENTRANT_COLUMNS + ENTRY_COLUMNS}
    duels = columns._replace(**paired, mode=columns.mode[first:last])
    moved = states, before[start:stop].reshape(-1, PAIR), after, start
    if not goes_in_lanes(system):
        entrant = run_kernel(system, replay_one_by_one, steps, params, newcomer, duels, last - first, *moved)
    else:
        rules, lanes = (params, newcomer, examples_between(system)), (empty_queue(), lanes_for(system))
        entrant = run_kernel(system, replay_in_lanes, steps, *rules, duels, last - first, *lanes, *moved)
    return (last, -1) if entrant < 0 else (first + entrant // PAIR, start + entrant)


def goes_in_lanes(system: System) -> bool:
    """Return True if a system's duels are rated in lanes.

    This excludes duels with third-party pair rules, because such rules may read more than the places.
    """
    return system.duel_types is not None and (bool(system.duel_types) or system.shipped)


States = Floats


@immutable
class Replayed:
    """The result of a replay."""

    states: States  # (players, fields): after the last event
    before: Floats  # (entrants): rating before the event
    after: States  # (entrants, fields): state after the event; stored column by column, shared with a history
    start: States | None = None  # (players, fields): before the first event; None for newcomers
    pools: PoolNumbers = field(default_factory=lambda: np.empty((1, 0)))  # (pools, fields): after the last event
    pool_history: PoolNumbers = field(default_factory=lambda: np.empty((0, 0)))  # (updates, fields): after each
    pool_start: PoolNumbers | None = None  # (pools, fields): before the first event; None for new pools


def _replay(
    params: Any,
    prototypes: Any,
    columns: Any,
    first: int,
    last: int,
    rating: int,
    scratch: Any,
    new_states: Any,
    states: Any,
    before: Any,
    after: Any,
    pool_history: Any,
) -> tuple[int, int]:
    """Rate updates `first` to `last`. Return the update and entrant with a non-finite state, or `last` and -1."""
    for update in range(first, last):
        start, stop = columns.entrants[update], columns.entrants[update + 1]
        own = params_in_pool(params, columns, update, scratch.pool)
        rate_event(own, prototypes, columns, update, states, scratch, new_states, 0)
        if pool_history.size:
            for k in range(scratch.pool.size):
                pool_history[update, k] = scratch.pool[k]
        fault = keep_states(columns, start, stop, rating, prototypes, new_states, states, before, after)
        if fault >= 0:
            return update, fault
    return last, -1


replay_each = compile_twice(_replay)


def newcomers(system: System, count: int) -> States:
    """Return the states of new players, as an array of shape (players, fields)."""
    newcomer = np.array(system.newcomer(), np.float64)
    return np.tile(newcomer, (count, 1))


def by_columns(count: int, fields: int) -> States:
    """Return an uninitialized array of states, of shape (count, fields), in which each field is contiguous."""
    return np.empty((fields, count)).T


def replay(
    system: System,
    events: Events,
    start: States | None = None,
    pool_start: PoolNumbers | None = None,
    *,
    workers: int = 1,
) -> Replayed:
    """Rate every event in order.

    Replaying the first events and then the rest gives exactly the same result as replaying everything at once.

    Args:
        start: States to start from: a float64 array of shape (players, fields), which is not changed. Default:
            newcomers.
        pool_start: Pool states to start from: a float64 array of shape (pools, fields), which is not changed. Default:
            new pools.
        workers: Number of threads. Each of them rates whole pools.

    Raises:
        NotFiniteError: An event gives a player a rating that is not finite.
    """
    states = newcomers(system, events.player_names.len()) if start is None else start.copy()
    entrants = int(events.columns.entrants[-1])
    pools = new_pools(system, len(events.pools)) if pool_start is None else pool_start.copy()
    replayed = Replayed(
        states,
        np.empty(entrants),
        by_columns(entrants, states.shape[1]),
        start,
        pools,
        np.empty((events.columns.entrants.size - 1, pools.shape[1])),
        pool_start,
    )

    def replay_pool(number: int, pool: Pool) -> None:
        replay_updates(system, events.columns, pool.first, pool.last, replayed, number)

    try:
        if workers <= 1 or len(events.pools) <= 1:
            for number, pool in enumerate(events.pools):
                replay_pool(number, pool)
            return replayed
        with ThreadPoolExecutor(workers) as threads:
            list(threads.map(replay_pool, range(len(events.pools)), events.pools))
    except NotFiniteError as error:
        raise with_names(error, events) from None
    return replayed


def replay_updates(system: System, columns: Columns, first: int, last: int, into: Replayed, pool: int = 0) -> None:
    """Rate updates `first` to `last`, starting from `into.states`, and change those states. Pools must not overlap.

    Raises:
        NotFiniteError: A new state is not finite. Some states may already include later updates.
    """
    for run in runs(system, columns, first, last):
        at, entrant = run.first, -1
        if run.duels:
            at, entrant = replay_duels(system, columns, at, run.last, into.states, into.before, into.after.T)
        if at < run.last and entrant < 0:
            at, entrant = _replay_run(system, columns, at, run.last, into, pool)
        if entrant >= 0:
            raise NotFiniteError(system.name, at, entrant)


def _replay_run(system: System, columns: Columns, first: int, last: int, into: Replayed, pool: int) -> tuple[int, int]:
    """Rate a run of updates of either kind. Return the update and entrant with a non-finite state, or `last` and -1."""
    scratch = scratch_for(system, columns, first, last, into.pools[pool])
    new_states = np.empty((len(scratch.entering_states), into.states.shape[1]))
    moved = new_states, into.states, into.before, into.after.T
    pairs = pairs_compared(columns, first, last)
    arguments = pairs, *system.arguments(), columns, first, last, system.column("rating"), scratch
    stopped: tuple[int, int]
    if runs_two_events_at_once(system, columns):
        is_alone = last - first == 1
        other = scratch if is_alone else scratch_for(system, columns, first, last, into.pools[pool])
        stopped = run_kernel(system, replay_side_by_side, *arguments, other, *moved)
    else:
        stopped = run_kernel(system, replay_each, *arguments, *moved, into.pool_history)
    return stopped


def with_names(error: NotFiniteError, events: Events) -> NotFiniteError:
    """Return the error with the names of the player and of the first event in the rating period."""
    row = events.ledger.row.at(int(np.argmax(events.ledger.entrant.array == error.entrant)))
    event_id, player = (events.results.frame[name][row] for name in ("event_id", "player"))
    return NotFiniteError(error.system, error.update, error.entrant, event_id, player)


def scratch_for(system: System, columns: Columns, first: int, last: int, pool: PoolNumbers) -> Any:
    """Return scratch memory for the widest of updates `first` to `last`. The pool's state in it is updated in place."""
    widest = int(np.diff(columns.entrants[first : last + 1]).max(initial=0))
    sizes = heat_sizes(columns, first, last)
    longest = int(sizes.max(initial=0))
    sides: Any = ()
    if system.rates_sides:
        offsets = columns.entries if columns.entries.size else columns.entrants
        bounds = columns.heats[first : last + 1] if columns.heats.size else np.arange(first, last + 1)
        longest = int(np.diff(offsets[bounds]).max(initial=0))
        if system.has_offsets or columns.side.size + columns.shared.size + columns.home.size:
            widest = 2 * widest + 2 + longest  # rows for states and units; only for entrants if every state is a unit
        sides = empty_sides(longest, len(system.entering_type._fields), len(system.kinds))
    scratch = empty_scratch(system.prototypes(), system.workspace, widest, longest, pool, sides)
    return wide_scratch(system, sizes, scratch)


def heat_sizes(columns: Columns, first: int, last: int) -> Integers:
    """Return the number of entries in each heat of updates `first` to `last`."""
    begin, end = (int(columns.heats[first]), int(columns.heats[last])) if columns.heats.size else (first, last)
    offsets = columns.entries if columns.entries.size else columns.entrants
    sizes: Integers = np.diff(offsets[begin : end + 1])
    return sizes


def pairs_compared(columns: Columns, first: int, last: int) -> int:
    """Return about twice the number of pairs in the heats of these updates, or any large number if it is large."""
    return int(np.square(heat_sizes(columns, first, min(last, first + MAX_INTERPRETED))).sum())


def takes_sums(system: System, columns: Columns) -> bool:
    """Return True if any heat is so large that the system sums over all its pairs at once."""
    sizes = heat_sizes(columns, 0, columns.entrants.size - 1)
    return int(sizes.max(initial=0)) >= LARGE_HEAT and sums_up(system)


NEVER = np.iinfo(np.int64).min  # marks a player who has not appeared before


def with_idle_before(events: Events, system: System, period: str, seen: Integers) -> Events:
    """Return the events with the idle time of each player before their first event, counted from their last appearance.

    Args:
        seen: Array of shape (players,): the time of each player's last appearance, in microseconds since 1970, or
            `NEVER`.
    """
    if not events.columns.idle.size:
        return events
    player, first = np.unique(events.columns.player, return_index=True)
    back = seen[player] != NEVER
    player, first = player[back], first[back]
    _, earliest = np.unique(events.ledger.entrant.array, return_index=True)  # the ledger is sorted by time
    starts = events.results.frame["started_at"][events.ledger.row[earliest][first]]
    before = pl.Series(seen[player]).cast(starts.dtype)
    idle = events.columns.idle.copy()
    idle[first] = np.maximum(units_between(before, starts, system, period), 0)
    return replace(events, columns=events.columns._replace(idle=frozen(idle)))


def units_between(before: pl.Series, after: pl.Series, system: System, period: str) -> Array:
    """Return the days, or the number of missed rating periods, between times."""
    if system.idle_unit == "period":
        return numbers_at(after, period) - numbers_at(before, period) - 1
    earlier, later = (moments.cast(pl.Int64).to_numpy() for moments in (before, after))
    units: Array = idle_between(earlier, later, system)
    return units
