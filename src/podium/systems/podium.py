"""Podium's own: a Gaussian filter that learns its eight parameters from the results of its pool.

A player has a skill of mean m and variance V in log-odds. The evidence is pairwise and logistic, and one update settles
an event. What the filter has to know of a sport, its parameters theta, is the pool's: after every event one damped
Newton step makes the predictions of such events better. Every state carries its derivatives by theta for that, and its
reading x: by how much it would differ, to first order, had theta always been what it is now. Ratings do not move when
theta moves; predictions, and with them what theta learns, read m + x and V + x.

Sources: M. E. Glickman, "Parameter estimation in large dynamic paired comparison experiments" (1999), for the form of
the update; A. Ebtekar and P. Liu, "Elo-MMR" (2021), for the noise of a day; the learning is Podium's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from podium.engine.inputs import (
    Columns,
    Entrant,
    Entry,
    Heat,
    Scratch,
    comparable,
    entrant_at,
    entries_of,
    entry_at,
    heats_of,
    mode_at,
    slot_at,
    weight_at,
)
from podium.engine.pool_state import LearntParameter
from podium.engine.rules import (
    Credit,
    causes,
    compare,
    credit,
    enter,
    evidence,
    expect,
    in_pool,
    kernel,
    rate_event,
)
from podium.engine.system import System, parameter
from podium.kernels.exponential import exp
from podium.kernels.records import add, read, times, write
from podium.probability.logistic import logistic, score
from podium.probability.ranks import GumbelPerformances, Performances
from podium.probability.uncertain import uncertain_performances
from podium.systems import _podium_learning as learning
from podium.systems._podium_learning import (
    DAY,
    GROWTH_DAYS,
    MEANS,
    PARAMETERS,
    ROOM,
    SCALE,
    START,
    THETA,
    VARIANCES,
    YEAR,
    C,
    Pair,
    Passed,
    PoolState,
    begin_event,
    carry_pair,
    enter_row,
    learn_pair,
    settle_row,
    take_step,
)
from podium.systems._podium_words import LEARNT

DECADE, MOST_DECADES = 3652.5, 2.0  # ageing grows with the time in the pool, up to twenty years
UNDATED_DAYS = 30.4  # between two events of a pool where the results have no dates
RATING, DEVIATION, EVENTS, FIRST, LAST = range(5)  # columns of a state
LEAST_VARIANCE = 1e-6  # of a skill as it is read, in forecasts


class Params(NamedTuple):
    """What the rules read: the pool's theta, the exponentials of its logarithms, and the day of the event."""

    initial: float
    timely: float  # 1 where skills grow and decline with time, else 0
    today: float
    ln_spread: float
    ln_event: float
    ln_day: float
    ln_noise: float
    growth: float
    ageing: float
    ln_unfinished: float
    ln_reach: float
    spread: float
    event: float
    day: float
    noise: float
    unfinished: float
    reach: float


class State(NamedTuple):
    """What is known of a player; all but rating and deviation in log-odds. Derivatives are by theta, in its order."""

    rating: float  # initial + SCALE m
    deviation: float  # SCALE sqrt(V)
    events: float
    first: float  # day of the first event, 0 before
    last: float
    mean_by_spread: float
    mean_by_event: float
    mean_by_day: float
    mean_by_noise: float
    mean_by_growth: float
    mean_by_ageing: float
    mean_by_unfinished: float
    mean_by_reach: float
    mean_rest: float  # y: the reading of the mean is y + its derivatives times theta
    variance_by_spread: float
    variance_by_event: float
    variance_by_day: float
    variance_by_noise: float
    variance_by_growth: float
    variance_by_ageing: float
    variance_by_unfinished: float
    variance_by_reach: float
    variance_rest: float  # y of the variance


OF_MEAN = State._fields[MEANS : MEANS + PARAMETERS + 1]
OF_VARIANCE = State._fields[VARIANCES : VARIANCES + PARAMETERS + 1]
NEWCOMER_DEVIATION = SCALE * math.exp(0.5 * START[0])


class Entering(NamedTuple):
    """A player at the start of an event, after the time since the last."""

    rating: float
    mean: float
    variance: float
    mean_reading: float
    variance_reading: float
    g: float  # how little a comparison with an uncertain opponent says


class Comparison(NamedTuple):
    """What one opponent says about a player."""

    result: float
    expected: float
    weight: float  # w g
    g: float
    count: float  # w
    near: float  # w without what an unfinished race leaves of it


class Evidence(NamedTuple):
    """The two sums over opponents."""

    surprise: float  # of w g (s - e)
    information: float  # of w g^2 e (1 - e)


class Causes(NamedTuple):
    """What moved the rating beside the opponents."""

    time: float  # growth and ageing since the last event


@dataclass(frozen=True, slots=True)
class Podium(System):
    """A filter whose parameters are the pool's own."""

    name: ClassVar[str] = "podium"
    title: ClassVar[str] = "Podium"
    source: ClassVar[str] = "Podium's own; the update after Glickman (1999), the noise of a day after Elo-MMR (2021)"
    formulas: ClassVar[tuple[str, ...]] = (
        "C = 3 / pi^2, rating = initial + 173.7178 m, deviation = 173.7178 sqrt(V); a newcomer has m = 0, V = spread",
        "time: V += event + day days, m += years idle (growth e^(-days since first / 800) - ageing min(decades, 2))",
        "p(i beats j) = sigma((m_i - m_j) / sqrt(1 + C (V_i + V_j + 2 noise))), with m and V as today's theta reads them",
        "g = 1 / sqrt(1 + C (V_j + noise)), e = sigma(g (m_i - m_j))",
        "w = unfinished^[one did not finish] / (1 + (pi (places apart - 1) / (reach n))^2)",
        "S = sum of w g (s - e), J = sum of w g^2 e (1 - e), D = 1 + (V + noise) J; m += V S / D, V -= V^2 J / D",
        "theta += clip(M^-1 (sum of c (s - p) u + pull to the start), 0.2), u = d logit p / d theta, c = sqrt(2 / n)",
        "M = memory M + (1 - memory) M_0 + sum of c p (1 - p) u u', memory = e^(-sum of c / 20000)",
    )
    state_type = State
    entering_type = Entering
    evidence_type = Evidence
    pool_state_type = PoolState
    learnt_parameters: ClassVar[tuple[LearntParameter, ...]] = LEARNT
    reads_days: ClassVar[bool] = True
    room: ClassVar[tuple[int, int]] = ROOM
    takes_periods: ClassVar[bool] = False
    signed: ClassVar[tuple[str, ...]] = (*OF_MEAN, *OF_VARIANCE)

    initial: float = parameter(1500.0, "a newcomer's rating", unit="points")
    growth: bool = parameter(True, "newcomers improve and veterans decline with time, as much as the pool has shown")

    def params(self) -> Params:
        """The numbers that the rules read, in the pool that the system is bound to."""
        alone = Params(self.initial, float(self.growth), *(0.0,) * (len(Params._fields) - 2))
        return read_pool(alone, *self.standing)

    def newcomer(self) -> State:
        """A player who has not played."""
        return State(self.initial, NEWCOMER_DEVIATION, *(0.0,) * (len(State._fields) - 2))

    def new_pool(self) -> PoolState:
        """The start, which is the same everywhere."""
        return learning.new_pool()

    def performances(self, entering_states: Sequence[Any]) -> Performances:
        """Logistic performances around uncertain skills, as today's theta reads them; a duel's odds are `expect`'s."""
        params = self.params()
        if len(entering_states) == 2:
            lead = expected_log_odds(params, *entering_states)
            return GumbelPerformances(np.array([-lead, 0.0]), np.ones(2))
        variances = [me.variance + me.variance_reading + params.noise for me in entering_states]
        means = [me.mean + me.mean_reading for me in entering_states]
        return uncertain_performances(means, [math.sqrt(max(each, LEAST_VARIANCE)) for each in variances], 1.0)

    def season_begins(self, states: npt.NDArray[np.float64], keep: float) -> npt.NDArray[np.float64]:
        """The states after a soft reset: means shrink, and with them all that is known of how theta moves them."""
        moved = System.season_begins(self, states, keep)
        moved[:, MEANS : MEANS + PARAMETERS + 1] *= keep
        return moved

    def shown(self, states: npt.NDArray[np.float64]) -> dict[str, npt.NDArray[Any]]:
        """The state for people: without days and derivatives."""
        columns = System.shown(self, states)
        return {name: columns[name] for name in ("rating", "deviation", "events")}


@in_pool.register
def read_pool(params: Params, pool: Any, day: float) -> Params:
    """The pool's theta; an event without a date is a month after the last."""
    today = pool[DAY] + UNDATED_DAYS if math.isnan(day) else day
    spread, event, idle_day, noise = pool[THETA], pool[THETA + 1], pool[THETA + 2], pool[THETA + 3]
    growth, ageing, unfinished, reach = pool[THETA + 4], pool[THETA + 5], pool[THETA + 6], pool[THETA + 7]
    return Params(
        params.initial,
        params.timely,
        today,
        spread,
        event,
        idle_day,
        noise,
        growth,
        ageing,
        unfinished,
        reach,
        exp(spread),
        exp(event),
        exp(idle_day),
        exp(noise),
        exp(unfinished),
        exp(reach),
    )


@kernel
def is_new(me: State) -> bool:
    """Whether nothing is known of a player, not even a deviation to start from."""
    return me.last == 0.0 and me.events == 0.0 and me.deviation == NEWCOMER_DEVIATION


@kernel
def idle_days(params: Params, me: State) -> float:
    """Days since the player's last event; 0 for one who has none."""
    return max(params.today - me.last, 0.0) if me.last > 0.0 else 0.0


@kernel
def grown(params: Params, me: State) -> float:
    """By how much a growth of 1 a year has moved the mean since the last event."""
    return params.timely * idle_days(params, me) / YEAR * exp((me.first - params.today) / GROWTH_DAYS)


@kernel
def aged(params: Params, me: State) -> float:
    """By how much an ageing of 1 a year has moved the mean since the last event."""
    decades = min((params.today - me.first) / DECADE, MOST_DECADES)
    return params.timely * idle_days(params, me) / YEAR * decades


@enter.register
def let_time_pass(params: Params, me: State, entrant: Entrant) -> Entering:
    """The variance grows, newcomers grow, veterans age, and the reading is that of today's theta: x = y + D theta."""
    if is_new(me):
        mean, variance, mean_reading, variance_reading = 0.0, params.spread, 0.0, 0.0
        return Entering(me.rating, mean, variance, 0.0, 0.0, attenuation(params, variance))
    moved = params.growth * grown(params, me) - params.ageing * aged(params, me)
    variance = (me.deviation / SCALE) * (me.deviation / SCALE) + params.event + params.day * idle_days(params, me)
    mean_reading = (
        me.mean_rest
        + me.mean_by_spread * params.ln_spread
        + me.mean_by_event * params.ln_event
        + me.mean_by_day * params.ln_day
        + me.mean_by_noise * params.ln_noise
        + me.mean_by_growth * params.growth
        + me.mean_by_ageing * params.ageing
        + me.mean_by_unfinished * params.ln_unfinished
        + me.mean_by_reach * params.ln_reach
    )
    variance_reading = (
        me.variance_rest
        + me.variance_by_spread * params.ln_spread
        + me.variance_by_event * params.ln_event
        + me.variance_by_day * params.ln_day
        + me.variance_by_noise * params.ln_noise
        + me.variance_by_growth * params.growth
        + me.variance_by_ageing * params.ageing
        + me.variance_by_unfinished * params.ln_unfinished
        + me.variance_by_reach * params.ln_reach
    )
    rating = me.rating + SCALE * moved
    mean = (rating - params.initial) / SCALE
    return Entering(rating, mean, variance, mean_reading, variance_reading, attenuation(params, variance))


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
    count = near if mine.finished and theirs.finished else near * params.unfinished
    return (
        Comparison(result, logistic(b.g * gap), count * b.g, b.g, count, near),
        Comparison(1.0 - result, logistic(-a.g * gap), count * a.g, a.g, count, near),
    )


@evidence.register
def surprise_and_information(params: Params, comparison: Comparison) -> Evidence:
    """What is summed over opponents."""
    information = comparison.weight * comparison.g * comparison.expected * (1.0 - comparison.expected)
    return Evidence(comparison.weight * (comparison.result - comparison.expected), information)


@kernel
def gain(params: Params, me: Entering, totals: Evidence) -> float:
    """V / D: by how much a surprise of 1 moves the mean."""
    return me.variance / (1.0 + (me.variance + params.noise) * totals.information)


@credit.register
def points_of(params: Params, me: Entering, totals: Evidence, after: State, comparison: Comparison) -> Credit:
    """An opponent moves the mean by V w g (s - e) / D."""
    weight = SCALE * gain(params, me, totals) * comparison.weight
    return Credit(weight, weight * (comparison.result - comparison.expected))


@causes.register
def points_of_time(params: Params, before: State, me: Entering, totals: Evidence, after: State) -> Causes:
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


@rate_event.register
def rate_and_learn(
    params: Params,
    prototypes: Any,
    columns: Columns,
    settlement: int,
    states: Any,
    scratch: Scratch,
    after: Any,
    at: int,
) -> None:
    """Everyone enters, every pair is predicted and compared, everyone settles; then the pool learns."""
    newcomer, entering, zero_evidence = prototypes
    room, pool = scratch.room, scratch.pool
    first = columns.entrants[settlement]
    size = columns.entrants[settlement + 1] - first
    for i in range(size):
        player = columns.player[first + i]
        me = read(states, player, newcomer)
        brought = enter(params, me, entrant_at(columns, first + i))
        write(scratch.entering_states, i, brought)
        write(scratch.sums, i, zero_evidence)
        passed = Passed(1.0 if is_new(me) else 0.0, idle_days(params, me), grown(params, me), aged(params, me))
        enter_row(params, me, brought, passed, states, player, room, i)
    learner = room.shape[0] - ROOM[1]  # the row of the room where theta's gradient is summed
    first_heat, after_last = heats_of(columns, settlement)
    begin_event(pool, room, learner, pairs_counted(columns, first_heat, after_last))
    for heat in range(first_heat, after_last):
        start, stop = entries_of(columns, heat)
        judge_pairs(params, entering, columns, heat, start, stop, first, scratch, learner)
    for i in range(size):
        brought = read(scratch.entering_states, i, entering)
        totals = read(scratch.sums, i, zero_evidence)
        settle_row(params, brought, totals, pool, room, i, after, at + i)
        moved = gain(params, brought, totals)
        left = brought.variance - brought.variance * moved * totals.information
        player = columns.player[first + i]
        after[at + i, RATING] = brought.rating + SCALE * moved * totals.surprise
        after[at + i, DEVIATION] = SCALE * math.sqrt(left)
        after[at + i, EVENTS] = states[player, EVENTS] + entrant_at(columns, first + i).events
        after[at + i, FIRST] = states[player, FIRST] if states[player, LAST] > 0.0 else params.today
        after[at + i, LAST] = params.today
    take_step(pool, room, learner)
    pool[DAY] = params.today


@kernel
def pair_weight(entries: float) -> float:
    """What a pair of a heat counts in what theta learns."""
    return math.sqrt(2.0 / entries)


@kernel
def pairs_counted(columns: Columns, first_heat: int, after_last: int) -> float:
    """The pairs of an event, as much as they count."""
    count = 0.0
    for heat in range(first_heat, after_last):
        start, stop = entries_of(columns, heat)
        entries = float(stop - start)
        count += weight_at(columns, heat) * 0.5 * entries * (entries - 1.0) * pair_weight(entries)
    return count


@kernel
def judge_pairs(
    params: Params,
    entering: Any,
    columns: Columns,
    heat: int,
    start: int,
    stop: int,
    first: int,
    scratch: Scratch,
    learner: int,
) -> None:
    """Predict and compare every pair of a heat: entries `start` to `stop`, entrants from `first`."""
    entries, weight = float(stop - start), weight_at(columns, heat)
    course, each = Heat(entries, mode_at(columns, heat)), weight * pair_weight(entries)
    for i in range(start, stop):
        mine = entry_at(columns, i, entries)
        me = slot_at(columns, i, first)
        a = read(scratch.entering_states, me, entering)
        for j in range(i + 1, stop):
            if not comparable(columns, i, j):
                continue
            theirs = entry_at(columns, j, entries)
            you = slot_at(columns, j, first)
            b = read(scratch.entering_states, you, entering)
            for_a, for_b = compare(params, a, b, mine, theirs, course)
            add(scratch.sums, me, times(evidence(params, for_a), weight))
            add(scratch.sums, you, times(evidence(params, for_b), weight))
            unfinished = 0.0 if mine.finished and theirs.finished else 1.0
            pair = Pair(a.mean - b.mean, steepness(params, a, b), unfinished)
            p = expect(params, a, b)
            carry_pair(params, pair, for_a, for_b, weight, scratch.room, me, you)
            learn_pair(params, pair, p, for_a.result, each, scratch.pool, scratch.room, me, you, learner)


SYSTEM = Podium
