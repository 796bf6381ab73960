"""Measure how long reads and posts wait during long corrections, over HTTP.

    python bench/behind.py [--duels 200000] [--players 20000] [--seconds 10] [--db FILE]

The script fills a pool of duels and starts its own server on a free port of the loopback address. With FILE it keeps
the pool and uses it again. Corrections come through the server, or from another process on the same database. Every
phase has a time limit. It prints JSON, in milliseconds:

* `card`: a player's card, alone, and while the first event is corrected again and again;
* `post`: one result after the other, alone, and during three corrections of an event 100,000 events back;
* `crowd`: one writer and 100 readers who name the version of a correction from another process, and for comparison
  one reader alone who waits for such a correction.
"""

import argparse
import asyncio
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from load import Connection, body
from serving import free_port, serving

from podium.store import Store
from podium.systems import find

POOL, BACK, READERS, CORRECTIONS = "duels", 100_000, 100, 3
API = f"/api/v1/pools/{POOL}"
START = datetime(2024, 1, 1, tzinfo=UTC)
RNG = random.Random(9)  # noqa: S311
NUMBERS = count()
BATCH, OK = 20_000, 200
OTHER = """
import sys
from podium.store import Store
store = Store(sys.argv[1])
store.follow("duels")
print("ready", flush=True)
for line in sys.stdin:
    event, first, second, when = line.split()
    rows = [{"event_id": event, "started_at": when, "player": name, "position": place}
            for place, name in enumerate((first, second), start=1)]
    store.amend("duels", rows)
    print(store.version("duels"), flush=True)
"""


def when(number):
    return (START + timedelta(seconds=number)).isoformat()


def pair(number):
    """Return the players of a duel, always the same two, and let them win the first event by turns."""
    return random.Random(number).sample(range(ARGS.players), 2)  # noqa: S311


def rows(number):
    return [
        {"event_id": f"e{number}", "started_at": when(number), "player": f"p{who}", "position": place}
        for place, who in enumerate(pair(number), start=1)
    ]


def fill(path):
    store = Store(str(path))
    if not store.pools():
        store.create_pool(POOL, find("elo")(), public=True)
        for first in range(0, ARGS.duels, BATCH):
            numbers = range(first, min(first + BATCH, ARGS.duels))
            store.submit(POOL, [row for number in numbers for row in rows(number)])
    store.close()


def milliseconds(took):
    ordered = sorted(took)
    at = lambda share: round(1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)], 1)  # noqa: E731
    return {"count": len(took), "p50": at(0.5), "p99": at(0.99), "longest": at(1)}


async def timed(asking):
    began = time.perf_counter()
    await asking
    return time.perf_counter() - began


def card():
    return f"{API}/players/p{RNG.randrange(ARGS.players)}/card"


def new_event():
    number = ARGS.duels + next(NUMBERS)
    order = [{"player": f"p{who}", "position": place} for place, who in enumerate(pair(number), start=1)]
    return body({"event_id": f"n{ARGS.run}-{number}", "started_at": when(number), "entries": order})


class Corrector:
    """Corrects old events through the server or from another process."""

    def __init__(self, connect, path, *, by_other):
        self.connect, self.other, self.turn = connect, None, 0
        if by_other:
            command = [sys.executable, "-c", OTHER, str(path)]
            self.other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.other.stdout.readline()

    async def correct(self, number):
        """Reverse the result of an event, and return its version if another process corrects it."""
        self.turn += 1
        players = [f"p{who}" for who in pair(number)][:: -1 if self.turn % 2 else 1]
        if self.other is not None:
            self.other.stdin.write(f"e{number} {players[0]} {players[1]} {when(number)}\n")
            self.other.stdin.flush()
            return int(await asyncio.to_thread(self.other.stdout.readline))
        order = [{"player": name, "position": place} for place, name in enumerate(players, start=1)]
        sent = body({"event_id": f"e{number}", "started_at": when(number), "entries": order})
        status, answer = await (await self.connect()).ask("PUT", f"{API}/events/e{number}", sent)
        if status != OK:
            sys.exit(f"a correction was answered {status}: {answer.decode()[:300]}")
        return 0

    def end(self):
        """End the other process."""
        if self.other is not None:
            self.other.stdin.close()
            self.other.wait(60)


async def reading(connect, seconds):
    connection, took, end = await connect(), [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        took.append(await timed(connection.must("GET", card(), 200)))
        await asyncio.sleep(0.005)
    return took


async def posting(connect, is_over):
    connection, took = await connect(), []
    while not is_over():
        took.append(await timed(connection.must("POST", f"{API}/events", 201, new_event())))
        await asyncio.sleep(0.005)
    return took


async def measure(port, key, path):
    def connect():
        return Connection(port, key).open()

    def over_in(seconds):
        end = time.perf_counter() + seconds
        return lambda: time.perf_counter() > end

    await reading(connect, 2.0)  # compile and read everything once
    found = {"card": {"alone": milliseconds(await reading(connect, ARGS.seconds))}}
    await posting(connect, over_in(2.0))
    found["post"] = {"alone": milliseconds(await posting(connect, over_in(ARGS.seconds)))}
    for name, by_other in (("same process", False), ("another process", True)):
        corrector = Corrector(connect, path, by_other=by_other)
        await corrector.correct(0)
        running, folds = asyncio.create_task(reading(connect, ARGS.seconds)), []
        while not running.done():
            folds.append(await timed(corrector.correct(0)))
        found["card"][name] = milliseconds(await running) | {"corrections": milliseconds(folds)}
        is_over = []
        running = asyncio.create_task(posting(connect, lambda over=is_over: bool(over)))
        for _ in range(CORRECTIONS):
            await asyncio.sleep(0.5)
            await corrector.correct(max(0, ARGS.duels - BACK))
        await asyncio.sleep(1.0)
        is_over.append(True)
        found["post"][name] = milliseconds(await running)
        if by_other:
            found["crowd"] = await crowd(connect, corrector)
        corrector.end()
    return found


async def crowd(connect, corrector):
    waits = []
    for _ in range(3):  # one reader alone
        version, one = await corrector.correct(0), await connect()
        waits.append(await timed(one.must("GET", f"{API}/leaderboard?since={version}", 200)))
    version = await corrector.correct(0)
    writer, *readers = [await connect() for _ in range(READERS + 1)]
    reads = [timed(each.must("GET", f"{card()}?since={version}", 200)) for each in readers]
    wrote, *read = await asyncio.gather(timed(writer.must("POST", f"{API}/events", 201, new_event())), *reads)
    alone = round(1000 * statistics.median(waits), 1)
    return {"a fold, alone": alone, "writer": milliseconds([wrote])["longest"], "readers": milliseconds(read)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(ARGS.db or f"{folder}/filled.db")
        began = time.perf_counter()
        fill(path)
        print(f"filled in {time.perf_counter() - began:.1f} s", file=sys.stderr)
        copy = Path(folder) / "podium.db"
        shutil.copyfile(path, copy)
        port = free_port()
        with serving(folder, port, "--db", copy, "--no-log-requests") as (_, key):
            print(json.dumps(asyncio.run(measure(port, key, copy)), indent=2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--duels", type=int, default=200_000)
    parser.add_argument("--players", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--db")
    ARGS = parser.parse_args()
    ARGS.run = random.randrange(10**9)  # noqa: S311
    main()
