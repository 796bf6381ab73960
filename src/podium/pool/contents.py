"""The results of a pool's events, stored in columns. The content of each log entry is parsed only once."""

import io
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from podium.log.content import SCHEMA, holds_player_numbers, shared_names
from podium.pool.columns import Part as StoredPart
from podium.results.columns import FILLED, REQUIRED, in_order
from podium.results.columns import UTC as INSTANT

MAX_OPEN = 512  # number of contents that stay unparsed until they are parsed together
PART_CONTENTS = 4_096  # maximum number of contents to parse together
STORED_ROWS = 65_536  # number of rows that are stored at once
Integers = Any


class Part(NamedTuple):
    """The parsed contents of consecutive log entries."""

    first: int  # number of the first content
    bounds: Integers  # (contents + 1): offsets of the contents into the rows
    frame: pl.DataFrame  # player numbers and results; null if a line has no value
    nbytes: int  # size of both in bytes

    @classmethod
    def of(cls, first: int, bounds: Integers, frame: pl.DataFrame) -> Self:
        """Return a part, including its calculated size."""
        return cls(first, bounds, frame, bounds.nbytes + int(frame.estimated_size()))

    @property
    def size(self) -> int:
        """Return the number of contents."""
        return int(self.bounds.size) - 1


class Contents:
    """The contents of events, by number, in the order of the log.

    `appended` and `extended` return a new object, which shares all parsed parts with the old one.
    """

    __slots__ = ("_open", "_parsed", "_parts", "size")

    def __init__(self) -> None:
        self._parts: tuple[Part, ...] = ()
        self._open: tuple[bytes, ...] = ()
        self._parsed: Part | None = None  # the open contents, after most of them were read together
        self.size = 0

    def memory(self) -> dict[int, int]:
        """Return the size of each part in bytes. Parts are identified by `id`, because snapshots share them."""
        parts = self._parts if self._parsed is None else (*self._parts, self._parsed)
        return {id(part): part.nbytes for part in parts} | {id(self._open): sum(map(len, self._open))}

    def appended(self, bodies: Sequence[bytes]) -> "Contents":
        """Return a new object with these contents appended. Each consists of lines of JSON, as in the log."""
        if not bodies:
            return self
        new = Contents()
        new._parts, new._open, new.size = self._parts, (*self._open, *bodies), self.size + len(bodies)
        if len(new._open) > MAX_OPEN:
            first = new.size - len(new._open)
            begins = range(0, len(new._open), PART_CONTENTS)  # the text of a whole season takes up much memory
            parts = (parsed(first + begin, new._open[begin : begin + PART_CONTENTS])[0] for begin in begins)
            new._parts, new._open = (*self._parts, *parts), ()
        return new

    def extended(self, bodies: Sequence[bytes]) -> tuple["Contents", pl.Series]:
        """Return a new object with these contents appended and parsed at once, and the date in each one's first row.

        The dates are strings, or null if a row has no date.
        """
        new, (part, dates) = Contents(), parsed(self.size - len(self._open), (*self._open, *bodies))
        new._parts, new.size = (*self._parts, part), self.size + len(bodies)
        return new, dates.tail(len(bodies))

    def numbers(self) -> Integers:
        """Return the numbers of all players and equipment, some of them several times."""
        parts = [*self._parts, *self._parsed_open()]
        columns = [column for part in parts for column in part.frame if holds_player_numbers(column.name)]
        found = (column.drop_nulls().unique().cast(pl.Int64).to_numpy() for column in columns)
        return np.concatenate([np.empty(0, np.int64), *found])

    def with_players(self, numbers: Collection[int]) -> Integers:
        """Return the numbers of the contents in which any of these players are entrants."""
        found = [np.empty(0, np.int64)]
        for part in (*self._parts, *self._parsed_open()):
            rows = part.frame["player"].is_in([*numbers]).arg_true()
            found.append(part.first + np.searchsorted(part.bounds, rows, side="right") - 1)
        return np.unique(np.concatenate(found))

    def rows(self, number: int) -> list[dict[str, Any]] | None:
        """Return the rows of an event's content, as in its lines, or None if it was parsed together with others."""
        at = number - self.size + len(self._open)
        if at < 0:
            return None
        return [json.loads(line) for line in self._open[at].splitlines()]

    def table(self, numbers: Integers, players: Any = pl.String, **values: Any) -> pl.DataFrame:
        """Return the rows of several events' contents as a results table, in the order of `numbers`.

        Args:
            numbers: the numbers of the contents, each at most once.
            players: the type of the columns with numbers of players and equipment.
            values: columns with one value per content, such as `event_id` and `started_at` (in microseconds since
                1970).
        """
        frames, found = [], []
        parts = [*self._parts, *self._parsed_open(numbers)]
        of_part = np.searchsorted([part.first for part in parts], numbers, "right") - 1
        for k in np.unique(of_part).tolist():
            part, chosen = parts[k], np.flatnonzero(of_part == k)
            local = numbers[chosen] - part.first
            begins, lengths = part.bounds[local], part.bounds[local + 1] - part.bounds[local]
            frames.append(part.frame[rows_of(begins, lengths)])
            found.append((chosen, lengths))
        if not frames:
            return pl.DataFrame(schema=dict.fromkeys((*REQUIRED, *values), pl.Null))
        frame = frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal")
        place = np.concatenate([chosen for chosen, _ in found])
        lengths = np.concatenate([lengths for _, lengths in found])
        if (place[1:] < place[:-1]).any():
            order = np.argsort(place)
            begins = (np.cumsum(lengths) - lengths)[order]
            lengths = lengths[order]
            frame = frame[rows_of(begins, lengths)]
        return as_results(frame, lengths, values, players)

    def equals(self, number: int, body: bytes) -> bool:
        """Return True if an event's content has the same results as a body, in the same order."""
        one, none = np.zeros(1, np.int64), {"event_id": [""], "started_at": np.zeros(1, np.int64)}
        return self.table(one + number, **none).equals(Contents().appended([body]).table(one, **none))

    def parts(self) -> Iterator[StoredPart]:
        """Yield the contents in parts of a few MB each."""
        parts = [*self._parts, *self._parsed_open()]
        lengths = [np.diff(part.bounds) for part in parts]
        bounds = np.concatenate([[0], *lengths]).cumsum()
        begins = np.array([bounds[part.first] for part in parts])
        first = 0
        while first < self.size:
            stop = max(int(np.searchsorted(bounds, bounds[first] + STORED_ROWS, "right")) - 1, first + 1)
            begin, end = int(bounds[first]), int(bounds[stop])
            low, high = np.searchsorted(begins, begin, "right") - 1, np.searchsorted(begins, end)
            frames = [
                part.frame[max(begin - at, 0) : end - at]
                for part, at in zip(parts[low:high], begins[low:high].tolist(), strict=True)
            ]
            frame = pl.concat(frames, how="diagonal")
            given = sorted(column.name for column in frame if column.null_count() < len(column))
            file = io.BytesIO()
            frame.select(given).write_ipc_stream(file)
            yield {"bounds": bounds[first : stop + 1] - begin, "frame": np.frombuffer(file.getvalue(), np.uint8)}
            first = stop

    def of_parts(self, parts: Iterable[StoredPart]) -> "Contents":
        """Return the contents that are stored in `parts`."""
        new, found = Contents(), list[Part]()
        for part in parts:
            found.append(Part.of(new.size, part["bounds"], pl.read_ipc_stream(part["frame"].tobytes())))
            new.size += found[-1].size
        new._parts = tuple(found)
        return new

    def _parsed_open(self, numbers: Integers | None = None) -> list[Part]:
        """Parse the open contents with these numbers, and those between them. Default: all."""
        first = self.size - len(self._open)
        wanted = np.arange(first, self.size) if numbers is None else numbers[numbers >= first]
        if not wanted.size:
            return []
        begin, end = int(wanted.min()), int(wanted.max()) + 1
        if self._parsed is None and 2 * (end - begin) > len(self._open):
            self._parsed = parsed(first, self._open)[0]
        return [self._parsed or parsed(begin, self._open[begin - first : end - first])[0]]


def parsed(first: int, bodies: Sequence[bytes]) -> tuple[Part, pl.Series]:
    """Parse consecutive contents, numbered from `first` on. Return the rows, and the date in each one's first row."""
    text = b"".join(bodies)
    for truth, number in ((b"true", b"1.0"), (b"false", b"0.0")):
        text = text.replace(b'"handicap":' + truth, b'"handicap":' + number)
    equipment = {name.decode() for name in shared_names(text)} if b'"shared:' in text else ()
    schema = {**SCHEMA, "player": pl.Int32, **dict.fromkeys(sorted(equipment), pl.Int64), "started_at": pl.String}
    del schema["event_id"]
    frame = pl.read_ndjson(io.BytesIO(text), schema=schema)
    dates = frame.drop_in_place("started_at")
    sizes = np.fromiter((body.count(b"\n") for body in bodies), np.int64, len(bodies))
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    given = pl.DataFrame([compact(column) for column in frame if column.null_count() < len(column)])
    return Part.of(first, bounds, given), dates.gather(bounds[:-1])


def compact(column: pl.Series) -> pl.Series:
    """Return a column that stores each distinct string only once."""
    return column.cast(pl.Categorical) if column.dtype == pl.String else column


def rows_of(begins: Integers, lengths: Integers) -> Integers:
    """Return the numbers of consecutive rows: for each start in `begins`, as many as `lengths` says."""
    ends = np.cumsum(lengths)
    return np.repeat(begins - ends + lengths, lengths) + np.arange(ends[-1] if ends.size else 0)


def as_results(frame: pl.DataFrame, lengths: Integers, values: Mapping[str, Any], players: Any) -> pl.DataFrame:
    """Return parsed rows as a checked results table. Each content's values are repeated in all of its rows."""
    content = np.repeat(np.arange(lengths.size), lengths)
    columns = {name: pl.Series(name, cells)[content] for name, cells in values.items()}
    columns["started_at"] = columns["started_at"].cast(INSTANT)
    for column in frame:
        name, missing = column.name, column.null_count()
        if missing == len(column):
            continue
        whole = column.cast(players if holds_player_numbers(name) else SCHEMA[name])
        columns[name] = whole.fill_null(FILLED[name]) if missing and name in FILLED else whole
    given = in_order(columns)
    others = [name for name in values if name not in given]
    return pl.DataFrame({name: columns[name] for name in (*given, *others)})
