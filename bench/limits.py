"""What a loop written by hand for one purpose reaches: the limit that rows are compared with.

It knows one system, one shape of table and no options, checks nothing, and keeps no history. Both loops are compiled
as Podium's kernels are, and e^x is Podium's own, so that the difference is the engine's.
"""

import math

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


elo = loop(_elo)
memory_walk = loop(_walk)
