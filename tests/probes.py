"""Tasks that tell what becomes of them, for workers: importing this is quick."""

import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

from podium.errors import ParameterError


class Probe(NamedTuple):
    """A task that tells what becomes of it."""

    subject: str
    rows: int
    room: str


def count_tries(task):
    """Die the first time that a task is tried; then say which process it is."""
    mark = Path(task.room) / task.subject
    tries = int(mark.read_text()) if mark.exists() else 0
    mark.write_text(str(tries + 1))
    if tries == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid(), tries


def die(task):
    """Die each time."""
    os.kill(os.getpid(), signal.SIGKILL)


def wait_for_ever(task):
    """Say where, and wait."""
    (Path(task.room) / str(os.getpid())).touch()
    time.sleep(60)


def refuse_task(task):
    """Fail as a user's mistake does."""
    raise ParameterError("is not like this")


def stumble(task):
    """Fail as a mistake of the program's own does."""
    os.write(1, b"on stdout, which carries messages")
    return {}["nowhere"]
