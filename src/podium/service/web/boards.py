"""Pages with lists (leaderboard, events, and players found by name), and the spans of activity."""

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Final, Literal, NamedTuple

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from podium.engine.system import System
from podium.errors import UnknownError
from podium.ledger.history import can_be_provisional
from podium.log.pools import Pool, earlier
from podium.pages.numbers import deviation
from podium.service.http.json import MAX_SENT_CHARACTERS
from podium.service.http.requests import CurrentStore, WantedDetails
from podium.service.web import rendering
from podium.service.web.visiting import VisiblePool, VisiblePools
from podium.store import Store
from podium.support.words import counted
from podium.views.player_models import FoundPlayer, Leaderboard, Listing, PlayerCard

Sort = Literal["rating", "move"]
MIN_EVENTS: Final = (1, 10, 50)  # choices offered in the form
ROWS: Final = 50  # number of rows per page
ROW: Final = "#me"  # the fragment for the visitor's row
SPAN_VALID_S: Final = 60.0
QUIET: Final = timedelta(days=60)  # a phone shows when players last played if it was earlier before the newest event
router = rendering.PageRouter()
Active = Literal["any", "1y", "90d"]
Range = Literal["1y", "5y", "all"]


class Span(NamedTuple):
    """A span of time: its name in addresses, and its length.

    In pools without dates, one event counts as one day.
    """

    length: timedelta | None  # None for all time
    words: str


def days(count: float, words: str) -> Span:
    return Span(timedelta(days=count), words)


ANY, ALL = Span(None, "any time"), Span(None, "All")
ACTIVE: Final[Mapping[Active, Span]] = {
    "any": ANY, "1y": days(365, "in the last year"), "90d": days(90, "in the last 90 days"),
}  # fmt: skip
ACTIVE_UNDATED: Final[Mapping[Active, Span]] = {
    "any": ANY, "1y": days(50, "in the last 50 events"), "90d": days(10, "in the last 10 events"),
}  # fmt: skip
# Time ranges for histories in charts.
RANGES: Final[Mapping[Range, Span]] = {"1y": days(365.25, "1 year"), "5y": days(5 * 365.25, "5 years"), "all": ALL}
RANGES_UNDATED: Final[Mapping[Range, Span]] = {"1y": days(50, "50 events"), "5y": days(250, "250 events"), "all": ALL}


def spans_of(pool: Pool) -> Mapping[Active, Span]:
    """Return the spans of activity by which the boards of a pool can be filtered."""
    return ACTIVE_UNDATED if pool.is_undated else ACTIVE


@router.pool_page("")
def leaderboard(
    visit: VisiblePool,
    details: WantedDetails,
    cursor: Annotated[str, Query(max_length=200)] = "",
    active: Active | None = None,
    min_events: Annotated[int, Query(alias="min", ge=0, le=10**9)] = 0,
    sort: Sort = "rating",
    *,
    everyone: Annotated[bool, Query(alias="all")] = False,
) -> Response:
    """Show a page of the leaderboard. The first page also lists the players with provisional ratings."""
    store = visit.store
    pool = store.pool(visit.pool)
    header = rendering.pool_header(pool)
    # the query for the same list of players
    terms = {"active": active, "min": min_events, "all": int(everyone), **dict(details)}
    query = {name: str(value) for name, value in terms.items() if value}
    span, spans = "any" if everyone else active or default_span(store, pool), spans_of(pool)
    listing = Listing(min_events if min_events > 1 and not everyone else None, spans[span].length, everyone, details)
    if sort == "move":
        board = store.newest_entrants(pool.name, listing)
    else:
        board = store.leaderboard(pool.name, listing, after=cursor or None, top=ROWS)
    least = max(min_events, 1)
    return visit.show(
        "leaderboard.html",
        "Leaderboard",
        tab="leaderboard",
        description=f"{counted(board.listed, header.word)} of {header.title}, rated by {header.system_title}.",
        picture=header.path("card.png") if board.players else "",
        board=board,
        season=None if cursor else next(reversed(store.seasons(pool.name)), None),
        ahead=None if cursor else next(iter(store.fixtures(pool.name, ahead=True, most=1)), None),
        reasons=listing_reasons(pool.system, listing, spans[span]) if board.listed < board.rated else "",
        made_up=(*store.made_up(pool.name), *filter(None, [pool.system.ranking])),
        provisional_rule=established_rule(pool.system),
        is_everyone=everyone,
        is_by_move=sort == "move",
        is_first=not cursor,
        spans=tuple((length, known.words, length == span) for length, known in spans.items()),
        min_events=tuple(
            (str(count), counted(count, "event"), count == least) for count in sorted({*MIN_EVENTS, least})
        ),
        choices=store.detail_choices(pool.name),
        wanted=details,
        next_address=header.path(**query, cursor=board.next) if board.next else "",
        me_address=row_address(store, pool, listing, query, board, rendering.chosen_player(visit.request)),
        rating_address=header.path(**query),
        move_address=header.path(**query, sort="move"),
        quiet_before=earlier(board.newest.when, QUIET) if board.newest else None,
    )


def default_listing(store: Store, pool: Pool) -> Listing:
    """Return the default rules for a pool's listing."""
    return Listing(active_within=spans_of(pool)[default_span(store, pool)].length)


def default_span(store: Store, pool: Pool) -> Active:
    """Return the default span of activity for a pool's listing.

    If most established players have not played for a year, the span is the last year, so that the board stays current.
    """
    established = store.listed_count(pool.name)

    def find() -> Active:
        within_year = store.listed_count(pool.name, Listing(active_within=spans_of(pool)["1y"].length))
        return "1y" if 0 < within_year < established - within_year else "any"

    version = established, time.monotonic() // SPAN_VALID_S  # spans are years, so a single result hardly matters
    return store.answers.value(("default span", pool.id), version, find)


def ranked_card(store: Store, pool: Pool, name: str) -> tuple[PlayerCard, Active]:
    """Return a player's card, with the rank on the board for its span or, otherwise, among all established players."""
    span = default_span(store, pool)
    card = store.player_card(pool.name, name, Listing(active_within=spans_of(pool)[span].length))
    if card.rank is not None or card.would_be_rank or span == "any":
        return card, span
    return store.player_card(pool.name, name), "any"


def listing_reasons(system: System, listing: Listing, span: Span) -> str:
    reasons = ["established rating"] if can_be_provisional(system) and not listing.provisional else []
    if listing.active_within is not None:
        reasons.append(f"played {span.words}")
    if listing.min_events is not None:
        reasons.append(f"at least {counted(listing.min_events, 'event')}")
    reasons += [f"{name} {value}" for name, value in listing.details]
    return ", ".join(reasons)


def established_rule(system: System) -> str:
    rules = [counted(system.min_events, "event")] if system.min_events > 1 else []
    if system.established_deviation is not None:
        rules.append(f"a rating that is certain to {deviation(system.established_deviation, system.digits - 1)}")
    if not rules:
        return ""
    return f"A rank requires {' and '.join(rules)}. Until then the rating is provisional and moves in large steps."


def row_address(store: Store, pool: Pool, listing: Listing, query: dict[str, str], board: Leaderboard, me: str) -> str:
    """Return the address of a player's row on this or another page, or of the player's page, or an empty string."""
    if not me:
        return ""
    if any(row.player == me for row in (*board.players, *board.provisional)):
        return ROW
    try:
        cursor = store.page_of(pool.name, listing, me, top=ROWS)
    except UnknownError:  # the player has been renamed
        return ""
    if cursor is None:
        return rendering.pool_address(pool.name, "players", me)
    return rendering.pool_address(pool.name, **query, **({"cursor": cursor} if cursor else {})) + ROW


@router.pool_page("/events")
def events(visit: VisiblePool, cursor: Annotated[str, Query(max_length=200)] = "") -> Response:
    """Show the list of events, with their winners and largest changes."""
    header = visit.header
    found = visit.store.event_list(visit.pool, before=cursor or None, top=ROWS)
    return visit.show(
        "events.html",
        "Events",
        tab="events",
        description=f"Winners and largest changes in the events of {header.title}, newest first.",
        lines=found.events,
        is_first=not cursor,
        next_address=visit.path("events", cursor=found.next) if found.next else "",
    )


MAX_FOUND: Final = 20  # maximum number of players to list
Text = Annotated[str, Query(alias="q", max_length=MAX_SENT_CHARACTERS)]
ListOnly = Annotated[bool, Query(alias="list")]  # True to show a list even for a single match


@router.page("/find")
def find_everywhere(
    request: Request, pools: VisiblePools, store: CurrentStore, text: Text = "", *, list_only: ListOnly = False
) -> Response:
    return found_players(request, store, pools, text, None, list_only=list_only)


@router.pool_page("/find")
def find_in_pool(visit: VisiblePool, text: Text = "", *, list_only: ListOnly = False) -> Response:
    header = visit.header
    return found_players(visit.request, visit.store, [visit.pool], text, header, list_only=list_only)


def found_players(
    request: Request,
    store: Store,
    pools: Iterable[str],
    text: str,
    pool: rendering.PoolHeader | None,
    *,
    list_only: bool,
    is_missing: bool = False,
) -> Response:
    found: Sequence[FoundPlayer] = ()
    if text.strip():
        found = store.search(text, [*pools], most=MAX_FOUND)
    elif rendering.is_static(request):  # a static page cannot search
        found = everybody(store, pools)
    headers = {name: rendering.pool_header(store.pool(name)) for name in {player.pool for player in found}}
    hits = tuple((player, headers[player.pool]) for player in found if not player.is_similar)
    if text and len(hits) == 1 and not list_only:
        hit, header = hits[0]
        return RedirectResponse(header.path("players", hit.player), 303, rendering.HEADERS)
    page = rendering.Page(
        "find.html",
        f"Find {text}" if text else "Find a player",
        pool=pool,
        text=text,
        hits=hits,
        similar=tuple((player, headers[player.pool]) for player in found if player.is_similar),
        is_cut=bool(text) and len(hits) == MAX_FOUND,
        form_address=rendering.pool_address(pool.name, "find") if pool else rendering.address("find"),
    )
    return rendering.render(request, page, status=404 if is_missing or (text.strip() and not hits) else 200)


EVERYBODY: Final = Listing(provisional=True)


def everybody(store: Store, pools: Iterable[str]) -> Sequence[FoundPlayer]:
    """List the players in these pools, best first. Only established players have ranks."""
    found = []
    for name in sorted(pools):
        established, rows = (
            store.leaderboard(name, listing, top=sys.maxsize).players for listing in (Listing(), EVERYBODY)
        )
        ranks = {row.player: row.rank for row in established}
        found += [
            FoundPlayer(name, row.player, row.rating, ranks.get(row.player), None, is_similar=False) for row in rows
        ]
    return found
