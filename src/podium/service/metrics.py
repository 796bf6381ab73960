"""Metrics for Prometheus: requests by route, events stored, changes rated again, and times to the answer."""

import time
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Counters of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "podium_requests", "Requests answered", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "podium_request_seconds", "Time to the answer", ["method", "route"], buckets=BUCKETS, registry=self.registry
        )
        self.events = Counter("podium_events", "Events stored", ["pool", "status"], registry=self.registry)
        self.rerated = Counter(
            "podium_changes_rerated", "Changes of other events that a late event or a correction moved", ["pool"],
            registry=self.registry,
        )  # fmt: skip
        self.streams = Gauge("podium_streams", "Live streams that are open", registry=self.registry)

    def text(self) -> bytes:
        """Return all of them in the text format of Prometheus."""
        return generate_latest(self.registry)


class MetricsMiddleware:
    """Middleware that counts and times requests by their route."""

    def __init__(self, app: Any, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def send_and_note(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self.metrics.requests.labels(scope["method"], route, str(status)).inc()
            self.metrics.seconds.labels(scope["method"], route).observe(time.perf_counter() - started)
