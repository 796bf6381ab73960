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
from podium.kernels.compiled import compile_kernel, kernel
from podium.kernels.records import read, write
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


@kernel
def enter_field(params: Any, newcomer: Any, columns: Any, first: int, stood: Any, entered: Any) -> None:
    """Write what each entrant of a settlement, whose first is `first` of all, brings."""
    for i in range(stood.shape[0]):
        write(entered, i, enter(params, read(stood, i, newcomer), entrant_at(columns, first + i)))


def _total_compared(
    params: Any,
    prototypes: Any,
    columns: Any,
    settlement: int,
    stood: Any,
    entered: Any,
    moved: Any,
    begin: int,
    totals: Any,
) -> None:
    """Add up the duels of some by `compare`, had they stood as `moved` says and their opponents as they did.

    Args:
        params: what the rules read.
        prototypes: an example of each NamedTuple.
        columns: of the events.
        settlement: whose duels.
        stood: (entrants, fields of the state).
        entered: (entrants, fields of an entering state), to be filled.
        moved: (some, fields of the state).
        begin: the first of them among the entrants.
        totals: (some, 3), to be added to.
    """
    newcomer, entering, _ = prototypes
    first = columns.entrants[settlement]
    enter_field(params, newcomer, columns, first, stood, entered)
    first_heat, end_heat = heats_of(columns, settlement)
    for heat in range(first_heat, end_heat):
        start, stop = entries_of(columns, heat)
        size = float(stop - start)
        course = Heat(size, mode_at(columns, heat))
        for i in range(start, stop):
            number = slot_at(columns, i, first) - begin
            if number < 0 or number >= moved.shape[0]:
                continue
            mine = entry_at(columns, i, size)
            a = enter(params, read(moved, number, newcomer), entrant_at(columns, first + begin + number))
            for j in range(start, stop):
                if i == j or not comparable(columns, i, j):
                    continue
                theirs = entry_at(columns, j, size)
                b = read(entered, slot_at(columns, j, first), entering)
                # Whoever stands first in the file is `a`, as in the replay.
                one = (
                    compare(params, a, b, mine, theirs, course)[0]
                    if i < j
                    else (compare(params, b, a, theirs, mine, course)[1])
                )
                if one.weight != 0.0:
                    totals[number, EXPECTED] += one.expected
                    totals[number, RESULT] += one.result
                    totals[number, DUELS] += 1.0


def _total_expected(
    params: Any,
    prototypes: Any,
    columns: Any,
    settlement: int,
    stood: Any,
    entered: Any,
    moved: Any,
    begin: int,
    totals: Any,
) -> None:
    """Add up the duels of some by places and `expect`, for a system that is no sum over pairs; see above."""
    newcomer, entering, _ = prototypes
    first = columns.entrants[settlement]
    enter_field(params, newcomer, columns, first, stood, entered)
    first_heat, end_heat = heats_of(columns, settlement)
    for heat in range(first_heat, end_heat):
        start, stop = entries_of(columns, heat)
        for i in range(start, stop):
            number = slot_at(columns, i, first) - begin
            if number < 0 or number >= moved.shape[0]:
                continue
            a = enter(params, read(moved, number, newcomer), entrant_at(columns, first + begin + number))
            for j in range(start, stop):
                if i == j or not comparable(columns, i, j):
                    continue
                b = read(entered, slot_at(columns, j, first), entering)
                lead = columns.place[j] - columns.place[i]
                totals[number, EXPECTED] += expect(params, a, b)
                totals[number, RESULT] += 1.0 if lead > 0.0 else 0.0 if lead < 0.0 else 0.5
                totals[number, DUELS] += 1.0


KERNELS = {
    (total, cached): compile_kernel(total, cached=cached)
    for total in (_total_compared, _total_expected)
    for cached in (True, False)
}


def performances(system: System, events: Events, replayed: Replayed, entrant: int) -> list[PerformanceRating]:
    """The performance rating of everyone in the settlement of an entrant, in the order of the entrants.

    Takes time that grows with the square of the field; `performance` is for one of them.
    """
    settlement = settlement_number(events, entrant)
    first, last = (int(each) for each in events.columns.entrants[settlement : settlement + 2])
    return Duels(system, events, replayed, settlement).performances(0, last - first)


def performance(system: System, events: Events, replayed: Replayed, entrant: int) -> PerformanceRating:
    """The performance rating of an entrant, to the bits of `performances`."""
    settlement = settlement_number(events, entrant)
    begin = entrant - int(events.columns.entrants[settlement])
    return Duels(system, events, replayed, settlement).performances(begin, begin + 1)[0]


class Duels:
    """The duels of one settlement, and what would be expected of its entrants with other ratings."""

    def __init__(self, system: System, events: Events, replayed: Replayed, settlement: int) -> None:
        self.system = system_at(system, events, replayed, settlement)
        self.columns, self.settlement = events.columns, settlement
        first, last = (int(each) for each in events.columns.entrants[settlement : settlement + 2])
        players = events.columns.player[first:last]
        self.names = events.player_names.gather(players).to_list()
        self.stood: States = states_before(system, events, settlement, replayed)[players]
        total = _total_expected if overrides(rate_event, self.system) else _total_compared
        self.kernel = KERNELS[total, self.system.shipped]
        self.rating = self.system.column("rating")
        self.levels = [self.system.column(name) for name in self.system.with_level]

    def performances(self, begin: int, end: int) -> list[PerformanceRating]:
        """The performance ratings of the entrants from `begin` to `end`, without the latter."""
        shift, bounds = self.shifts(begin, end)
        compared = self.totals(begin, np.zeros(end - begin))[:, DUELS] > 0.0
        ratings = (self.stood[begin:end, self.rating] + shift).tolist()
        return [
            PerformanceRating(name, rating, bound) if is_compared else PerformanceRating(name, None)
            for name, rating, bound, is_compared in zip(self.names[begin:end], ratings, bounds, compared, strict=True)
        ]

    def totals(self, begin: int, shift: Floats) -> Floats:
        """The expected score, score and duels, (some, 3), of the entrants from `begin`, each so many points higher.

        Args:
            shift: (some).
        """
        moved, totals = self.stood[begin : begin + shift.size].copy(), np.zeros((shift.size, 3))
        moved[:, self.levels] += shift[:, None]
        rules = self.system.arguments()
        _, entering, _ = rules[1]
        entered = np.empty((len(self.stood), len(entering)))
        run_kernel(
            *(self.system, self.kernel, *rules, self.columns, self.settlement),
            *(self.stood, entered, moved, begin, totals),
        )
        return totals

    def shifts(self, begin: int, end: int) -> tuple[Floats, list[Bound | None]]:
        """How many points more each would need for its score to be the expected one; or where it is a bound."""
        field = self.stood[:, self.rating]
        rating, reach = field[begin:end], REACH_LOGITS * self.system.points_per_logit
        _, score, count = self.totals(begin, np.zeros(rating.size)).T
        low, high = field.min() - reach - rating, field.max() + reach - rating
        least = self.totals(begin, low)[:, EXPECTED] + NEAR * count
        most = self.totals(begin, high)[:, EXPECTED] - NEAR * count
        wanted = np.where(score == count, score - HALF_A_DUEL, np.where(score == 0.0, HALF_A_DUEL, score))
        at_least = (score == count) | (wanted > most)
        at_most = ~at_least & ((score == 0.0) | (wanted < least))
        wanted = np.clip(wanted, least, np.maximum(least, most))
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            is_low = self.totals(begin, middle)[:, EXPECTED] < wanted
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        bounds = [AT_LEAST if one else AT_MOST if other else None for one, other in zip(at_least, at_most, strict=True)]
        return 0.5 * (low + high), bounds
