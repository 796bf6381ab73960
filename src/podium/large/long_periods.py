"""Rating periods whose rows are more than are held: they wait in files, whole events a file, until the period ends.

Then a period is rated piece by piece, to the bits of the whole. It is a sum: everyone enters from the state before it,
each heat adds its evidence to what came before, everyone settles from the sums. So pieces of whole events, in their
order, make the additions of the whole in the same order. What is known of an entrant only in the end (the events
played, whether one of them was quit) is counted first, in a reading of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.inputs import ABSENT, Columns
from podium.engine.pool_state import new_pools
from podium.engine.replay import NEVER, Replayed, States, judge_piece, newcomers, scratch_for, units_between
from podium.engine.rule_checks import run_kernel
from podium.engine.rules import rate_event, rate_heats
from podium.engine.system import System
from podium.engine.tables.encoding import NO_COLUMNS, Events, encode, frozen
from podium.errors import Fault, NotFiniteError, OutputError, ParameterError, ResultsError
from podium.large.slices import Rows, SeenIds, check_events, with_places, without_places
from podium.ledger.saved import Start
from podium.rated import Rated
from podium.results.consistency import SEQUENCE, Places
from podium.results.hashing import Integers, Numbered, number_runs
from podium.results.reading import Results, refuse
from podium.support.part_files import part_file, remove_unfinished

if TYPE_CHECKING:
    from podium.ledger.reasons import Explanation
    from podium.ledger.reasons.what_if import WhatIf


def takes_pieces(system: System) -> bool:
    """Whether a system rates a period heat by heat, so that it may come in pieces."""
    own = rate_event.dispatch(type(system.params()))
    return own is rate_event.dispatch(object) or own is rate_heats


class PeriodSums:
    """The players of a period: what is known of each as an entrant, what each brought, and the sums so far."""

    def __init__(self, system: System, period: str) -> None:
        self._system = system
        self._period = period
        self._slots: dict[str, int] = {}
        self._played = np.empty(0)
        self._quit = np.empty(0)
        self._first_us = np.empty(0, np.int64)
        self._last_piece = np.empty(0, np.int64)
        self.pieces = 0
        self.after = np.empty((0, 0))
        self._entering = np.empty((0, 0))
        self._sums = np.empty((0, 0))
        self._everyone: Columns | None = None
        self._states = np.empty((0, 0))

    def count(self, events: Events) -> None:
        """Take note of a piece's entrants; each piece in turn, before any is judged."""
        number = self.pieces
        self.pieces += 1
        if not events.player_names.len():
            return
        slots = np.array([self._slots.setdefault(name, len(self._slots)) for name in events.player_names.to_list()])
        new = len(self._slots) - self._played.size
        self._played = np.concatenate([self._played, np.zeros(new)])
        self._quit = np.concatenate([self._quit, np.zeros(new)])
        self._first_us = np.concatenate([self._first_us, np.full(new, np.iinfo(np.int64).max)])
        self._last_piece = np.concatenate([self._last_piece, np.zeros(new, np.int64)])
        columns, of_entrant = events.columns, slots[events.columns.player]
        self._played[of_entrant] += columns.played_events
        if columns.quit.size:
            self._quit[of_entrant] = np.maximum(self._quit[of_entrant], columns.quit)
        rows, starts = events.ledger, np.empty(columns.player.size, np.int64)
        instants = events.results.frame["started_at"].cast(pl.Int64).to_numpy()
        starts[rows.entrant[::-1]] = instants[rows.row[::-1]]  # in order of time, of which the last assignment stays
        self._first_us[of_entrant] = np.minimum(self._first_us[of_entrant], starts)
        self._last_piece[of_entrant] = number

    @property
    def names(self) -> list[str]:
        """The players, by slot."""
        return list(self._slots)

    def bring(self, states: States, seen: npt.NDArray[np.int64]) -> None:
        """Say where each player stands before the period.

        Args:
            states: (players, fields), by slot.
            seen: the instant of the last event before, microseconds since 1970, or `NEVER`: (players).
        """
        system, size = self._system, len(self._slots)
        idle = ABSENT
        if system.idle_unit is not None:
            idle = np.zeros(size)
            back = seen != NEVER
            kind = pl.Datetime("us", "UTC")
            spans = units_between(
                pl.Series(seen[back]).cast(kind), pl.Series(self._first_us[back]).cast(kind), system, self._period
            )
            idle[back] = np.maximum(spans, 0)
        self._everyone = NO_COLUMNS._replace(
            entrants=frozen(np.array([0, size]), np.int64),
            player=frozen(np.arange(size), np.int32),
            played_events=frozen(self._played),
            quit=frozen(self._quit),
            idle=frozen(idle),
        )
        self._states = states
        _, entering, zero_evidence = system.prototypes()
        self._entering = np.empty((size, len(entering)))
        self._sums = np.empty((size, len(zero_evidence)))
        self.after = states.copy()

    def judge(self, events: Events, *, first: bool, last: bool) -> None:
        """Judge a piece's heats; everyone enters before the first piece and settles after the last."""
        system, everyone = self._system, self._everyone
        slots = self._slots_of(events)
        columns = events.columns
        # A piece is of one settlement, whose entrants have the numbers of all.
        entrant = columns.entrant if columns.entrant.size else np.arange(columns.place.size)
        piece = columns._replace(entrant=frozen(slots[columns.player[entrant]], np.int32))
        scratch = scratch_for(system, piece, 0, columns.entrants.size - 1, new_pools(system, 1)[0])
        scratch = scratch._replace(entering_states=self._entering, sums=self._sums)
        arguments = *system.arguments(), everyone, piece, self._states, scratch, self.after, first, last
        run_kernel(system, judge_piece, *arguments)
        if last and not np.isfinite(self.after).all():
            slot = int(np.argmin(np.isfinite(self.after).all(axis=1)))
            raise NotFiniteError(system.name, 0, slot, None, self.names[slot])

    def _slots_of(self, events: Events) -> Integers:
        return np.array([self._slots[name] for name in events.player_names.to_list()], np.int64)

    def rated(self, events: Events, number: int) -> tuple[Columns, npt.NDArray[np.bool_], Replayed]:
        """What came of a piece's entrants: their columns and rows as in the whole period, and their states."""
        slots = self._slots_of(events)
        columns = events.columns
        mine = slots[columns.player]
        everyone = self._everyone
        assert everyone is not None  # noqa: S101  (`bring` was called)
        columns = columns._replace(
            played_events=frozen(self._played[mine]),
            quit=frozen(self._quit[mine]),
            idle=frozen(everyone.idle[mine] if everyone.idle.size else ABSENT),
        )
        done = self._last_piece[slots] == number
        start = self._states[slots]
        states = np.where(done[:, None], self.after[slots], start)
        settles = events.ledger.settles & done[events.columns.player[events.ledger.entrant.array]]
        rating = self._system.column("rating")
        moved = states[columns.player]
        pools = new_pools(self._system, len(events.pools))
        return columns, settles, Replayed(states, start[columns.player, rating], moved, start, pools)


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
        columns = [frame["started_at"].cast(pl.Int64).to_numpy().astype(np.float64)]
        keys = np.stack([*columns, *([frame[SEQUENCE].to_numpy()] if SEQUENCE in frame.columns else [])], axis=1)
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
