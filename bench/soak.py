"""Run hours of mixed load, and show if memory, handles, the write-ahead log and the slowest answers stay level.

    python bench/soak.py [--hours 2] [--posts 5] [--pages 8] [--streams 5] [--window 600]

The script starts its own server on a free port of the loopback address, with a database in a temporary folder. Results
come at a steady rate. One in a hundred is late and one in a hundred is voided. Meanwhile it reads pages and listens to
streams. For each window it prints a line of JSON with the server's memory and handles, the size of the database, and
the times of all answers. At the end it verifies the pool against a replay of its log.
"""

import argparse
import asyncio
import itertools
import json
import sys
import tempfile
import time
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

from load import PLAYERS, RNG, START, Connection, body, event, latencies
from serving import free_port, serving

from podium.store import Store

BASE, POOL = "/api/v1/pools", "load"
LATE_BY, ONE_IN = 500, 100  # events after a late one; one late and one voided result in this many
READERS, SENDERS = 4, 4
MEGABYTE = 1e6


def page_paths():
    """Return addresses of pages, each kind in turn."""
    while True:
        who, other = (f"player%20{RNG.randrange(PLAYERS)}" for _ in range(2))
        yield from (
            f"/{POOL}", f"/{POOL}/players/{who}", f"/{POOL}/events", f"/{POOL}/compare?player={who}&other={other}",
            f"{BASE}/{POOL}/leaderboard?top=100", f"/{POOL}/find?q={who[:9]}", f"/{POOL}/distribution", "/",
        )  # fmt: skip


class Load:
    """The requests, and the time of each answer."""

    def __init__(self, port, key, log):
        self.port, self.key, self.log = port, key, log
        self.took, self.heard, self.sent = defaultdict(list), 0, 0
        self.paths = page_paths()

    async def timed(self, kind, connection, *request, status):
        """Send a request, and record the time of the answer."""
        began = time.perf_counter()
        got, answer = await connection.ask(*request)
        if got not in status:
            self.fail(f"{request[:2]} answered {got}: {answer.decode()[:300]}")
        self.took[kind].append(time.perf_counter() - began)

    def fail(self, reason):
        """Exit with a reason and with the server's log, except for answered requests."""
        lines = [line for line in self.log.read_text().splitlines(keepends=True) if '"level": "info"' not in line]
        sys.exit(f"{reason}\nthe server logged:\n{''.join(lines)[-20_000:]}")

    async def send(self, connection):
        """Send a result. Some are late and some are voided."""
        self.sent += 1
        given = event()
        if self.sent % ONE_IN == ONE_IN // 2 and self.sent > LATE_BY:
            number = int(given["event_id"][1:])
            given["started_at"] = (START + timedelta(seconds=number - RNG.randrange(LATE_BY))).isoformat()
            await self.timed("late", connection, "POST", f"{BASE}/{POOL}/events", body(given), status={201, 202})
        else:
            await self.timed("posts", connection, "POST", f"{BASE}/{POOL}/events", body(given), status={201})
        if self.sent % ONE_IN == 0:
            path = f"{BASE}/{POOL}/events/{given['event_id']}/void"
            await self.timed("voids", connection, "POST", path, body({"reason": "soak"}), status={200})

    async def look(self, connection):
        """Read the next page."""
        await self.timed("pages", connection, "GET", next(self.paths), status={200, 404, 422})  # two different players

    async def at_rate(self, count, rate, act):
        """Call at a steady rate over a few connections, and open a connection again after it was closed."""

        async def one(number):
            connection = await Connection(self.port, self.key).open()
            for k in itertools.count(number, count):
                await asyncio.sleep(max(0.0, self.began + k / rate - time.perf_counter()))
                await act(connection)

        await asyncio.gather(*map(one, range(count)))

    async def listen(self):
        """Count the messages of a stream."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        address = f"{BASE}/{POOL}/stream?seconds=86400"
        head = f"GET {address} HTTP/1.1\r\nHost: podium\r\nAuthorization: Bearer {self.key}\r\n\r\n"
        writer.write(head.encode())
        while line := await reader.readline():
            self.heard += line.startswith(b"data:")

    async def run(self, args, server, folder):
        """Send, read and listen for hours."""
        first = await Connection(self.port, self.key).open()
        new_pool = body({"name": POOL, "system": args.system, "public": True})
        await first.must("POST", BASE, 201, new_pool)
        self.began = time.perf_counter()
        work = [
            asyncio.create_task(self.at_rate(SENDERS, args.posts, self.send)),
            asyncio.create_task(self.at_rate(READERS, args.pages, self.look)),
            *(asyncio.create_task(self.listen()) for _ in range(args.streams)),
        ]
        while time.perf_counter() - self.began < 3600.0 * args.hours:
            done, _ = await asyncio.wait(work, timeout=args.window, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            if done:
                self.fail("a stream was closed")
            self.tell(server, folder, args.window)
        for task in work:
            task.cancel()

    def tell(self, server, folder, window):
        """Print the line of a window."""
        lines = Path(f"/proc/{server.pid}/status").read_text().splitlines()
        kib = {name: int(value.split()[0]) for name, value in (line.split(":") for line in lines) if "kB" in value}
        sizes = {each: round((folder / each).stat().st_size / MEGABYTE, 1) for each in ("podium.db", "podium.db-wal")}
        answers = {kind: latencies(took, window) for kind, took in self.took.items()}
        line = {
            "minutes": round((time.perf_counter() - self.began) / 60.0),
            "memory_mb": round(kib["VmRSS"] * 1024 / MEGABYTE, 1),
            "own_mb": round(kib["RssAnon"] * 1024 / MEGABYTE, 1),  # each connection maps the file, which grows
            "handles": len(list(Path(f"/proc/{server.pid}/fd").iterdir())),
            **sizes, "heard": self.heard, **answers,
        }  # fmt: skip
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
        self.took.clear()


def main():
    """Load the server for hours."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--posts", type=float, default=5.0, help="results a second")
    parser.add_argument("--pages", type=float, default=8.0, help="pages a second")
    parser.add_argument("--streams", type=int, default=5)
    parser.add_argument("--window", type=float, default=600.0, help="seconds per line of output")
    parser.add_argument("--system", default="glicko2")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        with serving(folder, port) as (server, key):
            asyncio.run(Load(port, key, Path(folder, "log")).run(args, server, Path(folder)))
        store = Store(str(Path(folder) / "podium.db"))
        sys.stdout.write(json.dumps({"events": store.event_count(POOL), "faults": store.verify(POOL)}) + "\n")
        store.close()


if __name__ == "__main__":
    main()
