"""Access rights: each request's key, and the request budgets of keys and of addresses with rejected requests."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import IPv6Address, IPv6Network, ip_address

from fastapi import Request

from podium.errors import UnknownError
from podium.log.database import UnavailableError, read_transaction
from podium.log.pools import When
from podium.service.http.errors import AccessError
from podium.service.http.json import decode_name
from podium.service.http.requests import Threads, run_in
from podium.store import Store
from podium.store.keys import (
    ApiKey,
    SessionKey,
    draw,
    find_key,
    find_session_key,
    list_keys,
    revoke_expired,
    store_last_uses,
    timestamp,
)

MAX_BUDGETS = 10_000  # if there are more owners, the least recently used one is dropped
DRAWN_S = 0.25  # a process draws a budget for this many seconds at once
MAX_REFUSED_S = 1.0  # a process rejects requests for up to this long before it asks again


class OwnBudgets:
    """Request budgets in the memory of one process."""

    def __init__(self) -> None:
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # time, and requests left at that time

    async def take(self, owner: str, per_second: float, burst: float) -> int:
        """Deduct a request from an owner's budget.

        Return 0, or the number of seconds until the next request is allowed.
        """
        now = time.monotonic()
        counted_at, left = self._left.pop(owner, (now, burst))
        left = min(burst, left + (now - counted_at) * per_second)
        is_enough = left >= 1.0
        self._left[owner] = now, left - 1.0 if is_enough else left
        if len(self._left) > MAX_BUDGETS:
            self._left.popitem(last=False)
        return 0 if is_enough else int((1.0 - left) / per_second) + 1


class Share:
    """The part of a request budget that this process has drawn."""

    def __init__(self) -> None:
        self.left = 0  # requests that have been drawn but not used yet
        self.refused_until = 0.0  # monotonic time until which the budget is empty
        self.full_at = 0.0  # time of the next request
        self.drawing = asyncio.Lock()  # one waiting request draws for all waiting requests


class SharedBudgets:
    """Request budgets that several processes share through PostgreSQL. Without a database, each process has its own."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store, self._threads = store, threads
        self._shares: OrderedDict[str, Share] = OrderedDict()
        self._own = OwnBudgets()

    async def take(self, owner: str, per_second: float, burst: float) -> int:
        share = self._share(owner)
        if share.left == 0 and time.monotonic() >= share.refused_until:
            async with share.drawing:
                if share.left == 0 and time.monotonic() >= share.refused_until:
                    try:
                        await self._draw(share, owner, per_second, burst)
                    except UnavailableError:
                        return await self._own.take(owner, per_second, burst)
        if share.left > 0:
            share.left -= 1
            return 0
        return int(max(0.0, share.full_at - time.monotonic())) + 1

    def _share(self, owner: str) -> Share:
        share = self._shares.get(owner)
        if share is None:
            share = self._shares[owner] = Share()
            if len(self._shares) > MAX_BUDGETS:
                self._shares.popitem(last=False)
        else:
            self._shares.move_to_end(owner)
        return share

    async def _draw(self, share: Share, owner: str, per_second: float, burst: float) -> None:
        """Draw requests for the next quarter of a second, or note that the budget is empty."""
        most = max(1, int(DRAWN_S * per_second))
        engine = self._store.engine
        share.left, left = await run_in(self._threads.keys, draw, engine, owner, per_second, burst, most)
        if share.left == 0:
            now = time.monotonic()
            share.full_at = now + (1.0 - left) / per_second
            share.refused_until = min(share.full_at, now + MAX_REFUSED_S)


BURST_S = 2.0  # a key may use the requests of this many seconds at once
KEY_CACHE_S = 1.0  # time for which keys, even revoked ones, are cached
MAX_CACHED_KEYS = 10_000
REFUSED_PER_S, REFUSED_BURST = 1.0, 30.0  # number of rejected requests allowed per address
NO_KEY = "the key is missing, unknown, expired or revoked. Send one as Authorization: Bearer KEY."
IPV6_SITE_BITS = 64  # prefix length of one customer's network


class KeyGuard:
    """Looks up keys, and counts the requests of each key and the rejected requests from each address."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store, self._threads = store, threads
        self._cache: OrderedDict[str | SessionKey, tuple[float, ApiKey]] = OrderedDict()  # only valid keys
        self._last_uses: dict[int, str] = {}  # by key; not stored yet
        is_shared = store.engine.dialect.name == "postgresql"  # several processes may serve the store
        self._budgets = SharedBudgets(store, threads) if is_shared else OwnBudgets()

    async def bearer(self, request: Request) -> ApiKey:
        """Return the key in the `Authorization` header of a request."""
        words = request.headers.get("authorization", "").split()
        is_bearer = len(words) == 2 and words[0].lower() == "bearer"  # noqa: PLR2004  (the word "bearer" and the key)
        key = await self.key(words[1]) if is_bearer else None
        if key is None:
            raise await self.refusal(request, 401, NO_KEY)
        return key

    async def key(self, sent: str | SessionKey) -> ApiKey | None:
        """Return the valid key for a secret or a session, or None. Keys are cached for a second."""
        now = time.monotonic()
        cached = self._cache.get(sent)
        if cached is not None and now - cached[0] < KEY_CACHE_S:
            return cached[1]
        self._cache.pop(sent, None)
        key = await run_in(self._threads.keys, self._look_up, sent)
        if key is not None:
            self._last_uses[key.id] = timestamp()
            self._cache[sent] = now, key
            if len(self._cache) > MAX_CACHED_KEYS:
                self._cache.popitem(last=False)
        return key

    def _look_up(self, sent: str | SessionKey) -> ApiKey | None:
        with read_transaction(self._store.engine) as connection:
            key = find_key(connection, sent) if isinstance(sent, str) else find_session_key(connection, sent)
        if key is None:  # an expired key must stay invalid even if the clock is set back
            revoke_expired(self._store.engine)
        return key

    def store_last_uses(self) -> None:
        """Store the time of each key's last use. Times that cannot be stored now are stored next time."""
        last_uses = self._last_uses.copy()
        store_last_uses(self._store.engine, last_uses)
        for key, used in last_uses.items():
            if self._last_uses.get(key) == used:
                del self._last_uses[key]

    async def count(self, key: ApiKey) -> None:
        if key.per_second is None:
            return
        burst = max(1.0, BURST_S * key.per_second)
        wait_s = await self._budgets.take(f"key {key.id}", key.per_second, burst)
        if wait_s:
            unit = "request" if key.per_second == 1.0 else "requests"
            raise AccessError(
                429, f"rate limit: {key.per_second:g} {unit} per second. Send this again in {wait_s} s.", wait_s
            )

    async def refusal(self, request: Request, status: int, message: str) -> AccessError:
        """Count a rejected request for its address, and return the error to raise."""
        wait_s = await self._budgets.take(f"address {client_site(request)}", REFUSED_PER_S, REFUSED_BURST)
        if wait_s:
            return AccessError(429, f"too many requests from this address were rejected. Wait {wait_s} s.", wait_s)
        return AccessError(status, message)


def client_site(request: Request) -> str:
    """Return the address from which a request came or, for IPv6, the customer's network."""
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:  # for example a local socket
        return host
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((int(address), IPV6_SITE_BITS), strict=False))


def refuse_backdated(request: Request, whens: Iterable[When]) -> None:
    """Reject events before the backdating limit of the key.

    In a pool without dates, a key with a limit can only add events.
    """
    key: ApiKey = request.state.key
    if key.backdating_limit_s is None:
        return
    limit = datetime.now(UTC) - timedelta(seconds=key.backdating_limit_s)
    for moment in whens:
        if not isinstance(moment, datetime):
            raise AccessError(
                403,
                "this key has a backdating limit, so it can only add events after all others. Leave out the sequence, "
                "or use a key without a backdating limit.",
            )
        if moment < limit:
            days = key.backdating_limit_s / timedelta(days=1).total_seconds()
            raise AccessError(
                403,
                f"the backdating limit of this key is {days:g} days, but the event started at {moment.isoformat()}. "
                "Use a key with a higher limit.",
            )


def refuse_backdated_results(request: Request, store: Store, pool: str, match_ids: Iterable[str | None]) -> None:
    """If the key has a backdating limit, reject results that would replace or restore a match's older result."""
    key: ApiKey = request.state.key
    for match_id in match_ids if key.backdating_limit_s is not None else ():
        with suppress(UnknownError):
            results = store.match(pool, match_id).results if match_id else ()
            refuse_backdated(request, [store.event(pool, result).when for result in results])


def refuse_backdating_limit(request: Request) -> None:
    """If the key has a backdating limit, reject changes that recalculate a whole pool or career."""
    key: ApiKey = request.state.key
    if key.backdating_limit_s is not None:
        raise AccessError(403, "this may recalculate every rating. Use a key without a backdating limit.")


def refuse_new_key(own: ApiKey, pool: str | None) -> None:
    """Reject the creation of a key for a pool, or for all pools, by a key that does not administer them.

    A limited key can create no keys, because the new keys would not have its limits.
    """
    if own.is_limited:
        raise AccessError(403, "a key that expires or has a limit cannot create others. Use a key without a limit.")
    if not own.may("admin", pool):
        raise AccessError(403, lacking("admin", pool))


def visible_keys(store: Store, own: ApiKey, pool: str) -> list[ApiKey]:
    """Return the keys that an admin of a pool may see and revoke."""
    pools = {pool, own.pool}
    return [key for key in list_keys(store.engine) if key.pool in pools]


def find_visible_key(store: Store, own: ApiKey, pool: str, number: int) -> ApiKey:
    for key in visible_keys(store, own, pool):
        if key.id == number:
            return key
    raise UnknownError(f"pool {pool!r} has no key {number} of its own")


def pool_in_path(request: Request) -> str | None:
    """Return the pool named in a request's address, or None."""
    return decode_name(request.path_params["pool"]) if "pool" in request.path_params else None


def lacking(role: str, pool: str | None) -> str:
    """Return a sentence about the role that a key lacks in a pool. None means all pools."""
    pools = f"pool {pool}" if pool else "all pools"
    return f"this requires a key with the {role} role for {pools}"


KEY_SCHEME: dict[str, list[str]] = {"key": []}  # as in the OpenAPI document


def require_role(role: str) -> Callable[[Request], Awaitable[str]]:
    """Return a dependency that yields the name of the request's key. The key must have a role for the route's pool."""

    async def check_key(request: Request) -> str:
        guard: KeyGuard = request.app.state.key_guard
        pool = pool_in_path(request)
        key = await guard.bearer(request)
        request.state.key = key
        if not key.may(role, pool):
            raise await guard.refusal(request, 403, lacking(role, pool))
        await guard.count(key)
        return key.name

    check_key.__dict__["security"] = [KEY_SCHEME]
    return check_key
