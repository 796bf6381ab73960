"""A player's skill as TrueSkill and the systems of Weng and Lin know it: normal, and less certain before each event."""

import math
from typing import Any, NamedTuple

from podium.engine.inputs import Entrant
from podium.engine.rules import kernel
from podium.engine.tables.teams import counted_part
from podium.kernels.records import read
from podium.probability.logistic import logistic
from podium.probability.normal import inflated


class State(NamedTuple):
    rating: float
    deviation: float
    events: float


class Cube(NamedTuple):
    """A deviation's third power."""

    cube: float


def add_uncertainty(params: Any, me: State, entrant: Entrant) -> State:
    """Every event adds tau^2 to the variance, every idle day its own up to a newcomer's deviation."""
    deviation = inflated(me.deviation, params.tau_squared, entrant.idle * params.idle_variance, params.max_deviation)
    return State(me.rating, deviation, me.events)


@kernel
def performance_deviation(params: Any, a: Any, b: Any) -> float:
    """C of two players: the deviation of the difference of their performances."""
    return math.sqrt(a.deviation * a.deviation + b.deviation * b.deviation + 2.0 * params.beta_squared)


@kernel
def logistic_chance(params: Any, a: Any, b: Any) -> float:
    """The chance that `a` beats `b` by the Bradley-Terry and Plackett-Luce models."""
    return logistic((a.rating - b.rating) / performance_deviation(params, a, b))


@kernel
def side_as_one(params: Any, entering: Any, sides: Any, side: int) -> State:
    """The sum of a side's members, each by its part of the game."""
    rating, variance = 0.0, 0.0
    for i in range(sides.start[side], sides.start[side + 1]):
        me, part = read(sides.members, i, entering), counted_part(sides.parts[i], params.partial_play)
        rating += part * me.rating
        variance += part * part * me.deviation * me.deviation
    return State(rating, math.sqrt(variance), 0.0)
