"""Weng and Lin's Bradley-Terry model with full pairing: performances are logistic, and every pair is compared."""

from dataclasses import dataclass
from typing import ClassVar

from podium.engine.rules import expect, rate_in_steps, rate_two
from podium.probability.logistic import logistic
from podium.systems import _weng_lin as shared
from podium.systems._normal_skill import logistic_chance


class Params(shared.Params):
    """Parameters of the rules."""


@dataclass(frozen=True, slots=True)
class OpenskillBt(shared.WengLin):
    """Bradley-Terry over every pair of teams."""

    name = "openskill-bt"
    title = "Weng-Lin, Bradley-Terry, full pairing"
    formulas: ClassVar[tuple[str, ...]] = (
        "c = sqrt(sigma_i^2 + sigma_q^2 + 2 beta^2), p = 1 / (1 + e^((mu_q - mu_i) / c))",
        "Omega = sum of sigma_i^2 / c (s - p), Delta = sum of sigma_i^3 / c^3 p (1 - p)",
        "mu += share Omega, sigma^2 *= max(1 - share Delta, kappa); share = player's variance / team's",
    )
    duel_types = ()
    params_type = Params
    better_in_fields = "openskill-bt-part"
    logistic: ClassVar[bool] = True


@shared.judge_pair.register
def logistic_pair(params: Params, x: float, c: float, order: float) -> tuple[float, float]:
    """Return v and w: the surprise, and the variance of the result."""
    p = logistic(x)
    return 0.5 * (order + 1.0) - p, p * (1.0 - p)


expect.register(Params, logistic_chance)
rate_two.register(Params, rate_in_steps)

SYSTEM = OpenskillBt
