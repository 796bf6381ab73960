"""A folder of results, rated part by part, as one table of ratings."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from podium.engine.pool_state import PoolNumbers
from podium.engine.replay import Replayed, States
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.engine.tables.selection import EVENT
from podium.errors import ParameterError, UnknownError
from podium.large.streaming import EVERY, RatedStream
from podium.ledger import leaderboard as boards
from podium.ledger.forecast import nearest_name
from podium.ledger.saved import Start
from podium.rated.rated import Rated
from podium.rated.tables import begin, empty_results, rate_table

if TYPE_CHECKING:
    from podium.ledger.reasons.explanation import Explanation
    from podium.ledger.reasons.what_if import WhatIf

NOT_HELD = "the rows of a folder are not held in memory; podium.rate_stream gives them part by part"


def rate_folder(
    folder: str | Path,
    system: System,
    period: str,
    start: Any,
    *,
    history_to: str | Path | None = None,
    checkpoint: str | Path | None = None,
    every: int = EVERY,
) -> "RatedParts":
    """Rate a folder of Parquet files, or one such file, in bounded memory; see `rate_stream`.

    Raises:
        OutputError: as `rate_stream` raises it.
    """
    stream = RatedStream(
        folder, system, period, start, history_to=history_to, checkpoint=checkpoint, every=every, waits=False
    )
    for part in stream:
        del part  # before the next is rated
    done = stream.progress
    standing, began = done.standing, done.began
    if standing is None:
        nothing = empty_results()
        began = None if start is None else begin(start, system, period, nothing)
        standing = rate_table(nothing, system, period, began).standing()
    return RatedParts(folder, standing, began, done.sizes, done.events, system, period)


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
        return RatedStream(self._folder, self.system, self.period, self.start)

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

    def explain(self, event_id: str, player: str) -> "Explanation":
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

    def what_if(self, event_id: str, player: str) -> "WhatIf":
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
