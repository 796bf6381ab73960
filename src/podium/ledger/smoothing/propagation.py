"""Smooth skills: update sites and walks alternately until they agree, and fit the parameters.

Every visit of a player to an event has a site: a Gaussian with the information from that event. The site is calculated
at the smoothed mean. It uses the information about the opponents from all other events. The spread of newcomers and the
amount of luck are set to the values that best predict each event from all others. The filter, in contrast, learns from
the past only.

Source: H. Rauch, F. Tung and C. Striebel, "Maximum likelihood estimates of linear dynamic systems" (1965), for walks;
T. Minka, "Expectation propagation for approximate Bayesian inference" (2001), for sites and cavities. S. Geisser, "The
predictive sample reuse method with applications" (1975), for learning; D. Anderson, "Iterative procedures for
nonlinear integral equations" (1965), for combining sweeps.
"""

import math
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import compile_kernel, kernel, run_by_steps
from podium.probability.logistic import logistic, score
from podium.systems import _adaptive_state

END_CHANGE, TRIAL_CHANGE = 3e-4, 1e-3  # mean change within heats, in log-odds, at which smoothing ends, or a trial ends
MAX_SWEEPS = 100
DUEL, WEIGHT = 2, 0  # units of a duel; column of the weights (theta's columns begin at 1)
MEMORY = 4  # number of past sweeps whose means are mixed
LEAST_PRECISION, NEGLIGIBLE = 1e-9, 3e-4  # smallest change: absolute, and relative to a heat's log loss
FARTHEST = 4.0  # log-odds: a sweep moves a skill by at most this much, like an event


class Appearances(NamedTuple):
    """The information about each entrant in each update, player by player, as float64 arrays of equal length."""

    mean: Any  # smoothed
    variance: Any
    cavity_mean: Any  # excluding the information from the event itself
    cavity_variance: Any
    precision: Any  # the site's precision or, during a sweep, the information from all opponents
    shift: Any  # or the surprise
    expected_mean: Any  # before the event, from the past only
    expected_variance: Any
    drift: Any  # of the mean since the previous visit, or the mean of a newcomer
    growth: Any  # of the variance caused by the event, or the variance of a newcomer
    drawn: Any  # share of the way to its ceiling by which the variance moved since the previous visit
    ceiling: Any


class Heats(NamedTuple):
    """Every heat as rows of units."""

    start: Any  # int64 (heats + 1)
    unit: Any  # int32 (lines)
    place: Any  # float64 (lines)
    side: Any  # int32 (lines): equal for team mates
    finished: Any  # bool (lines)
    weight: Any  # float64 (heats): weight of each pair in sites
    worth: Any  # float64 (heats): weight of each pair in prediction errors
    pool: Any  # int32 (heats)
    numbers: Any  # float64 (pools, 3): noise of a day, weight of a pair in which one did not finish, reach
    parts: Any  # int32 (units + 1)
    part: Any  # int32 (parts): the visit
    share: Any  # float64 (parts)
    ahead: Any  # float64 (units): advantage of the side that moves first
    missed: Any  # float64 (heats): the log loss of its pairs, predicted from all other events


class SmootherState(NamedTuple):
    """The order of the visits, player by player."""

    order: Any  # int32 (entrants): the entrant of each visit
    start: Any  # int64 (players + 1): first visit of each player
    event: Any  # int32 (entrants)
    pool: Any  # int32 (entrants)
    kind: Any  # float64 (entrants); empty if all are players


def learn(heats: Heats, visits: Appearances, way: SmootherState, theta: Any) -> int:
    """Set a parameter to the value that best predicts each event from all others. Return the largest number of sweeps.

    Each pool has its own value. Three values are tried: the current value, e times that value, and that value divided
    by e. The new value is at the minimum of the parabola through the three errors. If the first trial changes almost
    nothing, the parameter stays the same.
    """
    sweeps = converge(heats, visits, way)
    has_fields = (np.diff(heats.start) > DUEL).any()
    for column in ([WEIGHT] if has_fields else []) + [_adaptive_state.SPREAD, _adaptive_state.NOISE]:
        moved = np.zeros(len(theta))
        values = moved if column == WEIGHT else theta[:, column - 1]
        means, misses = [visits.mean.copy()], [missed(heats, values, column)]
        for to in (1.0, -1.0):
            scale(heats, visits, way, column, np.exp(to - moved))
            moved[:] = to
            sweeps = max(sweeps, converge(heats, visits, way, TRIAL_CHANGE))
            misses.append(missed(heats, values + moved, column))
            means.append(visits.mean.copy())
            if (np.abs(misses[-1] - misses[0]) < NEGLIGIBLE * heats.missed.size).all():
                break
            go_to(visits, 2.0 * means[0] - means[1])
        slope, curve = 0.5 * (misses[1] - misses[-1]), misses[1] - 2.0 * misses[0] + misses[-1]
        best = -slope / np.maximum(curve, np.abs(slope) + LEAST_PRECISION)
        scale(heats, visits, way, column, np.exp(best - moved))
        x = best[way.pool]
        go_to(visits, means[0] + 0.5 * x * (means[1] - means[-1] + x * (means[1] - 2.0 * means[0] + means[-1])))
        sweeps = max(sweeps, converge(heats, visits, way))
    return sweeps


def widen(heats: Heats, visits: Appearances, way: SmootherState) -> None:
    """Increase the variances, because the pairs in a field are not independent. The means do not change.

    Among n equal players, a place has the variance (n^2 - 1) / 12, while n - 1 independent duels have the variance (n -
    1) / 4. The information from pairs is therefore (n + 1) / 3 times too certain (V. Godambe, "An optimum property of
    regular maximum likelihood estimation", 1960).
    """
    size, mean = sizes(heats), visits.mean.copy()
    if (size > DUEL).any():
        heats.weight[:] = heats.worth * 3.0 / (size + 1.0) / np.sqrt(DUEL / size)
        sweep(heats, visits, way)
        visits.mean[:] = mean


def sizes(heats: Heats) -> Any:
    """Return the number of units in each heat, at least two."""
    return np.maximum(np.diff(heats.start), DUEL)


def missed(heats: Heats, values: Any, column: int) -> Any:
    """Return the prediction error of each pool's events, plus a term for the parameter's distance from the prior."""
    start, deviation = (
        (0.0, 1.0) if column == WEIGHT else (_adaptive_state.START[column], _adaptive_state.PRIOR_DEVIATION[column])
    )
    off = (values - start) / deviation
    return np.bincount(heats.pool, heats.missed, values.size) + 0.5 * off * off


def scale(heats: Heats, visits: Appearances, way: SmootherState, column: int, factors: Any) -> None:
    """Multiply a parameter of each pool, the amount of luck or the spread of newcomers, by the pool's factor.

    Pairs in a field of n have the weight sqrt(2 / n), as in the filter. Factors of 1 / e and e change this weight to 1
    and to 2 / n.
    """
    if column == WEIGHT:
        heats.weight[:] *= (DUEL / sizes(heats)) ** (0.5 * np.log(factors)[heats.pool])
        return
    if column == _adaptive_state.NOISE:
        heats.numbers[:, 0] *= factors
        return
    of_players = factors[way.pool] if way.kind.size == 0 else np.where(way.kind == 0.0, factors[way.pool], 1.0)
    first = way.start[:-1]
    visits.growth[first] *= of_players[first]
    visits.ceiling[:] *= of_players


def converge(heats: Heats, visits: Appearances, way: SmootherState, close: float = END_CHANGE) -> int:
    """Sweep until the gaps within events hardly change. Return the number of sweeps.

    The overall level is ignored, because results do not determine it and it may drift for a long time. The next means
    are a mixture of the last sweeps' means: the mixture with the smallest change. The size of a step is limited.
    """
    means: deque[Any] = deque(maxlen=MEMORY)
    changes: deque[Any] = deque(maxlen=MEMORY)
    size = np.maximum(np.bincount(way.event), 1)
    for number in range(1, MAX_SWEEPS + 1):
        change = -visits.mean
        sweep(heats, visits, way)
        change += visits.mean
        shared = np.bincount(way.event, change) / size
        if not change.size or np.abs(change - shared[way.event]).mean() < close:
            return number
        means.append(visits.mean.astype(np.float32))
        changes.append(change.astype(np.float32))
        ahead = sum(share * (mean - visits.mean) for share, mean in zip(least_mix(changes), means, strict=True))
        go_to(visits, visits.mean + np.clip(change + ahead, -FARTHEST, FARTHEST) - change)
    return MAX_SWEEPS


def go_to(visits: Appearances, means: Any) -> None:
    """Set the smoothed means, and shift the means that exclude the event itself by the same amounts."""
    visits.cavity_mean[:] += means - visits.mean
    visits.mean[:] = means


def least_mix(changes: deque[Any]) -> Any:
    """Return the shares, which sum to 1, for which the mixed changes have the smallest sum of squares."""
    products = np.array([[np.einsum("i,i", one, other, dtype=np.float64) for other in changes] for one in changes])
    steps = np.diff(np.eye(len(changes)), axis=0)
    back = np.linalg.lstsq(steps @ products @ steps.T, steps @ products[-1], rcond=1e-10)[0]
    return np.diff(np.concatenate([[0.0], back, [1.0]]))


def sweep(heats: Heats, visits: Appearances, way: SmootherState) -> None:
    """Update all sites, and then all walks."""
    pairs = int(np.square(np.diff(heats.start)).sum())
    run_by_steps(_sweep, pairs + way.order.size, heats, visits, way)


@compile_kernel
def _sweep(heats: Any, visits: Any, way: Any) -> None:
    for heat in range(heats.start.size - 1):
        judge_heat(heats, visits, heat)
    for player in range(way.start.size - 1):
        walk(visits, way.start[player], way.start[player + 1])


@kernel
def unit_mean(heats: Any, visits: Any, unit: int) -> tuple[float, float]:
    """Return a unit's mean and variance, based on all other events."""
    mean, variance = heats.ahead[unit], 0.0
    for part in range(heats.parts[unit], heats.parts[unit + 1]):
        share, visit = heats.share[part], heats.part[part]
        mean += share * visits.cavity_mean[visit]
        variance += share * share * visits.cavity_variance[visit]
    return mean, variance


@kernel
def judge_heat(heats: Any, visits: Any, heat: int) -> None:
    """Add the information from every pair in a heat to both of its units, and add up the pairs' prediction errors."""
    begin, end, missed = heats.start[heat], heats.start[heat + 1], 0.0
    noise, unfinished, reach = heats.numbers[heats.pool[heat]]
    for i in range(begin, end):
        mean, variance = unit_mean(heats, visits, heats.unit[i])
        for j in range(i + 1, end):
            both = heats.finished[i] and heats.finished[j]
            if heats.side[i] == heats.side[j] or not (heats.finished[i] or heats.finished[j]):
                continue
            apart = max(abs(heats.place[i] - heats.place[j]) - 1.0, 0.0) / (reach * (end - begin))
            near = (1.0 if both else unfinished) / (1.0 + math.pi * math.pi * apart * apart)
            other_mean, other_variance = unit_mean(heats, visits, heats.unit[j])
            gap, spread = mean - other_mean, variance + other_variance + 2.0 * noise
            result = score(heats.place[i], heats.place[j])
            odds = gap / math.sqrt(1.0 + _adaptive_state.C * spread)
            missed += near * (math.log1p(math.exp(-abs(odds))) + max(odds, 0.0) - result * odds)
            say(heats, visits, heats.unit[i], heats.unit[j], gap, spread, result, heats.weight[heat] * near)
            say(heats, visits, heats.unit[j], heats.unit[i], -gap, spread, 1.0 - result, heats.weight[heat] * near)
    heats.missed[heat] = missed * heats.worth[heat]


@kernel
def say(heats: Any, visits: Any, unit: int, other: int, gap: float, spread: float, result: float, worth: float) -> None:
    """Add a duel's information to each part of a unit, considering the uncertainty of the other parts."""
    for part in range(heats.parts[unit], heats.parts[unit + 1]):
        share, visit = heats.share[part], heats.part[part]
        is_common = False
        for theirs in range(heats.parts[other], heats.parts[other + 1]):
            is_common = is_common or heats.part[theirs] == visit
        if is_common:
            continue
        own = share * share * visits.cavity_variance[visit]
        g = 1.0 / math.sqrt(1.0 + _adaptive_state.C * (spread - own))
        expected = logistic(g * (gap + share * (visits.mean[visit] - visits.cavity_mean[visit])))
        visits.shift[visit] += worth * share * g * (result - expected)
        visits.precision[visit] += worth * share * share * g * g * expected * (1.0 - expected)


@kernel
def walk(visits: Any, start: int, stop: int) -> None:
    """Run forward and backward along a player's visits."""
    mean, variance = 0.0, 0.0
    for v in range(start, stop):
        visits.shift[v] += visits.precision[v] * visits.mean[v]
        mean, variance = mean + visits.drift[v], variance + visits.growth[v]
        if visits.drawn[v] > 0.0 and variance < visits.ceiling[v]:
            left = math.exp(-visits.drawn[v] / visits.ceiling[v])
            variance = visits.ceiling[v] - (visits.ceiling[v] - variance) * left
        visits.expected_mean[v], visits.expected_variance[v] = mean, variance
        precision = 1.0 / variance + visits.precision[v]
        mean = (mean / variance + visits.shift[v]) / precision
        variance = 1.0 / precision
        visits.cavity_mean[v], visits.cavity_variance[v] = mean, variance  # for now, given the past and the event
    for v in range(stop - 1, start - 1, -1):
        if v < stop - 1:
            pull = visits.cavity_variance[v] / visits.expected_variance[v + 1]
            mean = visits.cavity_mean[v] + pull * (mean - visits.expected_mean[v + 1])
            gained = visits.expected_variance[v + 1] - visits.cavity_variance[v]  # not negative: no cancellation
            variance = pull * (gained + pull * variance)
        visits.mean[v], visits.variance[v] = mean, variance
        rest = max(1.0 / variance - visits.precision[v], LEAST_PRECISION)
        visits.cavity_mean[v] = (mean / variance - visits.shift[v]) / rest
        visits.cavity_variance[v] = 1.0 / rest
        visits.precision[v], visits.shift[v] = 0.0, 0.0
