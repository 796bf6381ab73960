"""Leaderboard pages: the answers that are asked for most, kept as long as nothing can have changed them."""

import json
import time
from datetime import datetime
from typing import Any, NamedTuple

from fastapi.concurrency import run_in_threadpool

from podium.service.http.strict_json import RefusedError
from podium.store import Store
from podium.store.read.boards import Place


class Kept(NamedTuple):
    """A page, and how long it holds."""

    version: str
    body: bytes
    writes: int  # of this process, when it was made
    looked_at: float  # when the log was last asked whether anyone else wrote


class Pages:
    """The pages that are asked for most, as long as nothing is logged that could change them.

    What this process writes shows at once; what another one does, a command on the same database, after a second.
    """

    MOST = 256
    LOOK_S = 1.0

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[tuple[str, int, str | None], Kept] = {}

    async def page(self, pool: str, top: int, cursor: str | None) -> tuple[str, bytes]:
        """A page's version, and the page."""
        asked = pool, top, cursor
        kept, now = self._kept.get(asked), time.monotonic()
        if kept is None or kept.writes != self._store.writes[pool] or now - kept.looked_at >= self.LOOK_S:
            kept = await run_in_threadpool(self._looked_up, asked, kept)
        return kept.version, kept.body

    def _looked_up(self, asked: tuple[str, int, str | None], kept: Kept | None) -> Kept:
        """The page as it stands; it may be newer than it says, and is made anew then."""
        pool, top, cursor = asked
        writes, now = self._store.writes[pool], time.monotonic()
        version = f'"{self._store.version(pool)}"'
        if kept is not None and kept.version == version:
            body = kept.body
        else:
            board = self._store.leaderboard(pool, top=top, after=None if cursor is None else place(cursor))
            following = board[-1]["cursor"] if len(board) == top else None
            body = encoded({"players": listed(board), "next": following})
        if len(self._kept) >= self.MOST:
            self._kept.clear()
        told = self._kept[asked] = Kept(version, body, writes, now)
        return told


def listed(board: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the board without their cursors."""
    return [{key: row[key] for key in row if key != "cursor"} for row in board]


def encoded(value: Any) -> bytes:
    """JSON; moments as ISO 8601."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=datetime.isoformat).encode()


def place(cursor: str) -> Place:
    """What a cursor says.

    Raises:
        RefusedError: it is none.
    """
    rating, _, number = cursor.partition(",")
    try:
        told = float(rating), int(number)
    except ValueError:
        raise RefusedError("cursor", "is not one that a page gave") from None
    if not abs(told[0]) < 1e300 or abs(told[1]) >= 2**63:  # noqa: PLR2004  (what a database holds)
        raise RefusedError("cursor", "is not one that a page gave")
    return told
