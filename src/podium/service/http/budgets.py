"""Budgets of requests: so many a second on average, and some more at once, in one process or shared by several.

Shared ones are rows of PostgreSQL. A process draws a quarter of a second's requests at once and spends them by itself,
so that a key costs the database four short statements a second and process at most, however many requests it sends.
What is drawn stays until it is spent: several processes may let a quarter of a second more each pass at once.
"""

import asyncio
import time
from collections import OrderedDict
from typing import Protocol

from podium.service.http.threads import Threads, run_in
from podium.store import Store
from podium.store.budgets import draw
from podium.store.sql.database import UnavailableError

MAX_BUDGETS = 10_000  # the one that was used least recently goes, and begins anew
DRAWN_S = 0.25  # seconds of a budget's growth that a process draws at once
MAX_REFUSED_S = 1.0  # that a process refuses by itself before it asks again


class Budgets(Protocol):
    """Budgets of requests, by owner."""

    async def take(self, owner: str, per_second: float, burst: float) -> int:
        """Take a request from a budget.

        Args:
            owner: whose it is.
            per_second: how fast it grows.
            burst: how large it gets.

        Returns:
            0, or the seconds until there is one to take.
        """
        ...


class OwnBudgets:
    """Budgets that are held in memory, by one process."""

    def __init__(self) -> None:
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # when, and how much there was left

    async def take(self, owner: str, per_second: float, burst: float) -> int:
        """Take a request from a budget, as `Budgets` has it."""
        now = time.monotonic()
        counted_at, left = self._left.pop(owner, (now, burst))
        left = min(burst, left + (now - counted_at) * per_second)
        is_enough = left >= 1.0
        self._left[owner] = now, left - 1.0 if is_enough else left
        if len(self._left) > MAX_BUDGETS:
            self._left.popitem(last=False)
        return 0 if is_enough else int((1.0 - left) / per_second) + 1


class Share:
    """What this process has of a budget."""

    def __init__(self) -> None:
        self.left = 0  # requests that were drawn and not spent
        self.refused_until = 0.0  # by the monotonic clock: there is nothing to draw before
        self.full_at = 0.0  # when there is a request to take again
        self.drawing = asyncio.Lock()  # of those who wait for a draw one draws for all


class SharedBudgets:
    """Budgets that several processes share through PostgreSQL; while it is away each has its own."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store, self._threads = store, threads
        self._shares: OrderedDict[str, Share] = OrderedDict()
        self._own = OwnBudgets()

    async def take(self, owner: str, per_second: float, burst: float) -> int:
        """Take a request from a budget, as `Budgets` has it."""
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
        """Return what this process has of a budget; of too many the one that was used least recently is forgotten."""
        share = self._shares.get(owner)
        if share is None:
            share = self._shares[owner] = Share()
            if len(self._shares) > MAX_BUDGETS:
                self._shares.popitem(last=False)
        else:
            self._shares.move_to_end(owner)
        return share

    async def _draw(self, share: Share, owner: str, per_second: float, burst: float) -> None:
        """Draw what the next quarter of a second may take, or note that there is nothing."""
        most = max(1, int(DRAWN_S * per_second))
        engine = self._store.engine
        share.left, left = await run_in(self._threads.keys, draw, engine, owner, per_second, burst, most)
        if share.left == 0:
            now = time.monotonic()
            share.full_at = now + (1.0 - left) / per_second
            share.refused_until = min(share.full_at, now + MAX_REFUSED_S)


def budgets_of(store: Store, threads: Threads) -> Budgets:
    """Return the budgets of a service: shared where several processes may serve the store."""
    return SharedBudgets(store, threads) if store.engine.dialect.name == "postgresql" else OwnBudgets()
