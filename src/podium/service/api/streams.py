"""The log as server-sent events, and the tables of a pool as files."""

import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from typing import IO, Annotated, Literal

import polars as pl
from fastapi import APIRouter, Header, Query
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from podium.errors import UnknownError
from podium.service.api.dependencies import CurrentMetrics, CurrentWatchers, ReadAccess
from podium.service.http.errors import READ_ERRORS, error_responses, success_response
from podium.service.http.json import POOLS_PATH, PoolName
from podium.service.http.requests import CurrentStore
from podium.service.metrics import Metrics
from podium.service.watchers import RETRY_S, Watchers, event_block
from podium.store import Store
from podium.store.log.database import UnavailableError

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # the second tells nginx to pass each on at once
COMMENT_INTERVAL_S = 15.0  # without an entry: a comment keeps the connection open
router = APIRouter(prefix=POOLS_PATH, responses=error_responses(*READ_ERRORS), tags=["pools"])


@router.get(
    "/{pool}/stream",
    response_class=StreamingResponse,
    responses=success_response("Server-sent events.", "text/event-stream"),
)
async def stream(
    pool: PoolName,
    store: CurrentStore,
    watchers: CurrentWatchers,
    metrics: CurrentMetrics,
    visitor: ReadAccess,
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


CHUNK_BYTES = 64 * 1024
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
# What spreadsheets take for the start of a formula, of full width too, and after semicolons that part cells.
FORMULA_START = r"^[;\s]*[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]|^[\t\r]"
Guard = Annotated[
    bool,
    Query(
        description="In CSV, put an apostrophe before text that a spreadsheet would take for a formula: text that "
        "begins with =, +, -, @ or a tab, be it after semicolons. Switch it off for programs, Podium among them."
    ),
]


@router.get(
    "/{pool}/export/{table}.{kind}",
    response_class=StreamingResponse,
    responses=success_response("A file.", *MEDIA_TYPES.values()),
)
def export(
    pool: PoolName,
    table: Literal["results", "history"],
    kind: Literal["csv", "parquet"],
    store: CurrentStore,
    _key: ReadAccess,
    *,
    guard: Guard = True,
) -> StreamingResponse:
    """The results that count, or every change of a rating, as a file."""
    frame = store.results(pool).frame if table == "results" else store.history(pool)
    if kind == "csv" and guard:
        frame = guard_formulas(frame)
    headers = {"Content-Disposition": f'attachment; filename="{table}.{kind}"'}
    return StreamingResponse(chunks(table_file(frame, kind)), media_type=MEDIA_TYPES[kind], headers=headers)


def guard_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before each text that would be a formula in a spreadsheet; numbers stay as they are."""
    text = pl.col(pl.String)
    return frame.with_columns(pl.when(text.str.contains(FORMULA_START)).then("'" + text).otherwise(text).name.keep())


def table_file(frame: pl.DataFrame, kind: str) -> IO[bytes]:
    """Return a table as an open file that is deleted when it is closed."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  (closed by whoever reads it)
    if kind == "csv":
        frame.write_csv(file)
    else:
        frame.write_parquet(file)
    file.seek(0)
    return file


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
