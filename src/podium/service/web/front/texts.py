"""The address of the first page, which is written anew as seldom as it may be: it is what is read most."""

import hashlib
import threading
import time
from dataclasses import dataclass
from typing import Final

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from podium import __version__
from podium.errors import UnknownError
from podium.service.web.addresses import PageRouter
from podium.service.web.front.home import PoolCard, home_page, pool_card
from podium.service.web.rendering import page_response, page_text
from podium.service.web.visiting import VisiblePools
from podium.store import Store

MIN_VALID_S, MAX_VALID_S = 1.0, 10.0  # how long a text is sent before it is compared with the log
VALID_FACTOR: Final = 10.0  # within these, times as long as it took to write it
MAX_TEXTS: Final = 64
ABOUT: Final = {
    "name": "Podium",
    "version": __version__,
    "reference": "/api/docs",
    "openapi": "/api/openapi.json",
    "health": "/healthz",
    "readiness": "/readyz",
}
Seen = tuple[frozenset[str], str]  # the pools that a visitor may see, and the name of the visitor's key
router = PageRouter()


@dataclass(frozen=True, slots=True)
class FrontText:
    """The first page as HTML, and how long it is valid."""

    html: str
    version: str
    entries: dict[str, int]  # the newest log entry of each pool that it shows
    valid_until: float


class FrontPages:
    """The first page for each set of pools that visitors may see; one is written at a time, and the old one sent."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._texts: dict[Seen, FrontText] = {}
        self._cards: dict[str, tuple[int, PoolCard]] = {}  # by pool, with the log entry that each is as of
        self._writing = threading.Lock()

    async def text(self, request: Request, seen: Seen) -> FrontText:
        """Return the page for whoever sees these pools."""
        text = self._texts.get(seen)
        if text is not None and (time.monotonic() < text.valid_until or self._writing.locked()):
            return text
        return await run_in_threadpool(self._renew, request, seen)

    def _renew(self, request: Request, seen: Seen) -> FrontText:
        """Write the page anew, if anything in it may be another."""
        with self._writing:
            text, began = self._texts.get(seen), time.monotonic()
            if text is not None and began < text.valid_until:  # written while this waited
                return text
            with self._store.at_one_moment() as view:
                cards = [card for pool in seen[0] if (card := self._card(view, pool)) is not None]
                entries = {card.pool.name: self._cards[card.pool.name][0] for card in cards}
                if text is not None and text.entries == entries:
                    html = text.html
                else:
                    html = page_text(request, home_page(view, cards))
            valid_s = min(MAX_VALID_S, max(MIN_VALID_S, VALID_FACTOR * (time.monotonic() - began)))
            if len(self._texts) >= MAX_TEXTS:
                self._texts.clear()
            version = hashlib.blake2b(html.encode()).hexdigest()
            text = self._texts[seen] = FrontText(html, version, entries, time.monotonic() + valid_s)
            return text

    def _card(self, store: Store, pool: str) -> PoolCard | None:
        """The card of a pool as it is; None where it was deleted."""
        try:
            entry = store.version(pool)
            known = self._cards.get(pool)
            if known is None or known[0] != entry:
                known = self._cards[pool] = entry, pool_card(store, pool)
        except UnknownError:
            self._cards.pop(pool, None)
            return None
        return known[1]


@router.page("/")
async def front(request: Request, pools: VisiblePools) -> Response:
    """The first page; for programs, what this is and where its reference is."""
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse(ABOUT, headers={"Vary": "Accept"})
    pages: FrontPages = request.app.state.front_pages
    text = await pages.text(request, (pools, request.state.signed_in))
    return page_response(request, text.html, version=text.version)
