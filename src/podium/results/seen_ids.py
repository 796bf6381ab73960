"""Whether the parts of a table share the id of an event, in bounded memory: hashes of the ids, on disk where many."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import polars as pl

HELD_IDS = 1 << 18  # ids in memory; more go to files
FILES_BITS = 6  # an id's first bits choose its file
HASH, OTHER, PLACE = range(3)  # what is noted of an id, each in 64 bits
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

    def __init__(self) -> None:
        self._held: list[Lines] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()

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
        self._write()
        for path in sorted(Path(self._folder.name).iterdir()):
            yield from repeated(np.fromfile(path, np.uint64).reshape(-1, 3))

    def _lines(self) -> Lines:
        """What is held, which is then let go."""
        lines = np.concatenate([np.empty((0, 3), np.uint64), *self._held])
        self._held = []
        return lines

    def _write(self) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="podium-")
        lines = self._lines()
        number = (lines[:, HASH] >> np.uint64(64 - FILES_BITS)).astype(np.uint8)
        order = np.argsort(number, kind="stable")
        lines, ends = lines[order], np.cumsum(np.bincount(number, minlength=1 << FILES_BITS))
        for each, (first, end) in enumerate(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)):
            with (Path(self._folder.name) / f"{each:02}").open("ab") as file:
                lines[first:end].tofile(file)


def repeated(lines: Lines) -> Iterator[Again]:
    """The lines whose two hashes an earlier one has."""
    ordered = np.sort(lines[:, HASH])
    shared = ordered[1:][ordered[1:] == ordered[:-1]]
    if not shared.size:
        return
    suspects = np.flatnonzero(np.isin(lines[:, HASH], shared))
    first: dict[tuple[int, int], int] = {}
    for one, other, place in lines[suspects].tolist():
        earlier = first.setdefault((one, other), place)
        if earlier != place:
            yield Again(*located(place), *located(earlier))


def located(place: int) -> tuple[int, int]:
    """The number of the table and the row that a place stands for."""
    return place >> ROW_BITS, place & ((1 << ROW_BITS) - 1)
