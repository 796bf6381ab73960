"""A pool's championship: the points of its players and teams in a season."""

from dataclasses import replace
from functools import partial

import numpy as np

from podium.errors import UnknownError
from podium.ledger.championship import Championship, championship
from podium.ledger.point_schemes import read_scheme
from podium.views.boards.seasons import Span, find_span, season_spans
from podium.views.reader import PoolAt
from podium.views.results import counting_results


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
