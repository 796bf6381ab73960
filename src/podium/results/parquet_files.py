"""Parquet files that form one table: a folder, a pattern or a list of paths, read in natural order."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from podium.errors import CANNOT_BE_READ, Fault, ResultsError
from podium.results.columns import ALL, refuse_wide
from podium.results.consistency import SEQUENCE
from podium.results.hashing import Numbered
from podium.results.reading import PARQUET_ERRORS, Results, first_line, read_numbered

DIGITS = re.compile("([0-9]+)")
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # the name that Hive uses for an empty value
ORDERS = ("started_at", SEQUENCE)  # columns that order events; either all files have them, or no file has them


def is_several(source: Any) -> bool:
    """Return True if a path is a folder or a pattern such as `results/*.parquet`."""
    if not isinstance(source, str | Path):
        return False
    return Path(source).is_dir() or ("*" in str(source) and not Path(source).exists())


def natural_key(path: str) -> tuple[list[str | int], str]:
    """Return a sort key that puts `part-2` before `part-10`."""
    return [int(word) if k % 2 else word for k, word in enumerate(DIGITS.split(path))], path


def find_files(source: Any) -> list[str]:
    """Return the Parquet files in a folder, at a URL, or matching a pattern.

    For a list of these, keep its order.
    """
    if not isinstance(source, str | Path):
        return [path for part in source for path in find_files(part)]
    text = str(source)
    if "://" in text or Path(text).is_file():
        return [text]
    anchor = Path(text).anchor
    found = Path(text).rglob("*.parquet") if Path(text).is_dir() else Path(anchor).glob(text.removeprefix(anchor))
    paths = sorted((str(path) for path in found if path.is_file()), key=natural_key)
    if not paths:
        raise ResultsError.whole(text, "has no Parquet file. Give a folder of Parquet files, or a pattern.")
    return paths


class ParquetFiles:
    """The rows of several Parquet files, one file after the other.

    If the path of a file contains a folder named `COLUMN=VALUE`, the file's rows get this column, as in Hive. Polars
    reads URLs.

    Args:
        source: the files, in any form that `find_files` accepts.
        pool: the pool for files that have no `pool` column.
    """

    def __init__(self, source: Any, pool: str | None = None) -> None:
        self.name = str(source) if isinstance(source, str | Path) else "results"
        self.paths = find_files(source)
        self._pool = pool
        self.heights: list[int] = []
        ordered: set[str] | None = None
        for path in self.paths:
            with readable(path):
                self.heights.append(self._scan(path).select(pl.len()).collect().item())
                columns = self._scan(path).collect_schema().names()
            refuse_wide(columns, path)
            known = {name for name in ORDERS if name in columns}
            for name in known ^ (known if ordered is None else ordered):
                remedy = "is in only some of the files. Add it to all files, or remove it from all."
                raise ResultsError(path, [Fault(None, name, None, remedy)])
            ordered = known
        self._starts = [0, *accumulate(self.heights)]
        self.height = self._starts[-1]

    def read(self, first: int = 0, count: int | None = None) -> pl.DataFrame:
        """Return `count` unchecked rows from row `first` on, or fewer at the end of the files."""
        last = self.height if count is None else min(first + count, self.height)
        tables = []
        for path, start, height in zip(self.paths, self._starts, self.heights, strict=False):
            skipped = max(first - start, 0)
            taken = min(last - start, height) - skipped
            if taken > 0:
                with readable(path):
                    tables.append(self._scan(path, skipped, taken).collect())
        with readable(self.name):
            return pl.concat(tables or [self._scan(self.paths[0], 0, 0).collect()], how="diagonal_relaxed")

    def check(self, frame: pl.DataFrame, first: int = 0) -> tuple[Results, Numbered]:
        """Check rows from `read`, and number their events."""
        with self.located(first):
            return read_numbered(frame, self.name)

    @contextmanager
    def located(self, first: int) -> Iterator[None]:
        """Convert the positions of errors, counted from row `first`, to files and to rows within these files."""
        try:
            yield
        except ResultsError as error:
            raise ResultsError(error.source, [self._placed(fault, first) for fault in error.faults]) from None

    def _placed(self, fault: Fault, first: int) -> Fault:
        if fault.row is None:
            return fault
        row = first + fault.row - 1
        file = bisect_right(self._starts, row) - 1
        return fault._replace(row=row - self._starts[file] + 1, file=self.paths[file])

    def begun(self, row: int) -> list[list[str | int]]:
        """Return the name and the number of rows of each file that begins before `row`."""
        files = zip(self.paths, self._starts, self.heights, strict=False)
        return [[Path(path).name, height] for path, start, height in files if start < row]

    def _scan(self, path: str, first: int = 0, count: int | None = None) -> pl.LazyFrame:
        if "://" in path:
            table, given = pl.scan_parquet(path), {}
        else:
            table = pl.scan_parquet(path, glob=False, hive_partitioning=False)
            pairs = (part.split("=", 1) for part in Path(path).parts[:-1] if "=" in part)
            given = {name: None if value == NO_VALUE else unquote(value) for name, value in pairs if name in ALL}
        if self._pool is not None:
            given.setdefault("pool", self._pool)
        missing = given.keys() - table.collect_schema().names()
        return table.slice(first, count).with_columns(pl.lit(given[name], pl.String).alias(name) for name in missing)


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Report an error for any file that cannot be read within this context."""
    try:
        yield
    except OSError as error:
        raise ResultsError.whole(path, f"{CANNOT_BE_READ} ({error.strerror or error}). Check the path.") from None
    except PARQUET_ERRORS as error:
        raise ResultsError.whole(path, f"is not a Parquet file ({first_line(error)})") from None
