"""Immutable strings, which are identified by number and can be found by their hash."""

import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from podium.pool.columns import Part

MAX_OPEN = 512  # maximum number of strings that a write copies
FEW = 16  # up to this many strings are looked up one by one
MERGE_RATIO = 4  # each level is at least this many times as large as the next
PART_TEXTS = 65_536  # number of strings that are stored at once


class Level(NamedTuple):
    """A run of consecutive strings that never change."""

    first: int  # number of the first string
    letters: bytes
    ends: Any  # (strings + 1): uint32 or uint64, the offsets of the strings into `letters`
    hashes: Any  # (strings): uint32, ascending
    numbers: Any  # (strings): int32, the string for each hash, counted from `first`

    def text(self, number: int) -> str:
        """Return the string with this number."""
        at = number - self.first
        return self.letters[self.ends[at] : self.ends[at + 1]].decode()


class Texts:
    """Strings, numbered from 0 in order of arrival. The same string can appear more than once.

    `appended` returns a new object, which shares finished levels with the old one.
    """

    __slots__ = ("_levels", "_open", "_places", "size")

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._levels: tuple[Level, ...] = ()
        self._open: tuple[str, ...] = ()
        self._places: dict[str, int] = {}
        self.size = 0
        given = [*texts]
        if given:
            self._add(given)

    def __getitem__(self, number: int) -> str:
        first = self.size - len(self._open)
        if number >= first:
            return self._open[number - first]
        return self._levels[bisect_right(self._levels, number, key=lambda level: level.first) - 1].text(number)

    def memory(self) -> dict[int, int]:
        """Return the size of each finished level in bytes.

        Levels are identified by `id`, because snapshots share them.
        """
        return {id(level): len(level.letters) + sum(array.nbytes for array in level[2:]) for level in self._levels}

    def find(self, text: str) -> int:
        """Return the number most recently assigned to a string, or -1 if the string is unknown."""
        place = self._places.get(text)
        if place is not None:
            return place
        if not self._levels:
            return -1
        key = zlib.crc32(text.encode())
        for level in reversed(self._levels):
            at = int(level.hashes.searchsorted(np.uint32(key), "right")) - 1
            while at >= 0 and level.hashes[at] == key:
                number = level.first + int(level.numbers[at])
                if level.text(number) == text:
                    return int(number)
                at -= 1
        return -1

    def find_all(self, texts: Sequence[str]) -> list[int]:
        """Return the number most recently assigned to each string, or -1 if it is unknown."""
        if len(texts) <= FEW:
            return [*map(self.find, texts)]
        found = [self._places.get(text, -1) for text in texts]
        keys = np.fromiter((zlib.crc32(text.encode()) for text in texts), np.uint32, len(texts))
        may_be_known = np.zeros(keys.size, np.bool_)
        for level in self._levels:
            at = np.maximum(np.searchsorted(level.hashes, keys, "right") - 1, 0)
            may_be_known |= level.hashes[at] == keys
        for place in np.flatnonzero(may_be_known).tolist():
            found[place] = self.find(texts[place])
        return found

    def appended(self, texts: Sequence[str]) -> "Texts":
        """Return a new object with these strings appended."""
        if not texts:
            return self
        new = Texts()
        new._levels, new._open, new._places, new.size = self._levels, self._open, self._places, self.size
        new._add(texts)
        return new

    def _add(self, texts: Sequence[str]) -> None:
        self._open = (*self._open, *texts)
        self.size += len(texts)
        if len(self._open) <= MAX_OPEN:
            self._places = self._places | dict(zip(texts, range(self.size - len(texts), self.size), strict=True))
            return
        level = level_of(self.size - len(self._open), self._open)
        levels = [*self._levels]
        while levels and levels[-1].numbers.size < MERGE_RATIO * level.numbers.size:
            below = levels.pop()
            level = joined(below, level)
        self._levels, self._open, self._places = (*levels, level), (), {}

    def parts(self) -> Iterator[Part]:
        """Yield the strings with their hashes, in parts of a few MB each."""
        begun = [level_of(self.size - len(self._open), self._open)] if self._open else []
        for level in (*self._levels, *begun):
            for first in range(0, level.numbers.size, PART_TEXTS):
                some, stop = slice(first, first + PART_TEXTS), min(first + PART_TEXTS, level.numbers.size)
                letters = level.letters[level.ends[first] : level.ends[stop]]
                yield {
                    "first": np.array([level.first]), "letters": np.frombuffer(letters, np.uint8),
                    "ends": level.ends[1:][some], "hashes": level.hashes[some], "numbers": level.numbers[some],
                }  # fmt: skip

    def of_parts(self, parts: Iterable[Part]) -> "Texts":
        """Return the strings that are stored in `parts`."""
        new, levels = Texts(), []
        for first, group in groupby(parts, lambda part: int(part["first"][0])):
            some = [*group]
            letters = b"".join(part["letters"].tobytes() for part in some)
            ends, hashes, numbers = (
                np.concatenate([part[name] for part in some]) for name in ("ends", "hashes", "numbers")
            )
            levels.append(Level(first, letters, np.concatenate([[0], ends]).astype(ends.dtype), hashes, numbers))
            new.size += numbers.size
        new._levels = tuple(levels)
        return new


def level_of(first: int, texts: Sequence[str]) -> Level:
    """Return a level of strings, numbered from `first` on."""
    encoded = [text.encode() for text in texts]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    hashes = np.fromiter(map(zlib.crc32, encoded), np.uint32, len(encoded))
    return sorted_level(first, b"".join(encoded), np.concatenate([[0], np.cumsum(lengths)]), hashes)


def joined(one: Level, other: Level) -> Level:
    """Return a single level that combines two consecutive ones."""
    hashes = np.empty(one.numbers.size + other.numbers.size, np.uint32)
    hashes[one.numbers], hashes[one.numbers.size + other.numbers] = one.hashes, other.hashes
    ends = np.concatenate([one.ends, other.ends[1:] + one.ends[-1]])
    return sorted_level(one.first, one.letters + other.letters, ends, hashes)


def sorted_level(first: int, letters: bytes, ends: Any, hashes: Any) -> Level:
    """Return a level made from hashes that are in the order of the strings."""
    order = np.argsort(hashes, kind="stable").astype(np.int32)
    kind = np.uint32 if len(letters) < 1 << 32 else np.uint64
    return Level(first, letters, ends.astype(kind), hashes[order], order)
