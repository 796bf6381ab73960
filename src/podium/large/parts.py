"""Results larger than memory, as parts of whole events that follow each other in time within each pool.

What may go on in the next part is held back from one to the other: the last moment of each pool, or its last rating
period, whose rows wait in files where they are many; of results without dates the last event.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.errors import Fault, ResultsError
from podium.large import long_periods
from podium.large.dataset import is_folder, is_parquet
from podium.large.long_periods import LongPart, LongPeriod, LongPeriods, Part
from podium.large.slices import Position, SeenIds, Slice, grouped_slices, parquet_files
from podium.results.columns import ALL, normalise_table
from podium.results.consistency import SEQUENCE, Places, contradictions
from podium.results.hashing import number_runs
from podium.results.reading import Results, header_faults, refuse

FILLED = {"ranked": True, "handicap": False, "weight": 1.0}  # what an empty cell means, where a part has no such column
ALL_OR_NONE = ("started_at", SEQUENCE)
Moments = Callable[[pl.Series], npt.NDArray[np.int64]]  # numbers that rise with the instants


class Read(NamedTuple):
    """How far parts have been read, from where reading them goes on."""

    position: Position | None  # None: nothing has been read
    sources: list[str]
    given_on: dict[str, int]
    columns: list[str] | None
    held: tuple[pl.DataFrame, Places] | None
    long: list[LongPeriod]


class PartReader:
    """The parts of results that are read slice by slice."""

    def __init__(
        self, source: Any, moments: Moments, seen: SeenIds, read: Read | None = None, *, long: LongPeriods | None = None
    ) -> None:
        """Begin, or go on."""
        self._source = source
        self._seen = seen
        self._assembly = Assembly(moments, seen, long)
        self._position: Position | None = None
        self.between_groups = True  # whether nothing is left of what was read
        self.at_end = False  # whether what is given now waited to the end
        if read is not None:
            self._position = read.position
            self._assembly.go_on(read)

    def parts(self) -> Iterator[Part | LongPart]:
        """The parts that follow."""
        for group in grouped_slices(self._source, self._position):
            self._position = Position(group[-1].source, group[-1].first + group[-1].frame.height)
            parts = self._assembly.add(group)
            del group
            yield from self._given(parts)
        self.at_end = True
        yield from self._given(self._assembly.rest(self._position))
        sources = self._assembly.sources
        places = (
            Fault(row + 1, "event_id", None, SPLIT.format(sources[other], first + 1), "", sources[at])
            for at, row, other, first in self._seen.again()
        )
        refuse(sources[-1] if sources else "results", places)

    def _given(self, parts: list[Part | LongPart]) -> Iterator[Part | LongPart]:
        while parts:
            part = parts.pop(0)
            self.between_groups = not parts
            yield part
            del part  # whoever rates parts may not need two at a time

    def read(self) -> Read:
        """How far it has read: after the group at hand, or before what waited to the end."""
        return self._assembly.read(self._position)


SPLIT = "is the id of an event that {}, row {}, begins; the rows of an event stand together, and an id is used once"


class Assembly:
    """What has come so far: rows that are held back, and what the rest must follow."""

    def __init__(self, moments: Moments, seen: SeenIds, long: LongPeriods | None = None) -> None:
        self.sources: list[str] = []
        self._moments = moments
        self._seen = seen
        self._long = long
        self._held: tuple[pl.DataFrame, Places] | None = None
        self._given_on: dict[str, int] = {}  # by pool, the last moment that was
        self._columns: set[str] | None = None
        self._before_rest: Read | None = None

    def go_on(self, read: Read) -> None:
        """Stand where an earlier assembly of the same results was."""
        self.sources[:] = read.sources
        self._given_on = dict(read.given_on)
        self._columns = None if read.columns is None else set(read.columns)
        self._held = None if read.held is None else (read.held[0], read.held[1]._replace(sources=self.sources))
        if self._long is not None:
            self._long.go_on(read.long)

    def read(self, position: Position | None) -> Read:
        """What an assembly goes on from."""
        if self._before_rest is not None:
            return self._before_rest
        columns = None if self._columns is None else sorted(self._columns)
        periods = [] if self._long is None else list(self._long.open.values())
        return Read(position, list(self.sources), dict(self._given_on), columns, self._held, periods)

    def add(self, group: list[Slice]) -> list[Part | LongPart]:
        """Take some slices; the parts that are whole with them, if any."""
        pieces = [self.typed(each) for each in group if each.frame.height]
        if not pieces:
            return []
        frame, places = joined([self._held, *pieces] if self._held is not None else pieces)
        going_on, moment = self._going_on(frame, places)
        parts: list[Part | LongPart] = []
        now = ~going_on
        for period in [] if self._long is None else list(self._long.open.values()):
            rows = now & (moment == period.moment) & (frame["pool"] == period.pool).to_numpy()
            if rows.any():  # later ones of the pool came: it is at its end
                now &= ~rows
                parts.append(self._close(period, frame.filter(pl.Series(rows)), places.of(rows)))
        if now.any():
            parts.append(self._part(frame.filter(pl.Series(now)), places.of(now)))
        self._held = frame.filter(pl.Series(going_on)), places.of(going_on)
        self._put_aside()
        return parts

    def rest(self, position: Position | None) -> list[Part | LongPart]:
        """The parts that were held back, if any; what `read` says stays as it was before."""
        if self._held is None:
            return []
        self._before_rest = self.read(position)
        frame, places = self._held
        parts: list[Part | LongPart] = []
        for period in [] if self._long is None else list(self._long.open.values()):
            rows = (frame["pool"] == period.pool).to_numpy()
            parts.append(self._close(period, frame.filter(pl.Series(rows)), places.of(rows)))
            frame, places = frame.filter(pl.Series(~rows)), places.of(~rows)
        if frame.height:
            parts.append(self._part(frame, places))
        return parts

    def _close(self, period: LongPeriod, frame: pl.DataFrame, places: Places) -> LongPart:
        """A period with its last rows."""
        assert self._long is not None  # noqa: S101  (it has the period)
        self._long.put(period.pool, period.moment, frame, places)
        return self._long.close(period.pool, self.sources)

    def _put_aside(self) -> None:
        """Put rows of a long period, but the last event, into a file."""
        if self._long is None or self._held is None or self._held[0].height <= long_periods.LONG_ROWS:
            return
        frame, places = self._held
        pool = frame["pool"].value_counts(sort=True)["pool"][0]
        own = frame["pool"] == pool
        last_id = frame["event_id"].gather(own.arg_true()[-1:])[0]
        rows = (own & (frame["event_id"] != last_id)).to_numpy()
        if rows.any():
            moment = int(self._moments(frame["started_at"].filter(own)[:1])[0])
            self._long.put(pool, moment, frame.filter(pl.Series(rows)), places.of(rows))
            self._held = frame.filter(pl.Series(~rows)), places.of(~rows)

    def typed(self, part: Slice) -> tuple[pl.DataFrame, Places]:
        """A slice's columns in their types, and its places."""
        faults = header_faults(part.frame)
        if faults:
            raise ResultsError(part.source, faults)
        if part.source not in self.sources[-1:]:
            self.sources.append(part.source)
        height = part.frame.height
        number = np.full(height, len(self.sources) - 1, np.int32)
        places = Places(self.sources, number, np.arange(part.first, part.first + height))
        checked = normalise_table(pl.DataFrame([part.frame[name] for name in ALL if name in part.frame.columns]))
        refuse(part.source, places.located(checked.faults))
        columns = {name for name in ALL_OR_NONE if name in checked.frame.columns}
        before = columns if self._columns is None else self._columns
        faults = [
            Fault(None, name, None, "is in some parts of the results only; give it in all or in none")
            for name in ALL_OR_NONE
            if name in columns ^ before
        ]
        refuse(part.source, iter(faults))
        self._columns = columns
        return checked.frame, places

    def _going_on(self, frame: pl.DataFrame, places: Places) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Which rows later ones may go on from, and the moment of each, nothing of results without dates: (rows)."""
        if "started_at" not in frame.columns:
            ids = frame["event_id"]
            last: npt.NDArray[np.bool_] = (ids == ids[-1]).to_numpy()
            return last, np.empty(0, np.int64)
        moment = self._moments(frame["started_at"])
        pools = frame["pool"]
        if (pools == pools[0]).all():
            spans = [(str(pools[0]), int(moment.min()), int(moment.max()))]
            latest: Any = spans[0][2]
        else:
            rows = pl.DataFrame({"pool": pools, "moment": moment})
            of_pool = rows.group_by("pool", maintain_order=True)
            spans = of_pool.agg(first=pl.col("moment").min(), last=pl.col("moment").max()).rows()
            latest = rows.select(pl.col("moment").max().over("pool")).to_series().to_numpy()
        for pool, first, _ in spans:
            until = self._given_on.get(pool, first - 1)
            if first <= until:
                early = (pools == pool) & pl.Series(moment <= until)
                faults = (
                    Fault(row + 1, "started_at", str(frame["started_at"][row]), LATER) for row in early.arg_true()
                )
                refuse(places.name, places.located(faults))
        going_on: npt.NDArray[np.bool_] = moment == latest
        if len(spans) == 1:
            before = moment[~going_on]
            self._given_on.update({spans[0][0]: int(before.max())} if before.size else {})
        else:
            given_on = rows.filter(pl.Series(~going_on)).group_by("pool").agg(pl.col("moment").max())
            self._given_on.update(given_on.iter_rows())
        return going_on, moment

    def _part(self, frame: pl.DataFrame, places: Places) -> Part:
        """Rows that are rated together."""
        numbered = number_runs(frame["event_id"])
        refuse(places.name, places.located(contradictions(frame, numbered.code)))
        first = places.of(numbered.first)
        self._seen.add(frame["event_id"].gather(numbered.first), first.source, first.row)
        return Part(Results(frame, places.name), numbered, places)


LATER = "does not follow what an earlier part has of the pool; parts come in order of time: sort them by started_at"


def joined(pieces: list[tuple[pl.DataFrame, Places]]) -> tuple[pl.DataFrame, Places]:
    """Rows one after the other, each column in one piece."""
    frames, places = zip(*pieces, strict=True)
    frame = frames[0].rechunk() if len(frames) == 1 else pl.concat(frames, how="diagonal", rechunk=True)
    frame = frame.select(name for name in ALL if name in frame.columns)
    frame = frame.with_columns(
        pl.col(name).fill_null(value)
        for name, value in FILLED.items()
        if name in frame.columns and frame[name].null_count()
    )
    source, row = (np.concatenate([each[k] for each in places]) for k in (1, 2))
    return frame, Places(places[0].sources, source, row)


PARQUET = b"PAR1"
TAIL = 8  # bytes after a Parquet file's footer: its length, and the mark


class SourceFile(NamedTuple):
    """A file, and what tells that it is another now."""

    name: str
    size: int  # bytes
    modified_ns: int  # since 1970
    footer: str  # digest of a Parquet file's footer: its rows, where they stand, least and greatest values


def source_files(source: Any) -> list[SourceFile] | None:
    """The Parquet files of a path in the order of reading; None of what is no path of a folder or a Parquet file."""
    if is_folder(source):
        return [fingerprint(name, path) for name, path in parquet_files(Path(source)).items()]
    return [fingerprint(Path(source).name, Path(source))] if is_parquet(source) else None


def fingerprint(name: str, path: Path) -> SourceFile:
    """What tells that a file is another."""
    try:
        status = path.stat()
        with path.open("rb") as file:
            file.seek(max(status.st_size - TAIL, 0))
            tail = file.read()
            length = int.from_bytes(tail[:4], "little") if tail[4:] == PARQUET else 0
            file.seek(max(status.st_size - TAIL - length, 0))
            footer = hashlib.blake2b(file.read(), digest_size=16).hexdigest()
    except OSError as error:
        raise ResultsError(name, [Fault(None, None, None, f"cannot be read ({error.strerror or error})")]) from None
    return SourceFile(name, status.st_size, status.st_mtime_ns, footer)


def difference(before: Sequence[SourceFile], now: Sequence[SourceFile]) -> str | None:
    """What is different of files, as a part of a sentence; None where nothing is."""
    known, present = ({each.name: each for each in files} for files in (before, now))
    for name in known.keys() - present.keys():
        return f"{name} is gone"
    for name in present.keys() - known.keys():
        return f"{name} is new"
    return next((f"{name} has changed" for name in known if known[name] != present[name]), None)
