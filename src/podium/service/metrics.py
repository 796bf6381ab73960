"""Metrics for Prometheus: requests, results, and how the service keeps up with them."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily

from podium.store.write.receipts import Receipt

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LONG_BUCKETS = (*BUCKETS, 30.0, 60.0, 300.0)


class PoolGauge:
    """A figure of each pool that is read when the metrics are."""

    def __init__(self, name: str, meaning: str, read: Callable[[], Mapping[str, float]]) -> None:
        self.name, self.meaning, self.read = name, meaning, read

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the figures."""
        family = GaugeMetricFamily(self.name, self.meaning, labels=["pool"])
        for pool, value in self.read().items():
            family.add_metric([pool], value)
        yield family


class Metrics:
    """Counters of one service."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "podium_requests", "Requests answered", ["method", "route", "status"], registry=registry
        )
        self.seconds = Histogram(
            "podium_request_seconds", "Time to the answer", ["method", "route"], buckets=BUCKETS, registry=registry
        )
        self.events = Counter("podium_events", "Events stored", ["pool", "status"], registry=registry)
        self.rerated = Counter(
            "podium_changes_rerated", "Changes of other events that a late event or a correction moved", ["pool"],
            registry=registry,
        )  # fmt: skip
        self.streams = Gauge("podium_streams", "Live streams that are open", registry=registry)
        self.lock_wait = Histogram(
            "podium_lock_wait_seconds", "Time that a writer waited for its turn", ["pool"],
            buckets=LONG_BUCKETS, registry=registry,
        )  # fmt: skip
        self.write = Histogram(
            "podium_write_seconds", "Time that a writer had a pool to itself: it logged, rated and committed", ["pool"],
            buckets=LONG_BUCKETS, registry=registry,
        )  # fmt: skip
        self.upkeep_failures = Counter(
            "podium_upkeep_failures", "What is done once a minute, and failed", ["task"], registry=registry
        )
        self.deliveries = Counter(
            "podium_webhook_deliveries", "Entries sent to webhooks", ["pool", "outcome"], registry=registry
        )

    def observe_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count and time a request."""
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def observe_write(self, pool: str, waited_s: float, held_s: float) -> None:
        """Time a transaction that wrote to a pool."""
        self.lock_wait.labels(pool).observe(waited_s)
        self.write.labels(pool).observe(held_s)

    def count_receipts(self, pool: str, receipts: Sequence[Receipt]) -> None:
        """Count what became of events that were sent."""
        for each in receipts:
            self.events.labels(pool, "duplicate" if each.duplicate else each.status).inc()
        self.rerated.labels(pool).inc(max((each.rerated for each in receipts), default=0))

    def add_gauge(self, name: str, meaning: str, read: Callable[[], Mapping[str, float]]) -> None:
        """Add a figure of each pool that is read when the metrics are."""
        self.registry.register(PoolGauge(name, meaning, read))

    def text(self) -> bytes:
        """Return all of them in the text format of Prometheus."""
        return generate_latest(self.registry)
