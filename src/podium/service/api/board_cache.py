"""A cache of leaderboard pages, the answers that are requested most; each is valid until something can change it."""

import time
from typing import NamedTuple

from fastapi.concurrency import run_in_threadpool

from podium.errors import ParameterError
from podium.service.api.bodies import adapter
from podium.service.http.strict_json import RefusedError
from podium.store import Store
from podium.store.read.boards import Place, parse_cursor
from podium.store.read.models import BoardPage


class CachedPage(NamedTuple):
    """A page, and how long it is valid."""

    version: int
    body: bytes
    writes: int  # that this process knew of, when the page was read
    checked_at: float  # when the log was last checked for the writes of other processes


class BoardCache:
    """The pages that are requested most, as long as nothing is logged that could change them.

    What this process writes shows at once, and what another one announces; where nothing is announced, as in SQLite,
    what a command writes shows after a quarter of a second.
    """

    MAX_PAGES = 256
    CHECK_INTERVAL_S = 0.25

    def __init__(self, store: Store) -> None:
        self.store = store
        self._pages: dict[tuple[str, int, str | None], CachedPage] = {}

    async def page(self, pool: str, top: int, cursor: str | None) -> tuple[int, bytes]:
        """Return a page's version, and the page."""
        address = pool, top, cursor
        page, now = self._pages.get(address), time.monotonic()
        if page is None or page.writes != self.store.writes[pool] or now - page.checked_at >= self.CHECK_INTERVAL_S:
            page = await run_in_threadpool(self._load, address, page)
        return page.version, page.body

    def _load(self, address: tuple[str, int, str | None], cached: CachedPage | None) -> CachedPage:
        """Read the page as it is now, where it is not known."""
        pool, top, cursor = address
        writes, now = self.store.writes[pool], time.monotonic()
        with self.store.at_one_moment() as view:
            version = view.version(pool)
            if cached is not None and cached.version == version:
                body = cached.body
            else:
                board = view.leaderboard(pool, top=top, after=None if cursor is None else place_of(cursor))
                body = adapter(BoardPage).dump_json(board)
        if len(self._pages) >= self.MAX_PAGES:
            self._pages.clear()
        page = self._pages[address] = CachedPage(version, body, writes, now)
        return page


def place_of(cursor: str) -> Place:
    """Return the rating and the player's number of a cursor.

    Raises:
        RefusedError: it is none.
    """
    try:
        return parse_cursor(cursor)
    except ParameterError:
        raise RefusedError("cursor", "is not the `next` of a page") from None
