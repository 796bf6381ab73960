"""Live ratings in arrays: a row for every player, with the state and the last event."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.pool_state import PoolNumbers
from podium.engine.replay import NEVER, Replayed, States, newcomers
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.errors import ParameterError
from podium.ledger.leaderboard import as_board
from podium.ledger.saved import Start, pool_table
from podium.results.columns import UTC

PlayerKey = tuple[str, str]  # pool and player
RowNumbers = npt.NDArray[np.int64]
UNRATED = -np.inf  # the peak of one whom no event has rated


@dataclass(slots=True)
class LiveRatings:
    """Where all players of all pools stand, a row each in arrays that grow together, and the pools' own states."""

    system: System
    rows: dict[PlayerKey, int] = field(default_factory=dict)
    states: States = field(default_factory=lambda: np.empty((0, 0)))  # (players, fields)
    seen: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))  # microseconds; or NEVER
    peaks: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))  # of the rating, or UNRATED
    last_events: npt.NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))  # ids, or None
    pool_states: dict[str, PoolNumbers] = field(default_factory=dict)  # by name, of pools that have one

    def __post_init__(self) -> None:
        if not self.states.size:
            self.states = newcomers(self.system, len(self.rows))

    def __copy__(self) -> "LiveRatings":
        """Ratings that share no number with these."""
        return LiveRatings(self.system, *(copy(getattr(self, each.name)) for each in fields(self)[1:]))

    def rows_of(self, events: Events) -> RowNumbers:
        """The row of each player of the events; newcomers get one."""
        numbers, names = np.empty(events.player_names.len(), np.int64), events.player_names.to_list()
        for pool in events.pools:
            for player in range(pool.first_player, pool.last_player):
                key = (pool.name, names[player])
                numbers[player] = self.rows.setdefault(key, len(self.rows))
        added = len(self.rows) - len(self.states)
        if added:
            self.states = np.concatenate([self.states, newcomers(self.system, added)])
            self.seen = np.concatenate([self.seen, np.full(added, NEVER)])
            self.peaks = np.concatenate([self.peaks, np.full(added, UNRATED)])
            self.last_events = np.concatenate([self.last_events, np.full(added, None)])
        return numbers

    def truncate(self, count: int) -> None:
        """Forget the newcomers after the first `count` players."""
        while len(self.rows) > count:
            self.rows.popitem()
        self.states, self.seen = self.states[:count], self.seen[:count]
        self.peaks, self.last_events = self.peaks[:count], self.last_events[:count]

    def take(self, events: Events, replayed: Replayed, numbers: RowNumbers) -> None:
        """Take over what a replay of the events gave their players, whose rows are `numbers`."""
        self.states[numbers] = replayed.states
        if self.system.pool_fields:
            self.pool_states.update({pool.name: replayed.pools[k] for k, pool in enumerate(events.pools)})
        rated, frame = events.ledger, events.results.frame
        rows = numbers[rated.entrant.take(events.columns.player)]
        best = rated.entrant.take(np.maximum(replayed.before, replayed.after[:, self.system.column("rating")]))
        np.maximum.at(self.peaks, rows, best)
        self.last_events[rows] = frame["event_id"].gather(rated.row.array).to_numpy()
        if "started_at" in frame.columns:
            self.seen[rows] = rated.row.take(frame["started_at"].to_physical().to_numpy())

    def pools_of(self, events: Events) -> PoolNumbers:
        """The state of each pool of the events, (pools, fields)."""
        return pool_table(self.system, [pool.name for pool in events.pools], self.pool_states)

    def state(self, pool: str | None, player: str) -> Any:
        """A player's state; a newcomer's where nobody of that name was rated."""
        row = None if pool is None else self.rows.get((pool, player))
        return self.system.newcomer() if row is None else self.system.state_type(*self.states[row].tolist())

    def pools(self) -> list[str]:
        """The names of the pools, in the order in which they began."""
        return list(dict.fromkeys(pool for pool, _ in self.rows))

    def board(self) -> pl.DataFrame:
        """Everyone whom an event has rated, as `podium.ledger.leaderboard.as_board` has it."""
        rated = np.flatnonzero(self.peaks > UNRATED)
        keys = list(self.rows)
        names = [keys[row] for row in rated]
        players = pl.DataFrame(names, {"pool": pl.String, "player": pl.String}, orient="row").with_columns(
            pl.Series("last_event_id", self.last_events[rated].tolist(), pl.String),
            pl.Series("last_played_at", self.seen[rated]).replace(NEVER, None).cast(UTC),
        )
        states = self.states[rated]
        shown = {name: pl.Series(values) for name, values in self.system.shown(states).items()}
        peak = {"peak": shown.pop("peak", pl.Series(self.peaks[rated]))}
        return as_board(self.system, players, peak | shown, states)


def resumed_ratings(
    system: System, known: Mapping[PlayerKey, tuple[bytes, int]], pools: Mapping[str, bytes]
) -> LiveRatings:
    """The ratings with which to go on from states as `Live.resume` takes them."""
    packed = b"".join(state for state, _ in known.values())
    states = np.frombuffer(packed, "<f8").astype(np.float64).reshape(len(known), len(system.state_type._fields))
    seen = np.array([seen for _, seen in known.values()], np.int64)
    peaks = states[:, system.column("rating")].copy()
    pool_states = {name: np.frombuffer(state, "<f8").astype(np.float64) for name, state in pools.items()}
    rows = {key: row for row, key in enumerate(known)}
    return LiveRatings(system, rows, states, seen, peaks, np.full(len(known), None), pool_states)


def refuse_share(keep: float) -> None:
    """Refuse what a season cannot keep of a lead.

    Raises:
        ParameterError: it is not from 0 to 1.
    """
    if not 0.0 <= keep <= 1.0:
        raise ParameterError(f"keep is {keep}; it must be from 0 to 1")


def starting_ratings(system: System, start: Start) -> LiveRatings:
    """The ratings with which to begin."""
    players = start.players
    rows = {key: row for row, key in enumerate(players.select("pool", "player").iter_rows())}
    peaks = start.states[:, system.column("rating")].copy()
    last_events = np.full(players.height, None)
    last_events[:] = players["last_event_id"].to_list()
    return LiveRatings(system, rows, start.states.copy(), start.seen.copy(), peaks, last_events, dict(start.pools))
