"""Boards, searches and events at a glance as they are read from a store, each in one transaction."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from podium.store.log.log import newest_seq
from podium.store.log.pools import every_pool
from podium.store.reading.boards import listings, pages
from podium.store.reading.boards.models import AdjacentEvents, EventListPage, FoundPlayer, ListedPage, Listing, Movers
from podium.store.reading.event_reader import EventReader, EventStory, event_story
from podium.store.reading.events import headlines
from podium.store.reading.models import Rivalry
from podium.store.reading.moments import VersionCache
from podium.store.reading.players import cards, rivals
from podium.store.reading.players import rivals as head_to_head
from podium.store.reading.players.models import ChangesPage, CurvePoint, PlayerCard, Rivals
from podium.store.reading.players.rivals import RivalCache
from podium.store.reading.pools import log, pool_facts
from podium.store.reading.pools import pool_facts as fairness
from podium.store.reading.pools import pool_facts as fields
from podium.store.reading.pools.models import CorrectionRecord, EventField, FairExpectation, PoolFacts


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
            return listings.search(connection, known, text, most)

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
            return headlines.event_list(connection, pool, before, top)

    def event_count(self, pool_name: str) -> int:
        """Count the events of a pool, whatever became of them.

        Returns:
            Their number.

        Raises:
            UnknownError: there is no such pool.
        """
        with self.reading(pool_name) as (connection, pool):
            return headlines.count_events(connection, pool)

    def adjacent_events(self, pool_name: str, event_id: str) -> AdjacentEvents:
        """Name the events before and after an event.

        Returns:
            Both, as far as there are any.

        Raises:
            UnknownError: no such pool or event.
        """
        with self.reading(pool_name) as (connection, pool):
            return headlines.adjacent_events(connection, pool, event_id)

    def movers(self, pool_name: str, *, days: int = 7, most: int = 10) -> Movers:
        """Show who moved most in the days up to the pool's newest event, and the surprise among the changes.

        Args:
            days: how many.
            most: players to list on either side.

        Returns:
            Sums of changes, largest first.
        """
        with self.reading(pool_name) as (connection, pool):
            find = partial(headlines.movers, connection, pool, days, most)
            key = "movers", pool.id, pool.generation, days, most
            return self.answers.value(key, newest_seq(connection, pool), find)


SETTLED = Listing()
MOST_FIELDS = 16  # that are kept: each may be of 10,000 entrants


class CareerReader(InsightReader):
    """Pools with what pages show of one player, one event, and the pool itself."""

    def __init__(self, url: str, *, must_exist: bool = False) -> None:
        """Open the database, as `Reader` does."""
        super().__init__(url, must_exist=must_exist)
        self._rivals = RivalCache()
        self._fields = VersionCache(most=MOST_FIELDS)

    def player_card(self, pool_name: str, name: str, listing: Listing = SETTLED) -> PlayerCard:
        """Show a player at a glance.

        Args:
            listing: among whom the rank is, and those who are near; all who are settled unless it says otherwise.

        Returns:
            Rating and rank, form, streaks, records and neighbours; no rank of whoever is not listed.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, pool):
            return cards.player_card(connection, pool, name, listing, self.answers)

    def rating_curve(
        self, pool_name: str, name: str, since: datetime | None = None, *, most: int = 300
    ) -> tuple[CurvePoint, ...]:
        """Show a player's rating after each change, or as many of them as tell the same shape.

        Args:
            since: from when on; from the first change on where None.
            most: points to show, at least 4.

        Returns:
            The points, oldest first.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, pool):
            return cards.rating_curve(connection, pool, name, since, most)

    def player_changes(self, pool_name: str, name: str, *, before: str | None = None, top: int = 50) -> ChangesPage:
        """List a player's changes.

        Args:
            before: the `next` of the page before; the first page where None.
            top: changes of the page.

        Returns:
            The changes, newest first; those of seasons have no event.

        Raises:
            UnknownError: no such pool or player.
            ParameterError: `before` is no cursor.
        """
        with self.reading(pool_name) as (connection, pool):
            return cards.changes_page(connection, pool, name, before, top)

    def rivals(self, pool_name: str, name: str) -> Rivals:
        """Show whom a player met in the newest events, up to a hundred; slow for the first time, then kept.

        Returns:
            Every opponent with the duels between them and their expected scores, and the best scalp.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, pool):
            return rivals.rivals(connection, pool, name, self._rivals)

    def rivalry(self, pool_name: str, name: str, other: str, *, newest: int = 10) -> Rivalry:
        """Put two players beside each other at a glance.

        Args:
            newest: meetings to show.

        Returns:
            Both as they stand, who was ahead how often, and the newest meetings.

        Raises:
            UnknownError: no such pool or player.
            ParameterError: the two are one.
        """
        with self.reading(pool_name) as (connection, pool):
            return head_to_head.rivalry(connection, pool, name, other, newest)

    def event_field(self, pool_name: str, event_id: str) -> EventField:
        """Show how strong the field of an event was, and how well each played in it.

        Returns:
            The mean rating before it, and each one's performance rating.

        Raises:
            UnknownError: no such pool or event, or it is not rated.
        """
        with self.reading(pool_name) as (connection, pool):
            version = newest_seq(connection, pool)
            return self._fields.value(
                (pool.id, event_id), version, lambda: fields.event_field(connection, pool, event_id)
            )

    def event_record(self, pool_name: str, event_id: str) -> tuple[CorrectionRecord, ...]:
        """List what was done to an event.

        Returns:
            Its submission, and each correction with its reason and the lines that it changed, oldest first.

        Raises:
            UnknownError: no such pool or event.
        """
        with self.reading(pool_name) as (connection, pool):
            return log.event_record(connection, pool, event_id)

    def pool_facts(self, pool_name: str) -> PoolFacts:
        """Show what a pool's whole history says of its ratings.

        Returns:
            What leads promise, how far duels move players, and whether promises come true: as it was worked out at
            night, or from the newest events where that is not so or the pool has grown by a tenth since.

        Raises:
            UnknownError: there is no such pool.
        """
        with self.reading(pool_name) as (connection, pool):
            kept = pool_facts.kept_facts(connection, pool)
            if kept is not None and kept.is_fresh(connection, pool):
                return kept.facts
            key = "facts", pool.id
            found = self.answers.value(
                key, pool.system, lambda: pool_facts.find_facts(connection, pool, pool_facts.WHEN_READ)
            )
            if not found.is_fresh(connection, pool):
                found = pool_facts.find_facts(connection, pool, pool_facts.WHEN_READ)
                self.answers.keep(key, pool.system, found)
            return found.facts

    def fair_expectation(self, pool_name: str, event_id: str, name: str) -> FairExpectation:
        """Say what would have been fair to expect of a player in an event, by what comes of such promises in the pool.

        Returns:
            The duels that were promised, and those that would have been fair to expect where enough such are known.

        Raises:
            UnknownError: no such pool or event, or the player is not rated in it.
        """
        with self.at_one_moment() as view:
            return fairness.fair_expectation(view.pool_facts(pool_name), view.explain(pool_name, event_id, name))


class StoryReader(CareerReader):
    """Pools with what the pages of events tell."""

    def event_story(self, pool_name: str, event_id: str, player: str | None = None) -> EventStory:
        """Tell of an event, and why it moved the rating of one player.

        Args:
            player: whose change is explained; the one that surprises most where None.

        Returns:
            Its content and changes, the explanation and what might have been, and what was done to it.

        Raises:
            UnknownError: no such pool or event, or the player is not rated in it.
        """
        with self.reading(pool_name) as (connection, pool):
            return event_story(connection, pool, event_id, player)
