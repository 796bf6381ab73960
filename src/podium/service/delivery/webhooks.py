"""Webhooks: each entry of a pool's log is sent until its receiver takes it, in order, at least once."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, NamedTuple

from anyio import CapacityLimiter

from podium.errors import PodiumError
from podium.service.delivery.posting import DeliveryError, post, signed_headers
from podium.service.http.background import in_background
from podium.service.http.threads import run_in
from podium.service.metrics import Metrics
from podium.store import Store
from podium.store.sql.turns import Turn
from podium.store.webhooks import Webhook, list_webhooks, store_progress

LOGGER = logging.getLogger(__name__)
CHECK_INTERVAL_S = 1.0
ENTRIES = 100  # of a turn, after which the progress is stored
RETRY_S = (5.0, 30.0, 120.0, 600.0, 3600.0)  # after the first failure, the second, …; the last from then on
GIVE_UP_AFTER = timedelta(days=5)
PARALLEL_DELIVERIES = 4


class Failures(NamedTuple):
    """How often a webhook failed, and when to try again, by the monotonic clock."""

    in_a_row: int
    retry_at: float


class Webhooks:
    """Sends what happens to the webhooks of all pools; goes on after a restart where each had come to.

    Of several processes that serve a database the one whose turn it is sends.
    """

    def __init__(self, store: Store, metrics: Metrics, turn: Turn, *, allow_private: bool) -> None:
        self._store, self._metrics, self._turn, self._allow_private = store, metrics, turn, allow_private
        self._threads = CapacityLimiter(PARALLEL_DELIVERIES)
        self._failures: dict[int, Failures] = {}
        self._under_way: dict[int, asyncio.Task[None]] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send while the service runs."""
        async with in_background(self._run()):
            try:
                yield
            finally:
                for each in self._under_way.values():
                    each.cancel()

    async def _run(self) -> None:
        while True:
            try:
                has_turn = await run_in(self._threads, self._turn.take)
                under_way = {*self._under_way}  # before the look, which may miss what these deliver meanwhile
                for each in await run_in(self._threads, list_webhooks, self._store.engine) if has_turn else ():
                    if each.id not in under_way and self.is_due(each):
                        self._under_way[each.id] = asyncio.create_task(self._deliver(each))
            except Exception as error:  # noqa: BLE001  (as of a database that is away: the next look finds them)
                LOGGER.warning("webhooks could not be looked up: %s", error)
            await asyncio.sleep(CHECK_INTERVAL_S)

    def is_due(self, webhook: Webhook) -> bool:
        """Whether to send to a webhook now."""
        failures = self._failures.get(webhook.id)
        waits = failures is not None and time.monotonic() < failures.retry_at
        return not (webhook.stopped or waits)

    async def _deliver(self, webhook: Webhook) -> None:
        try:
            await run_in(self._threads, self.deliver, webhook)
        except PodiumError as error:
            LOGGER.warning("webhook %d: %s", webhook.id, error)
        except Exception:
            LOGGER.exception("webhook %d could not be served", webhook.id)
        finally:
            del self._under_way[webhook.id]

    def deliver(self, webhook: Webhook) -> None:
        """Send the entries that a webhook does not have yet, until there are none, or one is not taken.

        Raises:
            UnavailableError: the database cannot serve at the moment.
        """
        delivered = webhook.delivered_seq
        for entry in self._store.news(webhook.pool, delivered, ENTRIES):
            try:
                send(webhook, entry, allow_private=self._allow_private)
            except DeliveryError as error:
                self._note_failure(webhook, delivered, error)
                return
            delivered = entry["seq"]
            self._metrics.deliveries.labels(webhook.pool, "taken").inc()
        if delivered > webhook.delivered_seq:
            self._failures.pop(webhook.id, None)
            store_progress(self._store.engine, webhook.id, delivered)

    def _note_failure(self, webhook: Webhook, delivered: int, error: DeliveryError) -> None:
        """Store that a webhook failed, and wait before the next try; give up after days."""
        self._metrics.deliveries.labels(webhook.pool, "failed").inc()
        now = datetime.now(UTC)
        is_first = webhook.failing_since is None or delivered > webhook.delivered_seq
        since = now if is_first else datetime.fromisoformat(webhook.failing_since or "")
        in_a_row = 1 if is_first else self._failures.get(webhook.id, Failures(0, 0.0)).in_a_row + 1
        wait_s = RETRY_S[min(in_a_row, len(RETRY_S)) - 1]
        self._failures[webhook.id] = Failures(in_a_row, time.monotonic() + wait_s)
        gives_up = isinstance(error, GoneError) or now - since > GIVE_UP_AFTER
        sequel = "it is stopped; podium webhook resume starts it again" if gives_up else f"next try in {wait_s:g} s"
        LOGGER.warning("webhook %d of pool %s: %s; %s", webhook.id, webhook.pool, error, sequel)
        store_progress(
            self._store.engine, webhook.id, delivered,
            error=str(error), failing_since=since.isoformat(timespec="seconds"), stopped=gives_up,
        )  # fmt: skip


class GoneError(DeliveryError):
    """The receiver wants no more."""


def send(webhook: Webhook, entry: dict[str, Any], *, allow_private: bool) -> None:
    """Send an entry of the log to a webhook: what its stream says of it, and the pool.

    Raises:
        DeliveryError: it was not taken.
        GoneError: the receiver wants no more.
    """
    body = json.dumps({"pool": webhook.pool} | entry, ensure_ascii=False).encode()
    headers = signed_headers(webhook.secret, f"podium-{webhook.id}-{entry['seq']}", int(time.time()), body)
    status = post(webhook.url, body, headers, allow_private=allow_private)
    if status == HTTPStatus.GONE:
        raise GoneError("the receiver answered 410: it wants no more")
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        raise DeliveryError(f"the receiver answered {status}")
