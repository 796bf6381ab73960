"""What executors share: a task, how it is run, and which go first."""

import traceback
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from podium.errors import PodiumError

BATCH_ROWS = 100_000  # of tasks that travel together: smaller ones would cost more to send than to do
WORKER_ENVIRONMENT = {  # of a process that has one core to itself
    "POLARS_MAX_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
Done = Callable[[int], None]  # of the number of tasks that are done


class Task(Protocol):
    """What a function is called with, in this process or in another: paths, names and numbers, but no rows."""

    @property
    def subject(self) -> str:
        """What it is about, to begin an error."""

    @property
    def rows(self) -> int:
        """How many rows it will read."""


Function = Callable[[Any], Any]  # at the top of a module, of a task


class Executor(Protocol):
    """Runs functions of tasks."""

    def map(self, function: Function, tasks: Sequence[Task], done: Done = ...) -> list[Any]:
        """What the function returns of each task, in the order of the tasks.

        Raises:
            PodiumError: what the function raised, with the subject of the task; or a worker was lost again and again.
        """


def run_batch(function: Function, tasks: Sequence[Task]) -> list[Any]:
    """What the function returns of each task.

    Raises:
        PodiumError: as the function raises it, its text about the task.
    """
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
        """What the function returns of each task, in the order of the tasks.

        Raises:
            PodiumError: what the function raised, with the subject of the task.
        """
        results = []
        for task in tasks:
            results += run_batch(function, [task])
            done(len(results))
        return results
