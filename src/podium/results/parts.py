"""Results larger than memory, as parts of whole events that follow each other in time within each pool.

What may go on in the next part is held back from one to the other: the last moment of each pool, or its last rating
period; of results without dates the last event.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.errors import Fault, ResultsError
from podium.results.columns import ALL, normalise_table
from podium.results.consistency import contradictions
from podium.results.event_order import SEQUENCE
from podium.results.hashing import Numbered, number_runs
from podium.results.reading import Results, header_faults, refuse
from podium.results.seen_ids import SeenIds
from podium.results.slices import Slice, grouped_slices

FILLED = {"ranked": True, "handicap": False, "weight": 1.0}  # what an empty cell means, where a part has no such column
ALL_OR_NONE = ("started_at", SEQUENCE)
Moments = Callable[[pl.Series], npt.NDArray[np.int64]]  # numbers that rise with the instants


class Places(NamedTuple):
    """Where rows come from."""

    sources: list[str]
    source: npt.NDArray[np.int32]  # (rows): the number of the table
    row: npt.NDArray[np.int64]  # (rows): of that table, from 0

    def of(self, rows: Any) -> "Places":
        """The places of those rows."""
        return self._replace(source=self.source[rows], row=self.row[rows])

    def located(self, faults: Iterable[Fault]) -> Iterator[Fault]:
        """Faults of these rows, where they are in their tables."""
        for fault in faults:
            if fault.row is None:
                yield fault
            else:
                source, row = self.source[fault.row - 1], self.row[fault.row - 1]
                yield fault._replace(row=int(row) + 1, file=self.sources[source])

    @property
    def name(self) -> str:
        """What to call these rows together."""
        first, last = (self.sources[number] for number in self.source[[0, -1]])
        return first if first == last else f"{first} to {last}"


class Part(NamedTuple):
    """Whole events, checked."""

    results: Results
    numbered: Numbered  # the numbers of their events
    places: Places

    @contextmanager
    def in_tables(self) -> Iterator[None]:
        """Name the rows of an error by where they are in their tables."""
        try:
            yield
        except ResultsError as error:
            raise ResultsError(error.source, self.places.located(error.faults)) from None


def whole_parts(source: Any, moments: Moments) -> Iterator[Part]:
    """The parts of results that are read slice by slice.

    Args:
        source: as `grouped_slices` takes it.
        moments: what tells apart what settles apart: instants, or rating periods.

    Raises:
        ResultsError: a part is refused, or does not follow those before it, or an event stands in two of them.
    """
    with SeenIds() as seen:
        assembly = Assembly(moments, seen)
        for group in grouped_slices(source):
            part = assembly.add(group)
            del group
            if part is not None:
                yield part
            del part  # whoever rates parts may not need two at a time
        part = assembly.rest()
        if part is not None:
            yield part
        places = (
            Fault(row + 1, "event_id", None, SPLIT.format(assembly.sources[other], first + 1), "", assembly.sources[at])
            for at, row, other, first in seen.again()
        )
        refuse(assembly.sources[-1] if assembly.sources else "results", places)


SPLIT = "is the id of an event that {}, row {}, begins; the rows of an event stand together, and an id is used once"


class Assembly:
    """What has come so far: rows that are held back, and what the rest must follow."""

    def __init__(self, moments: Moments, seen: SeenIds) -> None:
        self.sources: list[str] = []
        self._moments = moments
        self._seen = seen
        self._held: tuple[pl.DataFrame, Places] | None = None
        self._given_on: dict[str, int] = {}  # by pool, the last moment that was
        self._columns: set[str] | None = None

    def add(self, group: list[Slice]) -> Part | None:
        """Take some slices; the part that is whole with them, if any."""
        pieces = [self.typed(each) for each in group if each.frame.height]
        if not pieces:
            return None
        frame, places = joined([self._held, *pieces] if self._held is not None else pieces)
        going_on = self._going_on(frame, places)
        self._held = frame.filter(pl.Series(going_on)), places.of(going_on)
        return None if going_on.all() else self._part(frame.filter(pl.Series(~going_on)), places.of(~going_on))

    def rest(self) -> Part | None:
        """The part that was held back, if any."""
        return None if self._held is None else self._part(*self._held)

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

    def _going_on(self, frame: pl.DataFrame, places: Places) -> npt.NDArray[np.bool_]:
        """Which rows later ones may go on from: (rows).

        Raises:
            ResultsError: rows do not follow those of earlier parts.
        """
        if "started_at" not in frame.columns:
            ids = frame["event_id"]
            last: npt.NDArray[np.bool_] = (ids == ids[-1]).to_numpy()
            return last
        moment = pl.Series("moment", self._moments(frame["started_at"]))
        rows = frame.select("pool", moment)
        spans = rows.group_by("pool", maintain_order=True).agg(
            first=pl.col("moment").min(), last=pl.col("moment").max()
        )
        for pool, first, _ in spans.iter_rows():
            until = self._given_on.get(pool, first - 1)
            if first <= until:
                early = rows.select((pl.col("pool") == pool) & (pl.col("moment") <= until)).to_series()
                faults = (
                    Fault(row + 1, "started_at", str(frame["started_at"][row]), LATER) for row in early.arg_true()
                )
                refuse(places.name, places.located(faults))
        latest = spans["last"][0] if spans.height == 1 else rows.select(pl.col("moment").max().over("pool")).to_series()
        going_on: npt.NDArray[np.bool_] = (moment == latest).to_numpy()
        given_on = rows.filter(pl.Series(~going_on)).group_by("pool").agg(pl.col("moment").max())
        self._given_on.update(given_on.iter_rows())
        return going_on

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
    frame = frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal", rechunk=True)
    frame = frame.select(name for name in ALL if name in frame.columns)
    frame = frame.with_columns(
        pl.col(name).fill_null(value)
        for name, value in FILLED.items()
        if name in frame.columns and frame[name].null_count()
    )
    source, row = (np.concatenate([each[k] for each in places]) for k in (1, 2))
    return frame, Places(places[0].sources, source, row)
