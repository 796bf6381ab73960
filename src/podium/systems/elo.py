"""Elo: players exchange points. The more surprising the result, the more points they exchange.

Source: A. E. Elo, "The Rating of Chessplayers, Past and Present" (1978). If there are more than two entrants, they are
compared in pairs.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

from podium.engine.inputs import Entrant, Entry, Heat
from podium.engine.rules import Comparison, Points, compare, compare_all, enter, kernel, update_state
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
        "k is k_top once the rating has reached top, k_new for the first `new` events, else k",
    )
    state_type: ClassVar[type[Any]] = State
    entering_type: ClassVar[type[Any]] = State
    duel_types = ()
    # The mean is taken over each player's own opponents, whose number can differ if there are teams or quits.
    conserves: ClassVar[bool] = True

    k: float = parameter(24.0, "points at stake", unit="points", low=0.0, high=1e6)
    scale: float = parameter(400.0, "rating gap at which the odds are 10 to 1", unit="points", low=1e-3, high=1e9)
    initial: float = parameter(1500.0, "a newcomer's rating", unit="points")
    pairs: str = parameter("mean", "how the opponents of a race are combined", choices=("mean", "sum"))
    k_new: float | None = parameter(None, "k of players with fewer events than `new`", unit="points", low=0.0, high=1e6)
    new: int = parameter(30, "number of events for which k_new counts", unit="events", low=0, high=10000, search=())
    k_top: float | None = parameter(None, "k once a rating has reached `top`", unit="points", low=0.0, high=1e6)
    top: float = parameter(2400.0, "rating from which k_top counts, for ever", unit="points", search=())

    def __new__(cls, *_: Any, **settings: Any) -> Self:
        """Return plain Elo, or the system with a k for each player if one of these is set."""
        by_experience = settings.get("k_new") is not None or settings.get("k_top") is not None
        return object.__new__(EloByExperience if by_experience else cls)  # type: ignore[return-value]

    def params(self) -> Any:
        return Params(self.k, LN_10 / self.scale, 1.0 if self.pairs == "mean" else 0.0)

    def newcomer(self) -> Any:
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


@kernel
def k_by_experience(params: Any, played: float, peak: float) -> float:
    """Return the k of a player who has played so many events, or games, and whose highest rating is `peak`."""
    if peak >= params.top:
        return params.k_top  # type: ignore[no-any-return]
    return params.k_new if played < params.new else params.k  # type: ignore[no-any-return]


class ParamsByExperience(NamedTuple):
    k: float
    k_new: float
    new: float  # events
    k_top: float
    top: float  # rating
    slope: float
    mean: float


class PeakState(NamedTuple):
    rating: float
    peak: float
    events: float


class EnteringWithK(NamedTuple):
    rating: float
    peak: float
    events: float
    k: float


@dataclass(frozen=True, slots=True)
class EloByExperience(Elo):
    """Elo in which every player has a k of their own."""

    state_type = PeakState
    entering_type = EnteringWithK
    conserves: ClassVar[bool] = False

    def params(self) -> ParamsByExperience:
        k, slope, mean = Elo.params(self)
        k_new, new = (k, 0) if self.k_new is None else (self.k_new, self.new)
        k_top, top = (k, math.inf) if self.k_top is None else (self.k_top, self.top)
        return ParamsByExperience(k, k_new, float(new), k_top, top, slope, mean)

    def newcomer(self) -> PeakState:
        return PeakState(self.initial, self.initial, 0.0)


@enter.register
def with_k(params: ParamsByExperience, me: PeakState, entrant: Entrant) -> EnteringWithK:
    """Choose the player's k."""
    return EnteringWithK(me.rating, me.peak, me.events, k_by_experience(params, me.events, me.peak))


@compare.register
def points_by_experience(
    params: ParamsByExperience, a: EnteringWithK, b: EnteringWithK, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Compare as plain Elo does, but each side with its own k."""
    expected = logistic(params.slope * (a.rating - b.rating))
    result = score(mine.place, theirs.place)
    stake_a = a.k / mine.opponents if params.mean else a.k
    stake_b = b.k / theirs.opponents if params.mean else b.k
    return Comparison(result, expected, stake_a), Comparison(1.0 - result, 1.0 - expected, stake_b)


@update_state.register
def add_points_and_peak(params: ParamsByExperience, me: EnteringWithK, totals: Points, entrant: Entrant) -> PeakState:
    """Add the points from all opponents, and keep the highest rating."""
    rating = me.rating + totals.points
    return PeakState(rating, max(me.peak, rating), me.events + entrant.events)


SYSTEM = Elo
