"""iRating, as leagues estimate it: each pair in a field exchanges points, and players who did not start lose points.

Source: the spreadsheet "iRacing SOF iRating Calculator v1_1" (2019), as ported in irating-rs 0.1.0.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from podium.engine.inputs import Columns, Entrant, Entry, Heat, Scratch, slot_at
from podium.engine.rules import (
    Credit,
    causes,
    compare,
    credit,
    enter,
    evidence,
    judge_heat,
    judge_pairs,
    kernel,
    rate_event,
    rate_heats,
    update_state,
)
from podium.engine.system import System, parameter
from podium.kernels.exponential import expm1
from podium.kernels.logarithm import log
from podium.kernels.records import add, read
from podium.probability.logistic import logistic, score
from podium.systems.elo import State

LN_2 = 0.6931471805599453
SLOPE = LN_2 / 1600.0  # log-odds per point, for ratings far above 0
STAKE = 200.0  # points at stake, divided among the starters
LEAST_RATING = 1.0  # the formula divides by zero at 0
CORRECTION = 0.01  # share of a result above one half that is taken back
ROUNDING = 1e-6  # a remainder below this is rounding


class Params(NamedTuple):
    least_rating: float


class Entering(NamedTuple):
    rating: float
    events: float
    skill: float  # log-odds against a player of skill 0


class Comparison(NamedTuple):
    result: float
    expected: float
    weight: float  # points at stake; 0 for a player who did not start
    correction: float


class Evidence(NamedTuple):
    points: float
    penalty: float  # points lost by not starting


class Causes(NamedTuple):
    did_not_start: float
    least_rating: float


@dataclass(frozen=True, slots=True)
class Irating(System):
    """iRating for one class in a race. iRacing's own code is not public, so the ratings are estimates."""

    name = "irating"
    title = "iRating (estimate)"
    for_players = "Finish ahead of drivers rated above you, and you gain more. Not starting costs points."
    source = "iRacing SOF iRating Calculator v1_1 (2019), as ported in irating-rs 0.1.0"
    formulas = (
        "e(x) = 2^(-x / 1600), chance(a, b) = (1 - e(a)) e(b) / ((1 - e(b)) e(a) + (1 - e(a)) e(b))",
        "expected = sum of chances over the other entrants; n entrants, s starters, q = n - s did not start",
        "change = (n - place - expected - correction) 200 / s, correction = ((n - q / 2) / 2 - place) / 100",
        "players who did not start lose what the starters gain in total, in proportion to their expected scores",
    )
    state_type = State
    entering_type = Entering
    evidence_type = Evidence
    teams = False
    refuses_teams = True
    rates_absent = True
    equals_drift = True  # by one point a race
    unfinished = (
        "It shares the last places of the starters. A player who did not start loses points as well: all such players"
        " together lose what the starters gain."
    )

    initial: float = parameter(1350.0, "a newcomer's rating", unit="points", low=LEAST_RATING)

    def params(self) -> Params:
        return Params(LEAST_RATING)

    def newcomer(self) -> State:
        return State(self.initial, 0.0)


@enter.register
def with_skill(params: Params, me: State, entrant: Entrant) -> Entering:
    """Compute the log-odds x / B + log(1 - e(x)). The logistic function of their difference is chance(a, b)."""
    rating = max(me.rating, params.least_rating)
    return Entering(rating, me.events, SLOPE * rating + log(-expm1(-SLOPE * rating)))


@compare.register
def by_place(
    params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Compare both sides. Over all opponents, results add up to n - place, and expected scores to E."""
    expected = logistic(a.skill - b.skill)
    result = score(mine.place, theirs.place)
    return side_of(result, expected, mine, heat), side_of(1.0 - result, 1.0 - expected, theirs, heat)


@kernel
def side_of(result: float, expected: float, mine: Entry, heat: Heat) -> Comparison:
    """Return one side's comparison. The side's correction F is divided equally among all its opponents."""
    starters = mine.opponents + 1.0  # for a player who started
    weight = STAKE / starters * (mine.finished > 0.0) * (starters > 1.0)
    share = (0.5 + 0.25 * (heat.entries - starters)) / (heat.entries - 1.0)
    return Comparison(result, expected, weight, CORRECTION * (result - 0.5 - share))


@kernel
def points_of(comparison: Comparison) -> float:
    """Return the points gained from a comparison."""
    return comparison.weight * (comparison.result - comparison.expected - comparison.correction)


@evidence.register
def evidence_of(params: Params, comparison: Comparison) -> Evidence:
    """Return the points of one comparison."""
    return Evidence(points_of(comparison), 0.0)


@credit.register
def credit_of(params: Params, me: Entering, totals: Evidence, after: State, comparison: Comparison) -> Credit:
    """Return the points of one comparison."""
    return Credit(comparison.weight, points_of(comparison))


rate_event.register(Params, rate_heats)


@judge_heat.register
def judge_race(
    params: Params, prototypes: Any, columns: Columns, heat: int, start: int, stop: int, first: int, scratch: Scratch
) -> None:
    """Compare all pairs, then divide the starters' gain among the players who did not start."""
    before = total_points(columns, start, stop, first, scratch)
    judge_pairs(params, prototypes, columns, heat, start, stop, first, scratch)
    if columns.finished.size == 0:
        return
    gained = total_points(columns, start, stop, first, scratch) - before
    if gained == 0.0:  # for example, if a single player is entered
        return
    expected = 0.0
    for i in range(start, stop):
        if not columns.finished[i]:
            expected += expected_score(prototypes, columns, i, start, stop, first, scratch)
    for i in range(start, stop):
        if not columns.finished[i]:
            share = expected_score(prototypes, columns, i, start, stop, first, scratch) / expected
            add(scratch.sums, slot_at(columns, i, first), Evidence(0.0, gained * share))


@kernel
def total_points(columns: Any, start: int, stop: int, first: int, scratch: Any) -> float:
    """Return the total points of a heat's entrants so far, from all heats of the update."""
    total = 0.0
    for i in range(start, stop):
        total += scratch.sums[slot_at(columns, i, first), 0]
    return total


@kernel
def expected_score(prototypes: Any, columns: Any, i: int, start: int, stop: int, first: int, scratch: Any) -> float:
    """Return the expected score of an entry against all other entries of its heat."""
    _, entering, _ = prototypes
    me = read(scratch.entering_states, slot_at(columns, i, first), entering)
    expected = -0.5  # against itself
    for j in range(start, stop):
        expected += logistic(me.skill - read(scratch.entering_states, slot_at(columns, j, first), entering).skill)
    return expected


@update_state.register
def add_points(params: Params, me: Entering, totals: Evidence, entrant: Entrant) -> State:
    """Add the points of all comparisons, and subtract the penalty."""
    rating = max(me.rating + totals.points - totals.penalty, params.least_rating)
    return State(rating, me.events + entrant.events)


@causes.register
def other_causes(params: Params, before: State, me: Entering, totals: Evidence, after: State) -> Causes:
    """Return the points that do not come from comparisons."""
    rest = after.rating - before.rating - totals.points
    if abs(rest) < ROUNDING:
        return Causes(0.0, 0.0)
    return Causes(0.0, rest) if rest > 0.0 and after.rating == params.least_rating else Causes(rest, 0.0)


SYSTEM = Irating
