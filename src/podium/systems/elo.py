"""Elo: players exchange points. The more surprising the result, the more points they exchange.

Source: A. E. Elo, "The Rating of Chessplayers, Past and Present" (1978). If there are more than two entrants, they are
compared in pairs.
"""

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple, Self

from podium.engine.inputs import Entrant, Entry, Heat
from podium.engine.rules import (
    Comparison,
    Credit,
    Points,
    causes,
    compare,
    compare_all,
    credit,
    enter,
    evidence,
    expect,
    expect_side,
    kernel,
    update_state,
)
from podium.engine.system import System, parameter
from podium.kernels.logarithm import LN_10, log
from podium.kernels.records import read
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

    name = "elo"
    title = "Elo"
    source = "Elo, The Rating of Chessplayers, Past and Present (1978)"
    formulas = (
        "expected = 1 / (1 + 10^((opponent - me) / scale)); at home, me is me + home",
        "change = k * G * mean (or sum) over opponents of (result - expected)",
        "k = k_top once the rating has reached top, k_new for the first `new` events",
        "G = 1 without margins; with them, for a win by g:",
        "goals: G = 1 if g < 2, 1.5 if g = 2, otherwise (11 + g) / 8",
        "root: G = sqrt(g)",
        "log: G = ln(max(g, 1) + 1) * 2.2 / (2.2 + 0.001 * the winner's lead)",
        "log, after a draw: G = 2.2 * ln 2",
        "before the first event of a season: rating = mean + keep * (rating - mean)",
    )
    state_type: ClassVar[type[Any]] = State
    entering_type: ClassVar[type[Any]] = State
    duel_types = ()
    # The mean is taken over each player's own opponents, whose number can differ if there are teams or quits.
    conserves = True

    k: float = parameter(24.0, "points at stake", unit="points", low=0.0, high=1e6)
    scale: float = parameter(400.0, "rating gap at which the odds are 10 to 1", unit="points", low=1e-3, high=1e9)
    initial: float = parameter(1500.0, "a newcomer's rating", unit="points")
    pairs: str = parameter("mean", "how the opponents of a race are combined", choices=("mean", "sum"))
    k_new: float | None = parameter(None, "k of players with fewer events than `new`", unit="points", low=0.0, high=1e6)
    new: int = parameter(30, "number of events for which k_new counts", unit="events", low=0, high=10000, search=())
    k_top: float | None = parameter(None, "k once a rating has reached `top`", unit="points", low=0.0, high=1e6)
    top: float = parameter(2400.0, "rating at which k changes to k_top, permanently", unit="points", search=())
    home: float = parameter(0.0, "home advantage in points", unit="points")
    margin: str = parameter(
        "none", "how the lead in `score` changes k", choices=("none", "goals", "root", "log"), search=()
    )
    keep: float | None = parameter(
        None, "share of the distance to `mean` kept at the start of a season", low=0.0, high=1.0
    )
    mean: float = parameter(1505.0, "rating towards which a new season moves everybody", unit="points", search=())
    season: int = parameter(7, "month in which seasons begin", low=1, high=12, search=())

    def __new__(cls, *values: Any, **named: Any) -> Self:
        """Return plain Elo, or the system with options if one of them is set."""
        settings = named | {field.name: value for field, value in zip(fields(cls), values, strict=False)}
        switches = {"k_new": None, "k_top": None, "home": 0.0, "margin": "none", "keep": None}
        has_options = any(settings.get(name, off) != off for name, off in switches.items())
        return object.__new__(EloWithOptions if has_options else cls)  # type: ignore[return-value]

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
    """Return the k of a player, given the number of events (or games) played and the highest rating so far."""
    if peak >= params.top:
        return params.k_top  # type: ignore[no-any-return]
    return params.k_new if played < params.new else params.k  # type: ignore[no-any-return]


class ParamsWithOptions(NamedTuple):
    k: float
    k_new: float
    new: float  # events
    k_top: float
    top: float  # rating
    slope: float
    mean: float  # 1: mean over opponents, 0: sum
    home: float  # points
    margin: float  # NO_MARGIN, GOALS, ROOT or LOG
    keep: float
    season_mean: float


NO_MARGIN, GOALS, ROOT, LOG = range(4)
MARGINS = {"none": NO_MARGIN, "goals": GOALS, "root": ROOT, "log": LOG}
LOG_SCALE, LOG_SLOPE = 2.2, 0.001  # FiveThirtyEight: a favourite's lead counts less


class PeakState(NamedTuple):
    rating: float
    peak: float
    events: float


class EnteringWithOptions(NamedTuple):
    rating: float
    peak: float
    events: float
    k: float


class PairPoints(NamedTuple):
    """A comparison: the points without options, and the points added for the home side and the margin."""

    result: float
    expected: float
    weight: float
    points: float
    home: float
    margin: float


class Parts(NamedTuple):
    points: float
    home: float
    margin: float


class Causes(NamedTuple):
    season: float
    home: float
    lead_in_score: float


@dataclass(frozen=True, slots=True)
class EloWithOptions(Elo):
    """Elo with a k that depends on experience, a home side, a margin or seasons."""

    state_type = PeakState
    entering_type = EnteringWithOptions
    evidence_type = Parts
    conserves = False

    def params(self) -> ParamsWithOptions:
        k, slope, mean = Elo.params(self)
        k_new, new = (k, 0) if self.k_new is None else (self.k_new, self.new)
        k_top, top = (k, math.inf) if self.k_top is None else (self.k_top, self.top)
        keep = 1.0 if self.keep is None else self.keep
        options = self.home, float(MARGINS[self.margin]), keep, self.mean
        return ParamsWithOptions(k, k_new, float(new), k_top, top, slope, mean, *options)

    def newcomer(self) -> PeakState:
        return PeakState(self.initial, self.initial, 0.0)

    @property
    def reads_home(self) -> bool:
        return self.home != 0.0

    @property
    def rates_margins(self) -> bool:
        return self.margin != "none"

    @property
    def usual_margin(self) -> float | None:
        """The margin that stakes assume."""
        return 1.0 if self.rates_margins else None

    @property
    def idle_unit(self) -> str | None:
        return None if self.keep is None else "season"

    @property
    def season_month(self) -> int:
        return self.season


@enter.register
def with_k(params: ParamsWithOptions, me: PeakState, entrant: Entrant) -> EnteringWithOptions:
    """Choose the player's k, and begin a season."""
    rating = me.rating
    if entrant.idle > 0.0:
        rating = params.season_mean + params.keep * (rating - params.season_mean)
    return EnteringWithOptions(rating, me.peak, me.events, k_by_experience(params, me.events, me.peak))


@compare.register
def points_with_options(
    params: ParamsWithOptions,
    a: EnteringWithOptions,
    b: EnteringWithOptions,
    mine: Entry,
    theirs: Entry,
    heat: Heat,
) -> tuple[PairPoints, PairPoints]:
    """Compare as plain Elo does, but with each side's own k, the home side and the margin."""
    lead = a.rating - b.rating
    at_home = lead + params.home * (mine.home - theirs.home)
    plain, expected = logistic(params.slope * lead), logistic(params.slope * at_home)
    result = score(mine.place, theirs.place)
    factor = margin_factor(params, abs(mine.score - theirs.score), result, at_home)
    stake_a = a.k / mine.opponents if params.mean else a.k
    stake_b = b.k / theirs.opponents if params.mean else b.k
    for_a = pair_points(result, expected, plain, stake_a, factor)
    return for_a, pair_points(1.0 - result, 1.0 - expected, 1.0 - plain, stake_b, factor)


@kernel
def pair_points(result: float, expected: float, plain: float, stake: float, factor: float) -> PairPoints:
    """Return one side's points. `plain` is the expected score without the home side."""
    surprise = result - expected
    return PairPoints(
        result,
        expected,
        stake,
        stake * (result - plain),
        stake * (plain - expected),
        stake * (factor - 1.0) * surprise,
    )


@kernel
def margin_factor(params: Any, difference: float, result: float, lead: float) -> float:
    """Return the factor G for a difference of scores. An unknown difference counts as 1, or as 0 in a draw.

    Args:
        result: 1 if the first side won, 0.5 for a draw.
        lead: The first side's rating minus the other side's, including the home advantage.
    """
    drawn = result == 0.5
    goals = difference if difference >= 0.0 else 0.0 if drawn else 1.0
    if params.margin == GOALS:
        return 1.0 if goals <= 1.0 else 1.5 if goals <= 2.0 else (11.0 + goals) / 8.0
    if params.margin == ROOT:
        return 1.0 if drawn else math.sqrt(goals)
    if params.margin == LOG:
        favourite = 1.0 if drawn else LOG_SCALE + LOG_SLOPE * (lead if result > 0.5 else -lead)
        return log(max(goals, 1.0) + 1.0) * LOG_SCALE / favourite
    return 1.0


@evidence.register
def parts_of_points(params: ParamsWithOptions, comparison: PairPoints) -> Parts:
    """Return a comparison's points by cause: the opponent, the home side and the margin."""
    return Parts(comparison.points, comparison.home, comparison.margin)


@credit.register
def points_of_pair(
    params: ParamsWithOptions, me: EnteringWithOptions, totals: Parts, after: PeakState, comparison: PairPoints
) -> Credit:
    """Return the points from the opponent, without the points for the home side and the margin."""
    return Credit(comparison.weight, comparison.points)


@causes.register
def other_causes(
    params: ParamsWithOptions, before: PeakState, me: EnteringWithOptions, totals: Parts, after: PeakState
) -> Causes:
    """Return the points from a new season, the home side and the margin."""
    return Causes(me.rating - before.rating, totals.home, totals.margin)


@update_state.register
def add_points_and_peak(
    params: ParamsWithOptions, me: EnteringWithOptions, totals: Parts, entrant: Entrant
) -> PeakState:
    """Add the points from all opponents, and update the highest rating."""
    rating = me.rating + totals.points + totals.home + totals.margin
    return PeakState(rating, max(me.peak, rating), me.events + entrant.events)


@expect.register
def expected_score(params: ParamsWithOptions, a: EnteringWithOptions, b: EnteringWithOptions) -> float:
    """Return the expected score on neutral ground."""
    return logistic(params.slope * (a.rating - b.rating))


@expect_side.register
def expected_at_home(params: ParamsWithOptions, entering: EnteringWithOptions, sides: Any, a: int, b: int) -> Any:
    """Return the mean expected score over all pairs of opponents, including the home advantage."""
    expected = 0.0
    at_home = params.home * (sides.home[a] - sides.home[b])
    for i in range(sides.start[a], sides.start[a + 1]):
        mine = read(sides.members, i, entering)
        for j in range(sides.start[b], sides.start[b + 1]):
            lead = mine.rating - read(sides.members, j, entering).rating
            expected += logistic(params.slope * (lead + at_home))
    return expected / ((sides.start[a + 1] - sides.start[a]) * (sides.start[b + 1] - sides.start[b]))


SYSTEM = Elo
