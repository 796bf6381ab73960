"""Read simple valid rows without Polars, which is slow for small tables.

No row is rejected here. `podium.results.reading` handles rows that need a change or are not obviously valid. Both
modules give exactly the same result.
"""

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.errors import Fault, ResultsError
from podium.results.columns import (
    ALL,
    DEFAULTS,
    EXACT,
    FILLED,
    FOR_PAGES,
    MAX_URL,
    MAX_WEIGHT,
    NOT_NEGATIVE,
    NUMBERS,
    POSITIVE,
    REQUIRED,
    SPELLINGS,
    STATUSES,
    TEXTS,
    TRUTHS,
    refuse_repeated,
    refuse_wide,
)
from podium.results.names import are_plain, is_page_address, normalise, refusal
from podium.support.arrays import Array

MAX_ROWS = 20_000
MAX_FRAME_ROWS = 500  # maximum rows of a Polars table; from twice as many on, Polars is faster
READ = frozenset(ALL) - {"sequence", "team_score", "side", "birth_year"}  # rows with other columns need Polars
# one value per event; the last two may be missing in some of its rows
AN_EVENT = ("started_at", "pool", "weight", *FOR_PAGES)
MEASURES = ("position", "score", "time_s")  # each of these can compare finishers
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
# dates that Python reads as `DATE_SHAPE` does; it takes an offset right after the day for a time
is_date = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?").fullmatch


class NotPlainError(Exception):
    """The rows are not simple. This error never leaves this module."""


class PlainRows(NamedTuple):
    """Checked rows, stored as one list per column, in the order of a results table."""

    columns: dict[str, list[Any]]  # `started_at` in microseconds since 1970

    @property
    def pools(self) -> frozenset[str]:
        return frozenset(self.columns["pool"])


def read_plainly(rows: Any) -> PlainRows | None:
    """Read rows if they are simple. Return None if they are not simple, or if there are too many."""
    if isinstance(rows, pl.DataFrame) and rows.height <= MAX_FRAME_ROWS and not in_nanoseconds(rows):
        rows = rows.to_dicts()
    if not isinstance(rows, list | tuple) or len(rows) > MAX_ROWS or {*map(type, rows)} != {dict}:
        return None
    names = set[Any]().union(*rows)
    if not names <= READ:
        return None
    return check_plainly({name: [row.get(name) for row in rows] for name in names})


def check_plainly(given: Mapping[str, list[Any]]) -> PlainRows | None:
    """Check the columns of rows. All columns must be in `READ`. Return None if the rows are not simple.

    Args:
        given: the columns, as lists of equal length with at least one row. A missing value is None.
    """
    if not given.keys() >= {*REQUIRED}:
        return None
    try:
        needed = (*REQUIRED, *TRUTHS, "handicap")  # an empty cell gets the default
        kept = [name for name, values in given.items() if name in needed or values.count(None) < len(values)]
        columns = {name: cells(name, given[name]) for name in kept}
        columns = {name: [default] * len(given[REQUIRED[0]]) for name, default in DEFAULTS.items()} | columns
        columns = {name: columns[name] for name in ALL if name in columns}
        refuse_contradictions(columns)
    except NotPlainError:
        return None
    return PlainRows(columns)


def in_nanoseconds(frame: pl.DataFrame) -> bool:
    """Return True if a frame contains times that Python cannot represent."""
    return any(getattr(kind, "time_unit", None) == "ns" for kind in frame.dtypes)


def cells(name: str, values: list[Any]) -> list[Any]:
    """Return the converted values of a column."""
    kinds = {*map(type, values)}
    if name == "started_at":
        require(kinds == {str} or (kinds == {datetime} and all(str(value.tzinfo) == "UTC" for value in values)))
        moments = {value: microseconds(value) for value in dict.fromkeys(values)}
        return [moments[value] for value in values]
    if name in NUMBERS:
        require(kinds <= {float, int, NoneType})
        return numbers(name, values)
    if name == "handicap":
        require(kinds <= {float, int, NoneType} or kinds <= {bool, NoneType})
        return numbers(name, values)
    if name in TRUTHS:
        require(kinds <= {bool, NoneType})
        return [name == "ranked" if value is None else value for value in values]
    if name == "status":
        require(kinds <= {str, NoneType})
        distinct = {*values}
        require(distinct <= {*STATUSES, None})
        return values if None not in distinct else [value or DEFAULTS["status"] for value in values]
    require(kinds == {str} or (kinds == {str, NoneType} and name not in (*REQUIRED, "pool")))
    require_texts(name, [value for value in dict.fromkeys(values) if value is not None])
    return values


def require(is_fine: object) -> None:
    """Raise an error unless a condition holds, so that other functions handle the rows."""
    if not is_fine:
        raise NotPlainError


def require_texts(name: str, texts: Collection[str]) -> None:
    """Check that names or addresses need no change."""
    require(name in TEXTS)
    if name == "url":
        require(all(text.isascii() and len(text) <= MAX_URL and is_page_address(text) for text in texts))
        return
    if not are_plain(texts):
        require(name not in SPELLINGS and all(normalise(text) == text and not refusal(text) for text in texts))
    for word, pattern in SPELLINGS.get(name, {}).items():
        require(not any(re.search(pattern, text) for text in texts if text != word))


def numbers(name: str, values: list[Any]) -> list[float | None]:
    """Return numbers, after checking that they are finite and, for some columns, positive."""
    try:
        column = np.array(values, np.float64)  # NaN means None
    except OverflowError:
        raise NotPlainError from None
    is_known = ~np.isnan(column)
    known = column[is_known]
    require(known.size == len(values) - values.count(None))
    require((np.abs(known) < EXACT).all())
    if name in POSITIVE:
        require((known > 0).all() and (name != "weight" or (known <= MAX_WEIGHT).all()))
    elif name in NOT_NEGATIVE:
        require((known >= 0).all())
    listed: list[float | None] = column.tolist()
    if known.size == column.size:
        return listed
    if name in FILLED:
        return [FILLED[name] if value is None else number for value, number in zip(values, listed, strict=True)]
    return [number if is_given else None for number, is_given in zip(listed, is_known.tolist(), strict=True)]


def microseconds(value: Any) -> int:
    """Convert a string or a UTC datetime to microseconds since 1970."""
    if type(value) is datetime:
        return (value - EPOCH) // MICROSECOND
    require(is_date(value))
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise NotPlainError from None
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND


def refuse_contradictions(columns: Mapping[str, list[Any]]) -> None:
    """Check that valid rows do not contradict each other."""
    events = columns["event_id"]
    for name in AN_EVENT:
        if name in columns and len({*columns[name]}) > 1:
            pairs = {pair for pair in {*zip(events, columns[name], strict=True)} if pair[1] is not None}
            require(len(pairs) == len({event for event, _ in pairs}))
    units = [*zip(events, columns["heat"], strict=True)] if "heat" in columns else events
    require(len({*zip(units, columns["player"], strict=True)}) == len(units))
    if "mode" in columns:
        require(len({*zip(units, columns["mode"], strict=True)}) == len({*units}))
    ranked = columns.get("ranked") or [True] * len(units)
    counts = [status == "finished" and is_ranked for status, is_ranked in zip(columns["status"], ranked, strict=True)]
    numbered = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    refuse_incomparable(columns, [numbered[unit] for unit in units], counts)


def refuse_incomparable(columns: Mapping[str, list[Any]], units: Sequence[int], counts: Sequence[bool]) -> None:
    """Check that all finishers in a heat can be compared, and that no better position has a longer time."""
    measures = [columns[name] for name in MEASURES if name in columns]
    if all(None in measured for measured in measures):
        of_unit: dict[int, list[tuple[Any, ...]]] = {}
        for unit, is_counted, *measured in zip(units, counts, *measures, strict=True):
            if is_counted:
                of_unit.setdefault(unit, []).append(tuple(measured))
        for finishers in of_unit.values():
            require(len(finishers) == 1 or any(None not in measured for measured in zip(*finishers, strict=True)))
    if "position" in columns and "time_s" in columns:
        position, time_s = (np.array(columns[name], np.float64) for name in ("position", "time_s"))
        counting = np.array(counts)
        require(not is_better_and_slower(np.array(units)[counting], position[counting], time_s[counting]))


QUOTE = ord('"')
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def from_csv(content: bytes, table_name: str, delimiter: str = ",", header_row: int = 0) -> pl.DataFrame:
    """Return a table from CSV in UTF-8. Every column contains stripped strings."""
    columns = header(content, table_name, delimiter)
    try:
        frame = pl.read_csv(io.BytesIO(content), infer_schema=False, separator=delimiter)
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        fallback = Fault(None, None, None, f"is not well-formed CSV ({reason})")
        faults = [*malformed_rows(content, len(columns), delimiter)] or [*stray_quotes(content)] or [fallback]
        raise ResultsError(table_name, counted_from(faults, header_row)) from None
    if frame.width > 1 and frame.to_series(frame.width - 1).null_count() and not even(content, frame, delimiter):
        faults = list(malformed_rows(content, len(columns), delimiter))
        if faults:
            raise ResultsError(table_name, counted_from(faults, header_row))
    if frame.width != len(columns):
        remedy = "has a header whose cells are unclear: is there a quotation mark or a line break within one?"
        raise ResultsError.whole(table_name, remedy)
    frame.columns = columns
    return frame.with_columns(pl.all().str.strip_chars())


def counted_from(faults: list[Fault], header_row: int) -> list[Fault]:
    return [fault if fault.row is None else fault._replace(row=fault.row + header_row) for fault in faults]


LONG_CELL = (
    f"has a cell of more than {csv.field_size_limit():,} characters. Shorten it, or close the quotation mark where it "
    "begins"
)


def rows_of(content: bytes, delimiter: str, *, strict: bool = False) -> Iterator[list[str]]:
    """Yield rows as Python's csv module parses them, starting with the header.

    The content is decoded during reading.
    """
    text = io.TextIOWrapper(io.BytesIO(content.lstrip(b"\n\r")), "utf-8", newline="")
    try:
        yield from csv.reader(text, delimiter=delimiter, strict=strict)
    except csv.Error:
        if strict:
            raise
        raise ResultsError("the table", [Fault(None, None, None, LONG_CELL)]) from None


def header(content: bytes, table_name: str, delimiter: str) -> list[str]:
    """Return the names of the columns, stripped."""
    columns = [name.strip() for name in next(rows_of(content, delimiter))]
    refuse_wide(columns, table_name)
    refuse_repeated(columns, table_name)
    return columns


def even(content: bytes, frame: pl.DataFrame, delimiter: str) -> bool:
    """Return True if every row has one cell per column, based on the total number of delimiters."""
    codes = np.frombuffer(content, np.uint8)
    marks = codes == ord(delimiter)
    if b'"' in content:
        marks &= (np.cumsum(codes == QUOTE, dtype=np.uint32) & 1) == 0  # a quotation mark within a cell is doubled
    return int(np.count_nonzero(marks)) == (frame.width - 1) * (frame.height + 1)


def malformed_rows(content: bytes, columns: int, delimiter: str) -> Iterator[Fault]:
    """Yield one error for each row that has too many or too few cells, or cells that run together."""
    reader, row = rows_of(content, delimiter, strict=True), 0
    try:
        next(reader)
        for row, cells in enumerate(reader, start=1):
            if cells and len(cells) != columns:
                yield Fault(row, None, None, uneven(len(cells), columns, delimiter))
    except csv.Error:
        yield Fault(
            row + 1, None, None, "contains a quotation mark that is not closed at the end of its cell; close it"
        )


def stray_quotes(content: bytes) -> Iterator[Fault]:
    """Yield an error for the first row that has a quotation mark inside a cell, which the csv module would accept."""
    lines = content.lstrip(b"\n\r").split(b"\n")
    row = next((row for row, line in enumerate(lines) if line.count(b'"') % 2), None)
    if row:
        yield Fault(
            row, None, None, "contains a quotation mark in the middle of a cell; double it, and put the cell in quotes"
        )


def uneven(cells: int, columns: int, delimiter: str) -> str:
    """Describe what is wrong with a row that has too many or too few cells."""
    count = f"has {cells} cell{'s' * (cells != 1)}, but the header has {columns}"
    mark = "a comma" if delimiter == "," else repr(delimiter)
    return f"{count}; put text that contains {mark} in quotes" if cells > columns else f"{count}; do not leave any out"


def is_better_and_slower(unit: Array, position: Array, time_s: Array) -> bool:
    """Return True if a row has a better position, but a longer time, than the next row of the same unit.

    NaN means unknown.
    """
    known = ~(np.isnan(position) | np.isnan(time_s))
    order = np.lexsort((time_s[known], position[known], unit[known]))
    unit, position, time_s = (column[known][order] for column in (unit, position, time_s))
    behind = (unit[1:] == unit[:-1]) & (position[1:] != position[:-1])
    return bool((behind & (time_s[:-1] > time_s[1:])).any())
