"""Check that a crowd blocks nobody: idle and slow connections, and streams.

    python bench/crowd.py [--seconds 10] [--rate 40] [--idle 2000] [--slow 300] [--streams 500]

The script starts its own server on a free port of the loopback address, with a database in a temporary folder, and
never connects to anything else. Every phase has a limit of time and requests. It prints JSON.
"""

import argparse
import asyncio
import json
import os
import resource
import sys
import tempfile
import time
from contextlib import suppress

from load import Connection, event, latencies, steady
from serving import cpu_s, free_port, serving

BASE = "/api/v1/pools"
SENDERS = 16
HEAD = b"POST /api/v1/pools/load/events HTTP/1.1\r\nHost: podium\r\n"


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=40.0, help="posts a second")
    parser.add_argument("--idle", type=int, default=2000)
    parser.add_argument("--slow", type=int, default=300)
    parser.add_argument("--streams", type=int, default=500)
    args = parser.parse_args()
    args.seconds, args.idle, args.slow = min(args.seconds, 60.0), min(args.idle, 5000), min(args.slow, 1000)
    args.streams = min(args.streams, 1000)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192) if hard > 0 else 8192, hard))
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, serving(folder, port) as (server, key):
        asyncio.run(create_pool(port, key))
        figures = asyncio.run(crowded(port, key, server, args))
        figures["streams"] = asyncio.run(streams(port, key, server, args))
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
