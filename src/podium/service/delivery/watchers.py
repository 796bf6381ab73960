"""What happens in pools, watched once for all who listen: a query a pool, however many there are."""

import asyncio
import json
import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from podium.errors import PodiumError, UnknownError
from podium.service.delivery.announcements import Announcements
from podium.service.http.problems import BusyError
from podium.service.http.threads import Threads, run_in
from podium.store import Store
from podium.store.keys import valid_keys

LOGGER = logging.getLogger(__name__)
RETRY_S = 0.5  # after a query of a pool's log that failed
KEY_CHECK_S = 1.0  # between two checks of the listeners' keys
MAX_LISTENERS, MAX_KEYLESS_LISTENERS = 1_000, 700
MAX_WAITING_ENTRIES = 10_000  # of a listener who reads too slowly

Block = tuple[int, bytes]  # an entry's number, and the entry as a server-sent event


def event_block(entry: dict[str, Any]) -> Block:
    """Return an entry of the log as a server-sent event."""
    data = json.dumps(entry, ensure_ascii=False)
    return entry["seq"], f"id: {entry['seq']}\nevent: {entry['kind']}\ndata: {data}\n\n".encode()


class Listener:
    """One who listens to a pool: what waits to be sent, and whether that is the end."""

    def __init__(self, pool: str, key: int | None) -> None:
        self.pool, self.key = pool, key  # the number of a key; None of anybody, who listens to a public pool
        self.has_ended = False
        self._blocks: deque[Block] = deque()
        self._changed = asyncio.Event()

    def add(self, blocks: list[Block]) -> None:
        """Add what happened; one who has fallen too far behind is ended, and may go on by the last id."""
        self._blocks.extend(blocks)
        if len(self._blocks) > MAX_WAITING_ENTRIES:
            self.end()
        self._changed.set()

    def end(self) -> None:
        """End the stream: its key is revoked, or the service stops."""
        self.has_ended = True
        self._changed.set()

    async def wait(self, seconds: float) -> list[Block]:
        """Wait for something to happen, and return it; nothing if nothing does in so many seconds."""
        if not self._blocks and not self.has_ended:
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
    """One pool's listeners, and the task that queries its log for all of them."""

    def __init__(self) -> None:
        self.listeners: set[Listener] = set()
        self.is_ready = asyncio.Event()  # whatever is logged from here on reaches the listeners
        self.task: asyncio.Task[None] | None = None


class Watchers:
    """Watchers of all pools that somebody listens to."""

    def __init__(self, store: Store, threads: Threads, announcements: Announcements) -> None:
        self._store, self._threads, self._announcements = store, threads, announcements
        self._watchers: dict[str, Watcher] = {}
        self._key_check: asyncio.Task[None] | None = None
        self.is_closed = False

    def listeners(self) -> list[Listener]:
        """List everyone who listens."""
        return [each for watcher in self._watchers.values() for each in watcher.listeners]

    def refuse_too_many(self, key: int | None) -> None:
        """Refuse a listener where there are too many: those without a key leave room for those with one.

        Raises:
            BusyError: there are.
        """
        if len(self.listeners()) >= (MAX_KEYLESS_LISTENERS if key is None else MAX_LISTENERS):
            raise BusyError("too many streams are open; connect again later")

    @asynccontextmanager
    async def listening(self, pool: str, key: int | None) -> AsyncIterator[Listener]:
        """Listen to a pool, as the key of a number, or without one to a public pool."""
        listener = Listener(pool, key)
        watcher = self._watchers.setdefault(pool, Watcher())
        watcher.listeners.add(listener)
        if self.is_closed:
            listener.end()
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
        """Wait until the pool's log is watched; whether it is, after so many seconds at most."""
        try:
            async with asyncio.timeout(seconds):
                return await self._watchers[pool].is_ready.wait()
        except TimeoutError:
            return False

    def open(self) -> None:
        """Let streams begin, also after others were ended."""
        self.is_closed = False

    def close(self) -> None:
        """End every stream, and those that begin from now on."""
        self.is_closed = True
        for watcher in self._watchers.values():
            watcher.is_ready.set()
        for each in self.listeners():
            each.end()

    async def _watch(self, pool: str, watcher: Watcher) -> None:
        """Query a pool's log whenever it has grown, as long as anyone listens."""
        after: int | None = None
        with self._announcements.awaiting(pool) as grown:
            while watcher.listeners:
                grown.clear()  # before the query: what is logged after it sets it again
                entries: list[dict[str, Any]] = []
                try:
                    if after is None:
                        after = await run_in(self._threads.watching, self._store.version, pool)
                        watcher.is_ready.set()
                    entries = await run_in(self._threads.watching, self._store.news, pool, after)
                except UnknownError:  # the pool was deleted
                    watcher.is_ready.set()
                    for listener in watcher.listeners:
                        listener.end()
                    return
                except Exception as error:  # as of a database that is away: the next query finds them
                    cause = None if isinstance(error, PodiumError) else error
                    LOGGER.warning("pool %s: the log could not be read for streams: %s", pool, error, exc_info=cause)
                    await asyncio.sleep(RETRY_S)
                    continue
                if not entries:
                    await grown.wait()
                    continue
                blocks = [event_block(each) for each in entries]
                after = blocks[-1][0]
                for listener in watcher.listeners:
                    listener.add(blocks)

    async def _check_keys(self) -> None:
        """End the streams of keys that are no longer valid, and those without one of pools that are not public."""
        while True:
            await asyncio.sleep(KEY_CHECK_S)
            listeners = self.listeners()
            keys = {each.key for each in listeners if each.key is not None}
            try:
                valid = await run_in(self._threads.watching, valid_keys, self._store.engine, keys)
                public = await run_in(self._threads.watching, self._store.public_pools)
            except Exception as error:  # noqa: BLE001  (as of a database that is away: the next check tells)
                LOGGER.warning("the keys of open streams could not be checked: %s", error)
                continue
            for each in listeners:
                if each.pool not in public if each.key is None else each.key not in valid:
                    each.end()
