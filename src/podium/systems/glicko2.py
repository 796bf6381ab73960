"""Glicko-2: a rating with an uncertainty and a volatility.

Source: M. E. Glickman, "Example of the Glicko-2 system" (2013). The comments below refer to its steps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from podium.engine.inputs import Entrant, Entry, Heat
from podium.engine.rules import Credit, causes, compare, credit, enter, evidence, expect, kernel, update_state
from podium.engine.system import System, conservatism, parameter
from podium.kernels.exponential import LARGEST, exp
from podium.probability.logistic import both_chances, logistic, score
from podium.probability.ranks import Performances
from podium.probability.uncertain import uncertain_performances
from podium.support.arrays import Floats, Mask

SCALE = 173.7178  # points per unit of the Glicko-2 scale (step 2)
TOLERANCE = 1e-8  # last Newton step of ln(volatility^2); the next would be about its square
MAX_STEPS = 200
LEAST_INFORMATION = 1e-100  # below this, opponents were too far away for a result to reveal anything
MAX_VOLATILITY = 0.2  # larger than in any published example; without a cap, step 5 can diverge
MAX_MOVE_DEVIATIONS, MAX_MOVE_POINTS = 9.0, 700.0  # a rating update moves a rating by at most the larger of the two
ROUNDING = 1e-9  # points subtracted from that limit, so that rounding cannot exceed it


class Params(NamedTuple):
    centre: float
    tau_squared: float
    idle_growth: float  # periods of growth per unit of idle time
    max_phi: float
    max_variance: float  # cap of the volatility squared
    own_growth: float  # periods of growth within an update: 1, or 0 if every game is an update
    min_phi: float
    floor: float


class State(NamedTuple):
    rating: float
    deviation: float
    volatility: float
    events: float


class Entering(NamedTuple):
    """A player on the Glicko-2 scale (step 2): mu and phi, with g(phi) (step 3)."""

    rating: float
    volatility: float
    events: float
    mu: float
    phi: float
    g: float


class Comparison(NamedTuple):
    """The evidence that one opponent gives about a player."""

    result: float
    expected: float
    weight: float  # g of step 3
    complement: float  # 1 - expected, without cancellation


class Evidence(NamedTuple):
    """The two sums of steps 3 and 4."""

    surprise: float  # sum of g (s - E)
    information: float  # sum of g^2 E (1 - E), which is 1 / v


class Causes(NamedTuple):
    floor: float


@dataclass(frozen=True, slots=True)
class Glicko2(System):
    """Glicko-2 with any rating period, or with growth by the time between games."""

    name = "glicko2"
    title = "Glicko-2"
    for_players = "Beat players rated above you, and you gain more, especially while your rating is uncertain."
    source = "Glickman, Example of the Glicko-2 system (2013)"
    formulas = (
        "mu = (rating - initial) / 173.7178, phi = deviation / 173.7178, g(phi) = 1 / sqrt(1 + 3 phi^2 / pi^2)",
        "E = 1 / (1 + exp(-g(phi_j) (mu - mu_j))), 1/v = sum of g^2 E (1 - E), delta = v * sum of g (s - E)",
        "volatility solves f(ln sigma^2) = 0 (step 5); phi* = sqrt(phi^2 + sigma^2)",
        "phi' = 1 / sqrt(1 / phi*^2 + 1 / v), mu' = mu + phi'^2 * sum of g (s - E)",
        (
            "no update moves a rating by more than 9 deviations (as they were before it) or 700 points,"
            " whichever is larger"
        ),
        "a missed period: phi' = sqrt(phi^2 + sigma^2)",
        "with period_days: phi = sqrt(phi^2 + t sigma^2) before a game after t periods, and phi* = phi",
    )
    limits = (
        "the volatility is capped at `max_volatility`, which the paper does not do: without a cap, step 5 can run away",
        (
            "the paper does not limit a change: with its rules, one upset in a race of 60 can cost a"
            " favourite 9,000 points"
        ),
        "a race of many entrants counts as a duel with each, so ratings move far and volatility reaches the cap",
    )
    instead = (
        "rate fields of many with elo, folyami or elo-mmr, or update ratings of duels at the end of rating periods"
    )
    state_type = State
    entering_type = Entering
    evidence_type = Evidence
    idles_by = "period"

    tau: float = parameter(0.5, "how fast volatility may change (step 1)", low=1e-3, high=10.0)
    initial: float = parameter(1500.0, "a newcomer's rating", unit="points")
    deviation: float = parameter(350.0, "a newcomer's deviation", unit="points", low=1e-3, high=1e6)
    volatility: float = parameter(0.06, "a newcomer's volatility", low=1e-6, high=10.0)
    idle_growth: bool = parameter(True, "the deviation grows once for each rating period missed (step 6)")
    period_days: float | None = parameter(
        None,
        "days in a period, if every game is rated immediately and the deviation grows with time",
        low=1e-6,
        high=1e6,
    )
    min_deviation: float = parameter(0.0, "the minimum deviation", unit="points", low=0.0, high=1e6)
    max_deviation: float | None = parameter(None, "cap on the deviation as it grows", unit="points", low=1e-3, high=1e6)
    floor: float | None = parameter(None, "the lowest rating", unit="points")
    max_volatility: float | None = parameter(
        MAX_VOLATILITY, "cap on the volatility, or a newcomer's if that is higher", low=1e-6, high=1e6
    )
    conservative: float = conservatism()

    def params(self) -> Params:
        return glicko2_params(
            self.initial,
            self.tau,
            idle_growth=self.idle_growth,
            max_deviation=self.max_deviation,
            max_volatility=self.highest_volatility,
            period_days=self.period_days,
            min_deviation=self.min_deviation,
            floor=self.floor,
        )

    @property
    def idle_unit(self) -> str | None:
        return System.idle_unit.__get__(self) if self.period_days is None else "time"

    @property
    def highest_volatility(self) -> float:
        """The cap on the volatility: at least a newcomer's volatility, or infinite if there is no cap."""
        return math.inf if self.max_volatility is None else max(self.max_volatility, self.volatility)

    def at_limit(self, states: Floats) -> Mask:
        return at_volatility(states, self.highest_volatility)

    def performances(self, entering_states: Sequence[Any]) -> Performances:
        """Return Elo's performances around uncertain skills."""
        return uncertain_performances([me.mu for me in entering_states], [me.phi for me in entering_states], 1.0)

    def newcomer(self) -> State:
        return State(self.initial, self.deviation, self.volatility, 0.0)


def at_volatility(states: Floats, cap: float) -> Mask:
    """Return a mask of the players whose volatility has reached the cap."""
    volatility = states[:, Glicko2.column("volatility")]
    return volatility >= cap * (1.0 - 1e-9)  # the square root may round below the cap


def glicko2_params(
    initial: float,
    tau: float,
    *,
    idle_growth: bool,
    max_deviation: float | None,
    max_volatility: float,
    period_days: float | None = None,
    min_deviation: float = 0.0,
    floor: float | None = None,
) -> Params:
    """Convert a system's parameters, in points, to the rules' parameters."""
    return Params(
        initial,
        tau * tau,
        idle_growth / (period_days or 1.0),
        math.inf if max_deviation is None else max_deviation / SCALE,
        max_volatility * max_volatility,
        float(period_days is None),
        min_deviation / SCALE,
        -math.inf if floor is None else floor,
    )


@kernel
def attenuation(phi: float) -> float:
    """Return g(phi) of step 3, the factor by which an opponent's uncertainty reduces the weight of a comparison."""
    return 1.0 / math.sqrt(1.0 + 3.0 * phi * phi / (math.pi * math.pi))


@enter.register
def to_scale(params: Params, me: State, entrant: Entrant) -> Entering:
    """Apply step 2, after growing the deviation by step 6 for every missed period."""
    phi = me.deviation / SCALE
    if params.idle_growth and entrant.idle > 0.0:
        inflated = math.sqrt(phi * phi + params.idle_growth * entrant.idle * me.volatility * me.volatility)
        phi = max(phi, min(inflated, params.max_phi))
    if not params.own_growth:
        phi = min(max(phi, params.min_phi), params.max_phi)
    mu = (me.rating - params.centre) / SCALE
    return Entering(me.rating, me.volatility, me.events, mu, phi, attenuation(phi))


@compare.register
def by_order(
    params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Apply step 3: each expected score is attenuated by the opponent's deviation."""
    gap = a.mu - b.mu
    result = score(mine.place, theirs.place)
    expected_a, complement_a = both_chances(b.g * gap)
    expected_b, complement_b = both_chances(-a.g * gap)
    for_a = Comparison(result, expected_a, b.g, complement_a)
    return for_a, Comparison(1.0 - result, expected_b, a.g, complement_b)


@evidence.register
def surprise_and_information(params: Params, comparison: Comparison) -> Evidence:
    """Return the terms that steps 3 and 4 sum over opponents."""
    return Evidence(
        surprise=comparison.weight * (comparison.result - comparison.expected),
        information=comparison.weight * comparison.weight * comparison.expected * comparison.complement,
    )


@update_state.register
def after_period(params: Params, me: Entering, totals: Evidence, entrant: Entrant) -> State:
    """Apply steps 5 to 8. A player without comparisons keeps the same state."""
    if totals.information < LEAST_INFORMATION:
        return State(me.rating, me.phi * SCALE, me.volatility, me.events + entrant.events)
    variance = 1.0 / totals.information
    delta = variance * totals.surprise
    spread = me.phi * me.phi + variance
    sigma_squared = updated_variance(spread, delta * delta, me.volatility, params.tau_squared, params.max_variance)
    phi_squared = 1.0 / (1.0 / (me.phi * me.phi + params.own_growth * sigma_squared) + totals.information)
    rating = me.rating + SCALE * phi_squared * totals.surprise * share_kept(me, phi_squared, totals.surprise)
    deviation = max(SCALE * math.sqrt(phi_squared), SCALE * params.min_phi)
    if not params.own_growth:
        deviation = min(deviation, SCALE * params.max_phi)
    return State(
        rating=max(rating, params.floor),
        deviation=deviation,
        volatility=math.sqrt(sigma_squared),
        events=me.events + entrant.events,
    )


@kernel
def share_kept(me: Entering, phi_squared: float, surprise: float) -> float:
    """Return the share of step 8's move that the limit on moves allows."""
    move = SCALE * phi_squared * abs(surprise)
    most = max(MAX_MOVE_DEVIATIONS * SCALE * me.phi, MAX_MOVE_POINTS) - ROUNDING
    return most / move if move > most else 1.0


@kernel
def updated_variance(
    spread: float, delta_squared: float, volatility: float, tau_squared: float, max_variance: float
) -> float:
    """Return the new volatility squared: the root of f in step 5, by Newton's method within a bracket.

    `spread` is phi^2 + v. Let s = ln sigma'^2 - ln sigma^2, e = sigma'^2 and excess = delta^2 - spread. The first term
    of f is e (delta^2 - spread - e) / (2 (spread + e)^2). It lies between -1/2 and excess / (8 spread), so the root
    lies within tau^2 times these bounds, and no search for a bracket is needed. Volatility hardly changes in one
    period: the first step needs no exponential, and the second is usually the last.
    """
    excess = delta_squared - spread
    start = min(volatility * volatility, max_variance)
    low = -0.5 * tau_squared
    high = min(max(0.0, tau_squared * excess / (8.0 * spread)), LARGEST)
    moved, e = 0.0, start
    for _ in range(MAX_STEPS):
        total = spread + e
        share = 1.0 / total
        pull = 0.5 * e * share * share
        value = pull * (excess - e) - moved / tau_squared
        slope = pull * (excess - 2.0 * e - 2.0 * e * (excess - e) * share) - 1.0 / tau_squared
        if value > 0.0:
            low = moved
        else:
            high = moved
        guess = moved - value / slope
        if not low <= guess <= high:
            guess = 0.5 * (low + high)
        step = guess - moved
        if abs(step) <= TOLERANCE:
            return min(e * (1.0 + step), max_variance)
        moved = guess
        e = start * exp(moved)
    return min(e, max_variance)


@credit.register
def points_of(params: Params, me: Entering, totals: Evidence, after: State, comparison: Comparison) -> Credit:
    """Return the points of one comparison: step 8 moves mu by phi'^2 g (s - E)."""
    if totals.information < LEAST_INFORMATION:
        return Credit(0.0, 0.0)
    phi_squared = squared_deviation(params, me, totals, after)
    weight = SCALE * phi_squared * comparison.weight * share_kept(me, phi_squared, totals.surprise)
    return Credit(weight, weight * (comparison.result - comparison.expected))


@kernel
def squared_deviation(params: Params, me: Entering, totals: Evidence, after: State) -> float:
    """Return phi'^2 of step 7, before any limit."""
    if params.own_growth and not params.min_phi:
        phi = after.deviation / SCALE
        return phi * phi
    variance = me.phi * me.phi + params.own_growth * after.volatility * after.volatility
    return 1.0 / (1.0 / variance + totals.information)


@causes.register
def other_causes(params: Params, before: State, me: Entering, totals: Evidence, after: State) -> Causes:
    """Return the points added because no rating may be below the lowest one."""
    if after.rating > params.floor or totals.information < LEAST_INFORMATION:
        return Causes(0.0)
    phi_squared = squared_deviation(params, me, totals, after)
    moved = SCALE * phi_squared * totals.surprise * share_kept(me, phi_squared, totals.surprise)
    return Causes(after.rating - before.rating - moved)


@expect.register
def expected_score(params: Params, a: Entering, b: Entering) -> float:
    """Return Glickman's expected outcome, attenuated by both deviations (Glicko paper, eq. 16)."""
    both = attenuation(math.sqrt(a.phi * a.phi + b.phi * b.phi))
    return logistic(both * (a.mu - b.mu))


SYSTEM = Glicko2
