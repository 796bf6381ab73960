"""What a player, a thing or a side brings to an event, of the system `podium`, and what the rules read."""

import functools
import math
from collections import namedtuple
from typing import Any, NamedTuple

from podium.engine.inputs import Entrant, Occasion
from podium.engine.rules import enter, in_pool, kernel
from podium.kernels.exponential import exp
from podium.kernels.records import after_row
from podium.systems._podium_state import (
    AGEING,
    COUNTED,
    DAY,
    ENTRY,
    EVENT,
    GAP,
    GROWTH,
    IDLE_DAY,
    MATURITY,
    MEANS,
    MODE,
    NOISE,
    OF_SIDE,
    OF_THINGS,
    OWN,
    OWN_GAP_DAYS,
    REACH,
    SCALE,
    SHARPNESS,
    SIDE_LAST,
    SIDE_MEAN,
    SIDE_VARIANCE,
    SPREAD,
    START,
    THETA,
    TICK,
    UNFINISHED,
    C,
    block_at,
    prior_of,
    reading,
)

YEAR = 365.25
GROWTH_DAYS = 800.0  # of newcomers: growth is e times slower after so long
DECADE, MOST_DECADES = 3652.5, 2.0  # ageing grows with the time in the pool, up to twenty years
MOST_YEARS = 3.0  # of one absence, for growth and ageing
CEILING = 2.0  # spreads, towards which the variance of who does not play goes
NEWCOMER_DEVIATION = SCALE * exp(0.5 * START[SPREAD])
# What the rules read beside theta and the numbers of things.
FIXED = (
    *("initial", "timely", "modes"),  # timely: 1 where skills grow and decline with time; modes: how many, 0 for none
    *("spread", "event", "day", "noise", "unfinished", "reach", "offset", "newcomer"),  # newcomer: the mean of one
    *("today", "pace", "mode", "maturity"),  # pace: days that pass in a tick, where events are counted
    *("side_mean", "side_variance", "side_mean_reading", "side_variance_reading"),  # of the side that begins, today
    "sharpness",  # by how much a field of three and more is nearer to skill than its pairs say
)


class Params:
    """The mark of what the rules read: theta, then `FIXED`."""

    __slots__ = ()


@functools.cache
def params_with(modes: int, things: int) -> Any:
    """The NamedTuple of what the rules read in pools with so many modes and kinds of things."""
    theta = [f"ln_{name}" for name in prior_of(modes, things)]
    name = f"Params{int(modes > 0)}_{things}"
    fields = namedtuple(name, [*theta, *FIXED], module=__name__)  # type: ignore[misc]  # noqa: PYI024
    kind: Any = type(name, (fields, Params), {"__slots__": (), "__module__": __name__, "__qualname__": name})
    globals()[name] = kind  # machine code is found in the cache by types that can be imported
    return kind


def __getattr__(name: str) -> Any:
    """The type for so many modes and things, as `Params1_0`, for whoever loads code that another process wrote."""
    modes, _, things = name.removeprefix("Params").partition("_")
    if not (name.startswith("Params") and modes.isdecimal() and things.isdecimal()):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return params_with(int(modes), int(things))


@kernel
def things_of(params: Any) -> int:
    """How many kinds of things entrants share; known when a kernel is compiled, as the two below."""
    return (len(params) - OWN - OF_SIDE - len(FIXED)) // OF_THINGS


@kernel
def modal_of(params: Any) -> int:
    """1 where modes are named, else 0."""
    return (len(params) - OWN - OF_SIDE - len(FIXED)) % OF_THINGS


@kernel
def full_of(params: Any) -> int:
    """How many parameters a pool has, those of the side that begins among them."""
    return OWN + OF_SIDE + modal_of(params) + OF_THINGS * things_of(params)


class Entering(NamedTuple):
    """A player, a thing or a whole unit at the start of an event, after the time since the last."""

    rating: float
    mean: float
    variance: float
    mean_reading: float
    variance_reading: float
    g: float  # how little a comparison with an uncertain opponent says


@in_pool.register(Params)
def read_pool(params: Any, pool: Any, occasion: Occasion) -> Any:
    """The pool's theta, and the event; one without a date is the next tick."""
    full = full_of(params)
    today = occasion.day if occasion.day >= COUNTED else pool[DAY] + TICK
    pace = OWN_GAP_DAYS / TICK * exp(-pool[GAP])
    side_variance, mean_x, variance_x = 0.0, 0.0, 0.0
    if pool[SIDE_VARIANCE] > 0.0:
        side_variance = pool[SIDE_VARIANCE] + exp(pool[THETA + full - 1]) * days_between(pace, pool[SIDE_LAST], today)
        block = THETA + full + full * (full + 1) // 2
        mean_x, variance_x = pool[block], pool[block + full + 1]
        for k in range(full):
            mean_x += pool[block + 1 + k] * pool[THETA + k]
            variance_x += pool[block + full + 2 + k] * pool[THETA + k]
    at = THETA - 1
    fixed = (
        params.initial,
        params.timely,
        params.modes,
        exp(pool[at + SPREAD]),
        exp(pool[at + EVENT]),
        exp(pool[at + IDLE_DAY]),
        exp(pool[at + NOISE]),
        exp(pool[at + UNFINISHED]),
        exp(pool[at + REACH]),
        exp(pool[at + MODE]) if modal_of(params) else 0.0,
        pool[at + ENTRY] * pool[MATURITY],
        today,
        pace,
        occasion.mode,
        pool[MATURITY],
        pool[SIDE_MEAN],
        side_variance,
        mean_x,
        variance_x,
        exp(pool[SHARPNESS]),
    )
    return after_row(pool, THETA, fixed, params)


@kernel
def is_new(me: Any) -> bool:
    """Whether nothing is known of a player, not even a deviation to start from."""
    return bool(me.last == 0.0 and me.events == 0.0 and me.deviation == NEWCOMER_DEVIATION)


@kernel
def days_between(pace: float, earlier: float, later: float) -> float:
    """Days from one moment of the pool to another; none from events that are counted to one that has a date."""
    if later < COUNTED:
        return max(later - earlier, 0.0) * pace
    return max(later - earlier, 0.0) if earlier >= COUNTED else 0.0


@kernel
def first_day(params: Any, me: Any) -> Any:
    """When the player came; at the first date after events that are counted, so many days before it."""
    if me.last == 0.0:
        return params.today
    first: float = me.first
    if first >= COUNTED or params.today < COUNTED:
        return first
    return params.today - days_between(params.pace, first, me.last)


@kernel
def enters_at_level(me: Any, kind: float) -> float:
    """1 for a newcomer of whom not even a rating is known, else 0; of others the first day is not 0."""
    return 1.0 if kind == 0.0 and me.first == 0.0 else 0.0


class Passed(NamedTuple):
    """What the time before an event has to do with a state and with theta."""

    new: bool  # nothing was known
    growth: float  # what a growth of 1 a year adds to the mean
    ageing: float  # what an ageing of 1 a year takes from it
    ceiling: float  # towards which the variance goes
    skill: float  # the variance before the days since the last event
    rate: float  # share of the way to the ceiling that those days are, were the variance far below
    fade: float  # what is left of the way


@kernel
def spread_column(params: Any, kind: float) -> int:
    """The column of the spread of players (kind 0) or of things of a kind."""
    return SPREAD if kind == 0.0 else OWN + modal_of(params) + OF_THINGS * int(kind) - 1


@kernel
def time_passed(params: Any, me: Any, kind: float) -> Passed:
    """What the days since a player's, or a thing's, last event do; a thing neither grows nor changes by an event."""
    spread, day = params.spread, params.day
    if kind != 0.0:
        column = spread_column(params, kind)
        spread, day = exp(params[column - 1]), exp(params[column])
    if is_new(me):
        return Passed(True, 0.0, 0.0, CEILING * spread, spread, 0.0, 1.0)
    days = days_between(params.pace, me.last, params.today) if me.last > 0.0 else 0.0
    here = days_between(params.pace, me.first, params.today)
    years = params.timely * min(days / YEAR, MOST_YEARS) if kind == 0.0 else 0.0
    skill, ceiling = (me.deviation / SCALE) * (me.deviation / SCALE), CEILING * spread
    if kind == 0.0:
        skill += params.event
    growth, ageing, rate, fade = 0.0, 0.0, 0.0, 1.0
    if days > 0.0:
        growth, ageing = years * exp(-here / GROWTH_DAYS), years * min(here / DECADE, MOST_DECADES)
        if skill < ceiling:
            rate = day * days / ceiling
            fade = exp(-rate)
    return Passed(False, growth, ageing, ceiling, skill, rate, fade)


@kernel
def entered(params: Any, me: Any, passed: Passed, kind: float) -> Entering:
    """A state after that time, as today's theta reads it."""
    full = full_of(params)
    rating, variance, mean_reading, variance_reading = me.rating, passed.skill, 0.0, 0.0
    if passed.new:
        rating += SCALE * params.newcomer * enters_at_level(me, kind)
    else:
        rating += SCALE * (params[GROWTH - 1] * passed.growth - params[AGEING - 1] * passed.ageing)
        if passed.rate > 0.0:
            variance = passed.ceiling - (passed.ceiling - passed.skill) * passed.fade
        mean_reading = reading(params, me, MEANS, full)
        variance_reading = reading(params, me, MEANS + full + 1, full) * passed.fade
    return seen(params, rating, (rating - params.initial) / SCALE, variance, mean_reading, variance_reading)


@kernel
def seen(
    params: Any, rating: float, mean: float, variance: float, mean_reading: float, variance_reading: float
) -> Entering:
    """What enters, with how little a comparison with it says."""
    g = 1.0 / math.sqrt(1.0 + C * (variance + params.noise))
    return Entering(rating, mean, variance, mean_reading, variance_reading, g)


@kernel
def offset_in(params: Any, me: Any) -> int:
    """Where a state has the offset in the event's mode; 0 where no mode is named, or none in particular meant."""
    if params.modes == 0.0 or params.mode < 0.0:
        return 0
    return block_at(full_of(params), min(params.mode, params.modes - 1.0))


@kernel
def offset_entered(params: Any, me: Any, offset: int) -> Entering:
    """The offset of a player in the event's mode, which has one at `offset` of its state."""
    full = full_of(params)
    variance = me[offset + 1] if me[offset + 1] > 0.0 else params.offset
    readings = reading(params, me, offset + 2, full), reading(params, me, offset + full + 3, full)
    return seen(params, 0.0, me[offset], variance, *readings)


@kernel
def joined(params: Any, one: Entering, share: float, other: Entering) -> Entering:
    """A sum and a share of another that enters."""
    return seen(
        params,
        one.rating,
        one.mean + share * other.mean,
        one.variance + share * share * other.variance,
        one.mean_reading + share * other.mean_reading,
        one.variance_reading + share * share * other.variance_reading,
    )


@kernel
def apart(params: Any, one: Entering, common: Entering) -> Entering:
    """A unit without what is uncertain in both units of a pair: of what they share a duel says nothing."""
    return seen(
        params,
        one.rating,
        one.mean,
        one.variance - common.variance,
        one.mean_reading,
        one.variance_reading - common.variance_reading,
    )


@kernel
def side_entered(params: Any) -> Entering:
    """The side that begins, or is at home."""
    variance: float = params.side_variance
    if variance == 0.0:  # nobody has been on it
        variance = exp(params[full_of(params) - 2])
    return seen(params, 0.0, params.side_mean, variance, params.side_mean_reading, params.side_variance_reading)


@enter.register(Params)
def let_time_pass(params: Any, me: Any, entrant: Entrant) -> Entering:
    """The variance grows, newcomers grow, veterans age; readings are those of today's theta."""
    brought = entered(params, me, time_passed(params, me, entrant.kind), entrant.kind)
    offset = offset_in(params, me) if entrant.kind == 0.0 else 0
    return joined(params, brought, 1.0, offset_entered(params, me, offset)) if offset else brought
