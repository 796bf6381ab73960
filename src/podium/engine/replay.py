"""The one engine: every event in order, each player's state from before to after."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.heats import replay_side_by_side, runs_two_events_at_once, sums_up, wide_scratch
from podium.engine.inputs import ENTRANT_COLUMNS, ENTRY_COLUMNS, Columns, empty_scratch, plain
from podium.engine.kernel_calls import run_kernel
from podium.engine.lanes import examples_between, lanes_for, nobody_waiting, replay_in_lanes, replay_one_by_one
from podium.engine.large_heats import LARGE_HEAT
from podium.engine.pool_state import PoolNumbers, keep_states, new_pools
from podium.engine.rules import is_from_author, judge_heat, params_in_pool, rate_event, rate_two
from podium.engine.system import System
from podium.engine.tables.encoding import Events, Pool, frozen
from podium.engine.tables.selection import DAY_US, numbers_at
from podium.engine.tables.sides import room_for_sides
from podium.errors import NotFiniteError
from podium.kernels.compiled import compile_kernel, compile_twice

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
    # Entrants and entries have two numbers from here on: of the duel, and 0 or 1. A kernel that counts duels from 0
    # knows that no index is below 0, and spares each a look at its sign.
    paired = {name: getattr(columns, name)[start:stop].reshape(-1, PAIR) for name in ENTRANT_COLUMNS + ENTRY_COLUMNS}
    duels = columns._replace(**paired, mode=columns.mode[first:last])
    moved = states, before[start:stop].reshape(-1, PAIR), after, start
    if not goes_in_lanes(system):
        entrant = run_kernel(system, replay_one_by_one, params, newcomer, duels, last - first, *moved)
    else:
        rules, room = (params, newcomer, examples_between(system)), (nobody_waiting(), lanes_for(system))
        entrant = run_kernel(system, replay_in_lanes, *rules, duels, last - first, *room, *moved)
    return (last, -1) if entrant < 0 else (first + entrant // PAIR, start + entrant)


def goes_in_lanes(system: System) -> bool:
    """Whether a system's duels go together: not where a stranger's rules for pairs may read more than the places."""
    return system.duel_types is not None and (bool(system.duel_types) or system.shipped)


States = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a system turns the events into."""

    states: States  # (players, fields): after the last event
    before: npt.NDArray[np.float64]  # (entrants): the rating each brought
    after: States  # (entrants, fields): the state each left with, laid out by columns, which a history shares
    start: States | None = None  # (players, fields): before the first event; newcomers where None
    pools: PoolNumbers = field(default_factory=lambda: np.empty((1, 0)))  # (pools, fields): after the last event
    pool_history: PoolNumbers = field(default_factory=lambda: np.empty((0, 0)))  # (settlements, fields): after each
    pool_start: PoolNumbers | None = None  # (pools, fields): before the first event; new ones where None


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
    """Rate settlements `first` to `last`; the settlement and entrant with a state not finite, or `last` and -1."""
    for settlement in range(first, last):
        start, stop = columns.entrants[settlement], columns.entrants[settlement + 1]
        own = params_in_pool(params, columns, settlement, scratch.pool)
        rate_event(own, prototypes, columns, settlement, states, scratch, new_states, 0)
        if pool_history.size:
            for k in range(scratch.pool.size):
                pool_history[settlement, k] = scratch.pool[k]
        fault = keep_states(columns, start, stop, rating, prototypes, new_states, states, before, after)
        if fault >= 0:
            return settlement, fault
    return last, -1


replay_each = compile_twice(_replay)


def newcomers(system: System, count: int) -> States:
    """The states of so many players who have not played, (players, fields)."""
    newcomer = np.array(system.newcomer(), np.float64)
    return np.tile(newcomer, (count, 1))


def by_columns(count: int, fields: int) -> States:
    """Room for so many states, (count, fields), in which each field lies in one piece."""
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

    Args:
        start: states to go on from, (players, fields) float64; newcomers where None. Not changed.
        pool_start: states of the pools to go on from, (pools, fields) float64; new ones where None. Not changed.

    Raises:
        NotFiniteError: an event leaves a player with a number that is not finite.

    Replaying a prefix and then the rest gives the same bits as the whole.
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
        replay_settlements(system, events.columns, pool.first, pool.last, replayed, number)

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


def replay_settlements(system: System, columns: Columns, first: int, last: int, into: Replayed, pool: int = 0) -> None:
    """Rate settlements `first` to `last`, going on from `into.states`, which moves; pools must not overlap.

    Raises:
        NotFiniteError: a new state is not finite; states have moved, some of them beyond its settlement.
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
    """Rate any settlements; the one and its entrant with a state that is not finite, or `last` and -1."""
    scratch = scratch_for(system, columns, first, last, into.pools[pool])
    new_states = np.empty((len(scratch.entering_states), into.states.shape[1]))
    moved = new_states, into.states, into.before, into.after.T
    arguments = *system.arguments(), columns, first, last, system.column("rating"), scratch
    stopped: tuple[int, int]
    if runs_two_events_at_once(system, columns):
        is_alone = last - first == 1
        other = scratch if is_alone else scratch_for(system, columns, first, last, into.pools[pool])
        stopped = run_kernel(system, replay_side_by_side, *arguments, other, *moved)
    else:
        stopped = run_kernel(system, replay_each, *arguments, *moved, into.pool_history)
    return stopped


def with_names(error: NotFiniteError, events: Events) -> NotFiniteError:
    """The error that names the event, or the first of the rating period, and the player."""
    row = events.ledger.row.at(int(np.argmax(events.ledger.entrant.array == error.entrant)))
    event_id, player = (events.results.frame[name][row] for name in ("event_id", "player"))
    return NotFiniteError(error.system, error.settlement, error.entrant, event_id, player)


def scratch_for(system: System, columns: Columns, first: int, last: int, pool: PoolNumbers) -> Any:
    """Room for the widest of settlements `first` to `last`, and the state of their pool, which rating them moves."""
    widest = int(np.diff(columns.entrants[first : last + 1]).max(initial=0))
    sizes = heat_sizes(columns, first, last)
    longest = int(sizes.max(initial=0))
    sides: Any = ()
    if system.rates_sides:
        offsets = columns.entries if columns.entries.size else columns.entrants
        bounds = columns.heats[first : last + 1] if columns.heats.size else np.arange(first, last + 1)
        longest = int(np.diff(offsets[bounds]).max(initial=0))
        if system.has_offsets or columns.side.size + columns.shared.size + columns.home.size:
            widest = 2 * widest + 1 + longest  # the states and units: entrants alone where each is a unit, of one state
        sides = room_for_sides(longest, len(system.entering_type._fields), len(system.kinds))
    scratch = empty_scratch(system.prototypes(), system.room, widest, longest, pool, sides)
    return wide_scratch(system, sizes, scratch)


def heat_sizes(columns: Columns, first: int, last: int) -> npt.NDArray[np.int64]:
    """How many entries each heat of settlements `first` to `last` has."""
    begin, end = (int(columns.heats[first]), int(columns.heats[last])) if columns.heats.size else (first, last)
    offsets = columns.entries if columns.entries.size else columns.entrants
    sizes: npt.NDArray[np.int64] = np.diff(offsets[begin : end + 1])
    return sizes


def takes_sums(system: System, columns: Columns) -> bool:
    """Whether a heat is so large that the system takes its sums at once, which loops over pairs of their own do not."""
    sizes = heat_sizes(columns, 0, columns.entrants.size - 1)
    return int(sizes.max(initial=0)) >= LARGE_HEAT and sums_up(system)


NEVER = np.iinfo(np.int64).min  # the instant of one who was not seen before


def with_idle_before(events: Events, system: System, period: str, seen: npt.NDArray[np.int64]) -> Events:
    """The events, idleness before each player's first one counted from when it was seen last.

    Args:
        seen: microseconds since 1970, or `NEVER`: (players of the events).
    """
    if not events.columns.idle.size:
        return events
    player, first = np.unique(events.columns.player, return_index=True)
    back = seen[player] != NEVER
    player, first = player[back], first[back]
    _, earliest = np.unique(events.ledger.entrant.array, return_index=True)  # the ledger is in order of time
    starts = events.results.frame["started_at"][events.ledger.row[earliest][first]]
    before = pl.Series(seen[player]).cast(starts.dtype)
    idle = events.columns.idle.copy()
    idle[first] = np.maximum(units_between(before, starts, system, period), 0)
    return replace(events, columns=events.columns._replace(idle=frozen(idle)))


def units_between(before: pl.Series, after: pl.Series, system: System, period: str) -> npt.NDArray[Any]:
    """Whole days, or rating periods missed, between instants."""
    if system.idle_unit == "period":
        return numbers_at(after, period) - numbers_at(before, period) - 1
    gap: npt.NDArray[np.int64] = after.cast(pl.Int64).to_numpy() - before.cast(pl.Int64).to_numpy()
    return gap // DAY_US
