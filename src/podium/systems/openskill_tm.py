"""Weng and Lin's Thurstone-Mosteller model with full pairing: performances are normal, and every pair is compared."""

import math
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from podium.engine.rules import kernel, rate_in_steps, rate_two
from podium.engine.system import parameter
from podium.support.arrays import Floats, Mask
from podium.systems import _weng_lin as shared

LEAST_CHANCE, LEAST_DRAW = sys.float_info.epsilon, 1e-5
SQRT_2, SQRT_2_PI = math.sqrt(2.0), math.sqrt(2.0 * math.pi)
CUT_OFF = 8.1258906647  # standard deviations beyond which the normal distribution leaves less than LEAST_CHANCE


class Params(shared.Params):
    """Parameters of the rules."""


@dataclass(frozen=True, slots=True)
class OpenskillTm(shared.WengLin):
    """Thurstone-Mosteller over every pair of teams."""

    name = "openskill-tm"
    title = "Weng-Lin, Thurstone-Mosteller, full pairing"
    formulas: ClassVar[tuple[str, ...]] = (
        "c = sqrt(sigma_i^2 + sigma_q^2 + 2 beta^2), x = (mu_i - mu_q) / c, t = margin / c",
        "Omega = sum of sigma_i^2 / c V(x, t), Delta = sum of sigma_i^3 / c^3 W(x, t); for a draw V~ and W~",
        "mu += share Omega, sigma^2 *= max(1 - share Delta, kappa); share = player's variance / team's",
    )
    limits = (
        "as in the openskill package, V and W of a win whose chance was below 2.2e-16 (8.1 c behind) are their limits",
        "so is V of a draw below 1e-5; such results move ratings by the lead, and leads can grow without bounds",
    )
    instead = "rate such fields with openskill-bt, openskill-pl or elo, and each heat as a separate event"
    params_type = Params
    better_in_fields = "openskill-tm-part"
    equals_drift = True  # full pairing of normal performances overshoots

    draw_margin: float = parameter(0.1, "half-width of the draw margin", unit="points", low=0.0, high=1e6)

    def at_limit(self, states: Floats) -> Mask:
        """Return a mask of the players who are so far from a newcomer that one of the two probabilities is cut off."""
        lead = np.abs(states[:, self.column("rating")] - self.initial)
        variance = states[:, self.column("deviation")] ** 2 + self.deviation**2 + 2.0 * self.beta**2
        return lead > CUT_OFF * self.spread * np.sqrt(variance)


@shared.judge_pair.register
def normal_pair(params: Params, x: float, c: float, order: float) -> tuple[float, float]:
    """Return v and w for a pair: the authors' V and W for a win, a loss or a draw."""
    t = params.margin / c
    if order == 0.0:
        return draw(x, t)
    v, w = win(order * x, t)
    return order * v, w


# The cut-offs were made for these forms of both functions. Far below 0, the probability has few digits, and ratings
# that diverge depend on the last one, so rounding must match the C library.


@kernel
def pdf(x: float) -> float:
    """Return the standard normal density."""
    return math.exp(-0.5 * x * x) / SQRT_2_PI


@kernel
def below(x: float) -> float:
    """Return the standard normal distribution function."""
    return 0.5 * (1.0 + math.erf(x / SQRT_2))


@kernel
def win(x: float, t: float) -> tuple[float, float]:
    """Return V and W for a win, with the authors' limits for nearly impossible wins."""
    lead = x - t
    chance = below(lead)
    if chance < LEAST_CHANCE:
        return -lead, 1.0 if x < 0.0 else 0.0
    v = pdf(lead) / chance
    return v, v * (v + lead)


@kernel
def draw(x: float, t: float) -> tuple[float, float]:
    """Return V and W for a draw, with the authors' limits for nearly impossible draws."""
    near, far = t - abs(x), -t - abs(x)
    chance = below(near) - below(far)
    v = -x - t if x < 0.0 else -x + t
    if chance >= LEAST_DRAW:
        v = (pdf(far) - pdf(near)) / chance
        v = -v if x < 0.0 else v
    if chance < LEAST_CHANCE:
        return v, 1.0
    return v, (near * pdf(near) - far * pdf(far)) / chance + v * v


rate_two.register(Params, rate_in_steps)

SYSTEM = OpenskillTm
