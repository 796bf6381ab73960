"""Whose log has grown: one watcher a process, which wakes everyone here who waits for a pool.

What this process writes it knows by itself. What others write PostgreSQL announces; as long as that is heard, the logs
are looked at every few seconds only. Where it is not (SQLite, a pooler without sessions, a database that has
restarted), and somebody waits, one query for all pools looks four times a second.
"""

import asyncio
import logging
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from podium.service.http.background import in_background
from podium.service.http.threads import Threads, run_in
from podium.store import Store
from podium.store.log.announcements import Announcement, Subscription, announce_probe, newest_entries
from podium.store.sql.database import read_transaction

LOOK_S = 0.25  # between two looks at the logs, while no announcement is heard
HEARING_LOOK_S = 5.0  # and while they are
RETRY_S = 1.0  # after a look that failed
PROBE_S = 5.0  # between two probes of whether they are; each has to be heard before the next
TOKEN_BYTES = 8
LOGGER = logging.getLogger(__name__)


class Announcements:
    """Wakes those who wait for a pool's log to grow."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store, self._threads = store, threads
        self._waiting: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._newest: dict[str, int] = {}  # entry of each pool's log that somebody waits for
        self._loop: asyncio.AbstractEventLoop | None = None
        self._subscription: Subscription | None = None
        self._opening = threading.Lock()  # or ending for good
        self._probe = ""  # that was sent, and not heard yet
        self._probe_at = self._look_at = 0.0  # when to send the next one, and when to look
        self.receives = False  # what other processes write

    @contextmanager
    def awaiting(self, pool: str) -> Iterator[asyncio.Event]:
        """Wait for a pool's log to grow: an event that is set when it has, or may have; whoever waits clears it."""
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

    def note_write(self, pool: str) -> None:
        """Wake those who wait for a pool that this process has written to; from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._wake, pool)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watch while the service runs."""
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
        """Send the next probe; where the last one was not heard, listen anew first."""
        self._probe_at = time.monotonic() + PROBE_S
        try:
            if self._probe:
                self._unsubscribe()
            if self._subscription is None:
                await self._listen()
            if self._subscription is not None:
                self._probe = secrets.token_hex(TOKEN_BYTES)
                await run_in(self._threads.watching, announce_probe, self._store.engine, self._probe)
        except Exception as error:  # noqa: BLE001  (as of a database that is away: the next probe finds it)
            self._unsubscribe()
            LOGGER.warning("announcements are not heard, the logs are looked at instead: %s", error)

    async def _listen(self) -> None:
        """Open a session that hears announcements, where there can be one."""
        await run_in(self._threads.watching, self._subscribe)
        if self._subscription is None:
            return
        try:
            asyncio.get_running_loop().add_reader(self._subscription.descriptor, self._receive)
        except NotImplementedError:  # as on Windows: the looks have to do
            self._unsubscribe()
            self._probe_at = float("inf")

    def _subscribe(self) -> None:
        """Open the session, in a thread that goes on when its task is cancelled."""
        subscription = Subscription.open(self._store.engine)
        with self._opening:
            if self._loop is not None:
                self._subscription = subscription
                return
        if subscription is not None:
            subscription.close()

    def _unsubscribe(self) -> None:
        """Hear nothing more."""
        subscription, self._subscription, self.receives, self._probe = self._subscription, None, False, ""
        if subscription is None or self._loop is None:
            return
        with suppress(NotImplementedError):
            self._loop.remove_reader(subscription.descriptor)
        subscription.close()

    def _receive(self) -> None:
        """Take what was announced."""
        if self._subscription is None:
            return
        try:
            announcements = self._subscription.receive()
        except Exception as error:  # noqa: BLE001  (whatever the driver raises, the session is over)
            self._unsubscribe()
            self._probe_at = 0.0
            LOGGER.warning("announcements are heard no more, the logs are looked at until they are: %s", error)
            return
        for each in announcements:
            self._note(each)

    def _note(self, announcement: Announcement) -> None:
        """Wake those who wait for what was announced, and let boards that were read before be read again."""
        if not announcement.seq:
            if announcement.pool == self._probe:
                self._probe, self.receives = "", True
            return
        self._store.writes[announcement.pool] += 1
        self._wake(announcement.pool, announcement.seq)

    def _wake(self, pool: str, seq: int | None = None) -> None:
        """Wake those who wait for a pool, unless they know of this entry."""
        if pool not in self._waiting:
            return
        if seq is not None:
            if seq <= self._newest.get(pool, 0):
                return
            self._newest[pool] = seq
        for grown in self._waiting[pool]:
            grown.set()

    async def _look(self) -> None:
        """Look at the logs of all pools, and wake those who wait for one that has grown, or is no more."""
        try:
            newest = await run_in(self._threads.watching, self._newest_entries)
        except Exception as error:  # noqa: BLE001  (the next look finds them)
            self._look_at = time.monotonic() + RETRY_S
            LOGGER.warning("the logs could not be looked at for streams: %s", error)
            return
        for pool in [*self._waiting]:
            self._wake(pool, newest.get(pool))
        self._look_at = time.monotonic() + (HEARING_LOOK_S if self.receives else 0.0)

    def _newest_entries(self) -> dict[str, int]:
        with read_transaction(self._store.engine) as connection:
            return newest_entries(connection)
