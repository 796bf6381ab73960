"""XonStat as deployed in 2015: scores per second, a rating floor, and uneven exchanges.

Source: the deployed function's public source, restated in our own words.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from podium.engine.inputs import DUEL, Entrant, Entry, Heat
from podium.engine.rules import Credit, Points, causes, compare, counts, credit, enter, evidence, kernel, update_state
from podium.engine.system import System, parameter
from podium.kernels.logarithm import LN_10, log
from podium.probability.logistic import logistic
from podium.systems.elo import State


class Params(NamedTuple):
    slope: float  # log-odds per point
    most_log_odds: float
    k: float
    fall: float  # decrease of K's factor per event
    k_events: float
    full_k_s: float
    floor: float
    least_played_s: float
    least_part: float


class Entering(NamedTuple):
    """A player at the start of an event, with the factor of K that applies to that event."""

    rating: float
    events: float
    factor: float


class Uneven(NamedTuple):
    """A comparison with a gain other than `result - expected`."""

    result: float
    expected: float
    weight: float
    gain: float  # points are weight * gain


class Causes(NamedTuple):
    floor: float


@dataclass(frozen=True, slots=True)
class Xonstat2015(System):
    """All players are compared by score per second, and a favourite gains nothing from a narrow win."""

    name = "xonstat-2015"
    title = "XonStat, as deployed in 2015"
    for_players = "Score faster than players rated above you, and you gain more."
    source = "XonStat's public source (2015), in our own words"
    formulas = (
        "result = s_me / (s_me + s_opponent), s = score / played second; in a duel 1, 0.5 or 0",
        "expected = 1 / (1 + exp(-x)), x = (me - opponent) ln 10 / 400, clamped to +-ln 10",
        "K = 200 * min(1, played / 600 s) * (1 falling to 0.2 over 32 events)",
        "gain: (result - expected), but never a loss to the favourite for a win nor to the underdog for a loss",
        "change = K / (entries - 1) * sum of gains; rating at least 100",
    )
    game = "Xonotic"
    equals_drift = True  # the favourite is protected
    state_type = State
    entering_type = Entering
    needs = ("score", "played_s", "duration_s")
    teams = False
    winning_margin = (
        "The result is a player's share of both scores, each per second played; a game between two is won, lost"
        " or drawn."
    )
    stakes = (
        "A game counts in proportion to the seconds that you took part in, up to a whole game. A first game counts"
        " more than later ones."
    )
    unfinished = (
        "If the player took part for less than 120 seconds or less than half the duration, or played_s is not"
        " given, the entry is left out as if the player had not taken part (this also applies to finishers)."
        " Otherwise it loses to everyone who finished; two players who did not finish are not compared."
    )

    initial: float = parameter(100.0, "a newcomer's rating", unit="points")
    scale: float = parameter(400.0, "rating gap at which the odds are 10 to 1", unit="points", low=1e-3, high=1e9)
    k: float = parameter(200.0, "points at stake in the first game", unit="points", low=0.0, high=1e6)
    k_settled: float = parameter(0.2, "factor of K once established", low=0.0, high=1.0)
    k_events: int = parameter(32, "games until K is established", unit="events", low=1, high=10000)
    full_k_s: float = parameter(600.0, "number of seconds played for the full K", unit="s", low=1.0, high=1e6)
    most_odds: float = parameter(10.0, "maximum odds that a rating gap can imply", low=1.0, high=1e12)
    floor: float | None = parameter(100.0, "least rating", unit="points")
    least_played_s: float = parameter(120.0, "minimum number of seconds for an entry to count", unit="s", low=0.0)
    least_part: float = parameter(0.5, "minimum part of the game for an entry to count", low=0.0, high=1.0)

    def params(self) -> Params:
        return Params(
            slope=LN_10 / self.scale,
            most_log_odds=log(self.most_odds),
            k=self.k,
            fall=(1.0 - self.k_settled) / self.k_events,
            k_events=float(self.k_events),
            full_k_s=self.full_k_s,
            floor=-math.inf if self.floor is None else self.floor,
            least_played_s=self.least_played_s,
            least_part=self.least_part,
        )

    def newcomer(self) -> State:
        return State(self.initial, 0.0)


@kernel
def whole_seconds(entry: Entry) -> float:
    """Return the number of whole seconds played, at most the duration."""
    whole: float = np.floor(min(entry.played_s, entry.duration_s))
    return whole


@counts.register
def played_enough(params: Params, entry: Entry, heat: Heat) -> bool:
    """Return True if the player played long enough for the entry to count."""
    played = whole_seconds(entry)
    return played >= params.least_played_s and played >= params.least_part * entry.duration_s


@enter.register
def experience(params: Params, me: State, entrant: Entrant) -> Entering:
    """Compute the factor of K, which falls linearly over a player's first games."""
    return Entering(me.rating, me.events, 1.0 - params.fall * min(me.events, params.k_events))


@compare.register
def uneven_exchange(
    params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Uneven, Uneven]:
    """Compute a pair's exchange, which depends on the order in the file: `a` comes first."""
    odds = min(max(params.slope * (a.rating - b.rating), -params.most_log_odds), params.most_log_odds)
    expected = logistic(odds)
    result = share_of_scores(mine, theirs, heat)
    won = result > 0.5
    if expected > 0.5:
        gain_a = max(0.0, result - expected) if won else (2.0 * result - 1.0) * expected
        gain_b = expected - result
    else:
        gain_a = result - expected
        gain_b = (1.0 - 2.0 * result) * (1.0 - expected) if won else max(0.0, expected - result)
    for_a = Uneven(result, expected, stake(params, a, mine, heat), gain_a)
    return for_a, Uneven(1.0 - result, 1.0 - expected, stake(params, b, theirs, heat), gain_b)


@kernel
def stake(params: Params, me: Entering, mine: Entry, heat: Heat) -> float:
    """Return K divided by the number of opponents."""
    k = params.k * min(1.0, whole_seconds(mine) / params.full_k_s) * me.factor
    return k / (heat.entries - 1.0)


@kernel
def share_of_scores(mine: Entry, theirs: Entry, heat: Heat) -> float:
    """Return the result: one side's share of both scores per second, shifted so that the lower one is at least 0."""
    if not (mine.finished and theirs.finished):
        return 1.0 if mine.finished else 0.0
    one = mine.score / whole_seconds(mine)
    two = theirs.score / whole_seconds(theirs)
    if heat.mode == DUEL:
        return 1.0 if one > two else 0.0 if one < two else 0.5
    shift = min(0.0, min(one, two))
    total = 0.5 * one + 0.5 * two - shift  # halves prevent an overflow
    return 0.5 if total == 0.0 else (0.5 * one - 0.5 * shift) / total


@evidence.register
def points(params: Params, comparison: Uneven) -> Points:
    """Return the points of a comparison: weight * gain."""
    return Points(comparison.weight * comparison.gain)


@credit.register
def points_of(params: Params, me: Entering, totals: Points, after: State, comparison: Uneven) -> Credit:
    """Return the points of a comparison: weight * gain."""
    return Credit(comparison.weight, comparison.weight * comparison.gain)


@update_state.register
def add_points(params: Params, me: Entering, totals: Points, entrant: Entrant) -> State:
    """Add the points from all opponents, but not below the floor. NaN stays NaN."""
    return State(max(me.rating + totals.points, params.floor), me.events + entrant.events)


@causes.register
def other_causes(params: Params, before: State, me: Entering, totals: Points, after: State) -> Causes:
    """Return the points added because no rating may be below the floor."""
    return Causes(floor=after.rating - (me.rating + totals.points))


SYSTEM = Xonstat2015
