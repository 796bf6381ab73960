"""Who is on a board, by statements: the rows of a page, how many there are, and how many stand before a place.

A board of all, or of all who are settled, is counted by the counts of players per rating, which writers keep. Any other
is counted row by row, once for each version of the pool.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.store.insights.board_models import Listing
from podium.store.insights.events.event_list import newest_rated
from podium.store.insights.version_cache import VersionCache
from podium.store.log.log import newest_seq
from podium.store.log.pools import Pool
from podium.store.read.boards import (
    BOARD_CURSOR,
    BOARD_ORDER,
    IN_POOL,
    IS_SETTLED,
    Place,
    count_better,
    count_players,
    ranks_of,
)
from podium.store.rows.standings import HAS_STANDING
from podium.store.sql.among import among, values
from podium.store.sql.schema import player, standing

ROW_COLUMNS = (
    standing.c.player_id,
    player.c.name,
    standing.c.rating,
    standing.c.events,
    standing.c.played_at,
    standing.c.provisional,
    standing.c.deviation,
)
ROWS = sa.select(*ROW_COLUMNS).join(player, HAS_STANDING)
BEST_FIRST = standing.c.rating.desc(), standing.c.player_id.desc()
TOP: sa.BindParameter[int] = sa.bindparam("top")


class Position(NamedTuple):
    """Where a place of a board is."""

    through: int  # players up to the place, and with it
    above: int  # players rated above it


class Statements(NamedTuple):
    """The statements of boards with the same rules, whatever their limits."""

    page: sa.Select[Any]
    page_after: sa.Select[Any]
    page_above: sa.Select[Any]  # from a place on towards the best
    chosen: sa.Select[Any]
    number: sa.Select[Any]
    position: sa.Select[Any]
    ranks: sa.Select[Any]
    tied_through: sa.Select[Any]  # those with the rating of a place, down to the place


@cache
def statements(*, settled: bool | None, min_events: bool, active: bool) -> Statements:
    """The statements of boards with some of the rules.

    Args:
        settled: only the settled, only the others, or all.
    """
    listed = [IN_POOL]
    if settled is not None:
        listed.append(IS_SETTLED if settled else standing.c.provisional.is_(sa.true()))
    if min_events:
        listed.append(standing.c.events >= sa.bindparam("min_events"))
    if active:
        listed.append(standing.c.played_at >= sa.bindparam("active_from"))
    rows, players = ROWS.where(*listed), sa.func.count()
    page = rows.order_by(*BEST_FIRST).limit(TOP)
    counted = sa.select(players).select_from(standing).where(*listed)
    rank = sa.func.rank().over(order_by=standing.c.rating.desc())
    ranked = sa.select(standing.c.player_id, rank).where(*listed).subquery()
    rating: sa.BindParameter[float] = sa.bindparam("rating", type_=sa.Double())
    # One walk of all: that of those above by the index looks each of them up.
    counts: list[Any] = [players.filter(BOARD_ORDER >= BOARD_CURSOR), players.filter(standing.c.rating > rating)]
    return Statements(
        page,
        page.where(BOARD_ORDER < BOARD_CURSOR),
        rows.where(BOARD_ORDER > BOARD_CURSOR).order_by(standing.c.rating, standing.c.player_id).limit(TOP),
        rows.where(among(standing.c.player_id)),
        counted,
        sa.select(*counts).select_from(standing).where(*listed),
        sa.select(ranked).where(among(ranked.c.player_id)),
        # A range, for the index of ratings: SQLite takes the key for a rating that is equal.
        counted.where(standing.c.rating >= rating, standing.c.rating <= rating).where(
            standing.c.player_id + 0 >= sa.bindparam("number")
        ),
    )


@dataclass(frozen=True, slots=True)
class Board:
    """The board of a listing at one moment of a pool."""

    connection: sa.Connection
    pool: Pool
    listing: Listing
    cache: VersionCache
    version: int
    newest: Any  # row of the pool's newest rated event; None where there is none
    params: dict[str, Any]

    @property
    def is_filtered(self) -> bool:
        """Whether some are left out for another reason than that they are not settled."""
        return self.listing.min_events is not None or self.listing.active_within is not None

    @property
    def only_settled(self) -> bool:
        """Whether the board lists the settled alone."""
        return not self.listing.unsettled

    def statements(self, *, settled: bool | None) -> Statements:
        """The statements of boards with the limits of this one."""
        rules = {"min_events": self.listing.min_events, "active": self.listing.active_within}
        return statements(settled=settled, **{name: limit is not None for name, limit in rules.items()})

    @property
    def own(self) -> Statements:
        """The statements of this board."""
        return self.statements(settled=True if self.only_settled else None)

    def rows(self, after: Place | None, top: int) -> list[Any]:
        """So many rows from a place on, best first."""
        return self.all_of(self.own.page, top=top) if after is None else self.at(self.own.page_after, after, top=top)

    def rows_above(self, place: Place, top: int) -> list[Any]:
        """So many rows above a place, the nearest first."""
        return self.at(self.own.page_above, place, top=top)

    def rows_of(self, players: Iterable[int]) -> list[Any]:
        """The rows of those of some players who are listed, in no order."""
        return self.all_of(self.own.chosen, among=values(players))

    def unsettled_rows(self, top: int) -> list[Any]:
        """So many of those who are left out because they are not settled, best first."""
        return self.all_of(self.statements(settled=False).page, top=top)

    def ranks_of(self, players: Collection[int]) -> dict[int, int]:
        """The ranks of some players who are listed, by number."""
        if not self.is_filtered:
            return ranks_of(self.connection, self.pool, players, settled=self.only_settled)
        some = values(players)
        ranks: dict[int, int] = self.cached(some, lambda: dict(map(tuple, self.all_of(self.own.ranks, among=some))))
        return ranks

    def count(self) -> int:
        """How many are listed."""
        if not self.is_filtered:
            return count_players(self.connection, self.pool, settled=self.only_settled)
        count: int = self.cached("count", lambda: self.all_of(self.own.number)[0][0])
        return count

    def position(self, place: Place) -> Position:
        """Where a place is."""
        if self.is_filtered:
            position: Position = self.cached(place, lambda: Position(*self.at(self.own.position, place)[0]))
            return position
        above = count_better(self.connection, self.pool, place[0], settled=self.only_settled)
        return Position(above + self.at(self.own.tied_through, place)[0][0], above)

    def know_position(self, place: Place, position: Position) -> None:
        """Take a position that is known from the rows before it, so that they need not be counted again."""
        if self.is_filtered:
            self.cache.keep(self.key(place), self.version, position)

    def key(self, what: object) -> tuple[object, ...]:
        """What an answer about this board is kept under."""
        return "board", self.pool.id, self.pool.generation, self.listing, what

    def cached(self, what: object, find: Callable[[], Any]) -> Any:
        """An answer about this board, kept as long as nothing is logged."""
        return self.cache.value(self.key(what), self.version, find)

    def at(self, statement: sa.Select[Any], place: Place, **params: Any) -> list[Any]:
        """The rows of a statement about a place."""
        return self.all_of(statement, rating=place[0], number=place[1], **params)

    def all_of(self, statement: sa.Select[Any], **params: Any) -> list[Any]:
        """The rows of a statement."""
        return list(self.connection.execute(statement, self.params | params))


def open_board(connection: sa.Connection, pool: Pool, listing: Listing, cache: VersionCache) -> Board:
    """The board of a listing as it is now."""
    newest = newest_rated(connection, pool)
    params: dict[str, Any] = {"pool": pool.id, "generation": pool.generation, "min_events": listing.min_events}
    if listing.active_within is not None:
        params["active_from"] = 0 if newest is None else newest.started_at - as_microseconds(listing.active_within)
    return Board(connection, pool, listing, cache, newest_seq(connection, pool), newest, params)


def as_microseconds(span: timedelta) -> int:
    """The microseconds of a span."""
    return span // timedelta(microseconds=1)
