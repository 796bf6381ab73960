"""How well each entrant played in one event: the rating whose expected score is the actual one.

The performance rating of chess, by a system's own expected scores and over every duel of the event: one opponent in
one heat. Where the actual score is one that no rating expects, as where every duel was won, it is a bound.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from podium.engine.encoding import Events
from podium.engine.inputs import Heat, comparable, entrant_at, entries_of, entry_at, heats_of, mode_at, slot_at
from podium.engine.replay import Replayed, States
from podium.engine.rule_checks import run_kernel
from podium.engine.rules import compare, enter, expect, overrides, rate_event
from podium.engine.system import System
from podium.kernels.compiled import compile_kernel
from podium.kernels.records import read
from podium.ledger.history import system_at
from podium.ledger.reasons.explaining import settlement_number, states_before

Bound = Literal["at least", "at most"]
AT_LEAST: Bound = "at least"
AT_MOST: Bound = "at most"
HALF_A_DUEL = 0.5  # a bound is the rating that expects a score so near to a full one, or to none
REACH_LOGITS = 20.0  # beyond the strongest and the weakest entrant: there expected scores have come to their ends
NEAR = 1e-6  # of a duel: how near to its end an expected score is taken to be there
STEPS = 50  # of bisection: down to a millionth of a point
EXPECTED, RESULT, DUELS = range(3)  # columns of the totals
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PerformanceRating:
    """How well an entrant played in an event."""

    player: str
    rating: float | None  # None where nobody was compared
    bound: Bound | None = None  # where the score is one that no rating expects


def _total_compared(
    params: Any, prototypes: Any, columns: Any, settlement: int, stood: Any, moved: Any, totals: Any
) -> None:
    """Add up each one's duels by `compare`, had it stood as `moved` says and its opponents as they did.

    Args:
        params: what the rules read.
        prototypes: an example of each NamedTuple.
        columns: of the events.
        settlement: whose duels.
        stood: (entrants, fields of the state).
        moved: likewise.
        totals: (entrants, 3), to be added to.
    """
    newcomer, _, _ = prototypes
    first = columns.entrants[settlement]
    begin, end = heats_of(columns, settlement)
    for heat in range(begin, end):
        start, stop = entries_of(columns, heat)
        size = float(stop - start)
        course = Heat(size, mode_at(columns, heat))
        for i in range(start, stop):
            me = slot_at(columns, i, first)
            mine = entry_at(columns, i, size)
            a = enter(params, read(moved, me, newcomer), entrant_at(columns, first + me))
            for j in range(start, stop):
                if i == j or not comparable(columns, i, j):
                    continue
                you = slot_at(columns, j, first)
                theirs = entry_at(columns, j, size)
                b = enter(params, read(stood, you, newcomer), entrant_at(columns, first + you))
                # Whoever stands first in the file is `a`, as in the replay.
                one = (
                    compare(params, a, b, mine, theirs, course)[0]
                    if i < j
                    else (compare(params, b, a, theirs, mine, course)[1])
                )
                if one.weight != 0.0:
                    totals[me, EXPECTED] += one.expected
                    totals[me, RESULT] += one.result
                    totals[me, DUELS] += 1.0


def _total_expected(
    params: Any, prototypes: Any, columns: Any, settlement: int, stood: Any, moved: Any, totals: Any
) -> None:
    """Add up each one's duels by places and `expect`, for a system that is no sum over pairs; see above."""
    newcomer, _, _ = prototypes
    first = columns.entrants[settlement]
    begin, end = heats_of(columns, settlement)
    for heat in range(begin, end):
        start, stop = entries_of(columns, heat)
        for i in range(start, stop):
            me = slot_at(columns, i, first)
            a = enter(params, read(moved, me, newcomer), entrant_at(columns, first + me))
            for j in range(start, stop):
                if i == j or not comparable(columns, i, j):
                    continue
                you = slot_at(columns, j, first)
                b = enter(params, read(stood, you, newcomer), entrant_at(columns, first + you))
                lead = columns.place[j] - columns.place[i]
                totals[me, EXPECTED] += expect(params, a, b)
                totals[me, RESULT] += 1.0 if lead > 0.0 else 0.0 if lead < 0.0 else 0.5
                totals[me, DUELS] += 1.0


KERNELS = {
    (total, cached): compile_kernel(total, cached=cached)
    for total in (_total_compared, _total_expected)
    for cached in (True, False)
}


def performances(system: System, events: Events, replayed: Replayed, entrant: int) -> list[PerformanceRating]:
    """The performance rating of everyone in the settlement of an entrant, in the order of the entrants."""
    settlement = settlement_number(events, entrant)
    first, last = (int(each) for each in events.columns.entrants[settlement : settlement + 2])
    players = events.columns.player[first:last]
    stood = states_before(system, events, settlement, replayed)[players]
    duels = Duels(system_at(system, events, replayed, settlement), events, settlement, stood)
    shift, bounds = duels.shifts()
    ratings = (stood[:, system.column("rating")] + shift).tolist()
    compared = duels.totals(np.zeros(last - first))[:, DUELS] > 0.0
    return [
        PerformanceRating(str(events.player_names[int(player)]), rating, bound)
        if is_compared
        else PerformanceRating(str(events.player_names[int(player)]), None)
        for player, rating, bound, is_compared in zip(players, ratings, bounds, compared, strict=True)
    ]


class Duels:
    """The duels of one settlement, and what would be expected of its entrants with other ratings."""

    def __init__(self, system: System, events: Events, settlement: int, stood: States) -> None:
        self.system, self.columns, self.settlement, self.stood = system, events.columns, settlement, stood
        total = _total_expected if overrides(rate_event, system) else _total_compared
        self.kernel = KERNELS[total, system.shipped]
        self.levels = [system.column(name) for name in system.with_level]

    def totals(self, shift: Floats) -> Floats:
        """Each one's expected score, score and duels, (entrants, 3), had it stood so many points higher."""
        moved, totals = self.stood.copy(), np.zeros((len(self.stood), 3))
        moved[:, self.levels] += shift[:, None]
        rules = self.system.arguments()
        run_kernel(self.system, self.kernel, *rules, self.columns, self.settlement, self.stood, moved, totals)
        return totals

    def expected(self, shift: Floats) -> Floats:
        """The score that would be expected of each with so many points more."""
        return self.totals(shift)[:, EXPECTED]

    def shifts(self) -> tuple[Floats, list[Bound | None]]:
        """How many points more each would need for its score to be the expected one; or where it is a bound."""
        rating = self.stood[:, self.system.column("rating")]
        reach = REACH_LOGITS * self.system.points_per_logit
        _, score, count = self.totals(np.zeros(rating.size)).T
        low, high = rating.min() - reach - rating, rating.max() + reach - rating
        least, most = self.expected(low) + NEAR * count, self.expected(high) - NEAR * count
        wanted = np.where(score == count, score - HALF_A_DUEL, np.where(score == 0.0, HALF_A_DUEL, score))
        at_least = (score == count) | (wanted > most)
        at_most = ~at_least & ((score == 0.0) | (wanted < least))
        wanted = np.clip(wanted, least, np.maximum(least, most))
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            is_low = self.expected(middle) < wanted
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        bounds = [AT_LEAST if one else AT_MOST if other else None for one, other in zip(at_least, at_most, strict=True)]
        return 0.5 * (low + high), bounds
