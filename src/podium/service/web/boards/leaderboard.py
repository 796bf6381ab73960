"""The leaderboard: who stands where, what the newest event moved, and where the visitor stands."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, ClassVar, Final, Literal

from fastapi import Query, Request, Response
from fastapi.responses import RedirectResponse

from podium.engine.system import System
from podium.errors import UnknownError
from podium.ledger.history import can_be_unsettled
from podium.pages.numbers import counted, deviation
from podium.service.http.names import MAX_SENT_CHARACTERS
from podium.service.http.threads import CurrentStore
from podium.service.web.rendering import (
    HEADERS,
    Page,
    PageRouter,
    PoolHeader,
    address,
    chosen_player,
    pool_address,
    pool_header,
    render,
)
from podium.service.web.visiting import VisiblePool, VisiblePools
from podium.store import Store
from podium.store.log.pools import Pool
from podium.store.reading.boards.models import EventHeadline, FoundPlayer, ListedPage, ListedRow, Listing
from podium.store.reading.players.models import PlayerCard

Active = Literal["any", "1y", "90d"]
Sort = Literal["rating", "move"]
SPANS: Final[dict[Active, timedelta | None]] = {"any": None, "1y": timedelta(days=365), "90d": timedelta(days=90)}
SPAN_WORDS: Final[dict[Active, str]] = {"any": "any time", "1y": "in the last year", "90d": "in the last 90 days"}
MIN_EVENTS: Final = (1, 10, 50)  # that the form offers
ROWS: Final = 50
ROW: Final = "#me"  # the part of a page with the visitor's row
SPAN_VALID_S: Final = 60.0
router = PageRouter()


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a filter."""

    value: str
    words: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Filters:
    """Who is listed, as the address says it."""

    active: Active | None = None  # the pool's own span where None
    min_events: int = 0
    everyone: bool = False  # settled or not, whenever they played

    @property
    def query(self) -> dict[str, str]:
        """The terms of an address that say the same."""
        terms = {"active": self.active, "min": self.min_events, "all": int(self.everyone)}
        return {name: str(value) for name, value in terms.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderboardPage(Page):
    """The leaderboard of a pool."""

    template: ClassVar[str] = "leaderboard.html"
    pool: PoolHeader

    board: ListedPage
    reasons: str  # what those who are listed have in common; empty where all players are
    settling: str  # when a rating is settled
    is_everyone: bool
    is_by_move: bool  # by what the newest event moved, not by rating
    is_first: bool  # of the board's pages
    spans: tuple[Choice, ...]
    min_events: tuple[Choice, ...]
    next_address: str  # empty where there is none
    me_address: str  # of the visitor's row, or page if it is not listed; empty where the visitor is nobody here
    is_me_listed: bool
    all_address: str
    rating_address: str
    move_address: str

    @property
    def rows(self) -> tuple[ListedRow, ...]:
        """Everybody on the page."""
        return (*self.board.rows, *self.board.unsettled)

    @property
    def has_moves(self) -> bool:
        """Whether ranks are compared with those of a day."""
        return self.board.since is not None

    @property
    def has_newest(self) -> bool:
        """Whether anybody on the page was in the newest event."""
        return any(row.newest_change is not None for row in self.rows)


@router.pool_page("")
def leaderboard(
    request: Request,
    visit: VisiblePool,
    store: CurrentStore,
    cursor: Annotated[str, Query(max_length=200)] = "",
    active: Active | None = None,
    min_events: Annotated[int, Query(alias="min", ge=0, le=10**9)] = 0,
    sort: Sort = "rating",
    *,
    everyone: Annotated[bool, Query(alias="all")] = False,
) -> Response:
    """The board: a page of those who are listed, and on the first one those who are still settling."""
    filters = Filters(active, min_events, everyone)
    return render(request, leaderboard_page(store, visit.pool, filters, sort, cursor, chosen_player(request)))


def leaderboard_page(
    store: Store, pool_name: str, filters: Filters, sort: Sort = "rating", cursor: str = "", me: str = ""
) -> LeaderboardPage:
    """What the leaderboard shows."""
    newest_entry = store.version(pool_name)  # before the rest: what comes between is news
    pool = store.pool(pool_name)
    header, query = pool_header(pool), filters.query
    active = "any" if filters.everyone else filters.active or default_span(store, pool)
    listing = Listing(
        filters.min_events if filters.min_events > 1 and not filters.everyone else None,
        SPANS[active],
        unsettled=filters.everyone,
    )
    if sort == "move":
        board = store.newest_entrants(pool.name, listing)
    else:
        board = store.listed_board(pool.name, listing, after=cursor or None, top=ROWS)
    least = max(filters.min_events, 1)
    me_address = row_address(store, pool, listing, query, board, me)
    return LeaderboardPage(
        title="Leaderboard",
        description=f"{counted(board.listed, header.word)} of {header.title}, rated by {header.system_title}.",
        pool=header,
        tab="leaderboard",
        newest_entry=newest_entry,
        board=board,
        reasons=listing_reasons(pool.system, listing, active) if board.listed < board.players else "",
        settling=settling_rule(pool.system),
        is_everyone=filters.everyone,
        is_by_move=sort == "move",
        is_first=not cursor,
        spans=tuple(Choice(each, SPAN_WORDS[each], each == active) for each in SPANS),
        min_events=tuple(
            Choice(str(each), counted(each, "event"), each == least) for each in sorted({*MIN_EVENTS, least})
        ),
        next_address=pool_address(pool.name, **query, cursor=board.next) if board.next else "",
        me_address=me_address,
        is_me_listed=me_address.endswith(ROW),
        all_address=pool_address(pool.name, all="1"),
        rating_address=pool_address(pool.name, **query),
        move_address=pool_address(pool.name, **query, sort="move"),
    )


def default_span(store: Store, pool: Pool) -> Active:
    """Within which span those who are listed have played, unless the address says otherwise.

    The last year, where most of the settled players have stopped for longer: a board of them is nobody's news.
    """
    settled = store.listed_board(pool.name, Listing(), top=1).listed

    def find() -> Active:
        within_year = store.listed_board(pool.name, Listing(active_within=SPANS["1y"]), top=1).listed
        return "1y" if 0 < within_year < settled - within_year else "any"

    version = settled, time.monotonic() // SPAN_VALID_S  # the rule is about years: no result needs to change it at once
    return store.answers.value(("default span", pool.id), version, find)


def ranked_card(store: Store, pool: Pool, name: str) -> tuple[PlayerCard, Active]:
    """A player at a glance, ranked as on the board, and its span; among all who are settled where it lists others."""
    span = default_span(store, pool)
    card = store.player_card(pool.name, name, Listing(active_within=SPANS[span]))
    if card.rank is not None or card.provisional or span == "any":
        return card, span
    return store.player_card(pool.name, name), "any"


def listing_reasons(system: System, listing: Listing, active: Active) -> str:
    """What those who are listed have in common."""
    reasons = ["settled"] if can_be_unsettled(system) and not listing.unsettled else []
    if listing.active_within is not None:
        reasons.append(f"played {SPAN_WORDS[active]}")
    if listing.min_events is not None:
        reasons.append(f"at least {counted(listing.min_events, 'event')}")
    return ", ".join(reasons)


def settling_rule(system: System) -> str:
    """When a rating is settled, in words."""
    rules = [counted(system.min_events, "event")] if system.min_events > 1 else []
    if system.settled_deviation is not None:
        rules.append(f"a rating that is known to {deviation(system.settled_deviation, system.digits - 1)}")
    return f"A rank takes {' and '.join(rules)}; until then a rating still moves far." if rules else ""


def row_address(store: Store, pool: Pool, listing: Listing, query: dict[str, str], board: ListedPage, me: str) -> str:
    """The address of a player's row, on this page or another, or of the player's page; empty where there is neither."""
    if not me:
        return ""
    if any(row.player == me for row in (*board.rows, *board.unsettled)):
        return ROW
    try:
        cursor = store.page_of(pool.name, listing, me, top=ROWS)
    except UnknownError:  # a player who has another name by now
        return ""
    if cursor is None:
        return pool_address(pool.name, "players", me)
    return pool_address(pool.name, **query, **({"cursor": cursor} if cursor else {})) + ROW


EVENT_ROWS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsPage(Page):
    """A page of the list of events."""

    template: ClassVar[str] = "events.html"

    lines: tuple[tuple[PoolHeader, EventHeadline], ...]
    is_first: bool  # of the list's pages
    next_address: str  # empty where there is none


@router.pool_page("/events")
def events(
    request: Request, visit: VisiblePool, store: CurrentStore, cursor: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """The list: who won, and whom it moved most."""
    newest_entry = store.version(visit.pool)  # before the rest: what comes between is news
    header = pool_header(store.pool(visit.pool))
    found = store.event_list(visit.pool, before=cursor or None, top=EVENT_ROWS)
    page = EventsPage(
        title="Events",
        description=f"Who won, and whom it moved most: the events of {header.title}, newest first.",
        pool=header,
        tab="events",
        newest_entry=newest_entry,
        lines=tuple((header, each) for each in found.events),
        is_first=not cursor,
        next_address=pool_address(visit.pool, "events", cursor=found.next) if found.next else "",
    )
    return render(request, page)


MOST: Final = 20  # players that are listed
Text = Annotated[str, Query(alias="q", max_length=MAX_SENT_CHARACTERS)]
ListOnly = Annotated[bool, Query(alias="list")]  # whether one hit is listed, too, instead of shown


@dataclass(frozen=True, slots=True)
class Hit:
    """A player who was found."""

    found: FoundPlayer
    pool: PoolHeader
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindPage(Page):
    """The players whose names begin as the text does."""

    template: ClassVar[str] = "find.html"

    text: str
    hits: tuple[Hit, ...]
    similar: tuple[Hit, ...]  # where there are no hits
    is_cut: bool  # there may be more
    form_address: str


@router.page("/find")
def find_everywhere(
    request: Request, pools: VisiblePools, store: CurrentStore, text: Text = "", *, list_only: ListOnly = False
) -> Response:
    """Find a player in every pool that the visitor may see."""
    return answer(request, store, pools, text, None, list_only=list_only)


@router.pool_page("/find")
def find_in_pool(
    request: Request, visit: VisiblePool, store: CurrentStore, text: Text = "", *, list_only: ListOnly = False
) -> Response:
    """Find a player of a pool."""
    header = pool_header(store.pool(visit.pool))
    return answer(request, store, [visit.pool], text, header, list_only=list_only)


def answer(
    request: Request,
    store: Store,
    pools: Iterable[str],
    text: str,
    pool: PoolHeader | None,
    *,
    list_only: bool,
    is_missing: bool = False,
) -> Response:
    """The page of the one player who was found, or a list; its status is 404 where there is none."""
    found = store.search(text, [*pools], most=MOST) if text.strip() else ()
    headers = {name: pool_header(store.pool(name)) for name in {each.pool for each in found}}
    every = [Hit(each, headers[each.pool], pool_address(each.pool, "players", each.player)) for each in found]
    hits = tuple(each for each in every if not each.found.is_similar)
    if len(hits) == 1 and not list_only:
        return RedirectResponse(hits[0].address, 303, HEADERS)
    page = FindPage(
        title=f"Find {text}" if text else "Find a player",
        pool=pool,
        text=text,
        hits=hits,
        similar=tuple(each for each in every if each.found.is_similar),
        is_cut=len(hits) == MOST,
        form_address=pool_address(pool.name, "find") if pool else address("find"),
    )
    return render(request, page, status=404 if is_missing or (text.strip() and not hits) else 200)
