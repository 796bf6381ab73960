"""Waiting connections are closed in time, limited in number, and never delay a response."""

import asyncio
import resource
import threading
import time
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from podium.service import server
from podium.service.server import MAX_HEADER_BYTES, WRITE_TIMEOUT_S, LimitedProtocol, Phase, max_connections

HEADERS = b"GET / HTTP/1.1\r\nhost: podium\r\n"
SLACK_S = 0.5


@asynccontextmanager
async def listening(app, limit=None):
    """Yield a function that connects to a server of an ASGI app and sends bytes, and the server's connections."""
    config = uvicorn.Config(app, http=LimitedProtocol, limit_concurrency=limit, timeout_keep_alive=60, log_config=None)
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: LimitedProtocol(config, state, {}), "127.0.0.1", 0)
    port, writers = server.sockets[0].getsockname()[1], []

    async def connect(sent):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writers.append(writer)
        writer.write(sent)
        return reader

    try:
        yield connect, state.connections
    finally:
        for each in writers:
            each.transport.abort()
        server.close()
        await until(lambda: not state.connections)
        for task in state.tasks:
            task.cancel()


async def answer(scope, receive, send):
    """Read the body and answer with its length; at /held, wait until the test ends."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    if scope["path"] == "/held":
        await asyncio.sleep(30.0)
    body = str(size).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


async def until(condition):
    """Wait until a condition is true."""
    async with asyncio.timeout(10.0):
        while not condition():  # noqa: ASYNC110  (connections have no signal to wait for)
            await asyncio.sleep(0.001)


async def is_closed(reader):
    """Read to the end, and return True once the other side has closed the connection."""
    with suppress(ConnectionResetError):
        await asyncio.wait_for(reader.read(), 10.0)
    return True


async def phase_reached(connections, phase):
    """Wait until a connection is in a phase, and return it."""
    await until(lambda: any(each.phase is phase for each in connections))
    return next(each for each in connections if each.phase is phase)


@pytest.mark.parametrize(
    ("sent", "phase", "limit_s"),
    [
        (b"", Phase.HEADERS, 10.0),
        (HEADERS, Phase.HEADERS, 10.0),
        (HEADERS + b"content-length: 9\r\n\r\n1234", Phase.BODY, 30.0),
        (HEADERS + b"\r\n", Phase.IDLE, 60.0),
        (HEADERS + b"\r\n" + HEADERS, Phase.HEADERS, 10.0),
    ],
    ids=["nothing", "half of the headers", "half of the body", "idle", "half of the next headers"],
)
def test_a_slow_client_is_disconnected(sent, phase, limit_s):
    async def take_long():
        async with listening(answer) as (connect, connections):
            reader = await connect(sent)
            connection = await phase_reached(connections, phase)
            connection.close_if_late(connection.since + limit_s - SLACK_S)
            assert connection in connections
            connection.close_if_late(connection.since + limit_s + SLACK_S)
            assert connection not in connections
            assert await is_closed(reader)

    asyncio.run(take_long())


def test_a_response_has_no_time_limit_while_the_client_reads():
    async def wait():
        async with listening(answer) as (connect, connections):
            await connect(b"GET /held HTTP/1.1\r\nhost: podium\r\n\r\n")
            connection = await phase_reached(connections, Phase.ANSWER)
            connection.close_if_late(time.monotonic() + 1e6)
            assert connection in connections
            connection.pause_writing()
            connection.close_if_late(time.monotonic() + WRITE_TIMEOUT_S - SLACK_S)
            assert connection in connections
            connection.close_if_late(time.monotonic() + WRITE_TIMEOUT_S + SLACK_S)
            assert connection not in connections

    asyncio.run(wait())


def test_a_body_is_not_late_while_the_service_pauses_reading():
    """For example, while the database is locked, the client would continue if it could."""

    async def wait():
        async with listening(answer) as (connect, connections):
            await connect(HEADERS + b"content-length: 9\r\n\r\n1234")
            connection = await phase_reached(connections, Phase.BODY)
            connection.flow.pause_reading()
            connection.close_if_late(time.monotonic() + 1e6)
            assert connection in connections
            connection.flow.resume_reading()

    asyncio.run(wait())


def test_a_new_connection_replaces_the_longest_waiting_one():
    async def crowd():
        async with listening(answer, limit=4) as (connect, connections):
            await connect(b"GET /held HTTP/1.1\r\nhost: podium\r\n\r\n")
            answered = await phase_reached(connections, Phase.ANSWER)
            for _ in range(20):
                reader = await connect(HEADERS + b"\r\n")
                assert (await reader.readline()).startswith(b"HTTP/1.1 200")
                assert len(connections) <= 3
            assert answered in connections
            for held in (2, 3):  # now every allowed connection is being answered
                await connect(b"GET /held HTTP/1.1\r\nhost: podium\r\n\r\n")
                await until(lambda held=held: sum(each.phase is Phase.ANSWER for each in connections) == held)
            reader = await connect(HEADERS + b"\r\n")
            assert (await reader.readline()).startswith(b"HTTP/1.1 503")

    asyncio.run(crowd())


def test_endless_headers_are_rejected_and_trailers_are_ignored():
    seen = []

    async def remember(scope, receive, send):
        await answer(scope, receive, send)
        seen.append(dict(scope["headers"]))

    async def send():
        async with listening(remember) as (connect, _):
            reader = await connect(HEADERS + b"x: 1\r\n" * (MAX_HEADER_BYTES // 5))
            assert (await reader.readline()).startswith(b"HTTP/1.1 431")
            chunked = b"transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nauthorization: Bearer x\r\n\r\n"
            reader = await connect(HEADERS.replace(b"GET", b"POST") + chunked)
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")

    asyncio.run(send())
    assert [b"authorization" in each for each in seen] == [False]


@pytest.mark.parametrize(
    ("trusted", "sender", "client"),
    [
        ([], "127.0.0.1", "127.0.0.1"),
        (["127.0.0.1"], "127.0.0.1", "192.0.2.9"),
        (["10.0.0.0/8"], "10.1.2.3", "192.0.2.9"),
        (["10.0.0.0/8"], "127.0.0.1", "127.0.0.1"),
    ],
)
def test_only_a_trusted_proxy_sets_the_client_address(trusted, sender, client, monkeypatch):
    """A client's own header precedes the proxy's addition, and is not trusted."""
    monkeypatch.setattr(server, "LOG_CONFIG", None)
    seen = []

    async def remember(scope, _receive, _send):
        seen.append(scope["client"][0])

    app: Any = remember
    config = uvicorn.Config(app, **server.server_options("127.0.0.1", 0, trusted))
    config.load()
    headers = [(b"x-forwarded-for", b"198.51.100.1, 192.0.2.9")]
    asyncio.run(config.loaded_app({"type": "http", "client": (sender, 1), "headers": headers}, None, None))
    assert seen == [client]


def test_late_connections_close_and_streams_end_with_the_server():
    """Run the real server. Connections check themselves, and the first one to shut down ends the streams."""
    ended = threading.Event()

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            scope["state"]["end_streams"] = ended.set
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
        else:
            await answer(scope, receive, send)

    async def serve():
        config = uvicorn.Config(app, port=0, http=LimitedProtocol, log_config=None, timeout_graceful_shutdown=3)
        running = uvicorn.Server(config)
        task = asyncio.create_task(running.serve())
        await until(lambda: running.started)
        port = running.servers[0].sockets[0].getsockname()[1]
        reader, late = await asyncio.open_connection("127.0.0.1", port)
        connection = await phase_reached(running.server_state.connections, Phase.HEADERS)
        connection.since -= 11.0
        connection.look_after(0.0)
        assert await is_closed(reader)
        late.close()
        reader, stays = await asyncio.open_connection("127.0.0.1", port)
        stays.write(HEADERS + b"\r\n")
        connection = await phase_reached(running.server_state.connections, Phase.IDLE)
        assert connection.next_look.when() - asyncio.get_running_loop().time() > Phase.IDLE.value - 10.0
        assert not ended.is_set()
        running.should_exit = True
        await asyncio.wait_for(task, 10.0)
        stays.close()

    asyncio.run(serve())
    assert ended.is_set()


def test_a_connection_checks_again_after_the_service_pauses_reading():
    async def wait():
        async with listening(answer) as (connect, connections):
            await connect(HEADERS + b"content-length: 9\r\n\r\n1234")
            connection = await phase_reached(connections, Phase.BODY)
            connection.flow.pause_reading()
            connection.since -= 31.0
            connection.look()
            assert connection in connections
            connection.flow.resume_reading()
            connection.look()
            assert connection not in connections
            assert connection.next_look is None

    asyncio.run(wait())


@pytest.mark.parametrize(
    ("limits", "raised", "connections"),
    [((256, 1_024), (1_024, 1_024), 896), ((256, -1), (2_128, -1), 2_000), ((4_096, 4_096), None, 2_000)],
)
def test_the_connection_limit_follows_the_open_file_limit(limits, raised, connections, monkeypatch):
    given = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(resource, "setrlimit", lambda _, now: given.append(now))
    assert max_connections() == connections
    assert given == ([raised] if raised else [])
