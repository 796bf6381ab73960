"""What is sent piece by piece: changes as they come, and whole tables as files."""

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from typing import IO, Annotated, Any, Literal

import polars as pl
from fastapi import FastAPI, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from podium.service.api.writes import BASE
from podium.service.http.access import require_role
from podium.service.http.paths import Pool
from podium.service.http.problems import READING, answers
from podium.service.metrics import Metrics
from podium.store import Store

LOOK_S = 0.5  # between two looks at the log
QUIET_LOOKS = 30  # after so many without news a comment keeps the connection open
PIECE = 64 * 1024
MEDIA = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
REFUSALS = answers(*READING)


def sent(words: str, *media: str) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI words for an answer of these kinds."""
    return {200: {"content": {each: {} for each in media}, "description": words}}


def add_streams(app: FastAPI, store: Store, metrics: Metrics) -> None:
    """The routes that stream."""

    @app.get(f"{BASE}/{{pool}}/stream", response_class=StreamingResponse, tags=["pools"],
             responses=REFUSALS | sent("Server-sent events.", "text/event-stream"))  # fmt: skip
    async def stream(
        request: Request,
        pool: Pool,
        last_event_id: Annotated[str | None, Header(max_length=20, description="Where an earlier one ended.")] = None,
        seconds: Annotated[float, Query(ge=0.0, le=86_400.0, description="How long it stays open.")] = 3600.0,
        _key: str = require_role("read"),
    ) -> StreamingResponse:
        """Everything that happens to a ladder, as it happens; after a pause it goes on where it ended."""
        newest = await run_in_threadpool(store.version, pool)  # refuses an unknown pool before anything is sent
        told = last_event_id is not None and last_event_id.isascii() and last_event_id.isdecimal()
        after = min(int(last_event_id or 0), newest) if told else newest
        return StreamingResponse(news(request, store, pool, after, seconds, metrics), media_type="text/event-stream",
                                 headers={"Cache-Control": "no-store"})  # fmt: skip

    @app.get(f"{BASE}/{{pool}}/export/{{table}}.{{kind}}", response_class=StreamingResponse, tags=["pools"],
             responses=REFUSALS | sent("A file.", *MEDIA.values()))  # fmt: skip
    def export(
        pool: Pool,
        table: Literal["results", "history"],
        kind: Literal["csv", "parquet"],
        _key: str = require_role("read"),
    ) -> StreamingResponse:
        """The results that count, or every change of a rating, as a file."""
        frame = store.results(pool).frame if table == "results" else store.history(pool)
        headers = {"Content-Disposition": f'attachment; filename="{table}.{kind}"'}
        return StreamingResponse(pieces(written(frame, kind)), media_type=MEDIA[kind], headers=headers)


async def news(
    request: Request, store: Store, pool: str, after: int, seconds: float, metrics: Metrics
) -> AsyncIterator[bytes]:
    """Entries of the log as server-sent events, each with what became of its event."""
    with metrics.streams.track_inprogress():
        yield b": podium\n\n"
        quiet, end = 0, time.monotonic() + seconds
        while not await request.is_disconnected():
            entries = await run_in_threadpool(store.news, pool, after)
            for each in entries:
                after = each["seq"]
                told = json.dumps(each, ensure_ascii=False)
                yield f"id: {after}\nevent: {each['kind']}\ndata: {told}\n\n".encode()
            quiet = 0 if entries else quiet + 1
            if quiet >= QUIET_LOOKS:
                quiet = 0
                yield b": still here\n\n"
            if time.monotonic() >= end:
                return
            await asyncio.sleep(LOOK_S)


def written(frame: pl.DataFrame, kind: str) -> IO[bytes]:
    """A table in a file that goes when it is closed."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  (closed by whoever reads it)
    if kind == "csv":
        frame.write_csv(file)
    else:
        frame.write_parquet(file)
    file.seek(0)
    return file


def pieces(file: IO[bytes]) -> Iterator[bytes]:
    """A file in pieces."""
    with file:
        while piece := file.read(PIECE):
            yield piece
