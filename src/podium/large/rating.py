"""Results larger than memory, rated part by part or pool by pool, as one table of ratings."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.replay import Replayed
from podium.engine.system import System
from podium.engine.tables.encoding import Events, frozen
from podium.engine.tables.placing import stand_in_order
from podium.engine.tables.selection import EVENT, check_period
from podium.engine.tables.things import called
from podium.errors import ParameterError, UnknownError
from podium.large import Dataset, PartFile, PoolFiles
from podium.large.checkpoint import Progress
from podium.large.executors import Engine, Function, Local, Task, executor
from podium.large.files import Storage, open_dataset, pool_folder, storage_at, write_part
from podium.large.streaming import EVERY, RatedStream, rate_all
from podium.large.writing import new_folder, write
from podium.ledger import leaderboard as boards
from podium.ledger.saved import Start, metadata
from podium.rated import Rated, begin, empty_results, rate_table
from podium.results.hashing import COMPILED_MIN_ROWS, hashes_differ, number_hashes
from podium.results.reading import Results
from podium.support.words import nearest_name
from podium.systems._outside import PortableSystem, is_portable

if TYPE_CHECKING:
    from podium.ledger.reasons import Explanation
    from podium.ledger.reasons.what_if import WhatIf

NOT_HELD = "the rows of a folder are not held in memory; podium.rate_stream gives them part by part"


def rate_folder(
    folder: str | Path,
    system: System,
    period: str,
    start: Any,
    *,
    history_to: str | Path | None = None,
    checkpoint: str | Path | None = None,
    every: int = EVERY,
) -> "RatedParts":
    """Rate a folder of Parquet files, or one such file, in bounded memory; see `rate_stream`."""
    stream = RatedStream(
        folder, system, period, start, history_to=history_to, checkpoint=checkpoint, every=every, waits=False
    )
    done = rate_all(stream, start)
    again = partial(RatedStream, folder, system, period, done.began)
    return RatedParts(system, period, done, again)


class RatedParts(Rated):
    """A folder of results, or a dataset, rated part by part in bounded memory.

    It knows where everyone stands. What needs the rows, such as `history`, `leaderboard()` or `explain()`, rates the
    files again, which must not have changed; only a whole `history` and `predictions` are as large as they are.
    """

    def __init__(
        self, system: System, period: str, done: Progress, again: Callable[[], Iterator[Rated]], **known: Any
    ) -> None:
        """Take note of what is known without the rows; `known` of a dataset is itself, and what each pool took."""
        standing = done.standing
        assert standing is not None  # noqa: S101  (all is rated)
        self.__dict__.update(system=system, period=period, start=done.began)  # as a frozen dataclass sets its own
        self.__dict__.update(_everyone=(standing.players, standing.states), _pool_states=standing.pools)
        self.__dict__.update(_sizes=dict(done.sizes), _events=done.events, _again=again, **known)
        self._sizes: dict[str, int]
        self._events: int
        self._again: Callable[[], Iterator[Rated]]

    def parts(self) -> Iterator[Rated]:
        """Rate the files again, part by part, as `rate_stream` does."""
        return self._again()

    @property
    def events(self) -> Events:
        """Not held.

        Raises:
            ParameterError: always; parts have theirs.
        """
        raise ParameterError(NOT_HELD)

    @property
    def replayed(self) -> Replayed:
        """Not held: parts have theirs."""
        raise ParameterError(NOT_HELD)

    @property
    def notice(self) -> str | None:
        """What to know before these ratings are used: players at a limit of the system; None where there is nothing."""
        return self.system.limit_notice(self._everyone[1])

    @property
    def event_count(self) -> int:
        return self._events

    def _pools(self) -> Iterator[tuple[str, int]]:
        known = [] if self.start is None else self.start.players["pool"].unique(maintain_order=True).to_list()
        yield from (dict.fromkeys(known, 0) | self._sizes).items()

    @cached_property
    def history(self) -> pl.DataFrame:
        """Every change, a row for each player of each event, part after part: as large as it is."""
        rows = [part.history for part in self.parts()]
        return pl.concat(rows) if rows else self._rows_before().clear()

    def _board_rows(self, at: datetime | None) -> pl.DataFrame:
        rows = boards.last_rows(self._rows_before())
        for part in self.parts():
            history = part.history if at is None else boards.as_of(part.history, at)
            rows = boards.later_rows(rows, boards.last_rows(history))
        return rows

    def _rows_before(self) -> pl.DataFrame:
        return rate_table(empty_results(), self.system, EVENT).history if self.start is None else super()._rows_before()

    def explain(self, event_id: str, player: str) -> "Explanation":
        return self._part_of(event_id).explain(event_id, player)

    def what_if(self, event_id: str, player: str) -> "WhatIf":
        return self._part_of(event_id).what_if(event_id, player)

    def _part_of(self, event_id: str) -> Rated:
        for part in self.parts():
            if (part.results.frame["event_id"] == event_id).any():
                return part
        raise UnknownError(f"there is no event {event_id!r}")

    def predictions(self) -> pl.DataFrame:
        return pl.concat([part.predictions() for part in self.parts()], how="diagonal")

    def strengths(self, *, top: int = 5, probe: float | None = None) -> pl.DataFrame:
        return pl.concat([part.strengths(top=top, probe=probe) for part in self.parts()])

    def newcomers(self, entrants: Sequence[str], *, pool: str | None = None) -> dict[str, str | None]:
        players = self._everyone[0] if pool is None else self._everyone[0].filter(pool=pool)
        known = {called(name) for name in players["player"].to_list()}
        return {name: nearest_name(name, known) for name in entrants if name not in known}


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
    pool: PoolFiles

    @property
    def subject(self) -> str:
        return f"pool {self.pool.name}"

    @property
    def rows(self) -> int:
        return self.pool.rows


@dataclass(frozen=True, slots=True)
class RatingTask(PoolTask):
    system: PortableSystem
    period: str
    start: Start | None = None  # where the pool's players stand before
    history: str | None = None  # the folder that its changes are written to


class Spent(NamedTuple):
    process: int  # who rated it
    began: float  # seconds since 1970
    ended: float
    cpu_s: float  # of the process meanwhile


class PoolResult(NamedTuple):
    done: Progress
    history: tuple[PartFile, ...]  # its files, below the folder of the history
    spent: Spent


def rate_pool(task: RatingTask) -> PoolResult:
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
    place = nullcontext() if history_to is None else new_folder(storage_at(history_to), HISTORY, sends=False)
    with place as folder:

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
    again = partial(rate_again, dataset, system, period, began)
    return RatedParts(system, period, done, again, dataset=dataset, spent=spent)


def rate_again(dataset: Dataset, system: System, period: str, start: Start | None) -> Iterator[Rated]:
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
