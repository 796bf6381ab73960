"""The first page of the site."""

import hashlib
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Final

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from podium import __version__
from podium.errors import PodiumError, UnknownError
from podium.log.pools import other_arithmetic
from podium.log.statements import instant, now
from podium.pages.why import WhyView, why_view
from podium.service.web.boards import default_listing
from podium.service.web.rendering import Page, PageRouter, PoolHeader, page_response, page_text, pool_header
from podium.service.web.visiting import VisiblePools
from podium.store import Store, kept
from podium.store.writing.fixtures import WAITS_US, Fixture
from podium.support.answers import as_json, from_json
from podium.support.immutable import immutable
from podium.views.player_models import EventHeadline, ListedRow, Surprise

WEEK: Final = timedelta(days=7)
MOST_EXPECTED: Final = 0.3  # results with a higher expected score are not surprises
MAX_CARDS: Final = 6
MAX_PLANNED: Final = 20
MAX_OTHER_POOLS: Final = 200
TOP: Final = 3
NEWEST_EVENTS: Final = 8


@immutable
class Headline:
    """The summary of a pool on the first page, calculated from the pool's log."""

    players: int
    events: int
    top: tuple[ListedRow, ...]
    newest: tuple[EventHeadline, ...]
    moments: tuple[datetime, ...]  # times of the newest events, for comparing pools
    planned: tuple[Fixture, ...]  # the next races, more than are shown
    surprise: Surprise | None  # the least expected result in the week before the newest log entry
    why: WhyView | None  # the reasons for the surprise
    expected: float  # the surprise's expected score, from 0 to 1


@immutable
class PoolCard:
    pool: PoolHeader
    headline: Headline
    ahead: tuple[Fixture, ...]  # the next races
    is_fresh: bool  # True if its surprise is from the last seven days, or if the pool has no dates


def find_headline(store: Store, name: str) -> Headline:
    """Calculate a pool's summary for the first page."""
    surprise, why, expected = least_expected(store, name)
    board = store.leaderboard(name, default_listing(store, store.pool(name)), top=TOP)
    newest = store.event_list(name, top=NEWEST_EVENTS).events
    moments = store.event_moments(name, [event.event_id for event in newest])
    return Headline(
        players=board.rated,
        events=store.event_count(name),
        top=board.players,
        newest=newest,
        moments=tuple(moments[event.event_id] for event in newest),
        planned=store.fixtures(name, ahead=True, most=MAX_PLANNED),
        surprise=surprise,
        why=why,
        expected=expected,
    )


def least_expected(store: Store, name: str) -> tuple[Surprise | None, WhyView | None, float]:
    """Return the week's result with the lowest expected score, with its reasons and this score."""
    found: tuple[Surprise | None, WhyView | None, float] = None, None, MOST_EXPECTED
    for result in store.largest_gains(name, datetime.now(UTC)):
        with suppress(PodiumError):  # its reasons cannot be shown
            explanation = store.explain(name, result.event_id, result.player)
            duels = explanation.duels
            if duels.expected < found[2] * duels.count and duels.won > duels.expected:
                found = result, why_view(explanation), duels.expected / duels.count
    return found


def ahead_of(headline: Headline) -> tuple[Fixture, ...]:
    """Return the planned races that have not started yet."""
    passed = instant(now() - WAITS_US)
    return tuple(race for race in headline.planned if race.starts_at >= passed)


def is_fresh(headline: Headline) -> bool:
    """Return True if there is a surprise and, if it has a date, it is from the last seven days."""
    found = headline.surprise
    return found is not None and (found.started_at is None or datetime.now(UTC) - found.started_at <= WEEK)


def is_used_up(headline: Headline) -> bool:
    """Return True if so many planned races have passed that other races may have to be shown."""
    return len(headline.planned) == MAX_PLANNED and len(ahead_of(headline)) < TOP


def home_page(cards: Iterable[PoolCard]) -> Page:
    newest_first = sorted(cards, key=newest_moment, reverse=True)
    lines = [
        (moment, card.pool, event)
        for card in newest_first
        for event, moment in zip(card.headline.newest, card.headline.moments, strict=True)
    ]
    lines.sort(key=itemgetter(0), reverse=True)
    return Page(
        "home.html",
        title="A reason for every point",
        description="Live ratings for races and games: see which heats and opponents are behind each change.",
        surprise=surprise_of(newest_first),
        cards=tuple(newest_first[:MAX_CARDS]),
        other_pools=tuple(card.pool for card in newest_first[MAX_CARDS : MAX_CARDS + MAX_OTHER_POOLS]),
        lines=tuple((pool, event) for _, pool, event in lines[:TOP]),
    )


def newest_moment(card: PoolCard) -> float:
    """Return the time of a pool's newest event in seconds since 1970. Pools without events sort first."""
    moments = card.headline.moments
    return moments[0].timestamp() if moments else float("-inf")


def surprise_of(cards: Sequence[PoolCard]) -> PoolCard | None:
    """Return the card with the least expected result of the last seven days, or None."""
    return min((card for card in cards if card.is_fresh), key=lambda card: card.headline.expected, default=None)


MIN_VALID_S, MAX_VALID_S = 1.0, 60.0  # time for which a text is valid before it is compared with the log
VALID_FACTOR: Final = 10.0  # between these limits, a text is valid for this multiple of the time to write it
MAX_TEXTS: Final = 64
ABOUT: Final = {
    "name": "Podium",
    "version": __version__,
    "reference": "/api/docs",
    "openapi": "/api/openapi.json",
    "health": "/healthz",
    "readiness": "/readyz",
}
Seen = tuple[frozenset[str], str]  # the visible pools, and the name of the visitor's key
Version = tuple[str, tuple[Fixture, ...], bool]  # version of a card: the pool's edition, the races and `is_fresh`
router = PageRouter()


@immutable
class FrontText:
    """The first page as HTML, and the time until which it is valid."""

    html: str
    version: str
    versions: dict[str, Version]  # versions of its cards, by pool
    valid_until: float


class FrontPages:
    """The first page for each set of visible pools.

    Only one page is written at a time. Meanwhile, the old page is still sent.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._texts: dict[Seen, FrontText] = {}
        self._headlines: dict[str, tuple[str, Headline]] = {}  # headlines with their editions, by pool
        self._kept: dict[str, str] = {}  # editions of stored headlines, by pool
        self._writing = threading.Lock()

    async def text(self, request: Request, seen: Seen) -> FrontText:
        """Return the page for visitors who can see these pools."""
        text = self._texts.get(seen)
        if text is not None and (time.monotonic() < text.valid_until or self._writing.locked()):
            return text
        return await run_in_threadpool(self._renew, request, seen)

    def _renew(self, request: Request, seen: Seen) -> FrontText:
        """Write the page again if anything on it may have changed."""
        with self._writing:
            text, began = self._texts.get(seen), time.monotonic()
            if text is not None and began < text.valid_until:  # another request has written it in the meantime
                return text

            def write(view: Store) -> tuple[str, dict[str, Version]]:
                cards = [card for pool in seen[0] if (card := self._card(view, pool)) is not None]
                versions = {
                    card.pool.name: (self._headlines[card.pool.name][0], card.ahead, card.is_fresh) for card in cards
                }
                if text is not None and text.versions == versions:
                    return text.html, versions
                # a request that represents all visitors who can see these pools
                anybody = Request({**request.scope, "headers": []})
                return page_text(anybody, home_page(cards)), versions

            html, versions = self._store.read_view(write)
            valid_s = min(MAX_VALID_S, max(MIN_VALID_S, VALID_FACTOR * (time.monotonic() - began)))
            if len(self._texts) >= MAX_TEXTS:
                self._texts.clear()
            version = hashlib.blake2b(html.encode()).hexdigest()
            text = self._texts[seen] = FrontText(html, version, versions, time.monotonic() + valid_s)
            return text

    def _card(self, store: Store, pool: str) -> PoolCard | None:
        try:
            if other_arithmetic(store.pool(pool)):  # its ratings cannot be read until they are recalculated
                return None
            edition = store.edition(pool)
            known, headline = self._headlines.get(pool, ("", None))
            if known != edition:
                headline = self._stored(store, pool, edition)
            if headline is None or is_used_up(headline):
                headline = find_headline(store, pool)
            self._headlines[pool] = edition, headline
            return PoolCard(pool_header(store.pool(pool)), headline, ahead_of(headline)[:TOP], is_fresh(headline))
        except UnknownError:
            self._headlines.pop(pool, None)
            return None

    def _stored(self, store: Store, pool: str, edition: str) -> Headline | None:
        """Return the stored headline for this edition of a pool, or None."""
        found = store.cache(pool, kept.HEADLINE)
        if found is None or found.seq != store.version(pool):
            return None
        self._kept[pool] = edition
        return from_json(Headline, found.body)

    def keep(self) -> None:
        """Store new headlines, so that the service need not read the pools for them when it restarts."""
        for pool, (edition, headline) in [*self._headlines.items()]:
            if self._kept.get(pool) != edition:
                with suppress(UnknownError):
                    self._store.keep_headline(pool, edition, as_json(headline))
                self._kept[pool] = edition


@router.page("/")
async def front(request: Request, pools: VisiblePools) -> Response:
    """Show the first page. For programs, return a description with the address of the API reference."""
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse(ABOUT, headers={"Vary": "Accept"})
    pages: FrontPages = request.app.state.front_pages
    text = await pages.text(request, (pools, request.state.signed_in))
    return page_response(request, text.html, version=text.version)
