"""The rules of the system `podium`: what a player brings, what a pair says, what moves a rating, what is expected."""

import math
from typing import Any, NamedTuple

from podium.engine.inputs import Entrant, Entry, Heat, Occasion
from podium.engine.pool_state import LearntParameter
from podium.engine.rules import Credit, causes, compare, credit, enter, evidence, expect, in_pool, kernel
from podium.kernels.exponential import exp
from podium.probability.logistic import logistic, score
from podium.systems._podium_state import (
    COUNTED,
    DAY,
    GAP,
    MEANS,
    OWN_GAP_DAYS,
    SCALE,
    START,
    THETA,
    TICK,
    C,
    count_of,
    offset_at,
    reading,
)

YEAR = 365.25
GROWTH_DAYS = 800.0  # of newcomers: growth is e times slower after so long
DECADE, MOST_DECADES = 3652.5, 2.0  # ageing grows with the time in the pool, up to twenty years
NEWCOMER_DEVIATION = SCALE * exp(0.5 * START[0])


class Params(NamedTuple):
    """What the rules read: the pool's theta first, then the exponentials of its logarithms, and the event."""

    ln_spread: float
    ln_event: float
    ln_day: float
    ln_noise: float
    growth: float
    ageing: float
    ln_unfinished: float
    ln_reach: float
    ln_offset: float
    spread: float
    event: float
    day: float
    noise: float
    unfinished: float
    reach: float
    offset: float
    today: float
    pace: float  # days that pass in a tick, where events are counted
    mode: float
    initial: float
    timely: float  # 1 where skills grow and decline with time, else 0
    modes: float  # how many there are, 0 where none is named


class Entering(NamedTuple):
    """A player at the start of an event, after the time since the last."""

    rating: float
    mean: float
    variance: float
    mean_reading: float
    variance_reading: float
    g: float  # how little a comparison with an uncertain opponent says
    skill: float  # variance of the skill alone, without that of the offset in the event's mode


class Comparison(NamedTuple):
    """What one opponent says about a player."""

    result: float
    expected: float
    weight: float  # w g
    g: float
    worth: float  # w: what the pair counts
    near: float  # w without what an unfinished race leaves of it


class Evidence(NamedTuple):
    """The two sums over opponents."""

    surprise: float  # of w g (s - e)
    information: float  # of w g^2 e (1 - e)


class Causes(NamedTuple):
    """What moved the rating beside the opponents."""

    time: float  # growth and ageing since the last event


@in_pool.register
def read_pool(params: Params, pool: Any, occasion: Occasion) -> Params:
    """The pool's theta, and the event; one without a date is the next tick."""
    today = occasion.day if occasion.day >= COUNTED else pool[DAY] + TICK
    spread, event, idle_day, noise = pool[THETA], pool[THETA + 1], pool[THETA + 2], pool[THETA + 3]
    growth, ageing, unfinished, reach = pool[THETA + 4], pool[THETA + 5], pool[THETA + 6], pool[THETA + 7]
    offset = pool[THETA + 8] if params.modes else 0.0
    return Params(
        spread,
        event,
        idle_day,
        noise,
        growth,
        ageing,
        unfinished,
        reach,
        offset,
        exp(spread),
        exp(event),
        exp(idle_day),
        exp(noise),
        exp(unfinished),
        exp(reach),
        exp(offset) if params.modes else 0.0,
        today,
        OWN_GAP_DAYS / TICK * exp(-pool[GAP]),
        occasion.mode,
        params.initial,
        params.timely,
        params.modes,
    )


@kernel
def is_new(me: Any) -> bool:
    """Whether nothing is known of a player, not even a deviation to start from."""
    return bool(me.last == 0.0 and me.events == 0.0 and me.deviation == NEWCOMER_DEVIATION)


@kernel
def days_between(params: Params, earlier: float, later: float) -> float:
    """Days from one moment of the pool to another; none from events that are counted to one that has a date."""
    if later < COUNTED:
        return max(later - earlier, 0.0) * params.pace
    return max(later - earlier, 0.0) if earlier >= COUNTED else 0.0


@kernel
def idle_days(params: Params, me: Any) -> float:
    """Days since the player's last event; 0 for one who has none."""
    return days_between(params, me.last, params.today) if me.last > 0.0 else 0.0


@kernel
def first_day(params: Params, me: Any) -> float:
    """When the player came; at the first date after events that are counted, so many days before it."""
    if me.last == 0.0:
        return params.today
    first: float = me.first
    if first >= COUNTED or params.today < COUNTED:
        return first
    return params.today - days_between(params, first, me.last)


@kernel
def growth_of(params: Params, me: Any) -> float:
    """By how much a growth of 1 a year has moved the mean since the last event."""
    here = days_between(params, me.first, params.today)
    return params.timely * idle_days(params, me) / YEAR * exp(-here / GROWTH_DAYS)


@kernel
def ageing_of(params: Params, me: Any) -> float:
    """By how much an ageing of 1 a year has moved the mean since the last event."""
    decades: float = min(days_between(params, me.first, params.today) / DECADE, MOST_DECADES)
    return params.timely * idle_days(params, me) / YEAR * decades


@kernel
def offset_in(params: Params, me: Any) -> int:
    """Where a state has the offset in the event's mode; 0 where no mode is named, or none in particular meant."""
    if params.modes == 0.0 or params.mode < 0.0:
        return 0
    return offset_at(count_of(me), min(params.mode, params.modes - 1.0))


@enter.register
def let_time_pass(params: Params, me: Any, entrant: Entrant) -> Entering:
    """The variance grows, newcomers grow, veterans age; readings are those of today's theta."""
    rating, skill, mean_reading, variance_reading = me.rating, params.spread, 0.0, 0.0
    count, offset = count_of(me), offset_in(params, me)
    if not is_new(me):
        rating += SCALE * (params.growth * growth_of(params, me) - params.ageing * ageing_of(params, me))
        skill = (me.deviation / SCALE) * (me.deviation / SCALE) + params.event + params.day * idle_days(params, me)
        mean_reading = reading(params, me, MEANS, count)
        variance_reading = reading(params, me, MEANS + count + 1, count)
    mean, variance = (rating - params.initial) / SCALE, skill
    if offset:
        mean += me[offset]
        variance += me[offset + 1] if me[offset + 1] > 0.0 else params.offset
        mean_reading += reading(params, me, offset + 2, count)
        variance_reading += reading(params, me, offset + count + 3, count)
    return Entering(rating, mean, variance, mean_reading, variance_reading, attenuation(params, variance), skill)


@kernel
def attenuation(params: Params, variance: float) -> float:
    """g: how little a comparison with an uncertain opponent says."""
    return 1.0 / math.sqrt(1.0 + C * (variance + params.noise))


@compare.register
def by_order(
    params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Each side's expected score is attenuated by the other's variance; places far apart say less."""
    gap, result = a.mean - b.mean, score(mine.place, theirs.place)
    apart = max(abs(mine.place - theirs.place) - 1.0, 0.0) / (params.reach * heat.entries)
    near = 1.0 / (1.0 + math.pi * math.pi * apart * apart)
    worth = near if mine.finished and theirs.finished else near * params.unfinished
    return (
        Comparison(result, logistic(b.g * gap), worth * b.g, b.g, worth, near),
        Comparison(1.0 - result, logistic(-a.g * gap), worth * a.g, a.g, worth, near),
    )


@evidence.register
def surprise_and_information(params: Params, comparison: Comparison) -> Evidence:
    """What is summed over opponents."""
    information = comparison.weight * comparison.g * comparison.expected * (1.0 - comparison.expected)
    return Evidence(comparison.weight * (comparison.result - comparison.expected), information)


@kernel
def gain(params: Params, me: Entering, totals: Evidence) -> float:
    """V / D: by how much a surprise of 1 moves the skill."""
    return me.skill / (1.0 + (me.variance + params.noise) * totals.information)


@credit.register
def points_of(params: Params, me: Entering, totals: Evidence, after: Any, comparison: Comparison) -> Credit:
    """An opponent moves the mean by V w g (s - e) / D."""
    weight = SCALE * gain(params, me, totals) * comparison.weight
    return Credit(weight, weight * (comparison.result - comparison.expected))


@causes.register
def points_of_time(params: Params, before: Any, me: Entering, totals: Evidence, after: Any) -> Causes:
    """Growth and ageing."""
    return Causes(me.rating - before.rating)


@kernel
def steepness(params: Params, a: Entering, b: Entering) -> float:
    """k: what the uncertainty of both, and the noise of both days, leave of a lead."""
    return 1.0 / math.sqrt(1.0 + C * (a.variance + b.variance + 2.0 * params.noise))


@kernel
def expected_log_odds(params: Params, a: Entering, b: Entering) -> float:
    """The log-odds of `a` against `b` as today's theta reads both, to first order."""
    k, gap = steepness(params, a, b), a.mean - b.mean
    by_variance = -0.5 * C * k * k * k
    shift = k * (a.mean_reading - b.mean_reading) + gap * by_variance * (a.variance_reading + b.variance_reading)
    return k * gap + shift


@expect.register
def chance(params: Params, a: Entering, b: Entering) -> float:
    """The chance that `a` is ahead of `b`."""
    return logistic(expected_log_odds(params, a, b))


FIRST_YEAR = GROWTH_DAYS / YEAR * (1.0 - math.exp(-YEAR / GROWTH_DAYS))  # years of growth that the first one holds


def deviation(logarithm: float) -> float:
    """A variance's logarithm as a deviation in points."""
    return SCALE * math.exp(0.5 * logarithm)


def direction(points: float, up: str, down: str) -> str:
    """One verb or another, by the sign, and the points."""
    return f"{up if points >= 0.0 else down} {abs(points):.0f} points"


LEARNT = (
    LearntParameter(
        "spread",
        "Newcomers",
        "points",
        deviation,
        lambda points: f"Two of three newcomers turn out to be within {points:.0f} points of where all begin.",
    ),
    LearntParameter(
        "event",
        "What an event changes",
        "points",
        deviation,
        lambda points: f"From one event to the next a skill moves by some {points:.1f} points, however soon it is.",
    ),
    LearntParameter(
        "idle_day",
        "What a year changes",
        "points",
        lambda logarithm: deviation(logarithm) * math.sqrt(YEAR),
        lambda points: f"In a year a skill moves by some {points:.0f} points, up or down.",
    ),
    LearntParameter(
        "noise",
        "A day's form",
        "points",
        deviation,
        lambda points: f"On the day a player is some {points:.0f} points better or worse than the skill.",
    ),
    LearntParameter(
        "growth",
        "Growth",
        "points",
        lambda a_year: SCALE * FIRST_YEAR * a_year,
        lambda points: f"Newcomers {direction(points, 'gain', 'lose')} in the first year, beside their results.",
    ),
    LearntParameter(
        "ageing",
        "Ageing",
        "points",
        lambda a_year: SCALE * a_year,
        lambda points: f"After ten years a year {direction(points, 'takes', 'brings')}.",
    ),
    LearntParameter(
        "unfinished",
        "Breakdowns",
        "%",
        lambda logarithm: 100.0 * math.exp(logarithm),
        lambda percent: f"A duel that one did not finish counts {percent:.0f} % of another.",
    ),
    LearntParameter(
        "reach",
        "Reach",
        "%",
        lambda logarithm: 100.0 / (1.0 + (math.pi * math.exp(-logarithm)) ** 2),
        lambda percent: f"First and last of a field say {percent:.0f} % as much of each other as neighbours.",
    ),
)

LEARNT_OF_MODES = LearntParameter(
    "mode",
    "Modes",
    "points",
    deviation,
    lambda points: f"In one mode a player is some {points:.0f} points better or worse than over all.",
)
