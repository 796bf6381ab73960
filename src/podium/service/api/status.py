"""The routes about the service itself: its health and its metrics."""

import sqlalchemy as sa
from fastapi import APIRouter, Response

from podium.service.api.dependencies import CurrentMetrics, CurrentStore, Reader
from podium.service.http.problems import READ_ERRORS, error_responses
from podium.store.sql.database import read_transaction

router = APIRouter(tags=["service"])


@router.get("/healthz", responses=error_responses(500, 503))
def healthz(store: CurrentStore) -> dict[str, str]:
    """Whether the service and its database answer."""
    with read_transaction(store.engine) as connection:
        connection.execute(sa.text("SELECT 1"))
    return {"status": "ok"}


@router.get(
    "/metrics",
    response_class=Response,
    responses=error_responses(*READ_ERRORS)
    | {200: {"content": {"text/plain": {}}, "description": "The text format of Prometheus."}},
)
def prometheus_metrics(metrics: CurrentMetrics, _key: Reader) -> Response:
    """Counters of requests, results and changes; takes a key to all pools."""
    return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
