"""Pages of boards: rows with ranks, changes in rank, rating curves, and the rating changes from the latest event."""

from collections.abc import Sequence
from itertools import islice

import numpy as np

from podium.pool.columns import NONE, slots_of
from podium.views.board import (
    EVERYBODY,
    NO_RANKS,
    Board,
    EarlierRanks,
    PlayerStanding,
    cursor_of,
    earlier_ranks,
    standing_of,
    standings_of,
)
from podium.views.changes import Changes
from podium.views.headlines import headlines
from podium.views.models import BoardRow, answer_from
from podium.views.player_models import Leaderboard, ListedRow, Listing
from podium.views.reader import PoolAt, read_cursor

MAX_POINTS = 16


def sparks(pool: PoolAt, players: Sequence[int]) -> dict[int, tuple[float, ...]]:
    """Return the ratings after each player's latest changes, at most 16, oldest first, by the player's number."""
    ledger = pool.snapshot.rows
    newest = pool.snapshot.newest_rows(ledger.size, slots_of(np.array(players, np.int64)))
    steps = [newest.astype(np.int64)]  # one row per player, followed by each one's previous row, and so on
    while len(steps) < MAX_POINTS:
        before = np.full(len(players), NONE)
        known = np.flatnonzero(steps[-1] >= 0)
        before[known] = ledger.at("previous", steps[-1][known])
        steps.append(before)
    rows = np.array(steps[::-1]).T
    ratings = iter(ledger.at("state", rows[rows >= 0])[:, pool.system.column("rating")].tolist())
    counts = (rows >= 0).sum(axis=1).tolist()
    return {number: (*islice(ratings, count),) for number, count in zip(players, counts, strict=True)}


MAX_PROVISIONAL = 20
Ranked = Sequence[tuple[int | None, PlayerStanding]]  # each change with the rank


def neighbours(pool: PoolAt, name: str, each: int = 5) -> tuple[BoardRow, ...]:
    """Return a player and the players with neighbouring ranks.

    Args:
        each: the number of players to return above the player, and the number below.

    Returns:
        The players, best first.

    Raises:
        UnknownError: there is no such pool or player.
    """
    board = Board.of(pool, EVERYBODY)
    place = board.position(standing_of(pool, name).place)
    return board_rows(board.rows(place.before - each, place.through + each))


def board_rows(ranked: Sequence[tuple[int, PlayerStanding]]) -> tuple[BoardRow, ...]:
    return tuple(answer_from(BoardRow, row, rank=rank) for rank, row in ranked)


def leaderboard(pool: PoolAt, listing: Listing = EVERYBODY, *, after: str | None = None, top: int = 100) -> Leaderboard:
    """Return a page of the leaderboard.

    Args:
        listing: the players to show. Default: everybody with a rating.
        after: the `next` value of the previous page, or None for the first page.
        top: number of rows on the page.

    Returns:
        The players, best first. Ranks are relative to the players in the listing.

    Raises:
        ParameterError: `after` is not a cursor.
    """
    board = Board.of(pool, listing)
    first = board.position(read_cursor(after, "a page", float, int)).through if after else 0
    ranked = board.rows(first, first + top)
    following = cursor_of(ranked[-1][1]) if first + top < board.size else None
    others = []
    if not (listing.provisional or after):
        provisional = board.standings.order.where(board.fits & ~board.standings.is_established)
        others = standings_of(pool, board.standings, provisional.entries[:MAX_PROVISIONAL])
    return page(board, ranked, [(None, row) for row in others], following)


def page_of(pool: PoolAt, listing: Listing, name: str, *, top: int = 50) -> str | None:
    """Find the page of the leaderboard that shows a player.

    Args:
        listing: the players to list.
        name: the player.
        top: number of rows per page.

    Returns:
        The `after` value of that page, which is empty for the first page. None if the player is not listed.

    Raises:
        UnknownError: there is no such pool or player.
    """
    board, stands = Board.of(pool, listing), standing_of(pool, name)
    place = board.position(stands.place)
    if place.before == place.through:
        return None
    first = place.before - place.before % top
    return cursor_of(board.rows(first - 1, first)[0][1]) if first else ""


def newest_entrants(pool: PoolAt, listing: Listing, *, top: int = 200) -> Leaderboard:
    """Return the listed players who took part in the pool's latest rated event, largest gain first.

    Args:
        listing: the players on the board.
        top: maximum number of entrants to examine.

    Returns:
        The entrants who are listed, with their ranks on the board.
    """
    board = Board.of(pool, listing)
    newest = newest_changes(board)
    most_gained = newest.at(np.argsort(-newest.gain, kind="stable")[:top])
    return page(board, board.ranked(board.listed(most_gained.numbers.tolist())), [], None)


def page(board: Board, ranked: Ranked, beside: Ranked, following: str | None) -> Leaderboard:
    players = [row.number for _, row in (*ranked, *beside)]
    curves, gains, earlier = sparks(board.pool, players), newest_changes(board), earlier_ranks(board, players)
    newest = dict(
        zip(gains.numbers.tolist(), zip(gains.gain.tolist(), map(float, gains.shown), strict=True), strict=True)
    )
    rows, others = (
        tuple(
            listed_row(row, rank, ranks, curves.get(row.number, ()), newest.get(row.number, (None, None)))
            for rank, row in some
        )
        for some, ranks in ((ranked, earlier), (beside, NO_RANKS))
    )
    return Leaderboard(
        rows,
        following,
        board.size,
        Board.of(board.pool, EVERYBODY).size,
        earlier.date,
        None if board.newest is None else headlines(board.pool, [board.newest])[0],
        others,
        since_sequence=earlier.number,
    )


def listed_row(
    row: PlayerStanding,
    rank: int | None,
    earlier: EarlierRanks,
    spark: tuple[float, ...],
    newest: tuple[float, float] | tuple[None, None],
) -> ListedRow:
    move, is_new = (None, False) if rank is None else earlier.move(row.number, rank)
    change, points = newest
    return answer_from(
        ListedRow, row, rank=rank, move=move, is_new=is_new, spark=spark, newest_change=change, newest_shown=points
    )


def newest_changes(board: Board) -> Changes:
    """Return the changes that the latest rated event made to players' ratings."""
    snapshot, newest = board.pool.snapshot, board.newest
    return Changes(snapshot, range(0)) if newest is None else Changes.by_event(snapshot, newest).of_players
