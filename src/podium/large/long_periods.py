"""Rating periods whose rows are more than are held: they wait in files, whole events a file, until the period ends."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.long_periods import PeriodSums
from podium.engine.replay import NEVER, newcomers
from podium.engine.system import System
from podium.engine.tables.encoding import encode
from podium.errors import Fault, OutputError, ParameterError, ResultsError
from podium.large.slices import Rows, SeenIds, check_events, with_places, without_places
from podium.ledger.saved import Start
from podium.rated import Rated
from podium.results.consistency import SEQUENCE, Places
from podium.results.hashing import Numbered, number_runs
from podium.results.reading import Results, refuse
from podium.support.part_files import part_file, remove_unfinished

if TYPE_CHECKING:
    from podium.ledger.reasons.explanation import Explanation
    from podium.ledger.reasons.what_if import WhatIf


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


def write_rows(path: Path, frame: pl.DataFrame, places: Places) -> None:
    with part_file(path, OutputError) as part:
        with_places(frame, places).write_parquet(part, compression="lz4", statistics=False)


def read_rows(path: Path, sources: list[str]) -> Rows:
    """Read rows again.

    Raises:
        OSError: there is no such file.
        PolarsError: it is damaged.
    """
    return without_places(pl.read_parquet(path), sources)


LONG_ROWS = 1 << 20  # that are held of a period before they go to a file
UNSORTED = "stands after a later event of its rating period, which has more rows than are held: sort them by started_at"


class LongPeriod(NamedTuple):
    pool: str
    moment: int  # its number
    files: list[str]
    newest: tuple[float, ...]  # start and sequence of the last event in the files


class LongPart(NamedTuple):
    """A whole rating period, piece by piece, which can be read several times."""

    pool: str
    paths: list[Path]
    sources: list[str]

    def pieces(self) -> Iterator[Part]:
        """Its rows, whole events at a time, in the order of time."""
        for path in self.paths:
            frame, places = read_rows(path, self.sources)
            yield Part(Results(frame, places.name), number_runs(frame["event_id"]), places)


class LongPeriods:
    """The rating periods that have rows in files, one a pool."""

    def __init__(self, folder: Path, seen: SeenIds) -> None:
        self._folder = folder
        self._seen = seen
        self._files = 0
        remove_unfinished(folder)
        self.open: dict[str, LongPeriod] = {}

    def go_on(self, periods: Sequence[LongPeriod]) -> None:
        """Stand where an earlier process was, whose other files go."""
        self.open = {each.pool: each for each in periods}
        self._files = max((int(Path(name).stem) for each in periods for name in each.files), default=0)
        self.remove_others()

    def put(self, pool: str, moment: int, frame: pl.DataFrame, places: Places) -> None:
        """Check whole events of a period and put them in a file, after those that are there."""
        check_events(frame, places, self._seen)
        period = self.open.get(pool, LongPeriod(pool, moment, [], ()))
        keys = order_of(frame)
        early = int(np.lexsort(keys.T[::-1])[0])
        if period.newest and tuple(keys[early].tolist()) < period.newest:
            fault = Fault(early + 1, "started_at", str(frame["started_at"][early]), UNSORTED)
            refuse(places.name, places.located([fault]))
        self._files += 1
        name = f"{self._files:06}.parquet"
        self._folder.mkdir(exist_ok=True)
        write_rows(self._folder / name, frame, places)
        newest = tuple(keys[int(np.lexsort(keys.T[::-1])[-1])].tolist())
        self.open[pool] = LongPeriod(pool, moment, [*period.files, name], newest)

    def close(self, pool: str, sources: list[str]) -> LongPart:
        period = self.open.pop(pool)
        return LongPart(pool, [self._folder / name for name in period.files], sources)

    def remove_others(self) -> None:
        """Remove the files that no open period needs any longer."""
        needed = {name for each in self.open.values() for name in each.files}
        for path in self._folder.glob("*.parquet"):
            if path.name not in needed:
                path.unlink()


def order_of(frame: pl.DataFrame) -> Any:
    """What orders the events of rows: start and sequence, (rows, 1 or 2) float64."""
    keys = [frame["started_at"].cast(pl.Int64).to_numpy().astype(np.float64)]
    if SEQUENCE in frame.columns:
        keys.append(frame[SEQUENCE].to_numpy())
    return np.stack(keys, axis=1)


IN_PIECES = "the rating period of event {!r} has more rows than are held at a time; rate it as one table to explain it"


@dataclass(frozen=True, repr=False)
class RatedPiece(Rated):
    """Some events of a rating period, whose changes come of all its events."""

    def explain(self, event_id: str, player: str) -> "Explanation":  # noqa: ARG002
        raise ParameterError(IN_PIECES.format(event_id))

    def what_if(self, event_id: str, player: str) -> "WhatIf":  # noqa: ARG002
        raise ParameterError(IN_PIECES.format(event_id))


def rate_long_period(
    part: LongPart, system: System, period: str, begin: Callable[[Results], Start | None]
) -> Iterator[Rated]:
    sums = PeriodSums(system, period)
    standing: Start | None = None
    for piece in part.pieces():
        with piece.in_tables():
            standing = begin(piece.results)
            sums.count(encode(piece.results, system, period, piece.numbered))
    if standing is None:
        sums.bring(newcomers(system, len(sums.names)), np.full(len(sums.names), NEVER))
    else:
        names = pl.Series(sums.names, dtype=pl.String)
        rows = standing.rows_of(pl.DataFrame({"player": names}).with_columns(pool=pl.lit(part.pool)))
        sums.bring(standing.states_of(system, rows), standing.seen_of(rows))
    for number, piece in enumerate(part.pieces()):
        events = encode(piece.results, system, period, piece.numbered)
        sums.judge(events, first=number == 0, last=number == sums.pieces - 1)
    for number, piece in enumerate(part.pieces()):
        events = encode(piece.results, system, period, piece.numbered)
        columns, settles, replayed = sums.rated(events, number)
        events = replace(events, columns=columns, ledger=replace(events.ledger, settles=settles))
        rated = RatedPiece(system, period, events, replayed, standing)
        standing = rated.standing()
        del events, piece, replayed
        yield rated
        del rated
