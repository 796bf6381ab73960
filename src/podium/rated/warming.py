"""Compile before there are workers, once and not in each: a pool of three events, done in this process."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from podium.dataset import write
from podium.dataset.files import PoolFiles
from podium.engine.tables.encoding import frozen
from podium.engine.tables.placing import stand_in_order
from podium.results.hashing import COMPILED_MIN_ROWS, hashes_differ, number_hashes

STARTS = (0, 86_400_000_000, 172_800_000_000)  # microseconds since 1970


def warm(function: Callable[[Any], Any], task: Callable[[PoolFiles], Any]) -> None:
    """Call a function of a task with a small pool, so that its kernels are in the cache that workers find.

    Args:
        task: makes a task of a pool.
    """
    number_hashes(np.arange(2, dtype=np.uint64))  # of large tables, as the next two
    hashes_differ(np.arange(COMPILED_MIN_ROWS, dtype=np.uint64))
    stand_in_order(frozen(np.array([0, 1]), np.int64), frozen(np.ones(1)))
    with tempfile.TemporaryDirectory(prefix="podium-") as room:
        function(task(write(small_table(), Path(room) / "small").pools[0]))


def small_table() -> pl.DataFrame:
    """A duel, a race of three with one who quits, and a duel again, with all that a system may need."""
    sizes = (2, 3, 2)
    event = np.repeat(np.arange(3), sizes)
    place = np.concatenate([np.arange(1, size + 1) for size in sizes])
    return pl.DataFrame(
        {
            "event_id": pl.Series(event).cast(pl.String),
            "started_at": pl.Series([STARTS[number] for number in event]).cast(pl.Datetime("us", "UTC")),
            "player": pl.Series(place).cast(pl.String),
            "position": place,
            "time_s": 60.0 + place,
            "score": 10.0 - place,
            "status": ["finished"] * 4 + ["quit"] + ["finished"] * 2,
            "played_s": 60.0 + place,
            "duration_s": np.full(event.size, 63.0),
        }
    )
