"""Select the rows of a results table that count, sort them in rating order, and convert strings to numbers."""

import re
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl

from podium.engine.inputs import OTHER_MODE, Heat, finisher
from podium.engine.rules import counts, overrides
from podium.engine.system import System
from podium.errors import Fault, ParameterError, ResultsError
from podium.kernels.compiled import compile_kernel, run_by_steps
from podium.results.consistency import order_keys
from podium.results.derived_heats import heat_codes, number_column, with_derived_heats
from podium.results.hashing import PART_ROWS, Numbered, index_type, number_runs, number_texts, run_bounds
from podium.results.reading import Results
from podium.support.arrays import Array, Floats, Integers, Mask

ABSENT_STATUS = "did_not_start"
UNRATED_STATUS = (ABSENT_STATUS, "disqualified")
UNFINISHED_STATUS = ("quit", "dnf")
UNUSED = (
    "event_id",
    "player",
    "awards",
    "title",
    "url",
)  # columns that ratings do not depend on once they are numbered
MEASURES = ("time_s", "score", "played_s", "duration_s")


def unrated_status(system: System) -> tuple[str, ...]:
    """Return the statuses whose rows a system leaves out."""
    return tuple(status for status in UNRATED_STATUS if not (system.rates_absent and status == ABSENT_STATUS))


def rated_rows(results: Results, system: System, events: Numbered | None = None) -> "Rows":
    frame = rows_that_count(results, system)
    row = frame["row"].to_numpy()
    as_read = Positions.of(row).are_all(results.frame.height)  # no row is left out or derived
    return without_small_events(sort_rows(frame, events if as_read else None), system)


def rows_that_count(results: Results, system: System) -> pl.DataFrame:
    """Return the rows that count, with derived heats and a `row` column, which counts from 0."""
    frame = results.frame.with_row_index("row")
    if not all_finished(frame) or "ranked" in frame.columns:
        frame = frame.filter(~pl.col("status").is_in(unrated_status(system)))
        if "ranked" in frame.columns:
            frame = frame.filter(pl.col("ranked"))
    refuse_lacking(results, system, frame)
    if "heat" in frame.columns:
        frame = with_derived_heats(frame, overall=system.overall_set, quits_carry_over=system.quits_later_heats)
    return frame


def all_finished(frame: pl.DataFrame) -> bool:
    """Return True if nobody quit, retired, was disqualified or did not start."""
    return bool((frame["status"] == "finished").all())


def refuse_lacking(results: Results, system: System, frame: pl.DataFrame) -> None:
    """Raise an error if a finisher lacks a value that the system needs."""
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
    """The rows that count, in rating order: by pool, event, heat, and then file order."""

    frame: pl.DataFrame  # the columns on which ratings depend
    event: Integers  # integers in order of pool, time, sequence and file
    heat: Integers | None
    player: Integers  # from 0, pool by pool
    when: Integers  # order of the event across all pools
    pool: Integers
    pool_names: list[str]
    player_names: pl.Series

    @property
    def row(self) -> Integers:
        """The row in the results table, from 0."""
        return signed(self.frame["row"])

    @property
    def started_at(self) -> Integers | None:
        """Microseconds since 1970 (UTC), or None if there are no times."""
        return None if "started_at" not in self.frame.columns else self.frame["started_at"].cast(pl.Int64).to_numpy()

    def only(self, selection: Mask) -> "Rows":
        """Return only the selected rows, and their players."""
        player = self.player[selection]
        present = np.bincount(player, minlength=self.player_names.len()) > 0
        number = np.cumsum(present, dtype=player.dtype) - 1
        return Rows(
            self.frame.filter(pl.Series(selection)),
            self.event[selection],
            None if self.heat is None else self.heat[selection],
            number[player],
            self.when[selection],
            self.pool[selection],
            self.pool_names,
            self.player_names.filter(pl.Series(present)),
        )


def signed(rows: pl.Series) -> Integers:
    """Return row numbers as signed integers, without a copy if the numbers are small enough."""
    numbers = rows.to_numpy()
    kind = index_type(int(numbers.max(initial=0)) + 1)
    return numbers.view(kind) if numbers.itemsize == np.dtype(kind).itemsize else numbers.astype(kind)


def sort_rows(frame: pl.DataFrame, events: Numbered | None) -> Rows:
    """Sort the rows and number events, heats and players."""
    event, first = number_runs(frame["event_id"]) if events is None else events
    pool_of_event, pool_names = pool_codes(frame, first)
    rank = rank_by(*order_keys(frame, first))
    when = ranks_of_rows(event, rank)
    one_pool = len(pool_names) == 1
    pool = np.zeros(event.size, event.dtype) if one_pool else pool_of_event[event]
    key = when if one_pool else ranks_of_rows(event, rank_by(pool_of_event, rank))
    player, names = player_codes(frame["player"], None if one_pool else pool)
    heat = heat_codes(frame["heat"]) if "heat" in frame.columns else None
    frame = frame[[name for name in frame.columns if name not in UNUSED]]
    rows = Rows(frame, key, heat, player, when, pool, pool_names, names)
    columns = (key, signed(frame["row"])) if heat is None else (key, heat, signed(frame["row"]))
    if all_rising(*columns):
        return rows
    order = np.lexsort(columns[::-1]).astype(event.dtype)
    return Rows(
        frame[order],
        key[order],
        None if heat is None else heat[order],
        player[order],
        when[order],
        pool[order],
        pool_names,
        names,
    )


def pool_codes(frame: pl.DataFrame, first: Integers) -> tuple[Integers, list[str]]:
    """Return the pool numbers of the events that start at these rows, and the names of the pools."""
    if first.size and (frame["pool"] == frame["pool"][0]).all():
        return np.zeros(first.size, index_type(first.size)), frame.head(1)["pool"].to_list()
    names = frame["pool"].gather(first)
    code, named = number_texts(names)
    return code, names.gather(named).to_list()


def player_codes(names: pl.Series, pool: Integers | None) -> tuple[Integers, pl.Series]:
    """Number the players of each pool, pool by pool, and return the numbers and names.

    `pool` is None for a single pool.
    """
    code, first = number_texts(names, pool)
    if pool is None:
        return code, names[first]
    in_turn = np.argsort(pool[first], kind="stable")
    number = np.empty(first.size, code.dtype)
    number[in_turn] = np.arange(first.size)
    return number[code], names.gather(first[in_turn])


def ranks_of_rows(event: Integers, rank: Integers) -> Integers:
    """Return the rank of each row's event, or `event` itself if the events are already in order."""
    return event if all_rising(rank) else rank[event]


def rank_by(*keys: Array) -> Integers:
    """Return each element's rank by these keys, with the most important key first. Ties keep their order."""
    kind = index_type(keys[0].size)
    if all_rising(*keys):
        return np.arange(keys[0].size, dtype=kind)
    ranks = np.empty(keys[0].size, kind)
    ranks[np.lexsort(tuple(reversed(keys)))] = np.arange(keys[0].size)
    return ranks


def all_rising(*keys: Array) -> bool:
    """Return True if rows are already sorted by these keys, with the most important key first."""
    tied: Mask | None = None
    for key in keys:
        falls = key[1:] < key[:-1]
        if (falls if tied is None else tied & falls).any():
            return False
        same = key[1:] == key[:-1]
        tied = same if tied is None else tied & same
    return True


def without_small_events(rows: Rows, system: System) -> Rows:
    """Remove the entries that a system does not count, and any events that become too small as a result."""
    if overrides(counts, system):
        rows = rows.only(counting_entries(rows, system))
    if rows.heat is None:
        bounds = run_bounds(rows.event)
        enough = ~(bounds[1:] & bounds[:-1])  # a comparison needs two
    else:
        pairs = np.unique(rows.event.astype(np.int64) * (rows.player_names.len() + 1) + rows.player)
        enough = (np.bincount(pairs // (rows.player_names.len() + 1)) > 1)[rows.event]
    if system.needs_finisher:
        finishes = finish_mask(rows.frame)
        if not finishes.all():
            enough &= (np.bincount(rows.event, weights=finishes) > 0)[rows.event]
    return rows if enough.all() else rows.only(enough)


def finish_mask(frame: pl.DataFrame) -> Mask:
    if all_finished(frame):
        return np.ones(frame.height, np.bool_)
    finishes: Mask = frame.select(~pl.col("status").is_in((*UNFINISHED_STATUS, ABSENT_STATUS))).to_series().to_numpy()
    return finishes


def counting_entries(rows: Rows, system: System) -> Mask:
    """Return a mask of the entries that a system's `counts` rule accepts."""
    time_s, score, played_s, duration_s = (number_column(rows.frame, name) for name in MEASURES)
    counting = np.empty(rows.event.size, np.bool_)
    arguments = system.arguments()[0], time_s, score, played_s, duration_s, counting
    if system.shipped:
        run_by_steps(_count_cached, counting.size, *arguments)
    else:
        _count_entries(*arguments)
    return counting


def _count_entries(params: Any, time_s: Any, score: Any, played_s: Any, duration_s: Any, counting: Any) -> None:
    for i in range(counting.size):
        entry = finisher(1.0, time_s[i], score[i], played_s[i], duration_s[i], 0.0)
        counting[i] = counts(params, entry, Heat(0.0, OTHER_MODE))


_count_cached = compile_kernel(_count_entries)


def float_column(frame: pl.DataFrame, column: str) -> Floats:
    """Return a column as floats, with NaN for empty cells. For an absent column, return an empty array."""
    return np.empty(0) if column not in frame.columns else np.ascontiguousarray(frame[column].to_numpy(), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """Row positions in another table. The positions 0, 1, 2, ... are stored in a compact form."""

    size: int
    listed: Integers | None  # None: 0, 1, 2, ...

    @classmethod
    def of(cls, positions: Integers) -> Self:
        spans = ((first, positions[first : first + PART_ROWS]) for first in range(0, positions.size, PART_ROWS))
        in_order = all((span == np.arange(first, first + span.size, dtype=span.dtype)).all() for first, span in spans)
        return cls(positions.size, None if in_order else positions)

    @property
    def array(self) -> Integers:
        return np.arange(self.size, dtype=index_type(self.size)) if self.listed is None else self.listed

    def __getitem__(self, chosen: slice | Array) -> Array:
        """Return the positions selected by a slice, a mask or non-negative numbers."""
        if self.listed is not None:
            return self.listed[chosen]
        if isinstance(chosen, slice):
            return np.arange(*chosen.indices(self.size), dtype=index_type(self.size))
        return np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen

    def at(self, number: int) -> int:
        return number if self.listed is None else int(self.listed[number])

    def are_all(self, count: int) -> bool:
        """Return True if the positions cover all `count` rows, in order."""
        return self.listed is None and self.size == count

    def take(self, values: Array) -> Array:
        """Return the values at these positions. If the positions cover all rows in order, nothing is copied."""
        return values if self.are_all(len(values)) else values[self.array]


EVENT = "event"
DAY_US = 86_400_000_000
DAYS_TO_1970 = 719_163.0  # from the day before the year 1
MONDAY = 4 * DAY_US  # 1970-01-05, because weeks start on Mondays
SHAPE = re.compile(r"([1-9][0-9]{0,3})(d|w|mo)")


def check_period(period: str) -> str:
    if period != EVENT and SHAPE.fullmatch(str(period)) is None:
        raise ParameterError(
            f'period {period!r} is not a time span. Use "event", or a number followed by d, w or mo, such as 2w.'
        )
    return period


def period_numbers(frame: pl.DataFrame, period: str) -> Integers | None:
    """Return the number of each row's rating period, counting from 1970, or None if every event is a period."""
    if check_period(period) == EVENT:
        return None
    if "started_at" not in frame.columns:
        raise ParameterError(
            f"A rating period of {period} requires the started_at column, which the results do not have."
        )
    return numbers_at(frame["started_at"], period)


def season_numbers(started_at: Integers, month: int) -> Integers:
    """Return the number of the yearly season that contains each time, in microseconds since 1970.

    Args:
        month: The month in which seasons begin, 1 to 12.
    """
    months = started_at.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64)
    return (months + 1 - month) // 12


def idle_between(earlier: Any, later: Any, system: System) -> Any:
    """Return the days or seasons, as the system counts them, between times in microseconds since 1970."""
    if system.idle_unit == "season":
        return season_numbers(later, system.season_month) - season_numbers(earlier, system.season_month)
    gap = later - earlier
    return gap / DAY_US if system.idle_unit == "time" else gap // DAY_US


def numbers_at(started_at: pl.Series, period: str) -> Integers:
    """Return the number of the period that contains each time."""
    match = SHAPE.fullmatch(period)
    count, unit = (int(match[1]), match[2]) if match else (1, "d")
    if unit == "mo":
        months = started_at.dt.year().cast(pl.Int64) * 12 + started_at.dt.month().cast(pl.Int64)
        numbers: Integers = np.floor_divide(months.to_numpy() - 1970 * 12 - 1, count)
        return numbers
    instants = started_at.cast(pl.Int64).to_numpy()
    since, days = (MONDAY, 7 * count) if unit == "w" else (0, count)
    spans: Integers = np.floor_divide(instants - since, DAY_US * days)
    return spans
