"""Webhooks: each entry of a pool's log is sent until its receiver takes it, in order, at least once."""

import asyncio
import json
import logging
import secrets
import socket
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from http import HTTPStatus
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

import h11
from anyio import CapacityLimiter, to_thread

from podium import __version__
from podium.client.webhooks import sign
from podium.errors import ParameterError, PodiumError
from podium.log.database import UpkeepLock
from podium.service.http.requests import in_background, run_in
from podium.service.metrics import Metrics
from podium.store import Store
from podium.store.keys import Webhook, list_webhooks, store_progress, store_under_way

EXCHANGE_S = 10.0  # of a whole delivery: the name's look-up, the connection and the answer
CHUNK = 65_536  # bytes that are read at a time
LOOK_UPS = CapacityLimiter(16)  # a name's look-up cannot be interrupted
PROTOCOL_ADDRESSES = IPv4Network("192.0.0.0/24")
UNICAST = IPv6Network("2000::/3")  # all else is local, or stands for another address


class DeliveryError(PodiumError):
    """What was sent did not arrive, or was not taken."""


async def post(url: str, body: bytes, headers: dict[str, str], *, allow_private: bool) -> int:
    """Send a body, follow no redirection, and return the status of the answer.

    Raises:
        DeliveryError: it could not be sent, or there was no answer in time.
    """
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(EXCHANGE_S):
            found = await to_thread.run_sync(look_up, parts, abandon_on_cancel=True, limiter=LOOK_UPS)
            return await exchange(parts, permitted(found, allow_private=allow_private), body, headers)
    except TimeoutError:
        raise DeliveryError(f"no answer within {EXCHANGE_S:g} s") from None
    except (OSError, UnicodeError, h11.ProtocolError) as error:
        raise DeliveryError(f"{type(error).__name__}: {error}") from None


async def exchange(parts: SplitResult, address: str, body: bytes, headers: dict[str, str]) -> int:
    """Send a body to an address, whatever the name stands for by now; a certificate must be for the name."""
    tls, name = (tls_context(), parts.hostname) if parts.scheme == "https" else (None, None)
    reader, writer = await asyncio.open_connection(address, port_of(parts), ssl=tls, server_hostname=name)
    try:
        sent = {"Host": parts.netloc, "User-Agent": f"podium/{__version__}", "Content-Length": str(len(body))} | headers
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = h11.Connection(h11.CLIENT)
        for each in (
            h11.Request(method="POST", target=target, headers=[*sent.items(), ("Connection", "close")]),
            h11.Data(body),
            h11.EndOfMessage(),
        ):
            writer.write(connection.send(each) or b"")
        await writer.drain()
        while not isinstance(answer := connection.next_event(), h11.Response):
            if answer is h11.NEED_DATA:
                connection.receive_data(await reader.read(CHUNK))
        return answer.status_code
    finally:
        writer.transport.abort()


@cache
def tls_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def port_of(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def look_up(parts: SplitResult) -> list[str]:
    found = socket.getaddrinfo(parts.hostname, port_of(parts), type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]


def permitted(addresses: list[str], *, allow_private: bool) -> str:
    """Return the first of a name's addresses that may be sent to."""
    for each in addresses:
        if allow_private or is_public(ip_address(each)):
            return each
    raise DeliveryError(f"{addresses[0]} is not a public address; podium webhook create --private sends to it")


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address is one that anybody can reach, and stands for no other."""
    if isinstance(address, IPv6Address):
        fits = address in UNICAST and not (address.sixtofour or address.teredo)
    else:
        fits = address not in PROTOCOL_ADDRESSES
    return fits and address.is_global and not address.is_multicast


def is_found(url: str, *, allow_private: bool) -> bool:
    """Whether a URL's name resolves today."""
    try:
        permitted(look_up(urlsplit(url)), allow_private=allow_private)
    except DeliveryError as error:
        raise ParameterError(str(error)) from None
    except OSError:
        return False
    return True


LOGGER = logging.getLogger(__name__)
CHECK_INTERVAL_S = 1.0
ENTRIES = 50  # that are read at a time
TURN_S = 5.0  # after which a turn sends no further entry, and its progress is stored
LONG_S = 2.0  # from when on a delivery is shown to be under way
RETRY_S = (5.0, 30.0, 120.0, 600.0, 3600.0)  # after the first failure, the second, …; the last from then on
GIVE_UP_AFTER = timedelta(days=5)
DATABASE_THREADS = 4


class Failures(NamedTuple):
    """How often a webhook failed, and when to try again, by the monotonic clock."""

    in_a_row: int
    retry_at: float


class Delivery(NamedTuple):
    task: asyncio.Task[None]
    started_at: datetime


class Webhooks:
    """Sends what happens to the webhooks of all pools; goes on after a restart where each had come to.

    A slow receiver holds up no other: each has a task of its own. Of several processes that serve a database the one
    whose turn it is sends.
    """

    def __init__(self, store: Store, metrics: Metrics, turn: UpkeepLock, *, allow_private: bool) -> None:
        self._store, self._metrics, self._turn, self._allow_private = store, metrics, turn, allow_private
        self._threads = CapacityLimiter(DATABASE_THREADS)
        self._failures: dict[int, Failures] = {}
        self._under_way: dict[int, Delivery] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with in_background(self._run()):
            try:
                yield
            finally:
                for each in self._under_way.values():
                    each.task.cancel()

    async def _run(self) -> None:
        while True:
            try:
                await self._look()
            except Exception as error:  # noqa: BLE001  (as of a database that is away: the next look finds them)
                LOGGER.warning("webhooks could not be looked up: %s", error)
            await asyncio.sleep(CHECK_INTERVAL_S)

    async def _look(self) -> None:
        """Begin what is due, and store what takes long."""
        if not await run_in(self._threads, self._turn.acquire):
            return
        under_way = {**self._under_way}  # before the look, which may miss what these deliver meanwhile
        now, marks = datetime.now(UTC), dict[int, str | None]()
        for each in await run_in(self._threads, list_webhooks, self._store.engine):
            if each.id not in under_way:
                if each.under_way_since is not None:  # the mark came after the end, or its process was killed
                    marks[each.id] = None
                if self.is_due(each):
                    self._under_way[each.id] = Delivery(asyncio.create_task(self._deliver(each)), now)
            elif now - under_way[each.id].started_at > timedelta(seconds=LONG_S) and each.under_way_since is None:
                marks[each.id] = under_way[each.id].started_at.isoformat(timespec="seconds")
        if marks:
            await run_in(self._threads, store_under_way, self._store.engine, marks)

    def is_due(self, webhook: Webhook) -> bool:
        failures = self._failures.get(webhook.id)  # perhaps from before it was resumed, or of one that had its number
        waits = webhook.failing_since is not None and failures is not None and time.monotonic() < failures.retry_at
        return not (webhook.stopped or waits)

    async def _deliver(self, webhook: Webhook) -> None:
        try:
            await self.deliver(webhook)
        except PodiumError as error:
            LOGGER.warning("webhook %d: %s", webhook.id, error)
        except Exception:
            LOGGER.exception("webhook %d could not be served", webhook.id)
        finally:
            del self._under_way[webhook.id]

    async def deliver(self, webhook: Webhook) -> None:
        """Send the entries that a webhook does not have yet, until there are none, one is not taken, or time is up."""
        delivered = webhook.delivered_seq
        try:
            async for entry in self._entries(webhook):
                is_allowed = self._allow_private or webhook.private
                await send_signed(webhook, str(entry["seq"]), entry, allow_private=is_allowed)
                delivered = entry["seq"]
                self._metrics.deliveries.labels(webhook.pool, "taken").inc()
        except DeliveryError as error:
            await run_in(self._threads, self._note_failure, webhook, delivered, error)
        else:
            self._failures.pop(webhook.id, None)
            if delivered > webhook.delivered_seq:
                await run_in(self._threads, store_progress, self._store.engine, webhook, delivered)

    async def _entries(self, webhook: Webhook) -> AsyncIterator[dict[str, Any]]:
        newest, ends_at = webhook.delivered_seq, time.monotonic() + TURN_S
        while entries := await run_in(self._threads, self._store.news, webhook.pool, newest, ENTRIES):
            for each in entries:
                newest = each["seq"]
                yield each
                if time.monotonic() > ends_at:
                    return

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
            self._store.engine, webhook, delivered,
            error=str(error), failing_since=since.isoformat(timespec="seconds"), stopped=gives_up,
        )  # fmt: skip


class GoneError(DeliveryError):
    """The receiver wants no more."""


async def send_test(webhook: Webhook, *, allow_private: bool) -> None:
    """Send what is no entry of the log, with the number of the newest that was taken."""
    entry = {"seq": webhook.delivered_seq, "kind": "test"}
    await send_signed(webhook, f"test-{secrets.token_hex(8)}", entry, allow_private=allow_private)


async def send_signed(webhook: Webhook, name: str, entry: dict[str, Any], *, allow_private: bool) -> None:
    """Send what happened, as streams have it, and the pool, signed; a receiver that gets a name twice takes it once."""
    body = json.dumps({"pool": webhook.pool} | entry, ensure_ascii=False).encode()
    message_id, timestamp_s = f"podium-{webhook.id}-{name}", int(time.time())
    headers = {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": sign(webhook.secret, message_id, timestamp_s, body),
    }
    status = await post(webhook.url, body, headers, allow_private=allow_private)
    if status == HTTPStatus.GONE:
        raise GoneError("the receiver answered 410: it wants no more")
    if not HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        raise DeliveryError(f"the receiver answered {status}")
