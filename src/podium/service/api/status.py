"""Routes for the service itself: health, readiness, metrics, and the OpenAPI document as HTML.

The HTML is complete without scripts, and loads nothing from other hosts.
"""

import asyncio
import json
import re
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from functools import lru_cache, partial
from html import escape
from importlib.resources import files
from typing import IO, Annotated, Any, Literal

import polars as pl
import sqlalchemy as sa
from anyio import to_thread
from fastapi import APIRouter, FastAPI, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, StreamingResponse
from markupsafe import Markup

from podium.errors import UnknownError
from podium.log.database import UnavailableError, read_transaction
from podium.pages.environment import create_environment
from podium.service.api.dependencies import CurrentMetrics, CurrentWatchers, ReadAccess
from podium.service.http.errors import DESCRIPTIONS, READ_ERRORS, READ_RESPONSES, error_responses, success_response
from podium.service.http.json import POOLS_PATH, PoolName
from podium.service.http.requests import (
    CurrentStore,
    CurrentThreads,
    OpenFile,
    StrictRoute,
    operation_id,
    read_one_moment,
    run_in,
)
from podium.service.metrics import Metrics
from podium.service.watchers import RETRY_S, Watchers, event_block
from podium.service.web.rendering import HEADERS, STATIC_ADDRESS
from podium.store import Store
from podium.support.words import without_formulas

STREAM_HEADERS = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}  # the second header makes nginx forward each event immediately
COMMENT_INTERVAL_S = 15.0  # time without an entry, after which a comment keeps the connection open
router = APIRouter(route_class=StrictRoute, generate_unique_id_function=operation_id)


@router.get(
    f"{POOLS_PATH}/{{pool}}/stream",
    response_class=StreamingResponse,
    responses=READ_RESPONSES | success_response("Server-sent events.", "text/event-stream"),
)
async def stream(
    pool: PoolName,
    store: CurrentStore,
    watchers: CurrentWatchers,
    metrics: CurrentMetrics,
    visitor: ReadAccess,
    last_event_id: Annotated[
        str | None, Header(max_length=20, description="Last ID received from an earlier stream.")
    ] = None,
    seconds: Annotated[
        float, Query(ge=0.0, le=86_400.0, description="Number of seconds until the stream ends.")
    ] = 3600.0,
) -> StreamingResponse:
    """Stream everything that happens in a pool. After an interruption, the stream continues where it stopped.

    It ends when its key is revoked, when the pool is no longer public, when the service stops, or when more than 10,000
    entries are waiting to be read. Its last line, a comment, gives the reason. A client that reads nothing for a minute
    is disconnected without this comment. Reconnect with `Last-Event-ID`.
    """
    newest = await run_in_threadpool(store.version, pool)  # rejects an unknown pool before sending anything
    key = None if visitor.key is None else visitor.key.id
    watchers.refuse_too_many(key)
    resumes = last_event_id is not None and last_event_id.isascii() and last_event_id.isdecimal()
    after = min(int(last_event_id or 0), newest) if resumes else newest
    events = server_sent_events(store, watchers, metrics, pool, key, after, seconds)
    return StreamingResponse(events, media_type="text/event-stream", headers=STREAM_HEADERS)


async def server_sent_events(
    store: Store, watchers: Watchers, metrics: Metrics, pool: str, key: int | None, after: int, seconds: float
) -> AsyncIterator[bytes]:
    """Stream the log entries after a given number as server-sent events, each with the outcome of its event."""
    end = time.monotonic() + seconds
    with metrics.streams.track_inprogress():
        yield b": podium\n\n"
        async with watchers.listening(pool, key) as listener:
            is_watched = await watchers.wait_until_ready(pool, seconds)
            has_more = True
            while has_more and not listener.ended:  # entries that were logged before the watcher began
                try:
                    entries = await run_in_threadpool(store.news, pool, after)
                except UnavailableError:  # the next query finds them
                    entries, has_more = [], time.monotonic() < end
                    await listener.wait(RETRY_S)
                except UnknownError:
                    entries = []
                    listener.end("the pool was deleted")
                else:
                    has_more = bool(entries)
                for number, block in map(event_block, entries):
                    after = number
                    yield block
            while is_watched and not listener.ended and time.monotonic() < end:
                blocks = await listener.wait(min(COMMENT_INTERVAL_S, end - time.monotonic()))
                for number, block in blocks:
                    if number > after:
                        yield block
                if not blocks and time.monotonic() < end and not listener.ended:
                    yield b": no news\n\n"
            yield f": {listener.ended or 'the time is over'}\n\n".encode()


MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
Guard = Annotated[
    bool,
    Query(
        description="In CSV, put an apostrophe before text that a spreadsheet would treat as a formula: text that"
        " begins with =, +, -, @ or a tab, including after a semicolon. Turn it off if Podium or"
        " another program will read the file."
    ),
]


@router.get(
    f"{POOLS_PATH}/{{pool}}/export/{{table}}.{{kind}}",
    response_class=StreamingResponse,
    responses=READ_RESPONSES | success_response("A file.", *MEDIA_TYPES.values()),
)
@read_one_moment
def export(
    pool: PoolName,
    table: Literal["results", "history"],
    kind: Literal["csv", "parquet"],
    store: CurrentStore,
    _key: ReadAccess,
    *,
    guard: Guard = True,
) -> StreamingResponse:
    """Return all valid results, or all rating changes, as a file."""
    frame = store.results(pool).frame if table == "results" else store.history(pool)
    if kind == "csv" and guard:
        frame = without_formulas(frame)
    headers = {"Content-Disposition": f'attachment; filename="{table}.{kind}"'}
    return OpenFile(table_file(frame, kind), MEDIA_TYPES[kind], headers)


def table_file(frame: pl.DataFrame, kind: str) -> IO[bytes]:
    """Return a table as an open file, which is deleted when it is closed."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  (closed by its reader)
    if kind == "csv":
        frame.write_csv(file)
    else:
        frame.write_parquet(file)
    file.seek(0)
    return file


GROUPS = json.loads(files("podium.service.api").joinpath("groups.json").read_bytes())  # titles of calls by operation ID
SCHEMAS = "#/components/schemas/"
LIMITS = {
    "maxLength": "at most {} characters", "minimum": "at least {}", "maximum": "at most {}",
    "exclusiveMinimum": "above {}", "exclusiveMaximum": "below {}", "maxItems": "at most {} items",
}  # fmt: skip
TECHNICAL_LIMIT = 2**53  # limits above this are those of number formats


@lru_cache(1)
def reference_page(app: FastAPI) -> str:
    """Return the reference as HTML, which is generated only once because it never changes."""
    document: dict[str, Any] = app.openapi()
    calls = {
        operation["operationId"]: (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    models = document["components"]["schemas"]
    environment = create_environment("podium.service.api")
    environment.filters |= {
        "answer": answer_text,
        "example": partial(example_content, models=models),
        "example_path": example_path,
        "json": json_text,
        "models": partial(models_within, models=models),
        "schema": schema_text,
        "with_code": with_code,
    }
    text: str = environment.get_template("reference.html").render(
        document,
        groups={name: [calls[call] for call in group["calls"]] for name, group in GROUPS.items()},
        errors=DESCRIPTIONS,
        common_errors=READ_ERRORS,
        origin=app.state.address or "http://127.0.0.1:8000",
        static=STATIC_ADDRESS,
    )
    return text


def models_within(message: dict[str, Any], models: dict[str, Any]) -> list[str]:
    """Return the names of the models in a body: its own model first, then the models of its fields."""
    names: list[str] = []
    waiting = [message]
    while waiting:
        new = [name for name in re.findall(rf"{SCHEMAS}(\w+)", json.dumps(waiting.pop(0))) if name not in names]
        names += new
        waiting += [models[name] for name in new]
    return names


def example_path(path: str, operation: dict[str, Any]) -> str:
    """Return the path of an operation with the examples of its parameters."""
    for parameter in operation.get("parameters", ()):
        value = next(iter(parameter["schema"].get("examples", ())), parameter["name"])
        path = path.replace(f"{{{parameter['name']}}}", str(value))
    return path


def example_content(message: Any, models: dict[str, Any]) -> Any:
    """Return the example of a body or response, or None."""
    media = next(iter(message["content"].values())) if message and message.get("content") else {}
    return example_of(media.get("schema", {}), models)


def example_of(schema: dict[str, Any], models: dict[str, Any]) -> Any:
    """Return a schema's example: that of its model, of an array's items, or of the first type in a union."""
    if "$ref" in schema:
        examples = models[schema["$ref"].removeprefix(SCHEMAS)].get("examples")
        return examples[0] if examples else None
    if "anyOf" in schema:
        return example_of(schema["anyOf"][0], models)
    item = example_of(schema["items"], models) if "items" in schema else None
    return None if item is None else [item]


def json_text(value: Any) -> Markup:
    return Markup(escape(json.dumps(value, indent=2)))  # noqa: S704  (escaped)


def answer_text(message: dict[str, Any]) -> Markup:
    """Return the schema or media type of a body or response as HTML."""
    content: dict[str, Any] = message.get("content", {})
    return Markup(", ").join(
        schema_text(media["schema"]) if media.get("schema") else kind
        for kind, media in content.items()
        if media.get("schema") or len(content) == 1
    )


def schema_text(schema: dict[str, Any]) -> Markup:
    """Return a schema as readable HTML, with a link if its description is elsewhere."""
    if "$ref" in schema:
        return Markup('<a href="#{0}">{0}</a>').format(schema["$ref"].removeprefix(SCHEMAS))
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return Markup(" or ").join(map(schema_text, schema[union]))
    if "enum" in schema:
        return Markup(", ").join(map(code, schema["enum"]))
    return Markup(", ").join([type_text(schema), *limit_texts(schema)])


def code(value: Any) -> Markup:
    return Markup(f"<code>{escape(json.dumps(value))}</code>")  # noqa: S704  (escaped)


def type_text(schema: dict[str, Any]) -> str | Markup:
    kind = str(schema.get("format", schema.get("type", "anything")))
    if kind == "array":
        return "array of " + schema_text(schema.get("items", {}))
    values = schema.get("additionalProperties")
    return "object of " + schema_text(values) if kind == "object" and isinstance(values, dict) else kind


def limit_texts(schema: dict[str, Any]) -> Iterator[str | Markup]:
    for name, words in LIMITS.items():
        if name in schema and abs(schema[name]) < TECHNICAL_LIMIT:
            yield words.format(f"{schema[name]:,}")
    if schema.get("default") is not None:
        yield "default " + code(schema["default"])


def with_code(text: str) -> Markup:
    """Return text as HTML, with the parts in backquotes as code."""
    parts = escape(text, quote=False).split("`")
    html = (f"<code>{text}</code>" if k % 2 else text for k, text in enumerate(parts))
    return Markup("".join(html))  # noqa: S704  (escaped)


READY_TIMEOUT_S = 2.0


@router.get("/healthz", responses=error_responses(500))
async def healthz() -> dict[str, str]:
    """Return ok if the process responds, without querying the database."""
    return {"status": "ok"}


@router.get("/readyz", responses=error_responses(500, 503))
async def readyz(
    request: Request, store: CurrentStore, threads: CurrentThreads, watchers: CurrentWatchers
) -> dict[str, str]:
    """Check that the database is intact and responds within two seconds, and that the service is not stopping."""
    if watchers.is_closed:
        raise UnavailableError("the service stops")
    if getattr(request.app.state, "is_damaged", False):
        raise UnavailableError(
            "the database is damaged. Stop the service, and restore a backup with podium db restore."
        )
    try:
        async with asyncio.timeout(READY_TIMEOUT_S):
            await to_thread.run_sync(query_pools, store, limiter=threads.probing, abandon_on_cancel=True)
    except TimeoutError:
        raise UnavailableError(f"the database does not respond within {READY_TIMEOUT_S:g} s") from None
    return {"status": "ready"}


def query_pools(store: Store) -> None:
    with read_transaction(store.engine) as connection:
        connection.execute(sa.text("SELECT id FROM pool LIMIT 1")).all()


@router.get(
    "/metrics",
    response_class=Response,
    responses=READ_RESPONSES | success_response("The Prometheus text format.", "text/plain"),
)
async def prometheus_metrics(metrics: CurrentMetrics, threads: CurrentThreads, _key: ReadAccess) -> Response:
    """Return counters of requests, results and changes. This requires a key for all pools."""
    text = await run_in(threads.probing, metrics.text)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/api/docs", include_in_schema=False)
async def reference(request: Request) -> Response:
    """Return the API reference as HTML."""
    return HTMLResponse(reference_page(request.app), headers=HEADERS)


for path, answer in (("/healthz", healthz), ("/readyz", readyz), ("/api/docs", reference)):
    router.add_api_route(path, answer, methods=["HEAD"], include_in_schema=False)
