"""Tables larger than memory: read slice by slice, the next one while the last is rated."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.errors import Fault, ResultsError
from podium.large import is_folder, is_parquet
from podium.results.columns import ALL
from podium.results.consistency import Places, contradictions
from podium.results.hashing import Numbered, hashes_differ, number_runs
from podium.results.reading import PARQUET_ERRORS, Results, first_line, loaded, refuse
from podium.support.part_files import synchronise

SLICE_ROWS = 1 << 19  # a multiple of the row groups that Polars and Arrow write
FEW_ROWS = 1 << 17  # files of a folder are put together up to so many
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # how a folder is called whose rows have none


T = TypeVar("T")


class Slice(NamedTuple):
    """Some rows of a table as they are, unchecked."""

    frame: pl.DataFrame
    source: str  # what to call the table
    first: int  # how many rows of the table stand before


Rows = tuple[pl.DataFrame, Places]
SOURCE, ROW = " source", " row"  # columns of a row's place: no column of results begins with a blank


def with_places(frame: pl.DataFrame, places: Places) -> pl.DataFrame:
    return frame.with_columns(pl.Series(SOURCE, places.source), pl.Series(ROW, places.row))


def without_places(frame: pl.DataFrame, sources: list[str]) -> Rows:
    return frame.drop(SOURCE, ROW), Places(sources, frame[SOURCE].to_numpy(), frame[ROW].to_numpy())


class Position(NamedTuple):
    file: str  # as slices name it
    row: int  # the first that is not read


def grouped_slices(source: Any, position: Position | None = None) -> Iterator[list[Slice]]:
    """A table, or several one after the other, slice by slice; small files of a folder together."""
    if is_folder(source):
        yield from together(read_ahead(of_folder(Path(source), position)))
        return
    if position is not None:
        yield from ([part] for part in read_ahead(of_parquet(Path(source), position.file, first=position.row)))
        return
    if is_several(source):
        for number, each in enumerate(source, start=1):
            named = isinstance(each, str | Path | Results)
            for group in grouped_slices(each):
                yield group if named else [part._replace(source=f"part {number}") for part in group]
        return
    yield from ([part] for part in slices_of_table(source))


def slices_of_table(source: Any) -> Iterator[Slice]:
    if is_parquet(source):
        yield from read_ahead(of_parquet(Path(source), Path(source).name))
    elif isinstance(source, pl.LazyFrame):
        yield from read_ahead(of_lazy(source, "results"))
    else:
        frame, name = (source.frame, source.source) if isinstance(source, Results) else loaded(source, None)
        for first in range(0, frame.height, SLICE_ROWS):
            yield Slice(frame[first : first + SLICE_ROWS], name, first)


def is_several(source: Any) -> bool:
    """Whether it is an iterable of tables rather than one: frames have columns, files are read, rows are dicts."""
    if isinstance(source, str | Path | Results | pl.LazyFrame) or hasattr(source, "columns") or hasattr(source, "read"):
        return False
    rows = isinstance(source, list | tuple) and len(source) > 0 and isinstance(source[0], dict)
    return isinstance(source, Iterable) and not rows


def parquet_files(folder: Path) -> dict[str, Path]:
    """A folder's Parquet files in the order of reading, by what they are called: their paths within it."""
    files = sorted(path for path in folder.rglob("*.parquet") if path.is_file())
    if not files:
        raise ResultsError.whole(str(folder), "is a folder without a Parquet file")
    return {path.relative_to(folder).as_posix(): path for path in files}


def of_folder(folder: Path, position: Position | None) -> Iterator[Callable[[], Slice]]:
    """How to read each slice of a folder's Parquet files; `NAME=VALUE` of a folder in it is a column of its files."""
    files = parquet_files(folder)
    names = list(files)
    first = 0 if position is None else names.index(position.file)
    for name in names[first:]:
        pairs = [part.split("=", 1) for part in Path(name).parts[:-1] if "=" in part]
        columns = {column: None if value == NO_VALUE else unquote(value) for column, value in pairs if column in ALL}
        row = position.row if position is not None and name == position.file else 0
        yield from of_parquet(files[name], name, columns, row)


def of_parquet(
    path: Path, name: str, columns: dict[str, str | None] | None = None, first: int = 0
) -> Iterator[Callable[[], Slice]]:
    try:
        table = pl.scan_parquet(path, hive_partitioning=False)
        missing = (columns or {}).keys() - table.collect_schema().names()
        constants = [pl.lit(value, pl.String).alias(each) for each, value in (columns or {}).items() if each in missing]
        yield from of_lazy(table, name, constants, first)
    except OSError as error:
        raise ResultsError.whole(name, f"cannot be read ({error.strerror or error})") from None
    except PARQUET_ERRORS as error:
        raise ResultsError.whole(name, f"is not a Parquet file ({first_line(error)})") from None


def of_lazy(
    table: pl.LazyFrame, name: str, constants: Iterable[pl.Expr] = (), first: int = 0
) -> Iterator[Callable[[], Slice]]:
    height = table.select(pl.len()).collect().item()
    for row in range(first, height, SLICE_ROWS):
        yield partial(read_slice, table, name, row, list(constants))


def read_slice(table: pl.LazyFrame, name: str, first: int, constants: list[pl.Expr]) -> Slice:
    try:
        return Slice(table.slice(first, SLICE_ROWS).collect().with_columns(constants), name, first)
    except PARQUET_ERRORS as error:
        raise ResultsError.whole(name, f"cannot be read from row {first + 1} on ({first_line(error)})") from None


def read_ahead(reads: Iterator[Callable[[], T]]) -> Iterator[T]:
    """What each of `reads` returns, the next one read meanwhile."""
    thread = ThreadPoolExecutor(1)
    coming: Future[T] | None = None
    try:
        for read in reads:
            ready, coming = coming, thread.submit(read)
            if ready is not None:
                yield ready.result()
        if coming is not None:
            yield coming.result()
    finally:  # Python's collector may end this, in a thread that holds what joining takes: it would wait for ever
        thread.shutdown(wait=False)


def together(parts: Iterator[Slice]) -> Iterator[list[Slice]]:
    """Neighbours put together until they have rows enough."""
    group: list[Slice] = []
    for part in parts:
        group.append(part)
        if sum(each.frame.height for each in group) >= FEW_ROWS:
            yield group
            group = []
    if group:
        yield group


HELD_IDS = 1 << 20  # ids in memory; more go to files
FILES_BITS = 6  # an id's first bits choose its file
FILES = 1 << FILES_BITS
HASH, OTHER, PLACE = range(3)  # what is noted of an id, each in 64 bits
COMPARED_BYTES = 1 << 26  # of a file that are compared at a time
READ_LINES = 1 << 20
SORTED_LINES = 1 << 14  # that are brought into the order of their files at a time: a copy of all takes memory
ROW_BITS = 40  # of a place: the row, below the number of its table
Lines = npt.NDArray[np.uint64]  # (ids, 3)
Again = tuple[int, int, int, int]  # of an id that was there before: its table and row, and where it was first
SPLIT = "is the id of an event that {}, row {}, begins; the rows of an event stand together, and an id is used once"


class SeenIds:
    """The ids of events, each known by two hashes of 64 bits: that two ids share both will not happen."""

    def __init__(self, folder: Path | None = None, lengths: Sequence[int] = (0,) * FILES) -> None:
        """Begin, or go on.

        Args:
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

    def __exit__(self, *_: object) -> None:
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
            lines, self._held = np.concatenate([np.empty((0, 3), np.uint64), *self._held]), []
            yield from repeated(lines)
            return
        for path in self._files(self._write()):
            if path.exists():
                for lines in shares(path):
                    yield from repeated(lines)

    def refuse_again(self, sources: list[str]) -> None:
        """Refuse ids that were there before, by where they stand."""
        again = (
            Fault(row + 1, "event_id", None, SPLIT.format(sources[other], first + 1), file=sources[number])
            for number, row, other, first in self.again()
        )
        refuse(sources[-1] if sources else "results", again)

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
            yield *located(place), *located(earlier)


def located(place: int) -> tuple[int, int]:
    """The number of the table and the row that a place stands for."""
    return place >> ROW_BITS, place & ((1 << ROW_BITS) - 1)


def check_events(frame: pl.DataFrame, places: Places, seen: SeenIds) -> Numbered:
    """The events of rows, which do not contradict each other and whose ids are noted."""
    numbered = number_runs(frame["event_id"])
    refuse(places.name, places.located(contradictions(frame, numbered.code)))
    first = places.of(numbered.first)
    seen.add(frame["event_id"].gather(numbered.first), first.source, first.row)
    return numbered
