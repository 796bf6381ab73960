"""XonStat for Xonotic, as its author described it: Elo for duels, free-for-alls and teams.

Source: Antibody, XonStat's ranking explained (2012).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from podium.engine.inputs import Entrant, Entry, Heat, part_played
from podium.engine.rules import Comparison, compare, enter, kernel, update_state
from podium.engine.system import System, parameter
from podium.kernels.logarithm import LN_10
from podium.probability.logistic import logistic, score
from podium.systems.elo import State, add_points


class Params(NamedTuple):
    slope: float  # log-odds per point
    k_newcomer: float
    k_step: float  # decrease of K per event
    k_events: float
    winner_only: float  # 1 if a free-for-all compares only the winner with the others


class Entering(NamedTuple):
    """A player at the start of an event, with the K that applies to that event."""

    rating: float
    events: float
    k: float


@dataclass(frozen=True, slots=True)
class Xonstat(System):
    """Elo with a K that falls over 32 games, scaled by the part of the game played."""

    name = "xonstat"
    title = "XonStat, as described"
    for_players = "Beat players rated above you, and you gain more; the longer you play, the more."
    source = "Antibody, XonStat's ranking system (2012)"
    formulas = (
        "expected = Q_me / (Q_me + Q_opponent), Q = 10^(rating / 400)",
        "K = (200 - 160 min(n, 32) / 32) * played / duration",
        "change = K * mean over opponents (of other teams) of (result - expected)",
    )
    game = "Xonotic"
    state_type = State
    entering_type = Entering
    stakes = (
        "A game counts in proportion to the part that you took part in. A first game counts more than later ones,"
        " until the rating is established."
    )
    unfinished = (
        "It loses to everyone who finished the heat; if played_s and duration_s are given, the points at stake"
        " shrink in proportion to the part of the game played. Two players who did not finish are not compared."
    )

    initial: float = parameter(100.0, "a newcomer's rating", unit="points")
    scale: float = parameter(400.0, "rating gap at which the odds are 10 to 1", unit="points", low=1e-3, high=1e9)
    k_newcomer: float = parameter(200.0, "K for the first game", unit="points", low=0.0, high=1e6)
    k_settled: float = parameter(40.0, "K once established", unit="points", low=0.0, high=1e6)
    k_events: int = parameter(32, "games until K is established", unit="events", low=1, high=10000)
    ffa: str = parameter(
        "all",
        "who is compared in a free-for-all: everyone, or the winner with each other player",
        choices=("all", "winner"),
    )

    def params(self) -> Params:
        return Params(
            slope=LN_10 / self.scale,
            k_newcomer=self.k_newcomer,
            k_step=(self.k_newcomer - self.k_settled) / self.k_events,
            k_events=float(self.k_events),
            winner_only=1.0 if self.ffa == "winner" else 0.0,
        )

    def newcomer(self) -> State:
        return State(self.initial, 0.0)


@enter.register
def experience(params: Params, me: State, entrant: Entrant) -> Entering:
    """Compute K, which falls linearly over a player's first games."""
    return Entering(me.rating, me.events, params.k_newcomer - params.k_step * min(me.events, params.k_events))


@compare.register
def points_from_pair(
    params: Params, a: Entering, b: Entering, mine: Entry, theirs: Entry, heat: Heat
) -> tuple[Comparison, Comparison]:
    """Compute Elo's exchange with each side's own K, divided by the number of opponents."""
    expected = logistic(params.slope * (a.rating - b.rating))
    result = score(mine.place, theirs.place)
    opponents_a, opponents_b = mine.opponents, theirs.opponents
    if params.winner_only and is_free_for_all(mine, theirs, heat):
        opponents_a, opponents_b = opponents_of_winner(mine, theirs), opponents_of_winner(theirs, mine)
    weight_a = a.k * part_played(mine.played_s, mine.duration_s) / opponents_a
    weight_b = b.k * part_played(theirs.played_s, theirs.duration_s) / opponents_b
    return Comparison(result, expected, weight_a), Comparison(1.0 - result, 1.0 - expected, weight_b)


@kernel
def is_free_for_all(mine: Entry, theirs: Entry, heat: Heat) -> bool:
    """Return True for a free-for-all, in which all other entries are a finisher's opponents."""
    finisher = mine if mine.place < theirs.place else theirs
    return finisher.opponents == heat.entries - 1.0


@kernel
def opponents_of_winner(mine: Entry, theirs: Entry) -> float:
    """Return the number of opponents if only the winners are compared with the others.

    A winner's opponents are all other entries. The other entries' opponents are the winners.

    The number is infinite if neither side won, so that the comparison has no weight. If n players share first place,
    their place is the mean, (n + 1) / 2.
    """
    if mine.rank == 1.0:
        return mine.opponents
    if theirs.rank == 1.0:
        return 2.0 * theirs.place - 1.0
    return math.inf


update_state.register(Params, add_points)


SYSTEM = Xonstat
