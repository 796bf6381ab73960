"""Each request has an id, is counted and timed, and is a line of the log."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from podium.service.http.logs import RequestLog
from podium.service.http.problems import RETRY_AFTER_S, problem
from podium.service.http.request_ids import HEADER, choose_request_id, current_request_id

Observe = Callable[[str, str, int, float], None]  # method, route, status, seconds


class RequestMiddleware:
    """Middleware around all others, which sees what every request came to."""

    def __init__(self, app: Any, observe: Observe, log: RequestLog | None = None) -> None:
        self.app, self.observe, self.log = app, observe, log

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the request on."""
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
                message["headers"] = [*message.get("headers", ()), (HEADER, request_id.encode())]
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
