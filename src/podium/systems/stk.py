"""SuperTuxKart's ranking as published: players exchange points according to their finish times.

Source: "About player rankings", SuperTuxKart. Numbers in brackets refer to its appendix.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from podium.engine.inputs import TIME_TRIAL, Entrant, Entry, Heat
from podium.engine.rules import Comparison, Points, causes, compare, enter, kernel, update_state
from podium.engine.system import System, parameter
from podium.kernels.logarithm import LN_10
from podium.probability.logistic import bradley_terry, win_share

FULL_TIME_SHARE = 20.0  # a lead of a fortieth of the winner's time is a full win [2]


class Params(NamedTuple):
    slope: float  # log-odds per point
    centre: float
    per_time: float  # importance per second^1.5
    max_time_s: float
    item_mode: float
    base_events: float
    steadying: float  # 1 if experience makes changes smaller


class State(NamedTuple):
    rating: float
    peak: float
    events: float


class Entering(NamedTuple):
    """A player at the start of an event, with base points added."""

    rating: float
    peak: float
    events: float
    factor: float
    strength: float  # e^(slope (rating - initial))


class Causes(NamedTuple):
    base_points: float


@dataclass(frozen=True, slots=True)
class Stk(System):
    """Each pair exchanges points according to the time between them at the finish."""

    name = "stk"
    title = "SuperTuxKart, as published"
    for_players = "Finish well ahead of players rated above you, and you gain more."
    source = "SuperTuxKart, About player rankings"
    formulas = (
        "base points: max(2 (45 - n), 8) before the n-th event, n up to 45",
        "result = min(1, 0.5 + (their time - my time) / (my time / 20)) for the faster, 0 for a quitter",
        "expected = 1 / (1 + 10^((opponent - me) / 2000))",
        "importance = T^1.5 / sqrt(120) * 0.125 * mode * my factor * their factor, T = min(slower time, 500 s)",
        "change = sum over opponents of importance * (result - expected)",
    )
    game = "SuperTuxKart"
    state_type = State
    entering_type = Entering
    needs = ("time_s",)
    teams = False
    winning_margin = (
        "A lead of at least 2.5% of the faster time is a full win. A smaller lead is a partial win, down to half"
        " a win each for equal times."
    )
    stakes = (
        "The longer the race, the more it counts, up to a maximum time. Modes other than time-trial count less."
        " The more races and points both players have, the fewer points they exchange."
    )
    unfinished = (
        "It scores 0 against everyone who finished, and each such pair has as much at stake as in a race of"
        " max_time_s, 500 seconds; two players who did not finish are not compared."
    )
    conserves = True

    initial: float = parameter(2000.0, "a newcomer's rating", unit="points")
    scale: float = parameter(2000.0, "rating gap at which the odds are 10 to 1 [3]", unit="points", low=1e-3, high=1e9)
    points_per_second: float = parameter(0.125, "importance of a long race [5]", unit="points/s", low=0.0, high=1e6)
    max_time_s: float = parameter(
        500.0, "longest time that counts, also used for a quitter [5]", unit="s", low=1e-3, high=1e9
    )
    item_mode: float = parameter(0.4, "factor for any mode except time-trial [6]", low=0.0, high=1e3)
    base_points_events: int | None = parameter(
        45, "number of first events that add base points [1]", unit="events", low=0, high=10000
    )
    steadying: bool = parameter(True, "experienced players exchange fewer points [7]")

    def params(self) -> Params:
        return Params(
            slope=LN_10 / self.scale,
            centre=self.initial,
            per_time=self.points_per_second / math.sqrt(120.0),
            max_time_s=self.max_time_s,
            item_mode=self.item_mode,
            base_events=float(self.base_points_events or 0),
            steadying=float(self.steadying),
        )

    def newcomer(self) -> State:
        return State(rating=self.initial, peak=self.initial, events=0.0)


@enter.register
def add_base_points(params: Params, me: State, entrant: Entrant) -> Entering:
    """Add this event's base points [1], and compute the experience factor [7] from earlier events."""
    rating, race = me.rating, me.events
    while race < me.events + entrant.events and race < params.base_events:
        race += 1.0
        rating += max(2.0 * (params.base_events - race), 8.0)
    factor = experience(me.peak, me.events) if params.steadying else 1.0
    return Entering(rating, me.peak, me.events, factor, bradley_terry(params.slope * (rating - params.centre)))


@kernel
def experience(peak: float, events: float) -> float:
    """Return the lower of two factors, one for the best rating and one for the number of races [7]."""
    if peak >= 8000.0:
        return 0.4
    if peak >= 7000.0 or events >= 500.0:
        return 0.5
    if peak >= 6000.0 or events >= 250.0:
        return 0.6
    if peak >= 5000.0 or events >= 100.0:
        return 0.7
    if peak >= 4000.0 or events >= 50.0:
        return 0.8
    return 1.0


@compare.register
def points_from_times(
    params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Compute a pair's exchange: one side gains the points that the other loses."""
    expected = win_share(a.strength, b.strength, params.slope * (a.rating - b.rating))
    longest = params.max_time_s
    if mine.finished and theirs.finished:
        result = lead(mine.time_s, theirs.time_s)
        longest = min(max(mine.time_s, theirs.time_s), params.max_time_s)
    else:
        result = 1.0 if mine.finished else 0.0
    mode = 1.0 if heat.mode == TIME_TRIAL else params.item_mode
    weight = longest * math.sqrt(longest) * params.per_time * mode * a.factor * b.factor
    return Comparison(result, expected, weight), Comparison(1.0 - result, 1.0 - expected, weight)


@kernel
def lead(mine: float, theirs: float) -> float:
    """Return the result by finish times: 0.5 for a tie, 1 or 0 for leads of 1/40 or more, and linear between [2]."""
    won = min(1.0, 0.5 + FULL_TIME_SHARE * abs(theirs - mine) / min(mine, theirs))
    return won if mine <= theirs else 1.0 - won


@update_state.register
def add_points(params: Params, me: Entering, totals: Points, entrant: Entrant) -> State:
    """Add the exchanged points, and update the best rating."""
    rating = me.rating + totals.points
    return State(rating, max(me.peak, rating), me.events + entrant.events)


@causes.register
def other_causes(params: Params, before: State, me: Entering, totals: Points, after: State) -> Causes:
    """Return the base points, which were added before the exchange."""
    return Causes(base_points=me.rating - before.rating)


SYSTEM = Stk
