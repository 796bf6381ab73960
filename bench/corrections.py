"""Corrections of the first event of a large pool over HTTP: their time, and the delay of reads and other posts."""

import asyncio
import random
import time

from load import body
from setting import API, LARGE, PLAYERS, SMALL, START, Server, Setting, answered, duels, percentile, started
from targets import Row

CORRECTIONS, ROUNDS, PAUSE_S = 3, 3, 0.005
RNG = random.Random(9)  # noqa: S311


def card() -> str:
    """Return the address of a random player's card."""
    return f"{API}/{LARGE}/players/p{RNG.randrange(PLAYERS)}/card"


async def reading(server: Server, ends: asyncio.Event) -> list[float]:
    """Read cards of players until the end, and return the time of each."""
    (connection,), took = await server.connect(1), []
    while not ends.is_set():
        path, began = card(), time.perf_counter()
        await connection.ask("GET", path)
        took.append(time.perf_counter() - began)
        await asyncio.sleep(PAUSE_S)
    return took


async def posting(server: Server, ends: asyncio.Event, name: str) -> list[float]:
    """Post duels to another pool until the end, and return the time of each."""
    (connection,), took = await server.connect(1), []
    while not ends.is_set():
        one, other = RNG.sample(range(30), 2)
        entries = [{"player": f"p{one}", "position": 1}, {"player": f"p{other}", "position": 2}]
        sent = body({"event_id": f"{name}-{len(took)}", "started_at": "2026-01-01T00:00:00Z", "entries": entries})
        began = time.perf_counter()
        await connection.must("POST", f"{API}/{SMALL}/events", 201, sent)
        took.append(time.perf_counter() - began)
        await asyncio.sleep(PAUSE_S)
    return took


async def meanwhile(server: Server, name: str, act) -> tuple[list[float], list[float]]:
    """Return the times of reads and of posts to another pool during an action."""
    ends = asyncio.Event()
    tasks = [asyncio.create_task(reading(server, ends)), asyncio.create_task(posting(server, ends, name))]
    await act()
    ends.set()
    reads, posts = await asyncio.gather(*tasks)
    return reads, posts


def corrections(setting: Setting) -> list[Row]:
    """Correct the first event again and again, while others read the pool and post to another one."""
    first = duels(0, 1, PLAYERS)["player"].to_list()

    async def correct(connection) -> float:
        """Reverse the first result, and return the seconds until reads show all ratings after it."""
        first.reverse()
        entries = [{"player": name, "position": place} for place, name in enumerate(first, start=1)]
        began = time.perf_counter()
        sent = {"event_id": "e0", "started_at": START.isoformat(), "entries": entries}
        receipt = await answered(connection, "PUT", f"{API}/{LARGE}/events/e0", sent)
        await answered(connection, "GET", f"{API}/{LARGE}/leaderboard?since={receipt['seq']}")
        return time.perf_counter() - began

    async def measure(server: Server) -> list[Row]:
        (connection,) = await server.connect(1)
        await correct(connection)
        took, usual, during, posts = [], [], [], []
        for k in range(ROUNDS):
            reads, _ = await meanwhile(server, f"calm {k}", lambda: asyncio.sleep(setting.seconds))
            usual.append(percentile(reads, 0.99))

            async def correct_often():
                (one,) = await server.connect(1)
                took.extend([await correct(one) for _ in range(CORRECTIONS)])

            reads, sent = await meanwhile(server, f"busy {k}", correct_often)
            during.append(percentile(reads, 0.99))
            posts.append(percentile(sent, 0.99))
        return [
            Row("of the first event", took, "s", most=1.5 * max(1.0, setting.changes / 1_000_000)),
            Row("other reads, p99, usual", usual, "ms"),
            Row(
                "meanwhile, times usual",
                [b / a for a, b in zip(usual, during, strict=True)],
                "x",
                most=2.0,
            ),
            Row("posts to another pool meanwhile, p99", posts, "ms", most=100.0),
        ]

    with started(setting.copy_of_large("corrections")) as server:
        return asyncio.run(measure(server))
