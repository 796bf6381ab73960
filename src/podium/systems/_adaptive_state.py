"""The states of players and pools in the `adaptive` system, with their derivatives with respect to theta.

Every mean and variance has derivatives with respect to theta. These derivatives, including those of opponents, are
carried through every rule. One more column holds the reading x: to first order, the amount by which the number would
differ if theta had always had today's value. Between events, the state stores y instead: x = y + derivatives * theta.

A block of columns holds the reading and one derivative per parameter. The last two parameters belong to the home side.
They stay 0 in pools that never have a home side. Pools with margins or reversion to the mean have two more parameters
before these, and a few more numbers at the end of the pool's state.
"""

import functools
import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import kernel
from podium.kernels.fours import FOUR, four_at, put_four
from podium.kernels.logarithm import log

C = 3.0 / math.pi**2  # sigma(d / sqrt(1 + C v)) approximates the mean of sigma over a normal variable of variance v
# Columns of a block. After those of every pool come MODE if there are modes, two for each kind of equipment, the two in
# PRIOR_OF_EXTRAS if the pool has them, and two for the home side.
READING, SPREAD, EVENT, IDLE_DAY, NOISE, GROWTH, AGEING, UNFINISHED, REACH, ENTRY, MODE = range(11)
OWN, OF_EQUIPMENT, OF_EXTRAS, OF_SIDE = 9, 2, 2, 2  # number of parameters of players, of each kind of equipment, ...
REVERSION, MARGIN = 3, 2  # columns of the extras, counted back from the last column
# Start value, standard deviation of the prior, lowest and highest value. All except growth, ageing and entry are
# logarithms.
PRIOR = {
    "spread": (1.0, 1.0, -4.0, 3.0),  # variance of newcomers' skills
    "event": (log(0.003), 1.0, -11.0, 0.0),  # variance that a skill gains per event
    "idle_day": (log(2e-4), 1.0, -14.0, -3.0),  # variance gained per day
    "noise": (log(0.3), 0.7, -6.0, 2.0),  # variance of a day's performance
    "growth": (0.0, 0.1, -1.0, 1.0),  # log-odds per year, of newcomers
    "ageing": (0.0, 0.02, -1.0, 1.0),  # log-odds per year, after ten years in the pool
    "unfinished": (log(0.5), 0.5, -3.0, 0.5),  # weight of a pair in which one did not finish
    "reach": (log(3.0), 0.3, -2.0, 3.0),  # distance between places at which a pair has half weight, in fields / pi
    "entry": (0.0, 0.3, -3.0, 3.0),  # mean of newcomers in a pool in which everyone else is known
}
PRIOR_OF_MODES = {"mode": (log(0.1), 0.7, -8.0, 2.0)}  # variance of a player's offset in a mode
PRIOR_OF_EQUIPMENT = {
    "thing_{}_spread": (0.0, 1.0, -6.0, 3.0),  # variance of a new car, club, ...
    "thing_{}_day": (log(2e-4), 1.0, -14.0, -3.0),  # variance gained per day
}
PRIOR_OF_EXTRAS = {
    "reversion": (0.0, 0.1, 0.0, 2.0),  # rho: share of the distance from the active players' mean lost per year
    "margin": (0.0, 1.0, -5.0, 5.0),  # log-odds of omega, the weight of a margin as evidence
}
PRIOR_OF_SIDE = {
    "side_spread": (log(0.1), 1.0, -6.0, 1.0),  # initial variance of the side's advantage
    "side_day": (log(1e-5), 1.0, -16.0, -4.0),  # variance gained per day
}
MEMORY = 20_000.0  # pairs after which evidence for theta has weight 1 / e
LARGEST_STEP = 0.2  # the largest change of a parameter in one event
# Columns of the state of a pool.
DAY, GAP, ENTRIES, MATURITY, SIDE_MEAN, SIDE_VARIANCE, SIDE_LAST, SHARPNESS, SHARPNESS_KNOWN, THETA = range(10)
TICK, COUNTED = 2.0**-13, 100_000.0  # days; a power of two, so that sums of ticks are exact
OWN_GAP_DAYS = 30.4  # assumed days between a player's events, in pools without dates
GAP_MEMORY = 100.0  # gaps after which the old typical gap has weight 1 / e
SHARPNESS_PRECISION, MAX_SHARPNESS = 25.0, 1.5  # prior precision of ln sharpness around 0, and its bound
RECENT = 500.0  # entries over which maturity and the active players' mean are averaged
# The extras' numbers in a pool's state, from `extras_at` on: the mean of the active players, and statistics of margins.
# OUTNUMBERING is the mean effect of outnumbering; its variance, last day and two blocks follow.
LEVEL, MARGINS, MARGIN_SQUARE, MARGIN_SCALE, OUTNUMBERING = range(5)


class Pair(NamedTuple):
    """Two units in a heat."""

    gap: float  # difference of the means
    steepness: float  # k: slope of the log-odds with respect to the gap
    unfinished: float  # 1 if the weight of unfinished races applies to the first unit, else 0
    other_unfinished: float  # the same for the other unit
    noise: float  # variance of a day's performance
    common: bool  # True if both share a piece of equipment


@functools.cache
def prior_of(modes: int, equipment: int, extras: int) -> dict[str, tuple[float, float, float, float]]:
    """Return the prior of each parameter by name, for this many modes and kinds of equipment."""
    kinds = [{name.format(k): prior for name, prior in PRIOR_OF_EQUIPMENT.items()} for k in range(1, equipment + 1)]
    of_equipment = {name: prior for kind in kinds for name, prior in kind.items()}
    of_modes, of_extras = PRIOR_OF_MODES if modes else {}, PRIOR_OF_EXTRAS if extras else {}
    return PRIOR | of_modes | of_equipment | of_extras | PRIOR_OF_SIDE


# The prior as arrays, for kernels. All kinds of equipment have the same prior.
_OTHERS = PRIOR_OF_MODES | PRIOR_OF_EQUIPMENT | PRIOR_OF_EXTRAS | PRIOR_OF_SIDE
_COLUMNS = [PRIOR["spread"], *PRIOR.values(), *_OTHERS.values()]
START, PRIOR_DEVIATION, LOWEST, HIGHEST = (np.array(column) for column in zip(*_COLUMNS, strict=True))
PRECISION = 1.0 / (PRIOR_DEVIATION * PRIOR_DEVIATION)


@functools.cache
def pool_states_with(modes: int, equipment: int, extras: int) -> Any:
    """Return the NamedTuple of a pool's state for this many modes and kinds of equipment."""
    theta = list(prior_of(modes, equipment, extras))
    curvature = [f"m_{a + 1}_{b + 1}" for a in range(len(theta)) for b in range(a + 1)]
    side = [f"side_{part}_{column}" for part in ("mean", "variance") for column in ["rest", *theta]]
    clock = ["day", "gap", "entries", "maturity", "side_mean", "side_variance", "side_last"]
    clock += ["sharpness", "sharpness_known"]  # ln sharpness, and the information about it
    more = ["level", "margins", "margin_square", "margin_scale", "size_mean", "size_variance", "size_last"]
    more += [f"size_{part}_{column}" for part in ("mean", "variance") for column in ["rest", *theta]]
    more = more if extras else []
    return namedtuple("PoolState", [*clock, *theta, *curvature, *side, *more], module=__name__)  # noqa: PYI024


def new_pool(modes: int, equipment: int, extras: int, reversion: float = 0.0) -> Any:
    """Return the initial state: the prior's starting values, with the prior's precision as the curvature M.

    `reversion` is the standard deviation of that parameter's prior, or 0 if it is not learnt.
    """
    priors, kind = prior_of(modes, equipment, extras), pool_states_with(modes, equipment, extras)
    chosen = {"reversion": reversion} if reversion else {}
    sds = [chosen.get(name, sd) for name, (_, sd, *_) in priors.items()]
    curvature = [1.0 / sds[a] ** 2 if a == b else 0.0 for a in range(len(sds)) for b in range(a + 1)]
    begun = [0.0] * THETA + [start for start, *_ in priors.values()] + curvature
    return kind._make(begun + [0.0] * (len(kind._fields) - len(begun)))


@kernel
def side_block(full: int) -> int:
    """Return the position of the home side's blocks in a pool's state, after theta and M."""
    return THETA + full + full * (full + 1) // 2


@kernel
def extras_at(full: int) -> int:
    """Return the position of the extras' numbers in a pool's state, after the blocks of the home side."""
    return side_block(full) + 2 * (full + 1)


@kernel
def width_of(full: int) -> int:
    """Return the width of a block in the workspace, a multiple of four."""
    return (full + FOUR) // FOUR * FOUR


@kernel
def learn_gap(pool: Any, ticks: float) -> None:
    """Move the pool's typical gap towards an observed gap between a player's events, on a logarithmic scale."""
    pool[GAP] += (log(ticks / TICK) - pool[GAP]) / GAP_MEMORY


@kernel
def count_entry(pool: Any, known: float) -> None:
    """Update the pool's maturity with one entry, which belongs to a known player (1) or a newcomer (0)."""
    pool[ENTRIES] += 1.0
    pool[MATURITY] += (known - pool[MATURITY]) / min(pool[ENTRIES], RECENT)


@kernel
def learn_level(pool: Any, full: int, mean: float, entrants: float) -> None:
    """Move the mean of the active players towards an entrant's mean, before the entry is counted.

    `entrants` is the number of the event's entrants up to and including this one.
    """
    at = extras_at(full) + LEVEL
    pool[at] += (mean - pool[at]) / min(pool[ENTRIES] + entrants, RECENT)


@kernel
def learn_curvature(work: Any, learner: int, full: int, spread: float) -> None:
    """Add weight * p (1 - p) u u' of a pair to M. The pair's u is in the learner's row, after the gradient."""
    width = width_of(full)
    for a in range(1, full + 1):
        u = spread * work[learner, width + a]
        for b in range(a // FOUR * FOUR, width, FOUR):
            put_four(work, learner - a, b, four_at(work, learner - a, b) + u * four_at(work, learner, width + b))


SCALE = 173.7178  # points per unit of log-odds
LINGER = 0.9  # share of a reading that is left after each event, because x is only a first-order estimate
RATING, DEVIATION, EVENTS, FIRST, LAST, FILTERED, MEANS = range(7)  # columns of a state, then two blocks
FIELD_LUCK = 0.11  # variance that the filter misses in very large fields, see `field_luck`
FIELD_EVENTS = 10.0  # events over which a player's mean of this variance is taken


@functools.cache
def states_with(modes: int, equipment: int, extras: int) -> Any:
    """Return the NamedTuple of the state of a player or equipment.

    Everything except rating and deviations is in log-odds.

    `rating` is initial + SCALE m, `filtered` is SCALE sqrt(V). `deviation` is the uncertainty to show, which is larger
    after fields of three or more and affects no rating. `first` and `last` are the days of the first and last events,
    or 0 before the first event. They are followed by a block for m and a block for V. Then come, for each mode, the
    offset, its variance (0 before the player's first event in that mode), and a block for each of them.
    """
    columns = ["rest", *prior_of(modes, equipment, extras)]
    fields = ["rating", "deviation", "events", "first", "last", "filtered"]
    fields += [f"{part}_{column}" for part in ("mean", "variance") for column in columns]
    for mode in range(modes):
        fields += [f"offset_{mode}", f"offset_variance_{mode}"]
        fields += [f"offset_{mode}_{part}_{column}" for part in ("mean", "variance") for column in columns]
    return importable(namedtuple(f"State{modes}_{equipment}_{extras}", fields, module=__name__))  # noqa: PYI024


def importable(kind: Any) -> Any:
    """Make a type importable by name from this module, because the cache of machine code needs importable types."""
    globals()[kind.__qualname__] = kind
    return kind


def __getattr__(name: str) -> Any:
    """Return the type with a name such as `State4_1_0`, for code that another process compiled."""
    numbers = name.removeprefix("State").split("_")
    if not (name.startswith("State") and len(numbers) == 3 and all(map(str.isdecimal, numbers))):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return states_with(*map(int, numbers))


@kernel
def block_at(count: int, mode: float) -> int:
    """Return the position of a mode's offset in a state. The offset has a mean, a variance, and a block for each."""
    return MEANS + 2 * (count + 1) + int(min(max(mode, 0.0), 1000.0)) * (2 * (count + 1) + 2)


@kernel
def readings(theta: Any, state: Any, at: int, full: int) -> tuple[float, float]:
    """Return the readings x = y + derivatives * theta of a mean and its variance, whose blocks start at `at`."""
    mean, variance = state[at], state[at + full + 1]
    for k in range(full):
        mean += state[at + 1 + k] * theta[k]
        variance += state[at + full + 2 + k] * theta[k]
    return mean, variance
