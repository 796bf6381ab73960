"""Which executor does the work."""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from podium.errors import ExecutorError, ParameterError, needs_extra
from podium.large.workers import (
    BATCH_ROWS,
    WORKER_ENVIRONMENT,
    Done,
    Executor,
    Function,
    Local,
    Task,
    batches,
    run_batch,
)
from podium.version import __version__

CONNECT = "20s"  # until a scheduler must have answered
LOCAL_WORKERS = 2
SETTINGS = {
    "distributed.nanny.pre-spawn-environ": WORKER_ENVIRONMENT,  # in place of Dask's MALLOC_TRIM_THRESHOLD_
    "distributed.worker.profile.enabled": False,
    "distributed.comm.timeouts.connect": "60s",
}


class DaskWorkers:
    """The workers of a client. A task whose worker is lost is done again by another."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def map(self, function: Function, tasks: Sequence[Task], done: Done = lambda _: None) -> list[Any]:
        """What the function returns of each task, in the order of the tasks."""
        import distributed  # noqa: PLC0415  (an extra)

        groups = batches(tasks)
        of_future = {}
        for place, group in enumerate(groups):
            work = __version__, function, [tasks[number] for number in group]
            of_future[self.client.submit(run_in_worker, *work, pure=False, priority=-place)] = group
        results: dict[int, Any] = {}
        try:
            for future in distributed.as_completed(of_future, loop=self.client.loop):
                results.update(zip(of_future[future], future.result(), strict=True))
                done(len(results))
        except distributed.KilledWorker as error:
            remedy = "where memory was short, take fewer workers, or give each more"
            raise ExecutorError(f"workers were lost again and again ({error}); {remedy}") from error
        finally:
            self.client.cancel(list(of_future))
        return [results[number] for number in range(len(tasks))]


def run_in_worker(version: str, function: Function, tasks: Sequence[Task]) -> list[Any]:
    """What the function returns of each task, in a worker of Dask."""
    if version != __version__:
        raise ExecutorError(
            f"a worker has Podium {__version__}, and who sent its task {version}; install the same on both"
        )
    return run_batch(function, tasks)


@contextmanager
def dask_workers(scheduler: str | None, workers: int | None) -> Iterator[DaskWorkers]:
    """The workers of a scheduler; without an address, workers of this machine, which are ended.

    Args:
        scheduler: its address, such as `tcp://10.0.0.5:8786`.

    Raises:
        MissingExtraError: the extra `dask` is not installed.
    """
    with needs_extra("dask", "Dask's workers"):
        import dask  # noqa: PLC0415  (an extra)
        import distributed  # noqa: PLC0415  (an extra)
    if scheduler is not None:
        try:
            client = distributed.Client(scheduler, set_as_default=False, timeout=CONNECT)
        except (OSError, ValueError, TypeError) as error:
            raise ExecutorError(f"no scheduler of Dask answers at {scheduler} ({error})") from error
        with client:
            yield DaskWorkers(client)
        return
    with (
        dask.config.set(SETTINGS),
        distributed.LocalCluster(
            n_workers=workers or LOCAL_WORKERS,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address="127.0.0.1:0",  # whichever port is free: another scheduler may run here
            silence_logs=logging.ERROR,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield DaskWorkers(client)


Engine = Any  # None, one of `ENGINES`, or a `distributed.Client`
ENGINES = ("local", "processes", "dask")
WORTH_PROCESSES = 4_000_000  # rows from which workers are sooner done than this process, their start included


@contextmanager
def executor(
    engine: Engine, rows: Sequence[int], *, scheduler: str | None = None, workers: int | None = None
) -> Iterator[Executor]:
    """Whoever does the tasks, ended when the context does.

    Raises:
        MissingExtraError: the extra `dask` is not installed.
    """
    name = chosen_engine(engine, rows, scheduler, workers)
    if name == "local":
        yield Local()
    elif name == "processes":
        from podium.large.workers import Processes  # noqa: PLC0415  (only where it is wanted)

        useful = max(1, min(workers or cores(), len(rows), -(-sum(rows) // BATCH_ROWS)))
        with Processes(useful) as processes:
            yield processes
    else:
        if name == "client":
            yield DaskWorkers(engine)
            return
        with dask_workers(scheduler, workers) as own:
            yield own


def chosen_engine(engine: Engine, rows: Sequence[int], scheduler: str | None, workers: int | None) -> str:
    """The engine's name, `client` for a client of Dask."""
    if workers is not None and workers < 1:
        raise ParameterError(f"workers is {workers}; it must be at least 1")
    if scheduler is not None and engine not in (None, "dask"):
        raise ParameterError("a scheduler's address is for the engine dask")
    if scheduler is not None and workers is not None:
        raise ParameterError("a scheduler has its own workers: give its address, or a number of workers")
    if engine is None and scheduler is not None:
        return "dask"
    if engine is None:
        many = len(rows) > 1 and sum(rows) >= WORTH_PROCESSES and (workers or cores()) > 1
        return "processes" if many else "local"
    if isinstance(engine, str):
        if engine not in ENGINES:
            raise ParameterError(f"{engine!r} is not an engine ({', '.join(ENGINES)}, or a client of Dask)")
        return engine
    if not hasattr(engine, "submit") or not hasattr(engine, "scheduler_info"):
        raise ParameterError(f"a {type(engine).__name__} is not an engine ({', '.join(ENGINES)}, or a client of Dask)")
    return "client"


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
