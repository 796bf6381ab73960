"""Handle requests: their numbers, the threads for each purpose, reading one version of the store, and the log."""

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial, wraps
from inspect import Parameter, iscoroutinefunction, signature
from itertools import count
from typing import IO, Annotated, Any, Final, ParamSpec, TypeVar, cast

from anyio import CapacityLimiter, to_thread
from anyio.to_thread import current_default_thread_limiter
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query as QueryParameter
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import HTTPConnection
from starlette.routing import Match

from podium.service.http.errors import (
    HEADER,
    READ_ERRORS,
    RETRY_AFTER_S,
    WRITE_ERRORS,
    RequestLog,
    current_request_id,
    error_responses,
    problem,
)
from podium.service.http.json import (
    MAX_SENT_CHARACTERS,
    POOLS_PATH,
    RefusedError,
    decode_name,
    json_response,
    printable,
)
from podium.store import Store
from podium.store.following import NEWEST
from podium.support.words import suggestion

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """The number of threads for each kind of work.

    Writers can wait a long time for the database without blocking others.

    Reads use the framework's threads, only a few of which run at a time.
    """

    def __init__(self) -> None:
        self.writing = CapacityLimiter(8)  # fewer than the database connections, so that some remain for readers
        self.rerating = CapacityLimiter(2)  # for late results that change many ratings
        self.planning = CapacityLimiter(2)  # for dry runs; long ones occupy a core
        self.uploading = CapacityLimiter(1)  # waits for the process that reads files
        self.verifying = CapacityLimiter(2)  # for processes that verify signatures, which anyone may send
        self.keys = CapacityLimiter(4)
        self.watching = CapacityLimiter(2)  # for the logs that streams follow
        self.keeping = CapacityLimiter(2)  # for the upkeep, once a minute and at the end of the service
        self.probing = CapacityLimiter(2)  # for readiness checks and metrics


async def run_in(threads: CapacityLimiter, function: Callable[P, T], *sent: P.args, **options: P.kwargs) -> T:
    """Run a function in one of these threads.

    Return its result, or raise its error. The error is not raised in the thread, which would then hold the error and
    the request until garbage collection.
    """

    def capture() -> tuple[T | None, Exception | None]:
        try:
            return function(*sent, **options), None
        except Exception as error:  # noqa: BLE001  (raised below)
            return None, error

    return cast("T", unwrap(*await to_thread.run_sync(capture, limiter=threads)))


def unwrap(answer: T, error: Exception | None) -> T:
    """Return an answer, or raise the error if there is one.

    Afterwards, this frame and the error do not keep each other alive.
    """
    try:
        if error is not None:
            raise error
        return answer
    finally:
        del error


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run a task in the background while the context is active."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


VERSION_HEADER: Final = "Pool-Version"  # number of the newest log entry that a response includes


def from_state(name: str) -> Any:
    """Return a dependency that yields a part of the service, by its name in the app's state."""

    async def part(request: Request) -> Any:  # a coroutine, because it needs no thread
        return getattr(request.app.state, name)

    return Depends(part)


def made_of(record: type[Any]) -> Any:
    """Return a dependency that makes a record of the dependencies that its fields name."""

    async def make(**parts: Any) -> Any:  # a coroutine, because it needs no thread
        return record(**parts)

    make.__dict__["__signature__"] = signature(record)
    return Depends(make)


def store_for(request: Request) -> Store:
    """Return the store. Its reads answer to hidden IDs of players only for admins."""
    store: Store = request.app.state.store
    return store if getattr(request.state, "sees_ids", False) else store.hiding_ids()


async def current_store(request: Request) -> Store:
    """Return the store as a dependency. It is a coroutine, because it needs no thread."""
    return store_for(request)


Wanted = Annotated[str | None, Query(max_length=MAX_SENT_CHARACTERS, description="List only players with this detail.")]


async def wanted_details(
    country: Wanted = None, club: Wanted = None, division: Wanted = None
) -> tuple[tuple[str, str], ...]:
    """Return the details that listed players must have, from a query. Empty parameters do not count."""
    sent = ("country", country), ("club", club), ("division", division)
    return tuple((name, value) for name, value in sent if value)


WantedDetails = Annotated[tuple[tuple[str, str], ...], Depends(wanted_details)]
CurrentStore = Annotated[Store, Depends(current_store)]
CurrentThreads = Annotated[Threads, from_state("threads")]


SINCE: Final = "_since"  # route parameter for the version to wait for
Since = Annotated[
    int,
    Query(
        alias="since",
        ge=0,
        lt=2**63,
        description="Version of the pool to wait for. Without it, an older version may be returned for a few seconds "
        "after a long correction.",
    ),
]
WROTE: Final = "podium_wrote"  # cookie for a browser that has just written something
WROTE_S = 60  # lifetime of that cookie


def read_one_moment(route: Callable[..., Any]) -> Callable[..., Any]:
    """Let a route read a single version of its store, and report this version in a header.

    The version is the newest for a browser that has just written something.
    """
    taken = signature(route)
    if {"store", "visit"}.isdisjoint(taken.parameters) or iscoroutinefunction(route):
        return route

    @wraps(route)
    def answer(**arguments: Any) -> Response:
        visit, since = arguments.get("visit"), arguments.get(SINCE, 0)  # a visit belongs to a page
        request: Request = visit.request if visit else arguments["request"]
        store: Store = visit.store if visit else store_for(request)
        pool = visit.pool if visit else arguments.get("pool")
        sent = {name: value for name, value in arguments.items() if name in taken.parameters}

        def read(view: Store) -> Response:
            found = route(**sent | ({"visit": replace(visit, store=view)} if visit else {"store": view}))
            response = found if isinstance(found, Response) else json_response(taken.return_annotation, found)
            if pool is not None:
                response.headers[VERSION_HEADER] = str(view.version(pool))
            return response

        return store.read_view(read, NEWEST if WROTE in request.cookies else since)

    keyword, given = Parameter.KEYWORD_ONLY, {name: each for name, each in taken.parameters.items() if name != "store"}
    if "visit" not in given:
        given.setdefault("request", Parameter("request", keyword, annotation=Request))
    if "since" not in given:  # otherwise, `since` is a date or the number of an event
        given[SINCE] = Parameter(SINCE, keyword, default=0, annotation=Since)
    answer.__signature__ = taken.replace(parameters=[*given.values()])  # type: ignore[attr-defined]
    return answer


class QuickRoute(APIRoute):
    """A route that compares an address with its pattern only if both have the same beginning and number of parts."""

    def __init__(self, path: str, *given: Any, **options: Any) -> None:
        super().__init__(path, *given, **options)
        self.slashes, self.begins = path.count("/"), path.partition("{")[0]

    def matches(self, scope: Any) -> tuple[Match, Any]:
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        is_similar = path.count("/") == self.slashes and path.startswith(self.begins)
        return super().matches(scope) if is_similar else (Match.NONE, {})


class StrictRoute(QuickRoute):
    """A route that rejects unknown parameters in pools' addresses, because they may be typing errors.

    The response to a write states the pool's version that includes it, for use as `since`.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle, parameters = super().get_route_handler(), get_flat_params(self.dependant)
        known = [parameter.alias for parameter in parameters if isinstance(parameter.field_info, QueryParameter)]

        async def handle_known(request: Request) -> Response:
            for name in request.query_params if request.scope["query_string"] else ():
                if name not in known:
                    there_are = f" (parameters: {', '.join(known)})" if known else ""
                    raise RefusedError(printable(name), f"is not a parameter here{suggestion(name, known)}{there_are}")
            answer, store = await handle(request), request.app.state.store
            if request.method != "GET" and "pool" in request.path_params:
                version = store.snapshots.newest_version(decode_name(request.path_params["pool"]))
                if version:
                    answer.headers.setdefault(VERSION_HEADER, str(version))
            return answer

        return handle_known if self.path.startswith(POOLS_PATH) else handle


def operation_id(route: APIRoute) -> str:
    """Return the name of a route's function, which is the operation's ID in the OpenAPI document."""
    return route.name


class PoolRouter(APIRouter):
    """Routes for pools. Each read sees a single version of its pool. The method decides which errors are declared."""

    def __init__(self, dependencies: Sequence[Any] = ()) -> None:
        common: dict[str, Any] = {"route_class": StrictRoute, "generate_unique_id_function": operation_id}
        super().__init__(prefix=POOLS_PATH, dependencies=dependencies, **common)

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        errors = error_responses(*(READ_ERRORS if options["methods"] == ["GET"] else WRITE_ERRORS))
        options["responses"] = errors | (options["responses"] or {})
        super().add_api_route(path, read_one_moment(endpoint), **options)


CHUNK_BYTES = 64 * 1024


class OpenFile(StreamingResponse):
    """An open file, which is closed when it has been sent, or when its reader leaves."""

    def __init__(self, file: IO[bytes], media_type: str, headers: Mapping[str, str]) -> None:
        super().__init__(iter(partial(file.read, CHUNK_BYTES), b""), media_type=media_type, headers=headers)
        self.file = file

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        with self.file:
            await super().__call__(scope, receive, send)


LEAST_BYTES = 1024  # minimum size of a compressed response
LEVEL = 5  # compression level of zlib; 9 takes four times as long and saves 5 %
COMPRESSED_TYPES = ("application/vnd.apache.parquet",)  # in addition to the framework's


class CompressionMiddleware:
    """Middleware that compresses responses larger than a kilobyte, but never a stream of events."""

    def __init__(self, app: Any, session_cookie: str) -> None:
        self.app, self.session_cookie = app, session_cookie
        excluded = (*DEFAULT_EXCLUDED_CONTENT_TYPES, *COMPRESSED_TYPES)
        self.compressed = GZipMiddleware(app, LEAST_BYTES, LEVEL, exclude_content_types=excluded)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        is_page = scope["type"] == "http" and not scope["path"].startswith("/static/")
        is_private = is_page and self.session_cookie in HTTPConnection(scope).cookies
        await (self.app if is_private else self.compressed)(scope, receive, send)


HOST = re.compile(rb"[\w.:\[\]%~-]+")
SANE = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}")
PROCESS = secrets.token_hex(4)
NUMBERS = count(1)


ANY_ORIGIN = (b"access-control-allow-origin", b"*")  # for responses that are the same for everyone
NOT_SHARED = (b"cache-control", b"private, no-cache")  # otherwise, some proxies store every file for hours
Observe = Callable[[str, str, int, float], None]  # method, route, status, seconds


class RequestMiddleware:
    """The outermost middleware, which sees the outcome of every request."""

    def __init__(self, app: Any, observe: Observe, log: RequestLog | None = None) -> None:
        self.app, self.observe, self.log = app, observe, log

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0
        given = (value.decode("ascii") for name, value in scope["headers"] if name == HEADER and SANE.fullmatch(value))
        scope["request_id"] = request_id = next(given, None) or f"{PROCESS}-{next(NUMBERS):x}"
        current_request_id.set(request_id)

        async def send_with_id(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message.get("headers", ()), (HEADER, request_id.encode())]
                if scope.get("state", {}).get("is_anybodys"):
                    headers.append(ANY_ORIGIN)
                if not any(name == NOT_SHARED[0] for name, _ in headers):
                    headers.append(NOT_SHARED)
                message["headers"] = headers
            await send(message)

        try:
            hosts = [value for name, value in scope["headers"] if name == b"host"]
            needs_one = bool(hosts) or scope.get("http_version", "1.1") != "1.0"
            if needs_one and (len(hosts) != 1 or not HOST.fullmatch(hosts[0])):
                await problem(400, "the request needs exactly one Host header")(scope, receive, send_with_id)
                return
            await self.app(scope, receive, send_with_id)
        except asyncio.CancelledError:  # the service is stopping, and this request took too long
            if status:
                raise
            detail = "the service is stopping. Send this again; nothing is counted twice."
            await problem(503, detail, retry_after_s=RETRY_AFTER_S)(scope, receive, send_with_id)
        finally:
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", "none")
            self.observe(scope["method"], route, status or 500, seconds)
            if self.log is not None:
                self.log.add(scope, route, status or 500, seconds)


AT_ONCE = 3  # in addition to slow readers
LOOK_S = 0.05  # time between two checks; readers that both checks find are slow


async def share_threads() -> None:
    """Let only a few of the framework's threads run at a time. Slow threads do not block others.

    This task runs until it is cancelled, and then restores the number of threads.
    """
    limiter = current_default_thread_limiter()
    most, readers = limiter.total_tokens, frozenset[object]()
    try:
        while True:
            before, readers = readers, frozenset(limiter.statistics().borrowers)
            limiter.total_tokens = min(most, AT_ONCE + len(before & readers))
            await asyncio.sleep(LOOK_S)
    finally:
        limiter.total_tokens = most


ENTITY_TAGS = re.compile(r'\s*(?:W/)?"[^"]*"(?:\s*,\s*(?:W/)?"[^"]*")*\s*')
STRONG_TAG = re.compile(r'(W/)?"([^"]*)"')
IfMatch = Annotated[
    str | None,
    Header(
        max_length=1000,
        description=(
            "`ETag` that you got when you read the event. If the event has changed since, the request fails (412)."
        ),
    ),
]


def versions_in(if_match: str | None) -> frozenset[str] | None:
    """Return the versions in the header, or None if any version is acceptable."""
    if if_match is None or if_match.strip() == "*":
        return None
    if not ENTITY_TAGS.fullmatch(if_match):
        raise RefusedError("if-match", 'is not the ETag of an event, such as "17"')
    return frozenset(version for weak, version in STRONG_TAG.findall(if_match) if not weak)
