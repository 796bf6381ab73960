"""Pages of boards: rows with ranks, changes in rank, rating curves, and the rating changes from the latest event."""

from collections.abc import Hashable, Sequence
from itertools import islice, repeat
from typing import Any

import numpy as np

from podium.log.players import names_of
from podium.pool.columns import NONE
from podium.support.arrays import Array
from podium.views.board import (
    EVERYBODY,
    Board,
    PlayerStanding,
    earlier_ranks,
    standing_of,
    standings_of,
    tier_scores,
)
from podium.views.changes import Changes
from podium.views.headlines import headlines
from podium.views.models import BoardRow, answer_from
from podium.views.player_models import Leaderboard, ListedRow, Listing
from podium.views.reader import PoolAt, read_cursor

MAX_POINTS = 16


def sparks(pool: PoolAt, newest: Array) -> list[tuple[float, ...]]:
    """Return the ratings after the latest changes of the players with these newest rows, at most 16, oldest first."""
    ledger = pool.snapshot.rows
    steps = [newest.astype(np.int64)]  # one row per player, followed by each one's previous row, and so on
    while len(steps) < MAX_POINTS:
        before = np.full(newest.size, NONE)
        known = np.flatnonzero(steps[-1] >= 0)
        before[known] = ledger.at("previous", steps[-1][known])
        steps.append(before)
    rows = np.array(steps[::-1]).T
    ratings = iter(ledger.at("state", rows[rows >= 0])[:, pool.system.column("rating")].tolist())
    return [(*islice(ratings, count),) for count in (rows >= 0).sum(axis=1).tolist()]


MAX_PROVISIONAL = 20
NO_ENTRIES = np.empty(0, np.int64)


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
    following = board.cursor(first + top - 1) if first + top < board.size else None
    others = NO_ENTRIES
    if not (listing.provisional or after):
        provisional = board.standings.order.where(board.fits & ~board.standings.is_established)
        others = provisional.entries[:MAX_PROVISIONAL]
    return page(board, board.entries[first : first + top], others, following, (after, top))


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
    return board.cursor(first - 1) if first else ""


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
    return page(board, board.listed(most_gained.numbers.tolist()), NO_ENTRIES, None, ("newest", top))


def page(board: Board, entries: Array, others: Array, following: str | None, place: Hashable) -> Leaderboard:
    """Return a page of a board with these entries of the standings, followed by other entries without ranks.

    After an event, only the rows that differ are made again.

    Args:
        place: the place of the page on the board.
    """
    pool, standings, every = board.pool, board.standings, np.concatenate([entries, others])
    players = standings.numbers[every].tolist()
    ranks = [*board.ranks(entries), *repeat(None, others.size)]
    earlier, gains = earlier_ranks(board, players), newest_changes(board)
    newest = dict(
        zip(gains.numbers.tolist(), zip(gains.gain.tolist(), map(float, gains.shown), strict=True), strict=True)
    )
    names = names_of(pool, players)
    versions = [  # a row with the same number in the ledger's trunk has the same curve and rating
        (row, names[number], rank, *earlier.move(number, rank), *newest.get(number, (None, None)))
        for row, number, rank in zip(standings.rows[every].tolist(), players, ranks, strict=True)
    ]
    key = pool.id, "rows", board.listing, place
    version = standings.ledger.trunk, pool.order, pool.display, tier_scores(pool)
    known = pool.answers.value(key, version, dict[Any, ListedRow])
    unknown = [k for k, each in enumerate(versions) if each not in known]
    if unknown:
        some = every[unknown]
        stands, curves = standings_of(pool, standings, some), sparks(pool, standings.rows[some])
        known = {each: known[each] for each in versions if each in known}
        for k, row, curve in zip(unknown, stands, curves, strict=True):
            _, _, rank, move, is_new, change, points = versions[k]
            known[versions[k]] = answer_from(
                ListedRow,
                row,
                rank=rank,
                move=move,
                is_new=is_new,
                spark=curve,
                newest_change=change,
                newest_shown=points,
            )
        pool.answers.keep(key, version, known)
    rows = [known[each] for each in versions]
    return Leaderboard(
        tuple(rows[: entries.size]),
        following,
        board.size,
        Board.of(pool, EVERYBODY).size,
        earlier.date,
        None if board.newest is None else headlines(pool, [board.newest])[0],
        tuple(rows[entries.size :]),
        since_sequence=earlier.number,
    )


def newest_changes(board: Board) -> Changes:
    """Return the changes that the latest rated event made to players' ratings."""
    snapshot, newest = board.pool.snapshot, board.newest
    return Changes(snapshot, range(0)) if newest is None else Changes.by_event(snapshot, newest).of_players
