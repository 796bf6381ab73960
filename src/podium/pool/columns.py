"""Immutable columns: arrays of equal length, stored in chunks that snapshots share."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from podium.log.statements import FIRST_EQUIPMENT
from podium.support.arrays import Array

CHUNK_BITS = 13
CHUNK_ROWS = 1 << CHUNK_BITS  # a change copies at most one chunk, and an append usually none
NONE = -1  # stands for "no number" in a column of row numbers or of other numbers from 0
FEW_ROWS = 4  # if chunks have up to this many rows to read on average, these are read one by one
PART_BYTES, PART_CHUNKS = 1 << 22, 8  # maximum size of a stored part

Chunk = Mapping[str, Array]
Part = Mapping[str, Array]  # columns of a table that are stored together


class Columns:
    """Arrays of equal length, in chunks of `CHUNK_ROWS` rows that never change.

    A method that changes rows returns a new object. The new object shares every unchanged chunk with the old one, so
    readers of the old object need no lock.
    """

    __slots__ = ("_chunks", "_room", "_types", "size", "trunk")

    def __init__(
        self,
        types: Mapping[str, Any],
        chunks: tuple[Chunk, ...] = (),
        size: int = 0,
        room: Iterable[Chunk] = (),
        trunk: object = None,
    ) -> None:
        self._types = {name: np.dtype(kind) for name, kind in types.items()}
        self._chunks, self.size = chunks, size
        self._room = iter(room)  # the memory of the last chunk, with room for more rows; the first append takes it
        # of two objects with the same trunk, one begins with all rows of the other; most appends keep it
        self.trunk = trunk or object()

    def memory(self) -> dict[int, int]:
        """Return the size of each array in bytes, with the room for more rows. Arrays are identified by `id`.

        Snapshots share arrays, and chunks can be views of the same array.
        """
        views = (array for chunk in self._chunks for array in chunk.values())
        return {id(owner): owner.nbytes for owner in (each if each.base is None else each.base for each in views)}

    def shares_chunks(self, other: "Columns") -> bool:
        """Return True if both have the same complete chunks, and at least one, so that they differ in less than one."""
        full = self.size >> CHUNK_BITS
        return full == other.size >> CHUNK_BITS > 0 and self._chunks[full - 1] is other._chunks[full - 1]  # noqa: SLF001

    def value(self, name: str, row: int) -> Any:
        """Return the value in one row of a column."""
        return self._chunks[row >> CHUNK_BITS][name][row & CHUNK_ROWS - 1]

    def part(self, name: str, first: int = 0, last: int | None = None) -> Array:
        """Return the values of rows `first` to `last` (exclusive) in one array.

        The array is a view if all rows are in one chunk.
        """
        last = self.size if last is None else min(last, self.size)
        if last <= first:
            return np.empty(0, self._types[name])
        begin, end = first >> CHUNK_BITS, last - 1 >> CHUNK_BITS
        parts = [chunk[name] for chunk in self._chunks[begin : end + 1]]
        parts[-1] = parts[-1][: last - (end << CHUNK_BITS)]
        parts[0] = parts[0][first - (begin << CHUNK_BITS) :]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def at(self, name: str, rows: Array) -> Array:
        """Return the values of a column in these rows, in the order of `rows`."""
        if not rows.size:
            return np.empty(0, self._types[name])
        if rows.size <= FEW_ROWS:
            return np.array([self.value(name, row) for row in rows.tolist()])
        chunks, first, last = self._chunks, int(rows.min()) >> CHUNK_BITS, int(rows.max()) >> CHUNK_BITS
        if first == last:  # `take` is ten times as fast as `[rows]` for wide rows
            return chunks[first][name].take(rows & CHUNK_ROWS - 1, axis=0)
        if rows.size <= FEW_ROWS * (last + 1 - first):
            return np.array([self.value(name, row) for row in rows.tolist()])
        number = (rows >> CHUNK_BITS).astype(np.uint16)  # numpy sorts this type in linear time
        order = np.argsort(number, kind="stable") if (number[1:] < number[:-1]).any() else None
        ordered, number = (rows, number) if order is None else (rows[order], number[order])
        bounds = [0, *(np.flatnonzero(number[1:] != number[:-1]) + 1).tolist(), rows.size]
        offsets = ordered & CHUNK_ROWS - 1
        parts = [chunks[number[start]][name].take(offsets[start:stop], axis=0) for start, stop in pairwise(bounds)]
        joined = np.concatenate(parts)
        if order is None:
            return joined
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        return joined.take(place, axis=0)

    def search(self, name: str, values: Array) -> Array:
        """Return for each value how many entries of an ascending column are less than or equal to it."""
        chunk_of = np.searchsorted([chunk[name][-1] for chunk in self._chunks], values, "right")
        found = np.full(values.size, self.size)
        for number in np.unique(chunk_of[chunk_of < len(self._chunks)]).tolist():
            chosen = chunk_of == number
            before = np.searchsorted(self._chunks[number][name], values[chosen], "right")
            found[chosen] = (number << CHUNK_BITS) + before
        return found

    def replaced_from(self, row: int, columns: Mapping[str, Any]) -> "Columns":
        """Return the columns after replacing everything from `row` on with other rows."""
        added = len(next(iter(columns.values())))
        kept, size = row >> CHUNK_BITS, row + added
        chunks = list(self._chunks[:kept])
        room: Chunk = {}
        trunk = None
        for first in range(kept << CHUNK_BITS, size, CHUNK_ROWS):
            at, stop = max(row - first, 0), min(size - first, CHUNK_ROWS)  # the first `at` rows are old
            room = next(self._room, {}) if at and row == self.size else {}
            if not room or len(next(iter(room.values()))) < stop:
                rows = min(2 * stop, CHUNK_ROWS)
                room = {name: np.empty((rows, *kind.shape), kind.base) for name, kind in self._types.items()}
                for name, array in room.items() if at else ():
                    array[:at] = self._chunks[kept][name][:at]
            else:
                trunk = self.trunk
            for name, array in room.items():
                array[at:stop] = columns[name][first + at - row : first + stop - row]
            chunk = {name: array[:stop] for name, array in room.items()}
            for array in chunk.values():
                array.flags.writeable = False
            chunks.append(chunk)
        return Columns(self._types, tuple(chunks), size, [room], trunk)

    def appended(self, columns: Mapping[str, Any]) -> "Columns":
        """Return the columns with more rows appended."""
        return self.replaced_from(self.size, columns)

    def updated(self, rows: Array, columns: Mapping[str, Any]) -> "Columns":
        """Return the columns with some rows changed. `columns` has one value for each of `rows`."""
        chunks = list(self._chunks)
        number = rows >> CHUNK_BITS
        for chunk_number in {*number.tolist()}:
            chosen = number == chunk_number
            chunk = dict(chunks[chunk_number])
            for name, values in columns.items():
                array = chunk[name].copy()
                array[rows[chosen] & CHUNK_ROWS - 1] = values[chosen]
                chunk[name] = frozen(array)
            chunks[chunk_number] = chunk
        return Columns(self._types, tuple(chunks), self.size)

    def filled_to(self, size: int, values: Mapping[str, Any]) -> "Columns":
        """Return the columns extended to `size` rows. All new rows have the same values."""
        if size <= self.size:
            return self
        new = {name: np.full(size - self.size, values[name], kind) for name, kind in self._types.items()}
        return self.appended(new)

    def parts(self) -> Iterator[Part]:
        """Yield the rows in parts of a few MB each."""
        width = sum(kind.itemsize for kind in self._types.values()) or 1
        rows = max(min(PART_BYTES // (width * CHUNK_ROWS), PART_CHUNKS), 1) * CHUNK_ROWS
        for first in range(0, self.size, rows):
            last = min(first + rows, self.size)
            yield {name: self.part(name, first, last) for name in self._types}

    def of_parts(self, parts: Iterable[Part]) -> "Columns":
        """Return columns of the same types, made from the rows of `parts`.

        Raises:
            ValueError: the parts have different types or sizes.
        """
        chunks, size = list[Chunk](), 0
        for part in parts:
            rows = len(next(iter(part.values())))
            expected = {name: (kind.base, (rows, *kind.shape)) for name, kind in self._types.items()}
            if {name: (array.dtype, array.shape) for name, array in part.items()} != expected or size % CHUNK_ROWS:
                raise ValueError("the stored columns do not match this version")
            for first in range(0, rows, CHUNK_ROWS):
                chunks.append({name: array[first : first + CHUNK_ROWS] for name, array in part.items()})
            size += rows
        return Columns(self._types, tuple(chunks), size)


def frozen(array: Array) -> Array:
    """Return a copy of an array in separate, read-only memory."""
    own = array if array.base is None and array.flags.owndata else array.copy()
    own.flags.writeable = False
    return own


def bisected(size: int, is_before: Callable[[int], bool]) -> int:
    """Return how many of the positions 0 to `size` - 1 satisfy `is_before`. These must come before all others."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if is_before(middle) else (low, middle)
    return low


# Slots number a pool's players and equipment without gaps. They are indices into columns.


def slot_of(number: int) -> int:
    """Return the slot for this number of a player or a piece of equipment in the log."""
    return 2 * number if number < FIRST_EQUIPMENT else 2 * (number - FIRST_EQUIPMENT) + 1


def slots_of(numbers: Array) -> Array:
    """Return the slots for these numbers from the log."""
    return np.where(numbers < FIRST_EQUIPMENT, 2 * numbers, 2 * (numbers - FIRST_EQUIPMENT) + 1).astype(np.int32)


def numbers_of(slots: Array) -> Array:
    """Return the numbers in the log for these slots."""
    half = slots.astype(np.int64) >> 1
    return np.where(slots & 1, half + FIRST_EQUIPMENT, half)


def is_player(slots: Array) -> Array:
    """Return a mask of the slots that belong to players."""
    found: Array = slots & 1 == 0
    return found
