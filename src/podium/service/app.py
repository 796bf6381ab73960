"""The service over a store: its routes, errors and counters put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI, Response
from fastapi.concurrency import run_in_threadpool

from podium import __version__
from podium.service.api.bodies import schemas
from podium.service.api.reads import add_reads
from podium.service.api.streams import add_streams
from podium.service.api.writes import add_writes
from podium.service.daily import keeping_days
from podium.service.http.access import KeyGuard, require_role
from podium.service.http.paths import PathMiddleware
from podium.service.http.problems import READING, add_errors, answers, problem
from podium.service.metrics import Metrics, MetricsMiddleware
from podium.store import Store
from podium.store.sql.database import read_transaction

ABOUT = """Results go in once, ratings come out, and each point has its reason.

Every request but `/healthz` takes a key, as `Authorization: Bearer KEY`. Errors are problem+json (RFC 9457) and name
the field. A result may be sent again and again: its `event_id` counts once.
"""


def create_app(store: Store, *, daily: bool = False, close: bool = False) -> FastAPI:
    """The service over a store.

    Args:
        daily: keep the ranks of 00:00 UTC every day.
        close: close the store when the service stops.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            async with keeping_days(app, store) if daily else nullcontext():
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
    )
    metrics = app.state.metrics = Metrics()
    app.state.doorkeeper = KeyGuard(store)
    add_errors(app)
    add_writes(app, store, metrics)
    add_reads(app, store)
    add_streams(app, store, metrics)
    add_service(app, store, metrics)
    app.add_middleware(PathMiddleware, refusal=problem)
    app.add_middleware(MetricsMiddleware, metrics=metrics)
    describe(app)
    return app


def add_service(app: FastAPI, store: Store, metrics: Metrics) -> None:
    """How the service itself is."""

    @app.get("/healthz", tags=["service"])
    def healthz() -> dict[str, str]:
        """Whether the service and its database answer."""
        with read_transaction(store.engine) as connection:
            connection.execute(sa.text("SELECT 1"))
        return {"status": "ok"}

    @app.get("/metrics", tags=["service"], response_class=Response, responses=answers(*READING) | {
        200: {"content": {"text/plain": {}}, "description": "As Prometheus reads them."}})  # fmt: skip
    def told_metrics(_key: str = require_role("read")) -> Response:
        """Counters of requests, results and changes; takes a key to all pools."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def describe(app: FastAPI) -> None:
    """Put the models that routes read themselves into the OpenAPI document."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            plain()["components"]["schemas"].update(schemas())  # the document is kept by now
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]
