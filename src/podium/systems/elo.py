"""Elo: players exchange points. The more surprising the result, the more points they exchange.

Source: A. E. Elo, "The Rating of Chessplayers, Past and Present" (1978). If there are more than two entrants, they are
compared in pairs.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from podium.engine.inputs import Entrant, Entry, Heat
from podium.engine.rules import Comparison, Points, compare, compare_all, update_state
from podium.engine.system import System, parameter
from podium.kernels.logarithm import LN_10
from podium.probability.logistic import logistic, score


class Params(NamedTuple):
    k: float
    slope: float  # log-odds per point
    mean: float  # 1: mean over opponents, 0: sum


class State(NamedTuple):
    """A player's state in systems whose only number is the rating."""

    rating: float
    events: float


@dataclass(frozen=True, slots=True)
class Elo(System):
    """Plain Elo over every pair of entrants."""

    name: ClassVar[str] = "elo"
    title: ClassVar[str] = "Elo"
    source: ClassVar[str] = "Elo, The Rating of Chessplayers, Past and Present (1978)"
    formulas: ClassVar[tuple[str, ...]] = (
        "expected = 1 / (1 + 10^((opponent - me) / scale))",
        "change = k * mean (or sum) over opponents of (result - expected)",
    )
    state_type = State
    entering_type = State
    duel_types = ()
    # The mean is taken over each player's own opponents, whose number can differ if there are teams or quits.
    conserves: ClassVar[bool] = True

    k: float = parameter(24.0, "points at stake", unit="points", low=0.0, high=1e6)
    scale: float = parameter(400.0, "rating gap that means odds of 10 to 1", unit="points", low=1e-3, high=1e9)
    initial: float = parameter(1500.0, "a newcomer's rating", unit="points")
    pairs: str = parameter("mean", "how the opponents of a race are combined", choices=("mean", "sum"))

    def params(self) -> Params:
        return Params(self.k, LN_10 / self.scale, 1.0 if self.pairs == "mean" else 0.0)

    def newcomer(self) -> State:
        return State(rating=self.initial, events=0.0)


@compare.register
def points_from_pair(
    params: Params, a: State, b: State, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Compare both sides with one exponential: the other side has 1 - result and 1 - expected."""
    expected = logistic(params.slope * (a.rating - b.rating))
    result = score(mine.place, theirs.place)
    stake_a = params.k / mine.opponents if params.mean else params.k
    stake_b = params.k / theirs.opponents if params.mean else params.k
    return Comparison(result, expected, stake_a), Comparison(1.0 - result, 1.0 - expected, stake_b)


@compare_all.register
def points_from_all(params: Params, me: State, mine: Entry, heat: Heat, won: float, expected: float) -> Points:
    """Sum all pairs of a large heat at once. This is possible because each pair has the same stake."""
    stake = params.k / mine.opponents if params.mean else params.k
    return Points(stake * (won - expected))


@update_state.register(Params)
def add_points(params: Any, me: Any, totals: Points, entrant: Entrant) -> State:
    """Add the points from all opponents."""
    return State(rating=me.rating + totals.points, events=me.events + entrant.events)


SYSTEM = Elo
