"""A system whose workers die. It imports quickly, so that any process can load it."""

import os
import signal
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path

from podium.systems.elo import Elo


@dataclass(frozen=True)
class Mortal(Elo):
    """Elo that kills the worker process creating it, once for each file in the folder that `MORTAL` names."""

    is_ours = True  # it has Podium's rules, so no process compiles them again

    def __post_init__(self):
        super().__post_init__()
        if parent_process() is not None:
            for mark in Path(os.environ["MORTAL"]).iterdir():
                mark.unlink()
                os.kill(os.getpid(), signal.SIGKILL)
