"""Performance ratings: the rating at which the expected score equals the entrant's actual score in one event.

This generalises the performance rating of chess: it uses the system's own expected scores and every duel of the event
(one opponent in one heat). If no rating has this expected score, for example if the entrant won every duel, the result
is a bound.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from podium.engine.inputs import Heat, comparable, entrant_at, entries_of, entry_at, heats_of, mode_at, slot_at
from podium.engine.kernel_calls import run_kernel
from podium.engine.replay import Replayed, States, heat_sizes
from podium.engine.rules import compare, enter, entering_state, expect, overrides, rate_event
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.kernels.compiled import compile_twice
from podium.kernels.records import read
from podium.ledger.history import system_at
from podium.ledger.reasons.explaining import states_before, update_number
from podium.support.arrays import Floats
from podium.support.immutable import immutable

Bound = Literal["at least", "at most"]
AT_LEAST: Bound = "at least"
AT_MOST: Bound = "at most"
HALF_A_DUEL = 0.5  # distance from a full or zero score at which the bound is taken
REACH_LOGITS = 20.0  # distance beyond all entrants at which expected scores have reached their limits
END_TOLERANCE = 1e-6  # in duels: an expected score this close to its limit counts as having reached it
STEPS = 100  # maximum; far fewer steps usually reach `NEARLY`
NEARLY = 1e-10  # in log-odds of the mean score
MOST_STAYS = 2  # number of steps in which one end of a range may stay before the range is halved
LEAST_SHARE = 1e-12  # limit of a mean score, so that its log-odds are finite
EXPECTED, RESULT, DUELS = range(3)  # columns of the totals


@immutable
class PerformanceRating:
    """The performance rating of an entrant in an event."""

    player: str
    rating: float | None  # None if nobody was compared
    bound: Bound | None = None  # set if no rating has this expected score


def _total_compared(
    params: Any, prototypes: Any, columns: Any, update: int, field: Any, moved: Any, begin: int, totals: Any
) -> None:
    """Add up the duels of some entrants, using `compare`, after replacing their states with `moved`.

    `field` has shape (entrants, fields of an entering state). `moved` holds the new states of the entrants from `begin`
    on, one row each. The states of their opponents do not change. The sums are added to `totals`, which has one row of
    three numbers for each of these entrants.
    """
    newcomer, entering, _ = prototypes
    first = columns.entrants[update]
    first_heat, end_heat = heats_of(columns, update)
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
                b = read(field, slot_at(columns, j, first), entering)
                # As in the replay, the entrant who comes first in the file is `a`.
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
    params: Any, prototypes: Any, columns: Any, update: int, field: Any, moved: Any, begin: int, totals: Any
) -> None:
    """Add up the duels of some entrants, using places and `expect`, for systems that do not sum over pairs.

    The arguments are the same as for `_total_compared`.
    """
    newcomer, entering, _ = prototypes
    first = columns.entrants[update]
    first_heat, end_heat = heats_of(columns, update)
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
                b = read(field, slot_at(columns, j, first), entering)
                lead = columns.place[j] - columns.place[i]
                totals[number, EXPECTED] += expect(params, a, b)
                totals[number, RESULT] += 1.0 if lead > 0.0 else 0.0 if lead < 0.0 else 0.5
                totals[number, DUELS] += 1.0


COMPARED, BY_CHANCES = compile_twice(_total_compared), compile_twice(_total_expected)


def performances(system: System, events: Events, replayed: Replayed, entrant: int) -> list[PerformanceRating]:
    """Return the performance ratings of all entrants in the update that contains `entrant`, in order."""
    update = update_number(events, entrant)
    first, last = (int(start) for start in events.columns.entrants[update : update + 2])
    return Duels(system, events, replayed, update).performances(0, last - first)


def performance(system: System, events: Events, replayed: Replayed, entrant: int) -> PerformanceRating:
    """Return the performance rating of an entrant, which is the same as among `performances`."""
    update = update_number(events, entrant)
    begin = entrant - int(events.columns.entrants[update])
    return Duels(system, events, replayed, update).performances(begin, begin + 1)[0]


class Duels:
    """The duels of one update, and the expected scores of its entrants at other ratings."""

    def __init__(self, system: System, events: Events, replayed: Replayed, update: int) -> None:
        self.system = system_at(system, events, replayed, update)
        self.columns, self.update = events.columns, update
        first, last = (int(entrant) for entrant in events.columns.entrants[update : update + 2])
        self.entries = int(heat_sizes(self.columns, update, update + 1).sum())
        players = events.columns.player[first:last]
        self.names = events.player_names[players].to_list()
        self.states: States = states_before(system, events, update, replayed)[players]
        self.kernels = BY_CHANCES if overrides(rate_event, self.system) else COMPARED
        self.arguments = self.system.arguments()
        self.rating = self.system.column("rating")
        self.levels = [self.system.column(name) for name in self.system.with_level]
        params, newcomer = self.system.params(), self.system.newcomer()
        before = (read(self.states, i, newcomer) for i in range(len(players)))
        self.entered = np.array([entering_state(params, self.columns, first + i, me) for i, me in enumerate(before)])

    def totals(self, begin: int, shift: Floats) -> Floats:
        """Return three totals for each entrant from `begin` on, after adding `shift` in points to the ratings."""
        totals = np.zeros((shift.size, 3))
        moved: States = np.array(self.states[begin : begin + shift.size])
        moved[:, self.levels] += shift[:, None]
        place = self.columns, self.update, self.entered, moved, begin
        run_kernel(self.system, self.kernels, shift.size * self.entries, *self.arguments, *place, totals)
        return totals

    def performances(self, begin: int, end: int) -> list[PerformanceRating]:
        """Return the performance ratings of the entrants from `begin` up to, but not including, `end`."""
        _, score, duels = self.totals(begin, np.zeros(end - begin)).T
        shift, bounds = self.shifts(begin, score, duels)
        ratings = (self.states[begin:end, self.rating] + shift).tolist()
        return [
            PerformanceRating(name, rating, bound) if count else PerformanceRating(name, None)
            for name, rating, bound, count in zip(self.names[begin:end], ratings, bounds, duels, strict=True)
        ]

    def shifts(self, begin: int, score: Floats, duels: Floats) -> tuple[Floats, list[Bound | None]]:
        """Return the shift of each entrant from `begin` on.

        At this shift, the expected score equals the actual score, unless the shift is the bound.
        """
        field = self.states[:, self.rating]
        rating, reach = field[begin : begin + score.size], REACH_LOGITS * self.system.points_per_logit
        low, high = field.min() - reach - rating, field.max() + reach - rating
        least = self.totals(begin, low)[:, EXPECTED] + END_TOLERANCE * duels
        most = self.totals(begin, high)[:, EXPECTED] - END_TOLERANCE * duels
        wanted = np.where(score == duels, score - HALF_A_DUEL, np.where(score == 0.0, HALF_A_DUEL, score))
        at_least = (score == duels) | (wanted > most)
        at_most = ~at_least & ((score == 0.0) | (wanted < least))
        target = log_odds(np.clip(wanted, least, np.maximum(least, most)), duels)
        shift = approach(lambda shift: log_odds(self.totals(begin, shift)[:, EXPECTED], duels) - target, low, high)
        bounds = [AT_LEAST if one else AT_MOST if other else None for one, other in zip(at_least, at_most, strict=True)]
        return shift, bounds


def log_odds(score: Floats, duels: Floats) -> Floats:
    """Return the log-odds of a mean score. They rise almost linearly with the rating, so a search takes few steps."""
    share = np.clip(score / np.maximum(duels, 1.0), LEAST_SHARE, 1.0 - LEAST_SHARE)
    odds: Floats = np.log(share) - np.log(1.0 - share)
    return odds


def approach(excess: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Return the zeros of rising functions, each between two numbers, by Anderson and Björck's regula falsi.

    If the same end of a range stays twice, the range is halved, because the function may be level at its end.
    """
    below, above = excess(low), excess(high)
    is_found = np.zeros(low.size, np.bool_)  # zeros found so far, which stay fixed during the search
    stays = np.zeros(low.size, np.int64)  # number of steps in which the same end has stayed
    for _ in range(STEPS):
        width = above - below
        share = np.divide(above, width, out=np.full_like(width, 0.5), where=(width != 0.0) & (stays < MOST_STAYS))
        moved = high - np.clip(share, 0.0, 1.0) * (high - low)
        now = excess(moved)
        is_same = (now < 0.0) == (above < 0.0)
        stays = np.where(is_same & (stays < MOST_STAYS), stays + 1, 0)
        factor = 1.0 - np.divide(now, above, out=np.zeros_like(now), where=above != 0.0)
        below = np.where(is_same, below * np.where(factor > 0.0, factor, 0.5), above)
        low = np.where(is_same, low, high)
        high, above = np.where(is_found, high, moved), now
        is_found |= np.abs(now) <= NEARLY
        if is_found.all():
            break
    return high
