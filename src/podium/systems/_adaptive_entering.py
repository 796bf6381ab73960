"""The start of an event in the `adaptive` system: its parameters, and states advanced by the time since."""

import functools
import math
from collections import namedtuple
from typing import Any, NamedTuple

from podium.engine.inputs import Entrant, Occasion
from podium.engine.rules import enter, in_pool, kernel
from podium.kernels.compiled import rule
from podium.kernels.exponential import exp
from podium.kernels.records import after_row
from podium.probability.logistic import logistic
from podium.systems._adaptive_state import (
    AGEING,
    COUNTED,
    DAY,
    ENTRY,
    EVENT,
    GAP,
    GROWTH,
    IDLE_DAY,
    LEVEL,
    MARGIN,
    MARGIN_SCALE,
    MARGIN_SQUARE,
    MARGINS,
    MATURITY,
    MEANS,
    MODE,
    NOISE,
    OF_EQUIPMENT,
    OF_EXTRAS,
    OF_SIDE,
    OUTNUMBERING,
    OWN,
    OWN_GAP_DAYS,
    REACH,
    REVERSION,
    SCALE,
    SHARPNESS,
    SIDE_LAST,
    SIDE_MEAN,
    SPREAD,
    START,
    THETA,
    TICK,
    UNFINISHED,
    C,
    block_at,
    extras_at,
    prior_of,
    readings,
    side_block,
)

YEAR = 365.25
GROWTH_DAYS = 800.0  # days over which growth slows down to 1 / e
DECADE, MAX_DECADES = 3652.5, 2.0  # ageing increases with time in the pool, for up to twenty years
MAX_YEARS = 3.0  # longest absence that counts towards growth and ageing
CEILING = 2.0  # limit of an idle player's variance, in units of the spread
NEWCOMER_DEVIATION = SCALE * exp(0.5 * START[SPREAD])
MIN_MARGINS = 10.0  # margins after which a pool knows their scale
START_OF_SIZE, DAY_OF_SIZE = 4.0, 1e-6  # variance of the effect of outnumbering: at first, and gained per day
# Fields of the parameters after theta.
FIXED = (
    *("initial", "timely", "modes"),  # timely: 1 if skills grow and decline with time; modes: number of modes, or 0
    *("margins", "reversion", "sizes"),  # 1 if margins are evidence; deviation of its prior, or 0; 1 if sizes count
    *("spread", "event", "day", "noise", "unfinished", "reach", "offset", "newcomer"),  # newcomer: mean of a newcomer
    *("today", "pace", "mode", "maturity"),  # pace: days per tick, in pools without dates
    "sharpness",  # luck in a field of three or more is 1 / sharpness of the luck in a duel
    "level",  # mean of the active players
    *("margin_weight", "margin_scale"),  # omega, and lambda: log-odds per unit of a margin, or 0 while it is unknown
    *("side_mean", "side_variance", "side_mean_reading", "side_variance_reading"),  # the home side's advantage, today
    *("size_mean", "size_variance", "size_mean_reading", "size_variance_reading"),  # outnumbering, today
)


class Params:
    """Base class of the parameters: theta, then the fields in `FIXED`."""

    __slots__ = ()


class ExtendedParams(Params):
    """Base class of the parameters of pools with margins or reversion to the mean."""

    __slots__ = ()


@functools.cache
def params_with(modes: int, equipment: int, extras: int) -> Any:
    """Return the NamedTuple of parameters for this many modes and kinds of equipment."""
    theta = [f"ln_{name}" for name in prior_of(modes, equipment, extras)]
    name = f"Params{int(modes > 0)}_{equipment}_{extras}"
    fields = namedtuple(name, [*theta, *FIXED], module=__name__)  # type: ignore[misc]  # noqa: PYI024
    facts = {"__slots__": (), "__module__": __name__, "__qualname__": name}
    kind: Any = type(name, (fields, ExtendedParams if extras else Params), facts)
    globals()[name] = kind  # the cache of machine code needs types that can be imported
    return kind


def __getattr__(name: str) -> Any:
    """Return the type with a name such as `Params1_0_0`, for code that another process compiled."""
    numbers = name.removeprefix("Params").split("_")
    if not (name.startswith("Params") and len(numbers) == 3 and all(map(str.isdecimal, numbers))):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return params_with(*map(int, numbers))


@rule
def extras_of(params: Any) -> int:
    """Return the number of parameters for margins and reversion, as a constant that numba knows when it compiles."""
    return 0


@extras_of.register(ExtendedParams)
def extras_of_extended(params: Any) -> int:
    """Return the number of these parameters in pools that have them."""
    return OF_EXTRAS


@kernel
def equipment_of(params: Any) -> int:
    """Return the number of kinds of equipment."""
    return (len(params) - OWN - extras_of(params) - OF_SIDE - len(FIXED)) // OF_EQUIPMENT


@kernel
def modal_of(params: Any) -> int:
    """Return 1 if the pool has modes, otherwise 0."""
    return (len(params) - OWN - extras_of(params) - OF_SIDE - len(FIXED)) % OF_EQUIPMENT


@kernel
def full_of(params: Any) -> int:
    """Return the number of parameters, including the two of the home side."""
    return len(params) - len(FIXED)


class Entering(NamedTuple):
    """A player, a piece of equipment or a unit at the start of an event, advanced by the time since its last event."""

    rating: float
    mean: float
    variance: float
    mean_reading: float
    variance_reading: float
    g: float  # attenuation of comparisons in which this is the opponent


NOBODY = Entering(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@in_pool.register(Params)
def read_pool(params: Any, pool: Any, occasion: Occasion) -> Any:
    """Return the parameters for the pool's theta and the event. An undated event is one tick after the previous one."""
    full = full_of(params)
    today = occasion.day if occasion.day >= COUNTED else pool[DAY] + TICK
    pace = OWN_GAP_DAYS / TICK * exp(-pool[GAP])
    theta = pool[THETA : THETA + full]
    days = days_between(pace, pool[SIDE_LAST], today)
    spread, daily = exp(theta[full - 2]), exp(theta[full - 1])  # of the home side
    side = pool_state_at(theta, pool, SIDE_MEAN, side_block(full), spread, daily * days)
    level, margin_weight, margin_scale = 0.0, 0.0, 0.0
    size = 0.0, 0.0, 0.0, 0.0
    if extras_of(params):
        extras = extras_at(full)
        level = pool[extras + LEVEL]
        if params.margins and pool[extras + MARGINS] >= MIN_MARGINS and pool[extras + MARGIN_SQUARE] > 0.0:
            margin_weight = logistic(theta[full - MARGIN - 1])
            margin_scale = exp(pool[extras + MARGIN_SCALE])
        if params.sizes:
            at = extras + OUTNUMBERING
            days = days_between(pace, pool[at + 2], today)
            size = pool_state_at(theta, pool, at, at + 3, START_OF_SIZE, DAY_OF_SIZE * days)
    fixed = (
        params.initial,
        params.timely,
        params.modes,
        params.margins,
        params.reversion,
        params.sizes,
        exp(theta[SPREAD - 1]),
        exp(theta[EVENT - 1]),
        exp(theta[IDLE_DAY - 1]),
        exp(theta[NOISE - 1]),
        exp(theta[UNFINISHED - 1]),
        exp(theta[REACH - 1]),
        exp(theta[MODE - 1]) if modal_of(params) else 0.0,
        theta[ENTRY - 1] * pool[MATURITY],
        today,
        pace,
        occasion.mode,
        pool[MATURITY],
        exp(pool[SHARPNESS]),
        level,
        margin_weight,
        margin_scale,
    )
    return after_row(pool, THETA, fixed + side + size, params)


@kernel
def pool_state_at(
    theta: Any, pool: Any, at: int, blocks: int, start: float, gained: float
) -> tuple[float, float, float, float]:
    """Return the mean and variance of one of the pool's own states, and the readings of both.

    Args:
        at: the position of the mean, which the variance follows.
        blocks: the position of the blocks.
        start: the variance before the state's first event.
        gained: the variance gained since its last event.
    """
    if pool[at + 1] == 0.0:
        return 0.0, start, 0.0, 0.0
    mean_reading, variance_reading = readings(theta, pool, blocks, theta.size)
    return pool[at], pool[at + 1] + gained, mean_reading, variance_reading


@kernel
def is_new(me: Any) -> bool:
    """Return True if nothing is known about a player, not even a starting deviation."""
    return bool(me.last == 0.0 and me.events == 0.0 and me.deviation == NEWCOMER_DEVIATION)


@kernel
def days_between(pace: float, earlier: float, later: float) -> float:
    """Return the number of days between two times in a pool, or 0 between an undated and a dated event."""
    if later < COUNTED:
        return max(later - earlier, 0.0) * pace
    return max(later - earlier, 0.0) if earlier >= COUNTED else 0.0


@kernel
def first_day(params: Any, me: Any) -> Any:
    """Return the day of the player's first event.

    At the pool's first event with a date, this day is moved so that the number of days before the event stays the same.
    """
    if me.last == 0.0:
        return params.today
    first: float = me.first
    if first >= COUNTED or params.today < COUNTED:
        return first
    return params.today - days_between(params.pace, first, me.last)


@kernel
def enters_at_level(me: Any, kind: float) -> float:
    """Return 1 for a player without even a starting rating, otherwise 0. Every other player has a first day."""
    return 1.0 if kind == 0.0 and me.first == 0.0 else 0.0


class Passed(NamedTuple):
    """The effect of the time before an event on a state."""

    new: bool  # nothing is known about the player
    years: float  # since the last event, for reversion to the mean; 0 without it
    kept: float  # e^(-rho years): share of the distance to the mean that remains
    growth: float  # change of the mean for a growth of 1 per year
    ageing: float  # decrease of the mean for an ageing of 1 per year
    ceiling: float  # limit of the variance
    skill: float  # variance before the idle days
    rate: float  # r: idle days times day, as a share of the ceiling
    fade: float  # E = e^-r: share of the distance to the ceiling that remains


@kernel
def spread_column(params: Any, kind: float) -> int:
    """Return the column that holds the spread of players (kind 0) or of a kind of equipment."""
    return SPREAD if kind == 0.0 else OWN + modal_of(params) + OF_EQUIPMENT * int(kind) - 1


@kernel
def time_passed(params: Any, me: Any, kind: float) -> Passed:
    """Return the effect of the days since the last event. Equipment does not grow or gain variance from events."""
    spread, day = params.spread, params.day
    if kind != 0.0:
        column = spread_column(params, kind)
        spread, day = exp(params[column - 1]), exp(params[column])
    if is_new(me):
        return Passed(True, 0.0, 1.0, 0.0, 0.0, CEILING * spread, spread, 0.0, 1.0)
    days = days_between(params.pace, me.last, params.today) if me.last > 0.0 else 0.0
    here = days_between(params.pace, me.first, params.today)
    years = params.timely * min(days / YEAR, MAX_YEARS) if kind == 0.0 else 0.0
    skill, ceiling = (me.filtered / SCALE) * (me.filtered / SCALE), CEILING * spread
    reverting, kept = 0.0, 1.0
    if extras_of(params) and params.reversion > 0.0:
        reverting = days / YEAR
        kept = exp(-params[full_of(params) - REVERSION - 1] * reverting)
        skill *= kept * kept
    if kind == 0.0:
        skill += params.event
    growth, ageing, rate, fade = 0.0, 0.0, 0.0, 1.0
    if days > 0.0:
        growth, ageing = years * exp(-here / GROWTH_DAYS), years * min(here / DECADE, MAX_DECADES)
        if skill < ceiling:
            rate = day * days / ceiling
            fade = exp(-rate)
    return Passed(False, reverting, kept, growth, ageing, ceiling, skill, rate, fade)


@kernel
def entered(params: Any, me: Any, passed: Passed, kind: float) -> Entering:
    """Return a copy of a state at a later time, with its readings for the current theta."""
    full = full_of(params)
    rating, variance, mean_reading, variance_reading = me.rating, passed.skill, 0.0, 0.0
    if passed.new:
        rating += SCALE * params.newcomer * enters_at_level(me, kind)
    else:
        if passed.years > 0.0:
            rating -= (1.0 - passed.kept) * SCALE * distance_of(params, me, kind)
        rating += SCALE * (params[GROWTH - 1] * passed.growth - params[AGEING - 1] * passed.ageing)
        if passed.rate > 0.0:
            variance = passed.ceiling - (passed.ceiling - passed.skill) * passed.fade
        mean_reading, variance_reading = readings(params, me, MEANS, full)
        mean_reading *= passed.kept
        variance_reading = variance_reading * passed.fade * (passed.kept * passed.kept)
    return seen(params, rating, (rating - params.initial) / SCALE, variance, mean_reading, variance_reading)


@kernel
def distance_of(params: Any, me: Any, kind: float) -> float:
    """Return how far a state's mean is above the mean of the active players, or, for equipment, above 0."""
    mean: float = (me.rating - params.initial) / SCALE
    return mean - params.level if kind == 0.0 else mean


@kernel
def seen(
    params: Any, rating: float, mean: float, variance: float, mean_reading: float, variance_reading: float
) -> Entering:
    """Return an entering state that includes its attenuation g."""
    g = 1.0 / math.sqrt(1.0 + C * (variance + params.noise))
    return Entering(rating, mean, variance, mean_reading, variance_reading, g)


@kernel
def offset_in(params: Any, me: Any) -> int:
    """Return the position in a state of the offset for the event's mode, or 0 if there is no mode."""
    if params.modes == 0.0 or params.mode < 0.0:
        return 0
    return block_at(full_of(params), min(params.mode, params.modes - 1.0))


@kernel
def offset_entered(params: Any, me: Any, offset: int) -> Entering:
    """Return a player's offset for the event's mode, which is at position `offset` in the state."""
    variance = me[offset + 1] if me[offset + 1] > 0.0 else params.offset
    mean_reading, variance_reading = readings(params, me, offset + 2, full_of(params))
    return seen(params, 0.0, me[offset], variance, mean_reading, variance_reading)


@kernel
def joined(params: Any, one: Entering, share: float, other: Entering) -> Entering:
    """Add `share` times another state to a unit."""
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
    """Return a unit without the variance that it shares with the other unit.

    Their duel reveals nothing about that part.
    """
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
    """Return the entering state of the home side."""
    found = params.side_mean_reading, params.side_variance_reading
    return seen(params, 0.0, params.side_mean, params.side_variance, *found)


@kernel
def size_entered(params: Any) -> Entering:
    """Return the entering state of the effect of outnumbering."""
    found = params.size_mean_reading, params.size_variance_reading
    return seen(params, 0.0, params.size_mean, params.size_variance, *found)


@enter.register(Params)
def let_time_pass(params: Any, me: Any, entrant: Entrant) -> Entering:
    """Apply the effects of the time since the last event: growth, ageing and more variance."""
    brought = entered(params, me, time_passed(params, me, entrant.kind), entrant.kind)
    offset = offset_in(params, me) if entrant.kind == 0.0 else 0
    return joined(params, brought, 1.0, offset_entered(params, me, offset)) if offset else brought
