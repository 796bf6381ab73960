"""The pages about a player: overview, changes, opponents, and the player's own news."""

import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, NamedTuple
from urllib.parse import quote

from fastapi import Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup

from podium.errors import UnknownError
from podium.ledger.history import can_be_provisional
from podium.log.log import SUBMIT
from podium.log.pools import earlier, time_of
from podium.pages.charts import HistoryLine, HistoryPoint, history_chart
from podium.pages.numbers import DASH, Shape, day_words, halves, short_day
from podium.service.http.json import PlayerName, RefusedError
from podium.service.http.visitors import read_form, refuse_foreign, send_cookie
from podium.service.web import boards, rendering
from podium.service.web.ahead.calendar import CurrentStakes
from podium.service.web.player_tiles import Tile, facts_on, lead_on, rating_note, upcoming
from podium.service.web.visiting import VisiblePool
from podium.store.hindsight import HindsightPoint
from podium.support.words import counted, ordinal, ordinal_number, shown
from podium.views.player_models import CurvePoint, FormLine, PlayerCard

MAX_POINTS = 300
ROWS = 50  # number of changes per page
MOVED_MOST = 6
MAX_LINKED = 2  # maximum number of events to link next to a reason, in one line of a phone
DAYS_FROM = 6  # individual changes appear from the sixth event on
router = rendering.PageRouter()


@router.pool_page("/players/{player}")
def player(
    player: PlayerName,
    visit: VisiblePool,
    kept: CurrentStakes,
    span: Annotated[boards.Range, Query(alias="range")] = "all",
    *,
    draws: Annotated[bool, Query(alias="stakes")] = False,
) -> Response:
    """Show an overview of a player. If nobody has this name, show similar names."""
    store = visit.store
    pool = store.pool(visit.pool)
    header = rendering.pool_header(pool)
    try:
        card, active = boards.ranked_card(store, pool, player)
    except UnknownError:
        return boards.found_players(visit.request, store, [visit.pool], player, header, list_only=True, is_missing=True)
    spans = boards.RANGES_UNDATED if pool.is_undated else boards.RANGES
    length = spans[span].length
    since = None if length is None else earlier(card.last_when, length)
    curve = store.rating_curve(visit.pool, player, since, most=MAX_POINTS)
    hindsight = store.hindsight_curve(visit.pool, player, since) if header.has_hindsight else ()
    ahead = upcoming(store, kept, header, card.player, draws=draws, has_key=visit.visitor.key is not None)
    changes = store.player_changes(visit.pool, card.player).rows
    in_form = {line.event_id for line in card.form}
    established = "established " if can_be_provisional(pool.system) else ""
    played = "" if active == "any" else f" who played {boards.spans_of(pool)[active].words}"
    listed = f"{counted(card.listed, f'{established}{header.word}')}{played}"
    place = f", {ordinal_number(card.rank)} of {listed}" if card.rank else ""
    above = [row.player for row in card.nearby if row.ahead > 0.0]
    others = [*(row.player for row in card.nearby), *(encounter.opponent for encounter in card.encounters)]
    return visit.show(
        "player.html",
        card.player,
        pool=header,
        tab="leaderboard",
        description=f"{header.rating(card.rating)} points in {header.title}{place}.",
        card=card,
        lead=lead_on(header, card, boards.established_rule(pool.system), has_race=ahead is not None),
        tiles=(Tile("Rating", header.score(card), rating_note(header, card)), rank_tile(card, listed)),
        facts=facts_on(header, card),
        picture=rendering.pool_address(visit.pool, "events", card.form[0].event_id or "", card.player, "picture.png"),
        changes=changes[: 1 + max(k for k, line in enumerate(changes) if line.event_id in in_form)],  # with new seasons
        race=None if ahead is None else ahead.note(card),
        rival=next((other for other in [*above[-1:], *others] if other != card.player), ""),
        waits=ahead is not None and ahead.waits,
        chart=chart(header, card, curve, hindsight) if len(curve) > 1 else Markup(""),
        hindsight_day=store.hindsight_day(visit.pool) if len(hindsight) > 1 else None,
        ranges=ranges(header, card, spans, span),
        ranking=pool.system.ranking,
        finding=shown(card.finding_shown, header.digits) if card.events >= DAYS_FROM else None,
        rename_address=rendering.address("admin", visit.pool, "players", player=card.player)
        if visit.visitor.may("admin", visit.pool)
        else "",
    )


def rank_tile(card: PlayerCard, listed: str) -> Tile:
    if card.rank is None:
        place = f"would be {ordinal(card.would_be_rank)}" if card.would_be_rank else ""
        return Tile("Rank", DASH, f"once established; {place}" if place else "once established")
    among = f"of {listed}"
    since = "" if card.since_when is None else f" since {short_day(card.since_when)}"
    if not card.move:
        return Tile("Rank", f"{card.rank:,}", f"{among}{f', unchanged{since}' if card.move == 0 and since else ''}")
    css, sign, word = ("gain", "▲", "up ") if card.move > 0 else ("loss", "▼", "down ")
    moved = Shape('<span class="{}"><span aria-hidden="true">{}</span><span class="vh">{}</span>{}</span>').format(
        css, sign, word, abs(card.move)
    )
    return Tile("Rank", f"{card.rank:,}", Shape('<span class="move">{}</span>{}, {}').format(moved, since, among))


def chart(
    header: rendering.PoolHeader, card: PlayerCard, curve: tuple[CurvePoint, ...], hindsight: tuple[HindsightPoint, ...]
) -> Markup:
    name = card.player
    drawn = [point for point in curve if point.event_id]
    played: list[CurvePoint | FormLine] = [*drawn, *card.best_days, *card.worst_days]
    days = sorted(played, key=lambda day: day.shown)
    ends = ("worst day", days[0], -1), ("best day", days[-1], 1)
    causes = {day.event_id: f"{words} {header.change(day.shown)}" for words, day, sign in ends if sign * day.shown > 0}
    points = [
        HistoryPoint(
            header.local(point.when),
            point.rating,
            point.deviation,
            header.path("events", point.event_id, name) if point.event_id else None,
            f"Why {header.change(point.shown)} {header.on(point.when)}?",
            causes.get(point.event_id, ""),
            is_season=point.event_id is None,
        )
        for point in curve
    ]
    first, last = curve[0], curve[-1]
    span = f"from {day_words(header.local(first.when))} to {day_words(header.local(last.when))}"
    line = HistoryLine(name, points)
    best = f"{header.rating(line.best.rating)} at best"
    figures = f"{header.rating(first.rating)} at the start, {best}, {header.rating(last.rating)} at the end"
    label = f"Rating of {name} {span}: {figures}"
    dashed = [HistoryPoint(point.when, point.rating, point.deviation) for point in hindsight]
    return history_chart([line], label, digits=header.digits, hindsight=dashed)


def ranges(
    header: rendering.PoolHeader, card: PlayerCard, spans: Mapping[boards.Range, boards.Span], current: boards.Range
) -> tuple[tuple[str, str, bool], ...]:
    """Return the time ranges to offer for the chart, or an empty list if all of them would show all events."""
    first = time_of(card.first_when)
    fitting = [
        name
        for name, (length, _) in spans.items()
        if length is None or time_of(earlier(card.last_when, length)) > first or name == current
    ]
    if len(fitting) == 1:
        return ()
    address = header.path("players", card.player)
    return tuple(
        (address if name == "all" else f"{address}?range={name}", spans[name].words, name == current)
        for name in fitting
    )


@router.pool_page("/players/{player}/reasons")
def reasons(player: PlayerName, visit: VisiblePool) -> Response:
    """Show the reasons for the changes in the last ten events. Calculating them takes a moment."""
    version = f"reasons {visit.store.edition(visit.pool)} {player}"
    same = rendering.unchanged(visit.request, version)
    if same is not None:
        return same
    totals = visit.store.reasons(visit.pool, player)
    points = [reason.shown for reason in totals.reasons]
    return visit.show(
        "reasons.html",
        "Reasons for the last ten events",
        tab="leaderboard",
        description=totals.summary,
        totals=totals,
        rows=totals.labelled,
        titles={
            row.event_id: row.title for row in visit.store.player_changes(visit.pool, totals.player, top=ROWS).rows
        },
        least=min(points, default=0.0),
        most=max(points, default=0.0),
        max_linked=MAX_LINKED,
        version=version,
    )


@router.pool_page("/players/{player}/rivals")
def rivals(player: PlayerName, visit: VisiblePool) -> Response:
    store = visit.store
    version = f"rivals {store.edition(visit.pool)} {player}"
    same = rendering.unchanged(visit.request, version)
    if same is not None:
        return same
    header, present = visit.header, store.rank(visit.pool, player).player
    found = store.rivals(visit.pool, present)
    by_points = sorted(found.opponents, key=lambda rival: rival.points)
    brought = [point for point in reversed(by_points) if shown(point.points, header.digits) > 0][:MOVED_MOST]
    cost = [point for point in by_points if shown(point.points, header.digits) < 0][:MOVED_MOST]
    return visit.show(
        "rivals.html",
        f"Whom {present} met",
        tab="leaderboard",
        description=f"Won {halves(found.won)} of {found.duels:,} duels; {found.expected:,.1f} were expected.",
        player=present,
        found=found,
        brought=tuple(brought),
        cost=tuple(cost),
        most=max((abs(rival.points) for rival in (*brought, *cost)), default=0.0),
        version=version,
    )


@router.pool_page("/players/{player}/changes")
def changes(
    player: PlayerName,
    visit: VisiblePool,
    before: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    header, present = visit.header, visit.store.rank(visit.pool, player).player
    found = visit.store.player_changes(visit.pool, present, before=before or None, top=ROWS)
    return visit.show(
        "changes.html",
        f"All rating changes for {present}",
        tab="leaderboard",
        description=f"Every event of {present} in {header.title}, with the reason for each change.",
        player=present,
        rows=found.rows,
        is_first=not before,
        next=found.next,
    )


COOKIE = "me"  # contains the name, the newest log entries (known and shown), and the minute
YEAR_S = 365 * 86_400
VISIT_MINUTES = 30  # time after the last look during which news is shown
MAX_NEWS = 100  # maximum number of log entries to read


class LastVisit(NamedTuple):
    """The newest log entry that a visitor knows, and the newest one that was shown."""

    known: int
    shown: int
    minute: int

    @classmethod
    def read(cls, request: Request, newest: int) -> "LastVisit":
        parts = request.cookies.get(COOKIE, "").split(":")[1:]
        if len(parts) != len(cls._fields) or not all(part.isdecimal() and len(part) < 16 for part in parts):  # noqa: PLR2004
            return cls(newest, newest, 0)
        return cls(*map(int, parts))

    def at(self, newest: int, minute: int) -> "LastVisit":
        """Return the visit to which this look belongs: the same visit, or a new one that starts at its end."""
        known = self.known if minute - self.minute < VISIT_MINUTES else self.shown
        return LastVisit(min(known, newest), newest, minute)


def remember(request: Request, answer: Response, pool: str, name: str, visit: LastVisit | None) -> None:
    """Store in a browser which player its user is, and the user's visit. Without a visit, delete both."""
    value = "" if visit is None else ":".join([quote(name, safe=""), *map(str, visit)])
    send_cookie(request, answer, COOKIE, value, 0 if visit is None else YEAR_S, rendering.pool_address(pool))


async def is_me(request: Request) -> bool:
    """Return the visitor's choice in a form, which is limited in size like every form."""
    choice = (await read_form(request)).text("me")
    if choice not in ("yes", "no"):
        raise RefusedError("me", "must be yes or no")
    return choice == "yes"


@router.pool_page("/players/{player}/me", takes_form=True)
def choose_me(player: PlayerName, visit: VisiblePool, is_visitor: Annotated[bool, Depends(is_me)]) -> Response:
    """Remember which player the visitor is, or forget it."""
    refuse_foreign(visit.request)
    name, newest = visit.store.rank(visit.pool, player).player, visit.store.version(visit.pool)
    answer = RedirectResponse(visit.path("players", name), 303)
    remember(visit.request, answer, visit.pool, name, LastVisit(newest, newest, 0) if is_visitor else None)
    return answer


@router.pool_page("/players/{player}/news")
def news(player: PlayerName, visit: VisiblePool) -> Response:
    """Show the visitor, who is the player, everything that has happened since the last visit."""
    store = visit.store
    header, newest = visit.header, store.version(visit.pool)
    name = store.rank(visit.pool, player).player
    seen = LastVisit.read(visit.request, newest).at(newest, int(time.time()) // 60)
    since = store.log(visit.pool, after=seen.known, most=MAX_NEWS)
    events = {entry.subject for entry in since if entry.kind == SUBMIT}
    own = [line for line in store.player_changes(visit.pool, name).rows if line.event_id in events]
    count = counted(len(events), "new result")
    answer = visit.show(
        "news.html",
        f"New for {name}",
        tab="leaderboard",
        newest_entry=None,  # the player's page reports them
        player=name,
        own=tuple(own),
        moved=sum((shown(change.shown, header.digits) for change in own), Decimal(0)),
        results=f"{count} or more" if len(since) == MAX_NEWS else count if events else "",
        corrections=sum(entry.moved is not None and entry.kind != SUBMIT for entry in since),
    )
    if rendering.chosen_player(visit.request) == name:
        remember(visit.request, answer, visit.pool, name, seen)
    return answer
