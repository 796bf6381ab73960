"""A system whose workers die: importing this is quick, so that any process can."""

import os
import signal
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path

from podium.systems.elo import Elo


@dataclass(frozen=True)
class Mortal(Elo):
    """Elo, which kills the worker process that makes it, once for each file in the folder that `MORTAL` names."""

    is_ours = True  # its rules are Podium's, so that no process compiles them again

    def __post_init__(self):
        super().__post_init__()
        if parent_process() is not None:
            for mark in Path(os.environ["MORTAL"]).iterdir():
                mark.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
