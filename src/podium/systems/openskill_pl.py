"""Weng and Lin's Plackett-Luce model: the whole ranking at once, linear in the number of teams.

Of a ranking without teams, quotients, roots and powers go in lanes, sums one by one, to the bits of `whole_ranking`.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from podium.engine.inputs import PRESENT, nobody_finished, rank_at, slot_at, weight_at
from podium.engine.large_heats import any_teams
from podium.engine.rules import enter, expect, judge_heat, kernel, rate_two
from podium.engine.steps import face_off, judge_result, rate_in_steps
from podium.engine.tables.teams import MU, RANK, SHRINK, SURPRISE, VARIANCE
from podium.kernels.exponential import exp
from podium.kernels.logarithm import log
from podium.kernels.records import LANES, add, read, read_fields, write_fields
from podium.systems import _weng_lin as shared
from podium.systems._normal_skill import State, logistic_chance
from podium.systems._weng_lin import judge_teams_of_heat

FAR = 700.0  # from here on a field's strengths no longer fit into one scale of numbers


class Number(NamedTuple):
    """One of the numbers of a lane."""

    value: float


NUMBER = Number(0.0)
# What is known of a place, best first: whose it is, and how many share its rank; the player's mean and variance; the
# strength, and what is left of the field's at this rank and at the one above; two quotients of these, then the
# evidence; sums of quotients over the ranks so far; how many have taken the rank.
SLOT, TIES, MEAN, SPREAD, STRENGTH, LEFT, ABOVE, CHANCE, FALLEN, ONCE, SQUARED, TAKEN = range(12)
SHIFT = CHANCE
ROOM = LANES, 12  # of a scratch, beside a row for each entrant: `LANES` places take twelve rows
VECTOR, VECTOR_BITS, LANE_BITS = 8, 3, 4  # places that are worked out together, and a power of two, as `LANES` is


@kernel
def number_in(table: Any, field: int, lane: int) -> float:
    """A number of a lane; `field` counts from the first of all."""
    number: float = read_fields(table, field, lane, NUMBER).value
    return number


@kernel
def first_field(place: int) -> int:
    """Where the fields of a place begin."""
    return (place >> LANE_BITS) * ROOM[1]


@kernel
def number_at(table: Any, place: int, field: int) -> float:
    """A number of a place; places count from 0."""
    return number_in(table, first_field(place) + field, place & (LANES - 1))


@kernel
def note(table: Any, place: int, field: int, value: float) -> None:
    """Put down a number of a place."""
    write_fields(table, first_field(place) + field, place & (LANES - 1), Number(value))


@kernel
def judge_players(
    params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> bool:
    """Add what a heat says of each of its players; False where it is not for these lanes, and nothing was added."""
    if (columns.played_s.size and params.partial_play) or any_teams(columns, start, stop):
        return False
    _, entering, evidence = prototypes
    table, size = scratch.room, stop - start
    best, worst = seat_players(entering, columns, start, stop, first, scratch)
    total = 0.0
    for k in range(size):
        total += number_at(table, k, SPREAD) + params.beta_squared
    inverse = 1.0 / math.sqrt(total)
    if not (best - worst) * inverse <= FAR:  # nor where a rating is not finite
        return False
    weigh_strengths(table, size, best, inverse)
    if columns.rank.size:
        share_ranks(table, size)
    sum_quotients(table, size)
    judge_places(table, size, inverse, weight_at(columns, heat))
    for k in range(size):
        lane, field = k & (LANES - 1), first_field(k) + SHIFT
        add(scratch.sums, int(number_at(table, k, SLOT)), read_fields(table, field, lane, evidence))
    return True


@kernel
def seat_players(entering: Any, columns: Any, start: int, stop: int, first: int, scratch: Any) -> tuple[float, float]:
    """Lay the players out by rank, those who tie in the order of the file; the best mean, and the worst."""
    table, size, any_tie = scratch.room, stop - start, columns.rank.size > 0
    for k in range(size if any_tie else 0):
        note(table, k, TAKEN, 0.0)
    best, worst = -math.inf, math.inf
    for i in range(start, stop):
        slot, k, taken = slot_at(columns, i, first), int(rank_at(columns, i)) - 1, 0.0
        if any_tie:
            taken = number_at(table, k, TAKEN)
            note(table, k, TAKEN, taken + 1.0)
            k += int(taken)
        me = read(scratch.entering_states, slot, entering)
        note(table, k, SLOT, float(slot))
        note(table, k, TIES, 1.0)
        note(table, k, MEAN, me.rating)
        note(table, k, SPREAD, me.deviation * me.deviation)
        best, worst = max(best, me.rating), min(worst, me.rating)
    for k in range(size, whole_vectors(size)):  # of nobody: numbers that can be worked with
        note(table, k, MEAN, best)
        for field in (TIES, SPREAD, LEFT, ABOVE, ONCE, SQUARED):
            note(table, k, field, 1.0)
    return best, worst


@kernel
def whole_vectors(size: int) -> int:
    """How many places are worked out, for so many players."""
    return (size + VECTOR - 1) >> VECTOR_BITS << VECTOR_BITS


@kernel
def weigh_strengths(table: Any, size: int, best: float, inverse: float) -> None:
    """The strength of each player, and what is left of the field's at its rank, from the bottom."""
    end = whole_vectors(size)
    for begin in range(0, end, LANES):
        at = first_field(begin)
        for lane in range(min(LANES, end - begin)):
            strength = exp((number_in(table, at + MEAN, lane) - best) * inverse)
            write_fields(table, at + STRENGTH, lane, Number(strength))
    left = 0.0
    for below in range(size):
        k = size - 1 - below
        left += number_at(table, k, STRENGTH)
        note(table, k, LEFT, left)
        note(table, k + 1, ABOVE, left)
    note(table, 0, ABOVE, 1.0)


@kernel
def share_ranks(table: Any, size: int) -> None:
    """Have those who tie know how many they are, and what is left at their rank."""
    k = 0
    while k < size:
        ties, left = number_at(table, k, TAKEN), number_at(table, k, LEFT)
        for other in range(k, k + int(ties)):
            note(table, other, TIES, ties)
            note(table, other, LEFT, left)
        k += int(ties)
        note(table, k, ABOVE, left)


@kernel
def sum_quotients(table: Any, size: int) -> None:
    """From the top: sums, over the ranks so far, of what is left at this rank over what was left at each."""
    end = whole_vectors(size)
    for begin in range(0, end, LANES):
        at = first_field(begin)
        for lane in range(min(LANES, end - begin)):
            left = number_in(table, at + LEFT, lane)
            write_fields(table, at + CHANCE, lane, Number(number_in(table, at + STRENGTH, lane) / left))
            write_fields(table, at + FALLEN, lane, Number(left / number_in(table, at + ABOVE, lane)))
    once, squared, ties = 0.0, 0.0, 0
    for k in range(size):
        if ties == 0:
            fallen, ties = number_at(table, k, FALLEN), int(number_at(table, k, TIES))
            once, squared = once * fallen + 1.0, squared * fallen * fallen + 1.0
        note(table, k, ONCE, once)
        note(table, k, SQUARED, squared)
        ties -= 1


@kernel
def judge_places(table: Any, size: int, inverse: float, weight: float) -> None:
    """How far each player's mean shifts, and by what share the variance shrinks."""
    end, cubed = whole_vectors(size), inverse * inverse * inverse
    for begin in range(0, end, LANES):
        at = first_field(begin)
        for lane in range(min(LANES, end - begin)):
            chance, variance = number_in(table, at + CHANCE, lane), number_in(table, at + SPREAD, lane)
            once, squared = (
                chance * number_in(table, at + ONCE, lane),
                chance * chance * number_in(table, at + SQUARED, lane),
            )
            surprise = (1.0 / number_in(table, at + TIES, lane) - once) * inverse
            shrink = math.sqrt(variance) * variance * ((once - squared) * cubed)
            write_fields(table, at + SHIFT, lane, Number(weight * (variance * surprise)))
            write_fields(table, at + SHIFT + 1, lane, Number(weight * shrink))


class Params(shared.Params):
    """What the rules read."""


@dataclass(frozen=True, slots=True)
class OpenskillPl(shared.WengLin):
    """Plackett-Luce: who wins, who wins among the rest, and so on."""

    name: ClassVar[str] = "openskill-pl"
    title: ClassVar[str] = "Weng-Lin, Plackett-Luce"
    formulas: ClassVar[tuple[str, ...]] = (
        "c = sqrt(sum over teams of sigma^2 + beta^2), e_i = exp(mu_i / c), S_q = sum of e over rank q and below",
        "Omega = sigma_i^2 / c (1 / ties of i - sum over ranks q up to i of e_i / S_q)",
        "Delta = sigma_i^3 / c^3 sum over ranks q up to i of e_i / S_q (1 - e_i / S_q)",
        "mu += share Omega, sigma^2 *= max(1 - share Delta, kappa); share = player's variance / team's",
    )
    duel_types = ()
    params_type = Params
    logistic: ClassVar[bool] = True
    room: ClassVar[tuple[int, int]] = ROOM


@judge_heat.register
def judge_ranking(
    params: Params, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> None:
    """In lanes where nobody has a team."""
    if nobody_finished(columns, start, stop):
        return
    if not judge_players(params, prototypes, columns, heat, start, stop, first, scratch):
        judge_teams_of_heat(params, prototypes, columns, heat, start, stop, first, scratch)


@shared.judge_teams.register
def whole_ranking(params: Params, lines: Any, teams: int, lanes: Any) -> None:
    """The strength of each team, and what is left of the field's at its rank, from the bottom; then the chances.

    Strengths are powers of e, and where they lie too far apart for one scale of numbers, their logarithms. Two never
    do: whoever is that far behind is certain to lose.
    """
    total, best, worst = 0.0, -math.inf, math.inf
    for i in range(teams):
        total += lines[i, VARIANCE] + params.beta_squared
        best, worst = max(best, lines[i, MU]), min(worst, lines[i, MU])
    inverse = 1.0 / math.sqrt(total)
    logarithms = teams > 2 and (best - worst) * inverse > FAR
    left = -math.inf if logarithms else 0.0
    for k in range(teams):
        i = teams - 1 - k
        lead = (lines[i, MU] - best) * inverse
        lines[i, SURPRISE] = lead if logarithms else exp(lead)
        left = log_sum(left, lead) if logarithms else left + lines[i, SURPRISE]
        lines[i, SHRINK] = left  # for the first of those who tie: the strength of its rank and below
    sum_chances(lines, teams, inverse, logarithms)


@kernel
def sum_chances(lines: Any, teams: int, inverse: float, logarithms: bool) -> None:
    """From the top: sums, over the ranks so far, of what is left at this rank over what was left at each."""
    once, squared, above = 0.0, 0.0, 0.0 if logarithms else 1.0
    i = 0
    while i < teams:
        ties, left = tied_with(lines, i, teams), lines[i, SHRINK]
        fallen = share_of(left, above, logarithms)
        once, squared, above = once * fallen + 1.0, squared * fallen * fallen + 1.0, left
        for k in range(i, i + ties):
            chance = share_of(lines[k, SURPRISE], left, logarithms)
            note_chances(lines, k, ties, inverse, chance * once, chance * chance * squared)
        i += ties


@kernel
def share_of(part: float, whole: float, logarithms: bool) -> float:
    """The quotient of two strengths, or that of which these are the logarithms."""
    return exp(part - whole) if logarithms else part / whole


@kernel
def log_sum(a: float, b: float) -> float:
    """ln(e^a + e^b); `b` is finite."""
    return max(a, b) + log(1.0 + exp(-abs(a - b)))


@kernel
def tied_with(lines: Any, i: int, teams: int) -> int:
    """How many teams from `i` on share its rank."""
    ties = 1
    while i + ties < teams and lines[i + ties, RANK] == lines[i, RANK]:
        ties += 1
    return ties


@kernel
def note_chances(lines: Any, k: int, ties: int, inverse: float, once: float, squared: float) -> None:
    """A team's surprise and shrink, from its chances at its rank and all better ones: their sum, and their squares'."""
    variance = lines[k, VARIANCE]
    lines[k, SURPRISE] = (1.0 / ties - once) * inverse
    lines[k, SHRINK] = math.sqrt(variance) * variance * ((once - squared) * (inverse * inverse * inverse))


@face_off.register
def lead_in_field(params: Params, a: State, b: State, place: float, other_place: float) -> shared.Difference:
    """As in every model of the five, but c is the field's."""
    x, y = enter(params, a, PRESENT), enter(params, b, PRESENT)
    variance = (x.deviation * x.deviation + params.beta_squared) + (y.deviation * y.deviation + params.beta_squared)
    return shared.difference_of(x, y, math.sqrt(variance), place, other_place)


@judge_result.register
def ranking_of_two(params: Params, difference: shared.Difference) -> shared.Verdict:
    """`whole_ranking` of two: the stronger has the strength 1, and the last of two ranks is certain."""
    inverse = 1.0 / difference.c
    weaker = exp(-abs(difference.lead) * inverse)
    leads = difference.lead >= 0.0
    e, other_e = 1.0 if leads else weaker, weaker if leads else 1.0
    left = other_e + e
    chance, last = e / left, other_e / left
    first = 0.5 * (difference.order + 1.0)  # 1, or half for each of two who tie
    cubed = inverse * inverse * inverse
    v = (first - chance) * inverse
    other_v = (first - (last + difference.order)) * inverse
    w = (chance - chance * chance) * cubed
    other_w = ((last + difference.order) - (last * last + difference.order)) * cubed
    return shared.Verdict(v, w, other_v, other_w)


@expect.register
def chance(params: Params, a: State, b: State) -> float:
    """The model's own, of a field of two."""
    return logistic_chance(params, a, b)


rate_two.register(Params, rate_in_steps)

SYSTEM = OpenskillPl
