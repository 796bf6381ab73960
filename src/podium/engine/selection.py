"""Which rows of a results table count, in the order of rating, with texts turned to numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.inputs import OTHER_MODE, Heat, finisher
from podium.engine.rules import counts, overrides
from podium.engine.system import System
from podium.errors import Fault, ResultsError
from podium.kernels.compiled import compile_kernel
from podium.results.derived_heats import heat_codes, with_derived_heats
from podium.results.event_order import SEQUENCE, order_keys
from podium.results.hashing import runs, surely_distinct
from podium.results.reading import Results

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
UNRATED_STATUS = ("did_not_start", "disqualified")
UNFINISHED_STATUS = ("quit", "dnf")
MEASURES = ("time_s", "score", "played_s", "duration_s")


def rated_rows(results: Results, system: System) -> "Rows":
    """The rows that a system rates, in order.

    Raises:
        ResultsError: a finisher lacks what the system needs.
    """
    return without_small_events(sort_rows(rows_that_count(results, system)), system)


def rows_that_count(results: Results, system: System) -> pl.DataFrame:
    """The rows of entries, with `row` (from 0) and `finished`, derived heats added."""
    frame = results.frame.with_row_index("row")
    if not (results.frame["status"] == "finished").all() or "ranked" in frame.columns:
        frame = frame.filter(~pl.col("status").is_in(UNRATED_STATUS))
        if "ranked" in frame.columns:
            frame = frame.filter(pl.col("ranked"))
    refuse_lacking(results, system, frame)
    if "heat" in frame.columns:
        frame = with_derived_heats(frame, overall=system.overall_set, quits_carry_over=system.quits_later_heats)
    return frame


def refuse_lacking(results: Results, system: System, frame: pl.DataFrame) -> None:
    """Refuse a table in which a finisher lacks a column that the system needs."""
    lacking = [column for column in system.needs if column not in frame.columns]
    if not lacking and not any(frame[column].null_count() for column in system.needs):
        return
    finishers = frame.filter(pl.col("status") == "finished")
    if finishers.is_empty():
        return
    faults = [
        Fault(int(finishers["row"][0]) + 1, column, None, f"{system.name} needs it for every finisher")
        for column in lacking
    ]
    for column in set(system.needs) - set(lacking):
        empty = finishers.filter(pl.col(column).is_null())["row"]
        faults += [
            Fault(int(row) + 1, column, None, f"is empty; {system.name} needs it for every finisher") for row in empty
        ]
    if faults:
        raise ResultsError(results.source, sorted(faults, key=lambda fault: fault.row or 0))


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that count, in the order of rating: by pool, event, heat, then file."""

    frame: pl.DataFrame
    event: Integers  # whole numbers that rise with pool, then time, then sequence, then file order
    heat: Integers | None
    player: Integers  # from 0, pools in turn
    when: Integers  # order of the event over all pools
    pool: Integers
    pool_names: list[str]
    player_names: pl.Series

    @property
    def row(self) -> Integers:
        """The row of the results table, from 0."""
        return self.frame["row"].to_numpy().astype(np.int64)

    @property
    def started_at(self) -> Integers | None:
        """Microseconds since 1970, UTC; None where the table does not say."""
        if "started_at" not in self.frame.columns:
            return None
        return self.frame["started_at"].cast(pl.Int64).to_numpy()

    def only(self, selection: npt.NDArray[np.bool_]) -> "Rows":
        """Those rows alone, and the players who have one."""
        players, player = np.unique(self.player[selection], return_inverse=True)
        return Rows(
            self.frame.filter(pl.Series(selection)),
            self.event[selection],
            None if self.heat is None else self.heat[selection],
            player.astype(np.int64),
            self.when[selection],
            self.pool[selection],
            self.pool_names,
            self.player_names[players],
        )


def sort_rows(frame: pl.DataFrame) -> Rows:
    """Sort the rows and number events, heats and players."""
    event, firsts = event_codes(frame)
    pool_of_event, pool_names = text_codes(firsts["pool"])
    when = rank_by(*order_keys(firsts))
    order_of_event = rank_by(pool_of_event, when)
    player, names = player_codes(frame, pool_of_event[event])
    heat = heat_codes(frame["heat"]) if "heat" in frame.columns else None
    key = order_of_event[event]
    rows = Rows(frame, key, heat, player, when[event], pool_of_event[event], pool_names, names)
    keys = (frame["row"].to_numpy(), key) if heat is None else (frame["row"].to_numpy(), heat, key)
    if all_rising(*reversed(keys)):
        return rows
    order = np.lexsort(keys)
    return Rows(
        frame[order],
        key[order],
        None if heat is None else heat[order],
        player[order],
        rows.when[order],
        rows.pool[order],
        pool_names,
        names,
    )


def event_codes(frame: pl.DataFrame) -> tuple[Integers, pl.DataFrame]:
    """A number an event, by first appearance, and one row each with its pool and start."""
    run, starts = runs(frame["event_id"])
    shared = [column for column in ("pool", "started_at", SEQUENCE) if column in frame.columns]
    first = pl.DataFrame([frame[column][starts] for column in shared])
    if surely_distinct(frame["event_id"], starts):
        return run, first
    number, _ = text_codes(frame["event_id"][starts])
    return number[run], first[np.unique(number, return_index=True)[1]]


def text_codes(series: pl.Series) -> tuple[Integers, list[str]]:
    """Numbers for texts, by first appearance, and the texts."""
    if series.len() and (series == series[0]).all():
        return np.zeros(series.len(), np.int64), [series[0]]
    names = series.unique(maintain_order=True)
    return series.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64), names.to_list()


def player_codes(frame: pl.DataFrame, pool: Integers) -> tuple[Integers, pl.Series]:
    """A number for each (pool, player), pools in turn, and their names."""
    names = frame["player"].unique(maintain_order=True)
    code = frame["player"].cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)
    if not pool.size or not pool.any():
        return code, names
    pairs, number = np.unique(pool * names.len() + code, return_inverse=True)
    return number.astype(np.int64), names[pairs % names.len()]


def rank_by(*keys: npt.NDArray[Any]) -> Integers:
    """Each element's rank by these keys, the first the weightiest; ties by order."""
    if all_rising(*keys):
        return np.arange(keys[0].size)
    ranks = np.empty(keys[0].size, np.int64)
    ranks[np.lexsort(tuple(reversed(keys)))] = np.arange(keys[0].size)
    return ranks


def all_rising(*keys: npt.NDArray[Any]) -> bool:
    """Whether rows already stand in order of these keys, the first the weightiest."""
    tied = np.ones(max(keys[0].size - 1, 0), np.bool_)
    for key in keys:
        if (tied & (key[1:] < key[:-1])).any():
            return False
        tied &= key[1:] == key[:-1]
    return True


def without_small_events(rows: Rows, system: System) -> Rows:
    """Without the entries that a system does not count, and without events they leave too small."""
    if overrides(counts, system):
        rows = rows.only(counting_entries(rows, system))
    size = np.zeros(rows.event.max(initial=-1) + 1, np.int64)
    if rows.heat is None:
        size += np.bincount(rows.event, minlength=size.size)
    else:
        pairs = np.unique(rows.event * (rows.player_names.len() + 1) + rows.player)
        size += np.bincount(pairs // (rows.player_names.len() + 1), minlength=size.size)
    enough = size >= 2  # noqa: PLR2004  (it takes two to compare)
    if system.needs_finisher:
        finishers = np.bincount(rows.event[finish_mask(rows.frame)], minlength=size.size)
        enough &= finishers > 0
    return rows if enough[rows.event].all() else rows.only(enough[rows.event])


def finish_mask(frame: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Which entries finished."""
    status, finishes = frame["status"], np.ones(frame.height, np.bool_)
    for word in UNFINISHED_STATUS:
        finishes &= (status != word).to_numpy()
    return finishes


def counting_entries(rows: Rows, system: System) -> npt.NDArray[np.bool_]:
    """Which entries a system's `counts` rule takes."""
    measures = [float_column(rows.frame, name) for name in MEASURES]
    measures = [column.copy() if column.size else np.full(rows.event.size, np.nan) for column in measures]
    counting = np.empty(rows.event.size, np.bool_)
    time_s, score, played_s, duration_s = measures
    count = _count_cached if system.shipped else _count_entries
    params, _ = system.arguments()
    count(params, time_s, score, played_s, duration_s, counting)
    return counting


def _count_entries(params: Any, time_s: Any, score: Any, played_s: Any, duration_s: Any, counting: Any) -> None:
    for i in range(counting.size):
        entry = finisher(1.0, time_s[i], score[i], played_s[i], duration_s[i], 0.0)
        counting[i] = counts(params, entry, Heat(0.0, OTHER_MODE))


_count_cached = compile_kernel(_count_entries)


def float_column(frame: pl.DataFrame, column: str) -> Floats:
    """A column as floats, NaN where empty; no entries where the table has none."""
    if column not in frame.columns:
        return np.empty(0)
    return np.ascontiguousarray(frame[column].to_numpy(), np.float64)
