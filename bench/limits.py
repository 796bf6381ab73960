"""What a loop written by hand for one purpose reaches: the limit that rows are compared with.

It knows one system, one shape of table and no options, checks nothing, and keeps no history. Both loops are compiled
as Podium's kernels are, and e^x is Podium's own, so that the difference is the engine's. For duels in the order they
happened, and for races, there are loops in C as well, those of `limits.c`, where there is a compiler.
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
    """A contender: the loop over the duels, on states of a rating and a count."""
    compiled = compile_kernel(function, cached=False)

    def ready(duels: Fields) -> Timed:
        player, place = duels.player.astype(np.int32), duels.place.astype(np.float64)
        newcomers = np.tile([INITIAL, 0.0], (duels.players, 1))
        return lambda: compiled(player, place, newcomers.copy())

    return ready


@functools.cache
def library() -> ctypes.CDLL:
    """`limits.c`, compiled for this processor."""
    compiler = shutil.which("gcc")
    if compiler is None:
        raise ModuleNotFoundError("there is no compiler", name="gcc")
    built = Path(tempfile.mkdtemp(prefix="podium-bench-")) / "limits.so"
    flags = ["-O3", "-march=native", "-ffast-math", "-shared", "-fPIC"]
    source = str(Path(__file__).with_name("limits.c"))
    subprocess.run([compiler, *flags, source, "-o", str(built), "-lmvec", "-lm"], check=True)
    return ctypes.CDLL(str(built))


def loop_in_c(name, *newcomer):
    """A contender: the function of this name in `limits.c`, on states of so many numbers."""

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
    """A contender: the function of this name in `limits.c`."""
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
