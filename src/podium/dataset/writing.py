"""Write a dataset: every row checked, pool by pool in the order of rating, files cut at the ends of events."""

import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from podium.dataset.files import (
    ROW,
    SOURCE,
    PartFile,
    Pieces,
    PoolFiles,
    Storage,
    file_digest,
    is_hive,
    is_url,
    pool_folder,
    read_file,
    storage_at,
)
from podium.dataset.manifest import MANIFEST, Dataset, is_dataset, manifest_text, open_dataset
from podium.errors import Fault, OutputError
from podium.results.columns import DEFAULTS
from podium.results.consistency import Places, contradictions, order_keys
from podium.results.hashing import number_runs, runs
from podium.results.parts import SPLIT, Assembly
from podium.results.reading import Results, read_results, refuse
from podium.results.slices import SeenIds, grouped_slices, is_folder, is_several
from podium.support.part_files import synchronise


@contextmanager
def new_folder(target: Storage, mark: str, *, overwrite: bool = False) -> Iterator[Path]:
    """A folder to write to; at the end it takes the place of another, and after an error it is gone.

    Of an address it is a folder of this machine, whose files are sent in the end, the one called `mark` last.

    Raises:
        OutputError: something else is there, or it cannot be written.
    """
    refuse_existing(target, mark, overwrite=overwrite)
    if is_url(target.uri):
        with tempfile.TemporaryDirectory(prefix="podium-") as room:
            yield Path(room)
            send(Storage(room), target, mark)
        return
    final = Path(target.uri)
    building = final.with_name(f".{final.name}.{os.getpid()}.part")
    former = final.with_name(f".{final.name}.{os.getpid()}.former")
    try:
        building.mkdir()
        yield building
        if overwrite and final.exists():
            final.rename(former)
        building.rename(final)
        if os.name == "posix":
            synchronise(final.parent)
    except OSError as failure:
        if isinstance(failure, OutputError):
            raise
        raise OutputError(f"{final}: cannot be written ({failure.strerror or failure})") from failure
    finally:
        shutil.rmtree(building, ignore_errors=True)
        if former.exists() and not final.exists():
            former.rename(final)
        shutil.rmtree(former, ignore_errors=True)


def refuse_existing(target: Storage, mark: str, *, overwrite: bool) -> None:
    """Refuse to write where something is.

    Raises:
        OutputError: it is a file, or a folder that is not empty and may not be replaced.
    """
    if not is_url(target.uri):
        final = Path(target.uri)
        if final.exists() and not final.is_dir():
            raise OutputError(f"{final}: is a file; name a new folder")
        if not final.parent.is_dir():
            raise OutputError(f"{final}: cannot be written (there is no folder {final.parent})")
    first = next(target.files(), None)
    if first is None:
        return
    if not overwrite:
        raise OutputError(f"{target.uri}: is not empty (it holds {first}); name a new folder, or say --overwrite")
    if mark not in target.files():
        raise OutputError(f"{target.uri}: is not empty and has no {mark}, so that nothing there is replaced; remove it")


def send(source: Storage, target: Storage, mark: str) -> None:
    """Copy a folder of this machine to an address, in whose stead it is from when its last file is there.

    Raises:
        OutputError: it cannot be written.
    """
    target.remove()
    for path in sorted(source.files(), key=lambda each: (each == mark, each)):
        target.write(path, source.read(path))


FILE_ROWS = 1 << 19  # of a file, unless one event has more


def write(
    source: Any, folder: str | Path, *, overwrite: bool = False, progress: Callable[[int, int], None] | None = None
) -> Dataset:
    """Write results as a dataset: a folder `pool=NAME` for each pool, Parquet files in it, and `_podium.json`.

    The rows of a pool stand in the order of rating: by `started_at`, then `sequence`, then as they came; the rows of
    an event stand together. A file has one row group, and ends where an event ends. The manifest has the counts of
    rows and events, the columns, and a digest of each file, by which readers know that its rows were checked. The
    dataset appears whole, or not at all.

    Args:
        source: a Parquet file, a folder of them, a LazyFrame or an iterable of tables, in any order and larger than
            memory; another dataset; or whatever `read_results` takes.
        folder: where: a folder that is new or empty, or an address that fsspec knows.
        overwrite: replace the dataset that is there.
        progress: called with the number of pools written, and of all.

    Returns:
        The dataset. The same results give the same digest, whatever files they came in.

    Raises:
        ResultsError: results are refused, by file and row.
        OutputError: something is there already, or the folder cannot be written.
    """
    target = storage_at(folder)
    with new_folder(target, MANIFEST, overwrite=overwrite) as building:
        with tempfile.TemporaryDirectory(dir=building, prefix=".rows-") as room:
            dataset = write_pools(source, Storage(os.fspath(building)), Path(room), progress or (lambda *_: None))
        Storage(dataset.uri).write(MANIFEST, manifest_text(dataset).encode())
    return open_dataset(target.uri)


def write_pools(source: Any, storage: Storage, room: Path, progress: Callable[[int, int], None]) -> Dataset:
    """Write every pool's files."""
    with SeenIds() as seen:
        assembly = Assembly(lambda started_at: started_at.cast(pl.Int64).to_numpy(), seen)
        pieces = Pieces(room)
        for group in grouped_slices(as_tables(source)):
            for each in group:
                if each.frame.height:
                    pieces.add(*assembly.typed(each))
        writer = PoolWriter(storage, pieces, assembly.sources, seen)
        names, pools = pieces.pools, []
        for name in names:
            pools.append(writer.write(name))
            progress(len(pools), len(names))
        sources = assembly.sources
        again = (
            Fault(row + 1, "event_id", None, SPLIT.format(sources[other], first + 1), file=sources[number])
            for number, row, other, first in seen.again()
        )
        refuse(sources[-1] if sources else "results", again)
    return Dataset(storage.uri, writer.schema, tuple(pools))


def as_tables(source: Any) -> Any:
    """The source as it can be read slice by slice; a table that is in memory, or must be whole, is checked."""
    if is_dataset(source):
        return (read_file(pool, file) for pool in open_dataset(source).pools for file in pool.files)
    parquet = isinstance(source, str | Path) and str(source).lower().endswith(".parquet")
    if parquet or is_folder(source) or isinstance(source, pl.LazyFrame | Results) or is_several(source):
        return source
    return read_results(source)


class PoolWriter:
    """Writes the files of pools."""

    def __init__(self, storage: Storage, pieces: Pieces, sources: list[str], seen: SeenIds) -> None:
        self._storage = storage
        self._pieces = pieces
        self._sources = sources
        self._seen = seen
        finished = pieces.statuses == {DEFAULTS["status"]}  # which readers take for granted
        self.schema = {name: str(kind) for name, kind in pieces.schema.items() if name != "status" or not finished}

    def write(self, pool: str) -> PoolFiles:
        """Write the files of a pool."""
        folder, files = pool_folder(pool), []
        for number, frame in enumerate(self._cut(pool)):
            rows = frame.select(*self.schema)
            if not is_hive(folder):
                rows = rows.with_columns(pool=pl.lit(pool))
            content = io.BytesIO()
            rows.write_parquet(content, row_group_size=max(frame.height, 1))
            written = content.getvalue()
            path = f"{folder}/part-{number:05}.parquet"
            self._storage.write(path, written)
            events = runs(frame["event_id"])[1].size
            files.append(PartFile(path, frame.height, events, len(written), file_digest(written)))
        return PoolFiles(self._storage.uri, pool, tuple(files))

    def _cut(self, pool: str) -> Iterator[pl.DataFrame]:
        """The rows of each file of a pool."""
        waiting: list[pl.DataFrame] = []
        for batch in self._pieces.take(pool):
            waiting.append(self._in_order(batch, pool))
            if sum(each.height for each in waiting) > FILE_ROWS:
                frame = pl.concat(waiting, rechunk=True)
                starts = runs(frame["event_id"])[1]
                first = 0
                while frame.height - first > FILE_ROWS:
                    ends = starts[starts > first]
                    if not ends.size:
                        break
                    end = int(ends[max(int(np.searchsorted(ends, first + FILE_ROWS, side="right")) - 1, 0)])
                    yield frame[first:end]
                    first = end
                waiting = [frame[first:]]
        if waiting:
            yield pl.concat(waiting, rechunk=True)

    def _in_order(self, frame: pl.DataFrame, pool: str) -> pl.DataFrame:
        """Checked rows in the order of rating, the rows of an event together."""
        numbered = number_runs(frame["event_id"])
        places = Places(self._sources, frame[SOURCE].to_numpy(), frame[ROW].to_numpy())
        faults = contradictions(frame.with_columns(pool=pl.lit(pool)), numbered.code)
        refuse(places.name, places.located(faults))
        first = places.of(numbered.first)
        self._seen.add(frame["event_id"].gather(numbered.first), first.source, first.row)
        order = np.lexsort(order_keys(frame, numbered.first)[::-1])
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        turn = rank[numbered.code]
        frame = frame.drop(SOURCE, ROW)
        return frame if (turn[1:] >= turn[:-1]).all() else frame[np.argsort(turn, kind="stable")]
