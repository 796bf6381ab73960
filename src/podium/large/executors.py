"""Who does the work on the pools of a dataset: this process, others of this machine, or Dask's workers."""

import logging
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, BinaryIO, Protocol, Self

from podium.errors import ExecutorError, ParameterError, PodiumError, needs_extra
from podium.version import __version__

BATCH_ROWS = 100_000  # of tasks that travel together: smaller ones would cost more to send than to do
SINGLE_THREADED = "POLARS_MAX_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"
WORKER_ENVIRONMENT = dict.fromkeys(SINGLE_THREADED, "1")  # of a process that has one core to itself
Done = Callable[[int], None]  # of the number of tasks that are done


class Task(Protocol):
    """What a function is called with, in this process or in another: paths, names and numbers, but no rows."""

    @property
    def subject(self) -> str: ...  # to begin an error

    @property
    def rows(self) -> int: ...  # that it will read


Function = Callable[[Any], Any]  # at the top of a module, of a task


class Executor(Protocol):
    def map(self, function: Function, tasks: Sequence[Task], done: Done = ...) -> list[Any]:
        """What the function returns of each task, in the order of the tasks."""


def run_batch(function: Function, tasks: Sequence[Task]) -> list[Any]:
    results = []
    for task in tasks:
        try:
            results.append(function(task))
        except PodiumError as error:
            error.args = (f"{task.subject}: {error.args[0]}", *error.args[1:]) if error.args else (task.subject,)
            raise
        except Exception as error:
            error.add_note(f"{task.subject}, in the worker:\n{traceback.format_exc()}")
            raise
    return results


def batches(tasks: Sequence[Task]) -> list[list[int]]:
    """The numbers of the tasks that travel together, the largest first."""
    order = sorted(range(len(tasks)), key=lambda number: (-tasks[number].rows, number))
    groups: list[list[int]] = []
    rows = BATCH_ROWS
    for number in order:
        if rows >= BATCH_ROWS:
            groups.append([])
            rows = 0
        groups[-1].append(number)
        rows += tasks[number].rows
    return groups


class Local:
    """Runs tasks in this process, one after the other."""

    def map(self, function: Function, tasks: Sequence[Task], done: Done = lambda _: None) -> list[Any]:
        results = []
        for task in tasks:
            results += run_batch(function, [task])
            done(len(results))
        return results


TRIES = 3  # of a task whose worker dies
LOOK_S = 0.2  # between looks at what is done
END_S = 5.0  # for a worker that has no more tasks to end by itself


class Processes:
    """Worker processes; a context manager, which ends them."""

    def __init__(self, workers: int) -> None:
        self._workers = [Worker() for _ in range(workers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end(at_once=error is not None)

    def map(self, function: Function, tasks: Sequence[Task], done: Done = lambda _: None) -> list[Any]:
        groups = batches(tasks)
        idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in self._workers:
            idle.put(worker)

        def run(group: list[int]) -> list[Any]:
            worker = idle.get()
            try:
                return worker.run(function, [tasks[number] for number in group])
            finally:
                idle.put(worker)

        results: dict[int, Any] = {}
        with ThreadPoolExecutor(len(self._workers)) as threads:
            futures = {threads.submit(run, group): group for group in groups}  # begun in this order
            try:
                waiting = set(futures)
                while waiting:  # looking now and then: while Polars is loaded, Ctrl-C ends no endless wait
                    finished, waiting = wait(waiting, LOOK_S, FIRST_COMPLETED)
                    for future in finished:
                        results.update(zip(futures[future], future.result(), strict=True))
                        done(len(results))
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                for worker in self._workers:
                    worker.end(at_once=True)
                raise
        return [results[number] for number in range(len(tasks))]


class Worker:
    """A worker process, started with its first task and again after it died."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def run(self, function: Function, tasks: list[Task]) -> list[Any]:
        status = 0
        for _ in range(TRIES):
            if self._ended:
                break
            process = self._process = self._process or start_worker()
            try:
                send(process.stdin, (function, tasks))  # type: ignore[arg-type]
                values, error = receive(process.stdout)  # type: ignore[arg-type]
            except (EOFError, OSError):
                status = close_worker(process)
                self._process = None
                continue
            if error is not None:
                raise error
            return list(values)
        reason = f"signal {-status}" if status < 0 else f"status {status}"
        ended = f"its process ended with {reason}, {TRIES} times"
        raise ExecutorError(f"{tasks[0].subject}: {ended}; where memory was short, take fewer workers")

    def end(self, *, at_once: bool) -> None:
        process, self._process, self._ended = self._process, None, True
        if process is None:
            return
        if at_once:
            process.kill()
        else:
            process.stdin.close()  # type: ignore[union-attr]
        close_worker(process)


def close_worker(process: "subprocess.Popen[bytes]") -> int:
    """Wait for a process to end, and close what leads to it: its status, or the signal that ended it, below 0."""
    try:
        status = process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):  # what was not sent will not be
            stream.close()  # type: ignore[union-attr]
    return status


def start_worker() -> "subprocess.Popen[bytes]":
    """Start a worker process, which finds the modules that this one finds."""
    environment = os.environ | WORKER_ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "podium.large.executors"]
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)  # noqa: S603
    except OSError as error:
        raise ExecutorError(f"a worker process cannot be started ({error.strerror or error})") from error


LENGTH = struct.Struct("<Q")


def send(stream: BinaryIO, value: Any) -> None:
    content = pickle.dumps(value)
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Receive a message; an EOFError where the other side has ended."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    content = stream.read(LENGTH.unpack(head)[0])
    if len(content) < LENGTH.unpack(head)[0]:
        raise EOFError
    return pickle.loads(content)  # noqa: S301  (from the process that started this one, or from one it started)


def serve(tasks: BinaryIO, results: BinaryIO) -> None:
    while True:
        try:
            function, batch = receive(tasks)
        except EOFError:
            return
        except Exception as error:  # noqa: BLE001  (whatever importing a user's module raises)
            send(results, (None, ExecutorError(f"a task cannot be read by a worker: {error}")))
            continue
        try:
            send(results, (run_batch(function, batch), None))
        except BrokenPipeError:
            return
        except Exception as error:  # noqa: BLE001  (the process that sent the task raises it)
            send(results, (None, portable(error)))


def portable(error: Exception) -> Exception:
    """The error, or where it cannot be pickled one that has its text."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  (its own)
    except Exception:  # noqa: BLE001  (an author's error may fail in any way)
        return ExecutorError("".join(traceback.format_exception(error)))
    return error


def leave_with(parent: int) -> None:
    """End this process when the one that started it is gone, whatever it is doing."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def main() -> None:
    """Serve, with what is printed going to stderr, and Ctrl-C being for the process that started this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with, args=(os.getppid(),), daemon=True).start()
    results = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, results)


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
    name = chosen_engine(engine, rows, scheduler, workers)
    if name == "local":
        yield Local()
    elif name == "processes":
        useful = max(1, min(workers or cores(), len(rows), -(-sum(rows) // BATCH_ROWS)))
        with Processes(useful) as processes:
            yield processes
    elif name == "client":
        yield DaskWorkers(engine)
    else:
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
    if engine is None:
        if scheduler is not None:
            return "dask"
        many = len(rows) > 1 and sum(rows) >= WORTH_PROCESSES and (workers or cores()) > 1
        return "processes" if many else "local"
    if isinstance(engine, str) and engine in ENGINES:
        return engine
    if hasattr(engine, "submit") and hasattr(engine, "scheduler_info"):
        return "client"
    what = repr(engine) if isinstance(engine, str) else f"a {type(engine).__name__}"
    raise ParameterError(f"{what} is not an engine ({', '.join(ENGINES)}, or a client of Dask)")


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    main()
