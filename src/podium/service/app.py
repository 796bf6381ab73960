"""The service over a store: its routes, error handlers and metrics put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from anyio import CapacityLimiter
from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from podium import __version__
from podium.service.api import reads, status, streams, submit, writes
from podium.service.api.batching import Intake
from podium.service.api.board_cache import BoardCache
from podium.service.api.bodies import schemas
from podium.service.api.models import REQUEST_MODELS
from podium.service.daily import daily_ranks
from podium.service.http.access import KeyGuard
from podium.service.http.paths import PathMiddleware
from podium.service.http.problems import ERROR_HANDLERS, problem
from podium.service.metrics import Metrics, MetricsMiddleware
from podium.store import Store

ABOUT = """Results go in once, ratings come out, and each point has its reason.

Every request but `/healthz` takes a key, as `Authorization: Bearer KEY`. Errors are problem+json (RFC 9457) and name
the field. A result may be sent several times: its `event_id` counts once.
"""


def create_app(store: Store, *, daily: bool = False, close: bool = False) -> FastAPI:
    """Return the service over a store.

    Args:
        daily: store the ranks of 00:00 UTC every day.
        close: close the store when the service stops.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            async with daily_ranks(app, store) if daily else nullcontext():
                yield
        finally:
            if close:
                await run_in_threadpool(store.close)

    app = FastAPI(
        lifespan=lifespan,
        title="Podium",
        version=__version__,
        description=ABOUT,
        docs_url="/api/docs",
        redoc_url=None,
        openapi_url="/api/openapi.json",
        exception_handlers=ERROR_HANDLERS,
    )
    app.state.store = store
    app.state.key_guard = KeyGuard(store)
    app.state.intake = Intake(store)
    app.state.board_cache = BoardCache(store)
    app.state.metrics = Metrics()
    app.state.verifying = CapacityLimiter(2)  # processes that verify signatures, which anyone may send
    for module in (writes, reads, streams, status, submit):  # flat: FastAPI searches an included router slower
        app.router.routes.extend(module.router.routes)
    app.add_middleware(PathMiddleware, refusal=problem)
    app.add_middleware(MetricsMiddleware, metrics=app.state.metrics)
    add_request_models(app)
    return app


def add_request_models(app: FastAPI) -> None:
    """Add the models that routes read themselves to the OpenAPI document."""
    build_document = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            build_document()["components"]["schemas"].update(schemas(REQUEST_MODELS))  # the document is cached by now
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]
