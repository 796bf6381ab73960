"""A proxy on the loopback address that delays all answers of a PostgreSQL, as a distant database would."""

import asyncio
import multiprocessing
from contextlib import contextmanager, suppress

from serving import free_port

CHUNK = 1 << 16


async def forward(reader, writer, delay_s):
    """Pass on bytes in order, each after the delay."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Queue()

    async def receive():
        with suppress(OSError):
            while chunk := await reader.read(CHUNK):
                arrived.put_nowait((loop.time() + delay_s, chunk))
        arrived.put_nowait((loop.time() + delay_s, b""))

    receiving = asyncio.create_task(receive())
    while True:
        due, chunk = await arrived.get()
        await asyncio.sleep(max(0.0, due - loop.time()))
        if not chunk:
            break
        writer.write(chunk)
    await receiving
    writer.close()


async def serve(port, path, delay_s):
    """Connect each client with the database's Unix socket."""

    async def connect(reader, writer):
        with suppress(OSError):
            answers, requests = await asyncio.open_unix_connection(path)
            await asyncio.gather(forward(reader, requests, 0.0), forward(answers, writer, delay_s))

    server = await asyncio.start_server(connect, "127.0.0.1", port)
    await server.serve_forever()


def run(port, path, delay_s):
    """Serve until the process is ended."""
    asyncio.run(serve(port, path, delay_s))


@contextmanager
def delaying(socket_path, delay_s):
    """Start a proxy in a separate process, and yield its port."""
    port = free_port()
    process = multiprocessing.get_context("spawn").Process(target=run, args=(port, socket_path, delay_s), daemon=True)
    process.start()
    try:
        yield port
    finally:
        process.terminate()
        process.join()
