"""How long pages take, and what reading the first page does to results that come in meanwhile.

    python bench/pages.py DATABASE [--rounds 100] [--seconds 20] [--posts 20] [--reads 100]

DATABASE is what `bench/insights.py --db` has filled, with 100,000 players and 200,000 events; it is not changed: a
server of its own, on a free port of the loopback address, works on a copy whose pool is public. Each page is read
through one connection, names and pages at random, as it is when it was read before ("warm"), and as it is after a
result ("after a post"). Then results are sent at a steady rate, with and without readers of the first page.
Prints JSON, in milliseconds: of the answers, and of the server's own time on a processor for each.
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
START_S = 70.0  # within which all that begins later has begun
RESTING_CPU_S = 0.1  # in two seconds
NUMBERS = count()


def pages(players, events):
    """The pages of the pool: the address of each, at random where it is of something."""

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
    """A result of players at random, later than every one before."""
    field = RNG.sample(range(players), FIELD)
    entries = [{"player": name_of(who), "position": place} for place, who in enumerate(field, start=1)]
    number = next(NUMBERS)
    when = START + BETWEEN * (events + number)
    return {"event_id": f"sent {number}", "started_at": when.isoformat(), "entries": entries}


class Server:
    """The pool of a server, and one who asks it."""

    def __init__(self, port, key, players, events, process):
        self.port, self.key, self.process = port, key, process
        self.players, self.events = players, events

    def cpu_s(self):
        """Seconds on a processor so far."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def come_to_rest(self):
        """Wait until nothing is done that a start brings with it, as the ranks of the day."""
        await asyncio.sleep(START_S)
        before = -1.0
        while (cpu_s := self.cpu_s()) - before > RESTING_CPU_S:
            before = cpu_s
            await asyncio.sleep(2.0)

    async def connections(self, count):
        """So many connections; one that is not used soon is closed by the server."""
        return await asyncio.gather(*(Connection(self.port, self.key).open() for _ in range(count)))

    async def read(self, connection, path):
        """Read a page; the bytes of it."""
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
    """How long each page takes."""
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
    """All figures."""

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
