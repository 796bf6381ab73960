"""Each request has an id, is counted and timed, and is a line of the log; reads share threads; events have versions."""

import asyncio
import re
import time
from collections.abc import Callable
from typing import Annotated, Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import Header

from podium.service.http.errors import RETRY_AFTER_S, problem
from podium.service.http.json import RefusedError
from podium.service.http.logs import HEADER, RequestLog, choose_request_id, current_request_id

ANY_ORIGIN = (b"access-control-allow-origin", b"*")  # of answers that are the same for everybody
Observe = Callable[[str, str, int, float], None]  # method, route, status, seconds


class RequestMiddleware:
    """Middleware around all others, which sees what every request came to."""

    def __init__(self, app: Any, observe: Observe, log: RequestLog | None = None) -> None:
        self.app, self.observe, self.log = app, observe, log

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0
        scope["request_id"] = request_id = choose_request_id(scope["headers"])
        current_request_id.set(request_id)

        async def send_with_id(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                shared = (ANY_ORIGIN,) if scope.get("state", {}).get("is_anybodys") else ()
                message["headers"] = [*message.get("headers", ()), (HEADER, request_id.encode()), *shared]
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except asyncio.CancelledError:  # the service stops, and this has taken longer than it waits
            if status:
                raise
            detail = "the service stops; send this again: what was stored by then is not counted twice"
            await problem(503, detail, retry_after_s=RETRY_AFTER_S)(scope, receive, send_with_id)
        finally:
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", "none")
            self.observe(scope["method"], route, status or 500, seconds)
            if self.log is not None:
                self.log.add(scope, route, status or 500, seconds)


AT_ONCE = 3  # beside those that take long
LOOK_S = 0.05  # between two looks at who reads; whoever is there at both takes long


async def share_threads() -> None:
    """Let few of the framework's threads run at a time; one that takes long keeps no other waiting.

    It goes on until it is cancelled, and leaves as many threads as there were.
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
        description="The `ETag` of the event as it was read: if it has changed since, nothing is done (412).",
    ),
]


def entity_tag(version: str) -> str:
    return f'"{version}"'


def versions_in(if_match: str | None) -> frozenset[str] | None:
    """Return the versions in the header; None where any will do."""
    if if_match is None or if_match.strip() == "*":
        return None
    if not ENTITY_TAGS.fullmatch(if_match):
        raise RefusedError("if-match", 'is not the ETag of an event, like "17"')
    return frozenset(version for weak, version in STRONG_TAG.findall(if_match) if not weak)
