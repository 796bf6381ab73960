"""Pages of boards: rows with ranks among those who are listed, moves, curves, and what the newest event did."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import sqlalchemy as sa

from podium.engine.system import System
from podium.ledger.history import is_provisional
from podium.ledger.leaderboard import shared_ranks
from podium.store.insights.board_models import EventHeadline, ListedPage, ListedRow, Listing
from podium.store.insights.boards.listings import Board, Position, open_board
from podium.store.insights.boards.moves import NO_RANKS, EarlierRanks, earlier_ranks
from podium.store.insights.boards.sparks import sparks
from podium.store.insights.events.headlines import headlines
from podium.store.insights.version_cache import VersionCache
from podium.store.log.pools import Pool
from podium.store.read.boards import Place, count_players, cursor_of, parse_cursor
from podium.store.rows.standings import get_standing
from podium.store.sql.among import among, values
from podium.store.sql.schema import change
from podium.store.sql.timestamps import instant
from podium.support.rounding import shown_change

MOST_UNSETTLED = 20
Ranked = Sequence[tuple[int | None, Any]]  # rows of a board, each with the rank
OF_EVENT = (
    change.c.generation_id == sa.bindparam("generation"),
    change.c.started_at == sa.bindparam("started_at"),
    change.c.seq == sa.bindparam("seq"),
)
SELECT_ENTRANTS = sa.select(change.c.player_id, change.c.rating_before, change.c.rating).where(*OF_EVENT)
SELECT_SOME_ENTRANTS = SELECT_ENTRANTS.where(among(change.c.player_id))
SELECT_MOST_GAINED = SELECT_ENTRANTS.order_by((change.c.rating - change.c.rating_before).desc(), change.c.place).limit(
    sa.bindparam("top")
)


def listed_board(
    connection: sa.Connection, pool: Pool, listing: Listing, after: str | None, top: int, cache: VersionCache
) -> ListedPage:
    """A page of the board of those who are listed.

    Raises:
        ParameterError: `after` is no cursor.
    """
    board = open_board(connection, pool, listing, cache)
    place = parse_cursor(after) if after else None
    found = board.rows(place, top + 1)
    rows = found[:top]
    ranked = ranked_page(board, rows, place)
    following = None
    if len(found) > top:
        following = cursor_of(rows[-1])
        through = (board.position(place).through if place else 0) + top
        board.know_position(place_of(rows[-1]), Position(through, (ranked[-1][0] or 1) - 1))
    beside = board.unsettled_rows(MOST_UNSETTLED) if board.only_settled and place is None else []
    return page(board, ranked, [(None, row) for row in beside], following)


def ranked_page(board: Board, rows: Sequence[Any], place: Place | None) -> list[tuple[int, Any]]:
    """Rows that follow a place, with their ranks: equal ratings share the best, those on the page before too."""
    through, above = (0, 0) if place is None or not rows else board.position(place)
    ranks = shared_ranks([row.rating for row in rows])
    tied = place is not None and bool(rows) and rows[0].rating == place[0]
    return [(above + 1 if tied and rank == 1 else through + rank, row) for rank, row in zip(ranks, rows, strict=True)]


def page_of(
    connection: sa.Connection, pool: Pool, listing: Listing, name: str, top: int, cache: VersionCache
) -> str | None:
    """The cursor of the page that a player is on: empty of the first page, None of whoever is not listed.

    Raises:
        UnknownError: the player has no rating here.
    """
    board = open_board(connection, pool, listing, cache)
    number = get_standing(connection, pool, name).player_id
    rows = board.rows_of([number])
    if not rows:
        return None
    place = place_of(rows[0])
    before = board.position(place).through - 1
    if before < top:
        return ""
    return cursor_of(board.rows_above(place, before % top + 1)[-1])


def newest_entrants(
    connection: sa.Connection, pool: Pool, listing: Listing, top: int, cache: VersionCache
) -> ListedPage:
    """Those of a board who were in the pool's newest rated event, the largest gain first, with their ranks."""
    board = open_board(connection, pool, listing, cache)
    if board.newest is None:
        return page(board, [], [], None)
    params = newest_params(board) | {"top": top}
    entrants = [row.player_id for row in connection.execute(SELECT_MOST_GAINED, params)]
    listed = {row.player_id: row for row in board.rows_of(entrants)}
    ranks = board.ranks_of(listed)
    return page(board, [(ranks[number], listed[number]) for number in entrants if number in listed], [], None)


def page(board: Board, ranked: Ranked, beside: Ranked, following: str | None) -> ListedPage:
    """A page of rows, and of those beside it."""
    players = [row.player_id for _, row in (*ranked, *beside)]
    curves = board.cached(tuple(players), partial(sparks, board.connection, board.pool, players))
    newest = newest_changes(board, players)
    earlier = NO_RANKS
    if not board.is_filtered:
        earlier = earlier_ranks(board.connection, board.pool, players, settled=board.only_settled)
    rows, others = (
        tuple(
            listed_row(
                board.pool.system,
                row,
                rank,
                ranks,
                curves.get(row.player_id, ()),
                newest.get(row.player_id, (None, None)),
            )
            for rank, row in some
        )
        for some, ranks in ((ranked, earlier), (beside, NO_RANKS))
    )
    return ListedPage(
        rows,
        following,
        board.count(),
        count_players(board.connection, board.pool),
        earlier.day,
        newest_headline(board),
        others,
    )


def listed_row(
    system: System, row: Any, rank: int | None, earlier: EarlierRanks, spark: tuple[float, ...], newest: tuple[Any, Any]
) -> ListedRow:
    """A row of a board."""
    move, is_new = (None, False) if rank is None else earlier.move(row.player_id, rank)
    return ListedRow(
        rank,
        row.name,
        row.rating,
        row.deviation,
        is_provisional(system, row.provisional, row.events),
        row.events,
        instant(row.played_at),
        move,
        is_new,
        spark,
        *newest,
    )


def newest_headline(board: Board) -> EventHeadline | None:
    """What happened in the pool's newest rated event, if there is one."""
    return None if board.newest is None else headlines(board.connection, board.pool, [board.newest])[0]


def newest_changes(board: Board, players: Sequence[int]) -> dict[int, tuple[float, float]]:
    """What the newest event did to those of some players who were in it: the change, and as it is shown."""
    if board.newest is None:
        return {}
    rows = board.connection.execute(SELECT_SOME_ENTRANTS, newest_params(board) | {"among": values(players)}).all()
    digits = board.pool.system.digits
    return {number: (rating - before, float(shown_change(before, rating, digits))) for number, before, rating in rows}


def newest_params(board: Board) -> dict[str, int]:
    """The parameters of statements about the newest event."""
    key = {"started_at": board.newest.started_at, "seq": board.newest.seq}
    return {"generation": board.pool.generation} | key


def place_of(row: Any) -> Place:
    """Where a row stands."""
    return row.rating, row.player_id
