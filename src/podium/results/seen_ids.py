"""Whether the parts of a table share the id of an event, in bounded memory: hashes of the ids, on disk where many.

The files only grow. A place of theirs that stays lets a later process go on: what stands behind the lengths of its
checkpoint is cut off.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.results.hashing import hashes_differ
from podium.support.part_files import synchronise

HELD_IDS = 1 << 20  # ids in memory; more go to files
FILES_BITS = 6  # an id's first bits choose its file
FILES = 1 << FILES_BITS
HASH, OTHER, PLACE = range(3)  # what is noted of an id, each in 64 bits
COMPARED_BYTES = 1 << 26  # of a file that are compared at a time
READ_LINES = 1 << 20
SORTED_LINES = 1 << 14  # that are brought into the order of their files at a time: a copy of all takes memory
ROW_BITS = 40  # of a place: the row, below the number of its table
Lines = npt.NDArray[np.uint64]  # (ids, 3)


class Again(NamedTuple):
    """An event that has the id of an earlier one."""

    source: int
    row: int
    first_source: int
    first_row: int


class SeenIds:
    """The ids of events, each known by two hashes of 64 bits: that two ids share both will not happen."""

    def __init__(self, folder: Path | None = None, lengths: Sequence[int] = (0,) * FILES) -> None:
        """Begin, or go on.

        Args:
            folder: where the files stay; a temporary one, once there are many ids, where None.
            lengths: of each file, in bytes, as `lengths` gave them.

        Raises:
            OSError: a file is shorter, or cannot be cut.
        """
        self._held: list[Lines] = []
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._folder = folder
        if folder is None:
            return
        folder.mkdir(exist_ok=True)
        for path, length in zip(self._files(folder), lengths, strict=True):
            if (path.stat().st_size if path.exists() else 0) < length:
                raise FileNotFoundError(f"{path}: is shorter than the checkpoint says")
            if path.exists():
                os.truncate(path, length)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()

    def add(self, ids: pl.Series, source: npt.NDArray[np.int32], row: npt.NDArray[np.int64]) -> None:
        """Take note of ids that differ among themselves, and of where each stands: (ids)."""
        place = (source.astype(np.uint64) << np.uint64(ROW_BITS)) | row.astype(np.uint64)
        self._held.append(np.stack([ids.hash(seed=0).to_numpy(), ids.hash(seed=1).to_numpy(), place], axis=1))
        if sum(map(len, self._held)) > HELD_IDS:
            self._write()

    def again(self) -> Iterator[Again]:
        """The ids that were there before; each time but the first."""
        if self._folder is None:
            yield from repeated(self._lines())
            return
        for path in self._files(self._write()):
            if path.exists():
                for lines in shares(path):
                    yield from repeated(lines)

    def lengths(self) -> list[int]:
        """Put all ids on the disk, in the folder that stays, and tell how long each file is, in bytes."""
        folder = self._write()
        paths = list(self._files(folder))
        for path in paths:
            if path.exists():
                synchronise(path)
        synchronise(folder)
        return [path.stat().st_size if path.exists() else 0 for path in paths]

    @staticmethod
    def _files(folder: Path) -> Iterator[Path]:
        return (folder / f"{number:02}" for number in range(FILES))

    def _lines(self) -> Lines:
        """What is held, which is then let go."""
        lines = np.concatenate([np.empty((0, 3), np.uint64), *self._held])
        self._held = []
        return lines

    def _write(self) -> Path:
        """Put what is held in the files; the folder they are in."""
        if self._folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="podium-")
            self._folder = Path(self._temporary.name)
        lines_by_file: list[list[Lines]] = [[] for _ in range(FILES)]
        for lines in self._held:
            for first in range(0, len(lines), SORTED_LINES):
                for of_file, some in zip(lines_by_file, by_file(lines[first : first + SORTED_LINES]), strict=True):
                    of_file.append(some)
        self._held = []
        for path, of_file in zip(self._files(self._folder), lines_by_file, strict=True):
            if any(map(len, of_file)):
                with path.open("ab") as file:
                    np.concatenate(of_file).tofile(file)
        return self._folder


def by_file(lines: Lines) -> list[Lines]:
    """The lines of each file, in their order."""
    number = (lines[:, HASH] >> np.uint64(64 - FILES_BITS)).astype(np.uint8)
    ends = np.cumsum(np.bincount(number, minlength=FILES))
    return np.split(lines.take(np.argsort(number, kind="stable"), axis=0), ends[:-1])


def shares(path: Path) -> Iterator[Lines]:
    """The lines of a file, all of one hash together, as many at a time as memory should hold."""
    size = path.stat().st_size
    bits = max(0, (size // COMPARED_BYTES).bit_length())
    if not bits:
        yield np.fromfile(path, np.uint64).reshape(-1, 3)
        return
    lines = np.memmap(path, np.uint64, mode="r").reshape(-1, 3)
    blocks = [slice(first, first + READ_LINES) for first in range(0, len(lines), READ_LINES)]
    for share in range(1 << bits):
        own = []
        for block in blocks:
            read = np.asarray(lines[block])
            own.append(read[(read[:, HASH] >> np.uint64(64 - FILES_BITS - bits)) % (1 << bits) == share])
        yield np.concatenate(own)


def repeated(lines: Lines) -> Iterator[Again]:
    """The lines whose two hashes an earlier one has."""
    if hashes_differ(lines[:, HASH]):
        return
    ordered = np.sort(lines[:, HASH])
    shared = ordered[1:][ordered[1:] == ordered[:-1]]
    suspects = np.flatnonzero(np.isin(lines[:, HASH], shared))
    first: dict[tuple[int, int], int] = {}
    for one, other, place in lines[suspects].tolist():
        earlier = first.setdefault((one, other), place)
        if earlier != place:
            yield Again(*located(place), *located(earlier))


def located(place: int) -> tuple[int, int]:
    """The number of the table and the row that a place stands for."""
    return place >> ROW_BITS, place & ((1 << ROW_BITS) - 1)
