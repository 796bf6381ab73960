"""A dataset rated pool by pool, wherever: one function of a pool, and what all pools give together."""

import functools
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.system import System
from podium.engine.tables.encoding import frozen
from podium.engine.tables.placing import stand_in_order
from podium.engine.tables.selection import EVENT, check_period
from podium.large.checkpoint import Progress
from podium.large.dataset import Dataset, PartFile, PoolFiles
from podium.large.executors import Engine, Function, Local, Task, executor
from podium.large.files import Storage, open_dataset, pool_folder, storage_at, write_part
from podium.large.rated_parts import RatedParts
from podium.large.streaming import RatedStream, rate_all
from podium.large.writing import new_folder, write
from podium.ledger.saved import Start, metadata
from podium.rated.rated import Rated
from podium.rated.tables import begin, empty_results, rate_table
from podium.results.hashing import COMPILED_MIN_ROWS, hashes_differ, number_hashes
from podium.results.reading import Results
from podium.systems._outside import PortableSystem, is_portable

# A duel, a race of three with one who quits, and a duel again, with all that a system may need.
SMALL_TABLE = b"""event_id,started_at,player,position,time_s,score,status,played_s,duration_s
0,1970-01-01T00:00:00Z,1,1,61.0,9.0,finished,61.0,63.0
0,1970-01-01T00:00:00Z,2,2,62.0,8.0,finished,62.0,63.0
1,1970-01-02T00:00:00Z,1,1,61.0,9.0,finished,61.0,63.0
1,1970-01-02T00:00:00Z,2,2,62.0,8.0,finished,62.0,63.0
1,1970-01-02T00:00:00Z,3,3,63.0,7.0,quit,63.0,63.0
2,1970-01-03T00:00:00Z,1,1,61.0,9.0,finished,61.0,63.0
2,1970-01-03T00:00:00Z,2,2,62.0,8.0,finished,62.0,63.0
"""
HISTORY = "_history.json"


def warm(function: Callable[[Any], Any], task: Callable[[PoolFiles], Any]) -> None:
    """Call a function of a task with a small pool, so that its kernels are in the cache that workers find."""
    number_hashes(np.arange(2, dtype=np.uint64))  # of large tables, as the next two
    hashes_differ(np.arange(COMPILED_MIN_ROWS, dtype=np.uint64))
    stand_in_order(frozen(np.array([0, 1]), np.int64), frozen(np.ones(1)))
    with tempfile.TemporaryDirectory(prefix="podium-") as room:
        function(task(write(pl.read_csv(SMALL_TABLE), Path(room) / "small").pools[0]))


@dataclass(frozen=True, slots=True)
class PoolTask:
    """A task of one pool."""

    pool: PoolFiles

    @property
    def subject(self) -> str:
        return f"pool {self.pool.name}"

    @property
    def rows(self) -> int:
        return self.pool.rows


@dataclass(frozen=True, slots=True)
class RatingTask(PoolTask):
    """What is to be rated, and how."""

    system: PortableSystem
    period: str
    start: Start | None = None  # where the pool's players stand before
    history: str | None = None  # the folder that its changes are written to


class Spent(NamedTuple):
    """What a pool took."""

    process: int  # who rated it
    began: float  # seconds since 1970
    ended: float
    cpu_s: float  # of the process meanwhile


class PoolResult(NamedTuple):
    """What came of it."""

    done: Progress
    history: tuple[PartFile, ...]  # its files, below the folder of the history
    spent: Spent


def rate_pool(task: RatingTask) -> PoolResult:
    """Rate a pool of a dataset, and write its history."""
    began, cpu_s = time.time(), time.process_time()
    written: list[PartFile] = []

    def write_history(part: Rated) -> None:
        if task.history is not None:
            path = f"{pool_folder(task.pool.name)}/part-{len(written):05}.parquet"
            written.append(write_part(Storage(task.history), path, part.history, part.event_count))

    done = rate_all(RatedStream(task.pool, task.system.system, task.period, task.start), task.start, write_history)
    spent = Spent(os.getpid(), began, time.time(), time.process_time() - cpu_s)
    return PoolResult(done._replace(began=None), tuple(written), spent)


def rate_dataset(
    source: Dataset | str | Path,
    system: System,
    period: str,
    start: Any = None,
    *,
    history_to: str | Path | None = None,
    **how: Any,
) -> RatedParts:
    """Rate a dataset; see `podium.rate`, and `on_pools` for how."""
    dataset = open_dataset(source)
    check_period(period)
    names = [pool.name for pool in dataset.pools]
    alone = Results(pl.DataFrame({"pool": names}, schema={"pool": pl.String}), "dataset")
    began = None if start is None else begin(start, system, period, alone)
    starts = starts_by_pool(began, names)
    with ExitStack() as stack:
        folder = (
            None
            if history_to is None
            else stack.enter_context(new_folder(storage_at(history_to), HISTORY, sends=False))
        )

        def task(pool: PoolFiles) -> RatingTask:
            history = folder if pool.uri == dataset.uri else None  # another is there to warm
            return RatingTask(pool, PortableSystem(system), period, starts.get(pool.name), history)

        results: list[PoolResult] = on_pools(rate_pool, task, dataset, [system], **how)
        if folder is not None:
            files = [asdict(each) for result in results for each in result.history]
            values = {"format": "podium-history", **metadata(system, period), "dataset": dataset.digest, "files": files}
            Storage(folder).write(HISTORY, (json.dumps(values, indent=1) + "\n").encode())
    done = Progress(
        len(results),
        began,
        standing_of(began, names, results, system),
        {name: size for result in results for name, size in result.done.sizes.items()},
        sum(result.done.events for result in results),
    )
    spent = {name: result.spent for name, result in zip(names, results, strict=True)}
    again = functools.partial(rate_again, dataset, system, period, began)
    return RatedParts(system, period, done, again, dataset=dataset, spent=spent)


def rate_again(dataset: Dataset, system: System, period: str, start: Start | None) -> Iterator[Rated]:
    """The rated parts of a dataset, pool by pool."""
    starts = starts_by_pool(start, [pool.name for pool in dataset.pools])
    for pool in dataset.pools:
        yield from RatedStream(pool, system, period, starts.get(pool.name))


def on_pools(
    function: Function,
    task: Callable[[PoolFiles], Task],
    dataset: Dataset,
    systems: Sequence[System],
    *,
    engine: Engine = None,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Any]:
    """What a function returns of a task for each pool of a dataset, in its order; workers find the kernels compiled."""
    if engine is None and scheduler is None and not all(map(is_portable, systems)):
        engine = "local"
    tasks = [task(pool) for pool in dataset.pools]
    done = progress or (lambda *_: None)
    with executor(engine, [each.rows for each in tasks], scheduler=scheduler, workers=workers) as run:
        if not isinstance(run, Local):
            warm(function, task)
        return run.map(function, tasks, lambda number: done(number, len(tasks)))


def starts_by_pool(start: Start | None, names: list[str]) -> dict[str, Start]:
    """Where the players of each pool stand before; nothing of a pool of whom nobody is known."""
    if start is None:
        return {}
    rows = start.players.with_row_index("row").filter(pl.col("pool").is_in(names)).group_by("pool").agg("row")
    starts = {}
    for name, own in zip(rows["pool"].to_list(), rows["row"], strict=True):
        chosen = own.sort().to_numpy()
        pools = {name: start.pools[name]} if name in start.pools else {}
        starts[name] = Start(start.players[chosen], start.states[chosen], pools)
    return starts


def standing_of(start: Start | None, names: list[str], results: list[PoolResult], system: System) -> Start:
    """Where the players of all pools stand: those of the dataset in its order, then those that only the start has."""
    parts = [result.done.standing for result in results if result.done.standing is not None]
    if start is not None:
        others = (~start.players["pool"].is_in(names)).to_numpy()
        known = {name: state for name, state in start.pools.items() if name not in names}
        parts.append(Start(start.players.filter(pl.Series(others)), start.states[others], known))
    if not parts:
        return rate_table(empty_results(), system, EVENT).standing()
    pools = {name: state for part in parts for name, state in part.pools.items()}
    players = pl.concat([part.players for part in parts], rechunk=True)
    return Start(players, np.concatenate([part.states for part in parts]), pools)
