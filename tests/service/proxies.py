"""A minimal reverse proxy: it adds the forwarding headers and passes all bytes on at once."""

import asyncio
import threading
from contextlib import contextmanager, suppress

FORWARDED = b"x-forwarded-for: 192.0.2.9\r\nx-forwarded-proto: https\r\n"


async def relay(reader, writer):
    """Pass bytes on as soon as they arrive."""
    try:
        with suppress(OSError):
            while chunk := await reader.read(65_536):
                writer.write(chunk)
                await writer.drain()
    finally:
        writer.close()


@contextmanager
def proxying(port):
    """Start a proxy in front of a service on the loopback address, and yield the proxy's port."""

    async def pass_on(reader, writer):
        upstream_reader, upstream_writer = await asyncio.open_connection("127.0.0.1", port)
        with suppress(asyncio.IncompleteReadError, asyncio.CancelledError):  # the loop ends before the connection
            head = await reader.readuntil(b"\r\n\r\n")
            upstream_writer.write(head.removesuffix(b"\r\n") + FORWARDED + b"\r\n")
            await asyncio.gather(relay(reader, upstream_writer), relay(upstream_reader, writer))

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(pass_on, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        for each in asyncio.all_tasks(loop):
            each.cancel()
            with suppress(asyncio.CancelledError):
                loop.run_until_complete(each)
        loop.run_until_complete(asyncio.sleep(0))  # let the transports finish closing
        loop.close()
