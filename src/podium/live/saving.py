"""Live ratings in a file: a ZIP archive with players, rated events and settings.

| member | content | |---|---| | `live.json` | format number, versions of Podium and its arithmetic, system, parameters,
fields of the state | | `players.parquet` | one row per player: pool, player, latest event, peak, then the fields of the
state as `state.…` | | `events.parquet` | the IDs of the events that were rated | | `pools.parquet` | the latest event
of each pool: microseconds since 1970, and the sequence; in format 2, the pool's state |
"""

import io
import json
import zipfile
import zlib
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.pool_state import PoolNumbers
from podium.engine.replay import NEVER, Replayed, States, newcomers
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.engine.tables.equipment import MARK
from podium.engine.tables.selection import EVENT
from podium.errors import OutputError, ParameterError
from podium.ledger.leaderboard import as_board
from podium.ledger.saved import StartingRatings, parameters, pool_columns, pool_table, refuse_other, with_pool_columns
from podium.live.one_event import Moment
from podium.results.columns import UTC
from podium.results.reading import PARQUET_ERRORS
from podium.support.arrays import Floats, Integers
from podium.support.part_files import part_file
from podium.systems import find
from podium.version import ARITHMETIC, SAME_RATINGS, __version__

PlayerKey = tuple[str, str]  # pool and player
RowNumbers = Integers
UNRATED = -np.inf  # the peak for a player without rated events


@dataclass(slots=True)
class LiveRatings:
    """The states of pools, and the states of all players in arrays that grow together, with one row per player."""

    system: System
    rows: dict[PlayerKey, int] = field(default_factory=dict)
    states: States = field(default_factory=lambda: np.empty((0, 0)))  # (players, fields)
    seen: Integers = field(default_factory=lambda: np.empty(0, np.int64))  # microseconds; or NEVER
    peaks: Floats = field(default_factory=lambda: np.empty(0))  # highest rating, or UNRATED
    last_events: npt.NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))  # ids, or None
    pool_states: dict[str, PoolNumbers] = field(default_factory=dict)  # by pool name, for pools with a state

    def __post_init__(self) -> None:
        if not self.states.size:
            self.states = newcomers(self.system, len(self.rows))

    def __copy__(self) -> "LiveRatings":
        """Return an independent copy."""
        return LiveRatings(self.system, *(copy(getattr(self, field.name)) for field in fields(self)[1:]))

    def rows_of(self, events: Events) -> RowNumbers:
        """Return the row of each player who takes part in the events, adding rows for newcomers."""
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
        """Remove the newcomers after the first `count` players."""
        while len(self.rows) > count:
            self.rows.popitem()
        self.states, self.seen = self.states[:count], self.seen[:count]
        self.peaks, self.last_events = self.peaks[:count], self.last_events[:count]

    def take(self, events: Events, replayed: Replayed, numbers: RowNumbers) -> None:
        """Store the states after a replay of the events. `numbers` contains the rows of their players."""
        self.states[numbers] = replayed.states
        if self.system.pool_fields:
            self.pool_states.update({pool.name: replayed.pools[k] for k, pool in enumerate(events.pools)})
        rated, frame = events.ledger, events.results.frame
        rows = numbers[rated.entrant.take(events.columns.player)]
        best = rated.entrant.take(np.maximum(replayed.before, replayed.after[:, self.system.column("rating")]))
        np.maximum.at(self.peaks, rows, best)
        self.last_events[rows] = frame["event_id"][rated.row.array].to_numpy()
        if "started_at" in frame.columns:
            self.seen[rows] = rated.row.take(frame["started_at"].to_physical().to_numpy())

    def pools_of(self, events: Events) -> PoolNumbers:
        return pool_table(self.system, [pool.name for pool in events.pools], self.pool_states)

    def state(self, pool: str | None, player: str) -> Any:
        """Return a player's state, or a newcomer's if the player is unknown."""
        row = None if pool is None else self.rows.get((pool, player))
        return self.system.newcomer() if row is None else self.system.state_type(*self.states[row].tolist())

    def pools(self) -> list[str]:
        """Return the names of the pools, in the order of their first events."""
        return list(dict.fromkeys(pool for pool, _ in self.rows))

    def board(self) -> pl.DataFrame:
        """Return all rated players as a frame that `podium.ledger.leaderboard.as_board` accepts."""
        keys = list(self.rows)
        rated = [row for row in np.flatnonzero(self.peaks > UNRATED).tolist() if not keys[row][1].startswith(MARK)]
        names = [keys[row] for row in rated]
        players = pl.DataFrame(names, {"pool": pl.String, "player": pl.String}, orient="row").with_columns(
            pl.Series("last_event_id", self.last_events[rated].tolist(), pl.String),
            pl.Series("last_played_at", self.seen[rated]).replace(NEVER, None).cast(UTC),
        )
        states = self.states[rated]
        shown = {name: pl.Series(values) for name, values in self.system.shown(states).items()}
        peak = {"peak": shown.pop("peak", pl.Series(self.peaks[rated]))}
        return as_board(self.system, players, peak | shown, states)


def refuse_share(keep: float) -> None:
    """Raise a ParameterError unless the share is from 0 to 1."""
    if not 0.0 <= keep <= 1.0:
        raise ParameterError(f"keep: {keep} is not a share. Give a number from 0 to 1.")


def starting_ratings(system: System, start: StartingRatings) -> LiveRatings:
    """Return the ratings to start with."""
    players = start.players
    rows = {key: row for row, key in enumerate(players.select("pool", "player").iter_rows())}
    peaks = start.states[:, system.column("rating")].copy()
    last_events = np.array(players["last_event_id"].to_list(), object)
    return LiveRatings(system, rows, start.states.copy(), start.seen.copy(), peaks, last_events, dict(start.pools))


FORMAT, FORMAT_OF_POOLS = 1, 2  # Format 2 is used if pools have a state, which readers of format 1 would ignore.
HEADER, PLAYERS, EVENTS, POOLS = "live.json", "players.parquet", "events.parquet", "pools.parquet"
FIRST_YEAR = (1980, 1, 1, 0, 0, 0)  # the date of every member, so that equal ratings give equal files
STATE = "state."
UNREADABLE = (  # RuntimeError: the archive has a password, or a variant that zipfile cannot read
    LookupError, TypeError, ValueError, EOFError, RuntimeError, AttributeError, OverflowError, zlib.error,
    zipfile.BadZipFile, *PARQUET_ERRORS,
)  # fmt: skip


Saved = tuple[
    LiveRatings, set[str], dict[str, Moment]
]  # the events' ids, and the time of the latest event of each pool


def write(path: Path, ratings: LiveRatings, events: Iterable[str], newest: dict[str, Moment]) -> None:
    """Write live ratings to a file. If this raises an OutputError, it leaves no new file behind."""
    system = ratings.system
    header = {
        "format": FORMAT_OF_POOLS if system.pool_fields else FORMAT,
        "podium": __version__,
        "arithmetic": ARITHMETIC,
        "system": system.name,
        "parameters": parameters(system),
        "fields": list(system.state_type._fields),
    }
    pools = pl.DataFrame(
        [(pool, *moment) for pool, moment in newest.items()],
        {"pool": pl.String, "started_at": pl.Int64, "sequence": pl.Float64},
        orient="row",
    )
    pools = with_pool_columns(pools, system, ratings.pool_states)
    with part_file(path, OutputError) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(HEADER, FIRST_YEAR), json.dumps(header, indent=2))
        event_ids = pl.DataFrame({"event_id": pl.Series(sorted(events), dtype=pl.String)})
        for name, table in ((PLAYERS, players_table(ratings)), (EVENTS, event_ids), (POOLS, pools)):
            content = io.BytesIO()
            table.write_parquet(content)
            archive.writestr(zipfile.ZipInfo(name, FIRST_YEAR), content.getvalue())


def players_table(ratings: LiveRatings) -> pl.DataFrame:
    """Return a table with one row per player."""
    names = pl.DataFrame(list(ratings.rows), {"pool": pl.String, "player": pl.String}, orient="row")
    return names.with_columns(
        pl.Series("seen", ratings.seen),
        pl.Series("peak", ratings.peaks),
        pl.Series("last_event_id", ratings.last_events.tolist(), pl.String),
        *(
            pl.Series(f"{STATE}{name}", ratings.states[:, k])
            for k, name in enumerate(ratings.system.state_type._fields)
        ),
    )


def read(path: Path, system: System | None) -> Saved:
    """Read live ratings from a file."""
    try:
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read(HEADER))
            refuse_revision(path, header)
            system = system_of(path, header, system)
            players, events, pools = (
                pl.read_parquet(io.BytesIO(archive.read(name))) for name in (PLAYERS, EVENTS, POOLS)
            )
            return as_saved(system, players, events, pools)
    except ParameterError:
        raise
    except OSError as error:
        raise ParameterError(
            f"{path}: cannot be read ({error.strerror or error}). Check the path and its permissions."
        ) from None
    except UNREADABLE as error:
        raise ParameterError(
            f"{path}: is damaged, or is not a file from Live.save ({error}). Load another file."
        ) from None


def refuse_revision(path: Path, header: dict[str, Any]) -> None:
    """Raise a ParameterError if the file's format is newer, or if its revision of the arithmetic differs."""
    if header["format"] > FORMAT_OF_POOLS:
        raise ParameterError(
            f"{path}: was written by Podium {header['podium']}, and this version, {__version__}, cannot read its "
            "format. Upgrade Podium: pip install --upgrade podium"
        )
    if not SAME_RATINGS <= header["arithmetic"] <= ARITHMETIC:
        raise ParameterError(
            f"{path}: was rated by revision {header['arithmetic']} of the arithmetic (Podium {header['podium']}), and "
            f"this version has revision {ARITHMETIC}. Rate the results again from the beginning."
        )


def system_of(path: Path, header: dict[str, Any], system: System | None) -> System:
    """Return the system of the saved ratings."""
    if system is None:
        try:
            return find(header["system"])(**header["parameters"])
        except ParameterError as error:
            raise ParameterError(f"{path}: {error}. Give Live.load the system itself.") from None
    refuse_other(str(path), header["system"], header["parameters"], EVENT, system, EVENT)
    if not set(header["fields"]) <= set(system.state_type._fields):
        raise ParameterError(
            f"{path}: has the state {', '.join(header['fields'])}, but the state of {system.name} is "
            "different. Give Live.load the system that rated the file."
        )
    return system


def as_saved(system: System, players: pl.DataFrame, events: pl.DataFrame, pools: pl.DataFrame) -> Saved:
    """Return the tables as a Saved object."""
    rows = {key: row for row, key in enumerate(players.select("pool", "player").iter_rows())}
    columns = {name.removeprefix(STATE): players[name].to_numpy() for name in players.columns if name.startswith(STATE)}
    states = system.filled_states(columns)  # files from before revision 12 lack the field `filtered`
    last_events = np.array(players["last_event_id"].to_list(), object)
    kept = pools.select(pool_columns(system)).to_numpy().astype(np.float64)
    pool_states = {name: kept[k] for k, name in enumerate(pools["pool"])} if system.pool_fields else {}
    seen, peaks = players["seen"].to_numpy().copy(), players["peak"].to_numpy().copy()
    ratings = LiveRatings(system, rows, states, seen, peaks, last_events, pool_states)
    newest = {pool: (started, sequence) for pool, started, sequence in pools[:, :3].iter_rows()}
    return ratings, set(events["event_id"].to_list()), newest
