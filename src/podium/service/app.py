"""The routes: each checks its key, takes or reads in one transaction, and answers in JSON."""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import sqlalchemy as sa
from fastapi import Depends, FastAPI, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, TypeAdapter, ValidationError
from starlette.exceptions import HTTPException

from podium import __version__, systems
from podium.errors import ParameterError, PodiumError, ResultsError, UnknownError
from podium.service.addresses import SlashesInNames, name_of, refuse_odd
from podium.service.models import Batch, Change, Event, Merge, NewPool, Problem, Receipt
from podium.service.strict import RefusedError, loads, shown
from podium.store import Store
from podium.store.database import StoreError, only_reading
from podium.store.keys import found_key
from podium.store.submission import ConflictError
from podium.store.submission import Receipt as Taken

LARGEST_BODY = 4_000_000
PROBLEM = "application/problem+json"
ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "content": {PROBLEM: {}}, "description": words}
    for code, words in (
        (400, "The request cannot be read."),
        (401, "There is no key, or it opens nothing."),
        (403, "The key does not open this."),
        (404, "There is no such thing."),
        (409, "It is known with other content."),
        (413, "The body is too large."),
        (422, "The body does not fit; the field is named."),
    )
}
Body = TypeVar("Body")
Pool = Annotated[str, Path(min_length=1, max_length=200), AfterValidator(name_of)]
EventId = Annotated[str, Path(min_length=1, max_length=200), AfterValidator(name_of)]
Player = Annotated[str, Path(min_length=1, max_length=200), AfterValidator(name_of)]


class AccessError(PodiumError):
    """The key does not open this."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class TooLargeError(PodiumError):
    """The body is too large."""


def create_app(store: Store) -> FastAPI:
    """The service over a store, which it does not close."""
    app = FastAPI(
        title="Podium", version=__version__, docs_url="/api/docs", redoc_url=None, openapi_url="/api/openapi.json"
    )
    app.state.store = store
    add_errors(app)
    add_events(app, store)
    add_reads(app, store)

    @app.get("/healthz", tags=["service"])
    def healthz() -> dict[str, str]:
        """Whether the service and its database answer."""
        with only_reading(store.engine).connect() as connection:
            connection.execute(sa.text("SELECT 1"))
        return {"status": "ok"}

    return app


def needs(store: Store, role: str) -> Any:
    """A dependency: a key that opens the pool of the route for a role."""

    def opens(request: Request) -> str:
        words = request.headers.get("authorization", "").split()
        bearer = len(words) == 2 and words[0].lower() == "bearer"  # noqa: PLR2004  (the word, and the key)
        pool = name_of(request.path_params["pool"]) if "pool" in request.path_params else None
        with only_reading(store.engine).connect() as connection:
            key = found_key(connection, words[1]) if bearer else None
        if key is None:
            raise AccessError(401, "send a key that is in use, as Authorization: Bearer KEY")
        if not key.may(role, pool):
            raise AccessError(
                403, f"the key does not open this: it takes one to {role}" + (f" in pool {pool}" if pool else "")
            )
        return key.name

    return Depends(opens)


async def value_of(request: Request) -> Any:
    """The value of the body, read strictly.

    Raises:
        TooLargeError: it is too large.
        RefusedError: it is no JSON, or not plain.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_BODY:
            raise TooLargeError(f"the body is larger than {LARGEST_BODY:,} bytes; send fewer events at once")
        parts.append(part)
    return loads(b"".join(parts))


def fitted(value: Any, kind: type[Body]) -> Body:
    """The value as the service takes it.

    Raises:
        RefusedError: it does not fit; the field is named.
    """
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        named = "".join(f"[{part}]" if isinstance(part, int) else f".{shown(part)}" for part in first["loc"])
        raise RefusedError(named.lstrip("."), first["msg"]) from None


def takes(kind: Any) -> dict[str, Any]:
    """The OpenAPI words for a body that the route reads itself."""
    schema = TypeAdapter(kind).json_schema(ref_template="#/components/schemas/{model}")
    schema.pop("$defs", None)
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def add_events(app: FastAPI, store: Store) -> None:
    """The routes that write."""

    @app.post("/api/v1/pools", status_code=201, responses=ERRORS, tags=["pools"], openapi_extra=takes(NewPool))
    async def create_pool(request: Request, _key: str = needs(store, "admin")) -> dict[str, str]:
        """Open a ladder."""
        told = fitted(await value_of(request), NewPool)
        made = systems.find(told.system).from_text(told.parameters)
        await run_in_threadpool(store.create_pool, told.name, made)
        return {"name": told.name, "system": made.name}

    @app.post("/api/v1/pools/{pool}/events", status_code=201, responses=ERRORS | {200: {"model": list[Receipt]}},
              tags=["events"], openapi_extra=takes(Event | Batch))  # fmt: skip
    async def submit(
        request: Request, response: Response, pool: Pool, key: str = needs(store, "write")
    ) -> list[Receipt]:
        """Submit one event, or several that are taken together; the same again is answered with 200."""
        value = await value_of(request)
        several = isinstance(value, dict) and "events" in value
        events = fitted(value, Batch).events if several else [fitted(value, Event)]
        rows = [row for each in events for row in each.rows()]
        found = await run_in_threadpool(
            store.submit, pool, rows, actor=key
        )  # never on the event loop: others wait there
        if all(each.duplicate for each in found):
            response.status_code = 200
        return [given(each) for each in found]

    @app.put("/api/v1/pools/{pool}/events/{event_id}", responses=ERRORS, tags=["events"], openapi_extra=takes(Event))
    async def amend(request: Request, pool: Pool, event_id: EventId, key: str = needs(store, "admin")) -> Receipt:
        """Correct an event; every rating becomes what it would have been."""
        told = fitted(await value_of(request), Event)
        if told.event_id != event_id:
            raise RefusedError("event_id", "is not the event of the address")
        return given(await run_in_threadpool(store.amend, pool, told.rows(), actor=key))

    def marking(what: str, act: Callable[..., Taken]) -> None:
        @app.post(f"/api/v1/pools/{{pool}}/events/{{event_id}}/{what}", responses=ERRORS, tags=["events"], name=what)
        def mark(pool: Pool, event_id: EventId, key: str = needs(store, "admin")) -> Receipt:
            return given(act(pool, event_id, actor=key))

    marking("void", store.void)
    marking("restore", store.restore)

    @app.post("/api/v1/pools/{pool}/merge", responses=ERRORS, tags=["players"], openapi_extra=takes(Merge))
    async def merge(request: Request, pool: Pool, key: str = needs(store, "admin")) -> dict[str, int]:
        """Let one player's results be another's."""
        told = fitted(await value_of(request), Merge)
        return {"rerated": await run_in_threadpool(store.merge, pool, told.player, told.into, actor=key)}


def add_reads(app: FastAPI, store: Store) -> None:
    """The routes that read."""

    @app.get("/api/v1/pools", responses=ERRORS, tags=["pools"])
    def pools(_key: str = needs(store, "read")) -> list[dict[str, str]]:
        """Every ladder."""
        return [{"name": each.name, "system": each.system.name} for each in store.pools()]

    @app.get("/api/v1/pools/{pool}/leaderboard", responses=ERRORS, tags=["players"])
    def leaderboard(
        pool: Pool,
        top: Annotated[int, Query(ge=1, le=1000)] = 100,
        cursor: Annotated[str | None, Query(max_length=100)] = None,
        _key: str = needs(store, "read"),
    ) -> dict[str, Any]:
        """A page of the leaderboard, and the cursor of the next."""
        board = store.leaderboard(pool, top=top, after=None if cursor is None else place(cursor))
        following = board[-1]["cursor"] if len(board) == top else None
        return {"players": [{key: row[key] for key in row if key != "cursor"} for row in board], "next": following}

    @app.get("/api/v1/pools/{pool}/players/{player}", responses=ERRORS, tags=["players"])
    def player(pool: Pool, player: Player, _key: str = needs(store, "read")) -> dict[str, Any]:
        """A player's rank and history, newest first."""
        return store.rank(pool, player) | {"history": store.career(pool, player)}

    @app.get("/api/v1/pools/{pool}/events/{event_id}/players/{player}", responses=ERRORS, tags=["players"])
    def explanation(pool: Pool, event_id: EventId, player: Player, _key: str = needs(store, "read")) -> dict[str, Any]:
        """Why a player's rating moved in an event."""
        told = store.explain(pool, event_id, player)
        figures = {"rating_before": told.rating_before, "delta": told.delta, "words": told.words}
        return {"event_id": event_id, "player": player} | figures | {"reasons": told.rows.to_dicts()}


def place(cursor: str) -> tuple[float, int]:
    """What a cursor says.

    Raises:
        RefusedError: it is none.
    """
    rating, _, number = cursor.partition(",")
    try:
        told = float(rating), int(number)
    except ValueError:
        raise RefusedError("cursor", "is not one that a page gave") from None
    if not abs(told[0]) < 1e300 or abs(told[1]) >= 2**63:  # noqa: PLR2004  (what a database holds)
        raise RefusedError("cursor", "is not one that a page gave")
    return told


def given(told: Taken) -> Receipt:
    """A receipt as the service gives it."""
    return Receipt(
        event_id=told.event_id,
        seq=told.seq,
        status=told.status,  # type: ignore[arg-type]
        reason=told.reason,
        duplicate=told.duplicate,
        changes=[Change(**each._asdict()) for each in told.changes],
        rerated=told.rerated,
    )


def add_errors(app: FastAPI) -> None:
    """Every error as RFC 9457 has it; none repeats what was sent."""

    @app.middleware("http")
    async def addressed(request: Request, call_next: Any) -> Response:
        try:
            for text in [request.scope["path"], *request.query_params.values()]:
                refuse_odd(text)
        except RefusedError as error:
            return problem(422, str(error), None)
        answer: Response = await call_next(request)
        return answer

    app.add_middleware(SlashesInNames)

    @app.exception_handler(RefusedError)
    async def refused(_request: Request, error: RefusedError) -> JSONResponse:
        return problem(422, str(error), error.field or None)

    @app.exception_handler(PodiumError)
    async def podium_error(_request: Request, error: PodiumError) -> JSONResponse:
        field = None
        if isinstance(error, ResultsError):
            field = error.faults[0].column if error.faults else None
        return problem(status_of(error), str(error), field)

    @app.exception_handler(HTTPException)
    async def http_error(_request: Request, error: HTTPException) -> JSONResponse:
        return problem(error.status_code, str(error.detail), None)

    @app.exception_handler(RequestValidationError)
    async def address_error(_request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        return problem(422, str(first["msg"]), ".".join(str(part) for part in first["loc"][1:]))


def status_of(error: PodiumError) -> int:
    """The status that an error is answered with."""
    if isinstance(error, AccessError):
        return error.status
    known: tuple[tuple[type[PodiumError], int], ...] = (
        (TooLargeError, 413), (ConflictError, 409), (UnknownError, 404),
        (ResultsError, 422), (ParameterError, 422), (StoreError, 409),
    )  # fmt: skip
    return next((code for kind, code in known if isinstance(error, kind)), 400)


def problem(status: int, detail: str, field: str | None) -> JSONResponse:
    """An answer that names what is wrong."""
    titles = {400: "Bad request", 401: "No key", 403: "Not with this key", 404: "Not found", 405: "Not this way",
              409: "Conflict", 413: "Too large", 422: "Does not fit"}  # fmt: skip
    told = Problem(title=titles.get(status, "Error"), status=status, detail=detail, field=field)
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None  # noqa: PLR2004
    return JSONResponse(told.model_dump(exclude_none=True), status, headers, PROBLEM)
