"""The European Go Federation's rating (GoR), with handicap stones and komi.

Source: European Go Database, "EGF rating system", in the version of 2021.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from podium.engine.inputs import Entrant, Entry, Heat
from podium.engine.rules import causes, compare, enter, evidence, kernel, update_state
from podium.engine.system import System, parameter
from podium.kernels.exponential import exp
from podium.kernels.logarithm import log
from podium.probability.logistic import logistic, score
from podium.systems.elo import State

LIMIT, HIGHEST, LOWEST = 3300.0, 3299.0, -900.0  # nobody reaches the first
STEEPNESS, LOG_200 = 7.0, 5.298317366548036
STONE = 100.0  # points of a handicap stone; the first is half a stone, because it only replaces komi
ROUNDING = 1e-9


class Params(NamedTuple):
    bonus: float


class Entering(NamedTuple):
    rating: float
    events: float
    strength: float  # b of the rating
    con: float
    bonus: float


class Evidence(NamedTuple):
    points: float
    bonus: float


class Game(NamedTuple):
    result: float
    expected: float
    weight: float
    bonus: float


class Causes(NamedTuple):
    bonus_points: float
    floor: float


@dataclass(frozen=True, slots=True)
class Egf(System):
    """The EGF's rating of Go players. 2100 is a 1 dan, and a grade is 100 points."""

    name = "egf"
    title = "EGF (Go)"
    source = "European Go Database, EGF rating system (2021)"
    formulas = (
        "expected = 1 / (1 + exp(b(opponent) - b(me))), b(r) = -7 ln(3300 - r)",
        "change = sum over games of con (result - expected) + bonus",
        "con = ((3300 - rating) / 200)^1.6, bonus = ln(1 + exp((2300 - rating) / 80)) / 5",
        "h handicap stones raise the rating in b, and only there, by 100 (h - 1/2)",
    )
    state_type = State
    entering_type = Entering
    evidence_type = Evidence
    teams = False
    equals_drift = True  # by the bonus
    stakes = (
        "The lower a rating, the more points a game is worth. Classes of tournaments are weights: 1, 0.75, 0.5 or 0.25."
    )
    most: ClassVar[Any] = {"rating": HIGHEST}

    initial: float = parameter(0.0, "a newcomer's rating", unit="points", low=LOWEST, high=HIGHEST)
    bonus: float = parameter(0.2, "share of the bonus that a game gives", low=0.0, high=10.0)

    def params(self) -> Params:
        return Params(self.bonus)

    def newcomer(self) -> State:
        return State(self.initial, 0.0)


@kernel
def strength(rating: float) -> float:
    """Return b. Handicap stones cannot raise a rating to 3300."""
    return -STEEPNESS * log(LIMIT - min(rating, HIGHEST))


@enter.register
def with_own_numbers(params: Params, me: State, entrant: Entrant) -> Entering:
    """Compute what depends only on the player's rating."""
    b = strength(me.rating)
    con = exp(-1.6 * (b / STEEPNESS + LOG_200))
    excess = (2300.0 - me.rating) / 80.0
    softplus = max(excess, 0.0) + log(1.0 + exp(-abs(excess)))
    return Entering(me.rating, me.events, b, con, params.bonus * softplus)


@kernel
def with_stones(me: Entering, stones: float) -> float:
    """Return b, raised by handicap stones."""
    return strength(me.rating + STONE * (stones - 0.5)) if stones > 0.0 else me.strength


@compare.register
def play(params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat) -> tuple[Game, Game]:
    """Compare both sides. Each has its own con and bonus."""
    result = score(mine.place, theirs.place)
    expected = logistic(with_stones(a, mine.handicap) - with_stones(b, theirs.handicap))
    return Game(result, expected, a.con, a.bonus), Game(1.0 - result, 1.0 - expected, b.con, b.bonus)


@evidence.register
def evidence_of(params: Params, comparison: Game) -> Evidence:
    """Return the terms of one game."""
    return Evidence(comparison.weight * (comparison.result - comparison.expected), comparison.bonus)


@update_state.register
def add_points(params: Params, me: Entering, totals: Evidence, entrant: Entrant) -> State:
    """Add the points and the bonus of all games."""
    rating = min(max(me.rating + totals.points + totals.bonus, LOWEST), HIGHEST)
    return State(rating, me.events + entrant.events)


@causes.register
def other_causes(params: Params, before: State, me: Entering, totals: Evidence, after: State) -> Causes:
    """Return the bonus, and the points that the limits of ratings gave or took."""
    limited = after.rating - me.rating - totals.points - totals.bonus
    return Causes(totals.bonus, limited if abs(limited) > ROUNDING else 0.0)


SYSTEM = Egf
