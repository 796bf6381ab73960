"""Every page and every read of the API over HTTP, with random players and events."""

import asyncio
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from setting import (
    API,
    LARGE,
    PLAYERS,
    SMALL,
    SMALL_DUELS,
    SMALL_PLAYERS,
    Server,
    Setting,
    answered,
    percentile,
    started,
)
from targets import Row

WARM, MOST_READS, MOST_S, SLOWEST = 3, 60, 2.0, 3
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


def addresses(path: str, pool: str, players: int, events: int) -> Iterator[str]:
    """Return addresses of a route with random players and events."""
    query = next((query for end, query in QUERIES.items() if path.endswith(end)), "")
    while True:
        one, other = RNG.sample(range(players), 2)
        yield (path + query).format(
            pool=pool, player=f"p{one}", other=f"p{other}", event_id=f"e{RNG.randrange(events)}", fixture_id=FIXTURE,
            match_id=FIXTURE, by="country", kind="csv", season="none", day="none", digest="", name="",
        )  # fmt: skip


async def read_all(server: Server, pool: str, players: int, events: int) -> dict[str, list[float]]:
    """Return the times of warm reads of each route that has something to show for the pool."""
    (connection,) = await server.connect(1)
    entrants = [f"p{number}" for number in range(8)]
    race = {"fixture_id": FIXTURE, "starts_at": "2099-01-01T19:00:00Z", "entrants": entrants}
    await answered(connection, "POST", f"{API}/{pool}/fixtures", race)
    times = {}
    for path in routes():
        some, took = addresses(path, pool, players, events), []
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
    """Return the figures of all routes together, and of the slowest ones."""
    slow = {path: percentile(took, 0.95) for path, took in times.items()}
    slowest = sorted(slow, key=slow.__getitem__, reverse=True)[:SLOWEST]
    return [
        Row(f"{pool}: 95th percentile of {len(slow)} pages and reads, each", [*slow.values()], "ms"),
        *(Row(f"{pool}: {path}", [slow[path]], "ms", most=most_ms) for path in slowest),
    ]


def reads(setting: Setting) -> list[Row]:
    """Read every page of the large pool and of one with 30 players."""

    async def measure(server: Server) -> list[Row]:
        large = await read_all(server, LARGE, PLAYERS, setting.changes // 2)
        small = await read_all(server, SMALL, SMALL_PLAYERS, SMALL_DUELS)
        return [
            *rows_of(large, f"{PLAYERS:,} players, {setting.changes:,} changes", 20.0),
            *rows_of(small, f"{SMALL_PLAYERS} players", 5.0),
        ]

    with started(setting.copy_of_large("reads")) as server:
        return asyncio.run(measure(server))
