"""The first page of the site."""

import hashlib
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Final

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from podium import __version__
from podium.errors import PodiumError, UnknownError
from podium.ledger.reasons import Explanation, wording
from podium.log.pools import other_arithmetic
from podium.log.statements import instant, now
from podium.pages.numbers import percent
from podium.pages.why import WhyView, why_view
from podium.service.web.boards import default_listing
from podium.service.web.rendering import Page, PageRouter, PoolHeader, page_response, page_text, pool_header
from podium.service.web.visiting import VisiblePools
from podium.store import Store, kept
from podium.support.answers import as_json, from_json
from podium.support.immutable import immutable
from podium.support.words import ordinal_number
from podium.views.player_models import EventHeadline, ListedRow, Surprise
from podium.views.races.fixtures import WAITS_US, Fixture

WEEK: Final = timedelta(days=7)
LIVE: Final = timedelta(days=90)
MOST_EXPECTED: Final = 0.3  # results with a higher expected score are not surprises
MAX_CARDS: Final = 6
MAX_QUIET_POOLS: Final = 8
MAX_PLANNED: Final = 20
MAX_OTHER_POOLS: Final = 200
TOP: Final = 3


@immutable
class Upset:
    """The largest gain from a result that the ratings did not expect."""

    event: Surprise
    why: WhyView
    verdict: str
    expected: str  # a sentence about the expected score
    excess: float  # the score above the expected score, from 0 to 1


@immutable
class Headline:
    """The summary of a pool on the first page, calculated from the pool's log."""

    players: int
    events: int
    top: tuple[ListedRow, ...]
    newest: EventHeadline | None
    newest_at: datetime | None  # time of the newest event, for comparing pools
    planned: tuple[Fixture, ...]  # the next races, more than are shown
    upset: Upset | None  # the least expected result in the week before the newest log entry


@immutable
class PoolCard:
    pool: PoolHeader
    headline: Headline
    ahead: tuple[Fixture, ...]  # the next races
    is_fresh: bool  # True if its upset is from the last seven days, or if the pool has no dates
    is_live: bool  # True if its newest event is recent


def find_headline(store: Store, name: str) -> Headline:
    """Calculate a pool's summary for the first page."""
    board = store.leaderboard(name, default_listing(store, store.pool(name)), top=TOP)
    newest = next(iter(store.event_list(name, top=1).events), None)
    return Headline(
        players=board.rated,
        events=store.event_count(name),
        top=board.players,
        newest=newest,
        newest_at=store.event_moments(name, [newest.event_id])[newest.event_id] if newest else None,
        planned=store.fixtures(name, ahead=True, most=MAX_PLANNED),
        upset=least_expected(store, name),
    )


def least_expected(store: Store, name: str) -> Upset | None:
    """Return the week's largest gain from a result that exceeded a low expected score."""
    for result in store.largest_gains(name, datetime.now(UTC)):
        with suppress(PodiumError):  # its reasons cannot be shown
            explanation = store.explain(name, result.event_id, result.player)
            duels = explanation.duels
            if duels.expected < MOST_EXPECTED * duels.count and duels.won > duels.expected:
                return upset(result, explanation)
    return None


def upset(result: Surprise, explanation: Explanation) -> Upset:
    """Return a result with the place and the expected score in words."""
    player, duels, verdict = result.player, explanation.duels, explanation.verdict
    if result.rank is not None and result.rank > 1:
        verdict = wording.verdict(
            player, f"came {ordinal_number(result.rank)} of {result.field}", explanation.shown_change
        )
    if duels.count == 1:
        expected = f"The ratings gave {player} {percent(duels.expected)}."
    else:
        verb, what = ("win", "duels") if explanation.rows["heat"].n_unique() > 1 else ("beat", "opponents")
        expected = f"The ratings expected {player} to {verb} {duels.expected:.1f} of {duels.count} {what}."
    excess = (duels.won - duels.expected) / duels.count
    return Upset(result, why_view(explanation), verdict, expected, excess)


def ahead_of(headline: Headline) -> tuple[Fixture, ...]:
    """Return the planned races that have not started yet."""
    passed = instant(now() - WAITS_US)
    return tuple(race for race in headline.planned if race.starts_at >= passed)


def is_fresh(headline: Headline) -> bool:
    """Return True if there is an upset and, if it has a date, it is from the last seven days."""
    if headline.upset is None:
        return False
    started_at = headline.upset.event.started_at
    return started_at is None or datetime.now(UTC) - started_at <= WEEK


def is_live(headline: Headline) -> bool:
    """Return True if the newest event is recent."""
    return headline.newest_at is not None and datetime.now(UTC) - headline.newest_at <= LIVE


def is_used_up(headline: Headline) -> bool:
    """Return True if so many planned races have passed that other races may have to be shown."""
    return len(headline.planned) == MAX_PLANNED and len(ahead_of(headline)) < TOP


def home_page(cards: Iterable[PoolCard]) -> Page:
    newest_first = sorted(cards, key=newest_moment, reverse=True)
    live = sum(card.is_live for card in newest_first) or len(newest_first)
    first, rest = newest_first[: min(live, MAX_CARDS)], newest_first[min(live, MAX_CARDS) :]
    upsets = [card for card in newest_first if card.is_fresh]
    return Page(
        "home.html",
        "A reason for every point",
        description="Live ratings for races and games: see which heats and opponents are behind each change.",
        surprise=max(upsets, key=attrgetter("headline.upset.excess"), default=None),
        cards=tuple(first),
        quiet_cards=tuple(rest[:MAX_QUIET_POOLS]),
        other_pools=tuple(card.pool for card in rest[MAX_QUIET_POOLS:MAX_OTHER_POOLS]),
    )


def newest_moment(card: PoolCard) -> float:
    """Return the time of a pool's newest event in seconds since 1970. Pools without events sort first."""
    newest_at = card.headline.newest_at
    return newest_at.timestamp() if newest_at else float("-inf")


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
Version = tuple[str, tuple[Fixture, ...], bool, bool]  # the pool's edition and its card's changing parts
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
                    card.pool.name: (self._headlines[card.pool.name][0], card.ahead, card.is_fresh, card.is_live)
                    for card in cards
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
            header, ahead = pool_header(store.pool(pool)), ahead_of(headline)[:TOP]
            return PoolCard(header, headline, ahead, is_fresh(headline), is_live(headline))
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
