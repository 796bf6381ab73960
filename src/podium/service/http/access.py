"""Who may what: each request's key, and how often it may ask."""

import time
from collections import OrderedDict
from typing import Any

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool

from podium.errors import PodiumError
from podium.service.http.paths import name_of
from podium.store import Store
from podium.store.keys import Key, found_key
from podium.store.sql.database import read_transaction

BURST_S = 2.0  # seconds of a key's rate that may come at once
REMEMBERED_S = 1.0  # how long a key is taken as it was: one that is revoked opens nothing after that
MOST_REMEMBERED = 10_000


class AccessError(PodiumError):
    """The key does not open this, or asks too often."""

    def __init__(self, status: int, words: str, retry_after_s: int | None = None) -> None:
        super().__init__(words)
        self.status, self.retry_after_s = status, retry_after_s


class KeyGuard:
    """Looks keys up, and counts what each asks for; kept in memory, by process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, tuple[float, Key]] = OrderedDict()  # only keys that open something
        self._left: dict[int, tuple[float, float]] = {}  # when, and how many requests the key had left

    async def key(self, told: str) -> Key | None:
        """The key, if it opens anything."""
        now = time.monotonic()
        known = self._known.get(told)
        if known is not None and now - known[0] < REMEMBERED_S:
            return known[1]
        self._known.pop(told, None)
        key = await run_in_threadpool(self._look_up, told)
        if key is not None:
            self._known[told] = now, key
            if len(self._known) > MOST_REMEMBERED:
                self._known.popitem(last=False)
        return key

    def _look_up(self, told: str) -> Key | None:
        with read_transaction(self._store.engine) as connection:
            return found_key(connection, told)

    def count(self, key: Key) -> None:
        """Count a request.

        Raises:
            AccessError: the key has asked too often.
        """
        if key.per_second is None:
            return
        now, most = time.monotonic(), max(1.0, BURST_S * key.per_second)
        at, left = self._left.get(key.id, (now, most))
        left = min(most, left + (now - at) * key.per_second)
        self._left[key.id] = now, left - 1.0 if left >= 1.0 else left
        if left < 1.0:
            wait = int((1.0 - left) / key.per_second) + 1
            words = f"the key may ask {key.per_second:g} times a second; ask again in {wait} s"
            raise AccessError(429, words, wait)


def require_role(role: str) -> Any:
    """A dependency: the name of the key, which opens the pool of the route for a role."""

    async def opens(request: Request) -> str:
        doorkeeper: KeyGuard = request.app.state.doorkeeper
        words = request.headers.get("authorization", "").split()
        bearer = len(words) == 2 and words[0].lower() == "bearer"  # noqa: PLR2004  (the word, and the key)
        pool = name_of(request.path_params["pool"]) if "pool" in request.path_params else None
        key = await doorkeeper.key(words[1]) if bearer else None
        if key is None:
            raise AccessError(401, "send a key that is in use, as Authorization: Bearer KEY")
        if not key.may(role, pool):
            words_for = f" in pool {pool}" if pool else ""
            raise AccessError(403, f"the key does not open this: it takes one to {role}{words_for}")
        doorkeeper.count(key)
        return key.name

    return Depends(opens)
