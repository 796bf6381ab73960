"""The rows of each pool while a dataset is written: in memory, and in files where they are many.

Rows keep the place in their source, which is named where they are at fault and orders what nothing else does.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from podium.results.columns import ALL
from podium.results.consistency import SEQUENCE, Places
from podium.results.parts import FILLED

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
