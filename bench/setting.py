"""The setting of a measurement: trees to compare, servers, and a large pool that several groups share."""

import asyncio
import json
import shutil
import sys
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from load import Connection, body
from serving import free_port, serving

API = "/api/v1/pools"
START = datetime(2024, 1, 1, tzinfo=UTC)
STEP_US = 30_000_000  # between duels
PLAYERS, BATCH = 100_000, 20_000
LARGE, SMALL, SMALL_PLAYERS, SMALL_DUELS, SMALL_POOLS = "large", "small", 30, 100, 400
SEED = 7


class Setting:
    """The trees by name, the sizes, and the folders."""

    def __init__(self, folder: Path, trees: dict[str, Path], changes: int, seconds: float, data: Path) -> None:
        self.folder, self.trees, self.changes, self.seconds, self.data = folder, trees, changes, seconds, data

    @property
    def file_duels(self) -> int:
        """Return the number of duels in the largest file."""
        return min(10 * self.changes, 10_000_000)

    @cached_property
    def large(self) -> Path:
        """Return a database with a pool of this many changes, and one of 30 players, with their caches."""
        path = self.data / f"duels-{self.changes}.db"
        if not path.exists():
            filling = path.with_suffix(".part")
            filling.unlink(missing_ok=True)
            fill(filling, {LARGE: (self.changes // 2, PLAYERS), SMALL: (SMALL_DUELS, SMALL_PLAYERS)})
            filling.rename(path)
        return path

    def copy_of_large(self, name: str) -> Path:
        """Return a new folder with a copy of that database."""
        folder = self.new_folder(name)
        shutil.copyfile(self.large, folder / "podium.db")
        return folder

    def new_folder(self, name: str) -> Path:
        """Return a new folder."""
        folder = self.folder / name
        folder.mkdir()
        return folder


def duels(first: int, count: int, players: int) -> pl.DataFrame:
    """Return duels between random players, numbered from `first`, as a table of results."""
    rng = np.random.default_rng((SEED, first))
    one = rng.integers(0, players, count)
    other = (one + rng.integers(1, players, count)) % players
    numbers = np.repeat(np.arange(first, first + count), 2)
    when = numbers * STEP_US + int(START.timestamp()) * 1_000_000
    return pl.DataFrame(
        {
            "event_id": "e" + pl.Series(numbers).cast(pl.String),
            "started_at": pl.Series(when).cast(pl.Datetime("us", "UTC")),
            "player": "p" + pl.Series(np.stack([one, other], axis=1).ravel()).cast(pl.String),
            "position": np.tile([1.0, 2.0], count),
        }
    )


def fill(path: Path, pools: dict[str, tuple[int, int]]) -> None:
    """Fill a database with public pools of this many duels and players, and keep their snapshots."""
    from podium.store import Store
    from podium.systems import find

    store = Store(str(path))
    for name, (count, players) in pools.items():
        store.create_pool(name, find("elo")(), public=True)
        for first in range(0, count, BATCH):
            store.submit(name, duels(first, min(BATCH, count - first), players))
    store.close()


class Server(NamedTuple):
    """A server and its key."""

    port: int
    key: str
    folder: Path

    async def connect(self, count: int) -> list[Connection]:
        """Open connections. The server closes them if they stay unused."""
        return await asyncio.gather(*(Connection(self.port, self.key).open() for _ in range(count)))

    async def create_pool(self, name: str) -> None:
        """Create a pool that is rated with Elo."""
        (connection,) = await self.connect(1)
        await connection.must("POST", API, 201, body({"name": name, "system": "elo", "public": True}))


@contextmanager
def started(folder: Path, *options, **given):
    """Start a server, and yield it."""
    port = free_port()
    with serving(folder, port, *options, "--no-log-requests", **given) as (_, key):
        yield Server(port, key, folder)


async def timed(asking) -> float:
    """Return the seconds until an answer."""
    began = time.perf_counter()
    await asking
    return time.perf_counter() - began


async def answered(connection, method, path, sent=None, status=(200, 201)):
    """Send a request, and return the answer's JSON. Exit if it has another status."""
    got, text = await connection.ask(method, path, b"" if sent is None else body(sent))
    if got not in status:
        sys.exit(f"{method} {path} answered {got}: {text.decode()[:300]}")
    return json.loads(text)


def percentile(seconds, share: float) -> float:
    """Return a percentile, in milliseconds."""
    ordered = sorted(seconds)
    return 1000.0 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]
