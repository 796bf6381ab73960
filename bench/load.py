"""Measure how many results a Podium server accepts: one by one, at a steady rate and in batches, and page reads.

    python bench/load.py [--seconds 10] [--connections 16] [--history 20000] [--batch 1000] [--postgresql] [--workers 1]

The script starts its own server on a free port of the loopback address, with a database in a temporary folder, and
never connects to anything else. Every phase has a limit of time and requests. With one sender, batches take turns with
`raw_sqlite`, which writes the same rows by hand: the limit of the machine in the same seconds. `--postgresql` starts a
PostgreSQL database for the server, which several workers may share, and leaves out that comparison.
"""

import argparse
import asyncio
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from itertools import chain, count
from operator import truediv
from pathlib import Path

import psycopg
from raw_sqlite import RawCopy
from serving import PODIUM, free_port, postgres, serving

MAX_REQUESTS = 100_000  # of a phase
MAX_BATCHES_AHEAD = 500
AHEAD_PER_S = 8_000  # events in prepared batches, more than a server accepts
PLAYERS = 5_000
ENTRIES = 8
START = datetime(2025, 1, 1, tzinfo=UTC)
NUMBERS = count()
RNG = random.Random(5)  # noqa: S311


def event():
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


def body(value):
    return json.dumps(value).encode()


def batch_bodies(args):
    """Return batch bodies in turn. They are made in advance, because making one takes a tenth of storing it."""
    ahead = -(-args.history // args.batch) + int(args.seconds * AHEAD_PER_S / args.batch)
    make = lambda: body({"events": [event() for _ in range(args.batch)]})  # noqa: E731
    return chain([make() for _ in range(min(ahead, MAX_BATCHES_AHEAD))], iter(make, None))


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


async def in_turn(connection, seconds, ask, raw):
    """Let one connection ask by turns with writing the same rows by hand, and return the seconds of both, by batch."""
    took, by_hand, end = [], [], time.perf_counter() + seconds
    while time.perf_counter() < end and len(took) < MAX_REQUESTS:
        started = time.perf_counter()
        await ask(connection)
        took.append(time.perf_counter() - started)
        by_hand.append(raw.follow())
    return took, by_hand


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
    took = sorted(took)
    figures = {name: round(1000 * took[int(share * (len(took) - 1))], 1) for name, share in
               (("p50_ms", 0.5), ("p95_ms", 0.95), ("p99_ms", 0.99), ("most_ms", 1.0))}  # fmt: skip
    return {"answers": len(took), "per_s": round(per * len(took) / seconds, 1)} | figures


async def measure(port, key, args, folder, url):
    base = "/api/v1/pools"

    async def connect(count):  # late, because the service closes idle connections
        return await asyncio.gather(*(Connection(port, key).open() for _ in range(count)))

    bodies = batch_bodies(args)
    (first,) = connections = await connect(1)
    await first.must("POST", base, 201, body({"name": "load", "system": args.system}))

    async def post(connection):
        await connection.must("POST", f"{base}/load/events", 201, body(event()))

    async def batch(connection):
        await connection.must("POST", f"{base}/load/events", 201, next(bodies))

    async def page(connection):
        await connection.must("GET", f"{base}/load/leaderboard?top=100", 200)

    async def mine(connection):
        who = RNG.randrange(PLAYERS)
        await connection.must("GET", f"{base}/load/players/player%20{who}/neighbours", 200)

    results = {}
    warm = 0
    while warm < args.history:
        await batch(first)
        warm += args.batch
    if url:  # PostgreSQL does this by itself within a minute
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute("ANALYZE")
    if args.senders == 1 and not args.postgresql:
        raw = RawCopy(folder / "podium.db", folder / "by-hand.db")
        took, by_hand = await in_turn(first, args.seconds, batch, raw)
        results["batches"] = latencies(took, sum(took), per=args.batch)
        results["the same rows by hand"] = latencies(by_hand, sum(by_hand), per=args.batch)
        results["share of the limit"] = round(statistics.median(map(truediv, by_hand, took)), 3)
        results["tables that differ"] = raw.differing()
        raw.close()
    else:
        connections += await connect(args.senders - len(connections))
        results["batches"] = latencies(*await closed_loop(connections, args.seconds, batch), per=args.batch)
    connections += await connect(args.connections - len(connections))
    await closed_loop(connections, 1.0, post)
    results["single posts"] = latencies(*await closed_loop(connections, args.seconds, post))
    results["posts at 100 a second"] = latencies(await steady(connections, args.seconds, 100, post), args.seconds)
    results["top-100 pages"] = latencies(*await closed_loop(connections, args.seconds, page))
    results["my rank and neighbours"] = latencies(*await closed_loop(connections, args.seconds, mine))
    for connection in connections:
        connection.writer.close()
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--history", type=int, default=20_000, help="events in the pool before anything is measured")
    parser.add_argument("--batch", type=int, default=1000, help="events of a batch")
    parser.add_argument("--senders", type=int, default=1, help="connections that send batches")
    parser.add_argument("--system", default="stk")
    parser.add_argument("--postgresql", action="store_true", help="keep the pool in a PostgreSQL of its own")
    parser.add_argument("--workers", type=int, default=1, help="processes of the service, with PostgreSQL")
    args = parser.parse_args()
    args.seconds = min(args.seconds, 60.0)
    args.connections = max(2, min(args.connections, 64))
    args.senders = max(1, min(args.senders, args.connections))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        port = free_port()
        database = ["--db", stack.enter_context(postgres(Path(folder, "pg")))] if args.postgresql else []
        workers = ["--workers", args.workers] if args.workers > 1 else []
        with serving(folder, port, *database, *workers) as (_, key):
            figures = asyncio.run(measure(port, key, args, Path(folder), *database[1:] or [""]))
        verified = subprocess.run(
            [*PODIUM, "verify", *database], cwd=folder, capture_output=True, text=True, check=False
        )
        figures["verify"] = verified.stdout.strip() or verified.stderr.strip()
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
