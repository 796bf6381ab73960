"""Rows that are fine at a glance, read without Polars, which takes its time for a table however small.

Nothing is refused here: whatever is not plainly fine, and whatever would be changed, is for `podium.results.reading`
to judge. What is read is to the bit what it reads.
"""

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.errors import Fault, ResultsError
from podium.results.columns import (
    ALL,
    DATE_SHAPE,
    DEFAULTS,
    EXACT,
    FOR_PAGES,
    LONGEST_URL,
    MOST_WEIGHT,
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

MOST_ROWS = 20_000
MOST_FRAME_ROWS = 500  # of a table that is Polars' own; from twice as many on it is quicker
READ = frozenset(ALL) - {"sequence", "team_score", "side"}  # rows with these are for Polars
AN_EVENT = ("started_at", "pool", "weight", *FOR_PAGES)  # one of each event; the last two may lack in some rows
MEASURES = ("position", "score", "time_s")  # any of which compares finishers
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
date_parts = re.compile(DATE_SHAPE.pattern).fullmatch


class NotPlainError(Exception):
    """The rows are not plainly fine; never seen by callers."""


class PlainRows(NamedTuple):
    """Checked rows, a list a column: those of a results table, in its order."""

    columns: dict[str, list[Any]]  # `started_at` in microseconds since 1970

    @property
    def pools(self) -> frozenset[str]:
        return frozenset(self.columns["pool"])


def read_plainly(rows: Any) -> PlainRows | None:
    """Read rows that are plainly fine; None where they are not, or are too many."""
    if isinstance(rows, pl.DataFrame) and rows.height <= MOST_FRAME_ROWS and not in_nanoseconds(rows):
        rows = rows.to_dicts()
    if not isinstance(rows, list | tuple) or len(rows) > MOST_ROWS or {*map(type, rows)} != {dict}:
        return None
    names = set[Any]().union(*rows)
    if not names <= READ:
        return None
    return check_plainly({name: [row.get(name) for row in rows] for name in names})


def check_plainly(given: Mapping[str, list[Any]]) -> PlainRows | None:
    """Check columns of rows as they came, of those in `READ`; None where they are not plainly fine.

    Args:
        given: (rows) each, one at least; None where a row has nothing.
    """
    if not given.keys() >= {*REQUIRED}:
        return None
    try:
        needed = (*REQUIRED, *TRUTHS)  # an empty truth is its default
        kept = [name for name, values in given.items() if name in needed or values.count(None) < len(values)]
        columns = {name: cells(name, given[name]) for name in kept}
        columns = {name: [default] * len(given[REQUIRED[0]]) for name, default in DEFAULTS.items()} | columns
        columns = {name: columns[name] for name in ALL if name in columns}
        refuse_contradictions(columns)
    except NotPlainError:
        return None
    return PlainRows(columns)


def in_nanoseconds(frame: pl.DataFrame) -> bool:
    """Whether a column of a frame has moments that Python cannot hold."""
    return any(getattr(kind, "time_unit", None) == "ns" for kind in frame.dtypes)


def cells(name: str, values: list[Any]) -> list[Any]:
    """The values of a column in its type, as they are stored."""
    kinds = {*map(type, values)}
    if name == "started_at":
        require(kinds == {str} or (kinds == {datetime} and all(str(each.tzinfo) == "UTC" for each in values)))
        moments = {value: microseconds(value) for value in dict.fromkeys(values)}
        return [moments[value] for value in values]
    if name in NUMBERS:
        require(kinds <= {float, int, NoneType})
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
    """Leave what is not plainly fine to others."""
    if not is_fine:
        raise NotPlainError


def require_texts(name: str, texts: Collection[str]) -> None:
    """Require names that nothing is changed in, or addresses."""
    require(name in TEXTS)
    if name == "url":
        require(all(each.isascii() and len(each) <= LONGEST_URL and is_page_address(each) for each in texts))
        return
    if not are_plain(texts):
        require(name not in SPELLINGS and all(normalise(each) == each and not refusal(each) for each in texts))
    for word, pattern in SPELLINGS.get(name, {}).items():
        require(not any(re.search(pattern, each) for each in texts if each != word))


def numbers(name: str, values: list[Any]) -> list[float | None]:
    """Finite numbers, above 0 where they must be."""
    try:
        column = np.array(values, np.float64)  # NaN for None
    except OverflowError:
        raise NotPlainError from None
    is_known = ~np.isnan(column)
    known = column[is_known]
    require(known.size == len(values) - values.count(None))
    require((np.abs(known) < EXACT).all())
    if name in POSITIVE:
        require((known > 0).all() and (name != "weight" or (known <= MOST_WEIGHT).all()))
    elif name in NOT_NEGATIVE:
        require((known >= 0).all())
    listed: list[float | None] = column.tolist()
    if known.size == column.size:
        return listed
    if name == "weight":
        return [1.0 if value is None else each for value, each in zip(values, listed, strict=True)]
    return [each if is_given else None for each, is_given in zip(listed, is_known.tolist(), strict=True)]


def microseconds(value: Any) -> int:
    """A moment, a text or in UTC, as microseconds since 1970."""
    if type(value) is datetime:
        return (value - EPOCH) // MICROSECOND
    parts = date_parts(value)
    if parts is None:
        raise NotPlainError
    day, minute, second, fraction, zone = parts.groups("")
    offset = "+00:00" if zone in ("", "Z", "z", "UTC") else zone
    clock = f"{minute or '00:00'}{second or ':00'}.{(fraction[1:] + '000000')[:6]}"
    try:
        return (datetime.fromisoformat(f"{day}T{clock}{offset}") - EPOCH) // MICROSECOND
    except (ValueError, OverflowError):
        raise NotPlainError from None


def refuse_contradictions(columns: Mapping[str, list[Any]]) -> None:
    """Require that rows which are fine alone are so together."""
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
    counts = [each == "finished" and is_ranked for each, is_ranked in zip(columns["status"], ranked, strict=True)]
    numbered = {unit: number for number, unit in enumerate(dict.fromkeys(units))}
    refuse_incomparable(columns, [numbered[unit] for unit in units], counts)


def refuse_incomparable(columns: Mapping[str, list[Any]], units: Sequence[int], counts: Sequence[bool]) -> None:
    """Require that something compares all finishers of a heat, and that no better position has a longer time."""
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
    """A table of CSV in UTF-8, every column as text, without spaces around."""
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
        remedy = "has a header whose cells are not clear: is there a quotation mark or a line's end within one?"
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
    """The rows as Python reads them, the header first; decoded as they are read."""
    text = io.TextIOWrapper(io.BytesIO(content.lstrip(b"\n\r")), "utf-8", newline="")
    try:
        yield from csv.reader(text, delimiter=delimiter, strict=strict)
    except csv.Error:
        if strict:
            raise
        raise ResultsError("the table", [Fault(None, None, None, LONG_CELL)]) from None


def header(content: bytes, table_name: str, delimiter: str) -> list[str]:
    """The names of the columns, without spaces around."""
    columns = [name.strip() for name in next(rows_of(content, delimiter))]
    refuse_wide(columns, table_name)
    refuse_repeated(columns, table_name)
    return columns


def even(content: bytes, frame: pl.DataFrame, delimiter: str) -> bool:
    """Whether every row has a cell for each column, by the number of delimiters in all: no row has more of them."""
    codes = np.frombuffer(content, np.uint8)
    marks = codes == ord(delimiter)
    if b'"' in content:
        marks &= (np.cumsum(codes == QUOTE, dtype=np.uint32) & 1) == 0  # a quote within a cell is written twice
    return int(np.count_nonzero(marks)) == (frame.width - 1) * (frame.height + 1)


def malformed_rows(content: bytes, columns: int, delimiter: str) -> Iterator[Fault]:
    """A fault for each row whose cells run together, or are more or fewer than the header's."""
    reader, row = rows_of(content, delimiter, strict=True), 0
    try:
        next(reader)
        for row, cells in enumerate(reader, start=1):
            if cells and len(cells) != columns:
                yield Fault(row, None, None, uneven(len(cells), columns, delimiter))
    except csv.Error:
        yield Fault(row + 1, None, None, "has a quotation mark that is not closed at the end of its cell; close it")


def stray_quotes(content: bytes) -> Iterator[Fault]:
    """A fault for the first row with a quotation mark in the middle of a cell, which the csv module lets pass."""
    lines = content.lstrip(b"\n\r").split(b"\n")
    row = next((row for row, line in enumerate(lines) if line.count(b'"') % 2), None)
    if row:
        yield Fault(row, None, None, "has a quotation mark in the middle of a cell; write it twice, within quotes")


def uneven(cells: int, columns: int, delimiter: str) -> str:
    """What is wrong with a row of too many cells or too few."""
    count = f"has {cells} cell{'s' * (cells != 1)}, and the header {columns}"
    mark = "a comma" if delimiter == "," else repr(delimiter)
    return f"{count}; put a text with {mark} in it in quotes" if cells > columns else f"{count}; leave none out"


def is_better_and_slower(unit: npt.NDArray[Any], position: npt.NDArray[Any], time_s: npt.NDArray[Any]) -> bool:
    """Whether any row has a better position and a longer time than the next in its unit, NaN where it has none."""
    known = ~(np.isnan(position) | np.isnan(time_s))
    order = np.lexsort((time_s[known], position[known], unit[known]))
    unit, position, time_s = (column[known][order] for column in (unit, position, time_s))
    behind = (unit[1:] == unit[:-1]) & (position[1:] != position[:-1])
    return bool((behind & (time_s[:-1] > time_s[1:])).any())
