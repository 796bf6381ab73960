"""Posts of duels over HTTP: in batches, one by one, and from many game servers at once."""

import asyncio
import re
import time
from contextlib import ExitStack
from urllib.parse import parse_qs, urlsplit

import psycopg
from delay import delaying
from load import body, closed_loop, duel
from raw_sqlite import RawCopy
from serving import postgres
from setting import API, Server, Setting, answered, percentile, started, timed
from targets import NO_SLOWER, Row

POOL = "load"
EVENTS = f"{API}/{POOL}/events"
BATCH, WARM_BATCHES, BATCHES, ROUNDS, SERVERS = 1_000, 5, 12, 5, 50
WORKERS, DELAY_S, STALE_EVENTS, PATIENCE_S = 3, 0.020, 40, 5.0
WORKER = re.compile(rb"x-request-id: ([0-9a-f]+)-")


async def post(connection):
    """Send a duel."""
    await connection.must("POST", EVENTS, 201, body(duel()))


def batch() -> bytes:
    """Return the body of a batch."""
    return body({"events": [duel() for _ in range(BATCH)]})


async def begin(server: Server) -> None:
    """Create the pool, and send the first batches and posts."""
    await server.create_pool(POOL)
    for _ in range(WARM_BATCHES):
        await batch_s(server)
    await from_servers(server, SERVERS, 1.0)


async def batch_s(server: Server) -> float:
    """Return the seconds of a batch."""
    (connection,), sent = await server.connect(1), batch()
    return await timed(connection.must("POST", EVENTS, 201, sent))


async def from_servers(server: Server, count: int, seconds: float) -> tuple[float, list[float]]:
    """Let game servers post duels, each after its answer, and return the posts per second and their times."""
    took, spent = await closed_loop(await server.connect(count), seconds, post)
    return len(took) / spent, took


def posts(setting: Setting) -> list[Row]:
    """Measure posts to SQLite, by turns with REF and with writing the same rows by hand."""

    async def measure(servers: dict[str, Server]) -> list[Row]:
        for server in servers.values():
            await begin(server)
        batches, single, many, times = ({name: [] for name in servers} for _ in range(4))
        folder, by_hand = servers["Podium"].folder, []
        raw = RawCopy(folder / "podium.db", folder / "by-hand.db")
        for _ in range(BATCHES):
            for name, server in servers.items():
                batches[name].append(await batch_s(server))
            by_hand.append(raw.follow())
        raw.close()
        for _ in range(ROUNDS):
            for name, server in servers.items():
                single[name].append(percentile((await from_servers(server, 1, setting.seconds / 2))[1], 0.5))
        for _ in range(ROUNDS):
            for name, server in servers.items():
                rate, took = await from_servers(server, SERVERS, setting.seconds)
                many[name].append(rate)
                times[name].append(percentile(took, 0.99))
        own, shares = batches["Podium"], [hand / took for hand, took in zip(by_hand, batches["Podium"], strict=True)]
        rows = [
            Row("batches of 1,000 duels", [BATCH / each for each in own], "duels/s"),
            Row("times rows written by hand", shares, "x"),
            Row("single posts, p50", single["Podium"], "ms"),
            Row("50 game servers", many["Podium"], "posts/s"),
            Row("their p99", times["Podium"], "ms"),
        ]
        if "REF" in servers:
            rows.insert(2, Row("times REF", ratios(batches["REF"], own), "x", least=3.0))
            rows.insert(4, Row("times REF", ratios(single["REF"], single["Podium"]), "x", least=1.5))
        return rows

    return with_servers(setting, measure)


def ratios(above, below) -> list[float]:
    """Return the ratio of each round."""
    return [one / other for one, other in zip(above, below, strict=True)]


def with_servers(setting: Setting, measure) -> list[Row]:
    """Start a server for each tree, and measure."""
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(started(setting.new_folder(f"posts {name}"), sources=sources))
            for name, sources in setting.trees.items()
        }
        return asyncio.run(measure(servers))


def new_database(url: str, name: str) -> str:
    """Create a database on a PostgreSQL server, and return its URL."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def workers(setting: Setting) -> list[Row]:
    """Measure three workers on PostgreSQL by turns with one."""

    async def measure(servers: dict[int, Server]) -> list[Row]:
        for server in servers.values():
            await begin(server)
        batches, many = ({count: [] for count in servers} for _ in range(2))
        for _ in range(BATCHES):
            for count, server in servers.items():
                batches[count].append(BATCH / await batch_s(server))
        for _ in range(ROUNDS):
            for count, server in servers.items():
                many[count].append((await from_servers(server, SERVERS, setting.seconds))[0])
        return [
            Row("batches, one worker", batches[1], "duels/s"),
            Row("50 game servers, one worker", many[1], "posts/s"),
            Row("three workers, times one", ratios(batches[WORKERS], batches[1]), "x", least=NO_SLOWER),
            Row("three workers, times one", ratios(many[WORKERS], many[1]), "x", least=NO_SLOWER),
        ]

    with ExitStack() as stack:
        url, servers = stack.enter_context(postgres(setting.new_folder("pg"))), {}
        for count in (1, WORKERS):
            database, folder = new_database(url, f"workers_{count}"), setting.new_folder(f"workers {count}")
            servers[count] = stack.enter_context(started(folder, "--db", database, "--workers", count))
        return asyncio.run(measure(servers))


def delayed(setting: Setting) -> list[Row]:
    """Measure two workers that share a PostgreSQL whose answers are delayed."""

    async def measure(server: Server) -> list[Row]:
        await begin(server)
        rates = [BATCH / await batch_s(server) for _ in range(BATCHES // 2)]
        many = [(await from_servers(server, SERVERS, setting.seconds))[0] for _ in range(ROUNDS)]
        return [
            Row("batches of 1,000 duels", rates, "duels/s"),
            Row("50 game servers", many, "posts/s"),
            Row(
                "until the other worker shows a result, p50", [1000.0 * each for each in await staleness(server)], "ms"
            ),
        ]

    with ExitStack() as stack:
        url = stack.enter_context(postgres(setting.new_folder("distant-pg")))
        (socket_folder,) = parse_qs(urlsplit(url).query)["host"]
        port = stack.enter_context(delaying(f"{socket_folder}/.s.PGSQL.5432", DELAY_S))
        database = f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"
        folder = setting.new_folder("distant")
        return asyncio.run(measure(stack.enter_context(started(folder, "--db", database, "--workers", 2))))


async def connection_to_each(server: Server, count: int):
    """Open a connection to each worker, recognized by the start of its request ids."""
    found, end = {}, time.monotonic() + PATIENCE_S
    while len(found) < count and time.monotonic() < end:
        (connection,) = await server.connect(1)
        connection.writer.write(b"GET /healthz HTTP/1.1\r\nHost: podium\r\n\r\n")
        head = await connection.reader.readuntil(b"\r\n\r\n")
        await connection.reader.readexactly(int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1]))
        found.setdefault(WORKER.search(head)[1], connection)
    return [*found.values()]


async def staleness(server: Server) -> list[float]:
    """Return the seconds from one worker's answer until the other worker's page of the player shows the event."""
    one, other = await connection_to_each(server, 2)
    took = []
    for _ in range(STALE_EVENTS):
        sent = duel()
        path = f"{API}/{POOL}/events/{sent['event_id']}"
        await answered(one, "POST", EVENTS, sent)
        began = time.perf_counter()
        while (await other.ask("GET", path))[0] != 200 and time.perf_counter() - began < PATIENCE_S:  # noqa: ASYNC110, PLR2004
            await asyncio.sleep(0.002)
        took.append(time.perf_counter() - began)
    return took
