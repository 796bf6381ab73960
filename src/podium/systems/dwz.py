"""DWZ, the rating of the German Chess Federation.

Source: the federation's Wertungsordnung, in the versions of 30 May 2014 and 1 January 2022. Numbers in brackets refer
to its paragraphs.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import Entrant, Entry, Heat
from podium.engine.rules import (
    Credit,
    causes,
    compare,
    credit,
    enter,
    evidence,
    judge_heats,
    kernel,
    rate_event,
    update_all,
    update_state,
)
from podium.engine.system import parameter
from podium.kernels.exponential import exp
from podium.kernels.records import add, read
from podium.probability.logistic import score
from podium.probability.normal import distribution
from podium.support.arrays import Floats
from podium.systems.fide import DEVIATION, Federation, Game, rounded
from podium.systems.uscf import count_meetings

POINTS = 800.0
INDEX_OF_FIDE = 6.0  # tournaments that a rating counts for if their number is not known
FEWEST_GAMES, POOLED_DAYS = 5.0, 730.0  # games for a first rating, and the two years in which they count [3.4]
JUNIOR, YOUNG = 20.0, 25.0  # last ages of the two lower values of J [3.3.2]
LOW_RATING, LOW_SCALE = 1300.0, 150.0  # below this rating, a loss counts less
LEAST, MOST, MOST_WHEN_LOW = 5.0, 30.0, 150.0  # limits of the coefficient E
LOW_FIRST, LOW_FIRST_BASE = 800.0, 700.0  # lower first ratings are raised towards the second number
REACH, HALVINGS = 4000.0, 60  # of the search for a first rating, beyond all opponents
ROUNDING = 1e-9


class Params(NamedTuple):
    initial: float


class State(NamedTuple):
    rating: float  # of an unrated player, the rating assumed in predictions
    events: float
    tournaments: float  # rated ones, which the federation calls the index
    rated: float  # 1 or 0
    age_group: float  # the last known one, or 0
    first_games: float  # games that count for the first rating
    first_score: float
    first_opponents: float  # sum of their ratings
    first_days: float  # days since the first of these games


class Evidence(NamedTuple):
    surprise: float
    games: float
    score: float
    opponents: float
    first_rating: float  # found from all games together


class Causes(NamedTuple):
    first_rating: float
    rounding: float


@dataclass(frozen=True, slots=True)
class Dwz(Federation):
    """DWZ of the German Chess Federation. Send each tournament as one event with a heat for each game."""

    name = "dwz"
    title = "DWZ (German chess)"
    source = "Wertungsordnung of the German Chess Federation (2014, 2022)"
    formulas = (
        "expected = Phi((me - opponent) / (200 sqrt(2)))",
        "change = 800 sum of (result - expected) / (E + games), rounded to a whole rating once per tournament",
        "E = ((rating / 1000)^4 + J) f + s, rounded; J = 5 up to 20 years, 10 up to 25, otherwise 15",
        "f = rating / 2000, from 0.5 to 1, if J = 5 and the result is not below expectation, otherwise 1",
        "s = exp((1300 - rating) / 150) - 1 below 1300, if the result is not above expectation, otherwise 0",
        "E is at least 5; if s = 0 it is at most 30 and 5 times the number of tournaments, otherwise at most 150",
        "first rating after 5 games: the rating at which the expected score is the score; R < 800 becomes 700 + R / 8",
    )
    state_type = State
    entering_type = State
    evidence_type = Evidence
    teams = False
    workspace = (1, 0)
    whole_numbers = ("events",)

    initial: float = parameter(1000.0, "rating that predictions assume for an unrated player", unit="points")
    first_ratings: bool = parameter(
        True, "newcomers are unrated until their first rating, or else start at `initial`", search=()
    )

    def params(self) -> Params:
        return Params(self.initial)

    def filled_states(self, known: Mapping[str, Floats]) -> Floats:
        """Return complete states. If the number of tournaments is not known, a rating counts like a FIDE rating."""
        tournaments = np.full(known["rating"].size, INDEX_OF_FIDE)
        return Federation.filled_states(self, {"tournaments": tournaments, **known})

    def newcomer(self) -> State:
        return State(self.initial, 0.0, 0.0, float(not self.first_ratings), 0.0, 0.0, 0.0, 0.0, 0.0)


@enter.register
def start_tournament(params: Params, me: State, entrant: Entrant) -> State:
    """Note the age group, and drop games that are too old for a first rating."""
    days = me.first_days + entrant.idle
    pooled = 1.0 if me.first_games > 0.0 and days <= POOLED_DAYS else 0.0
    return State(
        me.rating,
        me.events,
        me.tournaments,
        me.rated,
        entrant.age_group if entrant.age_group > 0.0 else me.age_group,
        pooled * me.first_games,
        pooled * me.first_score,
        pooled * me.first_opponents,
        pooled * days,
    )


@kernel
def expected_score(gap: float) -> float:
    """Return P(D) for a rating lead [3.3.1]."""
    return distribution(gap / (DEVIATION * math.sqrt(2.0)))


@compare.register
def play(params: Params, a: State, b: State, mine: Entry, theirs: Entry, heat: Heat) -> tuple[Game, Game]:
    """Compare both sides. Games against unrated players change nothing."""
    result, expected = score(mine.place, theirs.place), expected_score(a.rating - b.rating)
    both = a.rated * b.rated
    return (
        Game(result, expected, both, b.rated, b.rated * b.rating),
        Game(1.0 - result, 1.0 - expected, both, a.rated, a.rated * a.rating),
    )


@evidence.register
def sums_of_tournament(params: Params, comparison: Game) -> Evidence:
    """Return the sums for a change and for a first rating."""
    surprise = comparison.weight * (comparison.result - comparison.expected)
    return Evidence(surprise, comparison.counts, comparison.counts * comparison.result, comparison.opponent, 0.0)


@rate_event.register
def rate_tournament(
    params: Params, prototypes: Any, columns: Any, update: int, states: Any, scratch: Any, after: Any, at: int
) -> None:
    """Judge all games, find first ratings, and then update all states."""
    _, entering, zero_evidence = prototypes
    judge_heats(params, prototypes, columns, update, states, scratch)
    first, stop = columns.entrants[update], columns.entrants[update + 1]
    for slot in range(stop - first):
        me, totals = read(scratch.entering_states, slot, entering), read(scratch.sums, slot, zero_evidence)
        if is_ready(me, totals):
            found = first_rating(prototypes, columns, update, slot, me, totals, scratch)
            add(scratch.sums, slot, Evidence(0.0, 0.0, 0.0, 0.0, found))
    update_all(params, prototypes, columns, first, stop, scratch, after, at)


@kernel
def is_ready(me: State, totals: Evidence) -> bool:
    """Return True if an unrated player has enough games, neither all won nor all lost."""
    games, points = me.first_games + totals.games, me.first_score + totals.score
    return bool(me.rated == 0.0 and totals.games > 0.0 and games >= FEWEST_GAMES and 0.0 < points < games)


@kernel
def first_rating(
    prototypes: Any, columns: Any, update: int, slot: int, me: State, totals: Evidence, scratch: Any
) -> float:
    """Return the rating at which the expected score is the score [3.4]. Earlier games count at their mean rating."""
    _, entering, _ = prototypes
    size = count_meetings(columns, update, slot, scratch)
    mean = me.first_opponents / max(me.first_games, 1.0)
    earlier = me.first_games > 0.0
    low, high = mean if earlier else math.inf, mean if earlier else -math.inf
    for k in range(size):
        them = read(scratch.entering_states, k, entering)
        scratch.workspace[k, 0] *= them.rated
        if scratch.workspace[k, 0] > 0.0:
            low, high = min(low, them.rating), max(high, them.rating)
    low, high = low - REACH, high + REACH
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        expected = me.first_games * expected_score(middle - mean)
        for k in range(size):
            rating = read(scratch.entering_states, k, entering).rating
            expected += scratch.workspace[k, 0] * expected_score(middle - rating)
        if expected < me.first_score + totals.score:
            low = middle
        else:
            high = middle
    return rounded(low if low >= LOW_FIRST else LOW_FIRST_BASE + low / 8.0)


@kernel
def coefficient(me: State, totals: Evidence) -> float:
    """Return the development coefficient E [3.3.2]."""
    adult = me.age_group > YOUNG or me.age_group == 0.0
    constant = 15.0 if adult else 10.0 if me.age_group > JUNIOR else 5.0
    thousands = min(me.rating / 1000.0, 3.0)  # above, E is 30
    base = thousands * thousands * thousands * thousands + constant
    if constant == LEAST and totals.surprise >= 0.0:
        base *= min(max(me.rating / 2000.0, 0.5), 1.0)
    most = min(MOST, 5.0 * me.tournaments)
    if me.rating < LOW_RATING and totals.surprise <= 0.0:
        base += exp((LOW_RATING - me.rating) / LOW_SCALE) - 1.0
        most = MOST_WHEN_LOW
    return max(math.floor(min(base, MOST_WHEN_LOW) + 0.5), LEAST) if base < most else max(most, LEAST)


@update_state.register
def end_tournament(params: Params, me: State, totals: Evidence, entrant: Entrant) -> State:
    """Apply the change to a rated player, or a first rating to an unrated one."""
    events = me.events + entrant.events
    if me.rated:
        played = totals.games > 0.0
        change = POINTS * totals.surprise / (coefficient(me, totals) + totals.games)
        rating = rounded(me.rating + change) if played else me.rating
        return State(rating, events, me.tournaments + played, 1.0, me.age_group, 0.0, 0.0, 0.0, 0.0)
    if is_ready(me, totals):
        return State(totals.first_rating, events, 1.0, 1.0, me.age_group, 0.0, 0.0, 0.0, 0.0)
    games, points = me.first_games + totals.games, me.first_score + totals.score
    opponents = me.first_opponents + totals.opponents
    return State(me.rating, events, 0.0, 0.0, me.age_group, games, points, opponents, me.first_days)


@credit.register
def points_of(params: Params, me: State, totals: Evidence, after: State, comparison: Game) -> Credit:
    """Return the points of one game before rounding."""
    weight = comparison.weight * POINTS / (coefficient(me, totals) + totals.games)
    return Credit(weight, weight * (comparison.result - comparison.expected))


@causes.register
def other_causes(params: Params, before: State, me: State, totals: Evidence, after: State) -> Causes:
    """Return a first rating, or the rounding."""
    rest = after.rating - before.rating - POINTS * totals.surprise / (coefficient(me, totals) + totals.games)
    if abs(rest) < ROUNDING:
        return Causes(0.0, 0.0)
    return Causes(0.0, rest) if before.rated else Causes(rest, 0.0)


SYSTEM = Dwz
