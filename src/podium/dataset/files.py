"""The files of a pool: what is known of each, and how they become parts that need no check but their digest."""

import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote

import numpy as np
import polars as pl

from podium.dataset.storage import Storage
from podium.errors import Fault, ResultsError
from podium.results.columns import ALL, DEFAULTS, has_values
from podium.results.consistency import Places
from podium.results.hashing import Numbered, runs
from podium.results.long_periods import Part
from podium.results.parts import Moments
from podium.results.reading import Results, first_line
from podium.results.slices import Slice, read_ahead

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
    """The rows of a file, as `read_results` gives them: its digest vouches that they were checked.

    Raises:
        ResultsError: it is not there, or not as it was written.
    """
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
