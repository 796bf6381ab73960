"""How well each entrant played in one event: the rating whose expected score is the actual one.

The performance rating of chess, by a system's own expected scores and over every duel of the event: one opponent in
one heat. Where the actual score is one that no rating expects, as where every duel was won, it is a bound.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from podium.engine.inputs import Heat, comparable, entrant_at, entries_of, entry_at, heats_of, mode_at, slot_at
from podium.engine.replay import Replayed, States
from podium.engine.rule_checks import run_kernel
from podium.engine.rules import compare, enter, expect, overrides, rate_event
from podium.engine.system import System
from podium.engine.tables.encoding import Events
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
FIRST_STEPS = 8  # of bisection, after which expected scores are nearly straight between two ends
NEARLY = 1e-7  # of a point, in the last step
LARGE_FIELD = 500  # entrants of one heat, from where on what a rating expects is tabulated
NODES_PER_LOGIT = 20
EXACT = 1e-9  # of a duel: how near a table has to be to what each entrant was expected to score
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
        stood: (entrants, fields of the state).
        entered: (entrants, fields of an entering state), to be filled.
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


def _total_met_compared(
    params: Any,
    prototypes: Any,
    columns: Any,
    settlement: int,
    stood: Any,
    entered: Any,
    moved: Any,
    hosts: Any,
    met: Any,
    totals: Any,
) -> None:
    """Add up what `compare` expects of some who meet a part of the field of one heat.

    Args:
        stood: (entrants, fields of the state).
        entered: (entrants, fields of an entering state), to be filled.
        met: (some, 2), the first entrant whom each of them meets, and the one after the last.
    """
    newcomer, entering, _ = prototypes
    first = columns.entrants[settlement]
    enter_field(params, newcomer, columns, first, stood, entered)
    heat, _ = heats_of(columns, settlement)
    start, stop = entries_of(columns, heat)
    size = float(stop - start)
    course = Heat(size, mode_at(columns, heat))
    for k in range(moved.shape[0]):
        a = enter(params, read(moved, k, newcomer), entrant_at(columns, first + hosts[k]))
        for j in range(met[k, 0], met[k, 1]):
            theirs = entry_at(columns, start + j, size)
            totals[k] += compare(params, a, read(entered, j, entering), theirs, theirs, course)[0].expected


def _total_met_expected(
    params: Any,
    prototypes: Any,
    columns: Any,
    settlement: int,
    stood: Any,
    entered: Any,
    moved: Any,
    hosts: Any,
    met: Any,
    totals: Any,
) -> None:
    """Add up what `expect` says of some who meet a part of the field of one heat; see above."""
    newcomer, entering, _ = prototypes
    first = columns.entrants[settlement]
    enter_field(params, newcomer, columns, first, stood, entered)
    for k in range(moved.shape[0]):
        a = enter(params, read(moved, k, newcomer), entrant_at(columns, first + hosts[k]))
        for j in range(met[k, 0], met[k, 1]):
            totals[k] += expect(params, a, read(entered, j, entering))


KERNELS = {
    (total, cached): compile_kernel(total, cached=cached)
    for total in (_total_compared, _total_expected, _total_met_compared, _total_met_expected)
    for cached in (True, False)
}


def performances(system: System, events: Events, replayed: Replayed, entrant: int) -> list[PerformanceRating]:
    """The performance rating of everyone in the settlement of an entrant, in the order of the entrants."""
    settlement = settlement_number(events, entrant)
    first, last = (int(each) for each in events.columns.entrants[settlement : settlement + 2])
    return Duels(system, events, replayed, settlement).performances(0, last - first)


def performance(system: System, events: Events, replayed: Replayed, entrant: int) -> PerformanceRating:
    """The performance rating of an entrant: of a field below `LARGE_FIELD` to the bits of `performances`."""
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
        whole = overrides(rate_event, self.system)
        self.kernel, self.met_kernel = (
            KERNELS[total, self.system.shipped]
            for total in ((_total_expected, _total_met_expected) if whole else (_total_compared, _total_met_compared))
        )
        self.rating = self.system.column("rating")
        self.levels = [self.system.column(name) for name in self.system.with_level]

    def performances(self, begin: int, end: int) -> list[PerformanceRating]:
        """The performance ratings of the entrants from `begin` to `end`, without the latter."""
        as_stood = self.totals(begin, np.zeros(end - begin))
        shift, bounds = self.shifts(begin, as_stood)
        ratings = (self.stood[begin:end, self.rating] + shift).tolist()
        return [
            PerformanceRating(name, rating, bound) if duels else PerformanceRating(name, None)
            for name, rating, bound, duels in zip(
                self.names[begin:end], ratings, bounds, as_stood[:, DUELS], strict=True
            )
        ]

    def totals(self, begin: int, shift: Floats) -> Floats:
        """The expected score, score and duels, (some, 3), of the entrants from `begin`, each so many points higher."""
        totals = np.zeros((shift.size, 3))
        self.run(self.kernel, self.moved(np.arange(begin, begin + shift.size), shift), begin, totals)
        return totals

    def moved(self, hosts: npt.NDArray[np.int64], shift: Floats) -> States:
        """The states, (some, fields), of some entrants who are so many points, (some), higher."""
        moved: States = self.stood[hosts]
        moved[:, self.levels] += shift[:, None]
        return moved

    def run(self, kernel: Any, moved: States, *more: Any) -> None:
        """Add up what a kernel does, with its last arguments."""
        rules = self.system.arguments()
        _, entering, _ = rules[1]
        entered = np.empty((len(self.stood), len(entering)))
        run_kernel(self.system, kernel, *rules, self.columns, self.settlement, self.stood, entered, moved, *more)

    def expectation(self, begin: int, as_stood: Floats) -> Callable[[Floats], Floats]:
        """What is expected, (some), of the entrants from `begin`, each so many points, (some), higher.

        Args:
            as_stood: (some, 3), the totals of each as it stood.
        """
        size = len(self.stood)
        first_heat, end_heat = heats_of(self.columns, self.settlement)
        is_one_heat = end_heat - first_heat == 1 and not self.columns.entrant.size
        if is_one_heat and len(as_stood) == size >= LARGE_FIELD:
            table = self.table()
            if np.abs(table(np.zeros(size)) - as_stood[:, EXPECTED]).max() <= EXACT * size:
                return table
        return lambda shift: self.totals(begin, shift)[:, EXPECTED]

    def table(self) -> Callable[[Floats], Floats]:
        """As `expectation` for all, from one curve: of the first entrant, who meets the whole field, at many ratings.

        It is right where what is expected depends on the ratings alone and what the opponents bring.
        """
        from scipy.interpolate import make_interp_spline  # noqa: PLC0415  (a third of a second, and only here)

        hosts = np.arange(len(self.stood))
        field, point = self.stood[:, self.rating], self.system.points_per_logit
        reach = (REACH_LOGITS + 1.0) * point
        nodes = np.arange(field.min() - reach, field.max() + reach, point / NODES_PER_LOGIT)
        everyone = np.broadcast_to(np.array([0, hosts.size]), (nodes.size, 2))
        curve = make_interp_spline(
            nodes, self.expect_met(np.zeros(nodes.size, np.int64), nodes - field[0], everyone), k=5
        )
        themselves = np.stack([hosts, hosts + 1], axis=1)
        return lambda shift: curve(field + shift) - self.expect_met(hosts, shift, themselves)

    def expect_met(self, hosts: npt.NDArray[np.int64], shift: Floats, met: npt.NDArray[np.int64]) -> Floats:
        """What is expected, (some), of some who are so many points higher and meet a part of the field.

        Args:
            met: (some, 2), the first entrant whom each of them meets, and the one after the last.
        """
        totals = np.zeros(hosts.size)
        self.run(self.met_kernel, self.moved(hosts, shift), hosts, met, totals)
        return totals

    def shifts(self, begin: int, as_stood: Floats) -> tuple[Floats, list[Bound | None]]:
        """How many points more each would need for its score to be the expected one; or where it is a bound."""
        _, score, count = as_stood.T
        field = self.stood[:, self.rating]
        rating, reach = field[begin : begin + score.size], REACH_LOGITS * self.system.points_per_logit
        expected = self.expectation(begin, as_stood)
        low, high = field.min() - reach - rating, field.max() + reach - rating
        least = expected(low) + NEAR * count
        most = expected(high) - NEAR * count
        wanted = np.where(score == count, score - HALF_A_DUEL, np.where(score == 0.0, HALF_A_DUEL, score))
        at_least = (score == count) | (wanted > most)
        at_most = ~at_least & ((score == 0.0) | (wanted < least))
        wanted = np.clip(wanted, least, np.maximum(least, most))
        find = approach if score.size >= LARGE_FIELD else bisect
        shift = find(lambda shift: expected(shift) - wanted, low, high)
        bounds = [AT_LEAST if one else AT_MOST if other else None for one, other in zip(at_least, at_most, strict=True)]
        return shift, bounds


def bisect(excess: Callable[[Floats], Floats], low: Floats, high: Floats, steps: int = STEPS) -> Floats:
    """Find where functions that rise are 0, each between two numbers."""
    for _ in range(steps):
        middle = 0.5 * (low + high)
        is_low = excess(middle) < 0.0
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return 0.5 * (low + high)


def approach(excess: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """As `bisect`, in a third of the steps: false position, by Anderson and Björck."""
    newest = bisect(excess, low, high, FIRST_STEPS)
    half = (high - low) / 2.0 ** (FIRST_STEPS + 1)
    low, high = newest - half, newest + half
    below, above = excess(low), excess(high)
    for _ in range(STEPS):
        width = above - below
        share = np.divide(above, width, out=np.zeros_like(width), where=width != 0.0)
        moved = high - np.clip(share, 0.0, 1.0) * (high - low)
        now = excess(moved)
        is_same = (now < 0.0) == (above < 0.0)  # the other end stays, and weighs less from now on
        factor = 1.0 - np.divide(now, above, out=np.zeros_like(now), where=above != 0.0)
        below = np.where(is_same, below * np.where(factor > 0.0, factor, 0.5), above)
        low, last = np.where(is_same, low, high), high
        high, above = moved, now
        if np.abs(high - last).max() <= NEARLY:
            break
    return high
