"""The rules of the system `podium`: what a pair says, what moves a rating, what is expected."""

import math
from typing import Any, NamedTuple

from podium.engine.inputs import Entry, Heat
from podium.engine.pool_state import sharpness
from podium.engine.rules import Credit, causes, compare, compare_sides, credit, evidence, expect, expect_side, kernel
from podium.kernels.records import read
from podium.probability.logistic import logistic, score
from podium.systems._podium_entering import Entering, Params, apart, is_new, joined, seen, side_entered, things_of
from podium.systems._podium_state import SCALE, C

LEAST_SURPRISE = 1e-12  # below, a change says nothing of how it came about


class Comparison(NamedTuple):
    """What one opponent says about a unit."""

    result: float
    expected: float
    weight: float  # w g
    g: float
    worth: float  # w: what the pair counts
    near: float  # w without what an unfinished race leaves of it


class Evidence(NamedTuple):
    """The sums over opponents; the last two say where the step of old surely ends before the mode."""

    surprise: float  # of w g (s - e)
    information: float  # of w g^2 e (1 - e), or more where the step would end beyond the mode
    rise: float = 0.0  # of w g^3 e (1 - e) (1 - 2 e): how the information changes with the performance
    curb: float = 0.0  # of w g^4


class Causes(NamedTuple):
    """What moved the rating beside the opponents."""

    time: float  # growth and ageing since the last event


@compare.register(Params)
def by_order(
    params: Any, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Each side's expected score is attenuated by the other's variance; places far apart say less."""
    gap = a.mean - b.mean
    return comparisons(params, a, b, mine, theirs, heat, logistic(b.g * gap), logistic(-a.g * gap))


@kernel
def comparisons(
    params: Any, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat, of_a: float, of_b: float
) -> tuple[Comparison, Comparison]:
    """What two units say about each other, from what is expected of both."""
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
    """Return the entry's place; everyone who did not finish is right behind the last who did."""
    return entry.place if entry.finished else entry.rank


@kernel
def finish_weight(params: Any, mine: float, theirs: float) -> Any:
    """Return what a pair counts for one of two: who did not finish loses at least as much as for the last place."""
    if mine and theirs:
        return 1.0
    return params.unfinished if mine else max(params.unfinished, 1.0)


@kernel
def by_unfinished(params: Any, mine: float, theirs: float) -> float:
    """Return 1 if the learnt weight of unfinished races is in what a pair counts for one of two, else 0."""
    return 1.0 if not (mine and theirs) and (mine or params.unfinished > 1.0) else 0.0


@kernel
def nearness(params: Any, place: float, other_place: float, size: float) -> Any:
    """What is left of a pair whose places are far apart."""
    apart = max(abs(place - other_place) - 1.0, 0.0) / (params.reach * size)
    return 1.0 / (1.0 + math.pi * math.pi * apart * apart)


@sharpness.register(Params)
def sharpness_of(params: Any) -> float:
    """The pool's."""
    return float(params.sharpness)


@evidence.register(Params)
def surprise_and_information(params: Any, comparison: Comparison) -> Evidence:
    """What is summed over opponents."""
    expected, weight, g = comparison.expected, comparison.weight, comparison.g
    information = weight * g * expected * (1.0 - expected)
    rise, curb = information * g * (1.0 - 2.0 * expected), weight * g * g * g
    return Evidence(weight * (comparison.result - expected), information, rise, curb)


@credit.register(Params)
def points_of(params: Any, me: Entering, totals: Evidence, after: Any, comparison: Comparison) -> Credit:
    """An opponent moves the mean by its share of the surprise, whatever step that has led to."""
    if abs(totals.surprise) > LEAST_SURPRISE:
        weight = (after.rating - me.rating) / totals.surprise * comparison.weight
    else:
        weight = SCALE * me.variance / (1.0 + (me.variance + params.noise) * totals.information) * comparison.weight
    return Credit(weight, weight * (comparison.result - comparison.expected))


@causes.register(Params)
def points_of_time(params: Any, before: Any, me: Entering, totals: Evidence, after: Any) -> Causes:
    """Growth and ageing."""
    return Causes(0.0 if is_new(before) else me.rating - before.rating)


@kernel
def steepness(params: Any, a: Entering, b: Entering) -> float:
    """k: what the uncertainty of both, and the noise of both days, leave of a lead."""
    return 1.0 / math.sqrt(1.0 + C * (a.variance + b.variance + 2.0 * params.noise))


@kernel
def expected_log_odds(params: Any, a: Entering, b: Entering) -> float:
    """The log-odds of `a` against `b` as today's theta reads both, to first order."""
    k, gap = steepness(params, a, b), a.mean - b.mean
    by_variance = -0.5 * C * k * k * k
    shift = k * (a.mean_reading - b.mean_reading) + gap * by_variance * (a.variance_reading + b.variance_reading)
    return k * gap + shift


@expect.register(Params)
def chance(params: Any, a: Entering, b: Entering) -> float:
    """The chance that `a` is ahead of `b`."""
    return logistic(expected_log_odds(params, a, b))


@kernel
def unit_of(params: Any, entering: Any, sides: Any, number: int) -> Any:
    """What a side brings: the mean of its members', what they share, and the side that it is on."""
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
    """The things that two sides share; nothing in all but fields of mates."""
    both = seen(params, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(sides.start[one + 1] - 1, sides.start[one], -1):
        if not sides.shared[k]:
            break
        for j in range(sides.start[other + 1] - 1, sides.start[other], -1):
            if not sides.shared[j]:
                break
            if sides.slot[k] == sides.slot[j]:
                thing, share = read(sides.members, k, entering), sides.share[k] * sides.share[j]
                reading = both.variance_reading + share * thing.variance_reading
                both = seen(params, 0.0, 0.0, both.variance + share * thing.variance, 0.0, reading)
    return both


@compare_sides.register(Params)
def units_apart(params: Any, entering: Any, sides: Any, a: int, b: int) -> tuple[Entering, Entering]:
    """Both sides, without what they share."""
    one, other = unit_of(params, entering, sides, a), unit_of(params, entering, sides, b)
    if things_of(params):
        both = in_both(params, entering, sides, a, b)
        one, other = apart(params, one, both), apart(params, other, both)
    return one, other


@expect_side.register(Params)
def chance_of_side(params: Any, entering: Any, sides: Any, a: int, b: int) -> float:
    """The chance that side `a` is ahead of side `b`."""
    one, other = compare_sides(params, entering, sides, a, b)
    return logistic(expected_log_odds(params, one, other))
