"""Results larger than memory, as parts of whole events that follow each other in time within each pool.

What may go on in the next part is held back from one to the other: the last moment of each pool, or its last rating
period, whose rows wait in files where they are many; of results without dates the last event.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.tables.selection import EVENT, numbers_at
from podium.errors import Fault, ResultsError
from podium.large import long_periods
from podium.large.long_periods import LongPart, LongPeriod, LongPeriods, Part
from podium.large.slices import Position, Rows, SeenIds, Slice, check_events, grouped_slices
from podium.results.columns import FILLED, in_order, normalise_table
from podium.results.consistency import SEQUENCE, Places
from podium.results.reading import Results, header_faults, refuse

ALL_OR_NONE = ("started_at", SEQUENCE)
LATER = "does not follow what an earlier part has of the pool; parts come in order of time: sort them by started_at"


def moments(period: str, started_at: pl.Series) -> npt.NDArray[np.int64]:
    """Numbers that rise with the instants, and differ where events settle apart in any case."""
    return started_at.cast(pl.Int64).to_numpy() if period == EVENT else numbers_at(started_at, period)


class Read(NamedTuple):
    """How far parts have been read, from where reading them goes on."""

    position: Position | None  # None: nothing has been read
    sources: list[str]
    given_on: dict[str, int]
    columns: list[str] | None
    held: Rows | None
    long: list[LongPeriod]


class Tables:
    def __init__(self) -> None:
        self.sources: list[str] = []  # what they are called
        self.columns: set[str] | None = None  # which of those that all have, or none

    def typed(self, part: Slice) -> Rows:
        faults = header_faults(part.frame)
        if faults:
            raise ResultsError(part.source, faults)
        if part.source not in self.sources[-1:]:
            self.sources.append(part.source)
        height = part.frame.height
        number = np.full(height, len(self.sources) - 1, np.int32)
        places = Places(self.sources, number, np.arange(part.first, part.first + height))
        checked = normalise_table(pl.DataFrame([part.frame[name] for name in in_order(part.frame.columns)]))
        refuse(part.source, places.located(checked.faults))
        columns = {name for name in ALL_OR_NONE if name in checked.frame.columns}
        before = columns if self.columns is None else self.columns
        faults = [
            Fault(None, name, None, "is in some parts of the results only; give it in all or in none")
            for name in ALL_OR_NONE
            if name in columns ^ before
        ]
        refuse(part.source, iter(faults))
        self.columns = columns
        return checked.frame, places


class PartReader(Tables):
    """The parts of results that are read slice by slice: rows are held back, and the rest must follow."""

    def __init__(
        self, source: Any, period: str, seen: SeenIds, read: Read | None = None, *, long: LongPeriods | None = None
    ) -> None:
        super().__init__()
        self.seen = seen
        self.between_groups = True  # whether nothing is left of what was read
        self.at_end = False  # whether what is given now waited to the end
        self._source = source
        self._period = period
        self._long = long
        self._position: Position | None = None
        self._held: Rows | None = None
        self._given_on: dict[str, int] = {}  # by pool, the last moment that was
        self._before_rest: Read | None = None
        if read is not None:
            self._position, self.sources, self._given_on = read.position, list(read.sources), dict(read.given_on)
            self.columns = None if read.columns is None else set(read.columns)
            self._held = None if read.held is None else (read.held[0], read.held[1]._replace(sources=self.sources))
            if long is not None:
                long.go_on(read.long)

    def read(self) -> Read:
        """How far it has read: after the group at hand, or before what waited to the end."""
        if self._before_rest is not None:
            return self._before_rest
        columns = None if self.columns is None else sorted(self.columns)
        return Read(self._position, list(self.sources), dict(self._given_on), columns, self._held, self._open_periods())

    def parts(self) -> Iterator[Part | LongPart]:
        for group in grouped_slices(self._source, self._position):
            self._position = Position(group[-1].source, group[-1].first + group[-1].frame.height)
            parts = self._whole(group)
            del group
            yield from self._given(parts)
        self._before_rest = self.read()
        self.at_end = True
        yield from self._given(self._rest())
        self.seen.refuse_again(self.sources)

    def _given(self, parts: list[Part | LongPart]) -> Iterator[Part | LongPart]:
        while parts:
            part = parts.pop(0)
            self.between_groups = not parts
            yield part
            del part  # whoever rates parts may not need two at a time

    def remove_done(self) -> None:
        """Remove the rows of rating periods that nobody reads again."""
        if self._long is not None:
            self._long.remove_others()

    def _open_periods(self) -> list[LongPeriod]:
        return [] if self._long is None else list(self._long.open.values())

    def _whole(self, group: list[Slice]) -> list[Part | LongPart]:
        pieces = [self.typed(each) for each in group if each.frame.height]
        if not pieces:
            return []
        rows = joined([self._held, *pieces] if self._held is not None else pieces)
        going_on, moment = self._going_on(*rows)
        parts: list[Part | LongPart] = []
        now = ~going_on
        for period in self._open_periods():
            last = now & (moment == period.moment) & (rows[0]["pool"] == period.pool).to_numpy()
            if last.any():  # later ones of the pool came: it is at its end
                now &= ~last
                parts.append(self._close(period, chosen(rows, last)))
        if now.any():
            parts.append(self._part(*chosen(rows, now)))
        self._held = chosen(rows, going_on)
        self._put_aside()
        return parts

    def _rest(self) -> list[Part | LongPart]:
        if self._held is None:
            return []
        rows = self._held
        parts: list[Part | LongPart] = []
        for period in self._open_periods():
            own = (rows[0]["pool"] == period.pool).to_numpy()
            parts.append(self._close(period, chosen(rows, own)))
            rows = chosen(rows, ~own)
        if rows[0].height:
            parts.append(self._part(*rows))
        return parts

    def _close(self, period: LongPeriod, rows: Rows) -> LongPart:
        assert self._long is not None  # noqa: S101  (it has the period)
        self._long.put(period.pool, period.moment, *rows)
        return self._long.close(period.pool, self.sources)

    def _put_aside(self) -> None:
        """Put rows of a long period, but the last event, into a file."""
        if self._long is None or self._held is None or self._held[0].height <= long_periods.LONG_ROWS:
            return
        frame = self._held[0]
        pool = frame["pool"].value_counts(sort=True)["pool"][0]
        own = frame["pool"] == pool
        last_id = frame["event_id"].gather(own.arg_true()[-1:])[0]
        rows = (own & (frame["event_id"] != last_id)).to_numpy()
        if rows.any():
            moment = int(moments(self._period, frame["started_at"].filter(own)[:1])[0])
            self._long.put(pool, moment, *chosen(self._held, rows))
            self._held = chosen(self._held, ~rows)

    def _going_on(self, frame: pl.DataFrame, places: Places) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Which rows later ones may go on from, and the moment of each, nothing of results without dates: (rows)."""
        if "started_at" not in frame.columns:
            ids = frame["event_id"]
            last: npt.NDArray[np.bool_] = (ids == ids[-1]).to_numpy()
            return last, np.empty(0, np.int64)
        moment = moments(self._period, frame["started_at"])
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
        return Part(Results(frame, places.name), check_events(frame, places, self.seen), places)


def chosen(rows: Rows, which: npt.NDArray[np.bool_]) -> Rows:
    return rows[0].filter(pl.Series(which)), rows[1].of(which)


def joined(pieces: list[Rows]) -> Rows:
    """Rows one after the other, each column in one piece."""
    frames, places = zip(*pieces, strict=True)
    frame = frames[0].rechunk() if len(frames) == 1 else pl.concat(frames, how="diagonal", rechunk=True)
    frame = frame.select(in_order(frame.columns))
    frame = frame.with_columns(
        pl.col(name).fill_null(value)
        for name, value in FILLED.items()
        if name in frame.columns and frame[name].null_count()
    )
    source, row = (np.concatenate([each[k] for each in places]) for k in (1, 2))
    return frame, Places(places[0].sources, source, row)
