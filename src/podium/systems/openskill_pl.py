"""Weng and Lin's Plackett-Luce model: the whole ranking at once, linear in the number of teams."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from podium.engine.fast.steps import face_off, judge_result, rate_in_steps
from podium.engine.inputs import PRESENT, nobody_finished
from podium.engine.rules import enter, expect, judge_heat, kernel, rate_two
from podium.engine.tables.teams import MU, RANK, SHRINK, SURPRISE, VARIANCE
from podium.kernels.exponential import exp
from podium.kernels.logarithm import log
from podium.systems import _weng_lin as shared
from podium.systems import _weng_lin_pairs as pairs
from podium.systems._normal_skill import State
from podium.systems._ranked_players import FAR, ROOM, judge_players
from podium.systems._weng_lin import judge_teams_of_heat


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


@pairs.judge_teams.register
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
    return shared.logistic_chance(params, a, b)


rate_two.register(Params, rate_in_steps)

SYSTEM = OpenskillPl
