"""The leaderboards as they were at the ends of seasons."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from podium.errors import UnknownError
from podium.log.players import names_of
from podium.log.pools import OrderKey
from podium.results.names import normalise
from podium.views.boards.board import ESTABLISHED, Board
from podium.views.reader import PoolAt

When = datetime | float | None


class FinalStanding(NamedTuple):
    """The standing of an established player at the end of a season."""

    rank: int
    player: str
    rating: float
    deviation: float | None  # None if the system has no deviation
    events: int


class FinalLeaderboard(NamedTuple):
    """The leaderboard at the end of a season, or before the first one began."""

    season: str  # name of the season, or of the first season for the time before it
    is_before: bool  # True for the time before the first season
    since: When  # its beginning; None before the first season
    until: When  # its end; None if it has not ended
    players: int  # established players
    rows: tuple[FinalStanding, ...]  # the best of them, best first


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


def moment_of(pool: PoolAt, key: OrderKey) -> When:
    return pool.sequence(key.started_at) if pool.is_undated else pool.moment(key.started_at)


def board_of(pool: PoolAt, span: Span, top: int) -> FinalLeaderboard:
    snapshot, system = pool.snapshot, pool.system
    standings = snapshot.standings
    if span.ends is not None:
        standings = snapshot.standings_at(snapshot.events.position(span.ends))
    board = Board(pool, ESTABLISHED, standings)
    entries = board.entries[:top]
    numbers = standings.numbers[entries].tolist()
    deviations: list[float | None] = [None] * entries.size
    if "deviation" in system.state_type._fields:
        deviations = standings.states[entries, system.column("deviation")].tolist()
    counts = standings.events[entries].tolist()
    names, ratings = names_of(pool, numbers), standings.ratings[entries].tolist()
    cells = zip(board.ranks(entries), numbers, ratings, deviations, counts, strict=True)
    rows = tuple(FinalStanding(rank, names[number], *others) for rank, number, *others in cells)
    since, until = (None if key is None else moment_of(pool, key) for key in (span.begins, span.ends))
    return FinalLeaderboard(span.season, span.is_before, since, until, board.size, rows)


def final_leaderboards(pool: PoolAt) -> tuple[FinalLeaderboard, ...]:
    """Return the leader at the end of each season.

    Returns:
        The seasons, newest first, each with its leader. The last entry is the time before the first season.
    """
    return tuple(board_of(pool, span, 1) for span in reversed([*season_spans(pool)]))


def final_leaderboard(pool: PoolAt, season: str, *, before: bool = False, top: int = 200) -> FinalLeaderboard:
    """Return the leaderboard at the end of a season, or the current one if the season has not ended.

    Args:
        season: name of the season.
        before: return the leaderboard from before this season instead, which must be the first season.
        top: number of rows to return.

    Returns:
        The established players, best first, as they stood when the season ended.

    Raises:
        UnknownError: there is no such pool or season.
    """
    for span in season_spans(pool):
        if span.season in (season, normalise(season)) and span.is_before == before:
            return board_of(pool, span, top)
    raise UnknownError(f"pool {pool.name!r} has no season {season!r}. Check the name.")
