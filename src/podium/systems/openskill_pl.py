"""Weng and Lin's Plackett-Luce model: the whole ranking at once, linear in the number of teams."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from podium.rules import expect
from podium.systems import _weng_lin as shared
from podium.teams import MU, RANK, SHRINK, SURPRISE, VARIANCE

LEAST = 1e-300  # of the strength left in a field


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
    """The ranking from the bottom for the strength left at each rank, then from the top for the sums."""
    total, best = 0.0, -math.inf
    for i in range(teams):
        total += lines[i, VARIANCE] + params.beta_squared
        best = max(best, lines[i, MU])
    c = math.sqrt(total)
    left = 0.0
    for k in range(teams):
        i = teams - 1 - k
        lines[i, SURPRISE] = math.exp((lines[i, MU] - best) / c)
        left += lines[i, SURPRISE]
        lines[i, SHRINK] = left  # for the first of those who tie: the strength of its rank and below
    once, squared = 0.0, 0.0
    i = 0
    while i < teams:
        ties = 1
        while i + ties < teams and lines[i + ties, RANK] == lines[i, RANK]:
            ties += 1
        share = 1.0 / max(lines[i, SHRINK], LEAST)
        once += share
        squared += share * share
        for k in range(i, i + ties):
            e, variance = lines[k, SURPRISE], lines[k, VARIANCE]
            lines[k, SURPRISE] = (1.0 / ties - e * once) / c
            lines[k, SHRINK] = variance * math.sqrt(variance) / (c * c * c) * (e * once - e * e * squared)
        i += ties


@expect.register
def chance(params: Params, a: shared.State, b: shared.State) -> float:
    """The model's own, of a field of two."""
    return shared.logistic_chance(params, a, b)


SYSTEM = OpenskillPl
