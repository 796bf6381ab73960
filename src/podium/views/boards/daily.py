"""Ranks on earlier days, at 00:00 UTC of each day since the first rated event.

In pools without dates, these are the ranks before each event.
"""

import numpy as np

from podium.errors import UnknownError
from podium.log.players import names_of
from podium.log.pools import date_of, day_shown, today
from podium.pool.columns import slot_of
from podium.pool.snapshot import RATED
from podium.views.board import EVERYBODY, Board
from podium.views.models import DailyRank, RankedPlayer
from podium.views.names import number_of
from podium.views.reader import PoolAt


def every_day(pool: PoolAt) -> range:
    """Return the days on which at least one player has a rating at 00:00 UTC.

    In a pool without dates, return the numbers of events.
    """
    events = pool.snapshot.events
    oldest, newest = events.first(range(events.order.size), 1, RATED), events.newest_rated
    if newest is None:
        return range(0)
    first, last = (event.started_at // pool.unit_us for event in (*oldest, newest))
    return range(first + 1, (last + 1 if pool.is_undated else today()) + 1)


def days(pool: PoolAt) -> list[int]:
    """List the days that have ranks: every day since the first rated event.

    Returns:
        Days since 1970, oldest first. In a numbered pool, these are the numbers that follow a rated event's.
    """
    if not pool.is_undated:
        return [*every_day(pool)]
    events = pool.snapshot.events
    rated = events.order.at("uid", np.flatnonzero(events.order.part("field")))
    following: list[int] = np.unique(events.columns.at("started_at", rated) // pool.unit_us + 1).tolist()
    return following


def ranks_on(pool: PoolAt, day: int) -> tuple[RankedPlayer, ...]:
    """Return the ranks on one day.

    Args:
        day: days since 1970, or the number of an event in a numbered pool.

    Returns:
        The players, best first.

    Raises:
        UnknownError: there is no such pool, or there are no ranks for that day.
    """
    if day not in every_day(pool):
        raise UnknownError(f"pool {pool.name!r} has no ranks for {day_shown(pool.order, day)}. Choose another day.")
    snapshot = pool.snapshot
    board = Board(pool, EVERYBODY, snapshot.standings_at(snapshot.events.position((day * pool.unit_us, 0))))
    numbers, ratings = (column[board.entries].tolist() for column in (board.standings.numbers, board.standings.ratings))
    names = names_of(pool)
    return tuple(map(RankedPlayer, board.ranks(board.entries), map(names.__getitem__, numbers), ratings))


def ranks_of_player(pool: PoolAt, name: str) -> tuple[DailyRank, ...]:
    """Return a player's rank on each day.

    Returns:
        The ranks, oldest first.

    Raises:
        UnknownError: there is no such pool or player.
    """
    snapshot, system, slot = pool.snapshot, pool.system, slot_of(number_of(pool, name))
    events, rows, career = snapshot.events, snapshot.rows, snapshot.career(slot)
    listed = np.array(days(pool), np.int64)
    starts = events.columns.at("started_at", events.order.part("uid"))
    stops = np.concatenate([[0], events.order.part("stop")])
    ends = stops[np.searchsorted(starts, listed * pool.unit_us)]  # the first ledger row of each day
    own = np.searchsorted(career, ends)  # number of the player's rows before it
    ratings = rows.at("state", career)[:, system.column("rating")]
    half, row, rank, found = snapshot.newest.size // 2 + 1, 0, 0, []
    scores = np.full(2 * half, -np.inf)  # players first, then equipment, which has the odd slots
    for day, end, count in zip(listed.tolist(), ends.tolist(), own.tolist(), strict=True):
        if end > row:
            slots = rows.part("slot", row, end)
            scores[(slots >> 1) + half * (slots & 1)] = system.scores(rows.part("state", row, end))
            row, rank = end, 0
        if count and not rank:
            rank = 1 + int(np.count_nonzero(scores[:half] > scores[slot >> 1]))
        if count:
            on = {"day": None, "sequence": day} if pool.is_undated else {"day": date_of(day)}
            found.append(DailyRank(rank=rank, rating=float(ratings[count - 1]), **on))
    return tuple(found)
