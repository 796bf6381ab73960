"""Results that were rated part by part, as one table of ratings."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from podium.engine.replay import Replayed
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.engine.tables.selection import EVENT
from podium.errors import ParameterError, UnknownError
from podium.large.checkpoint import Progress
from podium.large.streaming import EVERY, RatedStream, rate_all
from podium.ledger import leaderboard as boards
from podium.ledger.forecast import nearest_name
from podium.rated.rated import Rated
from podium.rated.tables import empty_results, rate_table

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
    """Rate a folder of Parquet files, or one such file, in bounded memory; see `rate_stream`."""
    stream = RatedStream(
        folder, system, period, start, history_to=history_to, checkpoint=checkpoint, every=every, waits=False
    )
    done = rate_all(stream, start)
    again = partial(RatedStream, folder, system, period, done.began)
    return RatedParts(system, period, done, again)


class RatedParts(Rated):
    """A folder of results, or a dataset, rated part by part in bounded memory.

    It knows where everyone stands. What needs the rows, such as `history`, `leaderboard()` or `explain()`, rates the
    files again, which must not have changed; only a whole `history` and `predictions` are as large as they are.
    """

    def __init__(
        self,
        system: System,
        period: str,
        done: Progress,
        again: Callable[[], Iterator[Rated]],
        **known: Any,
    ) -> None:
        """Take note of what is known without the rows; `known` of a dataset is itself, and what each pool took."""
        standing = done.standing
        assert standing is not None  # noqa: S101  (all is rated)
        self.__dict__.update(system=system, period=period, start=done.began)  # as a frozen dataclass sets its own
        self.__dict__.update(_everyone=(standing.players, standing.states), _pool_states=standing.pools)
        self.__dict__.update(_sizes=dict(done.sizes), _events=done.events, _again=again, **known)
        self._sizes: dict[str, int]
        self._events: int
        self._again: Callable[[], Iterator[Rated]]

    def parts(self) -> Iterator[Rated]:
        """Rate the files again, part by part, as `rate_stream` does."""
        return self._again()

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
        return self.system.limit_notice(self._everyone[1])

    @property
    def event_count(self) -> int:
        return self._events

    def _pools(self) -> Iterator[tuple[str, int]]:
        known = [] if self.start is None else self.start.players["pool"].unique(maintain_order=True).to_list()
        yield from (dict.fromkeys(known, 0) | self._sizes).items()

    @cached_property
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
        return self._part_of(event_id).explain(event_id, player)

    def what_if(self, event_id: str, player: str) -> "WhatIf":
        return self._part_of(event_id).what_if(event_id, player)

    def _part_of(self, event_id: str) -> Rated:
        for part in self.parts():
            if (part.results.frame["event_id"] == event_id).any():
                return part
        raise UnknownError(f"there is no event {event_id!r}")

    def predictions(self) -> pl.DataFrame:
        return pl.concat([part.predictions() for part in self.parts()], how="diagonal")

    def strengths(self, *, top: int = 5, probe: float | None = None) -> pl.DataFrame:
        return pl.concat([part.strengths(top=top, probe=probe) for part in self.parts()])

    def newcomers(self, entrants: Sequence[str], *, pool: str | None = None) -> dict[str, str | None]:
        players = self._everyone[0] if pool is None else self._everyone[0].filter(pool=pool)
        known = set(players["player"].to_list())
        return {name: nearest_name(name, known) for name in entrants if name not in known}
