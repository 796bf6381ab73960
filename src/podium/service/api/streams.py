"""Answers sent in chunks: the log as server-sent events, and whole tables as files."""

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from typing import IO, Annotated, Any, Literal

import polars as pl
from fastapi import APIRouter, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from podium.service.api.dependencies import CurrentMetrics, CurrentStore, Reader
from podium.service.http.paths import POOLS_PATH, PoolName
from podium.service.http.problems import READ_ERRORS, error_responses
from podium.service.metrics import Metrics
from podium.store import Store
from podium.store.sql.database import UnavailableError

POLL_S = 0.5  # between two queries of the log
COMMENT_AFTER_POLLS = 30  # so many polls without an entry: a comment keeps the connection open
CHUNK_BYTES = 64 * 1024
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
router = APIRouter(prefix=POOLS_PATH)
REFUSALS = error_responses(*READ_ERRORS)


def success_response(description: str, *media_types: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of an answer of these media types."""
    return {200: {"content": {each: {} for each in media_types}, "description": description}}


@router.get(
    "/{pool}/stream",
    response_class=StreamingResponse,
    tags=["pools"],
    responses=REFUSALS | success_response("Server-sent events.", "text/event-stream"),
)
async def stream(
    request: Request,
    pool: PoolName,
    store: CurrentStore,
    metrics: CurrentMetrics,
    _key: Reader,
    last_event_id: Annotated[str | None, Header(max_length=20, description="The last id of an earlier stream.")] = None,
    seconds: Annotated[float, Query(ge=0.0, le=86_400.0, description="How long it stays open.")] = 3600.0,
) -> StreamingResponse:
    """Everything that happens to a ladder, as it happens; after a pause it goes on where it ended."""
    newest = await run_in_threadpool(store.version, pool)  # refuses an unknown pool before anything is sent
    resumes = last_event_id is not None and last_event_id.isascii() and last_event_id.isdecimal()
    after = min(int(last_event_id or 0), newest) if resumes else newest
    events = server_sent_events(request, store, pool, after, seconds, metrics)
    return StreamingResponse(events, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


@router.get(
    "/{pool}/export/{table}.{kind}",
    response_class=StreamingResponse,
    tags=["pools"],
    responses=REFUSALS | success_response("A file.", *MEDIA_TYPES.values()),
)
def export(
    pool: PoolName,
    table: Literal["results", "history"],
    kind: Literal["csv", "parquet"],
    store: CurrentStore,
    _key: Reader,
) -> StreamingResponse:
    """The results that count, or every change of a rating, as a file."""
    frame = store.results(pool).frame if table == "results" else store.history(pool)
    headers = {"Content-Disposition": f'attachment; filename="{table}.{kind}"'}
    return StreamingResponse(chunks(table_file(frame, kind)), media_type=MEDIA_TYPES[kind], headers=headers)


async def server_sent_events(
    request: Request, store: Store, pool: str, after: int, seconds: float, metrics: Metrics
) -> AsyncIterator[bytes]:
    """Yield entries of the log as server-sent events, each with what became of its event."""
    with metrics.streams.track_inprogress():
        yield b": podium\n\n"
        quiet, end = 0, time.monotonic() + seconds
        while not await request.is_disconnected():
            try:
                entries = await run_in_threadpool(store.news, pool, after)
            except UnavailableError:  # the next query finds them
                entries = []
            for each in entries:
                after = each["seq"]
                data = json.dumps(each, ensure_ascii=False)
                yield f"id: {after}\nevent: {each['kind']}\ndata: {data}\n\n".encode()
            quiet = 0 if entries else quiet + 1
            if quiet >= COMMENT_AFTER_POLLS:
                quiet = 0
                yield b": no news\n\n"
            if time.monotonic() >= end:
                return
            await asyncio.sleep(POLL_S)


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
    """Yield a file in chunks."""
    with file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
