"""Who may do what: the key of each request, and its rate limit."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta

from fastapi import Request
from fastapi.concurrency import run_in_threadpool

from podium.errors import PodiumError
from podium.service.http.paths import decode_name
from podium.store import Store
from podium.store.keys import ApiKey, find_key
from podium.store.sql.database import read_transaction

BURST_S = 2.0  # seconds of a key's rate that may come at once
KEY_CACHE_S = 1.0  # how long a key is believed: one that is revoked opens nothing after that
MAX_CACHED_KEYS = 10_000


class AccessError(PodiumError):
    """The key does not allow this, or its rate limit is exceeded."""

    def __init__(self, status: int, message: str, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.status, self.retry_after_s = status, retry_after_s


class KeyGuard:
    """Looks keys up, and counts the requests of each; held in memory, by process."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cache: OrderedDict[str, tuple[float, ApiKey]] = OrderedDict()  # only keys that open something
        self._budgets: dict[int, tuple[float, float]] = {}  # when, and how many requests the key had left

    async def key(self, secret: str) -> ApiKey | None:
        """Return the key, if it opens anything."""
        now = time.monotonic()
        cached = self._cache.get(secret)
        if cached is not None and now - cached[0] < KEY_CACHE_S:
            return cached[1]
        self._cache.pop(secret, None)
        key = await run_in_threadpool(self._look_up, secret)
        if key is not None:
            self._cache[secret] = now, key
            if len(self._cache) > MAX_CACHED_KEYS:
                self._cache.popitem(last=False)
        return key

    def _look_up(self, secret: str) -> ApiKey | None:
        with read_transaction(self._store.engine) as connection:
            return find_key(connection, secret)

    def count(self, key: ApiKey) -> None:
        """Count a request.

        Raises:
            AccessError: the key's rate limit is exceeded.
        """
        if key.per_second is None:
            return
        now, capacity = time.monotonic(), max(1.0, BURST_S * key.per_second)
        counted_at, left = self._budgets.get(key.id, (now, capacity))
        left = min(capacity, left + (now - counted_at) * key.per_second)
        self._budgets[key.id] = now, left - 1.0 if left >= 1.0 else left
        if left < 1.0:
            wait_s = int((1.0 - left) / key.per_second) + 1
            unit = "request" if key.per_second == 1.0 else "requests"
            raise AccessError(
                429, f"rate limit: {key.per_second:g} {unit} a second; send this again in {wait_s} s", wait_s
            )


def refuse_out_of_reach(request: Request, moments: Iterable[datetime]) -> None:
    """Refuse what reaches further back than the request's key may.

    Args:
        request: whose key has its role already.
        moments: the starts of the events that are sent or corrected.

    Raises:
        AccessError: an event started before what the key reaches.
    """
    key: ApiKey = request.state.key
    if key.reach_s is None:
        return
    limit = datetime.now(UTC) - timedelta(seconds=key.reach_s)
    for moment in moments:
        if moment < limit:
            days = key.reach_s / timedelta(days=1).total_seconds()
            raise AccessError(
                403, f"this key reaches back {days:g} days, and the event started at {moment.isoformat()}; "
                "take a key that reaches further",
            )  # fmt: skip


def refuse_limited_reach(request: Request) -> None:
    """Refuse a key that reaches back only so far for what rates a whole pool or career again.

    Raises:
        AccessError: it does.
    """
    key: ApiKey = request.state.key
    if key.reach_s is not None:
        raise AccessError(403, "this may rate everything again; take a key whose reach has no limit")


def require_role(role: str) -> Callable[[Request], Awaitable[str]]:
    """Return a dependency: the name of the request's key, which must have a role for the pool of the route."""

    async def check_key(request: Request) -> str:
        guard: KeyGuard = request.app.state.key_guard
        words = request.headers.get("authorization", "").split()
        bearer = len(words) == 2 and words[0].lower() == "bearer"  # noqa: PLR2004  (the word, and the key)
        pool = decode_name(request.path_params["pool"]) if "pool" in request.path_params else None
        key = await guard.key(words[1]) if bearer else None
        if key is None:
            raise AccessError(401, "the key is missing, unknown or revoked; send one as Authorization: Bearer KEY")
        if not key.may(role, pool):
            pools = f"pool {pool}" if pool else "all pools"
            raise AccessError(403, f"this needs a key with the role {role} for {pools}")
        guard.count(key)
        request.state.key = key
        return key.name

    return check_key
