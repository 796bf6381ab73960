"""Players, the fields and records of events, and facts of a pool as they are read from a store."""

from datetime import datetime

from podium.store.insights.board_models import Listing
from podium.store.insights.careers import cards, changes, curves, rivals
from podium.store.insights.careers.rivals import RivalCache
from podium.store.insights.fact_models import CorrectionRecord, EventField, FairExpectation, PoolFacts
from podium.store.insights.facts import corrections, fairness, fields, pool_facts
from podium.store.insights.player_models import ChangesPage, CurvePoint, PlayerCard, Rivals
from podium.store.insights.reader import InsightReader
from podium.store.insights.version_cache import VersionCache
from podium.store.log.log import newest_seq
from podium.store.read import head_to_head
from podium.store.read.models import Rivalry

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
            return curves.rating_curve(connection, pool, name, since, most)

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
            return changes.changes_page(connection, pool, name, before, top)

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
            return corrections.event_record(connection, pool, event_id)

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
