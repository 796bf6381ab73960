"""The service's log, a JSON object a line, each with the id of its request; and answers compressed."""

import asyncio
import json
import logging
import re
import secrets
import time
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache
from itertools import count
from typing import Any, TextIO

from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import HTTPConnection

from podium.service.http.json import decode_name

HEADER = b"x-request-id"
SANE = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}")
PROCESS = secrets.token_hex(4)
NUMBERS = count(1)

current_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)  # of the request that is answered


def choose_request_id(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the id that the sender gave, or a new one."""
    for name, value in headers:
        if name == HEADER and SANE.fullmatch(value):
            return value.decode("ascii")
    return f"{PROCESS}-{next(NUMBERS):x}"


WRITE_INTERVAL_S = 0.2
MAX_WAITING_LINES = 1_000


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": moment(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        request_id = current_request_id.get()
        if request_id is not None:
            line["request_id"] = request_id
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


LOG_CONFIG: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": JsonFormatter}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {"podium": {"level": "INFO"}, "uvicorn": {"level": "WARNING"}},
}


class RequestLog:
    """Writes what became of requests: their routes, not their addresses, which may have a player's name."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lines: list[str] = []

    def add(self, scope: Any, route: str, status: int, seconds: float) -> None:
        """Add a request that was answered; it is written a little later."""
        pool, client, key = scope.get("path_params", {}).get("pool"), scope["client"], scope.get("state", {}).get("key")
        opened = "" if key is None else f', "key": {key.id}, "pool": {json_text(pool)}'
        self._lines.append(
            f'{{"time": "{moment(time.time())}", "level": "info", "logger": "podium.requests", '
            f'"method": {json_text(scope["method"])}, "route": {json_text(route)}, "status": {status}, '
            f'"ms": {1000.0 * seconds:.1f}, "client": {json_text(client[0] if client else None)}{opened}, '
            f'"request_id": "{scope["request_id"]}"}}\n'
        )
        if len(self._lines) == 1:
            asyncio.get_running_loop().call_later(WRITE_INTERVAL_S, self.write)
        elif len(self._lines) >= MAX_WAITING_LINES:
            self.write()

    def write(self) -> None:
        lines = "".join(self._lines)
        self._lines.clear()
        with suppress(OSError, ValueError):  # nobody reads them any more
            self._stream.write(lines)
            self._stream.flush()


@lru_cache(1_000)
def json_text(text: str | None) -> str:
    """Return a text as JSON; of a part of an address, the name that it stands for."""
    return json.dumps(None if text is None else decode_name(text))


def moment(since_1970: float) -> str:
    """Return a time in ISO 8601, to a millisecond."""
    return f"{second(int(since_1970))}.{int(since_1970 % 1.0 * 1000.0):03d}+00:00"


@lru_cache(2)
def second(since_1970: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since_1970))


LEAST_BYTES = 1024  # of an answer that is compressed
LEVEL = 5  # of zlib: 9 takes four times as long, and saves a twentieth
COMPRESSED_TYPES = ("application/vnd.apache.parquet",)  # beside those that the framework knows


class CompressionMiddleware:
    """Compresses answers above a kilobyte; never a stream of events."""

    def __init__(self, app: Any, session_cookie: str) -> None:
        self.app, self.session_cookie = app, session_cookie
        excluded = (*DEFAULT_EXCLUDED_CONTENT_TYPES, *COMPRESSED_TYPES)
        self.compressed = GZipMiddleware(app, LEAST_BYTES, LEVEL, exclude_content_types=excluded)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        is_signed_in = scope["type"] == "http" and self.session_cookie in HTTPConnection(scope).cookies
        await (self.app if is_signed_in else self.compressed)(scope, receive, send)
