"""Metrics for Prometheus about requests, results and the speed of the service.

If `podium serve` has several workers, `PROMETHEUS_MULTIPROC_DIR` names a folder that they share. Each worker then
returns the sums over all workers.
"""

import asyncio
import collections
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from podium.service.http.requests import in_background
from podium.store.writing.receipts import Receipt
from podium.support.part_files import in_use

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LONG_BUCKETS = (*BUCKETS, 30.0, 60.0, 300.0)
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # the library reads this variable when it is loaded
SHARE_S = 1.0  # time between updates of a worker's figures


class PartGauge:
    """A figure for each pool, which is read with the metrics. Each worker contributes a part of it."""

    def __init__(self, gauge: Gauge, read: Callable[[], Mapping[str, float]]) -> None:
        self.gauge, self.read = gauge, read
        self._pools: set[str] = set()  # pools that already have a part

    def store(self) -> None:
        figures = self.read()
        self._pools.update(figures)
        for pool in self._pools:
            self.gauge.labels(pool).set(figures.get(pool, 0.0))


class Metrics:
    def __init__(self) -> None:
        self.folder = os.environ.get(SHARED_FOLDER)  # None if there are no other workers
        self._parts: list[PartGauge] = []
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "podium_requests", "Requests answered", ["method", "route", "status"], registry=registry
        )
        self.seconds = Histogram(
            "podium_request_seconds", "Time to the response", ["method", "route"], buckets=BUCKETS, registry=registry
        )
        self.events = Counter("podium_events", "Events stored", ["pool", "status"], registry=registry)
        self.rerated = Counter(
            "podium_changes_rerated", "Changes recalculated after a late event or a correction", ["pool"],
            registry=registry,
        )  # fmt: skip
        self.streams = Gauge(
            "podium_streams", "Number of open live streams", registry=registry, multiprocess_mode="livesum"
        )
        self.lock_wait = Histogram(
            "podium_lock_wait_seconds", "Time that writers waited for their turn", ["pool"],
            buckets=LONG_BUCKETS, registry=registry,
        )  # fmt: skip
        self.write = Histogram(
            "podium_write_seconds", "Time for which writers locked a pool to log, rate and commit", ["pool"],
            buckets=LONG_BUCKETS, registry=registry,
        )  # fmt: skip
        self.upkeep_failures = Counter("podium_upkeep_failures", "Failed background tasks", ["task"], registry=registry)
        self.deliveries = Counter(
            "podium_webhook_deliveries", "Entries sent to webhooks", ["pool", "outcome"], registry=registry
        )

    def observe_request(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)

    def observe_write(self, pool: str, waited_s: float, held_s: float) -> None:
        self.lock_wait.labels(pool).observe(waited_s)
        self.write.labels(pool).observe(held_s)

    def count_receipts(self, pool: str, receipts: Sequence[Receipt]) -> None:
        counts = collections.Counter("duplicate" if receipt.duplicate else receipt.status for receipt in receipts)
        for outcome, count in counts.items():
            self.events.labels(pool, outcome).inc(count)
        self.rerated.labels(pool).inc(max((receipt.rerated for receipt in receipts), default=0))

    def add_part(
        self,
        name: str,
        meaning: str,
        read: Callable[[], Mapping[str, float]],
        mode: Literal["livesum", "liveall"] = "livesum",
    ) -> None:
        """Add a figure for each pool. Each worker contributes a part, and parts are added up or listed by process."""
        gauge = Gauge(name, meaning, ["pool"], registry=self.registry, multiprocess_mode=mode)
        self._parts.append(PartGauge(gauge, read))

    @asynccontextmanager
    async def sharing(self) -> AsyncIterator[None]:
        """Share this worker's parts with other workers while the service runs."""
        if self.folder is None:
            yield
            return
        forget_dead_workers(Path(self.folder))
        try:
            with in_use(Path(self.folder)):
                async with in_background(self._share()):
                    yield
        finally:
            mark_process_dead(os.getpid(), self.folder)  # type: ignore[no-untyped-call]

    async def _share(self) -> None:
        while True:
            self._store_parts()
            await asyncio.sleep(SHARE_S)

    def _store_parts(self) -> None:
        for part in self._parts:
            part.store()

    def text(self) -> bytes:
        self._store_parts()
        if self.folder is None:
            return generate_latest(self.registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry, self.folder)  # type: ignore[no-untyped-call]
        return generate_latest(registry)


def forget_dead_workers(folder: Path) -> None:
    """Remove the current figures of killed workers. Their counters stay."""
    for file in folder.glob("gauge_live*_*.db"):
        number = int(file.stem.rpartition("_")[2])
        if not is_alive(number):
            mark_process_dead(number, str(folder))  # type: ignore[no-untyped-call]


def is_alive(process: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # the process belongs to another user
        return True
    return True
