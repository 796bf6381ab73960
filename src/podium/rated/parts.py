"""Results larger than memory: rated part by part, each from where the one before left its players."""

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.encoding import Events
from podium.engine.periods import EVENT, check_period, numbers_at
from podium.engine.pool_state import PoolNumbers
from podium.engine.replay import Replayed, States
from podium.engine.system import System
from podium.errors import ParameterError, UnknownError
from podium.ledger import leaderboard as boards
from podium.ledger.forecast import nearest_name
from podium.ledger.reasons.explanation import Explanation
from podium.ledger.reasons.what_if import WhatIf
from podium.ledger.saved import Start, refuse_earlier
from podium.rated.rated import Rated
from podium.rated.tables import begin, rate_table
from podium.results.columns import REQUIRED
from podium.results.parts import whole_parts
from podium.results.reading import Results, read_results
from podium.systems import make_system

NOT_HELD = "the rows of a folder are not held in memory; podium.rate_stream gives them part by part"


def rate_stream(
    parts: Any, system: str | System = "elo", *, period: str = "event", start: Any = None, **settings: Any
) -> Iterator[Rated]:
    """Rate results that are larger than memory, part by part, to the bits of `rate` of the whole.

    Within each pool, parts follow each other in time. What the next part may go on with waits for it: the last moment
    of each pool, or its last rating period; of results without dates the last event. Files are read ahead, in slices
    of a million rows.

    Args:
        parts: the path of a Parquet file, or of a folder of them (read in the order of their names; the name of a
            folder within it, such as `pool=east`, is a column); a Polars LazyFrame; any other table; or an iterable of
            these, each a part.
        system: as `rate` takes it, and so are the others.

    Returns:
        The rated parts, each a `Rated`: its `history` is that part's, its `ratings`, `states` and forecasts are of all
        players so far. A part is let go before the next is rated, unless
        the caller has it still.

    Raises:
        ResultsError: a part is refused, or is not later than those before it; or, after the last part, two parts share
            the id of an event. Rows are numbered as in their files.
        ParameterError: as `rate` raises it.
    """
    return rated_parts(parts, make_system(system, settings), check_period(period), start)


def rated_parts(parts: Any, system: System, period: str, start: Any) -> Iterator[Rated]:
    """The rated parts, as `rate_stream` gives them.

    Raises:
        ResultsError: as `rate_stream` raises it.
        ParameterError: as `rate` raises it.
    """
    first: Start | None = None
    standing: Start | None = None
    for part in whole_parts(parts, functools.partial(moments, period)):
        with part.in_tables():
            if start is not None and first is None:
                first = standing = begin(start, system, period, part.results)
            elif first is not None:
                refuse_earlier(first, part.results, period)
            rated = rate_table(part.results, system, period, standing, part.numbered)
        standing = rated.standing()
        yield rated
        del rated, part


def moments(period: str, started_at: pl.Series) -> npt.NDArray[np.int64]:
    """Numbers that rise with the instants, and differ where events settle apart in any case."""
    if period == EVENT:
        return started_at.cast(pl.Int64).to_numpy()
    return numbers_at(started_at, period)


def rate_folder(folder: str | Path, system: System, period: str, start: Any) -> "RatedParts":
    """Rate a folder of Parquet files in bounded memory.

    Raises:
        ResultsError: as `rate_stream` raises it.
        ParameterError: as `rate` raises it.
    """
    check_period(period)
    began: Start | None = None
    standing: Start | None = None
    pools, events = Counter[str](), 0
    for part in rated_parts(folder, system, period, start):
        began = part.start if standing is None else began
        standing = part.standing()
        events += part.event_count
        pools.update({pool.name: pool.last - pool.first for pool in part.events.pools})
        del part  # before the next is rated
    if standing is None:
        nothing = empty_results()
        began = None if start is None else begin(start, system, period, nothing)
        standing = rate_table(nothing, system, period, began).standing()
    return RatedParts(folder, standing, began, pools, events, system, period)


def empty_results() -> Results:
    """A table without a row."""
    return read_results(pl.DataFrame(schema=dict.fromkeys(REQUIRED, pl.String)))


class RatedParts(Rated):
    """A folder of results, rated part by part in bounded memory.

    It knows where everyone stands. What needs the rows, such as `history`, `leaderboard()` or `explain()`, rates the
    files again, which must not have changed; only a whole `history` and `predictions` are as large as they are.
    """

    def __init__(
        self,
        folder: str | Path,
        standing: Start,
        began: Start | None,
        pools: Mapping[str, int],
        events: int,
        system: System,
        period: str,
    ) -> None:
        values = {"system": system, "period": period, "start": began, "_folder": folder, "_standing": standing}
        for name, value in (values | {"_sizes": dict(pools), "_events": events}).items():
            object.__setattr__(self, name, value)  # as a frozen dataclass sets its own
        self._folder: str | Path
        self._standing: Start
        self._sizes: dict[str, int]
        self._events: int

    def parts(self) -> Iterator[Rated]:
        """Rate the folder again, part by part, as `rate_stream` does."""
        return rated_parts(self._folder, self.system, self.period, self.start)

    @property
    def events(self) -> Events:
        """Not held.

        Raises:
            ParameterError: always; parts have theirs.
        """
        raise ParameterError(NOT_HELD)

    @property
    def replayed(self) -> Replayed:
        """Not held.

        Raises:
            ParameterError: always; parts have theirs.
        """
        raise ParameterError(NOT_HELD)

    @property
    def notice(self) -> str | None:
        """What to know before these ratings are used: players at a limit of the system; None where there is nothing."""
        return self.system.limit_notice(self._standing.states)

    def standing(self) -> Start:
        """Where players stand after the last event.

        Returns:
            What the results that follow go on from.
        """
        return self._standing

    @property
    def event_count(self) -> int:
        """How many events were rated."""
        return self._events

    def _pools(self) -> Iterator[tuple[str, int]]:
        known = [] if self.start is None else self.start.players["pool"].unique(maintain_order=True).to_list()
        yield from (dict.fromkeys(known, 0) | self._sizes).items()

    @functools.cached_property
    def _everyone(self) -> tuple[pl.DataFrame, States]:
        return self._standing.players, self._standing.states

    @functools.cached_property
    def _pool_states(self) -> Mapping[str, PoolNumbers]:
        return self._standing.pools

    @functools.cached_property
    def history(self) -> pl.DataFrame:
        """Every change, a row for each player of each event, part after part: as large as it is."""
        rows = [part.history for part in self.parts()]
        return pl.concat(rows) if rows else self._rows_before().clear()

    def _board_rows(self, at: datetime | None) -> pl.DataFrame:
        rows = boards.last_rows(self._rows_before())
        for part in self.parts():
            history = part.history if at is None else boards.as_of(part.history, at)
            rows = boards.later_rows(rows, boards.last_rows(history))
        return rows

    def _rows_before(self) -> pl.DataFrame:
        return rate_table(empty_results(), self.system, EVENT).history if self.start is None else super()._rows_before()

    def explain(self, event_id: str, player: str) -> Explanation:
        """Why a player's rating moved in an event; see `Rated.explain`.

        Args:
            event_id: as the results have it.
            player: as the results have it.

        Returns:
            The change in points, every reason as a row, and the reasons in a sentence.

        Raises:
            UnknownError: there is no such event, or the player is not rated in it.
        """
        return self._part_of(event_id).explain(event_id, player)

    def what_if(self, event_id: str, player: str) -> WhatIf:
        """What a player's change in an event would have been, had one thing been different; see `Rated.what_if`.

        Args:
            event_id: as the results have it.
            player: as the results have it.

        Returns:
            The change as it was, and with one thing different each time.

        Raises:
            UnknownError: there is no such event, or the player is not rated in it.
        """
        return self._part_of(event_id).what_if(event_id, player)

    def _part_of(self, event_id: str) -> Rated:
        for part in self.parts():
            if (part.results.frame["event_id"] == event_id).any():
                return part
        raise UnknownError(f"there is no event {event_id!r}")

    def predictions(self) -> pl.DataFrame:
        """List what was expected of every pair before each event, and what came; see `Rated.predictions`.

        Returns:
            A row a pair that the system compares.
        """
        return pl.concat([part.predictions() for part in self.parts()], how="diagonal")

    def strengths(self, *, top: int = 5, probe: float | None = None) -> pl.DataFrame:
        """How strong the field of each event was; see `Rated.strengths`.

        Args:
            top: how many places count as doing well.
            probe: the rating of the newcomer whose chances are measured; the system's own where None.

        Returns:
            An event a row, part after part.

        Raises:
            ParameterError: `top` is below 1.
        """
        return pl.concat([part.strengths(top=top, probe=probe) for part in self.parts()])

    def newcomers(self, entrants: Sequence[str], *, pool: str | None = None) -> dict[str, str | None]:
        """Find the entrants whom nothing has rated; see `Rated.newcomers`.

        Args:
            pool: look for them in this pool only.

        Returns:
            Each of their names, with the nearest name of a player where one is near.
        """
        players = self._standing.players if pool is None else self._standing.players.filter(pool=pool)
        known = set(players["player"].to_list())
        return {name: nearest_name(name, known) for name in entrants if name not in known}
