"""US Chess, by the approximation that the federation publishes for its players.

Sources: M. E. Glickman, "Approximating Formulas for the US Chess Rating System" (April 2017), and M. E. Glickman and
T. Doan, "The US Chess Rating System" (2 September 2020), from which the bonus threshold of 14 comes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import Entrant, Entry, Heat, comparable, entries_of, heats_of, slot_at, weight_at
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
from podium.engine.system import System, parameter
from podium.kernels.logarithm import LN_10
from podium.kernels.records import add, read
from podium.probability.logistic import logistic, score
from podium.support.arrays import Floats, Mask

SLOPE = LN_10 / 400.0  # log-odds per point
NEW_GAMES = 8.0  # up to this number of games, a new rating is a mean of performances
ESTABLISHED_GAMES = 26.0  # a rating from fewer games is provisional
GAMES_IN_K = 50.0  # largest number of earlier games that counts in K
HIGH_RATING, TOP_RATING = 2355.0, 2569.0  # from the first on, all 50 games count
FEWEST_FOR_BONUS, LEAST_COUNTED, MOST_MEETINGS = 3.0, 4.0, 2.0
FLOOR = 100.0
POINTS = 800.0
ROUNDING = 1e-9


class Params(NamedTuple):
    bonus: float


class State(NamedTuple):
    rating: float  # of an unrated player, the rating that opponents and predictions assume
    events: float
    games: float  # 0: the player is unrated


class Entering(NamedTuple):
    rating: float
    events: float
    games: float
    counted: float  # earlier games that count in K


class Game(NamedTuple):
    result: float
    expected: float
    surprise: float  # above the expected score, which is linear in a player's first games


class Evidence(NamedTuple):
    surprise: float
    games: float
    rematches: float  # above 0 after more than two games against the same opponent


class Causes(NamedTuple):
    bonus_points: float
    floor: float


@dataclass(frozen=True, slots=True)
class Uscf(System):
    """US Chess ratings by the published approximation, which is what players calculate before the official rating."""

    name = "uscf"
    title = "US Chess (approximation)"
    source = "Glickman, Approximating Formulas for the US Chess Rating System (2017)"
    formulas = (
        "N games before, m games now: change = K sum of (result - expected) + bonus, K = 800 / (N' + m)",
        "N > 8: N' = min(N, 50 / sqrt(0.662 + 0.00000739 (2569 - rating)^2)), or min(N, 50) above 2355",
        "N > 8: expected = 1 / (1 + 10^((opponent - me) / 400))",
        "N <= 8: N' = N, expected = 1/2 + (me - opponent) / 800, no bonus",
        "bonus = max(0, K sum of (result - expected) - B sqrt(max(m, 4))), if m >= 3 and nobody is met more than twice",
    )
    state_type = State
    entering_type = Entering
    evidence_type = Evidence
    teams = False
    workspace = (1, 0)
    equals_drift = True  # by the bonus

    bonus: float = parameter(14.0, "B, the threshold of the bonus", unit="points", low=0.0, high=1e6)
    initial: float = parameter(1300.0, "rating that is assumed for an unrated player", unit="points")

    def params(self) -> Params:
        return Params(self.bonus)

    def newcomer(self) -> State:
        return State(self.initial, 0.0, 0.0)

    def filled_states(self, known: Mapping[str, Floats]) -> Floats:
        """Return complete states. A rating without games is established. Every event was a game."""
        established = np.full(known["rating"].size, ESTABLISHED_GAMES)
        return System.filled_states(self, {"games": known.get("events", established), **known})

    def is_provisional(self, states: Floats) -> Mask:
        few: Mask = states[:, self.column("games")] < ESTABLISHED_GAMES
        return few


@enter.register
def count_games(params: Params, me: State, entrant: Entrant) -> Entering:
    """Limit the earlier games by the rating, except in a player's first games."""
    counted = me.games
    if me.games > NEW_GAMES:
        gap = TOP_RATING - me.rating
        most = GAMES_IN_K if me.rating > HIGH_RATING else GAMES_IN_K / math.sqrt(0.662 + 0.00000739 * gap * gap)
        counted = min(counted, most)
    return Entering(me.rating, me.events, me.games, counted)


@compare.register
def play(params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat) -> tuple[Game, Game]:
    """Compare both sides. Their expected scores differ if only one of them is new."""
    result, expected = score(mine.place, theirs.place), logistic(SLOPE * (a.rating - b.rating))
    return game_of(a, b, result, expected), game_of(b, a, 1.0 - result, 1.0 - expected)


@kernel
def game_of(me: Entering, them: Entering, result: float, expected: float) -> Game:
    """Return a game from one side's point of view."""
    linear = 0.5 + (me.rating - them.rating) / POINTS
    return Game(result, expected, result - (expected if me.games > NEW_GAMES else linear))


@evidence.register
def sums_of_event(params: Params, comparison: Game) -> Evidence:
    """Return the terms of one game."""
    return Evidence(comparison.surprise, 1.0, 0.0)


@rate_event.register
def rate_tournament(
    params: Params, prototypes: Any, columns: Any, update: int, states: Any, scratch: Any, after: Any, at: int
) -> None:
    """Judge all games, look for opponents who were met too often, and then update all states."""
    _, entering, zero_evidence = prototypes
    judge_heats(params, prototypes, columns, update, states, scratch)
    first, stop = columns.entrants[update], columns.entrants[update + 1]
    for slot in range(stop - first):
        me, totals = read(scratch.entering_states, slot, entering), read(scratch.sums, slot, zero_evidence)
        if bonus_of(params, me, totals) > 0.0:
            met_most = 0.0
            for k in range(count_meetings(columns, update, slot, scratch)):
                met_most = max(met_most, scratch.workspace[k, 0])
            if met_most > MOST_MEETINGS:
                add(scratch.sums, slot, Evidence(0.0, 0.0, 1.0))
    update_all(params, prototypes, columns, first, stop, scratch, after, at)


@kernel
def count_meetings(columns: Any, update: int, slot: int, scratch: Any) -> int:
    """Write the number of games against each entrant into the first column of `scratch.workspace`.

    Args:
        slot: The entrant, counting from 0 within the update.

    Returns:
        The number of entrants.
    """
    first = columns.entrants[update]
    size: int = columns.entrants[update + 1] - first
    for k in range(size):
        scratch.workspace[k, 0] = 0.0
    begin, end = heats_of(columns, update)
    for heat in range(begin, end):
        start, stop = entries_of(columns, heat)
        for i in range(start, stop):
            if slot_at(columns, i, first) == slot:
                for j in range(start, stop):
                    if j != i and comparable(columns, i, j):
                        scratch.workspace[slot_at(columns, j, first), 0] += weight_at(columns, heat)
    return size


@kernel
def points_of_games(me: Entering, totals: Evidence) -> float:
    """Return the points of all games, without a bonus."""
    return k_of(me, totals) * totals.surprise


@kernel
def k_of(me: Entering, totals: Evidence) -> float:
    """Return K, which is 0 without games."""
    return POINTS / (me.counted + totals.games) if totals.games > 0.0 else 0.0


@kernel
def bonus_of(params: Params, me: Entering, totals: Evidence) -> float:
    """Return the bonus for a result that was much better than expected."""
    if me.games <= NEW_GAMES or totals.games < FEWEST_FOR_BONUS or totals.rematches > 0.0:
        return 0.0
    threshold = params.bonus * math.sqrt(max(totals.games, LEAST_COUNTED))
    return max(0.0, points_of_games(me, totals) - threshold)


@update_state.register
def add_points(params: Params, me: Entering, totals: Evidence, entrant: Entrant) -> State:
    """Add the points of all games, and the bonus."""
    rating = me.rating + points_of_games(me, totals) + bonus_of(params, me, totals)
    if totals.games > 0.0:
        rating = max(rating, FLOOR)
    return State(rating, me.events + entrant.events, me.games + totals.games)


@credit.register
def points_of(params: Params, me: Entering, totals: Evidence, after: State, comparison: Game) -> Credit:
    """Return the points of one game."""
    k = k_of(me, totals)
    return Credit(k, k * comparison.surprise)


@causes.register
def other_causes(params: Params, before: State, me: Entering, totals: Evidence, after: State) -> Causes:
    """Return the bonus, or the points that the lowest rating gave."""
    rest = after.rating - before.rating - points_of_games(me, totals)
    if abs(rest) < ROUNDING:
        return Causes(0.0, 0.0)
    return Causes(0.0, rest) if after.rating == FLOOR else Causes(rest, 0.0)


SYSTEM = Uscf
