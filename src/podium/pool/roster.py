"""The players of a pool, and their states between events."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from podium.engine.pool_state import PoolNumbers, new_pools
from podium.engine.replay import NEVER, Replayed, States, newcomers, replay, with_idle_before
from podium.engine.system import System
from podium.engine.tables.encoding import Events, encode
from podium.engine.tables.selection import EVENT
from podium.log.pools import NUMBER_US, Pool
from podium.pool.snapshot import Season, Start
from podium.results.columns import in_order
from podium.results.consistency import SEQUENCE
from podium.results.reading import Results
from podium.support.arrays import Integers


def as_results(pool: Pool, table: pl.DataFrame) -> Results:
    """Return a table of a pool's events as checked results. In a pool without dates, events have numbers."""
    columns = {column.name: column for column in table}
    if pool.is_undated:
        columns[SEQUENCE] = columns.pop("started_at").to_physical().rename(SEQUENCE) / NUMBER_US
    columns["pool"] = pl.Series("pool", [pool.name]).new_from_index(0, table.height)
    return Results(pl.DataFrame([columns[name] for name in in_order(columns)]), pool.name)


def entrant_numbers(names: pl.Series) -> Integers:
    """Return the numbers of encoded players and equipment, which are their names, or at the end of their names."""
    return names.to_numpy() if names.dtype == pl.Int64 else names.str.extract(r"(-?\d+)$").cast(pl.Int64).to_numpy()


def entering_states(system: System, numbers: Integers, starts: Mapping[int, Start]) -> States:
    """Return the states with which these players enter their first events, as an array of shape (players, fields)."""
    states = newcomers(system, numbers.size)
    for row, number in enumerate(numbers.tolist()) if starts else ():
        if number in starts:
            states[row] = system.filled_states({name: np.array([value]) for name, value in starts[number].items()})
    return states


@dataclass(slots=True)
class Roster:
    """The players of one pool and the pool's own state, both of which change with every event."""

    system: System
    numbers: Integers  # numbers of the players, ascending
    states: States  # (players, fields); a player who has no rated event has a newcomer's state
    played_at: Integers  # start of the player's latest event in microseconds since 1970, or NEVER
    pool: PoolNumbers  # (1, fields)
    starts: Mapping[int, Start]  # starting ratings by number

    @classmethod
    def of_newcomers(cls, system: System, numbers: Integers, starts: Mapping[int, Start]) -> "Roster":
        """Return a roster of unrated players, given their numbers in ascending order, for a pool without events."""
        states, played_at = entering_states(system, numbers, starts), np.full(numbers.size, NEVER)
        return cls(system, numbers, states, played_at, new_pools(system, 1), starts)

    def rows_of(self, numbers: Integers) -> Integers:
        """Return the row of each player. All of them must be in the roster."""
        first, last = self.numbers[[0, -1]] if numbers.size else (0, 0)
        is_run = last - first == self.numbers.size - 1  # as in a complete pool
        rows: Integers = numbers - first if is_run else np.searchsorted(self.numbers, numbers)
        return rows

    def advance(self, results: Results, starts: pl.Series) -> tuple[Events, Replayed]:
        """Rate events exactly as `podium.Live` does, and update the roster.

        Args:
            starts: the time of each row's event, as an array of shape (rows,). In numbered pools, the results do not
                contain these times.

        Raises:
            NotFiniteError: a rating would not be a finite number. Nothing changes in this case.
        """
        events = encode(results, self.system)
        rows = self.rows_of(entrant_numbers(events.player_names))
        events = with_idle_before(events, self.system, EVENT, self.played_at[rows])
        replayed = replay(self.system, events, self.states[rows], pool_start=self.pool if events.pools else None)
        self.states[rows] = replayed.states
        if events.pools:
            self.pool = replayed.pools
        rated, columns = events.ledger, events.columns
        started_at = rated.row.take(starts.to_physical().to_numpy())
        entrant = rated.entrant.array
        self.played_at[rows[columns.player[entrant]]] = started_at  # if a row is repeated, the last assignment counts
        if columns.kind.size:
            rated_at = np.empty(columns.entrants.size - 1, np.int64)
            rated_at[np.searchsorted(columns.entrants, entrant, "right") - 1] = started_at
            self.played_at[rows[columns.player]] = np.repeat(rated_at, np.diff(columns.entrants))
        return events, replayed

    def reset(self, season: Season) -> tuple[Integers, States, States]:
        """Start a season: multiply every lead over a newcomer by `keep`.

        Returns:
            The rated players, and their states before and after, as arrays of shape (players, fields).
        """
        rated = np.flatnonzero(self.played_at != NEVER)
        before = self.states[rated]
        after = self.system.season_begins(before, season.keep)
        if season.widens:
            self.system.widen(after, before, season.keep)
        self.states[rated] = after
        return self.numbers[rated], before, after
