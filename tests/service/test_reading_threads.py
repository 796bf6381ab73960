"""The service runs few reads at a time, and a long read does not delay the others."""

import asyncio
import threading
from contextlib import asynccontextmanager

from anyio.to_thread import current_default_thread_limiter, run_sync

from podium.service.http import requests
from podium.service.http.requests import in_background

TIMEOUT_S = 30.0


@asynccontextmanager
async def sharing():
    """Share the framework's threads, and yield their limiter."""
    async with in_background(requests.share_threads()):
        await asyncio.sleep(0)
        yield current_default_thread_limiter()


class Readers:
    """Reads that count how many run at once. The long ones run until they are released."""

    def __init__(self):
        self.lock, self.done = threading.Lock(), threading.Event()
        self.running = self.most = 0

    def read(self, *, long=False):
        with self.lock:
            self.running += 1
            self.most = max(self.most, self.running)
        try:
            return self.done.wait(TIMEOUT_S if long else 0.01)
        finally:
            with self.lock:
                self.running -= 1

    def begin_long(self, count):
        return [asyncio.create_task(run_sync(lambda: self.read(long=True))) for _ in range(count)]


async def until(is_so):
    for _ in range(int(1000 * TIMEOUT_S)):
        if is_so():
            return
        await asyncio.sleep(0.001)
    raise AssertionError


def test_few_reads_run_at_a_time(monkeypatch):
    monkeypatch.setattr(requests, "LOOK_S", 2 * TIMEOUT_S)  # the only check happens before any read
    readers = Readers()

    async def read_all():
        async with sharing():
            await asyncio.gather(*(asyncio.create_task(run_sync(readers.read)) for _ in range(40)))

    asyncio.run(read_all())
    assert readers.most == requests.AT_ONCE


def test_long_reads_do_not_delay_others(monkeypatch):
    monkeypatch.setattr(requests, "LOOK_S", 0.005)
    readers = Readers()

    async def read_beside_long():
        async with sharing():
            long = readers.begin_long(3 * requests.AT_ONCE)
            await asyncio.wait_for(run_sync(readers.read), TIMEOUT_S)
            await until(lambda: readers.running == len(long))
            readers.done.set()
            return await asyncio.gather(*long)

    assert all(asyncio.run(read_beside_long()))


def test_long_reads_use_at_most_the_frameworks_threads(monkeypatch):
    monkeypatch.setattr(requests, "LOOK_S", 0.001)
    readers = Readers()

    async def read_long():
        most = current_default_thread_limiter().total_tokens
        async with sharing() as limiter:
            long = readers.begin_long(most + 5)
            await until(lambda: readers.running == most)
            assert limiter.total_tokens == most
            readers.done.set()
            await asyncio.gather(*long)
            await until(lambda: limiter.total_tokens == requests.AT_ONCE)
        return most

    assert asyncio.run(read_long()) == readers.most


def test_the_thread_limit_is_restored():
    async def leave():
        most = current_default_thread_limiter().total_tokens
        async with sharing() as limiter:
            assert limiter.total_tokens == requests.AT_ONCE
        return most, limiter.total_tokens

    most, left = asyncio.run(leave())
    assert left == most
