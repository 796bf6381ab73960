"""Leaderboards at the ends of seasons."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from podium.errors import UnknownError
from podium.log.pools import OrderKey
from podium.results.names import normalise
from podium.views.board import ESTABLISHED, Board
from podium.views.boards.pages import board_rows
from podium.views.models import BoardRow
from podium.views.reader import PoolAt


class FinalLeaderboard(NamedTuple):
    """The leaderboard at the end of a season, or before the first season began."""

    season: str  # name of the season; for the time before the first season, name of that season
    is_before: bool  # True for the time before the first season
    since: datetime | float | None  # its beginning; None before the first season
    until: datetime | float | None  # its end; None if it has not ended
    players: int  # established players
    rows: tuple[BoardRow, ...]  # the best players, best first


class Span(NamedTuple):
    season: str
    is_before: bool
    begins: OrderKey | None
    ends: OrderKey | None


def season_spans(pool: PoolAt) -> Iterator[Span]:
    """Yield the time before the first season, followed by each season, oldest first."""
    events = pool.snapshot.events
    begun = sorted((events.key(uid), season.name) for uid, season in events.seasons.items())
    ends: list[OrderKey | None] = [*(key for key, _ in begun[1:]), None]
    if begun:
        yield Span(begun[0][1], True, None, begun[0][0])
    for (key, name), end in zip(begun, ends, strict=False):
        yield Span(name, False, key, end)


def find_span(pool: PoolAt, season: str, *, before: bool = False) -> Span:
    """Return a season, or the time before it."""
    for span in season_spans(pool):
        if span.season in (season, normalise(season)) and span.is_before == before:
            return span
    raise UnknownError(f"pool {pool.name!r} has no season {season!r}. Check the name.")


def board_of(pool: PoolAt, span: Span, top: int) -> FinalLeaderboard:
    snapshot = pool.snapshot
    standings = snapshot.standings
    if span.ends is not None:
        standings = snapshot.standings_at(snapshot.events.position(span.ends))
    board = Board(pool, ESTABLISHED, standings)
    times = [None if key is None else key.started_at for key in (span.begins, span.ends)]
    since, until = (None if time is None else pool.moment(time) or pool.sequence(time) for time in times)
    return FinalLeaderboard(span.season, span.is_before, since, until, board.size, board_rows(board.rows(0, top)))


def final_leaderboards(pool: PoolAt) -> tuple[FinalLeaderboard, ...]:
    """Return the first three players at the end of each season.

    Returns:
        The seasons with these players, newest first. The last entry is the time before the first season.
    """
    return tuple(board_of(pool, span, 3) for span in reversed([*season_spans(pool)]))


def final_leaderboard(pool: PoolAt, season: str, *, before: bool = False, top: int = 200) -> FinalLeaderboard:
    """Return the leaderboard at the end of a season, or the current leaderboard if the season has not ended.

    Args:
        season: name of the season.
        before: True to return the leaderboard before this season instead. It must be the first season.
        top: number of rows to return.

    Returns:
        The established players when the season ended, best first.

    Raises:
        UnknownError: there is no such pool or season.
    """
    return board_of(pool, find_span(pool, season, before=before), top)
