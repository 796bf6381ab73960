"""Every error as RFC 9457 has it; none repeats what was sent."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from podium.errors import NotFiniteError, ParameterError, PodiumError, ResultsError, UnknownError
from podium.service.http.access import AccessError
from podium.service.http.strict_json import RefusedError
from podium.store.sql.database import StoreError

MEDIA = "application/problem+json"
TITLES = {
    400: "Bad request", 401: "No key", 403: "Not with this key", 404: "Not found", 405: "Not this way",
    409: "Conflict", 413: "Too large", 422: "Does not fit", 429: "Too often", 503: "Too busy",
}  # fmt: skip
WORDS = {
    401: "There is no key, or it opens nothing.",
    403: "The key does not open this.",
    404: "There is no such thing.",
    409: "It is known with other content, or cannot be done as things are.",
    413: "The body is too large.",
    422: "The request does not fit; the field is named.",
    429: "The key asks too often.",
    503: "Too much waits to be stored; nothing of this was.",
}
READING = (401, 403, 404, 422, 429)
WRITING = (*READING, 409, 413)


class Problem(BaseModel):
    """RFC 9457: what is wrong, where, and how to mend it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    field: str | None = None


class TooLargeError(PodiumError):
    """The body is too large."""


class BusyError(PodiumError):
    """Too much waits to be stored."""


STATUSES: tuple[tuple[type[PodiumError], int], ...] = (
    (TooLargeError, 413),
    (BusyError, 503),
    (UnknownError, 404),
    (ResultsError, 422),
    (ParameterError, 422),
    (NotFiniteError, 422),
    (StoreError, 409),
)


def answers(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI words for these errors."""
    return {code: {"model": Problem, "content": {MEDIA: {}}, "description": WORDS[code]} for code in codes}


def problem(status: int, detail: str, field: str | None = None, retry_after_s: int | None = None) -> JSONResponse:
    """An answer that names what is wrong."""
    told = Problem(title=TITLES.get(status, "Error"), status=status, detail=detail, field=field)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}  # noqa: PLR2004
    if retry_after_s is not None:
        headers["Retry-After"] = str(retry_after_s)
    return JSONResponse(told.model_dump(exclude_none=True), status, headers, MEDIA)


def add_errors(app: FastAPI) -> None:
    """Answer every error as a problem."""

    @app.exception_handler(RefusedError)
    async def refused(_request: Request, error: RefusedError) -> JSONResponse:
        return problem(422, str(error), error.field or None)

    @app.exception_handler(AccessError)
    async def not_open(_request: Request, error: AccessError) -> JSONResponse:
        return problem(error.status, str(error), retry_after_s=error.retry_after_s)

    @app.exception_handler(PodiumError)
    async def podium_error(_request: Request, error: PodiumError) -> JSONResponse:
        field = error.faults[0].column if isinstance(error, ResultsError) and error.faults else None
        status = next((code for kind, code in STATUSES if isinstance(error, kind)), 400)
        return problem(status, str(error), field, 1 if isinstance(error, BusyError) else None)

    @app.exception_handler(HTTPException)
    async def http_error(_request: Request, error: HTTPException) -> JSONResponse:
        answer = problem(error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(RequestValidationError)
    async def address_error(_request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        return problem(422, str(first["msg"]), ".".join(str(part) for part in first["loc"][1:]))
