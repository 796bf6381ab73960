"""Which executor does the work."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from podium.errors import ParameterError
from podium.executors.running import BATCH_ROWS, Executor, Local

Engine = Any  # None, one of `ENGINES`, or a `distributed.Client`
ENGINES = ("local", "processes", "dask")
WORTH_PROCESSES = 4_000_000  # rows from which workers are sooner done than this process, their start included


@contextmanager
def executor(
    engine: Engine, rows: Sequence[int], *, scheduler: str | None = None, workers: int | None = None
) -> Iterator[Executor]:
    """Whoever does the tasks, ended when the context does.

    Args:
        engine: `local` (this process), `processes` (of this machine), `dask`, or a client of Dask. Where None, Dask
            with a scheduler, else processes where there are several cores and many rows, else this process.
        rows: how many each task reads.
        scheduler: the address of Dask's; without one Dask gets two workers of this machine.
        workers: how many processes or local workers; where None a process a core, or two workers of Dask.

    Raises:
        ParameterError: an engine that does not exist, or what does not go with it.
        MissingExtraError: the extra `dask` is not installed.
        ExecutorError: no scheduler answers.
    """
    name = chosen_engine(engine, rows, scheduler, workers)
    if name == "local":
        yield Local()
    elif name == "processes":
        from podium.executors.processes import Processes  # noqa: PLC0415  (only where it is wanted)

        useful = max(1, min(workers or cores(), len(rows), -(-sum(rows) // BATCH_ROWS)))
        with Processes(useful) as processes:
            yield processes
    else:
        from podium.executors import dask_workers as dask  # noqa: PLC0415  (only where it is wanted)

        if name == "client":
            yield dask.DaskWorkers(engine)
            return
        with dask.dask_workers(scheduler, workers) as own:
            yield own


def chosen_engine(engine: Engine, rows: Sequence[int], scheduler: str | None, workers: int | None) -> str:
    """The engine's name, `client` for a client of Dask.

    Raises:
        ParameterError: an engine that does not exist, or what does not go with it.
    """
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
