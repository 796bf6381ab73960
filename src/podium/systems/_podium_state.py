"""What is known of a player in the system `podium`, and how it would differ had theta been another.

Every mean and every variance has its derivatives by theta, which go through each rule, opponents' included. A column
more goes the same way without the rules' own terms in theta: the reading x, by how much the number would differ, to
first order, had theta always been what it is now. Between events y stands in its place: x = y + derivatives * theta.
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
START, PRIOR_DEVIATION, LOWEST, HIGHEST = (np.array(column) for column in zip(*PRIOR.values(), strict=True))
PRECISION = 1.0 / (PRIOR_DEVIATION * PRIOR_DEVIATION)
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


SCALE = 173.7178  # points for odds of e to 1
LINGER = 0.9  # of a reading after each event: theta moves for good reasons too, and x is exact to first order only
RATING, DEVIATION, EVENTS, FIRST, LAST, MEANS = range(6)  # columns of a state; after them the derivatives of the mean
CORE_FIELDS = MEANS + 2 * (PARAMETERS + 1)


@functools.cache
def states_with(modes: int) -> Any:
    """The NamedTuple of a player's state with so many modes; all but rating and deviation in log-odds.

    `rating` is initial + SCALE m, `deviation` is SCALE sqrt(V), `first` and `last` are days of events, 0 before any.
    Then the derivatives of m and y of it, those of V and y of it; for each mode the offset, its variance (0 where the
    player has not been seen in it), and so on.
    """
    columns = [*list(PRIOR)[: PARAMETERS + (modes > 0)], "rest"]
    fields = ["rating", "deviation", "events", "first", "last"]
    fields += [f"{part}_{column}" for part in ("mean", "variance") for column in columns]
    for mode in range(modes):
        fields += [f"offset_{mode}", f"offset_variance_{mode}"]
        fields += [f"offset_{mode}_{part}_{column}" for part in ("mean", "variance") for column in columns]
    kind: Any = namedtuple(  # type: ignore[misc]  # noqa: PYI024  (a field for each number)
        f"State{modes}", fields, module=__name__
    )
    globals()[kind.__qualname__] = kind  # machine code is found in the cache by types that can be imported
    return kind


def __getattr__(name: str) -> Any:
    """The type of states with so many modes, as `State4`, for whoever loads machine code that another process wrote."""
    modes = name.removeprefix("State")
    if modes == name or not modes.isdecimal():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return states_with(int(modes))


def room_for(modes: int) -> tuple[int, int]:
    """The scratch that an event takes: numbers an entrant, and rows beside."""
    blocks, columns = (6, PARAMETERS + 2) if modes else (4, PARAMETERS + 1)
    return blocks * columns, BESIDE


@kernel
def count_of(me: Any) -> int:
    """How many parameters a state (NamedTuple) has derivatives by; known when a kernel is compiled."""
    return PARAMETERS if len(me) == CORE_FIELDS else PARAMETERS + 1


@kernel
def offset_at(count: int, mode: float) -> int:
    """Where a state has its offset in a mode (from 0): the mean, the variance, then their derivatives and rests."""
    return MEANS + 2 * (count + 1) + int(min(max(mode, 0.0), 1000.0)) * (2 * (count + 1) + 2)


@kernel
def reading(params: Any, me: Any, start: int, count: int) -> float:
    """The reading of what has its derivatives at `start` of a state: x = y + derivatives times theta."""
    x: float = me[start + count]
    for k in range(count):
        x += me[start + k] * params[k]
    return x


class Passed(NamedTuple):
    """What the time before an event has to do with theta."""

    new: bool  # nothing was known of the player
    days: float  # since the last event
    growth: float  # what a growth of 1 a year adds to the mean
    ageing: float  # what an ageing of 1 a year takes from it


@kernel
def enter_row(
    params: Any,
    me: Any,
    entering: Any,
    passed: Passed,
    offset: int,
    states: Any,
    player: int,
    room: Any,
    i: int,
    count: int,
) -> None:
    """Write the derivatives that entrant `i` brings, after the time before the event.

    Args:
        offset: where the state has the offset in the event's mode, 0 without one.
    """
    columns = count + 1
    for k in range(4 * columns):
        room[i, k] = 0.0
    if passed.new:
        room[i, columns + SPREAD] = params.spread
    else:
        for k in range(2 * columns):
            room[i, k] = states[player, MEANS + k]
        room[i, GROWTH] += passed.growth
        room[i, AGEING] -= passed.ageing
        room[i, columns + EVENT] += params.event
        room[i, columns + IDLE_DAY] += params.day * passed.days
    if count > PARAMETERS:
        bring_offset(params, me, states, player, offset, room, i, count)
    room[i, count] = entering.mean_reading
    room[i, columns + count] = entering.variance_reading


@kernel
def bring_offset(params: Any, me: Any, states: Any, player: int, offset: int, room: Any, i: int, count: int) -> None:
    """Add the derivatives of an offset to those of the skill, and note them for when both settle."""
    columns = count + 1
    for k in range(2 * columns):
        noted = states[player, offset + 2 + k] if offset else 0.0
        room[i, 4 * columns + k] = noted
        room[i, k] += noted
    if offset:
        room[i, 4 * columns + count] = reading(params, me, offset + 2, count)
        room[i, 5 * columns + count] = reading(params, me, offset + 2 + columns, count)
    if offset and states[player, offset + 1] == 0.0:  # not seen in this mode before
        room[i, 5 * columns + MODE] += params.offset
        room[i, columns + MODE] += params.offset


@kernel
def carry_pair(pair: Pair, for_a: Any, for_b: Any, weight: float, room: Any, i: int, j: int, count: int) -> None:
    """Carry the derivatives of both sides' evidence through a comparison of entrants `i` and `j`."""
    d, w, columns = pair.gap, weight * for_a.worth, count + 1
    g_i, g_j = for_a.g, for_b.g
    off_i, off_j = for_a.result - for_a.expected, for_b.result - for_b.expected
    v_i, v_j = for_a.expected * (1.0 - for_a.expected), for_b.expected * (1.0 - for_b.expected)
    bend_i, bend_j = (1.0 - 2.0 * for_a.expected) * v_i, (1.0 - 2.0 * for_b.expected) * v_j
    # By the difference of the means, and by the variance of the other side, which g attenuates.
    g_by_i, g_by_j = -0.5 * C * g_i * g_i * g_i, -0.5 * C * g_j * g_j * g_j
    s_gap_i, s_gap_j = -w * g_i * g_i * v_i, -w * g_j * g_j * v_j
    s_other_i, s_other_j = w * (off_i - g_i * v_i * d) * g_by_i, w * (off_j + g_j * v_j * d) * g_by_j
    j_gap_i, j_gap_j = w * g_i * g_i * g_i * bend_i, w * g_j * g_j * g_j * bend_j
    j_other_i = w * (2.0 * g_i * v_i + g_i * g_i * bend_i * d) * g_by_i
    j_other_j = w * (2.0 * g_j * v_j - g_j * g_j * bend_j * d) * g_by_j
    surprise_i, surprise_j = w * g_i * off_i, w * g_j * off_j
    information_i, information_j = w * g_i * g_i * v_i, w * g_j * g_j * v_j
    surprises, informations = 2 * columns, 3 * columns
    for k in range(columns):
        gap, noise = room[i, k] - room[j, k], pair.noise if k == NOISE else 0.0
        mine, theirs = room[i, columns + k] + noise, room[j, columns + k] + noise
        weighed = 2.0 * (1.0 - for_a.near) if k == REACH else pair.unfinished if k == UNFINISHED else 0.0
        room[i, surprises + k] += s_gap_i * gap + s_other_i * theirs + weighed * surprise_i
        room[i, informations + k] += j_gap_i * gap + j_other_i * theirs + weighed * information_i
        room[j, surprises + k] += s_other_j * mine - s_gap_j * gap + weighed * surprise_j
        room[j, informations + k] += j_other_j * mine - j_gap_j * gap + weighed * information_j


@kernel
def settle_row(
    entering: Any,
    totals: Any,
    noise: float,
    pool: Any,
    room: Any,
    i: int,
    after: Any,
    row: int,
    offset: int,
    count: int,
) -> None:
    """Write how theta moves the state that entrant `i` leaves with, and what stays of its readings."""
    columns = count + 1
    variance = entering.variance
    share = 1.0 / (1.0 + (variance + noise) * totals.information)
    r, c = totals.surprise * share, totals.information * share
    for k in range(columns):
        by_variance = room[i, columns + k] + (noise if k == NOISE else 0.0)
        by_share = by_variance * totals.information + (variance + noise) * room[i, 3 * columns + k]
        r_by, c_by = (
            (room[i, 2 * columns + k] - r * by_share) * share,
            (room[i, 3 * columns + k] - c * by_share) * share,
        )
        mean, own = room[i, k], room[i, columns + k]
        if count > PARAMETERS:
            offset_mean, offset_own = room[i, 4 * columns + k], room[i, 5 * columns + k]
            mean, own = mean - offset_mean, own - offset_own
            if offset:
                free = variance - entering.skill
                after[row, offset + 2 + k] = offset_mean + offset_own * r + free * r_by
                after[row, offset + 2 + columns + k] = offset_own - 2.0 * free * offset_own * c - free * free * c_by
        skill = entering.skill
        after[row, MEANS + k] = mean + own * r + skill * r_by
        after[row, MEANS + columns + k] = own - 2.0 * skill * own * c - skill * skill * c_by
    leave_rest(pool, after, row, MEANS, count)
    leave_rest(pool, after, row, MEANS + columns, count)
    if offset:
        leave_rest(pool, after, row, offset + 2, count)
        leave_rest(pool, after, row, offset + 2 + columns, count)


@kernel
def leave_rest(pool: Any, after: Any, row: int, start: int, count: int) -> None:
    """Put y = LINGER x - derivatives times theta in the place of a reading x."""
    rest = LINGER * after[row, start + count]
    for k in range(count):
        rest -= after[row, start + k] * pool[THETA + k]
    after[row, start + count] = rest
