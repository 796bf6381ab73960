"""The rules of the `adaptive` system: comparisons, evidence, credits and expected scores."""

import math
from typing import Any, NamedTuple

from podium.engine.inputs import Entry, Heat
from podium.engine.pool_state import sharpness
from podium.engine.rules import Credit, causes, compare, compare_sides, credit, evidence, expect, expect_side, kernel
from podium.kernels.records import read
from podium.probability.logistic import logistic, score
from podium.systems._adaptive_entering import (
    Entering,
    Params,
    apart,
    equipment_of,
    extras_of,
    is_new,
    joined,
    seen,
    side_entered,
    size_entered,
)
from podium.systems._adaptive_state import SCALE, C

LEAST_SURPRISE = 1e-12  # below this, a change cannot be divided among opponents in proportion to S
MAX_MARGIN, MAX_DIFFERENCE = 3.0, 1e9  # largest surprise of a margin, in deviations; largest difference of scores


class Comparison(NamedTuple):
    """The evidence that one opponent gives about a unit."""

    result: float
    expected: float
    weight: float  # w g
    g: float
    worth: float  # w
    near: float  # w without the factor of unfinished races
    margin: float  # X - d: excess of the margin over the expected one, in log-odds
    margin_weight: float  # omega / (1 / C + A_j); 0 without a margin. The weights above are then times 1 - omega


class Evidence(NamedTuple):
    """Sums over opponents. The last two show whether Glicko's step ends before the mode."""

    surprise: float  # S = sum of w g (s - e)
    information: float  # J = sum of w g^2 e (1 - e); raised if the step would pass the mode
    rise: float = 0.0  # sum of w g^3 e (1 - e) (1 - 2 e), the derivative of J with respect to the performance
    curb: float = 0.0  # sum of w g^4
    margin: float = 0.0  # the part of S that margins add


NO_EVIDENCE = Evidence(0.0, 0.0)


class Causes(NamedTuple):
    """Changes in the rating that do not come from opponents."""

    time: float  # growth and ageing since the last event
    margin: float  # margins that were larger or smaller than expected


@compare.register(Params)
def by_order(
    params: Any, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Compare two units. The opponent's variance attenuates the expected score, and distant places count less."""
    gap = a.mean - b.mean
    return comparisons(params, a, b, mine, theirs, heat, logistic(b.g * gap), logistic(-a.g * gap))


@kernel
def comparisons(
    params: Any, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat, of_a: float, of_b: float
) -> tuple[Comparison, Comparison]:
    """Return the comparisons for both units of a pair, given both expected scores."""
    place, other_place = place_compared(mine), place_compared(theirs)
    result = score(place, other_place)
    near = nearness(params, place, other_place, heat.entries)
    worth_a = near * finish_weight(params, mine.finished, theirs.finished)
    worth_b = near * finish_weight(params, theirs.finished, mine.finished)
    omega, margin = margin_surprise(params, a, b, mine, theirs, heat.entries)
    by_b, by_a = 0.0, 0.0
    if omega > 0.0:
        worth_a, worth_b = (1.0 - omega) * worth_a, (1.0 - omega) * worth_b
        by_b, by_a = omega * C * b.g * b.g, omega * C * a.g * a.g
    return (
        Comparison(result, of_a, worth_a * b.g, b.g, worth_a, near, margin, by_b),
        Comparison(1.0 - result, of_b, worth_b * a.g, a.g, worth_b, near, -margin, by_a),
    )


@kernel
def margin_surprise(
    params: Any, a: Entering, b: Entering, mine: Entry, theirs: Entry, units: float
) -> tuple[float, float]:
    """Return omega, the weight of a margin (0 if there is none), and X - d, limited to three deviations."""
    if extras_of(params) == 0 or params.margin_scale == 0.0 or not has_margin(mine, theirs, units):
        return 0.0, 0.0
    bound = MAX_MARGIN * math.sqrt(margin_variance(params, a, b))
    surprise = params.margin_scale * limited(mine.score - theirs.score) - (a.mean - b.mean)
    return params.margin_weight, min(max(surprise, -bound), bound)


@kernel
def has_margin(mine: Entry, theirs: Entry, units: float) -> bool:
    """Return True if a result has a margin: both of two units finished, and their scores are known."""
    return bool(units == 2.0 and mine.finished and theirs.finished and not math.isnan(mine.score - theirs.score))


@kernel
def limited(difference: float) -> float:
    """Return a difference of scores, limited so that its square is finite."""
    return min(max(difference, -MAX_DIFFERENCE), MAX_DIFFERENCE)


@kernel
def margin_variance(params: Any, a: Entering, b: Entering) -> float:
    """Return T, the expected variance of a margin X around the difference between the means."""
    variance: float = 1.0 / C + a.variance + b.variance + 2.0 * params.noise
    return variance


@kernel
def place_compared(entry: Entry) -> float:
    """Return an entry's place. All entrants who did not finish are placed directly behind the last finisher."""
    return entry.place if entry.finished else entry.rank


@kernel
def finish_weight(params: Any, mine: float, theirs: float) -> Any:
    """Return a pair's weight for one side.

    For a side that did not finish, it is at least 1, as for an ordinary loss.
    """
    if mine and theirs:
        return 1.0
    return params.unfinished if mine else max(params.unfinished, 1.0)


@kernel
def by_unfinished(params: Any, mine: float, theirs: float) -> float:
    """Return 1 if the learnt weight of unfinished races applies to one side of a pair, otherwise 0."""
    return 1.0 if not (mine and theirs) and (mine or params.unfinished > 1.0) else 0.0


@kernel
def nearness(params: Any, place: float, other_place: float, size: float) -> Any:
    """Return the weight of a pair, which depends on the distance between its two places."""
    apart = max(abs(place - other_place) - 1.0, 0.0) / (params.reach * size)
    return 1.0 / (1.0 + math.pi * math.pi * apart * apart)


@sharpness.register(Params)
def sharpness_of(params: Any) -> float:
    """Return the pool's sharpness."""
    return float(params.sharpness)


@evidence.register(Params)
def surprise_and_information(params: Any, comparison: Comparison) -> Evidence:
    """Return the terms that a comparison adds to the sums over opponents."""
    expected, weight, g = comparison.expected, comparison.weight, comparison.g
    information = weight * g * expected * (1.0 - expected)
    rise, curb = information * g * (1.0 - 2.0 * expected), weight * g * g * g
    by_margin = comparison.margin_weight * comparison.margin
    surprise = weight * (comparison.result - expected) + by_margin
    return Evidence(surprise, information + comparison.margin_weight, rise, curb, by_margin)


@credit.register(Params)
def points_of(params: Any, me: Entering, totals: Evidence, after: Any, comparison: Comparison) -> Credit:
    """Return an opponent's points: the change in the mean is divided in proportion to shares of the surprise."""
    weight = points_of_surprise(params, me, totals, after) * comparison.weight
    return Credit(weight, weight * (comparison.result - comparison.expected))


@kernel
def points_of_surprise(params: Any, me: Entering, totals: Evidence, after: Any) -> Any:
    """Return the change of the rating per unit of the surprise S."""
    if abs(totals.surprise) > LEAST_SURPRISE:
        return (after.rating - me.rating) / totals.surprise
    return SCALE * me.variance / (1.0 + (me.variance + params.noise) * totals.information)


@causes.register(Params)
def points_of_causes(params: Any, before: Any, me: Entering, totals: Evidence, after: Any) -> Causes:
    """Return the points caused by time (growth, ageing and reversion to the mean) and by margins."""
    by_time = 0.0 if is_new(before) else me.rating - before.rating
    return Causes(by_time, points_of_surprise(params, me, totals, after) * totals.margin)


@kernel
def steepness(params: Any, a: Entering, b: Entering) -> float:
    """Return k, the factor by which the uncertainty and noise of both units reduce a lead."""
    return 1.0 / math.sqrt(1.0 + C * (a.variance + b.variance + 2.0 * params.noise))


@kernel
def expected_log_odds(params: Any, a: Entering, b: Entering) -> float:
    """Return the log-odds of `a` against `b`, with both adjusted to today's theta to first order."""
    k, gap = steepness(params, a, b), a.mean - b.mean
    by_variance = -0.5 * C * k * k * k
    shift = k * (a.mean_reading - b.mean_reading) + gap * by_variance * (a.variance_reading + b.variance_reading)
    return k * gap + shift


@expect.register(Params)
def chance(params: Any, a: Entering, b: Entering) -> float:
    """Return the probability that `a` finishes ahead of `b`."""
    return logistic(expected_log_odds(params, a, b))


@kernel
def unit_of(params: Any, entering: Any, sides: Any, number: int) -> Any:
    """Return a side as one unit: the mean of its members, plus their shared equipment and the home advantage."""
    start = sides.start[number]
    unit = read(sides.members, start, entering)
    if sides.start[number + 1] > start + 1 or sides.home[number] or sides.surplus[number]:
        unit = seen(params, unit.rating, 0.0, 0.0, 0.0, 0.0)
        for k in range(start, sides.start[number + 1]):
            unit = joined(params, unit, sides.share[k], read(sides.members, k, entering))
        if sides.home[number]:
            unit = joined(params, unit, 1.0, side_entered(params))
        if sides.surplus[number]:
            unit = joined(params, unit, sides.surplus[number], size_entered(params))
    return unit


@kernel
def in_both(params: Any, entering: Any, sides: Any, one: int, other: int) -> Entering:
    """Return the equipment that two sides have in common. Only team mates in a free-for-all have any."""
    both = seen(params, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(sides.start[one + 1] - 1, sides.start[one], -1):
        if not sides.shared[k]:
            break
        for j in range(sides.start[other + 1] - 1, sides.start[other], -1):
            if not sides.shared[j]:
                break
            if sides.slot[k] == sides.slot[j]:
                equipment, share = read(sides.members, k, entering), sides.share[k] * sides.share[j]
                reading = both.variance_reading + share * equipment.variance_reading
                both = seen(params, 0.0, 0.0, both.variance + share * equipment.variance, 0.0, reading)
    return both


@compare_sides.register(Params)
def units_apart(params: Any, entering: Any, sides: Any, a: int, b: int) -> tuple[Entering, Entering]:
    """Return both sides without the equipment that they have in common."""
    unit_a, unit_b = unit_of(params, entering, sides, a), unit_of(params, entering, sides, b)
    if equipment_of(params):
        common = in_both(params, entering, sides, a, b)
        unit_a, unit_b = apart(params, unit_a, common), apart(params, unit_b, common)
    return unit_a, unit_b


@expect_side.register(Params)
def chance_of_side(params: Any, entering: Any, sides: Any, a: int, b: int) -> float:
    """Return the probability that side `a` finishes ahead of side `b`."""
    one, other = compare_sides(params, entering, sides, a, b)
    return logistic(expected_log_odds(params, one, other))
