"""What is done once a minute while the service runs, daily ranks above all; a failure is logged, and it goes on.

Of several processes that serve a database one does it, until it ends; then another does.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from podium.errors import PodiumError
from podium.service.http.keys import KeyGuard
from podium.service.http.requests import Threads, in_background, run_in
from podium.service.metrics import Metrics
from podium.store import Store
from podium.store.keys import forget_budgets, revoke_expired
from podium.store.log.database import Turn
from podium.store.log.files import truncate_wal
from podium.store.log.pools import Pool
from podium.store.log.statements import DAY_US
from podium.store.waiting import forget_waiting
from podium.store.writing.rating.facts import day_shown

CHECK_INTERVAL_S = 60.0
DAY_S = DAY_US / 1e6
DAILY_RANKS, FACTS, HINDSIGHT, KEYS = "daily ranks", "facts", "hindsight", "keys"  # as metrics have it
LEFT_OVERS, FILES, TURN = "left-overs", "files", "turn"
LOGGER = logging.getLogger(__name__)


class Upkeep:
    """Stores the ranks of 00:00 UTC, facts and hindsight, revokes keys that expired, and stores when keys were used."""

    def __init__(self, store: Store, threads: Threads, key_guard: KeyGuard, metrics: Metrics, turn: Turn) -> None:
        self._store, self._threads, self._key_guard, self._metrics = store, threads, key_guard, metrics
        self._turn = turn
        self._newest_days: dict[str, int] = {}  # with ranks, since 1970, by pool
        self._counted: set[str] = set()  # pools whose events have no dates, nor ranks an age
        metrics.add_gauge(
            "podium_newest_ranks_age_seconds", "Time since the 00:00 UTC of the newest daily ranks", self.ages_s
        )

    def ages_s(self) -> dict[str, float]:
        return {
            pool: time.time() - DAY_S * day for pool, day in [*self._newest_days.items()] if pool not in self._counted
        }

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        try:
            async with in_background(self._run()):
                yield
        finally:
            await self._store_last_uses()

    async def _run(self) -> None:
        while True:
            has_turn = await self._take_turn()
            if has_turn:
                await self._look_after()
            await self._read_newest_days()
            await self._store_last_uses()
            await asyncio.sleep(CHECK_INTERVAL_S)
            if has_turn:
                await self._keep_facts()  # seconds of work: a service that has just begun answers requests first

    async def _take_turn(self) -> bool:
        with self._log_failure(TURN):
            return await run_in(self._threads.keeping, self._turn.take)
        return False

    async def _look_after(self) -> None:
        await self._store_ranks()
        with self._log_failure(KEYS):
            expired = await run_in(self._threads.keeping, revoke_expired, self._store.engine)
            if expired:
                LOGGER.info("%d %s expired", expired, "key" if expired == 1 else "keys")
        with self._log_failure(LEFT_OVERS):  # of a long correction, or of one that was killed
            await run_in(self._threads.keeping, self._store.clear_unread)
        with self._log_failure(LEFT_OVERS):
            await run_in(self._threads.keeping, forget_budgets, self._store.engine)
        with self._log_failure(LEFT_OVERS):
            await run_in(self._threads.keeping, forget_waiting, self._store.engine)
        with self._log_failure(FILES):  # a pseudonymised name may have had to wait there
            await run_in(self._threads.keeping, truncate_wal, self._store.engine, 0)

    async def _store_ranks(self) -> None:
        with self._log_failure(DAILY_RANKS):
            pools = await run_in(self._threads.keeping, self._store.pools)
            self._counted = {pool.name for pool in pools if pool.is_counted}
            for pool in pools:
                with self._log_failure(DAILY_RANKS):  # as of a pool that could not be upgraded; the others get theirs
                    await run_in(self._threads.keeping, self._store_ranks_of, pool)

    def _store_ranks_of(self, pool: Pool) -> None:
        taken = self._store.snapshot(pool.name)
        for day, players in taken.items():
            LOGGER.info("pool %s: stored the ranks of %d players at %s", pool.name, players, day_shown(pool.order, day))
        if taken:  # a late result may spoil them before `_read_newest_days`
            self._newest_days[pool.name] = max(taken)

    async def _read_newest_days(self) -> None:
        """Read which days have ranks: whoever did not store them says in its metrics, too, how old the newest are."""
        with self._log_failure(DAILY_RANKS):
            self._newest_days |= await run_in(self._threads.keeping, self._store.newest_days)

    async def _keep_facts(self) -> None:
        """Work out what pools' histories show, of each that has ranks and that it is due of."""
        with self._log_failure(FACTS):
            names = [pool.name for pool in await run_in(self._threads.keeping, self._store.pools)]
            for pool in filter(self._newest_days.__contains__, names):
                with self._log_failure(FACTS):
                    if await run_in(self._threads.keeping, self._store.keep_facts, pool):
                        LOGGER.info("pool %s: worked out what its history shows", pool)
                with self._log_failure(HINDSIGHT):
                    if await run_in(self._threads.keeping, self._store.keep_hindsight, pool):
                        LOGGER.info("pool %s: worked out how strong everybody was, in hindsight", pool)

    async def _store_last_uses(self) -> None:
        with self._log_failure(KEYS):
            await run_in(self._threads.keeping, self._key_guard.store_last_uses)

    @contextmanager
    def _log_failure(self, task: str) -> Iterator[None]:
        """Log and count what goes wrong instead of raising it: the next check finds what is still due."""
        try:
            yield
        except PodiumError as error:
            self._metrics.upkeep_failures.labels(task).inc()
            LOGGER.warning("%s: could not be looked after: %s", task, error)
        except Exception:
            self._metrics.upkeep_failures.labels(task).inc()
            LOGGER.exception("%s: could not be looked after", task)
