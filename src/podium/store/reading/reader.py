"""What is read from a store, each in one transaction that sees one moment."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import polars as pl
import sqlalchemy as sa

from podium.engine.system import System
from podium.ledger.forecast import Forecast, field_of, forecast
from podium.ledger.leaderboard import Eligibility
from podium.store.log.chain import Head
from podium.store.log.log import newest_seq
from podium.store.log.players import admit_names
from podium.store.log.pools import SELECT_PUBLIC, Pool, every_pool, settings_of
from podium.store.rating.verification import Verification
from podium.store.reading.boards import ranks
from podium.store.reading.database_check import verify_database
from podium.store.reading.events import events
from podium.store.reading.models import (
    BoardPage,
    BoardRow,
    CareerChange,
    CommonEvent,
    Comparison,
    PlayerDetails,
    PlayerRank,
    PoolSummary,
    RatingCount,
    extended,
)
from podium.store.reading.moments import Moments
from podium.store.reading.players import explanations, rivals
from podium.store.sql.database import close_engine, open_database
from podium.store.sql.files import truncate_wal
from podium.store.writing import administration
from podium.store.writing.administration import RegisteredMatch


class Reader(Moments):
    """Pools of results with their ratings, to be read. All that take a pool's name raise `UnknownError` without one."""

    def __init__(self, url: str, *, must_exist: bool = False) -> None:
        """Open the database, and bring its schema up to date.

        Args:
            url: a path of an SQLite file, or a URL of SQLAlchemy.
            must_exist: refuse what is no database of Podium, instead of making it one.

        Raises:
            StoreError: it cannot be opened.
        """
        super().__init__(open_database(url, must_exist=must_exist))
        self.writes: Counter[str] = Counter()  # transactions that this process knows of, by pool

    def close(self) -> None:
        """Let the connections go; all that an SQLite database holds is in its file then, unless others still use it."""
        truncate_wal(self.engine)
        close_engine(self.engine)

    def pool(self, pool_name: str) -> Pool:
        """Find a pool.

        Returns:
            The pool, with its system.

        Raises:
            UnknownError: there is no such pool.
        """
        with self.reading(pool_name) as (_, pool):
            return pool

    def pools(self) -> list[Pool]:
        """List every pool.

        Returns:
            The pools with their systems, by name.
        """
        with self._reading_all() as connection:
            return every_pool(connection)

    def public_pools(self) -> frozenset[str]:
        """Name the pools that everybody may read.

        Returns:
            Their names.
        """
        with self._reading_all() as connection:
            return frozenset(connection.execute(SELECT_PUBLIC).scalars())

    def pool_summaries(self) -> tuple[PoolSummary, ...]:
        """List every pool with its parameters, and a warning where its system does not suit its players.

        Returns:
            A summary each, by name.
        """
        with self._reading_all() as connection:
            return tuple(pool_summary(connection, each) for each in every_pool(connection))

    def pool_summary(self, pool_name: str) -> PoolSummary:
        """Show a pool as `pool_summaries` has it.

        Returns:
            Its summary.

        Raises:
            UnknownError: there is no such pool.
        """
        with self.reading(pool_name) as (connection, pool):
            return pool_summary(connection, pool)

    def limit_notice(self, pool_name: str) -> str | None:
        """Warn of players at a limit of the pool's system.

        Returns:
            How many there are, and what suits such results; None where none is.
        """
        with self.reading(pool_name) as (connection, pool):
            return ranks.limit_notice(connection, pool)

    def match(self, pool_name: str, match_id: str) -> RegisteredMatch:
        """Show a registered match, and what came of it.

        Returns:
            The match: entrants, state, expiry, and the event that is its result.

        Raises:
            UnknownError: no such pool or match.
        """
        with self.reading(pool_name) as (connection, pool):
            return administration.match_of(connection, pool, match_id)

    def waiting_matches(self, pool_name: str) -> list[str]:
        """List the matches that wait for a result.

        Returns:
            Their ids, the first to expire first.

        Raises:
            UnknownError: there is no such pool.
        """
        with self.reading(pool_name) as (connection, pool):
            return administration.waiting_matches(connection, pool)

    def leaderboard(self, pool_name: str, *, top: int = 100, after: ranks.Place | None = None) -> BoardPage:
        """Show a page of the leaderboard.

        Args:
            top: rows of the page.
            after: where the page before ended; the first page where None.

        Returns:
            The players, best first, and the cursor of the next page.

        Raises:
            UnknownError: there is no such pool.
        """
        with self.reading(pool_name) as (connection, pool):
            return ranks.page(connection, pool, top, after)

    def board(self, pool_name: str, rules: Eligibility, at: datetime | None = None) -> pl.DataFrame:
        """Show the board of those whom the rules list, as of a moment.

        Args:
            rules: who is listed.
            at: the moment; now where None.

        Returns:
            A row a player, as `Rated.leaderboard` has it.

        Raises:
            ParameterError: a rule that the system cannot serve.
        """
        with self.reading(pool_name) as (connection, pool):
            return ranks.eligible_board(connection, pool, rules, at)

    def version(self, pool_name: str) -> int:
        """Number the pool's newest log entry: as long as it is the same, so are all ratings.

        Returns:
            The sequence number; 0 before the first entry.
        """
        with self.reading(pool_name) as (connection, pool):
            return newest_seq(connection, pool)

    def system_and_states(self, pool_name: str, names: Sequence[str]) -> tuple[System, list[Any]]:
        """Read a pool's system and players' states, all of one moment.

        Args:
            names: the players.

        Returns:
            The system, and in the order of the names its NamedTuple of each; a newcomer's for whoever has none.
        """
        with self.reading(pool_name) as (connection, pool):
            return explanations.system_and_states(connection, pool, names)

    def news(self, pool_name: str, after: int, most: int = 100) -> list[dict[str, Any]]:
        """List what happened since an entry of the log.

        Args:
            after: the sequence number of that entry.
            most: entries to list.

        Returns:
            A dict an entry, oldest first.
        """
        with self.reading(pool_name) as (connection, pool):
            return events.news(connection, pool, after, most)

    def rank(self, pool_name: str, name: str) -> PlayerRank:
        """Show a player's rank.

        Returns:
            The rank, and the share of players who are not rated above.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, pool):
            return ranks.rank(connection, pool, name)

    def neighbours(self, pool_name: str, name: str, each: int = 5) -> tuple[BoardRow, ...]:
        """Show a player among those ranked next.

        Args:
            each: how many above, and how many below.

        Returns:
            The players, best first.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, pool):
            return ranks.neighbours(connection, pool, name, each)

    def career(self, pool_name: str, name: str, top: int = 1000) -> tuple[CareerChange, ...]:
        """Show a player's newest changes.

        Args:
            top: changes to show.

        Returns:
            The changes, newest first; those of seasons have no event.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, pool):
            return events.career(connection, pool, name, top)

    def player(self, pool_name: str, name: str, top: int = 1000) -> PlayerDetails:
        """Show a player's rank and newest changes.

        Args:
            top: changes to show.

        Returns:
            What `rank` has, and the changes as its `history`.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, pool):
            history = events.career(connection, pool, name, top)
            return extended(PlayerDetails, ranks.rank(connection, pool, name), history=history)

    def distribution(self, pool_name: str) -> tuple[RatingCount, ...]:
        """Count the players of each whole rating.

        Returns:
            A count for each whole rating that somebody has, lowest first.
        """
        with self.reading(pool_name) as (connection, pool):
            return ranks.distribution(connection, pool)

    def head_to_head(self, pool_name: str, name: str, other: str) -> tuple[CommonEvent, ...]:
        """List the events in which two players met.

        Returns:
            The events, newest first.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, pool):
            return rivals.meetings(connection, pool, name, other)

    def compare(self, pool_name: str, name: str, other: str) -> Comparison:
        """Put two players beside each other.

        Returns:
            Both as they stand, the expected score of the first, and their common events.

        Raises:
            UnknownError: no such pool or player.
            ParameterError: the two are one.
        """
        with self.reading(pool_name) as (connection, pool):
            return rivals.comparison(connection, pool, name, other)

    def predict(
        self, pool_name: str, entrants: Sequence[str] = (), *, sides: Sequence[Sequence[str]] = (), top: int = 3
    ) -> Forecast:
        """Forecast the chances of players as they stand; whoever has not played is a newcomer.

        Args:
            entrants: the names of those who start alone.
            sides: the names of each side's members, where several start together.
            top: how many places count as the top.

        Returns:
            Chances between 0 and 1 of each rank and in each pair.

        Raises:
            ParameterError: fewer than two sides, a player twice, a name that the rule refuses, or `top` below 1.
        """
        with self.reading(pool_name) as (connection, pool):
            field = field_of(entrants, sides, lambda names: admit_names(connection, pool, names))
            system, known = explanations.system_and_states(connection, pool, [name for side in field for name in side])
            return forecast(system, field, known, top)

    def verify(self, pool_name: str | None = None) -> list[str]:
        """Compare the derived tables with the log rated anew, bit for bit.

        Args:
            pool_name: one pool; all where None.

        Returns:
            A sentence for each difference; empty where all is well.
        """
        return self.verification(pool_name).findings

    def verification(self, pool_name: str | None = None, heads: Sequence[Head] = ()) -> Verification:
        """Check the chain of the log, and compare what is kept with the log rated anew, bit for bit.

        Meanwhile SQLite checks its file. A fault in one pool keeps no other from being compared.

        Args:
            pool_name: one pool; all where None.
            heads: of receipts; the log of one of the pools must have each.

        Returns:
            How much was compared, and what was found.

        Raises:
            UnavailableError: the database cannot serve at the moment.
            UnknownError: there is no such pool.
        """
        return verify_database(self.engine, pool_name, heads)


def pool_summary(connection: sa.Connection, pool: Pool) -> PoolSummary:
    """What a pool is, and what it says of itself."""
    notice = ranks.limit_notice(connection, pool)
    version, says = newest_seq(connection, pool), asdict(pool.description)
    return PoolSummary(pool.name, pool.system.name, settings_of(pool.system), notice, **says, version=version)
