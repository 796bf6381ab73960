"""What a pool learns in the system `podium`: its parameters theta, and the curvature M of what they have cost.

Theta takes one damped Newton step an event on the residual that predictions by today's theta leave. All of it lies in
the state of the pool, a row of numbers: the day of the newest event, the gap, theta, and the lower triangle of M.

Events without dates are counted: each moves the day by a `TICK`, so that their days lie before `COUNTED`, when no
result is dated. As many of them as typically lie between two of a player's own make up `OWN_GAP_DAYS`; the gap is the
logarithm of how many.
"""

import functools
import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import kernel
from podium.kernels.elementary import exp, log

C = 3.0 / math.pi**2  # sigma(d / sqrt(1 + C v)) is about the mean of sigma over a normal variable of variance v
SPREAD, EVENT, IDLE_DAY, NOISE, GROWTH, AGEING, UNFINISHED, REACH, MODE = range(9)
PARAMETERS = 8  # and one more where modes are named
# Start, standard deviation of the prior, lowest and highest; all but growth and ageing are logarithms.
PRIOR = {
    "spread": (1.0, 1.0, -4.0, 3.0),  # variance of newcomers' skills
    "event": (log(0.003), 1.0, -11.0, 0.0),  # variance that a skill gains per event
    "idle_day": (log(2e-4), 1.0, -14.0, -3.0),  # variance that it gains per day
    "noise": (log(0.3), 0.7, -6.0, 2.0),  # variance of a day's performance
    "growth": (0.0, 0.1, -1.0, 1.0),  # of newcomers, a year
    "ageing": (0.0, 0.02, -1.0, 1.0),  # a year, after ten years in the pool
    "unfinished": (log(0.5), 0.5, -3.0, 0.5),  # weight of a pair of which one did not finish
    "reach": (log(3.0), 0.3, -2.0, 3.0),  # how far apart, in fields / pi, two places count half
    "mode": (log(0.1), 0.7, -8.0, 2.0),  # variance of a player's offset in a mode
}
START, DEVIATION, LOWEST, HIGHEST = (np.array(column) for column in zip(*PRIOR.values(), strict=True))
PRECISION = 1.0 / (DEVIATION * DEVIATION)
MEMORY = 20_000.0  # pairs after which what theta has learnt weighs 1 / e
LARGEST_STEP = 0.2  # of any parameter in one event
DAY, GAP, THETA = range(3)  # in the state of a pool; M comes after theta
TICK, COUNTED = 2.0**-13, 100_000.0  # days: a sum of ticks is exact
OWN_GAP_DAYS = 30.4  # between two events of a player where the results have no dates
GAP_MEMORY = 100.0  # own gaps after which what the typical one was weighs 1 / e


class Pair(NamedTuple):
    """Two entrants in a heat."""

    gap: float  # of their means
    steepness: float  # of the log-odds, by the gap
    unfinished: float  # 1 where one of them did not finish, else 0
    noise: float  # of a day


@functools.cache
def pool_states_with(count: int) -> Any:
    """The NamedTuple of a pool's state with so many parameters."""
    curvature = [f"m_{a + 1}_{b + 1}" for a in range(count) for b in range(a + 1)]
    return namedtuple("PoolState", ["day", "gap", *list(PRIOR)[:count], *curvature], module=__name__)  # noqa: PYI024


def new_pool(count: int) -> Any:
    """The start, the same everywhere: the prior's values, and its precision as the curvature."""
    curvature = [float(PRECISION[a]) if a == b else 0.0 for a in range(count) for b in range(a + 1)]
    return pool_states_with(count)._make([0.0, 0.0, *START[:count].tolist(), *curvature])


# The two rows of the room beside the entrants': the learner's, and the triangle L of M = L L'. In the learner's stand
# the gradient, the step and the derivatives of a pair's log-odds, each a number a parameter.
BESIDE = 2


@kernel
def begin_event(pool: Any, room: Any, row: int, count: int, pairs: float) -> None:
    """Theta forgets a little towards the prior, by what the event's pairs count; its gradient begins with that pull."""
    keep = exp(-pairs / MEMORY)
    diagonal = THETA + count
    for k in range(diagonal, diagonal + count * (count + 1) // 2):
        pool[k] *= keep
    for a in range(count):
        pull = (1.0 - keep) * PRECISION[a]
        pool[diagonal] += pull
        room[row, a] = pull * (START[a] - pool[THETA + a])
        diagonal += a + 2


@kernel
def learn_gap(pool: Any, ticks: float) -> None:
    """The pool's typical gap moves towards one that a player had, on the scale of logarithms."""
    pool[GAP] += (log(ticks / TICK) - pool[GAP]) / GAP_MEMORY


@kernel
def learn_pair(
    pair: Pair, off: float, spread: float, pool: Any, room: Any, i: int, j: int, row: int, count: int
) -> None:
    """Add what a pair of entrants `i` and `j` says of theta: its part of the gradient and of the curvature.

    Args:
        off: result less chance, as much as the pair counts; `spread` is p (1 - p), as much.
    """
    variances = count + 1  # where a row's derivatives of the variance begin
    slope = pair.gap * -0.5 * C * pair.steepness * pair.steepness * pair.steepness
    logit = 2 * count
    for k in range(count):
        gap, noise = room[i, k] - room[j, k], 2.0 * pair.noise if k == NOISE else 0.0
        room[row, logit + k] = pair.steepness * gap + slope * (room[i, variances + k] + room[j, variances + k] + noise)
    at = THETA + count
    for a in range(count):
        u = room[row, logit + a]
        room[row, a] += off * u
        for b in range(a + 1):
            pool[at + b] += spread * u * room[row, logit + b]
        at += a + 1


@kernel
def take_step(pool: Any, room: Any, row: int, count: int) -> None:
    """Move theta by M^-1 times the gradient, cut to the largest step and the bounds; M = L L' by Cholesky."""
    below, curvature = row + 1, THETA + count
    start = 0
    for a in range(count):
        other = 0
        for b in range(a + 1):
            left = pool[curvature + start + b]
            for k in range(b):
                left -= room[below, start + k] * room[below, other + k]
            room[below, start + b] = math.sqrt(max(left, 1e-12)) if a == b else left / room[below, other + b]
            other += b + 1
        start += a + 1
    start = 0
    for a in range(count):
        left = room[row, a]
        for k in range(a):
            left -= room[below, start + k] * room[row, count + k]
        room[row, count + a] = left / room[below, start + a]
        start += a + 1
    for back in range(count):
        a = count - 1 - back
        left = room[row, count + a]
        for k in range(a + 1, count):
            left -= room[below, k * (k + 1) // 2 + a] * room[row, count + k]
        room[row, count + a] = left / room[below, a * (a + 1) // 2 + a]
    for a in range(count):
        step = min(max(room[row, count + a], -LARGEST_STEP), LARGEST_STEP)
        pool[THETA + a] = min(max(pool[THETA + a] + step, LOWEST[a]), HIGHEST[a])
