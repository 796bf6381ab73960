"""The base of TrueSkill and of Weng and Lin's systems. Skills are normal, and become less certain before each event."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import Entrant
from podium.engine.rules import kernel
from podium.engine.system import System, parameter
from podium.engine.tables.teams import counted_part
from podium.kernels.records import read
from podium.probability.logistic import logistic
from podium.probability.normal import distribution, inflated
from podium.probability.ranks import NormalPerformances, Performances


class State(NamedTuple):
    rating: float
    deviation: float
    events: float


class Cube(NamedTuple):
    """The cube of a deviation."""

    cube: float


@dataclass(frozen=True, slots=True)
class NormalSkill(System):
    """A system in which skills and performances are normally distributed."""

    state_type = State
    entering_type = State
    needs_finisher = True
    unfinished = (
        "It is ranked last, behind everyone who finished; two players who did not finish tie. Players who quit a"
        " team are rated separately from it."
    )

    initial: float = parameter(25.0, "a newcomer's rating", unit="points")
    deviation: float = parameter(25.0 / 3.0, "a newcomer's deviation", unit="points", low=1e-6, high=1e6)
    beta: float = parameter(25.0 / 6.0, "spread of a single performance", unit="points", low=1e-6, high=1e6)
    tau: float = parameter(25.0 / 300.0, "deviation that every event adds", unit="points", low=0.0, high=1e6)

    def performances(self, entering_states: Sequence[Any]) -> Performances:
        """Return normally distributed performances around uncertain skills."""
        scale = np.sqrt([me.deviation**2 + self.beta**2 for me in entering_states])
        return NormalPerformances(-np.array([me.rating for me in entering_states]), scale)

    def newcomer(self) -> State:
        return State(self.initial, self.deviation, 0.0)


def add_uncertainty(params: Any, me: State, entrant: Entrant) -> State:
    """Add tau^2 to the variance for the event, and the variance of idle days up to a newcomer's deviation."""
    deviation = inflated(me.deviation, params.tau_squared, entrant.idle * params.idle_variance, params.max_deviation)
    return State(me.rating, deviation, me.events)


@kernel
def performance_deviation(params: Any, a: Any, b: Any) -> float:
    """Return c, the standard deviation of the difference of two performances."""
    return math.sqrt(a.deviation * a.deviation + b.deviation * b.deviation + 2.0 * params.beta_squared)


@kernel
def normal_chance(params: Any, a: Any, b: Any) -> float:
    """Return the probability that `a` beats `b` with normal performances (Thurstone-Mosteller)."""
    return distribution((a.rating - b.rating) / performance_deviation(params, a, b))


@kernel
def logistic_chance(params: Any, a: Any, b: Any) -> float:
    """Return the probability that `a` beats `b` in the Bradley-Terry and Plackett-Luce models."""
    return logistic((a.rating - b.rating) / performance_deviation(params, a, b))


@kernel
def side_as_one(params: Any, entering: Any, sides: Any, side: int) -> State:
    """Return the sum of a side's members, each weighted by the part of the game that the member played."""
    rating, variance = 0.0, 0.0
    for i in range(sides.start[side], sides.start[side + 1]):
        me, part = read(sides.members, i, entering), counted_part(sides.parts[i], params.partial_play)
        rating += part * me.rating
        variance += part * part * me.deviation * me.deviation
    return State(rating, math.sqrt(variance), 0.0)
