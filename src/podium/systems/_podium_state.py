"""What is known of a player in the system `podium`, and how it would differ had theta been another.

Every mean and every variance has its derivatives by theta, which go through each rule, opponents' included. A column
more goes the same way without the rules' own terms in theta: the reading x, by how much the number would differ, to
first order, had theta always been what it is now. Between events y stands in its place: x = y + derivatives * theta.

So a block of columns is the reading and then a derivative for each parameter. The last two are those of the side that
begins: a pool in which nobody has been on it does without them.
"""

import functools
import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import kernel
from podium.kernels.exponential import exp
from podium.kernels.logarithm import log

C = 3.0 / math.pi**2  # sigma(d / sqrt(1 + C v)) is about the mean of sigma over a normal variable of variance v
# The columns of a block. After those that every pool has: MODE where modes are named, two for each kind of things that
# entrants share, two of the side.
REST, SPREAD, EVENT, IDLE_DAY, NOISE, GROWTH, AGEING, UNFINISHED, REACH, ENTRY, MODE = range(11)
OWN, OF_THINGS, OF_SIDE = 9, 2, 2  # parameters: of players, of each kind of things, of the side
# Start, standard deviation of the prior, lowest and highest; all but growth, ageing and entry are logarithms.
PRIOR = {
    "spread": (1.0, 1.0, -4.0, 3.0),  # variance of newcomers' skills
    "event": (log(0.003), 1.0, -11.0, 0.0),  # variance that a skill gains per event
    "idle_day": (log(2e-4), 1.0, -14.0, -3.0),  # variance that it gains per day
    "noise": (log(0.3), 0.7, -6.0, 2.0),  # variance of a day's performance
    "growth": (0.0, 0.1, -1.0, 1.0),  # of newcomers, a year
    "ageing": (0.0, 0.02, -1.0, 1.0),  # a year, after ten years in the pool
    "unfinished": (log(0.5), 0.5, -3.0, 0.5),  # weight of a pair of which one did not finish
    "reach": (log(3.0), 0.3, -2.0, 3.0),  # how far apart, in fields / pi, two places count half
    "entry": (0.0, 0.3, -3.0, 3.0),  # mean of newcomers to a pool in which everyone is known
}
PRIOR_OF_MODES = {"mode": (log(0.1), 0.7, -8.0, 2.0)}  # variance of a player's offset in a mode
PRIOR_OF_THINGS = {
    "thing_{}_spread": (0.0, 1.0, -6.0, 3.0),  # variance of a new car, club, ...
    "thing_{}_day": (log(2e-4), 1.0, -14.0, -3.0),  # variance that it gains per day
}
PRIOR_OF_SIDE = {
    "side_spread": (log(0.1), 1.0, -6.0, 1.0),  # variance of the side's advantage at first
    "side_day": (log(1e-5), 1.0, -16.0, -4.0),  # variance that it gains per day
}
MEMORY = 20_000.0  # pairs after which what theta has learnt weighs 1 / e
LARGEST_STEP = 0.2  # of any parameter in one event
DAY, GAP, ENTRIES, MATURITY, SIDE_MEAN, SIDE_VARIANCE, SIDE_LAST, THETA = range(8)  # in the state of a pool
TICK, COUNTED = 2.0**-13, 100_000.0  # days: a sum of ticks is exact
OWN_GAP_DAYS = 30.4  # between two events of a player where the results have no dates
GAP_MEMORY = 100.0  # own gaps after which what the typical one was weighs 1 / e
RECENT = 500.0  # entries, of which the maturity is the share that players known before made


class Pair(NamedTuple):
    """Two units in a heat."""

    gap: float  # of their means
    steepness: float  # of the log-odds, by the gap
    unfinished: float  # 1 where one of them did not finish, else 0
    noise: float  # of a day
    common: bool  # whether they share a thing


@functools.cache
def prior_of(modes: int, things: int) -> dict[str, tuple[float, float, float, float]]:
    """The prior of each parameter, by name, of pools with so many modes and kinds of things."""
    kinds = [{name.format(k): prior for name, prior in PRIOR_OF_THINGS.items()} for k in range(1, things + 1)]
    return PRIOR | (PRIOR_OF_MODES if modes else {}) | {k: v for each in kinds for k, v in each.items()} | PRIOR_OF_SIDE


# For kernels, whose arrays are constants: the prior of every column of a block; things' are alike.
_OTHERS = list(PRIOR_OF_THINGS.values()), list(PRIOR_OF_SIDE.values())
_COLUMNS = [PRIOR["spread"], *PRIOR.values(), *PRIOR_OF_MODES.values(), *_OTHERS[0], *_OTHERS[1]]
START, PRIOR_DEVIATION, LOWEST, HIGHEST = (np.array(column) for column in zip(*_COLUMNS, strict=True))
PRECISION = 1.0 / (PRIOR_DEVIATION * PRIOR_DEVIATION)


@kernel
def prior_at(column: int, full: int, modal: int) -> int:
    """Where the prior of a column stands in those arrays; `full` parameters has a pool with its side's."""
    if column <= OWN + modal:
        return column
    if column > full - OF_SIDE:
        return MODE + OF_THINGS + column - full + OF_SIDE
    return MODE + 1 + (column - OWN - modal - 1) % OF_THINGS


@functools.cache
def pool_states_with(modes: int, things: int) -> Any:
    """The NamedTuple of a pool's state with so many modes and kinds of things."""
    theta = list(prior_of(modes, things))
    curvature = [f"m_{a + 1}_{b + 1}" for a in range(len(theta)) for b in range(a + 1)]
    side = [f"side_{part}_{column}" for part in ("mean", "variance") for column in ["rest", *theta]]
    clock = ["day", "gap", "entries", "maturity", "side_mean", "side_variance", "side_last"]
    return namedtuple("PoolState", [*clock, *theta, *curvature, *side], module=__name__)  # noqa: PYI024


def new_pool(modes: int, things: int) -> Any:
    """The start, the same everywhere: the prior's values, and its precision as the curvature."""
    prior, kind = list(prior_of(modes, things).values()), pool_states_with(modes, things)
    curvature = [1.0 / prior[a][1] ** 2 if a == b else 0.0 for a in range(len(prior)) for b in range(a + 1)]
    begun = [0.0] * THETA + [each[0] for each in prior] + curvature
    return kind._make(begun + [0.0] * (len(kind._fields) - len(begun)))


@kernel
def begin_event(pool: Any, room: Any, row: int, count: int, full: int, modal: int, pairs: float) -> None:
    """Theta forgets a little towards the prior, by what the event's pairs count; its gradient begins with that pull."""
    keep = exp(-pairs / MEMORY)
    diagonal = THETA + full
    for k in range(diagonal, diagonal + count * (count + 1) // 2):
        pool[k] *= keep
    for a in range(count):
        prior = prior_at(a + 1, full, modal)
        pull = (1.0 - keep) * PRECISION[prior]
        pool[diagonal] += pull
        room[row, a] = pull * (START[prior] - pool[THETA + a])
        diagonal += a + 2


@kernel
def learn_gap(pool: Any, ticks: float) -> None:
    """The pool's typical gap moves towards one that a player had, on the scale of logarithms."""
    pool[GAP] += (log(ticks / TICK) - pool[GAP]) / GAP_MEMORY


@kernel
def count_entry(pool: Any, known: float) -> None:
    """The pool's maturity moves by an entry of a player who was known before (1) or not (0)."""
    pool[ENTRIES] += 1.0
    pool[MATURITY] += (known - pool[MATURITY]) / min(pool[ENTRIES], RECENT)


@kernel
def learn_pair(
    pair: Pair, off: float, spread: float, pool: Any, room: Any, i: int, j: int, row: int, count: int, full: int
) -> None:
    """Add what a pair of units `i` and `j` says of theta: its part of the gradient and of the curvature.

    Args:
        off: result less chance, as much as the pair counts; `spread` is p (1 - p), as much.
        row: the learner's; what theta does to the variance that both share stands two rows below.
    """
    variances = count + 1  # where a row's derivatives of the variance begin
    slope = pair.gap * -0.5 * C * pair.steepness * pair.steepness * pair.steepness
    logit = 2 * count
    for k in range(1, count + 1):
        gap, noise = room[i, k] - room[j, k], 2.0 * pair.noise if k == NOISE else 0.0
        both = room[i, variances + k] + room[j, variances + k] + noise
        if pair.common:
            both -= 2.0 * room[row + 2, k]
        room[row, logit + k - 1] = pair.steepness * gap + slope * both
    at = THETA + full
    for a in range(count):
        u = room[row, logit + a]
        room[row, a] += off * u
        for b in range(a + 1):
            pool[at + b] += spread * u * room[row, logit + b]
        at += a + 1


@kernel
def take_step(pool: Any, room: Any, row: int, count: int, full: int, modal: int) -> None:
    """Move theta by M^-1 times the gradient, cut to the largest step and the bounds; M = L L' by Cholesky."""
    below, curvature = row + 1, THETA + full
    start = 0
    for a in range(count):  # the diagonal of L is kept as what it divides by, which is many times quicker
        other = 0
        for b in range(a + 1):
            left = pool[curvature + start + b]
            for k in range(b):
                left -= room[below, start + k] * room[below, other + k]
            room[below, start + b] = 1.0 / math.sqrt(max(left, 1e-12)) if a == b else left * room[below, other + b]
            other += b + 1
        start += a + 1
    start = 0
    for a in range(count):
        left = room[row, a]
        for k in range(a):
            left -= room[below, start + k] * room[row, count + k]
        room[row, count + a] = left * room[below, start + a]
        start += a + 1
    for back in range(count):
        a = count - 1 - back
        left = room[row, count + a]
        for k in range(a + 1, count):
            left -= room[below, k * (k + 1) // 2 + a] * room[row, count + k]
        room[row, count + a] = left * room[below, a * (a + 1) // 2 + a]
    for a in range(count):
        prior = prior_at(a + 1, full, modal)
        step = min(max(room[row, count + a], -LARGEST_STEP), LARGEST_STEP)
        pool[THETA + a] = min(max(pool[THETA + a] + step, LOWEST[prior]), HIGHEST[prior])


SCALE = 173.7178  # points for odds of e to 1
LINGER = 0.9  # of a reading after each event: theta moves for good reasons too, and x is exact to first order only
RATING, DEVIATION, EVENTS, FIRST, LAST, MEANS = range(6)  # columns of a state; after them two blocks


@functools.cache
def states_with(modes: int, things: int) -> Any:
    """The NamedTuple of the state of a player, or of a thing; all but rating and deviation in log-odds.

    `rating` is initial + SCALE m, `deviation` is SCALE sqrt(V), `first` and `last` are days of events, 0 before any.
    Then a block for m and one for V; for each mode the offset, its variance (0 where the player has not been seen in
    it), and so on.
    """
    columns = ["rest", *prior_of(modes, things)]
    fields = ["rating", "deviation", "events", "first", "last"]
    fields += [f"{part}_{column}" for part in ("mean", "variance") for column in columns]
    for mode in range(modes):
        fields += [f"offset_{mode}", f"offset_variance_{mode}"]
        fields += [f"offset_{mode}_{part}_{column}" for part in ("mean", "variance") for column in columns]
    return importable(namedtuple(f"State{modes}_{things}", fields, module=__name__))  # noqa: PYI024


def importable(kind: Any) -> Any:
    """The type as a name of this module: machine code is found in the cache by types that can be imported."""
    globals()[kind.__qualname__] = kind
    return kind


def __getattr__(name: str) -> Any:
    """The type of so many modes and things, as `State4_1`, for whoever loads code that another process wrote."""
    modes, _, things = name.removeprefix("State").partition("_")
    if not (name.startswith("State") and modes.isdecimal() and things.isdecimal()):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return states_with(int(modes), int(things))


@kernel
def block_at(count: int, mode: float) -> int:
    """Where a state has its offset in a mode (from 0): the mean, the variance, then a block for each."""
    return MEANS + 2 * (count + 1) + int(min(max(mode, 0.0), 1000.0)) * (2 * (count + 1) + 2)


@kernel
def reading(theta: Any, me: Any, start: int, count: int) -> float:
    """The reading of what has its block at `start` of a state: x = y + derivatives times theta."""
    x: float = me[start]
    for k in range(count):
        x += me[start + 1 + k] * theta[k]
    return x
