"""The service's log, a JSON object a line: requests, and whatever else there is, with the id of its request."""

import asyncio
import json
import logging
import time
from contextlib import suppress
from functools import lru_cache
from typing import Any, TextIO

from podium.service.http.paths import decode_name
from podium.service.http.request_ids import current_request_id

WRITE_INTERVAL_S = 0.2
MAX_WAITING_LINES = 1_000


class JsonFormatter(logging.Formatter):
    """Writes a record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
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
        """Write the lines that wait; also when the service ends."""
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
    """Return a second in ISO 8601."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since_1970))
