"""Watch the pools for changes, with one query per pool for any number of clients."""

import asyncio
import json
import logging
import secrets
import threading
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, NamedTuple, Self

import sqlalchemy as sa

from podium.errors import PodiumError, UnknownError
from podium.log.database import read_transaction, write_transaction
from podium.log.log import CHANNEL, NOTIFY
from podium.log.schema import log, pools
from podium.service.http.errors import BusyError
from podium.service.http.requests import Threads, in_background, run_in
from podium.service.metrics import Metrics
from podium.store import Store
from podium.store.keys import valid_keys

LOOK_S = 0.25  # time between checks of the logs if there are no announcements
HEARING_LOOK_S = 5.0  # time between checks if there are announcements
LOOK_AGAIN_S = 1.0  # time until the next check after a failure
PROBE_S = 5.0  # time between probes of announcements; each must arrive before the next
TOKEN_BYTES = 8
LOGGER = logging.getLogger(__name__)

SELECT_NEWEST = sa.select(
    pools.c.name, sa.select(sa.func.max(log.c.seq)).where(log.c.pool_id == pools.c.id).scalar_subquery().label("seq")
)


class Announcement(NamedTuple):
    """An announcement that a pool's log now extends to this entry."""

    seq: int  # number of the newest entry; 0 in a probe
    pool: str  # name of the pool, or a probe's text


def announce_probe(engine: sa.Engine, text: str) -> None:
    """Send a probe from another session, so that a listener can check whether it receives announcements."""
    with write_transaction(engine) as connection:
        connection.execute(NOTIFY, {"payload": f"0 {text}"})


class Subscription:
    """A PostgreSQL session that receives announcements."""

    def __init__(self, engine: sa.Engine) -> None:
        pooled = engine.raw_connection()
        session: Any = pooled.driver_connection  # Psycopg's connection
        pooled.detach()  # the connection pool no longer counts it
        self._session = session
        try:
            session.autocommit = True
            session.execute(f"LISTEN {CHANNEL}")
        except BaseException:
            self.close()
            raise
        self.descriptor: int = self._session.fileno()  # readable when there is an announcement

    @classmethod
    def open(cls, engine: sa.Engine) -> Self | None:
        """Open a session for announcements.

        Return None for databases without announcements: SQLite, and PostgreSQL with other drivers.
        """
        return cls(engine) if engine.dialect.name == "postgresql" and engine.driver == "psycopg" else None

    def receive(self) -> list[Announcement]:
        """Return the announcements since the last call, without waiting."""
        announcements = []
        for notify in self._session.notifies(timeout=0):
            seq, _, pool = notify.payload.partition(" ")
            if seq.isdecimal():
                announcements.append(Announcement(int(seq), pool))
        return announcements

    def close(self) -> None:
        self._session.close()


class Announcements:
    """Wakes everyone who waits for a pool's log to grow."""

    def __init__(self, store: Store, threads: Threads, metrics: Metrics) -> None:
        self._store, self._threads, self._metrics = store, threads, metrics
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._newest: dict[str, int] = {}  # newest entry of each pool for which somebody waits
        self._loop: asyncio.AbstractEventLoop | None = None
        self._subscription: Subscription | None = None
        self._opening = threading.Lock()  # held while opening or ending a session
        self._probe = ""  # probe that was sent, but has not arrived yet
        self._probe_at = self._look_at = 0.0  # times of the next probe and of the next check
        self.receives = False  # True if this process receives announcements of other processes' writes

    @contextmanager
    def awaiting(self, pool: str) -> Iterator[asyncio.Event]:
        """Yield an event that is set when a pool's log has grown or may have grown.

        The waiting task clears the event.
        """
        grown = asyncio.Event()
        self._waiting[pool].add(grown)
        self._look_at = 0.0
        try:
            yield grown
        finally:
            self._waiting[pool].discard(grown)
            if not self._waiting[pool]:
                del self._waiting[pool]
                self._newest.pop(pool, None)

    def note_write(self, pool: str, waited_s: float, held_s: float) -> None:
        """Record a write by this process, and wake everyone who waits for its pool.

        Any thread can call this.
        """
        self._metrics.observe_write(pool, waited_s, held_s)
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed, so nobody waits
                self._loop.call_soon_threadsafe(self._wake, pool)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        try:
            async with in_background(self._run()):
                yield
        finally:
            with self._opening:
                self._unsubscribe()
                self._loop = None

    async def _run(self) -> None:
        is_server = self._store.engine.dialect.name == "postgresql"
        while True:
            if is_server and time.monotonic() >= self._probe_at:
                await self._send_probe()
            if self._waiting and time.monotonic() >= self._look_at:
                await self._look()
            await asyncio.sleep(LOOK_S)

    async def _send_probe(self) -> None:
        """Send the next probe. If the previous one has not arrived, open a new session first."""
        self._probe_at = time.monotonic() + PROBE_S
        try:
            if self._probe:
                self._unsubscribe()
            if self._subscription is None:
                await self._listen()
            if self._subscription is not None:
                self._probe = secrets.token_hex(TOKEN_BYTES)
                await run_in(self._threads.watching, announce_probe, self._store.engine, self._probe)
        except Exception as error:  # noqa: BLE001  (for example without a database; the next probe will find out)
            self._unsubscribe()
            LOGGER.warning("no announcements arrive, so the logs are checked instead: %s", error)

    async def _listen(self) -> None:
        await run_in(self._threads.watching, self._subscribe)
        if self._subscription is None:
            return
        try:
            asyncio.get_running_loop().add_reader(self._subscription.descriptor, self._receive)
        except NotImplementedError:  # for example on Windows, where regular checks must suffice
            self._unsubscribe()
            self._probe_at = float("inf")

    def _subscribe(self) -> None:
        """Open the session in a thread, which continues even if its task is cancelled."""
        subscription = Subscription.open(self._store.engine)
        with self._opening:
            if self._loop is not None:
                self._subscription = subscription
                return
        if subscription is not None:
            subscription.close()

    def _unsubscribe(self) -> None:
        subscription, self._subscription, self.receives, self._probe = self._subscription, None, False, ""
        if subscription is None or self._loop is None:
            return
        with suppress(NotImplementedError):
            self._loop.remove_reader(subscription.descriptor)
        subscription.close()

    def _receive(self) -> None:
        if self._subscription is None:
            return
        try:
            announcements = self._subscription.receive()
        except Exception as error:  # noqa: BLE001  (after any error in the driver, the session is over)
            self._unsubscribe()
            self._probe_at = 0.0
            LOGGER.warning("announcements no longer arrive, so the logs are checked until they do: %s", error)
            return
        for announcement in announcements:
            self._note(announcement)

    def _note(self, announcement: Announcement) -> None:
        """Wake everyone who waits for the announced change."""
        if not announcement.seq:
            if announcement.pool == self._probe:
                self._probe, self.receives = "", True
            return
        self._wake(announcement.pool, announcement.seq)

    def _wake(self, pool: str, seq: int | None = None) -> None:
        """Wake everyone who waits for a pool, except those who have already seen this entry."""
        if pool not in self._waiting:
            return
        if seq is not None:
            if seq <= self._newest.get(pool, 0):
                return
            self._newest[pool] = seq
        for grown in self._waiting[pool]:
            grown.set()

    async def _look(self) -> None:
        """Check the logs of all pools, and wake everyone who waits for one that has grown or was deleted."""
        try:
            newest = await run_in(self._threads.watching, self._newest_entries)
        except Exception as error:  # noqa: BLE001  (the next check finds them)
            self._look_at = time.monotonic() + LOOK_AGAIN_S
            LOGGER.warning("the logs could not be checked for streams: %s", error)
            return
        for pool in [*self._waiting]:
            self._wake(pool, newest.get(pool))
        self._look_at = time.monotonic() + (HEARING_LOOK_S if self.receives else 0.0)

    def _newest_entries(self) -> dict[str, int]:
        """Return the number of each pool's newest log entry. This takes one index lookup per pool."""
        with read_transaction(self._store.engine) as connection:
            return {row.name: row.seq or 0 for row in connection.execute(SELECT_NEWEST)}


RETRY_S = 0.5  # time to wait after a failed query of a pool's log
KEY_CHECK_S = 1.0  # time between checks of the listeners' keys
MAX_LISTENERS, MAX_KEYLESS_LISTENERS = 1_000, 700
MAX_WAITING_ENTRIES = 10_000  # maximum number of entries that a slow listener may lag behind
STOPS = "the service is stopping"

Block = tuple[int, bytes]  # number of an entry, and the entry as a server-sent event


def event_block(entry: dict[str, Any]) -> Block:
    data = json.dumps(entry, ensure_ascii=False)
    return entry["seq"], f"id: {entry['seq']}\nevent: {entry['kind']}\ndata: {data}\n\n".encode()


class Listener:
    def __init__(self, pool: str, key: int | None) -> None:
        self.pool, self.key = pool, key  # number of the key; None for listeners to a public pool
        self.ended = ""  # the reason, if the stream has ended
        self._blocks: deque[Block] = deque()
        self._changed = asyncio.Event()

    def add(self, blocks: list[Block]) -> None:
        """Add new entries. A listener that is too far behind is ended, but can continue from its last ID."""
        self._blocks.extend(blocks)
        if len(self._blocks) > MAX_WAITING_ENTRIES:
            self.end(f"more than {MAX_WAITING_ENTRIES:,} entries are waiting to be read")
        self._changed.set()

    def end(self, why: str) -> None:
        """End the stream for a reason. It is also logged, because nobody may be reading the stream."""
        if not self.ended:
            LOGGER.info("a stream of pool %s ends: %s", self.pool, why)
        self.ended = self.ended or why
        self._changed.set()

    async def wait(self, seconds: float) -> list[Block]:
        """Return new entries as soon as there are some, or an empty list after this time."""
        if not self._blocks and not self.ended:
            self._changed.clear()
            try:
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
            except TimeoutError:
                return []
        blocks = [*self._blocks]
        self._blocks.clear()
        return blocks


class Watcher:
    """The listeners to one pool, and the task that queries its log for all of them."""

    def __init__(self) -> None:
        self.listeners: set[Listener] = set()
        self.is_ready = asyncio.Event()  # set once new entries reach the listeners
        self.task: asyncio.Task[None] | None = None


class Watchers:
    def __init__(self, store: Store, threads: Threads, announcements: Announcements) -> None:
        self._store, self._threads, self._announcements = store, threads, announcements
        self._watchers: dict[str, Watcher] = {}
        self._key_check: asyncio.Task[None] | None = None
        self.is_closed = False

    def listeners(self) -> list[Listener]:
        return [listener for watcher in self._watchers.values() for listener in watcher.listeners]

    def refuse_too_many(self, key: int | None) -> None:
        """Reject a listener if there are too many. Some places are reserved for listeners with a key."""
        if len(self.listeners()) >= (MAX_KEYLESS_LISTENERS if key is None else MAX_LISTENERS):
            raise BusyError("too many streams are open. Connect again later.")

    @asynccontextmanager
    async def listening(self, pool: str, key: int | None) -> AsyncIterator[Listener]:
        listener = Listener(pool, key)
        watcher = self._watchers.setdefault(pool, Watcher())
        watcher.listeners.add(listener)
        if self.is_closed:
            listener.end(STOPS)
            watcher.is_ready.set()
        elif watcher.task is None:
            watcher.task = asyncio.create_task(self._watch(pool, watcher))
        if self._key_check is None:
            self._key_check = asyncio.create_task(self._check_keys())
        try:
            yield listener
        finally:
            watcher.listeners.discard(listener)
            if not watcher.listeners and self._watchers.get(pool) is watcher:
                del self._watchers[pool]
                if watcher.task is not None:
                    watcher.task.cancel()
            if self._key_check is not None and not self._watchers:
                self._key_check.cancel()
                self._key_check = None

    async def wait_until_ready(self, pool: str, seconds: float) -> bool:
        """Wait until a pool's log is watched. Return False if this takes longer than this time."""
        try:
            async with asyncio.timeout(seconds):
                return await self._watchers[pool].is_ready.wait()
        except TimeoutError:
            return False

    def open(self) -> None:
        """Allow streams again, even if earlier streams were ended."""
        self.is_closed = False

    def close(self) -> None:
        """End every stream, and every stream that starts from now on."""
        self.is_closed = True
        for watcher in self._watchers.values():
            watcher.is_ready.set()
        for listener in self.listeners():
            listener.end(STOPS)

    async def _watch(self, pool: str, watcher: Watcher) -> None:
        """Query a pool's log whenever it has grown, while anyone listens."""
        after: int | None = None
        with self._announcements.awaiting(pool) as grown:
            while watcher.listeners:
                grown.clear()  # cleared before the query, so that later entries set it again
                entries: list[dict[str, Any]] = []
                try:
                    if after is None:
                        after = await run_in(self._threads.watching, self._store.version, pool)
                        watcher.is_ready.set()
                    entries = await run_in(self._threads.watching, self._store.news, pool, after)
                except UnknownError:  # the pool was deleted; a new one with the same name gets a new watcher
                    del self._watchers[pool]
                    watcher.is_ready.set()
                    for listener in watcher.listeners:
                        listener.end("the pool was deleted")
                    return
                except Exception as error:  # for example, without a database; the next query will find the entries
                    cause = None if isinstance(error, PodiumError) else error
                    LOGGER.warning("pool %s: the log could not be read for streams: %s", pool, error, exc_info=cause)
                    await asyncio.sleep(RETRY_S)
                    continue
                if not entries:
                    await grown.wait()
                    continue
                blocks = [event_block(entry) for entry in entries]
                after = blocks[-1][0]
                for listener in watcher.listeners:
                    listener.add(blocks)

    async def _check_keys(self) -> None:
        """End the streams of invalid keys, and the streams without a key for pools that are not public."""
        while True:
            await asyncio.sleep(KEY_CHECK_S)
            listeners = self.listeners()
            keys = {listener.key for listener in listeners if listener.key is not None}
            try:
                valid = await run_in(self._threads.watching, valid_keys, self._store.engine, keys)
                public = await run_in(self._threads.watching, self._store.public_pools)
            except Exception as error:  # noqa: BLE001  (for example without a database; the next check will find out)
                LOGGER.warning("the keys of open streams could not be checked: %s", error)
                continue
            for listener in listeners:
                if listener.key is None and listener.pool not in public:
                    listener.end("the pool is no longer public")
                elif listener.key is not None and listener.key not in valid:
                    listener.end("the key is no longer valid")
