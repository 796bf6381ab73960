"""Weng and Lin's Plackett-Luce model, which judges the whole ranking at once, in linear time.

In a ranking without teams, quotients, roots and powers are computed in lanes, but sums are computed one by one. The
result is exactly the same as from `whole_ranking`.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from podium.engine.inputs import PRESENT, nobody_finished, rank_at, slot_at, weight_at
from podium.engine.large_heats import any_teams
from podium.engine.rules import enter, expect, face_off, judge_heat, judge_result, kernel, rate_in_steps, rate_two
from podium.engine.tables.teams import MU, RANK, SHRINK, SURPRISE, VARIANCE
from podium.kernels.exponential import exp
from podium.kernels.logarithm import log
from podium.kernels.records import LANES, add, read, read_fields, write_fields
from podium.systems import _weng_lin as shared
from podium.systems._normal_skill import State, logistic_chance
from podium.systems._weng_lin import gamma_of, gamma_power, judge_teams_of_heat

MAX_LOG_RANGE = 700.0  # above this range of ln(strength), strengths overflow or underflow


class Number(NamedTuple):
    """A number in a lane."""

    value: float


NUMBER = Number(0.0)
# Fields of a place, best place first: its player, and how many share its rank; the player's mean and variance; the
# strength, and the strengths left at this rank and at the one above; two quotients of these, then the evidence; sums of
# quotients over the ranks so far; how many players have been placed at the rank.
SLOT, TIES, MEAN, SPREAD, STRENGTH, LEFT, ABOVE, CHANCE, FALLEN, ONCE, SQUARED, TAKEN = range(12)
SHIFT = CHANCE
WORKSPACE = LANES, 12  # columns, extra rows: `LANES` places take twelve rows
VECTOR, VECTOR_BITS, LANE_BITS = 8, 3, 4  # places computed together; like `LANES`, a power of two


@kernel
def number_in(table: Any, field: int, lane: int) -> float:
    """Return a number in a lane. `field` counts from the first field of the table."""
    number: float = read_fields(table, field, lane, NUMBER).value
    return number


@kernel
def first_field(place: int) -> int:
    """Return the first field of a place."""
    return (place >> LANE_BITS) * WORKSPACE[1]


@kernel
def number_at(table: Any, place: int, field: int) -> float:
    """Return one of a place's numbers. Places count from 0."""
    return number_in(table, first_field(place) + field, place & (LANES - 1))


@kernel
def write_number(table: Any, place: int, field: int, value: float) -> None:
    """Write one of a place's numbers."""
    write_fields(table, first_field(place) + field, place & (LANES - 1), Number(value))


@kernel
def judge_players(
    params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> bool:
    """Add a heat's evidence to its players, or return False without adding anything if lanes cannot handle the heat."""
    if (columns.played_s.size and params.partial_play) or any_teams(columns, start, stop):
        return False
    _, entering, evidence = prototypes
    table, size = scratch.workspace, stop - start
    best, worst = place_players(entering, columns, start, stop, first, scratch)
    total = 0.0
    for k in range(size):
        total += number_at(table, k, SPREAD) + params.beta_squared
    inverse = 1.0 / math.sqrt(total)
    if not (best - worst) * inverse <= MAX_LOG_RANGE:  # or a rating is not finite
        return False
    weigh_strengths(table, size, best, inverse)
    if columns.rank.size:
        share_ranks(table, size)
    sum_quotients(table, size)
    judge_places(params, table, size, inverse, weight_at(columns, heat))
    for k in range(size):
        lane, field = k & (LANES - 1), first_field(k) + SHIFT
        add(scratch.sums, int(number_at(table, k, SLOT)), read_fields(table, field, lane, evidence))
    return True


@kernel
def place_players(entering: Any, columns: Any, start: int, stop: int, first: int, scratch: Any) -> tuple[float, float]:
    """Write the players in the order of their ranks, with ties in file order. Return the best and the worst mean."""
    table, size, any_tie = scratch.workspace, stop - start, columns.rank.size > 0
    for k in range(size if any_tie else 0):
        write_number(table, k, TAKEN, 0.0)
    best, worst = -math.inf, math.inf
    for i in range(start, stop):
        slot, k, taken = slot_at(columns, i, first), int(rank_at(columns, i)) - 1, 0.0
        if any_tie:
            taken = number_at(table, k, TAKEN)
            write_number(table, k, TAKEN, taken + 1.0)
            k += int(taken)
        me = read(scratch.entering_states, slot, entering)
        write_number(table, k, SLOT, float(slot))
        write_number(table, k, TIES, 1.0)
        write_number(table, k, MEAN, me.rating)
        write_number(table, k, SPREAD, me.deviation * me.deviation)
        best, worst = max(best, me.rating), min(worst, me.rating)
    for k in range(size, whole_vectors(size)):  # fill the last vector with harmless numbers
        write_number(table, k, MEAN, best)
        for field in (TIES, SPREAD, LEFT, ABOVE, ONCE, SQUARED):
            write_number(table, k, field, 1.0)
    return best, worst


@kernel
def whole_vectors(size: int) -> int:
    """Return the number of places to compute for `size` players: a multiple of the vector length."""
    return (size + VECTOR - 1) >> VECTOR_BITS << VECTOR_BITS


@kernel
def weigh_strengths(table: Any, size: int, best: float, inverse: float) -> None:
    """Compute each player's strength, and the sum of strengths from the bottom up to the player's rank."""
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
        write_number(table, k, LEFT, left)
        write_number(table, k + 1, ABOVE, left)
    write_number(table, 0, ABOVE, 1.0)


@kernel
def share_ranks(table: Any, size: int) -> None:
    """Write, for all players in a tie, the size of the tie and the strength left at their rank."""
    k = 0
    while k < size:
        ties, left = number_at(table, k, TAKEN), number_at(table, k, LEFT)
        for other in range(k, k + int(ties)):
            write_number(table, other, TIES, ties)
            write_number(table, other, LEFT, left)
        k += int(ties)
        write_number(table, k, ABOVE, left)


@kernel
def sum_quotients(table: Any, size: int) -> None:
    """Write for each rank k the sum of L_k / L_j over the ranks j from the top to k.

    L is the strength left at a rank.
    """
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
        write_number(table, k, ONCE, once)
        write_number(table, k, SQUARED, squared)
        ties -= 1


@kernel
def judge_places(params: Any, table: Any, size: int, inverse: float, weight: float) -> None:
    """Compute the shift of each player's mean, and the lost share of the variance."""
    end, power = whole_vectors(size), gamma_power(params, inverse)
    for begin in range(0, end, LANES):
        at = first_field(begin)
        for lane in range(min(LANES, end - begin)):
            chance, variance = number_in(table, at + CHANCE, lane), number_in(table, at + SPREAD, lane)
            once, squared = (
                chance * number_in(table, at + ONCE, lane),
                chance * chance * number_in(table, at + SQUARED, lane),
            )
            surprise = (1.0 / number_in(table, at + TIES, lane) - once) * inverse
            gamma = gamma_of(params, math.sqrt(variance), float(size))
            shrink = gamma * variance * ((once - squared) * power)
            write_fields(table, at + SHIFT, lane, Number(weight * (variance * surprise)))
            write_fields(table, at + SHIFT + 1, lane, Number(weight * shrink))


class Params(shared.Params):
    """Parameters of the rules."""


@dataclass(frozen=True, slots=True)
class OpenskillPl(shared.WengLin):
    """Plackett-Luce: the probability of the winner, then of the winner among the remaining teams, and so on."""

    name = "openskill-pl"
    title = "Weng-Lin, Plackett-Luce"
    formulas = (
        "c = sqrt(sum over teams of sigma^2 + beta^2), e_i = exp(mu_i / c), S_q = sum of e over rank q and below",
        "Omega = sigma_i^2 / c (1 / ties of i - sum over ranks q up to i of e_i / S_q)",
        "Delta = sigma_i^3 / c^3 sum over ranks q up to i of e_i / S_q (1 - e_i / S_q)",
        "mu += share Omega, sigma^2 *= max(1 - share Delta, kappa); share = player's variance / team's",
    )
    duel_types = ()
    params_type = Params
    logistic: ClassVar[bool] = True
    workspace = WORKSPACE


@judge_heat.register
def judge_ranking(
    params: Params, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> None:
    """Judge a heat, in lanes if there are no teams."""
    if nobody_finished(columns, start, stop):
        return
    if not judge_players(params, prototypes, columns, heat, start, stop, first, scratch):
        judge_teams_of_heat(params, prototypes, columns, heat, start, stop, first, scratch)


@shared.judge_teams.register
def whole_ranking(params: Params, lines: Any, teams: int, lanes: Any, sought: int) -> None:
    """Compute each team's strength; then, from the bottom up, the strength left at its rank; and then the evidence.

    Strengths are powers of e, or their logarithms if they are too far apart for one floating-point scale. Two teams
    need no logarithms: a team that far behind is certain to lose.
    """
    total, best, worst = 0.0, -math.inf, math.inf
    for i in range(teams):
        total += lines[i, VARIANCE] + params.beta_squared
        best, worst = max(best, lines[i, MU]), min(worst, lines[i, MU])
    inverse = 1.0 / math.sqrt(total)
    logarithms = teams > 2 and (best - worst) * inverse > MAX_LOG_RANGE
    left = -math.inf if logarithms else 0.0
    for k in range(teams):
        i = teams - 1 - k
        lead = (lines[i, MU] - best) * inverse
        lines[i, SURPRISE] = lead if logarithms else exp(lead)
        left = log_sum(left, lead) if logarithms else left + lines[i, SURPRISE]
        lines[i, SHRINK] = left  # for the first of a tie: the strength of its rank and below
    sum_chances(params, lines, teams, inverse, logarithms)


@kernel
def sum_chances(params: Any, lines: Any, teams: int, inverse: float, logarithms: bool) -> None:
    """Write for each rank k the sum of L_k / L_j over the ranks j from the top to k.

    L is the strength left at a rank.
    """
    once, squared, above = 0.0, 0.0, 0.0 if logarithms else 1.0
    i = 0
    while i < teams:
        ties, left = tied_with(lines, i, teams), lines[i, SHRINK]
        fallen = share_of(left, above, logarithms)
        once, squared, above = once * fallen + 1.0, squared * fallen * fallen + 1.0, left
        for k in range(i, i + ties):
            chance = share_of(lines[k, SURPRISE], left, logarithms)
            surprise, spread = 1.0 / ties - chance * once, chance * once - chance * chance * squared
            gamma = gamma_of(params, math.sqrt(lines[k, VARIANCE]), float(teams))
            lines[k, SURPRISE] = surprise * inverse
            lines[k, SHRINK] = gamma * lines[k, VARIANCE] * (spread * gamma_power(params, inverse))
        i += ties


@kernel
def share_of(part: float, whole: float, logarithms: bool) -> float:
    """Return the quotient of two strengths, which are given directly or as logarithms."""
    return exp(part - whole) if logarithms else part / whole


@kernel
def log_sum(a: float, b: float) -> float:
    """Return ln(e^a + e^b) for a finite `b`."""
    return max(a, b) + log(1.0 + exp(-abs(a - b)))


@kernel
def tied_with(lines: Any, i: int, teams: int) -> int:
    """Return the number of teams, from `i` on, that share its rank."""
    ties = 1
    while i + ties < teams and lines[i + ties, RANK] == lines[i, RANK]:
        ties += 1
    return ties


@face_off.register
def lead_in_field(params: Params, a: State, b: State, place: float, other_place: float) -> shared.Difference:
    """Return the lead as in the other four models, but using the field's c."""
    x, y = enter(params, a, PRESENT), enter(params, b, PRESENT)
    variance = (x.deviation * x.deviation + params.beta_squared) + (y.deviation * y.deviation + params.beta_squared)
    return shared.difference_of(x, y, math.sqrt(variance), place, other_place)


@judge_result.register
def ranking_of_two(params: Params, difference: shared.Difference) -> shared.Verdict:
    """Judge a ranking of two, as in `whole_ranking`.

    The stronger team is given strength 1, and the last rank is certain.
    """
    inverse = 1.0 / difference.c
    weaker = exp(-abs(difference.lead) * inverse)
    leads = difference.lead >= 0.0
    e, other_e = 1.0 if leads else weaker, weaker if leads else 1.0
    left = other_e + e
    chance, last = e / left, other_e / left
    first = 0.5 * (difference.order + 1.0)  # 1, or 1/2 for a tie
    power = gamma_power(params, inverse)
    v = (first - chance) * inverse
    other_v = (first - (last + difference.order)) * inverse
    w = (chance - chance * chance) * power
    other_w = ((last + difference.order) - (last * last + difference.order)) * power
    return shared.Verdict(v, w, other_v, other_w)


expect.register(Params, logistic_chance)
rate_two.register(Params, rate_in_steps)

SYSTEM = OpenskillPl
