"""Every page and every read of the API over HTTP, with random players and events."""

import asyncio
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from setting import (
    API,
    BATCH,
    LARGE,
    PLAYERS,
    SMALL,
    SMALL_DUELS,
    SMALL_PLAYERS,
    Server,
    Setting,
    answered,
    duels,
    percentile,
    started,
)
from targets import Row

WARM, MOST_READS, MOST_S = 3, 60, 2.0
OK = 200
RNG = random.Random(16)  # noqa: S311
# Streams, downloads of whole pools, pictures, files, pages of organisers and personal links are not pages or reads.
LEFT_OUT = re.compile(r"/(stream|static|admin|sign-|api/docs|metrics|favicon|export)|^/p/|\.(png|json)$|\{link\}")
QUERIES = {
    "/compare": "?player={player}&other={other}",
    "/stakes": "?player={player}&entrants={player}&entrants={other}",
    "/predict": "?entrants={player}&entrants={other}",
    "/search": "?text={player}",
    "/find": "?q={player}",
    "/leaderboard": "?top=100",
}
FIXTURE = "next"


def routes() -> list[str]:
    """Return the paths of all pages and reads."""
    from podium.service.app import create_app
    from podium.store import Store

    with tempfile.TemporaryDirectory() as folder:
        store = Store(str(Path(folder) / "empty.db"))
        paths = {each.path for each in create_app(store).routes if "GET" in (getattr(each, "methods", None) or ())}
        store.close()
    return sorted(path for path in paths if not LEFT_OUT.search(path))


def addresses(path: str, pool: str, table: pl.DataFrame) -> Iterator[str]:
    """Return addresses of a route, with random events of a table of duels and their players."""
    query = next((query for end, query in QUERIES.items() if path.endswith(end)), "")
    while True:
        row = 2 * RNG.randrange(table.height // 2)
        (one, other), event = table["player"][row : row + 2], table["event_id"][row]
        yield (path + query).format(
            pool=pool, player=one, other=other, event_id=event, fixture_id=FIXTURE, match_id=FIXTURE, by="country",
            kind="csv", season="none", day="none",
        )  # fmt: skip


async def read_all(server: Server, paths: list[str], pool: str, table: pl.DataFrame) -> dict[str, list[float]]:
    """Return the times of warm reads of each route that has something to show for the pool."""
    (connection,) = await server.connect(1)
    entrants = [{"player": f"p{number}"} for number in range(8)]
    race = {"fixture_id": FIXTURE, "starts_at": "2099-01-01T19:00:00Z", "entrants": entrants}
    await answered(connection, "POST", f"{API}/{pool}/fixtures", race)
    times = {}
    for path in paths:
        (connection,) = await server.connect(1)
        some, took = addresses(path, pool, table), []
        statuses = {(await connection.ask("GET", next(some)))[0] for _ in range(WARM)}
        if statuses != {OK}:
            print(f"{path} is left out: {statuses}", file=sys.stderr)
            continue
        end = time.perf_counter() + MOST_S
        while len(took) < MOST_READS and time.perf_counter() < end:
            address, began = next(some), time.perf_counter()
            await connection.ask("GET", address)
            took.append(time.perf_counter() - began)
        times[path] = took
    return times


def rows_of(times: dict[str, list[float]], pool: str, most_ms: float) -> list[Row]:
    """Return the figures of all routes together, and of the slowest one. Print those that are too slow."""
    slow = {path: percentile(took, 0.95) for path, took in times.items()}
    for path, milliseconds in slow.items():
        if milliseconds > most_ms:
            print(f"{pool}: {path}: {milliseconds:.1f} ms", file=sys.stderr)
    return [
        Row(f"{pool}, p95 of each of {len(slow)} addresses", [*slow.values()], "ms"),
        Row(max(slow, key=slow.__getitem__).removeprefix(API), [max(slow.values())], "ms", most=most_ms),
    ]


def reads(setting: Setting) -> list[Row]:
    """Read every page of the large pool and of one with 30 players."""
    paths, count = routes(), setting.changes // 2
    last = (count - 1) // BATCH * BATCH
    ends = pl.concat([duels(first, min(BATCH, count - first), PLAYERS) for first in {0, last}])

    async def measure(server: Server) -> list[Row]:
        large = await read_all(server, paths, LARGE, ends)
        small = await read_all(server, paths, SMALL, duels(0, SMALL_DUELS, SMALL_PLAYERS))
        return [
            *rows_of(large, f"{PLAYERS:,} players", 20.0),
            *rows_of(small, f"{SMALL_PLAYERS} players", 5.0),
        ]

    with started(setting.copy_of_large("reads")) as server:
        return asyncio.run(measure(server))
