"""Write a dataset: every row checked, pool by pool in the order of rating, files cut at the ends of events."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.errors import OutputError
from podium.importers.tables import read_any
from podium.large import MANIFEST, Dataset, PoolFiles, is_dataset, is_folder, is_parquet, is_url, slices
from podium.large.files import Storage, manifest_text, open_dataset, pool_folder, read_file, storage_at, write_part
from podium.large.parts import Tables
from podium.results.columns import DEFAULTS, FILLED, in_order
from podium.results.consistency import SEQUENCE, order_keys
from podium.results.hashing import runs
from podium.results.reading import Results
from podium.support.part_files import synchronise


@contextmanager
def new_folder(target: Storage, mark: str, *, overwrite: bool = False, sends: bool = True) -> Iterator[str]:
    """A folder to write to; at the end it takes the place of another, and after an error it is gone.

    Of an address it is the address itself, or where `sends` a folder of this machine, whose files are sent in the end,
    the one called `mark` last: with it they are there.
    """
    refuse_existing(target, mark, overwrite=overwrite)
    if is_url(target.uri):
        if not sends:
            yield target.uri
            return
        with tempfile.TemporaryDirectory(prefix="podium-") as room:
            yield room
            source = Storage(room)
            target.remove()
            for path in sorted(source.files(), key=lambda each: (each == mark, each)):
                target.write(path, source.read(path))
        return
    final = Path(target.uri)
    building = final.with_name(f".{final.name}.{os.getpid()}.part")
    former = final.with_name(f".{final.name}.{os.getpid()}.former")
    try:
        building.mkdir()
        yield os.fspath(building)
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


HELD_ROWS = 1 << 20  # in memory, of all pools together
SORTED_ROWS = 1 << 20  # of one pool, sorted in memory at a time
SAMPLED = 256  # of a file's moments every so many is noted, to find where to cut


class Spilled(NamedTuple):
    path: Path
    height: int
    moments: pl.Series | None  # sorted: the first, every `SAMPLED`th, the last; None where only places order the rows


class Pieces:
    """The rows of all pools, in the order that they came."""

    def __init__(self, folder: Path, seen: slices.SeenIds) -> None:
        self.tables = Tables()
        self._folder = folder
        self._seen = seen
        self._held: dict[str, list[pl.DataFrame]] = {}
        self._rows: dict[str, int] = {}  # held
        self._spilled: dict[str, list[Spilled]] = {}
        self._files = 0
        self._kinds: dict[str, Any] = {}  # the type of each column
        self._statuses: set[str] = set()

    def add(self, part: slices.Slice) -> None:
        frame, places = self.tables.typed(part)
        self._kinds |= dict(frame.schema)
        self._statuses.update(frame["status"].unique().to_list())
        placed = slices.with_places(frame, places)
        for (pool,), rows in placed.partition_by("pool", as_dict=True, maintain_order=True, include_key=False).items():
            self._held.setdefault(str(pool), []).append(rows)
            self._rows[str(pool)] = self._rows.get(str(pool), 0) + rows.height
        if sum(self._rows.values()) > HELD_ROWS:
            self._spill()

    @property
    def pools(self) -> list[str]:
        return sorted(self._held.keys() | self._spilled.keys())

    @property
    def schema(self) -> dict[str, Any]:
        """The columns of all rows but for the pool, in the order of a results table, and their types."""
        return {name: self._kinds[name] for name in in_order(self._kinds) if name != "pool"}

    @property
    def written(self) -> dict[str, str]:
        """The columns that are written, and their types; readers take for granted that everyone finished."""
        all_finished = self._statuses == {DEFAULTS["status"]}
        return {name: str(kind) for name, kind in self.schema.items() if name != "status" or not all_finished}

    def write(self, pool: str, storage: Storage) -> PoolFiles:
        """Write the files of a pool, whose rows are let go."""
        folder, files = pool_folder(pool), []
        for number, frame in enumerate(self._cut(pool)):
            rows = frame.select(*self.written)
            if not folder.startswith("pool="):  # else the folder says it, as Hive has it
                rows = rows.with_columns(pool=pl.lit(pool))
            path = f"{folder}/part-{number:05}.parquet"
            events = runs(frame["event_id"])[1].size
            files.append(write_part(storage, path, rows, events, row_group_size=max(frame.height, 1)))
        return PoolFiles(storage.uri, pool, tuple(files))

    def _cut(self, pool: str) -> Iterator[pl.DataFrame]:
        waiting: list[pl.DataFrame] = []
        for batch in self._take(pool):
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
        frame, places = slices.without_places(frame, self.tables.sources)
        numbered = slices.check_events(frame.with_columns(pool=pl.lit(pool)), places, self._seen)
        order = np.lexsort(order_keys(frame, numbered.first)[::-1])
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        turn = rank[numbered.code]
        return frame if (turn[1:] >= turn[:-1]).all() else frame[np.argsort(turn, kind="stable")]

    def _take(self, pool: str) -> Iterator[pl.DataFrame]:
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
        return frame.select(*self.schema, slices.SOURCE, slices.ROW)


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
            dataset = write_pools(source, Storage(building), Path(room), progress or (lambda *_: None))
        Storage(dataset.uri).write(MANIFEST, manifest_text(dataset).encode())
    return open_dataset(target.uri)


def write_pools(source: Any, storage: Storage, room: Path, progress: Callable[[int, int], None]) -> Dataset:
    with slices.SeenIds() as seen:
        pieces = Pieces(room, seen)
        for group in slices.grouped_slices(as_tables(source)):
            for each in group:
                if each.frame.height:
                    pieces.add(each)
        names, pools = pieces.pools, []
        for name in names:
            pools.append(pieces.write(name, storage))
            progress(len(pools), len(names))
        seen.refuse_again(pieces.tables.sources)
    return Dataset(storage.uri, pieces.written, tuple(pools))


def as_tables(source: Any) -> Any:
    """The source as it can be read slice by slice; a table that is in memory, or must be whole, is checked."""
    if is_dataset(source):
        return (read_file(pool, file) for pool in open_dataset(source).pools for file in pool.files)
    if (
        is_parquet(source)
        or is_folder(source)
        or isinstance(source, pl.LazyFrame | Results)
        or slices.is_several(source)
    ):
        return source
    return read_any(source)[0]
