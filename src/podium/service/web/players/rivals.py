"""Whom a player met most, and where the points came from: explained events added up, which takes a moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Annotated, ClassVar

from fastapi import Query, Request, Response
from markupsafe import Markup

from podium.ledger.reasons.wording import heat_words
from podium.pages.drawing.bars import share_bar
from podium.pages.numbers import halves
from podium.service.http.names import PlayerName
from podium.service.http.threads import CurrentStore
from podium.service.web.players.card import EventRow, event_rows
from podium.service.web.rendering import Page, PageRouter, PoolHeader, pool_address, pool_header, render, unchanged
from podium.service.web.visiting import VisiblePool
from podium.store import Store
from podium.store.reading.players.models import RivalRow, Rivals, Scalp
from podium.support.rounding import shown

MET_MOST, MOVED_MOST = 8, 6
router = PageRouter()


@dataclass(frozen=True, slots=True)
class Rival:
    """The duels against one opponent."""

    player: str
    compare_address: str
    met: int
    won: str  # a draw is a half
    expected: str
    points: Decimal
    bar: Markup


@dataclass(frozen=True, slots=True)
class BestScalp:
    """The least expected duel that was won."""

    opponent: str
    expected: float
    event: str
    heat: str  # in words; empty where the event has one only
    started_at: datetime
    address: str  # of its reasons


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalsPage(Page):
    """The opponents of a player."""

    template: ClassVar[str] = "rivals.html"

    player: str
    address: str  # of the player's page
    events: int
    duels: int
    won: str
    expected: str
    met_most: tuple[Rival, ...]
    brought: tuple[Rival, ...]
    cost: tuple[Rival, ...]
    scalp: BestScalp | None


@router.pool_page("/players/{player}/rivals")
def rivals(request: Request, player: PlayerName, visit: VisiblePool, store: CurrentStore) -> Response:
    """The opponents of a player."""
    version = f"rivals {store.version(visit.pool)} {player}"
    same = unchanged(request, version)
    return same or render(request, rivals_page(store, visit.pool, player), version=version)


def rivals_page(store: Store, pool_name: str, name: str) -> RivalsPage:
    """What the page shows."""
    newest_entry = store.version(pool_name)
    header, present = pool_header(store.pool(pool_name)), store.rank(pool_name, name).player
    found = store.rivals(pool_name, present)
    by_points = sorted(found.opponents, key=lambda each: each.points)
    brought = [each for each in reversed(by_points) if shown(each.points, header.digits) > 0][:MOVED_MOST]
    cost = [each for each in by_points if shown(each.points, header.digits) < 0][:MOVED_MOST]
    most = max((abs(each.points) for each in (*brought, *cost)), default=0.0)
    return RivalsPage(
        title=f"Whom {present} met",
        description=f"Won {halves(found.won)} of {found.duels:,} duels; {found.expected:,.1f} were expected.",
        pool=header,
        tab="leaderboard",
        newest_entry=newest_entry,
        player=present,
        address=pool_address(pool_name, "players", present),
        events=found.events,
        duels=found.duels,
        won=halves(found.won),
        expected=f"{found.expected:,.1f}",
        met_most=rival_rows(header, present, found.opponents[:MET_MOST], most),
        brought=rival_rows(header, present, brought, most),
        cost=rival_rows(header, present, cost, most),
        scalp=best_scalp(header, present, found),
    )


def rival_rows(header: PoolHeader, name: str, rows: Sequence[RivalRow], most: float) -> tuple[Rival, ...]:
    """Opponents as lines of a table, their bars on one scale."""
    return tuple(
        Rival(
            each.opponent,
            pool_address(header.name, "compare", player=name, other=each.opponent),
            each.met,
            halves(each.score),
            f"{each.expected:,.1f}",
            shown(each.points, header.digits),
            share_bar(min(1.0, abs(each.points) / most) if most else 0.0, "up" if each.points > 0.0 else "down"),
        )
        for each in rows
    )


def best_scalp(header: PoolHeader, name: str, found: Rivals) -> BestScalp | None:
    """The least expected duel that was won, as the page names it."""
    scalp: Scalp | None = found.best_scalp
    if scalp is None:
        return None
    return BestScalp(
        scalp.opponent,
        scalp.expected,
        scalp.title or scalp.event_id,
        heat_words(scalp.heat) if scalp.heat else "",
        scalp.started_at,
        pool_address(header.name, "events", scalp.event_id, name),
    )


ROWS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesPage(Page):
    """A page of a player's changes, newest first."""

    template: ClassVar[str] = "changes.html"

    player: str
    address: str  # of the player's page
    rows: tuple[EventRow, ...]
    is_first: bool
    next_address: str  # empty where there are no more


@router.pool_page("/players/{player}/changes")
def changes(
    request: Request,
    player: PlayerName,
    visit: VisiblePool,
    store: CurrentStore,
    before: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """A page of every change of a player."""
    return render(request, changes_page(store, visit.pool, player, before))


def changes_page(store: Store, pool_name: str, name: str, before: str) -> ChangesPage:
    """What the page shows."""
    newest_entry = store.version(pool_name)
    header, present = pool_header(store.pool(pool_name)), store.rank(pool_name, name).player
    page = store.player_changes(pool_name, present, before=before or None, top=ROWS)
    address = pool_address(pool_name, "players", present)
    return ChangesPage(
        title=f"All changes of {present}",
        description=f"Every event of {present} in {header.title}, with the reason for each change.",
        pool=header,
        tab="leaderboard",
        newest_entry=newest_entry,
        player=present,
        address=address,
        rows=event_rows(header, present, page.rows),
        is_first=not before,
        next_address=pool_address(pool_name, "players", present, "changes", before=page.next) if page.next else "",
    )
