"""Webhooks. The entries of a pool's log are sent in order, each at least once, until the receiver accepts them."""

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
from functools import cache, partial
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

import h11
from anyio import CapacityLimiter, to_thread

from podium import __version__
from podium.errors import ParameterError, PodiumError
from podium.log.database import UpkeepLock
from podium.log.statements import instant, microseconds
from podium.service.chats import FORMS, NO_PICTURE, Body, Picture
from podium.service.http.requests import in_background, run_in
from podium.service.metrics import Metrics
from podium.service.web.messages import Message, News, card_path, leader_of, news_after, upcoming
from podium.service.web.sharing import card_png
from podium.store import Store
from podium.store.following import PoolReader
from podium.store.keys import JSON, Webhook, list_webhooks, sign, store_progress, store_under_way
from podium.support.addresses import is_public

EXCHANGE_S = 10.0  # time for a whole delivery: looking up the host name, connecting, and waiting for the answer
CHUNK = 65_536  # number of bytes to read at a time
LOOK_UPS = CapacityLimiter(16)  # a lookup of a host name cannot be interrupted


class DeliveryError(PodiumError):
    """A delivery did not arrive, or the receiver rejected it."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s  # number of seconds to wait, as requested by the receiver


class Answer(NamedTuple):
    """A receiver's response."""

    status: int
    wait_s: float | None  # its Retry-After header, in seconds


async def post(url: str, body: bytes, headers: dict[str, str], *, allow_private: bool) -> Answer:
    """Send a body without following redirects, and return the receiver's response.

    Raises:
        DeliveryError: The body could not be sent, or there was no response in time.
    """
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(EXCHANGE_S):
            found = await to_thread.run_sync(look_up, parts, abandon_on_cancel=True, limiter=LOOK_UPS)
            return await exchange(parts, permitted(found, allow_private=allow_private), body, headers)
    except TimeoutError:
        raise DeliveryError(f"no response within {EXCHANGE_S:g} s") from None
    except (OSError, UnicodeError, h11.ProtocolError) as error:
        raise DeliveryError(f"{type(error).__name__}: {error}") from None


async def exchange(parts: SplitResult, address: str, body: bytes, headers: dict[str, str]) -> Answer:
    """Send a body to an address, even if the host name now has a different address.

    The certificate must be valid for the host name.
    """
    tls, name = (tls_context(), parts.hostname) if parts.scheme == "https" else (None, None)
    reader, writer = await asyncio.open_connection(address, port_of(parts), ssl=tls, server_hostname=name)
    try:
        sent = {"Host": parts.netloc, "User-Agent": f"podium/{__version__}", "Content-Length": str(len(body))} | headers
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = h11.Connection(h11.CLIENT)
        for event in (
            h11.Request(method="POST", target=target, headers=[*sent.items(), ("Connection", "close")]),
            h11.Data(body),
            h11.EndOfMessage(),
        ):
            writer.write(connection.send(event) or b"")
        await writer.drain()
        while not isinstance(answer := connection.next_event(), h11.Response):
            if answer is h11.NEED_DATA:
                connection.receive_data(await reader.read(CHUNK))
        wait = next((value for name, value in answer.headers if name == b"retry-after"), b"")
        return Answer(answer.status_code, float(wait) if wait.replace(b".", b"", 1).isdigit() else None)
    finally:
        writer.transport.abort()


@cache
def tls_context() -> ssl.SSLContext:
    return ssl.create_default_context()


def port_of(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def look_up(parts: SplitResult) -> list[str]:
    found = socket.getaddrinfo(parts.hostname, port_of(parts), type=socket.SOCK_STREAM)
    return [str(address[4][0]) for address in found]


def permitted(addresses: list[str], *, allow_private: bool) -> str:
    """Return the first permitted address of a host name."""
    for address in addresses:
        if allow_private or is_public(ip_address(address)):
            return address
    raise DeliveryError(f"{addresses[0]} is not a public address. To send to it, use podium webhook create --private.")


def is_found(url: str, *, allow_private: bool) -> bool:
    """Return True if the host name in a URL currently resolves to an address."""
    try:
        permitted(look_up(urlsplit(url)), allow_private=allow_private)
    except DeliveryError as error:
        raise ParameterError(str(error)) from None
    except OSError:
        return False
    return True


LOGGER = logging.getLogger(__name__)
CHECK_INTERVAL_S = 1.0
ENTRIES = 50  # number of log entries to read at a time
TURN_S = 5.0  # time after which a turn ends and its progress is stored
LONG_S = 2.0  # time after which deliveries are shown as under way
# pauses after the first failure, the second, and so on; the last pause repeats
RETRY_S = (5.0, 30.0, 120.0, 600.0, 3600.0)
GIVE_UP_AFTER = timedelta(days=5)
AHEAD = timedelta(days=1)  # time before its start at which a race is announced
QUIET_US = 3_600_000_000  # time between checks for races to announce
WITH_FILES = ("discord",)  # chat services that accept a picture with the message
DATABASE_THREADS = 4


class Failures(NamedTuple):
    """The number of a webhook's failures, and the time of the next attempt on the monotonic clock."""

    in_a_row: int
    retry_at: float


class Progress(NamedTuple):
    """The progress of deliveries to a receiver."""

    delivered_seq: int
    leader: int | None = None
    announced_until: int | None = None


class Delivery(NamedTuple):
    task: asyncio.Task[None]
    started_at: datetime


class Webhooks:
    """Sends the changes of all pools to webhooks. After a restart, each webhook continues where it stopped.

    Each webhook has its own task, so a slow receiver does not delay others. If several processes serve a database, only
    one process at a time sends to webhooks.
    """

    def __init__(
        self, store: Store, metrics: Metrics, turn: UpkeepLock, *, allow_private: bool, address: str = ""
    ) -> None:
        self._store, self._metrics, self._turn, self._allow_private = store, metrics, turn, allow_private
        self._address = address  # address of the service, for links in messages; empty if unknown
        self._threads = CapacityLimiter(DATABASE_THREADS)
        self._failures: dict[int, Failures] = {}
        self._under_way: dict[int, Delivery] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with in_background(self._run()):
            try:
                yield
            finally:
                for delivery in self._under_way.values():
                    delivery.task.cancel()

    async def _run(self) -> None:
        while True:
            try:
                await self._look()
            except Exception as error:  # noqa: BLE001  (for example without a database; the next round finds them)
                LOGGER.warning("webhooks could not be read: %s", error)
            await asyncio.sleep(CHECK_INTERVAL_S)

    async def _look(self) -> None:
        """Start all due deliveries, and record which ones take a long time."""
        if not await run_in(self._threads, self._turn.acquire):
            return
        under_way = {**self._under_way}  # copied first, because the query may miss later progress
        now, marks = datetime.now(UTC), dict[int, str | None]()
        for webhook in await run_in(self._threads, list_webhooks, self._store.engine):
            if webhook.id not in under_way:
                # the mark was stored after the end of the delivery, or its process was killed
                if webhook.under_way_since is not None:
                    marks[webhook.id] = None
                if self.is_due(webhook):
                    self._under_way[webhook.id] = Delivery(asyncio.create_task(self._deliver(webhook)), now)
            elif now - under_way[webhook.id].started_at > timedelta(seconds=LONG_S) and webhook.under_way_since is None:
                marks[webhook.id] = under_way[webhook.id].started_at.isoformat(timespec="seconds")
        if marks:
            await run_in(self._threads, store_under_way, self._store.engine, marks)

    def is_due(self, webhook: Webhook) -> bool:
        failures = self._failures.get(webhook.id)  # these may belong to an earlier webhook with the same number
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
        """Deliver news to a webhook until there is no more news, a delivery is rejected, or the time is up."""
        start = progress = Progress(webhook.delivered_seq, webhook.leader, webhook.announced_until)
        steps = self._send_entries(webhook) if webhook.format == JSON else self._send_messages(webhook, start)
        try:
            async for step in steps:
                progress = step
        except DeliveryError as error:
            await run_in(self._threads, self._note_failure, webhook, progress, error)
        else:
            self._failures.pop(webhook.id, None)
            if progress != start:
                store = partial(store_progress, **progress._asdict())
                await run_in(self._threads, store, self._store.engine, webhook)

    async def _send_entries(self, webhook: Webhook) -> AsyncIterator[Progress]:
        """Send log entries as signed JSON."""
        async for entry in self._entries(webhook):
            is_allowed = self._allow_private or webhook.private
            await send_signed(webhook, str(entry["seq"]), entry, allow_private=is_allowed)
            self._metrics.deliveries.labels(webhook.pool, "taken").inc()
            yield Progress(entry["seq"])

    async def _send_messages(self, webhook: Webhook, progress: Progress) -> AsyncIterator[Progress]:
        """Send messages to a chat: first the news and then, once an hour, the next day's races."""
        now = datetime.now(UTC)
        until = now + AHEAD
        is_first = progress.announced_until is None
        announced = progress.announced_until or microseconds(now)
        is_due = is_first or microseconds(until) - announced > QUIET_US

        def find(pool: PoolReader) -> tuple[News, tuple[tuple[datetime, Message], ...]]:
            news = news_after(pool, progress.delivered_seq, progress.leader, announced, most=ENTRIES)
            if is_first and news.leader is None and (first := leader_of(pool)) is not None:
                news = news._replace(leader=first.number)
            return news, upcoming(pool, instant(announced), until) if is_due else ()

        read = partial(self._store.read_pool, webhook.pool, find, as_stored=True)
        news, races = await run_in(self._threads, read)
        for message in news.messages:
            await self._send_message(webhook, message)
            progress = progress._replace(delivered_seq=message.seq)
            yield progress
        progress = progress._replace(delivered_seq=news.newest_seq, leader=news.leader)
        for starts_at, message in races:
            yield progress._replace(announced_until=microseconds(starts_at))
            await self._send_message(webhook, message)
        yield progress._replace(announced_until=microseconds(until)) if is_due else progress

    async def _send_message(self, webhook: Webhook, message: Message) -> None:
        """Send a message, including its result card if the chat service shows pictures."""
        picture = await run_in(self._threads, self._picture, webhook, message)
        url = self._address + message.path if self._address else ""
        body = FORMS[webhook.format](message, url, picture)
        await send(webhook, body, allow_private=self._allow_private or webhook.private)
        self._metrics.deliveries.labels(webhook.pool, "taken").inc()

    def _picture(self, webhook: Webhook, message: Message) -> Picture:
        """Return the address of a result card, or the card itself if the chat service cannot fetch it."""
        if not message.event_id:
            return NO_PICTURE
        if self._address and self._store.pool(webhook.pool).description.public:
            return Picture(url=f"{self._address}{card_path(webhook.pool, message.event_id)}?version={message.seq}")
        if webhook.format not in WITH_FILES:
            return NO_PICTURE
        return Picture(png=self._store.read_pool(webhook.pool, lambda pool: card_png(pool, message.event_id, "")))

    async def _entries(self, webhook: Webhook) -> AsyncIterator[dict[str, Any]]:
        newest, ends_at = webhook.delivered_seq, time.monotonic() + TURN_S
        while entries := await run_in(self._threads, self._store.news, webhook.pool, newest, ENTRIES):
            for entry in entries:
                newest = entry["seq"]
                yield entry
                if time.monotonic() > ends_at:
                    return

    def _note_failure(self, webhook: Webhook, progress: Progress, error: DeliveryError) -> None:
        """Record a webhook's failure, and wait before the next attempt. After several days, give up."""
        self._metrics.deliveries.labels(webhook.pool, "failed").inc()
        now = datetime.now(UTC)
        is_first = webhook.failing_since is None or progress.delivered_seq > webhook.delivered_seq
        since = now if is_first else datetime.fromisoformat(webhook.failing_since or "")
        in_a_row = 1 if is_first else self._failures.get(webhook.id, Failures(0, 0.0)).in_a_row + 1
        usual_s = RETRY_S[min(in_a_row, len(RETRY_S)) - 1]
        wait_s = usual_s if error.wait_s is None else min(max(error.wait_s, CHECK_INTERVAL_S), RETRY_S[-1])
        self._failures[webhook.id] = Failures(in_a_row, time.monotonic() + wait_s)
        gives_up = isinstance(error, GoneError) or now - since > GIVE_UP_AFTER
        sequel = "it is stopped. Start it again with podium webhook resume" if gives_up else f"next try in {wait_s:g} s"
        LOGGER.warning("webhook %d of pool %s: %s; %s", webhook.id, webhook.pool, error, sequel)
        store_progress(
            self._store.engine, webhook, **progress._asdict(),
            error=str(error), failing_since=since.isoformat(timespec="seconds"), stopped=gives_up,
        )  # fmt: skip


class GoneError(DeliveryError):
    """The receiver does not want any further deliveries."""


async def send_test(webhook: Webhook, pool_title: str, *, allow_private: bool) -> None:
    """Send a test, using the number of the newest log entry that the receiver has accepted."""
    if webhook.format != JSON:
        lines = ("New results and corrections will appear here.",)
        body = FORMS[webhook.format](Message(0, f"{pool_title}: a test", lines, ""), "", NO_PICTURE)
        await send(webhook, body, allow_private=allow_private)
        return
    entry = {"seq": webhook.delivered_seq, "kind": "test"}
    await send_signed(webhook, f"test-{secrets.token_hex(8)}", entry, allow_private=allow_private)


async def send_signed(webhook: Webhook, name: str, entry: dict[str, Any], *, allow_private: bool) -> None:
    """Send a signed log entry with its pool, in the same form as in streams.

    Receivers should ignore repeated message IDs.
    """
    body = json.dumps({"pool": webhook.pool} | entry, ensure_ascii=False).encode()
    message_id, timestamp_s = f"podium-{webhook.id}-{name}", int(time.time())
    headers = {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": sign(webhook.secret, message_id, timestamp_s, body),
    }
    await send(webhook, Body(body, "application/json"), headers, allow_private=allow_private)


async def send(webhook: Webhook, body: Body, headers: dict[str, str] | None = None, *, allow_private: bool) -> None:
    """Send a body to a webhook.

    Raises:
        GoneError: The receiver does not want any further deliveries.
        DeliveryError: The receiver did not accept the delivery.
    """
    sent = {"Content-Type": body.content_type, **(headers or {})}
    answer = await post(webhook.url, body.content, sent, allow_private=allow_private)
    if answer.status == HTTPStatus.GONE:
        raise GoneError("the receiver responded with 410, so it wants no further deliveries")
    if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        raise DeliveryError(f"the receiver responded with {answer.status}", answer.wait_s)
