"""Weng and Lin's Plackett-Luce model: the whole ranking at once, linear in the number of teams."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from podium.engine.duels.steps import face_off, judge_result, rate_in_steps
from podium.engine.inputs import PRESENT
from podium.engine.rules import enter, expect, kernel, rate_two
from podium.engine.teams import MU, RANK, SHRINK, SURPRISE, VARIANCE
from podium.systems import _weng_lin as shared

FAR = 340.0  # from here on a field's strengths, or their squares, no longer fit into one scale of numbers


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


@shared.judge_teams.register
def whole_ranking(params: Params, lines: Any, teams: int) -> None:
    """The chances of each team at each rank, in a scale that all strengths of the field fit into."""
    total, best, worst = 0.0, -math.inf, math.inf
    for i in range(teams):
        total += lines[i, VARIANCE] + params.beta_squared
        best, worst = max(best, lines[i, MU]), min(worst, lines[i, MU])
    c = math.sqrt(total)
    if best - worst <= FAR * c:
        rank_by_strengths(lines, teams, best, c)
    else:
        rank_by_logarithms(lines, teams, best, c)


@kernel
def rank_by_strengths(lines: Any, teams: int, best: float, c: float) -> None:
    """The ranking from the bottom for the strength left at each rank, then from the top for the sums."""
    left = 0.0
    for k in range(teams):
        i = teams - 1 - k
        lines[i, SURPRISE] = math.exp((lines[i, MU] - best) / c)
        left += lines[i, SURPRISE]
        lines[i, SHRINK] = left  # for the first of those who tie: the strength of its rank and below
    once, squared = 0.0, 0.0
    i = 0
    while i < teams:
        ties = tied_with(lines, i, teams)
        share = 1.0 / lines[i, SHRINK]
        once += share
        squared += share * share
        for k in range(i, i + ties):
            e = lines[k, SURPRISE]
            note_chances(lines, k, ties, c, e * once, e * e * squared)
        i += ties


@kernel
def rank_by_logarithms(lines: Any, teams: int, best: float, c: float) -> None:
    """Rate teams whose strengths lie too far apart to be summed: every sum is held as its logarithm."""
    left = -math.inf
    for k in range(teams):
        i = teams - 1 - k
        lines[i, SURPRISE] = (lines[i, MU] - best) / c
        left = log_sum(left, lines[i, SURPRISE])
        lines[i, SHRINK] = left
    once, squared = -math.inf, -math.inf
    i = 0
    while i < teams:
        ties = tied_with(lines, i, teams)
        left = lines[i, SHRINK]
        once, squared = log_sum(once, -left), log_sum(squared, -2.0 * left)
        for k in range(i, i + ties):
            lead = lines[k, SURPRISE]
            note_chances(lines, k, ties, c, math.exp(lead + once), math.exp(2.0 * lead + squared))
        i += ties


@kernel
def log_sum(a: float, b: float) -> float:
    """ln(e^a + e^b); `b` is finite."""
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


@kernel
def tied_with(lines: Any, i: int, teams: int) -> int:
    """How many teams from `i` on share its rank."""
    ties = 1
    while i + ties < teams and lines[i + ties, RANK] == lines[i, RANK]:
        ties += 1
    return ties


@kernel
def note_chances(lines: Any, k: int, ties: int, c: float, once: float, squared: float) -> None:
    """A team's surprise and shrink, from its chances at its rank and all better ones: their sum, and their squares'."""
    variance = lines[k, VARIANCE]
    lines[k, SURPRISE] = (1.0 / ties - once) / c
    lines[k, SHRINK] = variance * math.sqrt(variance) / (c * c * c) * (once - squared)


@face_off.register
def lead_in_field(
    params: Params, a: shared.State, b: shared.State, place: float, other_place: float
) -> shared.Difference:
    """As in every model of the five, but c is the field's."""
    x, y = enter(params, a, PRESENT), enter(params, b, PRESENT)
    variance = (x.deviation * x.deviation + params.beta_squared) + (y.deviation * y.deviation + params.beta_squared)
    return shared.difference_of(x, y, math.sqrt(variance), place, other_place)


@judge_result.register
def ranking_of_two(params: Params, difference: shared.Difference) -> shared.Verdict:
    """`whole_ranking` of two: the stronger has the strength 1, and the last of two ranks is certain."""
    lead, c = difference.lead, difference.c
    ties = 2.0 - difference.order
    if abs(lead) > FAR * c:
        return ranking_of_two_far_apart(min(lead, 0.0) / c, min(-lead, 0.0) / c, ties, c)
    weaker = math.exp(-abs(lead) / c)
    e, other_e = (1.0, weaker) if lead >= 0.0 else (weaker, 1.0)
    share, last_share = 1.0 / (other_e + e), 1.0 / other_e
    squared = share * share
    if ties > 1.0:
        return verdict_of_two(ties, c, e * share, e * e * squared, other_e * share, other_e * other_e * squared)
    once_twice, squared_twice = share + last_share, squared + last_share * last_share
    last, last_squared = other_e * once_twice, other_e * other_e * squared_twice
    return verdict_of_two(ties, c, e * share, e * e * squared, last, last_squared)


@kernel
def ranking_of_two_far_apart(lead: float, other_lead: float, ties: float, c: float) -> shared.Verdict:
    """`rank_by_logarithms` of two."""
    last = log_sum(-math.inf, other_lead)
    left = log_sum(last, lead)
    once, squared = log_sum(-math.inf, -left), log_sum(-math.inf, -2.0 * left)
    e, e_squared = math.exp(lead + once), math.exp(2.0 * lead + squared)
    if ties == 1.0:
        once, squared = log_sum(once, -last), log_sum(squared, -2.0 * last)
    other_e, other_squared = math.exp(other_lead + once), math.exp(2.0 * other_lead + squared)
    return verdict_of_two(ties, c, e, e_squared, other_e, other_squared)


@kernel
def verdict_of_two(
    ties: float, c: float, once: float, squared: float, other_once: float, other_squared: float
) -> shared.Verdict:
    """The surprise and the variance of each one's chances."""
    first = 1.0 / ties
    return shared.Verdict((first - once) / c, once - squared, (first - other_once) / c, other_once - other_squared)


@expect.register
def chance(params: Params, a: shared.State, b: shared.State) -> float:
    """The model's own, of a field of two."""
    return shared.logistic_chance(params, a, b)


rate_two.register(Params, rate_in_steps)

SYSTEM = OpenskillPl
