"""Whether the parts of a table share the id of an event, in bounded memory: hashes of the ids, on disk where many."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import polars as pl

HELD_IDS = 1 << 20  # ids in memory; more go to files
FILES_BITS = 6  # an id's first bits choose its file
LINE = np.dtype([("hash", "u8"), ("other", "u8"), ("source", "u4"), ("row", "u8")])


class Again(NamedTuple):
    """An event that has the id of an earlier one."""

    source: int
    row: int
    first_source: int
    first_row: int


class SeenIds:
    """The ids of events, each known by two hashes of 64 bits: that two ids share both will not happen."""

    def __init__(self) -> None:
        self._held: list[npt.NDArray[Any]] = []
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
        lines = np.empty(ids.len(), LINE)
        lines["hash"], lines["other"] = ids.hash(seed=0).to_numpy(), ids.hash(seed=1).to_numpy()
        lines["source"], lines["row"] = source, row
        self._held.append(lines)
        if sum(each.size for each in self._held) > HELD_IDS:
            self._write()

    def again(self) -> Iterator[Again]:
        """The ids that were there before; each time but the first."""
        if self._folder is None:
            yield from repeated(np.concatenate([np.empty(0, LINE), *self._held]))
            return
        self._write()
        for path in sorted(Path(self._folder.name).iterdir()):
            yield from repeated(np.fromfile(path, LINE))

    def _write(self) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="podium-")
        lines = np.concatenate([np.empty(0, LINE), *self._held])
        self._held = []
        number = lines["hash"] >> np.uint64(64 - FILES_BITS)
        for each in np.unique(number).tolist():
            with (Path(self._folder.name) / f"{each:02}").open("ab") as file:
                lines[number == each].tofile(file)


def repeated(lines: npt.NDArray[Any]) -> Iterator[Again]:
    """The lines whose hashes an earlier one has."""
    order = np.argsort(lines["hash"], kind="stable")
    alike = np.flatnonzero(lines["hash"][order][1:] == lines["hash"][order][:-1])
    if not alike.size:
        return
    places = ("source", "row")
    suspects = lines[np.sort(np.unique(np.concatenate([order[alike], order[alike + 1]])))]
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for line in suspects:
        place = tuple(int(line[name]) for name in places)
        earlier = first.setdefault((int(line["hash"]), int(line["other"])), (place[0], place[1]))
        if earlier != place:
            yield Again(place[0], place[1], *earlier)
