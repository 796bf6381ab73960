"""Events, their reasons and the history as they are read from a store, each in one transaction."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl
import sqlalchemy as sa

from podium.ledger.performance import PerformanceRating, performance
from podium.ledger.reasons.explaining import explain, find_entrant
from podium.ledger.reasons.explanation import Explanation
from podium.ledger.reasons.what_if import WhatIf, what_if
from podium.rated import Rated
from podium.rating import rate
from podium.results.derived_heats import OVERALL
from podium.results.reading import Results
from podium.store.log.pools import Pool, other_arithmetic
from podium.store.rating import facts
from podium.store.rating.events import get_event
from podium.store.rating.rating import counting_results
from podium.store.reading.boards import ranks
from podium.store.reading.boards.models import AdjacentEvents
from podium.store.reading.events import events
from podium.store.reading.events.events import details_of, entrants_before, event_results, name_of
from podium.store.reading.events.headlines import adjacent_events
from podium.store.reading.models import DailyRank, EventDetails, LogRecord, RankedPlayer, Season
from podium.store.reading.pools.export import export_lines
from podium.store.reading.pools.log import event_record, listing, newest_listing
from podium.store.reading.pools.models import CorrectionRecord
from podium.store.reading.reader import Reader


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
            return ranks.seasons(connection, pool)

    def season_board(self, pool_name: str, name: str) -> pl.DataFrame:
        """Show how the board stood when a season ended, or as it stands where it is not over.

        Returns:
            A row a player, best first.

        Raises:
            UnknownError: no such pool or season.
        """
        with self.reading(pool_name) as (connection, pool):
            return ranks.season_board(connection, pool, name)

    def snapshot_days(self, pool_name: str) -> list[int]:
        """List the days that have ranks.

        Returns:
            Days since 1970, oldest first; none that waits to be taken again.
        """
        with self.reading(pool_name) as (connection, pool):
            return facts.days(connection, pool)

    def newest_days(self) -> dict[str, int]:
        """Show up to when ranks are stored.

        Returns:
            The newest day that has ranks, since 1970, by pool; none of a pool that has no such day.
        """
        with self._reading_all() as connection:
            return facts.newest_days(connection)

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
            return ranks.ranks_on(connection, pool, day)

    def ranks_of(self, pool_name: str, name: str) -> tuple[DailyRank, ...]:
        """Show a player's rank day by day.

        Returns:
            The ranks, oldest first.

        Raises:
            UnknownError: no such pool or player.
        """
        with self.reading(pool_name) as (connection, pool):
            return ranks.ranks_of_player(connection, pool, name)


@dataclass(frozen=True, slots=True)
class EventStory:
    """An event, and why it moved the rating of one player."""

    pool: Pool
    details: EventDetails
    record: tuple[CorrectionRecord, ...]
    beside: AdjacentEvents
    player: str = ""  # whose change is explained; empty where no change is
    explanation: Explanation | None = None
    imagined: WhatIf | None = None
    is_first: bool = False  # whether it was the player's first rated event
    performance: PerformanceRating | None = None  # how well the player played in it
    waits: str = ""  # why an event that is rated cannot be explained at the moment


def event_story(connection: sa.Connection, pool: Pool, event_id: str, player: str | None) -> EventStory:
    """Tell of an event.

    Args:
        player: whose change is explained; the one that surprises most where None.

    Raises:
        UnknownError: there is no such event, or the player is not rated in it.
    """
    row = get_event(connection, pool, event_id)
    results = event_results(connection, pool, row)
    details, record = details_of(connection, pool, row, results), event_record(connection, pool, event_id)
    beside = adjacent_events(connection, pool, event_id)
    waits = other_arithmetic(pool)
    if waits or not details.changes:
        return EventStory(pool, details, record, beside, waits=waits)
    name = None if player is None else name_of(connection, pool, player)
    live = entrants_before(connection, pool, row, results)
    newcomers = {each.player for each in details.changes} - {each for _, each in live.ratings}
    events, replayed = live.advance(results)  # of an event that the pool has rated
    moved = max(details.changes, key=lambda each: abs(each.delta)).player
    explanation = explain(pool.system, events, replayed, event_id, name or moved)
    if name is None and (against := surprise(explanation, details)) not in {"", moved}:
        explanation = explain(pool.system, events, replayed, event_id, against)
    imagined = what_if(pool.system, events, replayed, event_id, explanation.player)
    is_first = explanation.player in newcomers
    _, _, entrant, _ = find_entrant(events, event_id, explanation.player)
    played = performance(pool.system, events, replayed, entrant)
    return EventStory(pool, details, record, beside, explanation.player, explanation, imagined, is_first, played)


def surprise(explanation: Explanation, details: EventDetails) -> str:
    """Who won and lost most, or came last and gained most; empty where nobody did."""
    lines = [line for line in explanation.standings.to_dicts() if line["place"] is not None]
    heats = {line["heat"] for line in lines}
    deciding = OVERALL if OVERALL in heats else None
    places = {line["player"]: line["place"] for line in lines if line["heat"] == deciding or len(heats) == 1}
    worst = max(places.values(), default=1)
    against = [
        each
        for each in details.changes
        if (places.get(each.player) == 1 and each.delta < 0.0)
        or (places.get(each.player) == worst and each.delta > 0.0)
    ]
    return max(against, key=lambda each: abs(each.delta)).player if worst > 1 and against else ""
