"""The rules of the `adaptive` system: comparisons, evidence, credits and expected scores."""

import math
from typing import Any, NamedTuple

from podium.engine.inputs import Entry, Heat
from podium.engine.pool_state import sharpness
from podium.engine.rules import Credit, causes, compare, compare_sides, credit, evidence, expect, expect_side, kernel
from podium.kernels.records import read
from podium.probability.logistic import logistic, score
from podium.systems._adaptive_entering import Entering, Params, apart, equipment_of, is_new, joined, seen, side_entered
from podium.systems._adaptive_state import SCALE, C

LEAST_SURPRISE = 1e-12  # below this, a change cannot be divided among opponents in proportion to S


class Comparison(NamedTuple):
    """The evidence that one opponent gives about a unit."""

    result: float
    expected: float
    weight: float  # w g
    g: float
    worth: float  # w
    near: float  # w without the factor of unfinished races


class Evidence(NamedTuple):
    """Sums over opponents. The last two show whether Glicko's step ends before the mode."""

    surprise: float  # S = sum of w g (s - e)
    information: float  # J = sum of w g^2 e (1 - e); raised if the step would pass the mode
    rise: float = 0.0  # sum of w g^3 e (1 - e) (1 - 2 e), the derivative of J with respect to the performance
    curb: float = 0.0  # sum of w g^4


class Causes(NamedTuple):
    """Changes in the rating that do not come from opponents."""

    time: float  # growth and ageing since the last event


@compare.register(Params)
def by_order(
    params: Any, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Compare two units. The opponent's variance attenuates expected scores, and distant places count less."""
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
    return (
        Comparison(result, of_a, worth_a * b.g, b.g, worth_a, near),
        Comparison(1.0 - result, of_b, worth_b * a.g, a.g, worth_b, near),
    )


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
    return Evidence(weight * (comparison.result - expected), information, rise, curb)


@credit.register(Params)
def points_of(params: Any, me: Entering, totals: Evidence, after: Any, comparison: Comparison) -> Credit:
    """Return an opponent's points: the change in the mean is divided in proportion to shares of the surprise."""
    if abs(totals.surprise) > LEAST_SURPRISE:
        weight = (after.rating - me.rating) / totals.surprise * comparison.weight
    else:
        weight = SCALE * me.variance / (1.0 + (me.variance + params.noise) * totals.information) * comparison.weight
    return Credit(weight, weight * (comparison.result - comparison.expected))


@causes.register(Params)
def points_of_time(params: Any, before: Any, me: Entering, totals: Evidence, after: Any) -> Causes:
    """Return the change caused by growth and ageing."""
    return Causes(0.0 if is_new(before) else me.rating - before.rating)


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
    if sides.start[number + 1] > start + 1 or sides.home[number]:
        unit = seen(params, unit.rating, 0.0, 0.0, 0.0, 0.0)
        for k in range(start, sides.start[number + 1]):
            unit = joined(params, unit, sides.share[k], read(sides.members, k, entering))
        if sides.home[number]:
            unit = joined(params, unit, 1.0, side_entered(params))
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
