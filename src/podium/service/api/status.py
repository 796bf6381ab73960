"""The routes about the service itself: what it is, its health, whether it can serve, its metrics and its documents."""

import asyncio

import sqlalchemy as sa
from anyio import to_thread
from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from podium.service.api.dependencies import CurrentMetrics, CurrentWatchers, ReadAccess
from podium.service.http.errors import READ_ERRORS, error_responses, success_response
from podium.service.http.openapi import CONTENT_SECURITY_POLICY, reference_page
from podium.service.http.threads import CurrentStore, CurrentThreads, run_in
from podium.store import Store
from podium.store.sql.database import UnavailableError, read_transaction

READY_TIMEOUT_S = 2.0
PAGE_HEADERS = {"Content-Security-Policy": CONTENT_SECURITY_POLICY, "X-Content-Type-Options": "nosniff"}
router = APIRouter(tags=["service"])


@router.get("/healthz", responses=error_responses(500))
async def healthz() -> dict[str, str]:
    """Whether the process answers; it asks nothing of the database."""
    return {"status": "ok"}


@router.get("/readyz", responses=error_responses(500, 503))
async def readyz(store: CurrentStore, threads: CurrentThreads, watchers: CurrentWatchers) -> dict[str, str]:
    """Whether the service can serve: its database answers within two seconds, and it is not about to stop."""
    if watchers.is_closed:
        raise UnavailableError("the service stops")
    try:
        async with asyncio.timeout(READY_TIMEOUT_S):
            await to_thread.run_sync(query_pools, store, limiter=threads.probing, abandon_on_cancel=True)
    except TimeoutError:
        raise UnavailableError(f"the database does not answer within {READY_TIMEOUT_S:g} s") from None
    return {"status": "ready"}


def query_pools(store: Store) -> None:
    """Read from the database.

    Raises:
        UnavailableError: it cannot serve at the moment.
    """
    with read_transaction(store.engine) as connection:
        connection.execute(sa.text("SELECT id FROM pool LIMIT 1")).all()


@router.get(
    "/metrics",
    response_class=Response,
    responses=error_responses(*READ_ERRORS) | success_response("The text format of Prometheus.", "text/plain"),
)
async def prometheus_metrics(metrics: CurrentMetrics, threads: CurrentThreads, _key: ReadAccess) -> Response:
    """Counters of requests, results and changes; takes a key to all pools."""
    text = await run_in(threads.probing, metrics.text)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


@router.get("/api/docs", include_in_schema=False)
async def reference(request: Request) -> Response:
    """The reference of the API, from its OpenAPI document."""
    return HTMLResponse(reference_page(request.app.openapi()), headers=PAGE_HEADERS)


for path, answer in (("/healthz", healthz), ("/readyz", readyz), ("/api/docs", reference)):
    router.add_api_route(path, answer, methods=["HEAD"], include_in_schema=False)
