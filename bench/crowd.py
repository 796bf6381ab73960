"""Check that a crowd blocks nobody: idle and slow connections, streams, a body of keys, and restarts under load.

    python bench/crowd.py [--seconds 10] [--rate 40] [--idle 2000] [--slow 300] [--streams 500] [--restarts 3]

The script starts its own servers on a free port of the loopback address, with a database in a temporary folder, and
never connects to anything else. Every phase has a limit of time and requests. It prints JSON.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from load import Connection, event, latencies, steady
from serving import PODIUM, free_port, serving

BASE = "/api/v1/pools"
SENDERS = 16
HEAD = b"POST /api/v1/pools/load/events HTTP/1.1\r\nHost: podium\r\n"
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(server):
    """Return the seconds of processor time that the server has used."""
    fields = Path(f"/proc/{server.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


async def post(connection):
    status, answer = await connection.ask("POST", f"{BASE}/load/events", json.dumps(event()).encode())
    if status != 201:  # noqa: PLR2004
        sys.exit(f"a post was answered {status}: {answer.decode()[:300]}")


async def posts(port, key, args):
    connections = await asyncio.gather(*(Connection(port, key).open() for _ in range(SENDERS)))
    figures = latencies(await steady(connections, args.seconds, args.rate, post), args.seconds)
    for each in connections:
        each.writer.close()
    return figures


async def crowd(port, args):
    """Open idle connections, and slow ones that send one byte per second of their headers or body."""
    writers = []
    for k in range(args.idle + args.slow):
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            if k >= args.idle:
                writer.write(HEAD + (b"Content-Length: 1000\r\n\r\n" if k % 2 else b""))
            writers.append(writer)

    async def drip():
        while True:
            for each in writers[args.idle :]:
                with suppress(OSError):
                    each.write(b"x")
            await asyncio.sleep(1.0)

    return writers, asyncio.create_task(drip())


async def crowded(port, key, server, args):
    alone = await posts(port, key, args)
    writers, dripping = await crowd(port, args)
    beside = await posts(port, key, args)
    await asyncio.sleep(max(0.0, 11.0 - args.seconds))
    dripping.cancel()
    open_files = len(os.listdir(f"/proc/{server.pid}/fd"))  # noqa: PTH208
    for each in writers:
        each.transport.abort()
    opened = {"opened": len(writers), "files the server has open after 11 s": open_files}
    return {"posts alone": alone, "posts beside a crowd": beside | opened}


async def streams(port, key, server, args):
    """Measure the cost of idle listeners, and when each of them receives a post."""
    head = f"GET {BASE}/load/stream HTTP/1.1\r\nHost: podium\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    listeners = []
    for _ in range(args.streams):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head)
        listeners.append((reader, writer))
    for reader, _ in listeners:
        await reader.readuntil(b": podium\n\n")
    await asyncio.sleep(2.0)
    before, began = cpu_s(server), time.perf_counter()
    await asyncio.sleep(args.seconds)
    share = (cpu_s(server) - before) / (time.perf_counter() - began)
    sender = await Connection(port, key).open()
    began = time.perf_counter()
    await post(sender)
    await asyncio.gather(*(reader.readuntil(b"event: submit") for reader, _ in listeners))
    heard_s = time.perf_counter() - began
    for _, writer in listeners:
        writer.transport.abort()
    sender.writer.close()
    return {
        "listeners": len(listeners),
        "share of a core": round(share, 4),
        "all heard of a post after s": round(heard_s, 3),
    }


async def body_of_keys(port, key, server):
    keys = ",".join(f'"k{k}":1' for k in range(340_000))
    connection = await Connection(port, key).open()
    figures = {}
    for name, body in (("repeated", f'{{{keys},"k339999":1}}'), ("unknown", f"{{{keys}}}")):
        before, began = cpu_s(server), time.perf_counter()
        status, _ = await connection.ask("POST", f"{BASE}/load/predict", body.encode())
        figures[name] = {
            "bytes": len(body), "status": status, "s": round(time.perf_counter() - began, 3),
            "cpu_s": round(cpu_s(server) - before, 3),
        }  # fmt: skip
    connection.writer.close()
    return figures


class Senders:
    """Connections that keep posting while the server restarts, and repeat each event until it is answered."""

    def __init__(self, port, key):
        self.port, self.key = port, key
        self.statuses, self.acknowledged, self.stopped = {}, set(), False

    async def run(self):
        """Post until stopped."""
        connection, waiting = None, None
        while not self.stopped or waiting is not None:
            waiting = waiting or event()
            try:
                connection = connection or await Connection(self.port, self.key).open()
                status, _ = await connection.ask("POST", f"{BASE}/load/events", json.dumps(waiting).encode())
            except (OSError, asyncio.IncompleteReadError):
                connection, status = None, "no answer"
                await asyncio.sleep(0.05)
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status in (200, 201):
                self.acknowledged.add(waiting["event_id"])
                waiting = None
            elif status == 503:  # noqa: PLR2004
                connection = None
        if connection is not None:
            connection.writer.close()


async def restarts(folder, port, key, args):
    """Restart the server under load, and return the figures of each stop and every event that was answered."""
    senders, stops = Senders(port, key), []
    tasks = []
    for k in range(args.restarts + 1):
        with serving(folder, port) as (server, _):
            tasks = tasks or [asyncio.create_task(senders.run()) for _ in range(SENDERS)]
            await asyncio.sleep(2.0)
            if k == args.restarts:
                senders.stopped = True
                await asyncio.gather(*tasks)
            else:
                began = time.perf_counter()
                server.terminate()
                await asyncio.to_thread(server.wait, 30)
                stops.append(round(time.perf_counter() - began, 2))
    return senders, {"stops_s": stops, "answers": {str(status): count for status, count in senders.statuses.items()}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=40.0, help="posts a second")
    parser.add_argument("--idle", type=int, default=2000)
    parser.add_argument("--slow", type=int, default=300)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--restarts", type=int, default=3)
    args = parser.parse_args()
    args.seconds, args.idle, args.slow = min(args.seconds, 60.0), min(args.idle, 5000), min(args.slow, 1000)
    args.streams, args.restarts = min(args.streams, 1000), min(args.restarts, 20)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192) if hard > 0 else 8192, hard))
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        with serving(folder, port) as (server, key):
            asyncio.run(create_pool(port, key))
            figures = {"body of keys": asyncio.run(body_of_keys(port, key, server))}
            figures |= asyncio.run(crowded(port, key, server, args))
            figures["streams"] = asyncio.run(streams(port, key, server, args))
        senders, figures["restarts under load"] = asyncio.run(restarts(folder, port, key, args))
        verified = subprocess.run([*PODIUM, "verify"], cwd=folder, capture_output=True, text=True, check=False)
        figures["verify"] = verified.stdout.strip() or verified.stderr.strip()
        from podium.store import Store

        store = Store(str(Path(folder) / "podium.db"))
        lost = senders.acknowledged - set(store.results("load").frame["event_id"])
        store.close()
        figures["restarts under load"] |= {"acknowledged": len(senders.acknowledged), "lost": len(lost)}
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


async def create_pool(port, key):
    connection = await Connection(port, key).open()
    body = json.dumps({"name": "load", "system": "stk"}).encode()
    status, answer = await connection.ask("POST", BASE, body)
    if status != 201:  # noqa: PLR2004
        sys.exit(f"the pool was answered {status}: {answer.decode()[:300]}")
    await post(connection)  # compiles
    connection.writer.close()


if __name__ == "__main__":
    main()
