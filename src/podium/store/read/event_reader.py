"""Events, their reasons and the history as they are read from a store, each in one transaction."""

from collections.abc import Iterator

import polars as pl

from podium.ledger.reasons.explanation import Explanation
from podium.ledger.reasons.what_if import WhatIf
from podium.rated import Rated, rate
from podium.results.reading import Results
from podium.store.derive import snapshots
from podium.store.derive.rating import counting_results
from podium.store.read import daily_ranks, events, seasons
from podium.store.read.log_listing import listing, newest_listing
from podium.store.read.models import DailyRank, EventDetails, LogRecord, RankedPlayer, Season
from podium.store.read.pool_export import export_lines
from podium.store.read.reader import Reader


class EventReader(Reader):
    """Pools with their events and history, to be read."""

    def event(self, pool_name: str, event_id: str) -> EventDetails:
        """Show an event with its content and changes.

        Returns:
            Its content, status and changes.

        Raises:
            UnknownError: no such pool or event.
        """
        with self.reading(pool_name) as (connection, pool):
            return events.event_details(connection, pool, event_id)

    def explain(self, pool_name: str, event_id: str, name: str) -> Explanation:
        """Say why a player's rating moved in an event, exactly.

        Returns:
            The change in points, every reason as a row, and the reasons in a sentence.

        Raises:
            UnknownError: no such pool or event, or the player is not rated in it.
        """
        with self.reading(pool_name) as (connection, pool):
            return events.explanation(connection, pool, event_id, name)

    def what_if(self, pool_name: str, event_id: str, name: str) -> WhatIf:
        """Show what an event would have done to a player's rating with one thing changed.

        Returns:
            The change as it was, and with each heat won, each quit a finish, and all heats won.

        Raises:
            UnknownError: no such pool or event, or the player is not rated in it.
        """
        with self.reading(pool_name) as (connection, pool):
            return events.alternatives(connection, pool, event_id, name)

    def results(self, pool_name: str) -> Results:
        """Read the results that count, as they stand.

        Returns:
            A table that any replay rates to the same bits, but for seasons.
        """
        with self.reading(pool_name) as (connection, pool):
            return counting_results(connection, pool)

    def rated(self, pool_name: str) -> Rated:
        """Rate the pool anew by the library, from its results.

        Returns:
            The library's answer; it knows no seasons.
        """
        with self.reading(pool_name) as (connection, pool):
            return rate(counting_results(connection, pool), pool.system)

    def history(self, pool_name: str) -> pl.DataFrame:
        """Read every change as the ledger has it.

        Returns:
            A row for each player of each event, as `podium.rate(…).history` has it.
        """
        with self.reading(pool_name) as (connection, pool):
            return events.history(connection, pool)

    def log(self, pool_name: str, *, after: int = 0, most: int = 100) -> tuple[LogRecord, ...]:
        """List entries of the log above a number, oldest first.

        Args:
            after: the number.
            most: entries to list.

        Returns:
            The entries, without what they contain: with why they were, unless that is blanked, and what a correction
            moved, but for that of an imported pool.
        """
        with self.reading(pool_name) as (connection, pool):
            return listing(connection, pool, after, most)

    def newest_log(self, pool_name: str, *, before: int | None = None, most: int = 100) -> tuple[LogRecord, ...]:
        """List entries of the log below a number, newest first.

        Args:
            before: the number; from the newest on where None.
            most: entries to list.

        Returns:
            The entries, as `log` has them.
        """
        with self.reading(pool_name) as (connection, pool):
            return newest_listing(connection, pool, before, most)

    def export_pool(self, pool_name: str) -> Iterator[str]:
        """Write a pool as lines of JSON: its log with the chain, and its players' names.

        Yields:
            A line that says what follows, a line a player, and a line a log entry, all of one moment.

        Raises:
            StoreError: the log is not chained yet, or its chain is broken.
        """
        with self.reading(pool_name) as (connection, pool):
            yield from export_lines(connection, pool)

    def seasons(self, pool_name: str) -> tuple[Season, ...]:
        """List the seasons.

        Returns:
            The seasons, oldest first.
        """
        with self.reading(pool_name) as (connection, pool):
            return seasons.seasons(connection, pool)

    def season_board(self, pool_name: str, name: str) -> pl.DataFrame:
        """Show how the board stood when a season ended, or as it stands where it is not over.

        Returns:
            A row a player, best first.

        Raises:
            UnknownError: no such pool or season.
        """
        with self.reading(pool_name) as (connection, pool):
            return seasons.season_board(connection, pool, name)

    def snapshot_days(self, pool_name: str) -> list[int]:
        """List the days that have ranks.

        Returns:
            Days since 1970, oldest first; none that waits to be taken again.
        """
        with self.reading(pool_name) as (connection, pool):
            return snapshots.days(connection, pool)

    def newest_days(self) -> dict[str, int]:
        """Show up to when ranks are stored.

        Returns:
            The newest day that has ranks, since 1970, by pool; none of a pool that has no such day.
        """
        with self._reading_all() as connection:
            return snapshots.newest_days(connection)

    def ranks_on(self, pool_name: str, day: int) -> tuple[RankedPlayer, ...]:
        """Show the ranks of a day.

        Args:
            day: days since 1970.

        Returns:
            The players, best first.

        Raises:
            UnknownError: no such pool, or the day has no ranks.
        """
        with self.reading(pool_name) as (connection, pool):
            return daily_ranks.ranks_on(connection, pool, day)

    def ranks_of(self, pool_name: str, name: str) -> tuple[DailyRank, ...]:
        """Show a player's rank day by day.

        Returns:
            The ranks, oldest first.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, pool):
            return daily_ranks.ranks_of_player(connection, pool, name)
