"""Loops written by hand for one purpose: the limit for the rows of `make bench`.

Each loop knows one system and one shape of table. It has no options and no checks, and keeps no history. Both loops are
compiled as Podium's kernels are and use Podium's e^x, so that only the engine differs. With a compiler there are also
loops in C, in `limits.c`, for duels in the order they happened and for races.
"""

import ctypes
import functools
import math
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from events import Fields
from peers import Timed

from podium.kernels.compiled import compile_kernel
from podium.probability.logistic import logistic, score

K, SLOPE, INITIAL = 24.0, math.log(10.0) / 400.0, 1500.0


def _elo(player, place, states):
    for k in range(player.shape[0]):
        i, j = player[k, 0], player[k, 1]
        mine, theirs = states[i, 0], states[j, 0]
        expected = logistic(SLOPE * (mine - theirs))
        result = score(place[k, 0], place[k, 1])
        states[i, 0] = mine + K * (result - expected)
        states[j, 0] = theirs + K * ((1.0 - result) - (1.0 - expected))
        states[i, 1] += 1.0
        states[j, 1] += 1.0


def _walk(player, place, states):
    for k in range(player.shape[0]):
        i, j = player[k, 0], player[k, 1]
        states[i, 0] += 1.0
        states[j, 0] -= 1.0
        states[i, 1] += 1.0
        states[j, 1] += 1.0


def loop(function):
    """Return a contender: the loop over the duels, with a rating and a count as state."""
    compiled = compile_kernel(function, cached=False)

    def ready(duels: Fields) -> Timed:
        player, place = duels.player.astype(np.int32), duels.place.astype(np.float64)
        newcomers = np.tile([INITIAL, 0.0], (duels.players, 1))
        return lambda: compiled(player, place, newcomers.copy())

    return ready


@functools.cache
def library() -> ctypes.CDLL:
    """Compile `limits.c` for this processor."""
    compiler = shutil.which("gcc")
    if compiler is None:
        raise ModuleNotFoundError("there is no compiler", name="gcc")
    built = Path(tempfile.mkdtemp(prefix="podium-bench-")) / "limits.so"
    flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
    source = str(Path(__file__).with_name("limits.c"))
    subprocess.run([compiler, *flags, source, "-o", str(built), "-lmvec", "-lm"], check=True)
    return ctypes.CDLL(str(built))


def loop_in_c(name, *newcomer):
    """Return a contender: a function of `limits.c`, with states of this many numbers."""

    def ready(duels: Fields) -> Timed:
        player = np.ascontiguousarray(duels.player, np.int32)
        place = np.ascontiguousarray(duels.place, np.float64)
        newcomers, compiled = np.tile(newcomer, (duels.players, 1)), getattr(library(), name)

        def run():
            states, seen = newcomers.copy(), np.zeros(duels.players, np.int32)
            call_in_c(compiled, player, place, states, seen)
            return states

        return run

    return ready


def call_in_c(compiled, player, of_event, states, room):
    player_at, of_event_at, states_at, room_at = (
        ctypes.c_void_p(column.ctypes.data) for column in (player, of_event, states, room)
    )
    compiled(player_at, of_event_at, ctypes.c_long(len(player)), states_at, room_at)


def plackett_luce_in_c(races: Fields) -> Timed:
    """Run the function of this name in `limits.c`, as a contender."""
    player, size = np.ascontiguousarray(races.player, np.int32), np.array([float(races.player.shape[1])])
    newcomers, room = np.tile((25.0, 25.0 / 3.0, 0.0), (races.players, 1)), np.empty(6 * races.player.shape[1])

    def run():
        states = newcomers.copy()
        call_in_c(library().plackett_luce, player, size, states, room)
        return states

    return run


elo = loop(_elo)
memory_walk = loop(_walk)
elo_in_c = loop_in_c("elo", INITIAL, 0.0)
bradley_terry_in_c = loop_in_c("bradley_terry", 25.0, 25.0 / 3.0, 0.0)
