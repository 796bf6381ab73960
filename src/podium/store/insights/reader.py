"""Boards, searches and events at a glance as they are read from a store, each in one transaction."""

from collections.abc import Sequence
from functools import partial

from podium.store.insights import search
from podium.store.insights.board_models import (
    AdjacentEvents,
    EventListPage,
    FoundPlayer,
    ListedPage,
    Listing,
    Movers,
)
from podium.store.insights.boards import pages
from podium.store.insights.events import event_list, movers
from podium.store.insights.version_cache import VersionCache
from podium.store.log.log import newest_seq
from podium.store.log.pools import every_pool
from podium.store.read.event_reader import EventReader


class InsightReader(EventReader):
    """Pools as pages show them."""

    def __init__(self, url: str, *, must_exist: bool = False) -> None:
        """Open the database, as `Reader` does."""
        super().__init__(url, must_exist=must_exist)
        self.answers = VersionCache()

    def listed_board(self, pool_name: str, listing: Listing, *, after: str | None = None, top: int = 50) -> ListedPage:
        """Show a page of the board of those who are listed.

        Args:
            listing: who is.
            after: the `next` of the page before; the first page where None.
            top: rows of the page.

        Returns:
            The players, best first, with their ranks among each other.

        Raises:
            UnknownError: there is no such pool.
            ParameterError: `after` is no cursor.
        """
        with self.reading(pool_name) as (connection, pool):
            return pages.listed_board(connection, pool, listing, after, top, self.answers)

    def page_of(self, pool_name: str, listing: Listing, name: str, *, top: int = 50) -> str | None:
        """Find the page that a player is on.

        Args:
            listing: who is listed.
            name: the player.
            top: rows of a page.

        Returns:
            The `after` of that page, empty for the first; None where the player is not listed.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, pool):
            return pages.page_of(connection, pool, listing, name, top, self.answers)

    def newest_entrants(self, pool_name: str, listing: Listing, *, top: int = 200) -> ListedPage:
        """Show those of a board who were in the pool's newest rated event, the largest gain first.

        Args:
            listing: who is on the board.
            top: entrants to look at.

        Returns:
            The entrants who are listed, with their ranks on the board.

        Raises:
            UnknownError: there is no such pool.
        """
        with self.reading(pool_name) as (connection, pool):
            return pages.newest_entrants(connection, pool, listing, top, self.answers)

    def search(self, text: str, pools: Sequence[str] | None = None, *, most: int = 10) -> tuple[FoundPlayer, ...]:
        """Find players by how their names begin, former names too.

        Args:
            text: how a name begins; case and accents do not matter.
            pools: the pools to look in; all where None.
            most: players to list at most.

        Returns:
            The players, best rated first; similar names where nothing is found.
        """
        with self._reading_all() as connection:
            known = [each for each in every_pool(connection) if pools is None or each.name in pools]
            return search.search(connection, known, text, most)

    def event_list(self, pool_name: str, *, before: str | None = None, top: int = 50) -> EventListPage:
        """List events with a headline each.

        Args:
            before: the `next` of the page before; the first page where None.
            top: events of the page.

        Returns:
            The events, newest first.

        Raises:
            UnknownError: there is no such pool.
            ParameterError: `before` is no cursor.
        """
        with self.reading(pool_name) as (connection, pool):
            return event_list.event_list(connection, pool, before, top)

    def event_count(self, pool_name: str) -> int:
        """Count the events of a pool, whatever became of them.

        Returns:
            Their number.

        Raises:
            UnknownError: there is no such pool.
        """
        with self.reading(pool_name) as (connection, pool):
            return event_list.count_events(connection, pool)

    def adjacent_events(self, pool_name: str, event_id: str) -> AdjacentEvents:
        """Name the events before and after an event.

        Returns:
            Both, as far as there are any.

        Raises:
            UnknownError: no such pool or event.
        """
        with self.reading(pool_name) as (connection, pool):
            return event_list.adjacent_events(connection, pool, event_id)

    def movers(self, pool_name: str, *, days: int = 7, most: int = 10) -> Movers:
        """Show who moved most in the days up to the pool's newest event, and the surprise among the changes.

        Args:
            days: how many.
            most: players to list on either side.

        Returns:
            Sums of changes, largest first.
        """
        with self.reading(pool_name) as (connection, pool):
            find = partial(movers.movers, connection, pool, days, most)
            key = "movers", pool.id, pool.generation, days, most
            return self.answers.value(key, newest_seq(connection, pool), find)
