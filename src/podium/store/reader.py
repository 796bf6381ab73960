"""What is read from a store, each in one transaction that sees one moment."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import polars as pl
import sqlalchemy as sa

from podium.explanation import Explanation
from podium.forecast import Forecast, forecast
from podium.leaderboard import Eligibility
from podium.rated import Rated, rate
from podium.results import Results
from podium.store import boards, lookup, matches, snapshots
from podium.store.database import only_reading, opened
from podium.store.log import entries_after, newest_seq
from podium.store.matches import Registered
from podium.store.players import admitted
from podium.store.pools import Pool, every_pool, wanted_pool
from podium.store.rerating import counting_results
from podium.store.verification import differences


class Reader:
    """Pools of results with their ratings, to be read. All that take a pool's name raise `UnknownError` without one."""

    def __init__(self, url: str) -> None:
        """Open the database, and bring its schema up to date.

        Args:
            url: a path of an SQLite file, or a URL of SQLAlchemy.

        Raises:
            StoreError: it cannot be opened.
        """
        self.engine = opened(url)
        self.writes: Counter[str] = Counter()  # transactions of this process, by pool

    def close(self) -> None:
        """Let the connections go."""
        self.engine.dispose()

    @contextmanager
    def reading(self, pool_name: str) -> Iterator[tuple[sa.Connection, Pool]]:
        """A transaction that sees one moment of a pool."""
        with only_reading(self.engine).connect() as connection:
            yield connection, wanted_pool(connection, pool_name)

    def pools(self) -> list[Pool]:
        """Every pool, by name."""
        with only_reading(self.engine).connect() as connection:
            return every_pool(connection)

    def match(self, pool_name: str, match_id: str) -> Registered:
        """A registered match, and what came of it.

        Raises:
            UnknownError: no such pool or match.
        """
        with self.reading(pool_name) as (connection, of):
            return matches.registered(connection, of, match_id)

    def waiting_matches(self, pool_name: str) -> list[str]:
        """The ids of the matches that wait for a result, the first to expire first."""
        with self.reading(pool_name) as (connection, of):
            return matches.waiting(connection, of)

    def leaderboard(self, pool_name: str, *, top: int = 100, after: boards.Place | None = None) -> list[dict[str, Any]]:
        """A page of the leaderboard; see `podium.store.boards.page`."""
        with self.reading(pool_name) as (connection, of):
            return boards.page(connection, of, top, after)

    def board(self, pool_name: str, rules: Eligibility, at: datetime | None = None) -> pl.DataFrame:
        """The board of those whom the rules list, as of a moment; see `podium.store.boards.filtered`.

        Raises:
            ParameterError: a rule that the system cannot serve.
        """
        with self.reading(pool_name) as (connection, of):
            return boards.filtered(connection, of, rules, at)

    def version(self, pool_name: str) -> int:
        """The number of the pool's newest log entry: as long as it is the same, so are all ratings."""
        with self.reading(pool_name) as (connection, of):
            return newest_seq(connection, of)

    def states(self, pool_name: str, names: Sequence[str]) -> list[Any]:
        """Each player's state, as the system's NamedTuple; a newcomer's for whoever has none."""
        with self.reading(pool_name) as (connection, of):
            return lookup.states(connection, of, names)

    def news(self, pool_name: str, after: int, most: int = 100) -> list[dict[str, Any]]:
        """What happened since an entry of the log, oldest first; see `podium.store.lookup.news`."""
        with self.reading(pool_name) as (connection, of):
            return lookup.news(connection, of, after, most)

    def rank(self, pool_name: str, name: str) -> dict[str, Any]:
        """A player's rank, rating and percentile; see `podium.store.boards.rank`.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, of):
            return boards.rank(connection, of, name)

    def neighbours(self, pool_name: str, name: str, each: int = 5) -> list[dict[str, Any]]:
        """A player among those ranked next; see `podium.store.boards.neighbours`.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, of):
            return boards.neighbours(connection, of, name, each)

    def career(self, pool_name: str, name: str, top: int = 1000) -> list[dict[str, Any]]:
        """A player's newest changes, newest first; see `podium.store.boards.career`.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, of):
            return boards.career(connection, of, name, top)

    def player(self, pool_name: str, name: str, top: int = 1000) -> dict[str, Any]:
        """A player's rank, and the newest changes as `history`.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, of):
            return boards.rank(connection, of, name) | {"history": boards.career(connection, of, name, top)}

    def distribution(self, pool_name: str) -> list[tuple[int, int]]:
        """Players per whole rating, lowest first."""
        with self.reading(pool_name) as (connection, of):
            return boards.distribution(connection, of)

    def head_to_head(self, pool_name: str, name: str, other: str) -> list[dict[str, Any]]:
        """The events in which two players met; see `podium.store.lookup.meetings`.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, of):
            return lookup.meetings(connection, of, name, other)

    def compare(self, pool_name: str, name: str, other: str) -> dict[str, Any]:
        """Two players beside each other; see `podium.store.lookup.compared`.

        Raises:
            UnknownError: no such pool or player.
            ParameterError: the two are one.
        """
        with self.reading(pool_name) as (connection, of):
            return lookup.compared(connection, of, name, other)

    def predict(self, pool_name: str, entrants: Sequence[str], *, top: int = 3) -> Forecast:
        """The chances of players, as they stand; whoever has not played is a newcomer.

        Raises:
            ParameterError: fewer than two, one twice, a name that the rule refuses, or `top` below 1.
        """
        with self.reading(pool_name) as (connection, of):
            names = admitted(connection, of, entrants)
            return forecast(of.system, names, lookup.states(connection, of, names), top)

    # Events and history

    def event(self, pool_name: str, event_id: str) -> dict[str, Any]:
        """An event with its content and changes; see `podium.store.lookup.event_told`.

        Raises:
            UnknownError: no such pool or event.
        """
        with self.reading(pool_name) as (connection, of):
            return lookup.event_told(connection, of, event_id)

    def explain(self, pool_name: str, event_id: str, name: str) -> Explanation:
        """Why a player's rating moved in an event, exactly.

        Raises:
            UnknownError: no such pool or event, or the player is not rated in it.
        """
        with self.reading(pool_name) as (connection, of):
            return lookup.explained(connection, of, event_id, name)

    def results(self, pool_name: str) -> Results:
        """The results that count, as they stand: a table that any replay rates to the same bits, but for seasons."""
        with self.reading(pool_name) as (connection, of):
            return counting_results(connection, of)

    def rated(self, pool_name: str) -> Rated:
        """The pool rated anew by the library, from its results; it knows no seasons."""
        with self.reading(pool_name) as (connection, of):
            return rate(counting_results(connection, of), of.system)

    def history(self, pool_name: str) -> pl.DataFrame:
        """Every change as it is kept, as `podium.rate(…).history` has it."""
        with self.reading(pool_name) as (connection, of):
            return lookup.history(connection, of)

    def log(self, pool_name: str, *, after: int = 0, most: int = 100) -> list[dict[str, Any]]:
        """Entries of the log above a number, oldest first: `seq, kind, subject, received_at, actor`."""
        with self.reading(pool_name) as (connection, of):
            return [dict(row._mapping) for row in entries_after(connection, of, after, most)]  # noqa: SLF001  (public)

    def seasons(self, pool_name: str) -> list[dict[str, Any]]:
        """The seasons, oldest first: `name, starts_at, keep`."""
        with self.reading(pool_name) as (connection, of):
            return lookup.seasons(connection, of)

    def season_board(self, pool_name: str, name: str) -> pl.DataFrame:
        """How the board stood when a season ended, or as it stands where it is not over.

        Raises:
            UnknownError: no such pool or season.
        """
        with self.reading(pool_name) as (connection, of):
            return lookup.season_board(connection, of, name)

    def snapshot_days(self, pool_name: str) -> list[int]:
        """The days that are kept, oldest first; none that waits to be taken again."""
        with self.reading(pool_name) as (connection, of):
            return snapshots.days(connection, of)

    def ranks_on(self, pool_name: str, day: int) -> list[dict[str, Any]]:
        """The ranks of a day, best first: `rank, player, rating`.

        Raises:
            UnknownError: no such pool, or the day was not kept.
        """
        with self.reading(pool_name) as (connection, of):
            return snapshots.told(connection, of, day)

    def ranks_of(self, pool_name: str, name: str) -> list[dict[str, Any]]:
        """A player's rank day by day: `day, rank, rating`.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, of):
            return snapshots.of_player(connection, of, name)

    def verify(self, pool_name: str | None = None) -> list[str]:
        """What differs between the log rated anew and what is kept, bit for bit; nothing where all is well."""
        names = [each.name for each in self.pools()] if pool_name is None else [pool_name]
        told = []
        for name in names:
            with self.reading(name) as (connection, of):
                told += differences(connection, of)
        return told
