"""Pages of boards: rows with ranks among those who are listed, moves, curves, and what the newest event did."""

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from functools import partial
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.errors import UnknownError
from podium.ledger.history import is_provisional
from podium.log.players import names_of, number_of
from podium.log.pools import START, Pool, PoolView, is_at
from podium.log.schema import change, player, snapshot, snapshot_day
from podium.log.statements import among, of_generation, of_players, of_pool
from podium.store.following import PoolReader
from podium.store.reading.boards.listings import Board, Position, open_board
from podium.store.reading.boards.ranks import Place, count_players, cursor_of, parse_cursor
from podium.store.reading.events.headlines import headlines
from podium.store.reading.models import BoardPage, BoardRow, DailyRank, RankedPlayer
from podium.store.reading.moments import Answers
from podium.store.reading.player_models import ListedPage, ListedRow, Listing
from podium.store.writing.rating.facts import date_of, day_shown, days, stored_ranks
from podium.store.writing.rating.standing_rows import get_standing, shared_ranks
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


def earlier_ranks(board: Board, players: Collection[int]) -> EarlierRanks:
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


NEWER = change.alias("newer")
OLDEST_SHOWN = (
    sa.select(NEWER.c.started_at)
    .where(of_generation(NEWER), NEWER.c.player_id == player.c.id)
    .order_by(NEWER.c.started_at.desc())
    .limit(1)
    .offset(MOST_POINTS - 1)
    .correlate(player)
    .scalar_subquery()
)
SELECT_SPARKS = (  # two walks of the index for each player
    sa.select(change.c.player_id, change.c.rating)
    .select_from(player)
    .join(
        change,
        sa.and_(
            of_generation(change),
            change.c.player_id == player.c.id,
            change.c.started_at >= sa.func.coalesce(OLDEST_SHOWN, START.started_at),  # of whoever has fewer
        ),
    )
    .where(of_pool(player), among(player.c.id))
    .order_by(change.c.player_id, change.c.started_at, change.c.seq)
)


def sparks(pool: PoolView, players: Iterable[int]) -> dict[int, tuple[float, ...]]:
    """The ratings after the newest 16 changes at most of each player, oldest first, by number."""
    curves: dict[int, list[float]] = {}
    for number, rating in pool.execute(SELECT_SPARKS, among=players).all():
        curves.setdefault(number, []).append(rating)
    return {number: tuple(ratings[-MOST_POINTS:]) for number, ratings in curves.items()}


MOST_UNSETTLED = 20
Ranked = Sequence[tuple[int | None, Any]]  # rows of a board, each with the rank
OF_EVENT = is_at(change), of_players(change)
SELECT_ENTRANTS = sa.select(change.c.player_id, change.c.rating_before, change.c.rating).where(*OF_EVENT)
SELECT_SOME_ENTRANTS = SELECT_ENTRANTS.where(among(change.c.player_id))
SELECT_MOST_GAINED = SELECT_ENTRANTS.order_by((change.c.rating - change.c.rating_before).desc(), change.c.place).limit(
    sa.bindparam("top")
)


EVERYBODY = Listing(unsettled=True)


def leaderboard(pool: PoolReader, answers: Answers, *, top: int = 100, after: Place | None = None) -> BoardPage:
    """Show a page of the leaderboard.

    Args:
        top: rows of the page.
        after: where the page before ended; the first page where None.

    Returns:
        The players, best first, and the cursor of the next page.
    """
    board = open_board(pool, EVERYBODY, answers)
    rows = board.rows(after, top)
    following = cursor_of(rows[-1]) if len(rows) == top else None
    return BoardPage(board_rows(pool, ranked_page(board, rows, after)), following)


def neighbours(pool: PoolReader, answers: Answers, name: str, each: int = 5) -> tuple[BoardRow, ...]:
    """Show a player among those ranked next.

    Args:
        each: how many above, and how many below.

    Returns:
        The players, best first.

    Raises:
        UnknownError: no such pool or player.
    """
    row, board = get_standing(pool, name), open_board(pool, EVERYBODY, answers)
    place = place_of(row)
    rows = [*reversed(board.rows_above(place, each)), row, *board.rows(place, each)]
    rank_of = board.ranks_of([row.player_id for row in rows])
    return board_rows(pool, [(rank_of[row.player_id], row) for row in rows])


def board_rows(pool: Pool, ranked: Sequence[tuple[int, Any]]) -> tuple[BoardRow, ...]:
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


def listed_board(
    pool: PoolReader, answers: Answers, listing: Listing, *, after: str | None = None, top: int = 50
) -> ListedPage:
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
    board = open_board(pool, listing, answers)
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
    """Rows that follow a place, with their ranks: equals share the best, those on the page before too."""
    through, above = (0, 0) if place is None or not rows else board.position(place)
    ranks = shared_ranks([row.score for row in rows])
    tied = place is not None and bool(rows) and rows[0].score == place[0]
    return [(above + 1 if tied and rank == 1 else through + rank, row) for rank, row in zip(ranks, rows, strict=True)]


def page_of(pool: PoolReader, answers: Answers, listing: Listing, name: str, *, top: int = 50) -> str | None:
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
    board = open_board(pool, listing, answers)
    number = get_standing(pool, name).player_id
    rows = board.rows_of([number])
    if not rows:
        return None
    place = place_of(rows[0])
    before = board.position(place).through - 1
    return "" if before < top else cursor_of(board.rows_above(place, before % top + 1)[-1])


def newest_entrants(pool: PoolReader, answers: Answers, listing: Listing, *, top: int = 200) -> ListedPage:
    """Show those of a board who were in the pool's newest rated event, the largest gain first.

    Args:
        listing: who is on the board.
        top: entrants to look at.

    Returns:
        The entrants who are listed, with their ranks on the board.
    """
    board = open_board(pool, listing, answers)
    if board.newest is None:
        return page(board, [], [], None)
    entrants = [row.player_id for row in pool.execute(SELECT_MOST_GAINED, **newest_key(board), top=top)]
    listed = {row.player_id: row for row in board.rows_of(entrants)}
    ranks = board.ranks_of(listed)
    return page(board, [(ranks[number], listed[number]) for number in entrants if number in listed], [], None)


def page(board: Board, ranked: Ranked, beside: Ranked, following: str | None) -> ListedPage:
    players = [row.player_id for _, row in (*ranked, *beside)]
    curves = board.cached("sparks", tuple(players), partial(sparks, board.pool, players))
    newest = newest_changes(board, players)
    earlier = earlier_ranks(board, players)
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
        board.count(),
        count_players(board.pool),
        earlier.date,
        None if board.newest is None else headlines(board.pool, [board.newest])[0],
        others,
        since_sequence=earlier.number,
    )


def listed_row(
    pool: Pool,
    row: Any,
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


def newest_changes(board: Board, players: Sequence[int]) -> dict[int, tuple[float, float]]:
    """What the newest event did to those of some players who were in it: the change, and as it is shown."""
    if board.newest is None:
        return {}
    rows = board.pool.execute(SELECT_SOME_ENTRANTS, **newest_key(board), among=players).all()
    digits = board.pool.system.digits
    return {number: (rating - before, float(shown_change(before, rating, digits))) for number, before, rating in rows}


def newest_key(board: Board) -> dict[str, Any]:
    return {"started_at": board.newest.started_at, "seq": board.newest.seq}


def place_of(row: Any) -> Place:
    return row.score, row.player_id
