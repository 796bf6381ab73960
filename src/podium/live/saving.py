"""Live ratings in a file: a ZIP archive of a table of players, a table of events seen, and what they were rated by.

| member | holds |
|---|---|
| `live.json` | the format's number, versions of Podium and its arithmetic, system, parameters, fields of the state |
| `players.parquet` | a row each: pool, player, newest event, peak, then every field of the state as `state.…` |
| `events.parquet` | the ids of the events that were rated |
| `pools.parquet` | the newest event of each pool: microseconds since 1970, and the sequence; in format 2 its state |
"""

import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.system import System
from podium.engine.tables.selection import EVENT
from podium.errors import OutputError, ParameterError
from podium.ledger.saved import parameters, pool_columns, refuse_other, with_pool_columns
from podium.live.order import Moment
from podium.live.ratings import LiveRatings
from podium.support.collector import ARITHMETIC
from podium.support.part_files import part_file
from podium.systems import find
from podium.version import __version__

FORMAT, FORMAT_OF_POOLS = 1, 2  # the second where pools have a state: a reader of the first would leave it out
HEADER, PLAYERS, EVENTS, POOLS = "live.json", "players.parquet", "events.parquet", "pools.parquet"
FIRST_YEAR = (1980, 1, 1, 0, 0, 0)  # the date of every member, so that equal ratings are equal files
STATE = "state."
UNREADABLE = (KeyError, TypeError, ValueError, zipfile.BadZipFile, pl.exceptions.PolarsError)


class Saved(NamedTuple):
    """What a file holds."""

    ratings: LiveRatings
    events: set[str]
    newest: dict[str, Moment]  # of each pool


def write(path: Path, ratings: LiveRatings, events: Iterable[str], newest: dict[str, Moment]) -> None:
    """Write live ratings; the file appears whole or not at all.

    Raises:
        OutputError: it cannot be written.
    """
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
    """Everyone, a row each."""
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
    """Read live ratings.

    Args:
        system: with which to go on; the one in the file where None.

    Raises:
        ParameterError: the file cannot be read or is another, or its ratings come from another system, other parameters
            or another revision of the arithmetic.
    """
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
        raise ParameterError(f"{path}: cannot be read ({error.strerror or error})") from None
    except UNREADABLE as error:
        raise ParameterError(f"{path}: is damaged, or no file that Live.save wrote ({error})") from None


def refuse_revision(path: Path, header: dict[str, Any]) -> None:
    """Refuse a file of a later format, or one that another arithmetic rated.

    Raises:
        ParameterError: it is such a file.
    """
    if header["format"] > FORMAT_OF_POOLS:
        raise ParameterError(
            f"{path}: was written by Podium {header['podium']}, in a later format than this version, {__version__}, "
            "reads: upgrade Podium"
        )
    if header["arithmetic"] != ARITHMETIC:
        raise ParameterError(
            f"{path}: was rated by revision {header['arithmetic']} of the arithmetic (Podium {header['podium']}), and "
            f"this version has revision {ARITHMETIC}: rate the results again from the beginning"
        )


def system_of(path: Path, header: dict[str, Any], system: System | None) -> System:
    """The system with which the ratings go on.

    Raises:
        ParameterError: the ratings come from another, or from other parameters.
    """
    if system is None:
        try:
            return find(header["system"])(**header["parameters"])
        except ParameterError as error:
            raise ParameterError(f"{path}: {error}; give Live.load the system itself") from None
    refuse_other(str(path), header["system"], header["parameters"], EVENT, system, EVENT)
    if header["fields"] != list(system.state_type._fields):
        raise ParameterError(f"{path}: has the state {', '.join(header['fields'])}, which {system.name} has not")
    return system


def as_saved(system: System, players: pl.DataFrame, events: pl.DataFrame, pools: pl.DataFrame) -> Saved:
    """The tables as live rating has them."""
    rows = {key: row for row, key in enumerate(players.select("pool", "player").iter_rows())}
    states = np.empty((players.height, len(system.state_type._fields)))
    for k, name in enumerate(system.state_type._fields):
        states[:, k] = players[f"{STATE}{name}"].to_numpy()
    last_events = np.full(players.height, None)
    last_events[:] = players["last_event_id"].to_list()
    kept = pools.select(pool_columns(system)).to_numpy().astype(np.float64)
    pool_states = {name: kept[k] for k, name in enumerate(pools["pool"])} if system.pool_fields else {}
    seen, peaks = players["seen"].to_numpy().copy(), players["peak"].to_numpy().copy()
    ratings = LiveRatings(system, rows, states, seen, peaks, last_events, pool_states)
    newest = {pool: (started, sequence) for pool, started, sequence in pools[:, :3].iter_rows()}
    return Saved(ratings, set(events["event_id"].to_list()), newest)
