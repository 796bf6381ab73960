"""Daily ranks: stored at 00:00 UTC while the service runs, and again after a correction of the past."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from podium.errors import PodiumError
from podium.store import Store
from podium.store.sql.files import truncate_wal

CHECK_INTERVAL_S = 60.0
LOGGER = logging.getLogger(__name__)


@asynccontextmanager
async def daily_ranks(_app: FastAPI, store: Store) -> AsyncIterator[None]:
    """Store the daily ranks while the service runs."""
    task = asyncio.create_task(store_daily_ranks(store))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def store_daily_ranks(store: Store) -> None:
    """Store once a minute the ranks that are due."""
    while True:
        with log_failure():
            for pool in await run_in_threadpool(store.pools):
                with log_failure():  # as of a pool that could not be upgraded; the others get their ranks
                    await run_in_threadpool(store.snapshot, pool.name)
        with log_failure():
            await run_in_threadpool(store.clear_unread)  # what a long correction, or a killed one, has left behind
        await run_in_threadpool(truncate_wal, store.engine, 0)  # a pseudonymised name may have had to wait there
        await asyncio.sleep(CHECK_INTERVAL_S)


@contextmanager
def log_failure() -> Iterator[None]:
    """Log what goes wrong instead of raising it: the next check finds what is still due."""
    try:
        yield
    except PodiumError as error:
        LOGGER.warning("the daily ranks could not be stored: %s", error)
    except Exception:
        LOGGER.exception("the daily ranks could not be stored")
