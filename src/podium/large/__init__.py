"""Results larger than memory: in parts of whole events, and as datasets of many pools, which executors share."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.support.words import counted

MANIFEST = "_podium.json"


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
        return sum(each.rows for each in self.files)

    @property
    def events(self) -> int:
        return sum(each.events for each in self.files)


@dataclass(frozen=True, slots=True, repr=False)
class Dataset:
    """Results on disk, a folder a pool; see `podium.dataset.write`."""

    uri: str
    schema: dict[str, str]  # the type of each column of its files, as Polars names it
    pools: tuple[PoolFiles, ...]  # by name

    @property
    def rows(self) -> int:
        return sum(pool.rows for pool in self.pools)

    @property
    def events(self) -> int:
        return sum(pool.events for pool in self.pools)

    @property
    def digest(self) -> str:
        """Thirty-two hex digits of all its files: the same for the same results, whatever files they came in."""
        hashed = hashlib.blake2b(json.dumps(self.schema).encode(), digest_size=16)
        for pool in self.pools:
            for each in pool.files:
                hashed.update(f"\n{each.path} {each.rows} {each.events} {each.digest}".encode())
        return hashed.hexdigest()

    def __repr__(self) -> str:
        sizes = counted(self.rows, "row"), counted(self.events, "event"), counted(len(self.pools), "pool")
        return f"Dataset({self.uri}: {', '.join(sizes)})"


def is_url(uri: Any) -> bool:
    """Whether it is an address such as `s3://bucket/results` rather than a path of this machine."""
    return isinstance(uri, str) and "://" in uri


def is_dataset(source: Any) -> bool:
    """Whether it is a dataset, the path of one, or an address, which can only be a dataset's."""
    if isinstance(source, Dataset) or is_url(source):
        return True
    return isinstance(source, str | Path) and (Path(source) / MANIFEST).is_file()


def is_folder(source: Any) -> bool:
    return isinstance(source, str | Path) and Path(source).is_dir()


def is_parquet(source: Any) -> bool:
    """Whether it is the path of a Parquet file, by its name."""
    return isinstance(source, str | Path) and str(source).lower().endswith(".parquet")
