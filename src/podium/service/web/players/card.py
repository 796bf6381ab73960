"""A player at a glance: the verdict, the figures, the history, the form, and who is near."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, ClassVar, Literal
from urllib.parse import quote

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup

from podium.errors import UnknownError
from podium.ledger.history import can_be_unsettled
from podium.ledger.reasons.what_if import ordinal
from podium.pages.careers import CareerSummary, career_verdict
from podium.pages.drawing.bars import signed_bar
from podium.pages.drawing.history_chart import HistoryLine, HistoryPoint, history_chart
from podium.pages.numbers import DASH, SIGMAS, change, counted, day_words, rating, short_day
from podium.service.access.visitors import refuse_foreign
from podium.service.http.names import PlayerName
from podium.service.http.threads import CurrentStore
from podium.service.web.boards import leaderboard
from podium.service.web.boards.leaderboard import SPAN_WORDS, Active, ranked_card
from podium.service.web.rendering import Page, PageRouter, PoolHeader, pool_address, pool_header, render
from podium.service.web.visiting import VisiblePool
from podium.store import Store
from podium.store.log.pools import Pool
from podium.store.reading.players.models import CurvePoint, FormLine, PlayerCard
from podium.support.rounding import shown


@dataclass(frozen=True, slots=True)
class EventRow:
    """What an event did to a player, or the start of a season, which has no addresses."""

    event: str  # what people call it
    event_address: str
    reason_address: str
    started_at: datetime
    rank: int | None
    field: int | None
    change: Decimal
    rating: Decimal
    bar: Markup


def reason_address(header: PoolHeader, event_id: str, name: str) -> str:
    """The address of why an event moved a player."""
    return pool_address(header.name, "events", event_id, name)


def event_rows(header: PoolHeader, name: str, lines: Sequence[FormLine]) -> tuple[EventRow, ...]:
    """Changes as lines of a table, their bars on one scale."""
    low, high = (limit((line.shown for line in lines), default=0.0) for limit in (min, max))
    return tuple(
        EventRow(
            event=line.title or line.event_id or "A season began",
            event_address=pool_address(header.name, "events", line.event_id) if line.event_id else "",
            reason_address=reason_address(header, line.event_id, name) if line.event_id else "",
            started_at=line.started_at,
            rank=line.rank,
            field=line.field,
            change=shown(line.shown, header.digits),
            rating=shown(line.rating, header.digits - 1),
            bar=signed_bar(line.shown, low, high),
        )
        for line in lines
    )


Range = Literal["1y", "5y", "all"]
YEAR = timedelta(days=365.25)
RANGES: dict[Range, tuple[str, timedelta | None]] = {
    "1y": ("1 year", YEAR),
    "5y": ("5 years", 5 * YEAR),
    "all": ("All", None),
}
MOST_POINTS = 300
LAST_TEN = 10
DAYS_FROM = 6  # best and worst days are shown from the sixth event on
router = PageRouter()


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure with its name, and what it means."""

    name: str
    value: str
    note: str | Markup = ""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A player who is rated next."""

    rank: int | None
    player: str
    rating: Decimal
    ahead: Decimal | None  # of the player of the page; None of that player


@dataclass(frozen=True, slots=True)
class RangeLink:
    """A span of the history that can be shown."""

    address: str
    words: str
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerPage(Page):
    """A player at a glance."""

    template: ClassVar[str] = "player.html"

    player: str
    address: str
    former_names: tuple[str, ...]
    verdict: str
    tiles: tuple[Tile, ...]
    chart: Markup
    ranges: tuple[RangeLink, ...]  # none where all would show the same
    form: tuple[EventRow, ...]
    events: int
    nearby: tuple[Neighbour, ...]
    best: tuple[EventRow, ...]
    worst: tuple[EventRow, ...]
    finding: Decimal | None  # what the first five events moved; None before the sixth


@router.pool_page("/players/{player}")
def player(
    request: Request,
    player: PlayerName,
    visit: VisiblePool,
    store: CurrentStore,
    span: Annotated[Range, Query(alias="range")] = "all",
) -> Response:
    """A player at a glance; names like this one, where nobody is called so."""
    try:
        page = player_page(store, visit.pool, player, span)
    except UnknownError:
        header = pool_header(store.pool(visit.pool))
        return leaderboard.answer(request, store, [visit.pool], player, header, list_only=True, is_missing=True)
    return render(request, page)


def player_page(store: Store, pool_name: str, name: str, span: Range) -> PlayerPage:
    """What the page of a player shows."""
    newest_entry = store.version(pool_name)
    pool = store.pool(pool_name)
    header, (card, active) = pool_header(pool), ranked_card(store, pool, name)
    length = RANGES[span][1]
    since = None if length is None else card.last_played_at - length
    curve = store.rating_curve(pool_name, name, since, most=MOST_POINTS)
    settled = card.events >= DAYS_FROM
    verdict = verdict_of(header, card)
    return PlayerPage(
        title=card.player,
        description=f"{rating(card.rating, header.digits - 1)} points in {header.title}. {verdict}",
        pool=header,
        tab="leaderboard",
        newest_entry=newest_entry,
        player=card.player,
        address=player_address(header, card.player),
        former_names=card.former_names,
        verdict=verdict,
        tiles=tiles(header, card, listed_words(pool, header, card, active)),
        chart=chart(header, card.player, curve) if len(curve) > 1 else Markup(""),
        ranges=ranges(header, card, span),
        form=event_rows(header, card.player, card.form),
        events=card.events,
        nearby=neighbours(header, card),
        best=event_rows(header, card.player, card.best_days),
        worst=event_rows(header, card.player, card.worst_days),
        finding=shown(card.finding_shown, header.digits) if settled else None,
    )


def player_address(header: PoolHeader, name: str, *more: str) -> str:
    """The address of a player's page, or of one below it."""
    return pool_address(header.name, "players", name, *more)


def verdict_of(header: PoolHeader, card: PlayerCard) -> str:
    """How the player is doing, in a sentence or two."""
    peak = None if card.peak is None else (card.peak.rating, card.peak.started_at)
    return career_verdict(
        CareerSummary(
            card.trend, card.events, card.last_ten_events, card.last_ten_shown, card.chance, card.rating, peak,
            card.is_highest, card.provisional, card.would_be_rank, card.listed,
        ),
        header.digits,
    )  # fmt: skip


def tiles(header: PoolHeader, card: PlayerCard, listed: str) -> tuple[Tile, ...]:
    """The figures of a player."""
    digits = header.digits - 1
    found = [Tile("Rating", rating(card.rating, digits), rating_note(header, card))]
    found.append(rank_tile(card, listed))
    if card.last_ten_events:
        name = "Last ten" if card.last_ten_events == LAST_TEN else "Since the fifth"
        moved = change(card.last_ten_shown, header.digits)
        found.append(Tile(name, moved, f"{counted(card.last_ten_events, 'event')}, added up"))
    if card.peak is not None:
        reach = "" if card.peak.deviation is None else f" ±{shown(SIGMAS * card.peak.deviation, digits)}"
        note = Markup('{} <a href="{}">{}</a>').format(
            f"{reach}," if reach else "on",
            reason_address(header, card.peak.event_id, card.player),
            day_words(card.peak.started_at),
        )
        found.append(Tile("Peak", rating(card.peak.rating, digits), note))
        found.append(streak_tile(card))
    since = f"since {day_words(card.first_played_at)}"
    found.append(Tile("Events", f"{card.events:,}", since))
    return tuple(found)


def rating_note(header: PoolHeader, card: PlayerCard) -> str:
    """How far a rating may be off."""
    if card.deviation is None:
        return "points"
    return f"±{shown(SIGMAS * card.deviation, header.digits - 1)}, 19 times in 20"


def listed_words(pool: Pool, header: PoolHeader, card: PlayerCard, active: Active) -> str:
    """Among whom a rank is: "23 drivers who played in the last year"."""
    settled = "settled " if can_be_unsettled(pool.system) else ""
    played = "" if active == "any" else f" who played {SPAN_WORDS[active]}"
    return f"{counted(card.listed, f'{settled}{header.word}')}{played}"


def rank_tile(card: PlayerCard, listed: str) -> Tile:
    """Where the player stands among those who are listed."""
    if card.rank is None:
        place = f"would be {ordinal(card.would_be_rank)}" if card.would_be_rank else ""
        return Tile("Rank", DASH, f"once settled; {place}" if place else "once settled")
    among = f"of {listed}"
    if not card.move:
        return Tile("Rank", f"{card.rank:,}", among)
    css, sign, word = ("gain", "▲", "up ") if card.move > 0 else ("loss", "▼", "down ")
    moved = Markup('<span class="{}"><span aria-hidden="true">{}</span><span class="vh">{}</span>{}</span>').format(
        css, sign, word, abs(card.move)
    )
    since = f" since {short_day(card.since)}" if card.since else ""
    return Tile("Rank", f"{card.rank:,}", Markup('<span class="move">{}</span>{}, {}').format(moved, since, among))


def streak_tile(card: PlayerCard) -> Tile:
    """The longest run of events won; of gains, where fewer than two were won in a row."""
    streaks = card.streaks
    wins, current, words = streaks.wins, streaks.current_wins, "won in a row"
    if wins < 2:  # noqa: PLR2004  (a row takes two)
        wins, current, words = streaks.gains, streaks.current_gains, "in a row that gained"
    return Tile("Best streak", f"{wins:,}", f"{'event' if wins == 1 else 'events'} {words}; now {current}")


def chart(header: PoolHeader, name: str, curve: tuple[CurvePoint, ...]) -> Markup:
    """The history, each dot a link to its reasons."""
    if not curve:
        return Markup("")
    points = [
        HistoryPoint(
            point.started_at,
            point.rating,
            point.deviation,
            reason_address(header, point.event_id, name) if point.event_id else None,
            point_label(header, point),
        )
        for point in curve
    ]
    return history_chart([HistoryLine(name, points)], chart_label(header, name, curve), digits=header.digits)


def point_label(header: PoolHeader, point: CurvePoint) -> str:
    """What the link of a dot is about."""
    moved = change(point.shown, header.digits)
    return f"Why {moved} on {day_words(point.started_at)}? Then {rating(point.rating, header.digits - 1)}"


def chart_label(header: PoolHeader, name: str, curve: tuple[CurvePoint, ...]) -> str:
    """What the chart of a history shows."""
    digits, first, last = header.digits - 1, curve[0], curve[-1]
    if first is last:
        return f"Rating of {name}: {rating(last.rating, digits)} on {day_words(last.started_at)}"
    best = max(point.rating for point in curve)
    span = f"from {day_words(first.started_at)} to {day_words(last.started_at)}"
    figures = (f"{rating(first.rating, digits)} at first", f"{rating(best, digits)} at best")
    return f"Rating of {name} {span}: {', '.join(figures)}, {rating(last.rating, digits)} at last"


def ranges(header: PoolHeader, card: PlayerCard, current: Range) -> tuple[RangeLink, ...]:
    """The spans that show less than all; none where there is no such."""
    length = card.last_played_at - card.first_played_at
    fitting = [each for each, (_, span) in RANGES.items() if span is None or span < length or each == current]
    if len(fitting) == 1:
        return ()
    address = player_address(header, card.player)
    return tuple(
        RangeLink(address if each == "all" else f"{address}?range={each}", RANGES[each][0], each == current)
        for each in fitting
    )


def neighbours(header: PoolHeader, card: PlayerCard) -> tuple[Neighbour, ...]:
    """Who is rated next, and how far ahead of the player as ratings are shown."""
    digits = header.digits - 1
    own = shown(card.rating, digits)
    return tuple(
        Neighbour(
            each.rank,
            each.player,
            shown(each.rating, digits),
            None if each.player == card.player else shown(each.rating, digits) - own,
        )
        for each in card.nearby
    )


COOKIE = "me"
YEAR_S = 365 * 86_400


@router.pool_form("/players/{player}/me")
def choose_me(
    request: Request,
    player: PlayerName,
    visit: VisiblePool,
    store: CurrentStore,
    me: Annotated[Literal["yes", "no"], Form()],
) -> Response:
    """Remember the player as the visitor, or forget who that was."""
    refuse_foreign(request)
    name, is_me = store.rank(visit.pool, player).player, me == "yes"
    answer = RedirectResponse(pool_address(visit.pool, "players", name), 303)
    answer.set_cookie(
        COOKIE,
        quote(name, safe="") if is_me else "",
        max_age=YEAR_S if is_me else 0,
        path=pool_address(visit.pool),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return answer
