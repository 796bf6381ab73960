"""How the system `podium` learns: theta and its curvature in a pool, and what every state knows of how theta moves it.

The derivatives of a mean and a variance by theta are carried through every rule, opponents' included; a column more, the
reading x, goes the same way without the rules' own terms in theta. Theta takes one damped Newton step an event on the
residual that predictions by today's theta leave.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import kernel
from podium.kernels.exponential import exp

SCALE = 173.7178  # points for odds of e to 1
C = 3.0 / math.pi**2  # sigma(d / sqrt(1 + C v)) is about the mean of sigma over a normal variable of variance v
SPREAD, EVENT, IDLE_DAY, NOISE, GROWTH, AGEING, UNFINISHED, REACH = range(8)
YEAR = 365.25
GROWTH_DAYS = 800.0  # of newcomers: growth is e times slower after so long
PARAMETERS = 8
READING = PARAMETERS  # the column after the derivatives
COLUMNS = PARAMETERS + 1
# Start, standard deviation of the prior, lowest and highest; all but growth and ageing are logarithms.
PRIOR = (
    (1.0, 1.0, -4.0, 3.0),  # spread: variance of newcomers' skills
    (math.log(0.003), 1.0, -11.0, 0.0),  # event: variance that a skill gains per event
    (math.log(2e-4), 1.0, -14.0, -3.0),  # day: variance that it gains per day
    (math.log(0.3), 0.7, -6.0, 2.0),  # noise: variance of a day's performance
    (0.0, 0.1, -1.0, 1.0),  # growth: of newcomers, a year
    (0.0, 0.02, -1.0, 1.0),  # ageing: a year, after ten years in the pool
    (math.log(0.5), 0.5, -3.0, 0.5),  # unfinished: weight of a pair of which one did not finish
    (math.log(3.0), 0.3, -2.0, 3.0),  # reach: how far apart, in fields / pi, two places count half
)
START, DEVIATION, LOWEST, HIGHEST = (np.array(column) for column in zip(*PRIOR, strict=True))
PRECISION = 1.0 / (DEVIATION * DEVIATION)
MEMORY = 20_000.0  # pairs after which what theta has learnt weighs 1 / e
LARGEST_STEP = 0.2  # of any parameter in one event
LINGER = 0.9  # of a reading after each event: theta moves for good reasons too, and x is exact to first order only

# Where a state has its derivatives: by theta, then what is left of the reading without theta.
MEANS, VARIANCES = 5, 5 + COLUMNS
# A row of an entrant in the room, and the two beside.
MEAN_BY, VARIANCE_BY, SURPRISE_BY, INFORMATION_BY = 0, COLUMNS, 2 * COLUMNS, 3 * COLUMNS
GRADIENT, STEP, LOGIT_BY = 0, PARAMETERS, 2 * PARAMETERS
TRIANGLE = PARAMETERS * (PARAMETERS + 1) // 2
ROOM = (4 * COLUMNS, 2)
DAY, THETA, CURVATURE = 0, 1, 1 + PARAMETERS  # in the state of a pool


class PoolState(NamedTuple):
    """What a pool has learnt: the day of its newest event, theta, and the lower triangle of the curvature M."""

    day: float
    spread: float
    event: float
    idle_day: float
    noise: float
    growth: float
    ageing: float
    unfinished: float
    reach: float
    m_1_1: float
    m_2_1: float
    m_2_2: float
    m_3_1: float
    m_3_2: float
    m_3_3: float
    m_4_1: float
    m_4_2: float
    m_4_3: float
    m_4_4: float
    m_5_1: float
    m_5_2: float
    m_5_3: float
    m_5_4: float
    m_5_5: float
    m_6_1: float
    m_6_2: float
    m_6_3: float
    m_6_4: float
    m_6_5: float
    m_6_6: float
    m_7_1: float
    m_7_2: float
    m_7_3: float
    m_7_4: float
    m_7_5: float
    m_7_6: float
    m_7_7: float
    m_8_1: float
    m_8_2: float
    m_8_3: float
    m_8_4: float
    m_8_5: float
    m_8_6: float
    m_8_7: float
    m_8_8: float


class Passed(NamedTuple):
    """What the time before an event has to do with theta."""

    new: float  # 1 where nothing was known of the player, else 0
    days: float  # since the last event
    growth: float  # what a growth of 1 a year adds to the mean
    ageing: float  # what an ageing of 1 a year takes from it


class Pair(NamedTuple):
    """Two entrants in a heat."""

    gap: float  # of their means
    steepness: float  # of the log-odds, by the gap
    unfinished: float  # 1 where one of them did not finish, else 0


def new_pool() -> PoolState:
    """The start: the prior's values, and its precision as the curvature."""
    curvature = [float(PRECISION[a]) if a == b else 0.0 for a in range(PARAMETERS) for b in range(a + 1)]
    return PoolState(0.0, *START.tolist(), *curvature)


@kernel
def begin_event(pool: Any, notes: Any, row: int, count: float) -> None:
    """Theta forgets a little towards the prior, by what the event's pairs count; its gradient begins with that pull."""
    keep = exp(-count / MEMORY)
    for k in range(TRIANGLE):
        pool[CURVATURE + k] *= keep
    diagonal = CURVATURE
    for a in range(PARAMETERS):
        pool[diagonal] += (1.0 - keep) * PRECISION[a]
        notes[row, GRADIENT + a] = (1.0 - keep) * PRECISION[a] * (START[a] - pool[THETA + a])
        diagonal += a + 2


@kernel
def enter_row(params: Any, me: Any, entering: Any, passed: Any, states: Any, player: int, room: Any, i: int) -> None:
    """What theta has to do with entrant `i` at the start of an event.

    Args:
        me: its state.
        passed: whether nothing was known of it, and what an idle day, growth and ageing of 1 add: `Passed`.
    """
    if passed.new:
        for k in range(4 * COLUMNS):
            room[i, k] = 0.0
        room[i, VARIANCE_BY + SPREAD] = params.spread
        return
    for k in range(COLUMNS):
        room[i, MEAN_BY + k] = states[player, MEANS + k]
        room[i, VARIANCE_BY + k] = states[player, VARIANCES + k]
        room[i, SURPRISE_BY + k] = 0.0
        room[i, INFORMATION_BY + k] = 0.0
    room[i, MEAN_BY + GROWTH] += passed.growth
    room[i, MEAN_BY + AGEING] -= passed.ageing
    room[i, VARIANCE_BY + EVENT] += params.event
    room[i, VARIANCE_BY + IDLE_DAY] += params.day * passed.days
    room[i, MEAN_BY + READING] = entering.mean_reading
    room[i, VARIANCE_BY + READING] = entering.variance_reading


@kernel
def carry_pair(params: Any, pair: Any, for_a: Any, for_b: Any, weight: float, room: Any, i: int, j: int) -> None:
    """Carry the derivatives of both sides' evidence through a comparison of entrants `i` and `j`.

    Args:
        pair: the difference of the means, and who is unfinished: `Pair`.
        for_a: what the pair says of `i`, a `Comparison`.
        weight: how many times the heat counts.
    """
    d, w = pair.gap, weight * for_a.count
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
    for k in range(COLUMNS):
        gap = room[i, MEAN_BY + k] - room[j, MEAN_BY + k]
        mine, theirs = room[i, VARIANCE_BY + k], room[j, VARIANCE_BY + k]
        room[i, SURPRISE_BY + k] += s_gap_i * gap + s_other_i * theirs
        room[i, INFORMATION_BY + k] += j_gap_i * gap + j_other_i * theirs
        room[j, SURPRISE_BY + k] += s_other_j * mine - s_gap_j * gap
        room[j, INFORMATION_BY + k] += j_other_j * mine - j_gap_j * gap
    room[i, SURPRISE_BY + NOISE] += s_other_i * params.noise
    room[i, INFORMATION_BY + NOISE] += j_other_i * params.noise
    room[j, SURPRISE_BY + NOISE] += s_other_j * params.noise
    room[j, INFORMATION_BY + NOISE] += j_other_j * params.noise
    by_reach = 2.0 * (1.0 - for_a.near) * w
    surprise_i, surprise_j = g_i * off_i, g_j * off_j
    information_i, information_j = g_i * g_i * v_i, g_j * g_j * v_j
    room[i, SURPRISE_BY + REACH] += by_reach * surprise_i
    room[i, INFORMATION_BY + REACH] += by_reach * information_i
    room[j, SURPRISE_BY + REACH] += by_reach * surprise_j
    room[j, INFORMATION_BY + REACH] += by_reach * information_j
    if pair.unfinished:
        room[i, SURPRISE_BY + UNFINISHED] += w * surprise_i
        room[i, INFORMATION_BY + UNFINISHED] += w * information_i
        room[j, SURPRISE_BY + UNFINISHED] += w * surprise_j
        room[j, INFORMATION_BY + UNFINISHED] += w * information_j


@kernel
def learn_pair(
    params: Any, pair: Any, p: float, result: float, weight: float, pool: Any, room: Any, i: int, j: int, row: int
) -> None:
    """Add what a pair says of theta, by the chance `p` that was given to `i`: its gradient and its curvature.

    Args:
        weight: what the pair counts: of a race's pairs each tells less, for n entrants tell n - 1 things.
    """
    k_by_variance = -0.5 * C * pair.steepness * pair.steepness * pair.steepness
    slope = pair.gap * k_by_variance
    for k in range(PARAMETERS):
        gap = room[i, MEAN_BY + k] - room[j, MEAN_BY + k]
        room[row, LOGIT_BY + k] = pair.steepness * gap + slope * (room[i, VARIANCE_BY + k] + room[j, VARIANCE_BY + k])
    room[row, LOGIT_BY + NOISE] += slope * 2.0 * params.noise
    off, spread = (result - p) * weight, p * (1.0 - p) * weight
    at = CURVATURE
    for a in range(PARAMETERS):
        u = room[row, LOGIT_BY + a]
        room[row, GRADIENT + a] += off * u
        for b in range(a + 1):
            pool[at + b] += spread * u * room[row, LOGIT_BY + b]
        at += a + 1


@kernel
def settle_row(params: Any, entering: Any, totals: Any, pool: Any, room: Any, i: int, states: Any, row: int) -> None:
    """Write how theta moves the state that an entrant leaves with, and what stays of its reading."""
    variance, share = entering.variance, 1.0 / (1.0 + (entering.variance + params.noise) * totals.information)
    r, c = totals.surprise * share, totals.information * share
    for k in range(COLUMNS):
        by_mean, by_variance = room[i, MEAN_BY + k], room[i, VARIANCE_BY + k]
        by_surprise, by_information = room[i, SURPRISE_BY + k], room[i, INFORMATION_BY + k]
        d = by_variance + (params.noise if k == NOISE else 0.0)
        by_den = d * totals.information + (variance + params.noise) * by_information
        r_by, c_by = (by_surprise - r * by_den) * share, (by_information - c * by_den) * share
        states[row, MEANS + k] = by_mean + by_variance * r + variance * r_by
        states[row, VARIANCES + k] = by_variance - 2.0 * variance * by_variance * c - variance * variance * c_by
    mean_rest, variance_rest = LINGER * states[row, MEANS + READING], LINGER * states[row, VARIANCES + READING]
    for k in range(PARAMETERS):
        mean_rest -= states[row, MEANS + k] * pool[THETA + k]
        variance_rest -= states[row, VARIANCES + k] * pool[THETA + k]
    states[row, MEANS + READING], states[row, VARIANCES + READING] = mean_rest, variance_rest


@kernel
def take_step(pool: Any, room: Any, row: int) -> None:
    """Move theta by M^-1 times the gradient, cut to the largest step and the bounds; M = L L' by Cholesky."""
    below = row + 1
    start = 0
    for a in range(PARAMETERS):
        other = 0
        for b in range(a + 1):
            left = pool[CURVATURE + start + b]
            for k in range(b):
                left -= room[below, start + k] * room[below, other + k]
            if a == b:
                room[below, start + b] = math.sqrt(max(left, 1e-12))
            else:
                room[below, start + b] = left / room[below, other + b]
            other += b + 1
        start += a + 1
    start = 0
    for a in range(PARAMETERS):
        left = room[row, GRADIENT + a]
        for k in range(a):
            left -= room[below, start + k] * room[row, STEP + k]
        room[row, STEP + a] = left / room[below, start + a]
        start += a + 1
    for back in range(PARAMETERS):
        a = PARAMETERS - 1 - back
        left = room[row, STEP + a]
        for k in range(a + 1, PARAMETERS):
            left -= room[below, k * (k + 1) // 2 + a] * room[row, STEP + k]
        room[row, STEP + a] = left / room[below, a * (a + 1) // 2 + a]
    for a in range(PARAMETERS):
        step = min(max(room[row, STEP + a], -LARGEST_STEP), LARGEST_STEP)
        pool[THETA + a] = min(max(pool[THETA + a] + step, LOWEST[a]), HIGHEST[a])
