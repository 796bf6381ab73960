"""Processes of this machine that share the tasks. One that dies is replaced, and its tasks are done again.

They are started as programs of their own, not forked, and do not run the script that asks for them once more.
"""

import os
import queue
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from podium.errors import ExecutorError
from podium.executors.running import WORKER_ENVIRONMENT, Done, Function, Task, batches
from podium.executors.worker import receive, send

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
        """What the function returns of each task, in the order of the tasks.

        Raises:
            PodiumError: what the function raised, with the subject of the task.
            ExecutorError: a worker died again and again, or the function cannot be sent to one.
        """
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
        """Run tasks in the process.

        Raises:
            PodiumError: what the function raised.
            ExecutorError: the process died each time.
        """
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
            found: list[Any] = values
            return found
        reason = f"signal {-status}" if status < 0 else f"status {status}"
        remedy = "where memory was short, take fewer workers"
        raise ExecutorError(f"{tasks[0].subject}: its process ended with {reason}, {TRIES} times; {remedy}")

    def end(self, *, at_once: bool) -> None:
        """End the process; where not at once, when it has nothing left to do."""
        process, self._process, self._ended = self._process, None, True
        if process is None:
            return
        if at_once:
            process.kill()
        else:
            process.stdin.close()  # type: ignore[union-attr]
        close_worker(process)


def close_worker(process: "subprocess.Popen[bytes]") -> int:
    """Wait for a process to end, and close what leads to it.

    Returns:
        Its status; the signal that ended it, below 0.
    """
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
    """Start a worker process, which finds the modules that this one finds.

    Raises:
        ExecutorError: it cannot be started.
    """
    environment = os.environ | WORKER_ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "podium.executors.worker"]
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)  # noqa: S603
    except OSError as error:
        raise ExecutorError(f"a worker process cannot be started ({error.strerror or error})") from error
