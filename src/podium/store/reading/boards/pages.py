"""Pages of boards: rows with ranks among those who are listed, moves, curves, and what the newest event did."""

from collections.abc import Iterable, Sequence
from datetime import date
from itertools import islice
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa

from podium.errors import UnknownError
from podium.ledger.history import is_provisional
from podium.log.players import names_of, number_of
from podium.log.pools import Pool, PoolView
from podium.log.schema import snapshot, snapshot_day
from podium.log.statements import among, of_pool
from podium.pool.columns import Array
from podium.pool.slots import is_player, numbers_of, slot_of
from podium.store.following import PoolReader
from podium.store.reading.boards.listings import Board
from podium.store.reading.boards.ranks import (
    Place,
    PlayerStanding,
    count_players,
    cursor_of,
    parse_cursor,
    standing_of,
    standings_of,
)
from podium.store.reading.events.headlines import headlines
from podium.store.reading.models import BoardPage, BoardRow, DailyRank, RankedPlayer
from podium.store.reading.player_models import ListedPage, ListedRow, Listing
from podium.store.writing.rating.facts import date_of, day_shown, days, stored_ranks
from podium.support.words import shown_change

SELECT_NEWEST_DAY = (
    sa.select(snapshot_day.c.day)
    .where(of_pool(snapshot_day), ~snapshot_day.c.stale, snapshot_day.c.day <= sa.bindparam("until"))
    .order_by(snapshot_day.c.day.desc())
    .limit(1)
)
SELECT_RANKS = sa.select(snapshot.c.player_id, snapshot.c.rank, snapshot.c.settled_rank).where(
    of_pool(snapshot), snapshot.c.day == sa.bindparam("day"), among(snapshot.c.player_id)
)


class EarlierRanks(NamedTuple):
    day: date | int | None  # or the number of an event; None where none has such ranks
    ranks: dict[int, int]

    @property
    def date(self) -> date | None:
        return None if isinstance(self.day, int) else self.day

    @property
    def number(self) -> int | None:
        return self.day if isinstance(self.day, int) else None

    def move(self, number: int, rank: int) -> tuple[int | None, bool]:
        """How many ranks a player has risen by, and whether the player is new on the board."""
        if self.day is None:
            return None, False
        earlier = self.ranks.get(number)
        return (None, True) if earlier is None else (earlier - rank, False)


NO_RANKS = EarlierRanks(None, {})


def earlier_ranks(board: Board, players: Iterable[int]) -> EarlierRanks:
    """The ranks that players had before the newest event: at 00:00 UTC of the last day that began before it.

    A board that is filtered has none. Days that a correction has spoilt do not count; a later one, whose ranks are
    those of now, does not either.
    """
    pool = board.pool
    if board.newest is None or board.is_filtered:
        return NO_RANKS
    until = board.newest.started_at // pool.unit_us
    newest = pool.execute(SELECT_NEWEST_DAY, until=until).first()
    if newest is None:
        return NO_RANKS
    rows = pool.execute(SELECT_RANKS, day=newest.day, among=players)
    ranks = {row.player_id: row.settled_rank if board.only_settled else row.rank for row in rows}
    return EarlierRanks(
        day_shown(pool.order, newest.day), {number: rank for number, rank in ranks.items() if rank is not None}
    )


def ranks_on(pool: PoolView, day: int) -> tuple[RankedPlayer, ...]:
    """Show the ranks of a day.

    Args:
        day: days since 1970.

    Returns:
        The players, best first.

    Raises:
        UnknownError: no such pool, or the day has no ranks.
    """
    if day not in days(pool):
        raise UnknownError(f"there is no snapshot of {day_shown(pool.order, day)} in pool {pool.name!r}")
    ranks, names = stored_ranks(pool, day), names_of(pool)
    return tuple(RankedPlayer(each.rank, names[each.player_id], each.rating) for each in ranks)


def ranks_of_player(pool: PoolView, name: str) -> tuple[DailyRank, ...]:
    """Show a player's rank day by day.

    Returns:
        The ranks, oldest first.

    Raises:
        UnknownError: no such pool or player.
    """
    number = number_of(pool, name)
    rows = pool.execute(
        sa.select(snapshot.c.day, snapshot.c.rank, snapshot.c.rating)
        .join(snapshot_day, sa.and_(snapshot_day.c.pool_id == pool.id, snapshot_day.c.day == snapshot.c.day))
        .where(snapshot.c.pool_id == pool.id, snapshot.c.player_id == number, ~snapshot_day.c.stale)
        .order_by(snapshot.c.day)
    )
    counted = pool.is_counted
    return tuple(
        DailyRank(None if counted else date_of(row.day), row.rank, row.rating, sequence=row.day if counted else None)
        for row in rows
    )


MOST_POINTS = 16


def sparks(pool: PoolReader, players: Sequence[int]) -> dict[int, tuple[float, ...]]:
    """The ratings after the newest 16 changes at most of each player, oldest first, by number."""
    snapshot = pool.snapshot
    careers = [snapshot.career(slot_of(number), most=MOST_POINTS) for number in players]
    states = snapshot.rows.at("state", np.concatenate([*careers, np.empty(0, np.int64)]))
    ratings = iter(states[:, pool.system.column("rating")].tolist())
    return {number: (*islice(ratings, rows.size),) for number, rows in zip(players, careers, strict=True)}


MOST_UNSETTLED = 20
Ranked = Sequence[tuple[int | None, PlayerStanding]]  # each with the rank
EVERYBODY = Listing(unsettled=True)


def leaderboard(pool: PoolReader, *, top: int = 100, after: Place | None = None) -> BoardPage:
    """Show a page of the leaderboard.

    Args:
        top: rows of the page.
        after: where the page before ended; the first page where None.

    Returns:
        The players, best first, and the cursor of the next page.
    """
    board = Board(pool, EVERYBODY)
    first = 0 if after is None else board.position(after).through
    ranked = board.rows(first, first + top)
    return BoardPage(board_rows(pool, ranked), cursor_of(ranked[-1][1]) if len(ranked) == top else None)


def neighbours(pool: PoolReader, name: str, each: int = 5) -> tuple[BoardRow, ...]:
    """Show a player among those ranked next.

    Args:
        each: how many above, and how many below.

    Returns:
        The players, best first.

    Raises:
        UnknownError: no such pool or player.
    """
    board = Board(pool, EVERYBODY)
    place = board.position(place_of(standing_of(pool, name)))
    return board_rows(pool, board.rows(place.before - each, place.through + each))


def board_rows(pool: Pool, ranked: Sequence[tuple[int, PlayerStanding]]) -> tuple[BoardRow, ...]:
    return tuple(
        BoardRow(
            rank,
            row.name,
            row.rating,
            row.events,
            pool.moment(row.played_at),
            is_provisional(pool.system, row.provisional, row.events),
            row.deviation,
            last_sequence=pool.sequence(row.played_at),
        )
        for rank, row in ranked
    )


def listed_board(pool: PoolReader, listing: Listing, *, after: str | None = None, top: int = 50) -> ListedPage:
    """Show a page of the board of those who are listed.

    Args:
        listing: who is.
        after: the `next` of the page before; the first page where None.
        top: rows of the page.

    Returns:
        The players, best first, with their ranks among each other.

    Raises:
        ParameterError: `after` is no cursor.
    """
    board = Board(pool, listing)
    first = board.position(parse_cursor(after)).through if after else 0
    ranked = board.rows(first, first + top)
    following = cursor_of(ranked[-1][1]) if first + top < board.size else None
    others = []
    if board.only_settled and not after:
        unsettled = board.best(board.fits & ~board.standings.is_settled)[:MOST_UNSETTLED]
        others = standings_of(pool, board.standings.slots[unsettled])
    return page(board, ranked, [(None, row) for row in others], following)


def page_of(pool: PoolReader, listing: Listing, name: str, *, top: int = 50) -> str | None:
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
    board, stands = Board(pool, listing), standing_of(pool, name)
    place = board.position(place_of(stands))
    if place.before == place.through:
        return None
    first = place.before - place.before % top
    return cursor_of(board.rows(first - 1, first)[0][1]) if first else ""


def newest_entrants(pool: PoolReader, listing: Listing, *, top: int = 200) -> ListedPage:
    """Show those of a board who were in the pool's newest rated event, the largest gain first.

    Args:
        listing: who is on the board.
        top: entrants to look at.

    Returns:
        The entrants who are listed, with their ranks on the board.
    """
    board = Board(pool, listing)
    numbers, before, after = newest_changes(board)
    most_gained = np.argsort(before - after, kind="stable")[:top]
    return page(board, board.ranked(board.listed(numbers[most_gained].tolist())), [], None)


def page(board: Board, ranked: Ranked, beside: Ranked, following: str | None) -> ListedPage:
    players = [row.player_id for _, row in (*ranked, *beside)]
    curves, newest, earlier = sparks(board.pool, players), newest_gains(board), earlier_ranks(board, players)
    rows, others = (
        tuple(
            listed_row(board.pool, row, rank, ranks, curves.get(row.player_id, ()), newest.get(row.player_id))
            for rank, row in some
        )
        for some, ranks in ((ranked, earlier), (beside, NO_RANKS))
    )
    return ListedPage(
        rows,
        following,
        board.size,
        count_players(board.pool),
        earlier.date,
        None if board.newest is None else headlines(board.pool, [board.newest])[0],
        others,
        since_sequence=earlier.number,
    )


def listed_row(
    pool: Pool,
    row: PlayerStanding,
    rank: int | None,
    earlier: EarlierRanks,
    spark: tuple[float, ...],
    newest: tuple[float, float] | None,
) -> ListedRow:
    move, is_new = (None, False) if rank is None else earlier.move(row.player_id, rank)
    return ListedRow(
        rank,
        row.name,
        row.rating,
        row.deviation,
        is_provisional(pool.system, row.provisional, row.events),
        row.events,
        pool.moment(row.played_at),
        move,
        is_new,
        spark,
        *(newest or (None, None)),
        last_sequence=pool.sequence(row.played_at),
    )


def newest_changes(board: Board) -> tuple[Array, Array, Array]:
    """Return the players of the newest rated event by their numbers, and their ratings before it and after it."""
    snapshot = board.pool.snapshot
    first, stop = (0, 0) if board.newest is None else snapshot.span(board.newest.position)
    slots, before = (snapshot.rows.part(name, first, stop) for name in ("slot", "before"))
    after, players = snapshot.rows.part("state", first, stop), np.flatnonzero(is_player(slots))
    return numbers_of(slots[players]), before[players], after[players, board.pool.system.column("rating")]


def newest_gains(board: Board) -> dict[int, tuple[float, float]]:
    """Return the change of each player by the newest rated event, and as it is shown, by number."""
    digits = board.pool.system.digits
    rows = zip(*(column.tolist() for column in newest_changes(board)), strict=True)
    return {number: (after - before, float(shown_change(before, after, digits))) for number, before, after in rows}


def place_of(row: PlayerStanding) -> Place:
    return row.score, row.player_id
