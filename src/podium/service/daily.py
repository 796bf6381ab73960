"""The ranks of 00:00 UTC, kept every day while the service runs, and taken again after a correction of the past."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from podium.errors import PodiumError
from podium.store import Store
from podium.store.sql.files import truncate_wal

LOOK_S = 60.0


@asynccontextmanager
async def keeping_days(_app: FastAPI, store: Store) -> AsyncIterator[None]:
    """While the service runs."""
    task = asyncio.create_task(keep_days(store))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def keep_days(store: Store) -> None:
    """Look once a minute for what is due."""
    while True:
        with log_refusal():
            for each in await run_in_threadpool(store.pools):
                with log_refusal():  # as of a pool that could not be upgraded; the others have their ranks
                    await run_in_threadpool(store.snapshot, each.name)
        await run_in_threadpool(truncate_wal, store.engine, 0)  # a pseudonymised name may have had to wait there
        await asyncio.sleep(LOOK_S)


@contextmanager
def log_refusal() -> Iterator[None]:
    """Log what the store refuses instead of raising it."""
    try:
        yield
    except PodiumError as error:
        logging.getLogger(__name__).warning("the daily ranks could not be kept: %s", error)
