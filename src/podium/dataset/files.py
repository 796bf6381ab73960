"""The files of a pool: what is known of each, and how they become parts that need no check but their digest."""

import hashlib
import io
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import polars as pl

from podium.errors import Fault, OutputError, ParameterError, ResultsError, needs_extra
from podium.results.columns import ALL, DEFAULTS, has_values
from podium.results.consistency import SEQUENCE, Places
from podium.results.hashing import Numbered, runs
from podium.results.long_periods import Part
from podium.results.parts import FILLED, Moments
from podium.results.reading import Results, first_line
from podium.results.slices import Slice, read_ahead
from podium.support.part_files import part_file


def is_url(uri: Any) -> bool:
    """Whether it is an address such as `s3://bucket/results` rather than a path of this machine."""
    return isinstance(uri, str) and "://" in uri


@dataclass(frozen=True, slots=True)
class Storage:
    """A folder by its path or address; it travels to other processes as that text."""

    uri: str

    def read(self, path: str) -> bytes:
        """The content of a file.

        Raises:
            OSError: there is none, or it cannot be read.
            MissingExtraError: fsspec is not installed.
        """
        if not is_url(self.uri):
            return (Path(self.uri) / path).read_bytes()
        system, root = self._remote()
        content: bytes = system.cat_file(f"{root}/{path}")
        return content

    def write(self, path: str, content: bytes) -> None:
        """Write a file, whole or not at all; one that is there is replaced.

        Raises:
            OutputError: it cannot be written.
        """
        if not is_url(self.uri):
            target = Path(self.uri) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with part_file(target, OutputError) as part:
                part.write_bytes(content)
            return
        system, root = self._remote()
        target_path = f"{root}/{path}"
        try:
            system.makedirs(target_path.rsplit("/", 1)[0], exist_ok=True)
            system.pipe_file(target_path, content)
        except OSError as error:
            raise OutputError(f"{self.uri}/{path}: cannot be written ({error})") from error

    def files(self) -> Iterator[str]:
        """The paths of all files below, in order; none where there is no such folder."""
        if not is_url(self.uri):
            top = Path(self.uri)
            yield from sorted(each.relative_to(top).as_posix() for each in top.rglob("*") if each.is_file())
            return
        system, root = self._remote()
        found = system.find(root) if system.exists(root) else []
        yield from sorted(each.removeprefix(root).lstrip("/") for each in found)

    def remove(self) -> None:
        """Remove the folder and all that is in it, if it is there."""
        if not is_url(self.uri):
            shutil.rmtree(self.uri, ignore_errors=True)
            return
        system, root = self._remote()
        if system.exists(root):
            system.rm(root, recursive=True)

    def below(self, path: str) -> str:
        """The path or address of what lies below."""
        return f"{self.uri}/{path}" if is_url(self.uri) else os.fspath(Path(self.uri) / path)

    def _remote(self) -> tuple[Any, str]:
        """The file system of the address, which fsspec keeps, and the path there."""
        with needs_extra("remote", f"reading and writing {self.uri}"):
            import fsspec  # noqa: PLC0415  (an extra)
        try:
            system, root = fsspec.core.url_to_fs(self.uri)
        except (ImportError, ValueError) as error:  # the library of its kind is missing, or there is no such kind
            raise ParameterError(f"{self.uri}: {error}") from None
        return system, str(root).rstrip("/")


def storage_at(uri: str | Path) -> Storage:
    """The folder at a path or address."""
    return Storage(uri.rstrip("/") if isinstance(uri, str) and is_url(uri) else os.path.abspath(uri))  # noqa: PTH100


LONGEST_NAME = 255  # bytes of a folder's name


@dataclass(frozen=True, slots=True)
class PartFile:
    """A file of a pool: whole events, in the order of rating, in one row group."""

    path: str  # below the dataset
    rows: int
    events: int
    bytes: int
    digest: str  # of the file's bytes


@dataclass(frozen=True, slots=True)
class PoolFiles:
    """A pool of a dataset. It travels to other processes: it holds paths and names, and no rows."""

    uri: str  # of the dataset
    name: str
    files: tuple[PartFile, ...]

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(each.rows for each in self.files)

    @property
    def events(self) -> int:
        """How many events it has."""
        return sum(each.events for each in self.files)

    def parts(self, moments: Moments) -> Iterator[Part]:
        """The parts of the pool, a file each; the rows of a file's last moment wait for the next.

        Args:
            moments: what tells apart what settles apart: instants, or rating periods.

        Raises:
            ResultsError: a file is not what was written.
        """
        reads: Iterator[Callable[[], Slice]] = (partial(read_slice, self, each) for each in self.files)
        slices = (read() for read in reads) if len(self.files) == 1 else read_ahead(reads)
        held: pl.DataFrame | None = None
        for file, whole in zip(self.files, slices, strict=True):
            frame = whole.frame if held is None else pl.concat([held, whole.frame], how="diagonal", rechunk=True)
            end = frame.height if file is self.files[-1] else end_of_settled(frame, moments)
            held = frame[end:]
            if end:
                yield part_of(frame[:end], file.path)
            del whole, frame


def end_of_settled(frame: pl.DataFrame, moments: Moments) -> int:
    """The first row of the last moment: later files may go on from there. All rows, where they have no dates."""
    if "started_at" not in frame.columns:
        return frame.height
    numbers = moments(frame["started_at"])
    return int(np.searchsorted(numbers, numbers[-1]))


def part_of(frame: pl.DataFrame, name: str) -> Part:
    """Checked rows, the rows of an event together, as a part."""
    number, first = runs(frame["event_id"])
    places = Places([name], np.zeros(frame.height, np.int32), np.arange(frame.height))
    return Part(Results(frame, name), Numbered(number, first), places)


def read_slice(pool: PoolFiles, file: PartFile) -> Slice:
    """The rows of a file; see `read_file`."""
    return Slice(read_file(pool, file), file.path, 0)


def read_file(pool: PoolFiles, file: PartFile) -> pl.DataFrame:
    """The rows of a file, as `read_results` gives them: its digest vouches that they were checked."""
    storage = Storage(pool.uri)
    try:
        content = storage.read(file.path)
    except OSError as error:
        remedy = f"cannot be read ({error.strerror or error})"
        raise ResultsError(storage.below(file.path), [Fault(None, None, None, remedy)]) from None
    if len(content) != file.bytes or file_digest(content) != file.digest:
        remedy = "is not as it was written; podium dataset check finds all such files, podium dataset write mends them"
        raise ResultsError(storage.below(file.path), [Fault(None, None, None, remedy)])
    try:
        frame = pl.read_parquet(io.BytesIO(content))
    except pl.exceptions.PolarsError as error:
        remedy = f"is not a Parquet file ({first_line(error)})"
        raise ResultsError(storage.below(file.path), [Fault(None, None, None, remedy)]) from None
    constants = {"pool": pool.name}
    if "status" not in frame.columns or (frame["status"] == DEFAULTS["status"]).all():
        constants["status"] = DEFAULTS["status"]  # a column of one value, which the frame holds once
    held = frame.select(name for name in frame.columns if name not in constants and has_values(frame[name]))
    whole = held.with_columns(pl.lit(value).alias(name) for name, value in constants.items())
    return whole.select(name for name in ALL if name in whole.columns)


def file_digest(content: bytes) -> str:
    """Thirty-two hex digits of a file's bytes."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def pool_folder(name: str) -> str:
    """The folder of a pool: `pool=NAME` as Hive has it, percent-encoded.

    A name that a folder cannot have, or that says in Hive that there is none, gets one by its digest; its files have
    the column `pool`.
    """
    folder = f"pool={quote(name, safe='')}"
    if len(folder) > LONGEST_NAME or name.startswith("__HIVE"):
        return f"pool-{file_digest(name.encode())}"
    return folder


def is_hive(folder: str) -> bool:
    """Whether the pool's name stands in its folder's."""
    return folder.startswith("pool=")


HELD_ROWS = 1 << 20  # in memory, of all pools together
SORTED_ROWS = 1 << 20  # of one pool, sorted in memory at a time
SAMPLED = 256  # of a file's moments every so many is noted, to find where to cut
SOURCE, ROW = "_source", "_row"


class Spilled(NamedTuple):
    """Rows of a pool in a file."""

    path: Path
    height: int
    moments: pl.Series | None  # sorted: the first, every `SAMPLED`th, the last; None where only places order the rows


class Pieces:
    """The rows of all pools, in the order that they came."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, list[pl.DataFrame]] = {}
        self._rows: dict[str, int] = {}  # held
        self._spilled: dict[str, list[Spilled]] = {}
        self._files = 0
        self._kinds: dict[str, Any] = {}  # the type of each column
        self.statuses: set[str] = set()

    def add(self, frame: pl.DataFrame, places: Places) -> None:
        """Take checked rows."""
        self._kinds |= dict(frame.schema)
        self.statuses.update(frame["status"].unique().to_list())
        placed = frame.with_columns(pl.Series(SOURCE, places.source), pl.Series(ROW, places.row))
        for (pool,), rows in placed.partition_by("pool", as_dict=True, maintain_order=True, include_key=False).items():
            self._held.setdefault(str(pool), []).append(rows)
            self._rows[str(pool)] = self._rows.get(str(pool), 0) + rows.height
        if sum(self._rows.values()) > HELD_ROWS:
            self._spill()

    @property
    def pools(self) -> list[str]:
        """The names of the pools, in order."""
        return sorted(self._held.keys() | self._spilled.keys())

    @property
    def schema(self) -> dict[str, Any]:
        """The columns of all rows but for the pool, in the order of a results table, and their types."""
        return {name: self._kinds[name] for name in ALL if name in self._kinds and name != "pool"}

    def take(self, pool: str) -> Iterator[pl.DataFrame]:
        """The rows of a pool, which are let go: some at a time, none before the ones that came earlier."""
        held, spilled = self._held.pop(pool, []), self._spilled.pop(pool, [])
        self._rows.pop(pool, None)
        if sum(map(len, held)) + sum(each.height for each in spilled) <= SORTED_ROWS:
            yield self._whole([*(pl.read_parquet(each.path) for each in spilled), *held])
        else:
            spilled += [self._write(held)] if held else []
            samples = [each.moments for each in spilled if each.moments is not None]
            if samples:
                yield from (self._between(spilled, *span) for span in spans(samples))
            else:
                yield from map(self._whole, whole_events(pl.read_parquet(each.path) for each in spilled))
        for each in spilled:
            each.path.unlink()

    def _between(self, spilled: list[Spilled], low: Any, high: Any) -> pl.DataFrame:
        """The rows whose moment is `low` or later, and before `high`; whatever is later, where that is None."""
        frames = []
        for path, _, moments in spilled:
            if moments is None or moments[-1] < low or (high is not None and moments[0] >= high):
                continue
            moment = pl.col(moments.name)
            chosen = moment >= low if high is None else (moment >= low) & (moment < high)
            frames.append(pl.scan_parquet(path).filter(chosen).collect())
        return self._whole(frames)

    def _spill(self) -> None:
        """Write the largest pools to files, until half of the room is free."""
        for pool in sorted(self._rows, key=lambda name: (-self._rows[name], name)):
            self._spilled.setdefault(pool, []).append(self._write(self._held.pop(pool)))
            del self._rows[pool]
            if sum(self._rows.values()) <= HELD_ROWS // 2:
                return

    def _write(self, frames: list[pl.DataFrame]) -> Spilled:
        frame = pl.concat(frames, how="diagonal")
        self._files += 1
        path = self._folder / f"{self._files}.parquet"
        frame.write_parquet(path, compression="lz4")
        name = next((each for each in ("started_at", SEQUENCE) if each in frame.columns), None)
        if name is None:
            return Spilled(path, frame.height, None)
        moments = frame[name].sort()
        return Spilled(path, frame.height, moments.gather([*range(0, moments.len(), SAMPLED), moments.len() - 1]))

    def _whole(self, frames: list[pl.DataFrame]) -> pl.DataFrame:
        """The frames as one, with the columns that any pool has."""
        frame = pl.concat(frames, how="diagonal", rechunk=True)
        missing = [name for name in self.schema if name not in frame.columns]
        frame = frame.with_columns(pl.lit(None, self.schema[name]).alias(name) for name in missing)
        filled = [name for name in FILLED if name in frame.columns]
        frame = frame.with_columns(pl.col(name).fill_null(FILLED[name]) for name in filled)
        return frame.select(*self.schema, SOURCE, ROW)


def spans(samples: list[pl.Series]) -> list[tuple[Any, Any]]:
    """The moments that part rows into about half of `SORTED_ROWS` each: from and before; None after the last."""
    ordered = pl.concat(samples).sort()
    starts = ordered.gather_every(SORTED_ROWS // SAMPLED // 2).unique(maintain_order=True).to_list()
    return list(zip(starts, [*starts[1:], None], strict=True))


def whole_events(frames: Iterator[pl.DataFrame]) -> Iterator[list[pl.DataFrame]]:
    """The frames, the rows of each one's last event put with the next: it may go on there."""
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        last = frame["event_id"] == frame["event_id"][-1]
        if last.all():
            waiting.append(frame)
            continue
        yield [*waiting, frame.filter(~last)]
        waiting = [frame.filter(last)]
    yield waiting
