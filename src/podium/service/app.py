"""The service over a store: its routes, error handlers and metrics put together."""

from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI, Response

from podium import __version__
from podium.service.api.bodies import schemas
from podium.service.api.models import REQUEST_MODELS
from podium.service.api.reads import add_reads
from podium.service.api.streams import add_streams
from podium.service.api.writes import add_writes
from podium.service.daily import daily_ranks
from podium.service.http.access import KeyGuard, require_role
from podium.service.http.paths import PathMiddleware
from podium.service.http.problems import ERROR_HANDLERS, READ_ERRORS, error_responses, problem
from podium.service.metrics import Metrics, MetricsMiddleware
from podium.store import Store
from podium.store.sql.database import only_reading

ABOUT = """Results go in once, ratings come out, and each point has its reason.

Every request but `/healthz` takes a key, as `Authorization: Bearer KEY`. Errors are problem+json (RFC 9457) and name
the field. A result may be sent several times: its `event_id` counts once.
"""


def create_app(store: Store, *, daily: bool = False) -> FastAPI:
    """Return the service over a store, which it does not close.

    Args:
        daily: store the ranks of 00:00 UTC every day.
    """
    app = FastAPI(
        lifespan=(lambda app: daily_ranks(app, store)) if daily else None,
        title="Podium",
        version=__version__,
        description=ABOUT,
        docs_url="/api/docs",
        redoc_url=None,
        openapi_url="/api/openapi.json",
        exception_handlers=ERROR_HANDLERS,
    )
    metrics = app.state.metrics = Metrics()
    app.state.key_guard = KeyGuard(store)
    add_writes(app, store, metrics)
    add_reads(app, store)
    add_streams(app, store, metrics)
    add_service(app, store, metrics)
    app.add_middleware(PathMiddleware, refusal=problem)
    app.add_middleware(MetricsMiddleware, metrics=metrics)
    describe(app)
    return app


def add_service(app: FastAPI, store: Store, metrics: Metrics) -> None:
    """The routes about the service itself."""

    @app.get("/healthz", tags=["service"])
    def healthz() -> dict[str, str]:
        """Whether the service and its database answer."""
        with only_reading(store.engine).connect() as connection:
            connection.execute(sa.text("SELECT 1"))
        return {"status": "ok"}

    @app.get("/metrics", tags=["service"], response_class=Response, responses=error_responses(*READ_ERRORS) | {
        200: {"content": {"text/plain": {}}, "description": "The text format of Prometheus."}})  # fmt: skip
    def prometheus_metrics(_key: str = require_role("read")) -> Response:
        """Counters of requests, results and changes; takes a key to all pools."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def describe(app: FastAPI) -> None:
    """Add the models that routes read themselves to the OpenAPI document."""
    build_document = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            build_document()["components"]["schemas"].update(schemas(REQUEST_MODELS))  # the document is cached by now
        return app.openapi_schema or {}

    app.openapi = openapi  # type: ignore[method-assign]
