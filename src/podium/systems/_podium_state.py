"""What is known of a player in the system `podium`, and how it would differ had theta been another.

Every mean and every variance has its derivatives by theta, which go through each rule, opponents' included. A column
more goes the same way without the rules' own terms in theta: the reading x, by how much the number would differ, to
first order, had theta always been what it is now. Between events y stands in its place: x = y + derivatives * theta.

So a block of columns is the reading and then a derivative for each parameter. The last two are those of the side that
begins: in a pool in which nobody has been on it they are 0.
"""

import functools
import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import kernel
from podium.kernels.fours import FOUR, four, four_at, put_four
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
# In the state of a pool.
DAY, GAP, ENTRIES, MATURITY, SIDE_MEAN, SIDE_VARIANCE, SIDE_LAST, SHARPNESS, SHARPNESS_KNOWN, THETA = range(10)
TICK, COUNTED = 2.0**-13, 100_000.0  # days: a sum of ticks is exact
OWN_GAP_DAYS = 30.4  # between two events of a player where the results have no dates
GAP_MEMORY = 100.0  # own gaps after which what the typical one was weighs 1 / e
SHARPNESS_PRECISION, MOST_SHARPNESS = 25.0, 1.5  # of the prior of its logarithm around 0, and where that ends
RECENT = 500.0  # entries, of which the maturity is the share that players known before made


class Pair(NamedTuple):
    """Two units in a heat."""

    gap: float  # of their means
    steepness: float  # of the log-odds, by the gap
    unfinished: float  # 1 if the weight of unfinished races is in what it counts for the first, else 0
    other_unfinished: float  # and for the other
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
    clock += ["sharpness", "sharpness_known"]  # the logarithm, and how much results have shown of it
    return namedtuple("PoolState", [*clock, *theta, *curvature, *side], module=__name__)  # noqa: PYI024


def new_pool(modes: int, things: int) -> Any:
    """The start, the same everywhere: the prior's values, and its precision as the curvature."""
    prior, kind = list(prior_of(modes, things).values()), pool_states_with(modes, things)
    curvature = [1.0 / prior[a][1] ** 2 if a == b else 0.0 for a in range(len(prior)) for b in range(a + 1)]
    begun = [0.0] * THETA + [each[0] for each in prior] + curvature
    return kind._make(begun + [0.0] * (len(kind._fields) - len(begun)))


@kernel
def width_of(full: int) -> int:
    """How many numbers a block of a row of the room takes, which go by four."""
    return (full + FOUR) // FOUR * FOUR


@kernel
def begin_event(pool: Any, room: Any, learner: int, full: int, modal: int, keep: float) -> None:
    """Theta is pulled a little to the prior, by what it forgets in the event; nothing is known of its curvature."""
    for a in range(1, full + 1):
        prior = prior_at(a, full, modal)
        room[learner, a] = (1.0 - keep) * PRECISION[prior] * (START[prior] - pool[THETA + a - 1])
        for b in range(a // FOUR * FOUR, width_of(full), FOUR):
            put_four(room, learner - a, b, four(0.0, 0.0, 0.0, 0.0))


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
def learn_curvature(room: Any, learner: int, full: int, spread: float) -> None:
    """Add what a pair says of the curvature, p (1 - p) u u' as much as it counts; u stands behind the gradient."""
    width = width_of(full)
    for a in range(1, full + 1):
        u = spread * room[learner, width + a]
        for b in range(a // FOUR * FOUR, width, FOUR):
            put_four(room, learner - a, b, four_at(room, learner - a, b) + u * four_at(room, learner, width + b))


@kernel
def take_step(pool: Any, room: Any, learner: int, full: int, modal: int, keep: float) -> None:
    """Move theta by M^-1 times the gradient, cut to the largest step and the bounds, by Gauss's elimination."""
    at = THETA + full
    for a in range(1, full + 1):
        for b in range(1, a + 1):
            pool[at] = keep * pool[at] + room[learner - b, a]
            if a == b:
                pool[at] += (1.0 - keep) * PRECISION[prior_at(a, full, modal)]
            room[learner - b, a] = pool[at]
            at += 1
    for p in range(1, full + 1):
        row = learner - p
        room[row, REST] = 1.0 / max(room[row, p], 1e-12)
        for a in range(p + 1, full + 1):
            factor = room[row, a] * room[row, REST]
            room[learner, a] -= factor * room[learner, p]
            for b in range(a // FOUR * FOUR, width_of(full), FOUR):
                put_four(room, learner - a, b, four_at(room, learner - a, b) - factor * four_at(room, row, b))
    for back in range(full):
        p = full - back
        room[learner, p] *= room[learner - p, REST]
        for a in range(1, p):
            room[learner, a] -= room[learner - a, p] * room[learner, p]
        prior = prior_at(p, full, modal)
        step = min(max(room[learner, p], -LARGEST_STEP), LARGEST_STEP)
        pool[THETA + p - 1] = min(max(pool[THETA + p - 1] + step, LOWEST[prior]), HIGHEST[prior])


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
