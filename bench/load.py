"""Load for a service: events, connections, and requests in closed loops or at a steady rate.

Connections go only to the loopback address. Every phase has a limit of time and requests.
"""

import asyncio
import json
import random
import re
import sys
import time
from datetime import UTC, datetime, timedelta
from itertools import count

MAX_REQUESTS = 100_000  # of a phase
PLAYERS = 5_000
ENTRIES = 8
START = datetime(2025, 1, 1, tzinfo=UTC)
NUMBERS = count()
RNG = random.Random(5)  # noqa: S311


def event():
    """Return the next race, of eight random players."""
    number = next(NUMBERS)
    field = RNG.sample(range(PLAYERS), ENTRIES)
    entries = [
        {"player": f"player {who}", "position": place, "time_s": 60.0 + place + who % 7 / 10}
        for place, who in enumerate(field, start=1)
    ]
    for place, each in enumerate(sorted(entries, key=lambda each: each["time_s"]), start=1):
        each["position"] = place
    when = (START + timedelta(seconds=number)).isoformat()
    return {"event_id": f"e{number}", "started_at": when, "entries": entries}


def duel(players=PLAYERS):
    """Return the next duel, of two random players."""
    number = next(NUMBERS)
    pair = RNG.sample(range(players), 2)
    entries = [{"player": f"player {who}", "position": place} for place, who in enumerate(pair, start=1)]
    when = (START + timedelta(seconds=number)).isoformat()
    return {"event_id": f"e{number}", "started_at": when, "entries": entries}


def body(value):
    """Return a value as the body of a request."""
    return json.dumps(value).encode()


class Connection:
    """A minimal persistent HTTP connection for generating load."""

    def __init__(self, port, key):
        """Prepare a connection to the loopback address."""
        self.port, self.key = port, key

    async def open(self):
        """Connect."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def ask(self, method, path, body=b""):
        """Send a request, and return the status and body of the answer."""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: podium\r\nAuthorization: Bearer {self.key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)[1])
        return int(answer.split(b" ", 2)[1]), await self.reader.readexactly(length)

    async def must(self, method, path, status, body=b""):
        """Send a request, and exit if the answer has another status."""
        got, answer = await self.ask(method, path, body)
        if got != status:
            sys.exit(f"{method} {path} answered {got}: {answer.decode()[:300]}")


async def closed_loop(connections, seconds, ask):
    """Let each connection ask again after each answer, and return the seconds of each answer and of the phase."""
    took, end = [], time.perf_counter() + seconds

    async def run(connection):
        while time.perf_counter() < end and len(took) < MAX_REQUESTS:
            started = time.perf_counter()
            await ask(connection)
            took.append(time.perf_counter() - started)

    started = time.perf_counter()
    await asyncio.gather(*map(run, connections))
    return took, time.perf_counter() - started


async def steady(connections, seconds, rate, ask):
    """Send requests at a steady rate without waiting for answers. Each time counts from the time it was due."""
    free, took, waiting = asyncio.Queue(), [], []
    for connection in connections:
        free.put_nowait(connection)

    async def one(due):
        connection = await free.get()
        await ask(connection)
        took.append(time.perf_counter() - due)
        free.put_nowait(connection)

    first = time.perf_counter()
    for k in range(min(int(seconds * rate), MAX_REQUESTS)):
        due = first + k / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        waiting.append(asyncio.create_task(one(due)))
    await asyncio.gather(*waiting)
    return took


def latencies(took, seconds, per=1):
    """Return the rate of the answers, and percentiles of their times in milliseconds."""
    took = sorted(took)
    figures = {name: round(1000 * took[int(share * (len(took) - 1))], 1) for name, share in
               (("p50_ms", 0.5), ("p95_ms", 0.95), ("p99_ms", 0.99), ("most_ms", 1.0))}  # fmt: skip
    return {"answers": len(took), "per_s": round(per * len(took) / seconds, 1)} | figures
