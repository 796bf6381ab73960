"""Seasons: the leaderboards at their ends, and the points of players and teams in their championships."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from podium.errors import UnknownError
from podium.ledger.championship import Championship, championship
from podium.ledger.leaderboard import Eligibility
from podium.ledger.point_schemes import read_scheme
from podium.log.pools import OrderKey
from podium.results.names import normalise
from podium.views.board import ESTABLISHED, Board
from podium.views.boards.pages import board_rows
from podium.views.boards.ranks import board_before
from podium.views.models import BoardRow, Season
from podium.views.reader import PoolAt
from podium.views.results import counting_results


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


def seasons(pool: PoolAt) -> tuple[Season, ...]:
    """List the pool's seasons.

    Returns:
        The seasons, oldest first.
    """
    events = pool.snapshot.events
    found = sorted((events.key(uid), season) for uid, season in events.seasons.items())
    return tuple(
        Season(
            season.name,
            pool.moment(key.started_at),
            season.keep,
            sequence=pool.sequence(key.started_at),
            widens=season.widens,
        )
        for key, season in found
    )


def season_leaderboard(pool: PoolAt, name: str) -> pl.DataFrame:
    """Return the board at the end of a season, or the current board if the season is still running.

    Returns:
        One row per player, best first.

    Raises:
        UnknownError: there is no such pool or season.
    """
    ends = find_span(pool, name).ends
    return board_before(pool, Eligibility(), ends and ends._replace(seq=0))


def standings(pool: PoolAt, season: str | None = None, *, before: bool = False, top: int = 1000) -> Championship:
    """Return the championship standings of a season.

    Args:
        pool: the pool.
        season: name of the season. Default: the current season, or all events if no season has begun.
        before: return the standings before this season instead. It must be the first season.
        top: maximum number of players and of teams to return.

    Returns:
        The players and the teams, best first, with the points from each round.

    Raises:
        UnknownError: there is no such pool or season, or the pool has no points scheme.
    """
    if not pool.description.points_scheme:
        advice = f"An admin can set one: podium pool set {pool.name} --points-scheme f1"
        raise UnknownError(f"pool {pool.name!r} has no points scheme. {advice}")
    return pool.value(("standings", season, before, top), partial(calculate, pool, season, before, top))


def calculate(pool: PoolAt, season: str | None, before: bool, top: int) -> Championship:  # noqa: FBT001  (by position)
    span, events = span_of(pool, season, before=before), pool.snapshot.events
    first, last = (None if key is None else events.position(key) for key in (span.begins, span.ends))
    scheme = read_scheme(pool.description.points_scheme)
    remaining = 0 if span.ends is not None else None if scheme.rounds else races_ahead(pool)
    found = championship(counting_results(pool, slice(first, last)).frame, scheme, remaining=remaining)
    return replace(found, season=span.season or None, players=found.players[:top], teams=found.teams[:top])


def span_of(pool: PoolAt, season: str | None = None, *, before: bool = False) -> Span:
    if season is not None:
        return find_span(pool, season, before=before)
    *_, newest = Span("", False, None, None), *season_spans(pool)
    return newest


def races_ahead(pool: PoolAt) -> int | None:
    """Return the number of planned races after the latest rated event, or None if no race is planned."""
    events = pool.snapshot.events
    columns, newest = events.fixtures.columns, events.newest_rated
    is_ahead = ~columns.part("is_cancelled")
    if newest is not None:
        is_ahead &= columns.part("starts_at") > newest.started_at
    ids = (events.fixtures.ids[number] for number in np.flatnonzero(is_ahead).tolist())
    return sum(events.find(fixture_id) < 0 for fixture_id in ids) or None
