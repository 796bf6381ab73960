"""Dask's workers, of this machine or of many; needs the extra `dask`.

Dask tells its workers to give memory back at once and looks at what they do a hundred times a second, which costs a
fifth of their time; two local workers are started without.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from podium.errors import ExecutorError, needs_extra
from podium.executors.running import WORKER_ENVIRONMENT, Done, Function, Task, batches, run_batch
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
        """What the function returns of each task, in the order of the tasks.

        Raises:
            PodiumError: what the function raised, with the subject of the task.
            ExecutorError: workers were lost again and again, or have another version of Podium.
        """
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
    """What the function returns of each task, in a worker of Dask.

    Raises:
        PodiumError: as the function raises it.
        ExecutorError: the worker has another version of Podium.
    """
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
        workers: how many of this machine, two where None.

    Raises:
        MissingExtraError: the extra `dask` is not installed.
        ExecutorError: nobody answers at the address.
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
