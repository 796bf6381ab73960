"""Measure how long pages take, and how reading the first page delays incoming results.

    python bench/pages.py DATABASE [--rounds 100] [--seconds 20] [--posts 20] [--reads 100]

DATABASE is a file that `bench/insights.py --db` has filled, with 100,000 players and 200,000 events. It does not
change: the script starts its own server on a free port of the loopback address, on a copy whose pool is public. It
reads each page over one connection, with random names and pages, both after an earlier read ("warm") and after a result
("after a post"). Then it sends results at a steady rate, with and without readers of the first page. It prints JSON, in
milliseconds: the time of the answers, and the server's processor time for each.
"""

import argparse
import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from urllib.parse import quote

from insights import BETWEEN, EVERYBODY, FIELD, POOL, RNG, START, name_of
from load import Connection, latencies, steady
from serving import free_port, serving

from podium.store import Store

READERS = 8
START_S = 70.0  # by then all work that is delayed after a start has begun
RESTING_CPU_S = 0.1  # in two seconds
NUMBERS = count()


def pages(players, events):
    """Return the addresses of the pool's pages, with random players and events."""

    def someone():
        return quote(name_of(RNG.randrange(players)))

    def race():
        return f"race%20{RNG.randrange(events)}"

    return {
        "home": lambda: "/",
        "leaderboard": lambda: f"/{POOL}",
        "leaderboard, of a year": lambda: f"/{POOL}?active=1y",
        "leaderboard, by the newest event": lambda: f"/{POOL}?sort=move",
        "leaderboard, everybody": lambda: f"/{POOL}?all=1",
        "events": lambda: f"/{POOL}/events",
        "distribution": lambda: f"/{POOL}/distribution",
        "search, as one types": lambda: f"/{POOL}/find?list=1&q={someone()[:4]}",
        "search, everywhere": lambda: f"/find?list=1&q={someone()[:3]}",
        "search, misspelt": lambda: f"/{POOL}/find?list=1&q={someone()[:4]}qx",
        "event": lambda: f"/{POOL}/events/{race()}",
        "player": lambda: f"/{POOL}/players/{someone()}",
        "compare": lambda: f"/{POOL}/compare?player={someone()}&other={someone()}",
        "system": lambda: f"/{POOL}/system",
    }


def result(players, events):
    """Return a result of random players, later than every earlier one."""
    field = RNG.sample(range(players), FIELD)
    entries = [{"player": name_of(who), "position": place} for place, who in enumerate(field, start=1)]
    number = next(NUMBERS)
    when = START + BETWEEN * (events + number)
    return {"event_id": f"sent {number}", "started_at": when.isoformat(), "entries": entries}


class Server:
    """A server's pool and a client for it."""

    def __init__(self, port, key, players, events, process):
        self.port, self.key, self.process = port, key, process
        self.players, self.events = players, events

    def cpu_s(self):
        """Return the processor seconds so far."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def come_to_rest(self):
        """Wait until the work after a start is done, such as the ranks of the day."""
        await asyncio.sleep(START_S)
        before = -1.0
        while (cpu_s := self.cpu_s()) - before > RESTING_CPU_S:
            before = cpu_s
            await asyncio.sleep(2.0)

    async def connections(self, count):
        """Open connections. The server closes them if they stay unused."""
        return await asyncio.gather(*(Connection(self.port, self.key).open() for _ in range(count)))

    async def read(self, connection, path):
        """Read a page, and return its bytes."""
        status, text = await connection.ask("GET", path)
        if status not in {200, 404}:
            sys.exit(f"GET {path} answered {status}: {text.decode()[:300]}")
        return len(text)

    async def post(self, connection):
        """Send a result."""
        body = json.dumps(result(self.players, self.events)).encode()
        status, text = await connection.ask("POST", f"/api/v1/pools/{POOL}/events", body)
        if status != 201:  # noqa: PLR2004
            sys.exit(f"a result was answered {status}: {text.decode()[:300]}")


async def page_times(server, addresses, rounds):
    """Return the time of each page."""
    figures = {}
    for name, address in addresses.items():
        size, cpu_ms, times = 0, 0.0, {"warm": [], "after a post": []}
        reader, sender = await server.connections(2)
        await server.post(sender)
        await server.read(reader, address())
        for kind, took in times.items():
            cpu_s = server.cpu_s()
            for _ in range(rounds if kind == "warm" else max(1, rounds // 5)):
                if kind != "warm":
                    await server.post(sender)
                began = time.perf_counter()
                size = max(size, await server.read(reader, address()))
                took.append(time.perf_counter() - began)
            if kind == "warm":
                cpu_ms = 1000 * (server.cpu_s() - cpu_s) / len(took)
        spans = {kind: latencies(took, sum(took)) for kind, took in times.items()}
        figures[name] = {"most_bytes": size, "warm_cpu_ms": round(cpu_ms, 1)} | {
            kind: {each: span[each] for each in ("p50_ms", "p95_ms", "most_ms")} for kind, span in spans.items()
        }
        sys.stderr.write(f"{name}: {figures[name]}\n")
    return figures


async def measure(server, args):
    """Return all figures."""

    async def post(connection):
        await server.post(connection)

    async def home(connection):
        await server.read(connection, "/")

    await server.come_to_rest()
    figures = {"pages": await page_times(server, pages(server.players, server.events), args.rounds)}
    senders = await server.connections(READERS)
    await steady(senders, 2.0, args.posts, post)
    cpu_s = server.cpu_s()
    posts = await steady(senders, args.seconds, args.posts, post)
    cpu_ms = 1000 * (server.cpu_s() - cpu_s) / len(posts)
    figures["posts alone"] = latencies(posts, args.seconds) | {"cpu_ms": round(cpu_ms, 1)}
    readers = await server.connections(READERS)
    posts, reads = await asyncio.gather(
        steady(senders, args.seconds, args.posts, post), steady(readers, args.seconds, args.reads, home)
    )
    figures["posts while the first page is read"] = latencies(posts, args.seconds)
    figures["the first page meanwhile"] = latencies(reads, args.seconds)
    return figures


def main():
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("database", type=Path)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--posts", type=float, default=20.0, help="results a second")
    parser.add_argument("--reads", type=float, default=100.0, help="readings of the first page a second")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(args.database, Path(folder) / "podium.db")
        store = Store(str(Path(folder) / "podium.db"))
        store.describe_pool(POOL, public=True)
        players, events = store.leaderboard(POOL, EVERYBODY, top=1).rated, store.event_count(POOL)
        store.close()
        port = free_port()
        with serving(folder, port) as (server, key):
            figures = asyncio.run(measure(Server(port, key, players, events, server.pid), args))
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
