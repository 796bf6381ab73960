"""Glicko: a rating with an uncertainty.

Source: M. E. Glickman, "Parameter estimation in large dynamic paired comparison experiments" (1999), and "The Glicko
system"; the comments below refer to its equations.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from podium.engine.inputs import Entrant, Entry, Heat
from podium.engine.rules import Comparison, Credit, compare, credit, enter, evidence, expect, kernel, update_state
from podium.engine.system import System, conservatism, parameter
from podium.kernels.logarithm import LN_10
from podium.probability.logistic import logistic, score
from podium.probability.ranks import Performances
from podium.probability.uncertain import uncertain_performances
from podium.systems._normal_skill import State

Q = LN_10 / 400.0


class Params(NamedTuple):
    idle_variance: float  # c^2 per day
    max_deviation: float
    min_deviation: float


class Entering(NamedTuple):
    """A player at the start of an event, after idle days."""

    rating: float
    deviation: float
    events: float
    g: float


class Evidence(NamedTuple):
    """The two sums over opponents."""

    surprise: float  # sum of g (s - E)
    information: float  # sum of g^2 E (1 - E)


@dataclass(frozen=True, slots=True)
class Glicko(System):
    """Glicko with any rating period; the deviation grows by the day."""

    name = "glicko"
    title = "Glicko"
    for_players = "Beat players rated above you, and you gain more, especially while your rating is uncertain."
    source = "Glickman, The Glicko system (1999)"
    formulas = (
        "q = ln 10 / 400, g(RD) = 1 / sqrt(1 + 3 q^2 RD^2 / pi^2)",
        "E = 1 / (1 + 10^(-g(RD_j) (r - r_j) / 400)), 1/d^2 = q^2 sum of g^2 E (1 - E)",
        "r' = r + q / (1 / RD^2 + 1 / d^2) sum of g (s - E), RD' = sqrt(1 / (1 / RD^2 + 1 / d^2))",
        "after t idle days RD = min(sqrt(RD^2 + c^2 t), a newcomer's)",
    )
    state_type = State
    entering_type = Entering
    evidence_type = Evidence
    duel_types = ()

    initial: float = parameter(1500.0, "a newcomer's rating", unit="points")
    deviation: float = parameter(350.0, "a newcomer's deviation, and the maximum", unit="points", low=1e-3, high=1e6)
    idle_growth: float = parameter(
        0.0, "c: deviation added by an idle day", unit="points", low=0.0, high=1e6, search=(0.0, 10.0)
    )
    min_deviation: float = parameter(0.0, "the minimum deviation", unit="points", low=0.0, high=1e6)
    conservative: float = conservatism()

    def params(self) -> Params:
        return Params(self.idle_growth * self.idle_growth, self.deviation, self.min_deviation)

    def performances(self, entering_states: Sequence[Any]) -> Performances:
        """Return Elo's performances around uncertain skills."""
        return uncertain_performances(
            [me.rating for me in entering_states], [me.deviation for me in entering_states], 1.0 / Q
        )

    def newcomer(self) -> State:
        return State(self.initial, self.deviation, 0.0)


@kernel
def attenuation(deviation: float) -> float:
    """Return g(RD), the factor by which an opponent's uncertainty reduces the weight of a comparison."""
    return 1.0 / math.sqrt(1.0 + 3.0 * Q * Q * deviation * deviation / (math.pi * math.pi))


@enter.register
def inflate_deviation(params: Params, me: State, entrant: Entrant) -> Entering:
    """Apply step 1: idle days increase the deviation, up to a newcomer's."""
    deviation = me.deviation
    if entrant.idle > 0.0:
        wide = math.sqrt(deviation * deviation + entrant.idle * params.idle_variance)
        deviation = max(deviation, min(wide, params.max_deviation))
    return Entering(me.rating, deviation, me.events, attenuation(deviation))


@compare.register
def by_order(
    params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Compare two players. Each expected score is attenuated by the opponent's deviation."""
    gap = Q * (a.rating - b.rating)
    result = score(mine.place, theirs.place)
    return Comparison(result, logistic(b.g * gap), b.g), Comparison(1.0 - result, logistic(-a.g * gap), a.g)


@evidence.register
def surprise_and_information(params: Params, comparison: Comparison) -> Evidence:
    """Return the terms that a comparison adds to the two sums over opponents."""
    information = comparison.weight * comparison.weight * comparison.expected * (1.0 - comparison.expected)
    return Evidence(comparison.weight * (comparison.result - comparison.expected), information)


@update_state.register
def after_period(params: Params, me: Entering, totals: Evidence, entrant: Entrant) -> State:
    """Apply step 2: return the new rating and deviation."""
    variance = 1.0 / (1.0 / (me.deviation * me.deviation) + Q * Q * totals.information)
    return State(
        rating=me.rating + Q * variance * totals.surprise,
        deviation=max(math.sqrt(variance), min(params.min_deviation, me.deviation)),
        events=me.events + entrant.events,
    )


@credit.register
def points_of(params: Params, me: Entering, totals: Evidence, after: State, comparison: Comparison) -> Credit:
    """Return the points of one comparison: q RD'^2 g (s - E)."""
    variance = 1.0 / (1.0 / (me.deviation * me.deviation) + Q * Q * totals.information)
    weight = Q * variance * comparison.weight
    return Credit(weight, weight * (comparison.result - comparison.expected))


@expect.register
def expected_score(params: Params, a: Entering, b: Entering) -> float:
    """Return the expected score, attenuated by both deviations (eq. 16)."""
    both = attenuation(math.sqrt(a.deviation * a.deviation + b.deviation * b.deviation))
    return logistic(both * Q * (a.rating - b.rating))


SYSTEM = Glicko
