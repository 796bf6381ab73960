"""Performance ratings: the rating at which the expected score equals the entrant's actual score in one event.

This generalises the performance rating of chess: it uses the system's own expected scores and every duel of the event
(one opponent in one heat). If no rating has this expected score, for example if the entrant won every duel, the result
is a bound.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from podium.engine.inputs import Heat, comparable, entrant_at, entries_of, entry_at, heats_of, mode_at, slot_at
from podium.engine.kernel_calls import run_kernel
from podium.engine.large_heats import finishes
from podium.engine.replay import Replayed, States
from podium.engine.rules import compare, enter, expect, overrides, rate_event
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.kernels.compiled import compile_twice, kernel
from podium.kernels.records import LANES, read, read_fields, write, write_fields
from podium.ledger.history import system_at
from podium.ledger.reasons.explaining import states_before, update_number

Bound = Literal["at least", "at most"]
AT_LEAST: Bound = "at least"
AT_MOST: Bound = "at most"
HALF_A_DUEL = 0.5  # distance from a full or zero score at which the bound is taken
REACH_LOGITS = 20.0  # distance beyond all entrants at which expected scores have reached their limits
END_TOLERANCE = 1e-6  # in duels: an expected score this close to its limit counts as having reached it
STEPS = 50  # maximum; far fewer steps usually reach `NEARLY`
FIRST_STEPS = 8  # bisection steps, after which expected scores are nearly linear between the two ends
NEARLY = 1e-7  # in points, the size of the last step
LARGE_FIELD = 500  # with this many entrants or more in one heat, expected scores are tabulated
NODES_PER_LOGIT = 6
DEGREE = 15  # degree of the interpolating polynomials; odd
PROBES = 128  # single opponents used to find the curves that are needed
PROBE_LOGITS = 8.0  # range above and below such an opponent
GOLDEN = 0.6180339887498949  # the fractional parts of this number's multiples are spread evenly
NEGLIGIBLE = 1e-11  # in duels: error of a curve that is expressed by the others
EXACT = 3e-10  # in duels: required accuracy of the table at an entrant's known expected score
CHECKED = 16  # one in this many entrants is checked against its known expected score
SLOPE_STEP = 1e-4  # in points, in both directions
TAIL = 0.01  # in duels from either end, where the errors of a table would move a rating by too much
EXPECTED, RESULT, DUELS = range(3)  # columns of the totals
Floats = npt.NDArray[np.float64]
Expected = Callable[[Floats], Floats]  # expected scores of some entrants after adding a number of points to each rating


def interpolate(nodes: Floats, values: Floats, at: Floats) -> Floats:
    """Interpolate curves, of shape (nodes, curves), with the polynomial through the nearest evenly spaced nodes."""
    count = DEGREE + 1
    position = (at - nodes[0]) * ((nodes.size - 1) / (nodes[-1] - nodes[0]))
    first = np.clip(np.floor(position).astype(np.int64) - DEGREE // 2, 0, nodes.size - count)
    gaps = (position - first)[:, None] - np.arange(count)
    exact = gaps == 0.0
    binomials = np.array([(-1.0) ** k * math.comb(DEGREE, k) for k in range(count)])
    weights = np.where(exact.any(axis=1, keepdims=True), exact, binomials / np.where(exact, 1.0, gaps))
    weights /= weights.sum(axis=1, keepdims=True)
    found: Floats = np.einsum("pk,pkc->pc", weights, values[first[:, None] + np.arange(count)])
    return found


class Lane(NamedTuple):
    """The fields that follow the entering state in a lane."""

    total: float
    first: float  # first opponent
    after: float  # entrant after the last opponent
    finished: float  # 0 if all opponents finished


@dataclass(frozen=True, slots=True)
class PerformanceRating:
    """The performance rating of an entrant in an event."""

    player: str
    rating: float | None  # None if nobody was compared
    bound: Bound | None = None  # set if no rating has this expected score


def _enter_field(params: Any, prototypes: Any, columns: Any, update: int, states: Any, field: Any) -> None:
    """Write the entering state of each entrant in a rating update to an array of shape (entrants, fields)."""
    newcomer, _, _ = prototypes
    first = columns.entrants[update]
    for i in range(states.shape[0]):
        write(field, i, enter(params, read(states, i, newcomer), entrant_at(columns, first + i)))


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


def _total_met_compared(
    params: Any, prototypes: Any, columns: Any, update: int, field: Any, moved: Any, met: Any, sums: Any, _: Any
) -> None:
    """Add up the expected scores of some entrants in a heat without teams, using `compare`.

    `met` has a row for each of these entrants: the entrant, the first opponent, and the entrant after the last
    opponent. The results are added to `sums`, which has one element per row.
    """
    newcomer, entering = prototypes[0], prototypes[1]
    first, heat = columns.entrants[update], heats_of(columns, update)[0]
    start, stop = entries_of(columns, heat)
    size = float(stop - start)
    course = Heat(size, mode_at(columns, heat))
    for k in range(moved.shape[0]):
        a = enter(params, read(moved, k, newcomer), entrant_at(columns, first + met[k, 0]))
        for j in range(met[k, 1], met[k, 2]):
            if comparable(columns, start + met[k, 0], start + j):
                theirs = entry_at(columns, start + j, size)
                sums[k] += compare(params, a, read(field, j, entering), theirs, theirs, course)[0].expected


def _total_met_expected(
    params: Any, prototypes: Any, columns: Any, update: int, field: Any, moved: Any, met: Any, sums: Any, lanes: Any
) -> None:
    """Add up expected scores as `_total_met_compared` does, but with `expect`.

    `lanes` is working memory for entrants who are next to each other in `met`.
    """
    newcomer, entering, _ = prototypes
    first, own = columns.entrants[update], len(entering)
    start, _ = entries_of(columns, heats_of(columns, update)[0])
    for block in range(0, moved.shape[0], LANES):
        begin, after, end = field.shape[0], 0, min(block + LANES, moved.shape[0])
        for k in range(block, end):
            a = enter(params, read(moved, k, newcomer), entrant_at(columns, first + met[k, 0]))
            write_fields(lanes, 0, k - block, a)
            mine = Lane(0.0, met[k, 1], met[k, 2], finishes(columns, start + met[k, 0]))
            write_fields(lanes, own, k - block, mine)
            begin, after = min(begin, met[k, 1]), max(after, met[k, 2])
        for j in range(begin, after):
            expect_in_lanes(params, prototypes, read(field, j, entering), j, finishes(columns, start + j), lanes)
        for k in range(block, end):
            sums[k] += lanes[own, k - block]


@kernel
def expect_in_lanes(params: Any, prototypes: Any, b: Any, j: int, finished: float, lanes: Any) -> None:
    """Add the expected score against entrant `j` for each entrant in the lanes who meets `j`."""
    _, entering, _ = prototypes
    own = len(entering)
    for lane in range(LANES):
        is_met = (lanes[own + 1, lane] <= j) & (j < lanes[own + 2, lane]) & (finished + lanes[own + 3, lane] > 0.0)
        lanes[own, lane] += expect(params, read_fields(lanes, 0, lane, entering), b) * is_met


KERNELS = {
    total: compile_twice(total)
    for total in (_enter_field, _total_compared, _total_expected, _total_met_compared, _total_met_expected)
}


def performances(system: System, events: Events, replayed: Replayed, entrant: int) -> list[PerformanceRating]:
    """Return the performance ratings of all entrants in the update that contains `entrant`, in order."""
    update = update_number(events, entrant)
    first, last = (int(start) for start in events.columns.entrants[update : update + 2])
    return Duels(system, events, replayed, update).performances(0, last - first)


def performance(system: System, events: Events, replayed: Replayed, entrant: int) -> PerformanceRating:
    """Return the performance rating of an entrant.

    In fields smaller than `LARGE_FIELD`, it equals the result of `performances`.
    """
    update = update_number(events, entrant)
    begin = entrant - int(events.columns.entrants[update])
    return Duels(system, events, replayed, update).performances(begin, begin + 1)[0]


class Duels:
    """The duels of one update, and the expected scores of its entrants at other ratings."""

    def __init__(self, system: System, events: Events, replayed: Replayed, update: int) -> None:
        self.system = system_at(system, events, replayed, update)
        self.columns, self.update = events.columns, update
        first, last = (int(entrant) for entrant in events.columns.entrants[update : update + 2])
        players = events.columns.player[first:last]
        self.names = events.player_names[players].to_list()
        self.states: States = states_before(system, events, update, replayed)[players]
        self.by_chances = overrides(rate_event, self.system)
        self.arguments = self.system.arguments()
        self.rating = self.system.column("rating")
        self.levels = [self.system.column(name) for name in self.system.with_level]
        self.entered = np.empty((len(players), len(self.system.prototypes()[1])))
        self.run(_enter_field, self.states, self.entered)
        first_heat, end_heat = heats_of(self.columns, update)
        self.entries = range(*entries_of(self.columns, first_heat))
        is_one_heat = end_heat - first_heat == 1 and not self.columns.entrant.size and not self.columns.side.size
        self.is_large = is_one_heat and len(players) >= LARGE_FIELD

    def performances(self, begin: int, end: int) -> list[PerformanceRating]:
        """Return the performance ratings of the entrants from `begin` up to, but not including, `end`."""
        is_table = self.is_large and end - begin == len(self.states)
        totals_before = self.count() if is_table and self.by_chances else self.totals(begin, np.zeros(end - begin))
        table = self.table() if is_table and totals_before[:, DUELS].any() else None
        shift, bounds = self.shifts(begin, totals_before, table)
        ratings = (self.states[begin:end, self.rating] + shift).tolist()
        found = zip(self.names[begin:end], ratings, bounds, totals_before[:, DUELS], strict=True)
        return [
            PerformanceRating(name, *numbers) if duels else PerformanceRating(name, None)
            for name, *numbers, duels in found
        ]

    def finished(self) -> npt.NDArray[np.bool_]:
        """Return a mask of the entrants who finished. The update must have a single heat."""
        return np.array([finishes(self.columns, i) for i in self.entries])

    def count(self) -> Floats:
        """Count the duels of all entrants. Expected scores are not calculated.

        In a large heat, places are counted instead of duels.
        """
        place, finished = self.columns.place[self.entries], self.finished()
        totals = np.zeros((place.size, 3))
        for is_finish in (True, False):
            met, mine = np.sort(place if is_finish else place[finished]), finished == is_finish
            ahead = np.searchsorted(met, place[mine]) + np.searchsorted(met, place[mine], "right")
            totals[mine, DUELS] = met.size - is_finish
            totals[mine, RESULT] = met.size - 0.5 * (ahead + is_finish)
        return totals

    def totals(self, begin: int, shift: Floats) -> Floats:
        """Return three totals for each entrant from `begin` on, after adding `shift` to the ratings."""
        totals = np.zeros((shift.size, 3))
        moved = self.moved(slice(begin, begin + shift.size), shift)
        self.run(_total_expected if self.by_chances else _total_compared, self.entered, moved, begin, totals)
        return totals

    def moved(self, hosts: npt.NDArray[np.int64] | slice, shift: Floats) -> States:
        """Return the states of some entrants, one per row, after adding each `shift` in points to the rating."""
        moved: States = np.array(self.states[hosts])
        moved[:, self.levels] += shift[:, None]
        return moved

    def run(self, total: Any, *more: Any) -> None:
        """Call a kernel with its last arguments."""
        run_kernel(self.system, KERNELS[total], *self.arguments, self.columns, self.update, *more)

    def table(self) -> Expected | None:
        """Return a function from shifts to all expected scores, using a few entrants' curves.

        Return None if it is inaccurate.

        A curve contains the expected scores of one entrant against the whole field at many ratings. The expected score
        of any entrant is a weighted sum of the curves of a few entrants. The weights come from single opponents.
        Ratings are measured from the point with even odds against one reference entrant, so that fewer curves are
        needed.
        """
        field, point = self.states[:, self.rating], self.system.points_per_logit
        hosts, finished, reach = np.arange(field.size), self.finished(), (REACH_LOGITS + 1.0) * point
        one, ends = int(finished.argmax()), (-0.5 * point, 0.5 * point)
        p = [self.expect_met(hosts, field[one] + end - field, one, one + 1) for end in ends]
        below, above = (
            np.log(probability / (1.0 - probability)) for probability in np.clip(p, TAIL, 1.0 - TAIL)
        )  # log-odds at both ends
        even = field[one] - 0.5 * point * (below + above) / np.maximum(above - below, TAIL)
        met, spread = np.arange(PROBES) * field.size // PROBES, 2.0 * (GOLDEN * np.arange(PROBES) % 1.0) - 1.0
        far = even - field + (field[met] - field[one] + PROBE_LOGITS * point * spread)[:, None]
        samples = np.array([self.expect_met(hosts, far[k], met[k], met[k] + 1) for k in range(PROBES)])
        chosen, weights = choose(np.vstack([samples * mask for mask in (finished, ~finished) if mask.any()]))
        low, high = field.min() - even.max() - reach, field.max() - even.min() + reach
        nodes, some = np.arange(low, high, point / NODES_PER_LOGIT), hosts[::CHECKED]
        curves = [self.expect_met(np.repeat(k, nodes.size), nodes + even[k] - field[k], 0, field.size) for k in chosen]
        values = np.array(curves).T

        def expected(shift: Floats) -> Floats:
            everyone: Floats = np.einsum("ij,ij->i", interpolate(nodes, values, field + shift - even), weights)
            return everyone - self.expect_met(hosts, shift, hosts, hosts + 1)

        off = expected(np.zeros(field.size))[some] - self.expect_others(some, np.zeros(some.size))
        return expected if np.abs(off).max() <= EXACT * field.size else None

    def expect_met(self, hosts: npt.NDArray[np.int64], shift: Floats, first: Any, after: Any) -> Floats:
        """Return the expected score of each shifted entrant against the opponents from `first` up to `after`."""
        sums, met = np.zeros(hosts.size), np.stack(np.broadcast_arrays(hosts, first, after), axis=1)
        lanes = np.ones((self.entered.shape[1] + len(Lane._fields), LANES))
        total = _total_met_expected if self.by_chances else _total_met_compared
        self.run(total, self.entered, self.moved(hosts, shift), met, sums, lanes)
        return sums

    def expect_others(self, hosts: npt.NDArray[np.int64], shift: Floats) -> Floats:
        """Return the expected score of each shifted entrant against everyone else."""
        return self.expect_met(hosts, shift, 0, len(self.states)) - self.expect_met(hosts, shift, hosts, hosts + 1)

    def shifts(self, begin: int, totals_before: Floats, table: Expected | None) -> tuple[Floats, list[Bound | None]]:
        """Return the shift of each entrant from `begin` on.

        At this shift, the expected score equals the actual score, unless the shift is the bound.
        """
        _, score, count = totals_before.T
        field = self.states[:, self.rating]
        rating, reach = field[begin : begin + score.size], REACH_LOGITS * self.system.points_per_logit
        expected = table or (lambda shift: self.totals(begin, shift)[:, EXPECTED])
        low, high = field.min() - reach - rating, field.max() + reach - rating
        least = expected(low) + END_TOLERANCE * count
        most = expected(high) - END_TOLERANCE * count
        wanted = np.where(score == count, score - HALF_A_DUEL, np.where(score == 0.0, HALF_A_DUEL, score))
        at_least = (score == count) | (wanted > most)
        at_most = ~at_least & ((score == 0.0) | (wanted < least))
        wanted = np.clip(wanted, least, np.maximum(least, most))
        shift = approach(lambda shift: expected(shift) - wanted, low, high)
        if table:
            some = np.flatnonzero(np.abs(wanted - 0.5 * count) > (0.5 - TAIL) * count)
            slope = (table(shift + SLOPE_STEP) - table(shift - SLOPE_STEP))[some] / (2.0 * SLOPE_STEP)
            for _ in range(2):
                off = self.expect_others(some, shift[some]) - wanted[some]
                shift[some] -= np.divide(off, slope, out=np.zeros_like(off), where=slope > 0.0)
        bounds = [AT_LEAST if one else AT_MOST if other else None for one, other in zip(at_least, at_most, strict=True)]
        return shift, bounds


def approach(excess: Expected, low: Floats, high: Floats) -> Floats:
    """Return the zeros of rising functions, each between two numbers, by Anderson and Björck's regula falsi."""
    for _ in range(FIRST_STEPS):
        middle = 0.5 * (low + high)
        is_low = excess(middle) < 0.0
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    below, above = excess(low), excess(high)
    is_found = np.zeros(low.size, np.bool_)  # zeros found so far, which stay fixed during the search
    for _ in range(STEPS):
        width = above - below
        share = np.divide(above, width, out=np.zeros_like(width), where=width != 0.0)
        moved = high - np.clip(share, 0.0, 1.0) * (high - low)
        now = excess(moved)
        is_same = (now < 0.0) == (above < 0.0)  # the other end stays, but gets less weight from now on
        factor = 1.0 - np.divide(now, above, out=np.zeros_like(now), where=above != 0.0)
        below = np.where(is_same, below * np.where(factor > 0.0, factor, 0.5), above)
        low, last = np.where(is_same, low, high), high
        high, above = np.where(is_found, high, moved), now
        is_found |= np.abs(high - last) <= NEARLY
        if is_found.all():
            break
    return high


def choose(samples: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """Choose a few columns by complete pivoting.

    Return them and the weights that express every column in terms of them.
    """
    chosen: list[int] = []
    rest = samples.copy()
    while len(chosen) < len(samples):
        row, column = np.unravel_index(np.abs(rest).argmax(), rest.shape)
        if abs(rest[row, column]) <= NEGLIGIBLE:
            break
        chosen.append(int(column))
        rest -= np.outer(rest[:, column] / rest[row, column], rest[row])
    q, r = np.linalg.qr(samples[:, chosen])
    return np.array(chosen), np.linalg.solve(r, q.T @ samples).T
