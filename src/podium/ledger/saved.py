"""Saved ratings: write every player's complete state and the settings to a file, and read them back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from podium.engine.pool_state import PoolNumbers, new_pools
from podium.engine.replay import NEVER, States, newcomers
from podium.engine.system import System, as_setting
from podium.engine.tables.encoding import Events
from podium.engine.tables.equipment import MARK
from podium.engine.tables.selection import EVENT, numbers_at
from podium.errors import Fault, ParameterError, ResultsError
from podium.results.columns import DEFAULTS, UTC, names, none_known, number, started, text
from podium.results.reading import Results, loaded
from podium.support.arrays import Array, Floats, Integers
from podium.support.immutable import immutable
from podium.support.words import with_formulas
from podium.systems import current_name
from podium.version import __version__

SYSTEM, PARAMETERS, PERIOD = "podium.system", "podium.parameters", "podium.period"
PLAYER_KEYS = ("pool", "player")
KIND = "kind"  # kind of a piece of equipment, whose name is in the players' column
LAST_EVENT = ("last_event_id", "last_played_at")
DERIVED = ("rank", "provisional")  # columns of a ratings table that can be calculated from the others
MAX_WHOLE = 2.0**53  # largest float up to which every whole number is exact
PARQUET = b"PAR1"
OF_POOL = "pool_"  # prefix of the columns for the state of a row's pool


@immutable
class StartingRatings:
    """The players' ratings before the first event."""

    players: pl.DataFrame  # pool, player, last_event_id, last_played_at
    states: States  # (players, fields)
    pools: Mapping[str, PoolNumbers] = field(default_factory=dict)  # states by pool name, for pools that have a state

    @property
    def seen(self) -> Integers:
        """Return the time of each player's last dated event, in microseconds since 1970, or `NEVER`."""
        return self.players["last_played_at"].cast(pl.Int64).fill_null(NEVER).to_numpy()

    def rows(self, events: Events) -> Integers:
        """Return each event player's row in `players`, or -1 for players who are missing there."""
        pools = [pool.name for pool in events.pools for _ in range(pool.first_player, pool.last_player)]
        return self.rows_of(pl.DataFrame({"pool": pl.Series(pools, dtype=pl.String), "player": events.player_names}))

    def rows_of(self, seats: pl.DataFrame) -> Integers:
        """Return the row in `players` for each `pool, player`, or -1 for players who are missing there."""
        numbered = self.players.select("pool", "player").with_row_index("row")
        numbers = seats.join(numbered, on=PLAYER_KEYS, how="left", maintain_order="left")["row"]
        return numbers.cast(pl.Int64).fill_null(-1).to_numpy()

    def states_of(self, system: System, rows: Integers) -> States:
        """Return the states in these rows, with a newcomer's state for -1, as an array of shape (rows, fields)."""
        states = newcomers(system, rows.size)
        states[rows >= 0] = self.states[rows[rows >= 0]]
        return states

    def seen_of(self, rows: Integers) -> Integers:
        """Return the elements of `seen` for these rows, and `NEVER` for -1."""
        seen = np.full(rows.size, NEVER)
        seen[rows >= 0] = self.seen[rows[rows >= 0]]
        return seen


def pool_table(system: System, names: Sequence[str], known: Mapping[str, PoolNumbers]) -> PoolNumbers:
    """Return the states of the named pools, with new states for unknown pools, as an array of shape (pools, fields)."""
    table = new_pools(system, len(names))
    for row, name in enumerate(names):
        if name in known:
            table[row] = known[name]
    return table


def metadata(system: System, period: str) -> dict[str, str]:
    """Return the metadata to save with states: system, parameters and version."""
    return {
        SYSTEM: system.name,
        PARAMETERS: json.dumps(parameters(system)),
        PERIOD: period,
        "podium.version": __version__,
    }


def parameters(system: System) -> dict[str, Any]:
    return {setting.name: getattr(system, setting.name) for setting in fields(system)}


def read_start(source: Any, system: System, period: str = EVENT, pools: Sequence[str] = ()) -> StartingRatings:
    frame, name = loaded(source, None if isinstance(source, str | Path) or hasattr(source, "read") else "start")
    if isinstance(source, str | Path):
        if str(source).lower().endswith(".csv"):
            frame = with_formulas(frame)
        refuse_other_origin(Path(source), name, system, period)
    empty = [column.name for column in frame if column.null_count() == frame.height > 0]
    frame = frame.drop(column for column in empty if column not in ("player", "rating"))
    refuse_columns(frame, name, system)
    players, faults = read_identities(frame, name, pools)
    columns, wrong = state_columns(frame, system)
    faults += wrong
    if not faults:
        faults = [*duplicate_players(players), *out_of_range(columns, system), *incomplete_fields(columns, system)]
    if not faults:
        states = system.filled_states(columns)
        pool_states, wrong = read_pools(frame, players, system)
        faults = [*peaks_below_rating(states, system), *wrong]
    if faults:
        raise ResultsError(name, sorted(faults, key=lambda fault: fault.row or 0))
    return StartingRatings(players, states, pool_states)


def refuse_other_origin(path: Path, name: str, system: System, period: str) -> None:
    """Raise a ParameterError if the ratings in a Parquet file were calculated with other settings."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        if file.read(len(PARQUET)) != PARQUET:
            return
    origin = pl.read_parquet_metadata(path)
    if SYSTEM not in origin:
        return
    refuse_other(name, origin[SYSTEM], json.loads(origin[PARAMETERS]), origin[PERIOD], system, period)


def refuse_other(
    name: str, saved_system: str, saved_parameters: dict[str, Any], saved_period: str, system: System, period: str
) -> None:
    """Raise a ParameterError unless the settings are the same as those of the saved ratings."""
    saved_system = current_name(saved_system)
    if saved_system != system.name:
        raise ParameterError(f"{name} holds ratings of {saved_system}, not of {system.name}. Use {saved_system}.")
    ours = parameters(system)
    saved_parameters = {field.name: field.default for field in fields(system)} | saved_parameters  # new ones are off
    for setting in sorted(saved_parameters.keys() - {"conservative"}):  # a parameter that does not affect ratings
        before, now = saved_parameters[setting], ours.get(setting)
        if before != now or setting not in ours:
            raise ParameterError(
                f"{name} was rated by {system.name} with {setting} {as_setting(before)}, but now it is"
                f" {as_setting(now)}. Use the same parameters."
            )
    if saved_period != period:
        raise ParameterError(f"{name} was rated with the period {saved_period}, not {period}. Use the same period.")


def packed_columns(system: System) -> list[str]:
    """Return the columns of a ratings table that each combine several fields of the state."""
    return [name for name in system.shown(newcomers(system, 0)) if name not in system.state_type._fields]


def refuse_columns(frame: pl.DataFrame, name: str, system: System) -> None:
    """Raise a ResultsError for unknown or missing columns of saved ratings."""
    known = [*PLAYER_KEYS, *system.state_type._fields, *packed_columns(system), *LAST_EVENT, *DERIVED]
    known += [KIND] if system.kinds else []
    known += pool_columns(system)
    faults = [
        Fault(None, column, None, f"is not a column of {system.name}'s ratings ({', '.join(known[:12])})")
        for column in frame.columns
        if column not in known
    ]
    faults += [
        Fault(None, column, None, "is missing; every row needs it")
        for column in ("player", "rating")
        if column not in frame.columns
    ]
    if faults:
        raise ResultsError(name, faults)


def read_identities(frame: pl.DataFrame, name: str, pools: Sequence[str]) -> tuple[pl.DataFrame, list[Fault]]:
    """Return the players in saved ratings, the time of each player's last event, and the errors in these columns."""
    columns = {}
    faults = []
    for column in (*PLAYER_KEYS, *LAST_EVENT, *([KIND] if KIND in frame.columns else [])):
        blank = pl.Series(column, [None], pl.String).new_from_index(0, frame.height)
        series = blank_as_null(frame[column]) if column in frame.columns else blank
        if column in (*PLAYER_KEYS, KIND):
            columns[column], wrong, _ = names(series, none_known)
        else:
            columns[column], wrong = instants(series) if column == "last_played_at" else text(series)
        faults += wrong
    if not faults and columns["pool"].null_count():
        if len(pools) > 1:
            several = ", ".join(sorted(pools))
            empty = int(columns["pool"].is_null().arg_max() or 0) + 1
            raise ResultsError(name, [Fault(empty, "pool", None, f"is empty; the results contain several ({several})")])
        columns["pool"] = columns["pool"].fill_null(pools[0] if pools else DEFAULTS["pool"])
    if faults or KIND not in columns:
        return pl.DataFrame(columns) if not faults else frame, faults
    equipment = pl.concat_str(pl.lit(MARK), KIND, pl.lit(MARK), "player")  # null for players
    return pl.DataFrame(columns).with_columns(player=pl.coalesce(equipment, "player")).drop(KIND), []


def blank_as_null(series: pl.Series) -> pl.Series:
    """Return the column with empty strings replaced by nulls."""
    return series.replace("", None) if series.dtype == pl.String else series


def instants(series: pl.Series) -> tuple[pl.Series, list[Fault]]:
    """Return the time of each player's last event (null if unknown), and the errors in the column."""
    if series.null_count() == series.len():
        return series.cast(UTC), []
    column, faults = started(series)
    return column, faults if column.null_count() > series.null_count() or column.dtype != UTC else []


def state_columns(frame: pl.DataFrame, system: System) -> tuple[dict[str, Floats], list[Fault]]:
    """Return the known fields of the state, with NaN for empty cells, and the errors in these fields."""
    columns: dict[str, Array] = {}
    faults: list[Fault] = []
    for name in packed_columns(system):
        if name in frame.columns:
            series = blank_as_null(frame[name])
            whole = series.cast(pl.UInt64, strict=False)
            wrong = (whole.is_null() & series.is_not_null()).arg_true().to_list()
            faults += [Fault(row + 1, name, series[row], "must be a whole number, 0 or more") for row in wrong]
            columns[name] = whole.fill_null(0).to_numpy()
    columns = system.unpacked(columns) if columns and not faults else {}
    for name in system.state_type._fields:
        if name in frame.columns:
            series, wrong_cells = number(blank_as_null(frame[name]))
            faults += wrong_cells
            if name == "rating" and not wrong_cells:
                empty = series.is_null().arg_true().to_list()
                faults += [Fault(row + 1, name, None, "is empty; every row needs it") for row in empty]
            if not wrong_cells:
                columns[name] = series.to_numpy().astype(np.float64)
    return columns, faults


def duplicate_players(players: pl.DataFrame) -> Iterator[Fault]:
    """Yield an error for each player with two rows in a pool."""
    again = players.with_row_index("row", 1).filter(~pl.struct(PLAYER_KEYS).is_first_distinct())
    for row, pool, player in again.select("row", *PLAYER_KEYS).iter_rows():
        yield Fault(row, "player", player, f"appears twice in the pool {pool}")


def out_of_range(columns: dict[str, Floats], system: System) -> Iterator[Fault]:
    """Yield an error for each value outside the range of its field: negative, fractional or too large."""
    for name, values in columns.items():
        is_signed = name in (*system.with_level, *system.signed, "rating", "peak")
        if is_signed and name not in system.most:
            continue
        whole = name in system.whole_numbers
        most = system.most.get(name, MAX_WHOLE if whole else np.inf)
        fine = np.isnan(values) | ((values >= (-np.inf if is_signed else 0.0)) & (values <= most))
        remedy = f"must be {'a whole number' if whole else 'a number'}"
        remedy += f" up to {most:g}" if is_signed else " of at least 0" if np.isinf(most) else f" from 0 to {most:g}"
        if whole:
            fine &= np.isnan(values) | (values == np.floor(values))
        if name == "deviation":
            fine, remedy = fine & (values != 0.0), "must be a number above 0"
        for row in np.flatnonzero(~fine).tolist():
            yield Fault(row + 1, name, float(values[row]), remedy)


def incomplete_fields(columns: dict[str, Floats], system: System) -> Iterator[Fault]:
    """Yield an error for each row in which only some of the fields that belong together have values."""
    if not system.together:
        return
    unknown = np.full(columns["rating"].size, np.nan)
    missing = np.array([np.isnan(columns.get(name, unknown)) for name in system.together])
    for row in np.flatnonzero(missing.any(axis=0) & ~missing.all(axis=0)).tolist():
        name = system.together[int(np.argmax(missing[:, row]))]
        yield Fault(row + 1, name, None, f"is empty, but {system.together[int(np.argmin(missing[:, row]))]} is not")


def peaks_below_rating(states: States, system: System) -> Iterator[Fault]:
    names = system.state_type._fields
    if "peak" not in names:
        return
    peak, rating = states[:, names.index("peak")], states[:, names.index("rating")]
    for row in np.flatnonzero(peak < rating).tolist():
        yield Fault(row + 1, "peak", float(peak[row]), f"is below the rating, {rating[row]:g}")


def pool_columns(system: System) -> list[str]:
    """Return the names of the columns for the state of a row's pool."""
    return [] if system.pool_state_type is None else [f"{OF_POOL}{name}" for name in system.pool_state_type._fields]


def with_pool_columns(ratings: pl.DataFrame, system: System, pools: Mapping[str, PoolNumbers]) -> pl.DataFrame:
    """Return the ratings table with the state of each row's pool, for systems with pool states."""
    columns = pool_columns(system)
    if not columns:
        return ratings
    names = ratings["pool"].unique()
    table = pl.DataFrame(pool_table(system, names.to_list(), pools), columns)
    return ratings.join(table.with_columns(pool=names), on="pool", maintain_order="left")


def read_pools(
    frame: pl.DataFrame, players: pl.DataFrame, system: System
) -> tuple[dict[str, PoolNumbers], list[Fault]]:
    """Return the state of each pool in a ratings table, if it has such columns, and the errors in them."""
    columns = [name for name in pool_columns(system) if name in frame.columns]
    if not columns:
        return {}, []
    faults = [
        Fault(1, name, None, "is missing, but needed with " + columns[0])
        for name in pool_columns(system)
        if name not in columns
    ]
    cells = [number(blank_as_null(frame[name])) for name in columns]
    faults += [fault for _, wrong in cells for fault in wrong]
    if faults:
        return {}, faults
    table = np.stack([column.to_numpy().astype(np.float64) for column, _ in cells], axis=1)
    states: dict[str, PoolNumbers] = {}
    for row, pool in enumerate(players["pool"].to_list()):
        known = states.setdefault(pool, table[row])
        wrong_cells = np.flatnonzero(~(np.isfinite(table[row]) & (table[row] == known)))
        if wrong_cells.size:
            where = int(wrong_cells[0])
            remedy = "must be a number, the same on every row of the pool"
            faults.append(Fault(row + 1, columns[where], float(table[row, where]), remedy))
    return states, faults


def refuse_earlier(start: StartingRatings, results: Results, period: str) -> None:
    """Raise a ResultsError for results before the end of the saved ratings, or within their last rating period."""
    if "started_at" not in results.frame.columns:
        return
    newest = start.players.group_by("pool").agg(pl.col("last_played_at").max().alias("newest"))
    dated = results.frame.select("pool", "started_at", row=pl.int_range(1, pl.len() + 1))
    both = dated.join(newest.drop_nulls(), on="pool", maintain_order="left")
    if period == EVENT:
        early, where = both["started_at"] < both["newest"], "is before the latest event of the saved ratings"
    else:
        early = pl.Series(numbers_at(both["started_at"], period) <= numbers_at(both["newest"], period))
        where = "lies in a rating period that the saved ratings already include, or before it"
    faults = [
        Fault(
            row,
            "started_at",
            str(when),
            f"{where} ({until}). Rate only later results, or all results from the beginning.",
        )
        for when, row, until in both.filter(early).select("started_at", "row", "newest").iter_rows()
    ]
    if faults:
        raise ResultsError(results.source, faults)
