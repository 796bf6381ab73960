"""The service's log, with request numbers, and errors as RFC 9457 problems. Errors never quote the request."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import lru_cache
from http import HTTPStatus
from typing import Any, TextIO

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from podium.errors import NearNameError, NotFiniteError, ParameterError, PodiumError, ResultsError, UnknownError
from podium.log.database import StoreError, UnavailableError
from podium.log.files import sqlite_code
from podium.service.http.json import RefusedError, decode_name
from podium.store.writing.proposals import StaleError

HEADER = b"x-request-id"
current_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)  # of the current request


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
    """Writes requests to the log by route, because addresses can contain players' names."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lines: list[str] = []

    def add(self, scope: Any, route: str, status: int, seconds: float) -> None:
        """Add an answered request. It is written to the log a little later."""
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
        with suppress(OSError, ValueError):  # nobody reads the log any more
            self._stream.write(lines)
            self._stream.flush()


@lru_cache(1_000)
def json_text(text: str | None) -> str:
    """Return a string as JSON. Encoded names in addresses are decoded."""
    return json.dumps(None if text is None else decode_name(text))


def moment(since_1970: float) -> str:
    """Return a time in ISO 8601 with milliseconds."""
    return f"{second(int(since_1970))}.{int(since_1970 % 1.0 * 1000.0):03d}+00:00"


@lru_cache(2)
def second(since_1970: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since_1970))


MEDIA_TYPE = "application/problem+json"
DESCRIPTIONS = {
    401: "The key is missing, unknown, expired or revoked.",
    403: "The key does not allow this.",
    404: "Not found.",
    409: "The request conflicts with stored data.",
    412: "The event has changed since the version in `If-Match`.",
    413: "The body is too large.",
    422: "The request is invalid. The response names the field.",
    429: "The key's rate limit is exceeded, or too many requests from this address were rejected.",
    500: "The service failed. The reason is in the service's log.",
    503: "The database is busy, full or unavailable, or too many results are waiting. Send the request again"
    " after the number of seconds in `Retry-After`.",
}
RETRY_AFTER_S = 1  # for temporary errors
READ_ERRORS = (401, 403, 404, 422, 429, 500, 503)
WRITE_ERRORS = (*READ_ERRORS, 409, 413)


class Problem(BaseModel):
    """An error in the format of RFC 9457: what is wrong, where, and how to fix it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"title": "Not Found", "status": 404, "detail": "There is no pool 'kart'. Use one of 'karts', 'bikes'."}
            ]
        }
    )

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    field: str | None = None
    request_id: str | None = None


class AccessError(PodiumError):
    """The key does not permit this, or a rate limit has been exceeded."""

    def __init__(self, status: int, message: str, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.status, self.retry_after_s = status, retry_after_s


class TooLargeError(PodiumError):
    """The request's body is too large."""


class BusyError(PodiumError):
    """Too many results are waiting to be stored."""


class UnexpectedError(PodiumError):
    """The service failed. The reason is in its log, and the sender cannot fix it."""


STATUS_BY_ERROR: tuple[tuple[type[PodiumError], int], ...] = (
    (TooLargeError, 413),
    (BusyError, 503),
    (UnavailableError, 503),
    (UnexpectedError, 500),
    (UnknownError, 404),
    (ResultsError, 422),
    (ParameterError, 422),
    (NotFiniteError, 422),
    (StaleError, 412),
    (StoreError, 409),
)


def status_of(error: PodiumError) -> int:
    own = error.status if isinstance(error, AccessError) else 400
    return next((code for kind, code in STATUS_BY_ERROR if isinstance(error, kind)), own)


def error_responses(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": Problem, "content": {MEDIA_TYPE: {}}, "description": DESCRIPTIONS[code]} for code in codes}


READ_RESPONSES = error_responses(*READ_ERRORS)


def success_response(description: str, *media_types: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {media_type: {} for media_type in media_types}, "description": description}}


class ProblemResponse(JSONResponse):
    def __init__(self, content: Problem, headers: dict[str, str]) -> None:
        super().__init__(content.model_dump(exclude_none=True), content.status, headers, MEDIA_TYPE)
        self.problem = content


def problem(status: int, detail: str, field: str | None = None, retry_after_s: int | None = None) -> ProblemResponse:
    """Return an error response. Its title is the phrase for its status, as for `about:blank`."""
    title, request_id = HTTPStatus(status).phrase, current_request_id.get()
    content = Problem(title=title, status=status, detail=detail, field=field, request_id=request_id)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}  # noqa: PLR2004
    if retry_after_s is not None:
        headers["Retry-After"] = str(retry_after_s)
    return ProblemResponse(content, headers)


async def refused_body(_request: Request, error: RefusedError) -> ProblemResponse:
    return problem(422, str(error), error.field or None)


def note_damage(request: Request, error: BaseException | None) -> None:
    """If an error shows that the database is damaged, record it for `/readyz`."""
    while error is not None:
        if sqlite_code(getattr(error, "orig", error)).startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            request.app.state.is_damaged = True
        error = error.__cause__ or error.__context__


async def podium_error(request: Request, error: PodiumError) -> ProblemResponse:
    note_damage(request, error)
    field = error.faults[0].column if isinstance(error, ResultsError) and error.faults else None
    status = status_of(error)
    if isinstance(error, NearNameError):
        insist = f'"new": true next to it in JSON, or new={error.name} in the address'
        return problem(status, f"{error.what}. Write that name, or confirm that it is a newcomer: {insist}.", "player")
    passes = RETRY_AFTER_S if status == 503 else None  # noqa: PLR2004
    return problem(status, str(error), field, error.retry_after_s if isinstance(error, AccessError) else passes)


async def sender_left(_request: Request, _error: ClientDisconnect) -> ProblemResponse:
    """Respond to a request whose sender has left. This is not a failure of the service."""
    return problem(400, "The request ended before its body was complete. Send it again.")


async def unexpected_error(request: Request, error: Exception) -> ProblemResponse:
    """Respond to an unexpected error without revealing its message. The server logs it with its traceback."""
    note_damage(request, error)
    answer = problem(500, "the service failed to process this. The reason is in the service's log.")
    answer.headers[HEADER.decode()] = current_request_id.get() or ""  # this response bypasses all middleware
    return answer


async def http_error(_request: Request, error: HTTPException) -> ProblemResponse:
    """Respond to an error raised by the router."""
    answer = problem(error.status_code, str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


async def invalid_parameter(_request: Request, error: RequestValidationError) -> ProblemResponse:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"][1:])
    return problem(422, f"{field}: {first['msg']}", field)


ERROR_HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Any]] = {
    RefusedError: refused_body,
    PodiumError: podium_error,
    HTTPException: http_error,
    RequestValidationError: invalid_parameter,
    ClientDisconnect: sender_left,
    Exception: unexpected_error,
}
