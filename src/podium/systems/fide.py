"""FIDE's rating for classical chess: tabulated expected scores, K by experience, and one rounding per period.

Source: FIDE Rating Regulations effective from 1 March 2024, with 8.3.1 as amended on 1 October 2025. Numbers in
brackets refer to their articles.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import Entrant, Entry, Heat
from podium.engine.rules import Credit, causes, compare, credit, enter, evidence, expect, kernel, update_state
from podium.engine.system import System, parameter
from podium.probability.logistic import score
from podium.probability.normal import distribution
from podium.probability.ranks import NormalPerformances, Performances
from podium.support.arrays import Floats, Mask
from podium.systems.elo import k_by_experience

# At each gap, the stronger player's expected score rises by one hundredth, starting from 0.50 [8.1.2].
GAPS = np.array((
    3, 10, 17, 25, 32, 39, 46, 53, 61, 68, 76, 83, 91, 98, 106, 113, 121, 129, 137, 145, 153, 162, 170, 179, 188, 197,
    206, 215, 225, 235, 245, 256, 267, 278, 290, 302, 315, 328, 344, 357, 374, 391, 411, 432, 456, 484, 517, 559, 619,
    735,
), np.float64)  # fmt: skip
# Points above the opponents' mean rating for scores of 0.50, 0.51, ... 1.00 [8.1.1].
LEADS = np.array((
    0, 7, 14, 21, 29, 36, 43, 50, 57, 65, 72, 80, 87, 95, 102, 110, 117, 125, 133, 141, 149, 158, 166, 175, 184, 193,
    202, 211, 220, 230, 240, 251, 262, 273, 284, 296, 309, 322, 336, 351, 366, 383, 401, 422, 444, 470, 501, 538, 589,
    677, 800,
), np.float64)  # fmt: skip
LARGEST_GAP = 400.0  # [8.3.1]
UNCAPPED_FROM = 739525.0  # 1 October 2025: until then, the largest gap applied to everybody
CAPPED = 1.0  # mode of games before that day
MOST_K = 700.0  # largest product of K and the number of games in a period [8.3.3]
FEWEST_GAMES, POOLED_DAYS = 5.0, 791.0  # games for a first rating, and the 26 months in which they count [7.1.4]
DRAWN_OPPONENTS, DRAWN_RATING = 2.0, 1800.0  # draws added to the games of a first rating [8.2.2]
LOWEST, HIGHEST_FIRST = 1400.0, 2200.0
JUNIOR, JUNIOR_TOP = 18.0, 2300.0  # last age of the higher K, and the rating that ends it, permanently [8.3.3]
DEVIATION = 200.0  # of a performance, by the normal law behind the table
ROUNDING = 1e-9


class Params(NamedTuple):
    k: float
    k_new: float
    new: float  # games
    k_top: float
    top: float  # rating
    uncapped: float  # rating
    initial: float


class State(NamedTuple):
    rating: float  # rating that predictions assume for an unrated player
    peak: float
    events: float
    games: float
    rated: float  # 1 or 0
    age_group: float  # the last known one, or 0
    first_games: float  # games that count for the first rating
    first_score: float
    first_opponents: float  # sum of their ratings
    first_days: float  # days since the first of these games


class Entering(NamedTuple):
    """A player at the start of a period: the state, with a rounded rating, and K."""

    rating: float
    peak: float
    events: float
    games: float
    rated: float
    age_group: float
    first_games: float
    first_score: float
    first_opponents: float
    first_days: float
    k: float


class Game(NamedTuple):
    result: float
    expected: float
    weight: float  # 1 if the result changes the player's rating
    counts: float  # 1 if the opponent is rated
    opponent: float  # the opponent's rating, or 0


class Evidence(NamedTuple):
    surprise: float
    games: float
    score: float
    opponents: float


class Causes(NamedTuple):
    first_rating: float
    below_the_floor: float
    rounding: float


@dataclass(frozen=True, slots=True)
class Federation(System):
    """A system in which newcomers are unrated until they have played enough games for a first rating."""

    reads_ages = True

    def filled_states(self, known: Mapping[str, Floats]) -> Floats:
        """Return complete states. A player with a known rating is rated, and has played a game in every event."""
        rated = np.ones(known["rating"].size)
        return System.filled_states(self, {"rated": rated, "games": known.get("events", 0.0 * rated), **known})

    def is_provisional(self, states: Floats) -> Mask:
        unrated: Mask = states[:, self.column("rated")] == 0.0
        return unrated

    @property
    def idle_unit(self) -> str | None:
        return "day" if self.newcomer().rated == 0.0 else None

    def mode_number(self, mode: str) -> float:  # noqa: ARG002  (all modes are one)
        return 0.0

    def performances(self, entering_states: Sequence[Any]) -> Performances:
        """Return the normal performances behind the expected scores."""
        ratings = np.array([me.rating for me in entering_states])
        return NormalPerformances(-ratings, np.full(ratings.size, DEVIATION))


@dataclass(frozen=True, slots=True)
class Fide(Federation):
    """FIDE's rating for classical games. Rate by month: `--period 1mo`."""

    name = "fide"
    title = "FIDE (chess)"
    source = "FIDE Rating Regulations, 1 March 2024, with the amendment of 1 October 2025"
    formulas = (
        "expected by table 8.1.2 from the rounded difference, which is at most 400 for players rated below `uncapped`",
        "change = K sum of (result - expected), rounded to a whole number once per period",
        "K = k_top once the rating has reached top, k_new for the first `new` games, else k; K games <= 700",
        "K = k_new until the year of the 18th birthday ends, while the rating has not reached 2300",
        "first rating after 5 games against rated opponents: Ra + dp(p), Ra with two draws against 1800, at most 2200",
        "a rating below 1400 is dropped",
    )
    state_type = State
    entering_type = Entering
    evidence_type = Evidence
    teams = False
    whole_numbers = ("events",)

    k: float = parameter(20.0, "K of experienced players", unit="points", low=0.0, high=1e3)
    k_new: float = parameter(40.0, "K of players with fewer games than `new`", unit="points", low=0.0, high=1e3)
    new: int = parameter(30, "number of games for which k_new counts", unit="games", low=0, high=10000, search=())
    k_top: float = parameter(10.0, "K once a rating has reached `top`", unit="points", low=0.0, high=1e3)
    top: float = parameter(2400.0, "rating at which k changes to k_top, permanently", unit="points", search=())
    uncapped: float | None = parameter(
        2650.0, "rating from which gaps above 400 points count in full", unit="points", search=()
    )
    initial: float = parameter(1800.0, "rating that predictions assume for an unrated player", unit="points")
    first_ratings: bool = parameter(
        True, "newcomers are unrated until their first rating; if false, they start at `initial`", search=()
    )

    def params(self) -> Params:
        uncapped = math.inf if self.uncapped is None else self.uncapped
        return Params(self.k, self.k_new, float(self.new), self.k_top, self.top, uncapped, self.initial)

    def newcomer(self) -> State:
        return State(self.initial, self.initial, 0.0, 0.0, float(not self.first_ratings), 0.0, 0.0, 0.0, 0.0, 0.0)

    def modes_on(self, modes: Floats, days: Callable[[], Floats]) -> Floats:
        """Mark games played before rule 8.3.1 was amended."""
        return np.where(days() < UNCAPPED_FROM, CAPPED, modes)


@kernel
def rounded(x: float) -> float:
    """Return the nearest whole number. Halves are rounded away from zero."""
    whole = math.floor(abs(x) + 0.5 + ROUNDING)
    return whole if x >= 0.0 else -whole


@kernel
def tabulated(gap: float) -> float:
    """Return the expected score for a rating lead of `gap`, a whole number."""
    low, high = 0, GAPS.size
    while low < high:
        middle = (low + high) // 2
        if GAPS[middle] < abs(gap):
            low = middle + 1
        else:
            high = middle
    return (50.0 + low) / 100.0 if gap >= 0.0 else (50.0 - low) / 100.0


@enter.register
def start_period(params: Params, me: State, entrant: Entrant) -> Entering:
    """Choose K [8.3.3], and drop games that are too old for a first rating."""
    fresh = me.first_days + entrant.idle <= POOLED_DAYS
    pooled = 1.0 if fresh and me.first_games > 0.0 else 0.0
    age_group = entrant.age_group if entrant.age_group > 0.0 else me.age_group
    k = k_by_experience(params, me.games, me.peak)
    if 0.0 < age_group <= JUNIOR and me.peak < min(JUNIOR_TOP, params.top):
        k = params.k_new
    return Entering(
        me.rating,
        me.peak,
        me.events,
        me.games,
        me.rated,
        age_group,
        pooled * me.first_games,
        pooled * me.first_score,
        pooled * me.first_opponents,
        pooled * (me.first_days + entrant.idle),
        k,
    )


@compare.register
def play(params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat) -> tuple[Game, Game]:
    """Compare both sides. Each has its own limit on the gap, so expected scores may not add up to 1."""
    result = score(mine.place, theirs.place)
    return game_of(params, a, b, result, heat.mode), game_of(params, b, a, 1.0 - result, heat.mode)


@kernel
def game_of(params: Params, me: Entering, them: Entering, result: float, mode: float) -> Game:
    """Return a game from one side's point of view."""
    gap = rounded(me.rating) - rounded(them.rating)
    if me.rating < params.uncapped or mode == CAPPED:
        gap = min(max(gap, -LARGEST_GAP), LARGEST_GAP)
    return Game(result, tabulated(gap), me.rated * them.rated, them.rated, them.rated * rounded(them.rating))


@evidence.register
def sums_of_period(params: Params, comparison: Game) -> Evidence:
    """Return the sums for a change and for a first rating."""
    surprise = comparison.weight * (comparison.result - comparison.expected)
    return Evidence(surprise, comparison.counts, comparison.counts * comparison.result, comparison.opponent)


@kernel
def limited_k(me: Entering, games: float) -> float:
    """Return K for a period with this number of games [8.3.3]."""
    return math.floor(MOST_K / games) if me.k * games > MOST_K else me.k


@update_state.register
def end_period(params: Params, me: Entering, totals: Evidence, entrant: Entrant) -> State:
    """Apply article 8.3.4 to a rated player, and article 8.2 to an unrated player."""
    rating, rated, events, games = me.rating, me.rated, me.events + entrant.events, me.games + totals.games
    if rated:
        rating += rounded(limited_k(me, totals.games) * totals.surprise)
        if rating < LOWEST:
            return State(params.initial, me.peak, events, games, 0.0, me.age_group, 0.0, 0.0, 0.0, 0.0)
        return State(rating, max(me.peak, rating), events, games, 1.0, me.age_group, 0.0, 0.0, 0.0, 0.0)
    first_games, first_score = me.first_games + totals.games, me.first_score + totals.score
    if first_score == 0.0 and me.first_games == 0.0:  # a first event without a point does not count
        return State(rating, me.peak, events, me.games, 0.0, me.age_group, 0.0, 0.0, 0.0, 0.0)
    opponents = me.first_opponents + totals.opponents
    if first_games >= FEWEST_GAMES:
        first = first_rating(first_games, first_score, opponents)
        if first >= LOWEST:
            return State(first, max(me.peak, first), events, games, 1.0, me.age_group, 0.0, 0.0, 0.0, 0.0)
    waiting = first_games, first_score, opponents, me.first_days
    return State(rating, me.peak, events, games, 0.0, me.age_group, *waiting)


@kernel
def first_rating(games: float, points: float, opponents: float) -> Any:
    """Return the first rating [8.2.2, 8.2.3]."""
    mean = (opponents + DRAWN_OPPONENTS * DRAWN_RATING) / (games + DRAWN_OPPONENTS)
    hundredths = rounded(100.0 * (points + 0.5 * DRAWN_OPPONENTS) / (games + DRAWN_OPPONENTS))
    lead = LEADS[int(abs(hundredths - 50.0))]
    return min(math.floor(mean + (lead if hundredths >= 50.0 else -lead) + 0.5), HIGHEST_FIRST)


@credit.register
def points_of(params: Params, me: Entering, totals: Evidence, after: State, comparison: Game) -> Credit:
    """Return the points of one game before rounding."""
    weight = comparison.weight * limited_k(me, totals.games)
    return Credit(weight, weight * (comparison.result - comparison.expected))


@causes.register
def other_causes(params: Params, before: State, me: Entering, totals: Evidence, after: State) -> Causes:
    """Return the points from a first rating, a dropped rating or the rounding."""
    rest = after.rating - before.rating - limited_k(me, totals.games) * totals.surprise
    if abs(rest) < ROUNDING:
        return Causes(0.0, 0.0, 0.0)
    if before.rated == after.rated:
        return Causes(0.0, 0.0, rest)
    return Causes(0.0, rest, 0.0) if before.rated else Causes(rest, 0.0, 0.0)


@expect.register
def by_normal_law(params: Params, a: Entering, b: Entering) -> float:
    """Return the expected score under the normal distribution, which the table rounds to hundredths."""
    return distribution((a.rating - b.rating) / (DEVIATION * math.sqrt(2.0)))


SYSTEM = Fide
