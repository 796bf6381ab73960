"""The log as server-sent events."""

import time
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from podium.errors import UnknownError
from podium.service.api.dependencies import CurrentMetrics, CurrentStore, CurrentWatchers, Reader
from podium.service.delivery.watchers import RETRY_S, Watchers, event_block
from podium.service.http.paths import POOLS_PATH, PoolName
from podium.service.http.problems import READ_ERRORS, error_responses, success_response
from podium.service.metrics import Metrics
from podium.store import Store
from podium.store.sql.database import UnavailableError

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # the second tells nginx to pass each on at once
COMMENT_INTERVAL_S = 15.0  # without an entry: a comment keeps the connection open
router = APIRouter(prefix=POOLS_PATH)


@router.get(
    "/{pool}/stream",
    response_class=StreamingResponse,
    tags=["pools"],
    responses=error_responses(*READ_ERRORS) | success_response("Server-sent events.", "text/event-stream"),
)
async def stream(
    pool: PoolName,
    store: CurrentStore,
    watchers: CurrentWatchers,
    metrics: CurrentMetrics,
    visitor: Reader,
    last_event_id: Annotated[str | None, Header(max_length=20, description="The last id of an earlier stream.")] = None,
    seconds: Annotated[float, Query(ge=0.0, le=86_400.0, description="How long it stays open.")] = 3600.0,
) -> StreamingResponse:
    """Everything that happens to a ladder, as it happens; after a pause it goes on where it ended.

    It ends when its key is revoked, the ladder is public no more, or the service stops; connect again with
    `Last-Event-ID`.
    """
    newest = await run_in_threadpool(store.version, pool)  # refuses an unknown pool before anything is sent
    key = None if visitor.key is None else visitor.key.id
    watchers.refuse_too_many(key)
    resumes = last_event_id is not None and last_event_id.isascii() and last_event_id.isdecimal()
    after = min(int(last_event_id or 0), newest) if resumes else newest
    events = server_sent_events(store, watchers, metrics, pool, key, after, seconds)
    return StreamingResponse(events, media_type="text/event-stream", headers=HEADERS)


async def server_sent_events(
    store: Store, watchers: Watchers, metrics: Metrics, pool: str, key: int | None, after: int, seconds: float
) -> AsyncIterator[bytes]:
    """Yield the entries of the log above a number as server-sent events, each with what became of its event."""
    end = time.monotonic() + seconds
    with metrics.streams.track_inprogress():
        yield b": podium\n\n"
        async with watchers.listening(pool, key) as listener:
            is_watched = await watchers.wait_until_ready(pool, seconds)
            has_more = True
            while has_more and not listener.has_ended:  # what was logged before the watcher began
                try:
                    entries = await run_in_threadpool(store.news, pool, after)
                except UnavailableError:  # the next query finds them
                    entries, has_more = [], time.monotonic() < end
                    await listener.wait(RETRY_S)
                except UnknownError:  # the pool was deleted
                    return
                else:
                    has_more = bool(entries)
                for number, block in map(event_block, entries):
                    after = number
                    yield block
            while is_watched and not listener.has_ended and time.monotonic() < end:
                blocks = await listener.wait(min(COMMENT_INTERVAL_S, end - time.monotonic()))
                for number, block in blocks:
                    if number > after:
                        yield block
                if not blocks and time.monotonic() < end and not listener.has_ended:
                    yield b": no news\n\n"
