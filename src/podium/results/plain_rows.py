"""A few rows that are fine at a glance, read without Polars, which takes its time for a table however small.

Nothing is refused here: whatever is not plainly fine, and whatever would be changed, is for `podium.results.reading`
to judge. What is read is to the bit what it reads.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl

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
)
from podium.results.names import NOT_PLAIN, is_page_address, normalise, refusal

MOST_ROWS = 500  # from twice as many on, Polars is quicker
READ = frozenset(ALL) - {"sequence", "team_score"}  # rows with these are for Polars
AN_EVENT = ("started_at", "pool", "weight", *FOR_PAGES)  # one of each event; the last two may lack in some rows
MEASURES = ("position", "score", "time_s")  # any of which compares finishers
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
needs_a_look = re.compile(NOT_PLAIN).search
date_parts = re.compile(DATE_SHAPE.pattern).fullmatch


class NotPlainError(Exception):
    """The rows are not plainly fine; never seen by callers."""


class PlainRows(NamedTuple):
    """Checked rows, a list a column: those of a results table, in its order."""

    columns: dict[str, list[Any]]  # `started_at` in microseconds since 1970

    @property
    def pools(self) -> frozenset[str]:
        """The pools of the rows."""
        return frozenset(self.columns["pool"])


def read_plainly(rows: Any) -> PlainRows | None:
    """Read rows that are plainly fine; None where they are not, or are too many.

    Args:
        rows: dicts, or a frame of Polars.

    Returns:
        What `podium.results.reading.read_table` reads of them.
    """
    if isinstance(rows, pl.DataFrame) and rows.height <= MOST_ROWS and not in_nanoseconds(rows):
        rows = rows.to_dicts()
    if not isinstance(rows, list | tuple) or not 0 < len(rows) <= MOST_ROWS:
        return None
    if not all(type(row) is dict and row.keys() <= READ for row in rows):
        return None
    try:
        given = {name: [row.get(name) for row in rows] for name in ALL if any(name in row for row in rows)}
        columns = {name: cells(name, values) for name, values in given.items() if has_value(name, values)}
        if any(name not in columns for name in REQUIRED):
            return None
        columns = {name: [default] * len(rows) for name, default in DEFAULTS.items()} | columns
        columns = {name: columns[name] for name in ALL if name in columns}
        refuse_contradictions(columns)
    except NotPlainError:
        return None
    return PlainRows(columns)


def in_nanoseconds(frame: pl.DataFrame) -> bool:
    """Whether a column of a frame has moments that Python cannot hold."""
    return any(getattr(kind, "time_unit", None) == "ns" for kind in frame.dtypes)


def has_value(name: str, values: Sequence[Any]) -> bool:
    """Whether a column says anything; an empty truth is read as its default."""
    return name in (*REQUIRED, *TRUTHS) or any(value is not None for value in values)


def cells(name: str, values: list[Any]) -> list[Any]:
    """The values of a column in its type, as they are stored.

    Raises:
        NotPlainError: one of them is to be looked at.
    """
    if name == "started_at":
        moments = {value: microseconds(value) for value in dict.fromkeys(map(as_key, values))}
        return [moments[as_key(value)] for value in values]
    if name == "weight":
        return [1.0 if value is None else number(name, value) for value in values]
    if name in NUMBERS:
        return [None if value is None else number(name, value) for value in values]
    if name in TRUTHS:
        require(all(value is None or type(value) is bool for value in values))
        return [name == "ranked" if value is None else value for value in values]
    if name == "status":
        require(all(value is None or (type(value) is str and value in STATUSES) for value in values))
        return [DEFAULTS["status"] if value is None else value for value in values]
    for value in dict.fromkeys(map(as_key, values)):
        require_text(name, value)
    return values


def require(is_fine: object) -> None:
    """Leave what is not plainly fine to others.

    Raises:
        NotPlainError: it is not.
    """
    if not is_fine:
        raise NotPlainError


def as_key(value: Any) -> Any:
    """A value of a type that tells equal ones apart from others; True is no text."""
    require(value is None or type(value) is str or type(value) is datetime)
    return value


def require_text(name: str, value: Any) -> None:
    """Require a name that nothing is changed in, or an address.

    Raises:
        NotPlainError: it is none.
    """
    if value is None and name not in (*REQUIRED, "pool"):
        return
    require(type(value) is str and name in TEXTS)
    if name == "url":
        require(value.isascii() and len(value) <= LONGEST_URL and is_page_address(value))
        return
    if needs_a_look(value):
        require(name not in SPELLINGS and normalise(value) == value and not refusal(value))
    spellings = SPELLINGS.get(name, {})
    require(value in spellings or not any(re.search(pattern, value) for pattern in spellings.values()))


def number(name: str, value: Any) -> float:
    """A finite number, above 0 where it must be.

    Raises:
        NotPlainError: it is none.
    """
    require(type(value) is float or type(value) is int)
    require(-EXACT < value < EXACT)
    if name in POSITIVE:
        require(value > 0 and (name != "weight" or value <= MOST_WEIGHT))
    elif name in NOT_NEGATIVE:
        require(value >= 0)
    return float(value)


def microseconds(value: Any) -> int:
    """A moment as microseconds since 1970, UTC.

    Raises:
        NotPlainError: it has to be looked at.
    """
    if type(value) is datetime:
        require(str(value.tzinfo) == "UTC")
        return (value - EPOCH) // MICROSECOND
    parts = date_parts(value) if type(value) is str else None
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
    """Require that rows which are fine alone are so together.

    Raises:
        NotPlainError: two of them are to be looked at.
    """
    events, nothing = columns["event_id"], [None] * len(columns["event_id"])
    for name in AN_EVENT:
        if name in columns:
            pairs = {pair for pair in zip(events, columns[name], strict=True) if pair[1] is not None}
            require(len(pairs) == len({event for event, _ in pairs}))
    units = [*zip(events, columns.get("heat", nothing), strict=True)]
    require(len({*zip(units, columns["player"], strict=True)}) == len(units))
    if "mode" in columns:
        require(len({*zip(units, columns["mode"], strict=True)}) == len({*units}))
    ranked = columns.get("ranked") or [True] * len(units)
    finishes = [each == "finished" and counts for each, counts in zip(columns["status"], ranked, strict=True)]
    measures = [columns.get(name, nothing) for name in MEASURES]
    of_unit: dict[Any, list[tuple[Any, ...]]] = {}
    for unit, finished, *measured in zip(units, finishes, *measures, strict=True):
        if finished:
            of_unit.setdefault(unit, []).append(tuple(measured))
    for finishers in of_unit.values():
        require_comparable(finishers)


def require_comparable(finishers: Sequence[tuple[Any, ...]]) -> None:
    """Require that something compares all finishers of a heat, and that no better position has a longer time.

    Args:
        finishers: position, score and time of each, or None.

    Raises:
        NotPlainError: it is not so.
    """
    require(len(finishers) == 1 or any(None not in measured for measured in zip(*finishers, strict=True)))
    both: Iterable[tuple[float, float]] = sorted(
        (position, time_s) for position, _, time_s in finishers if position is not None and time_s is not None
    )
    require(all(one[0] == two[0] or one[1] <= two[1] for one, two in pairwise(both)))
