"""Performances of players whose skill is uncertain: a normal skill, and Gumbel noise of one scale for all.

The lead of one settled player over another is then logistic, as in Elo's model, and a field of them finishes by
Plackett and Luce's. An uncertain player's skill is integrated over: distribution and density of the sum are
trapezoidal sums over the narrower of its two parts, which converge exponentially; the error is below 1e-12.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from podium.kernels.compiled import compile_kernel, kernel
from podium.probability.ranks import CERTAIN, GumbelPerformances, Performances

Floats = npt.NDArray[np.float64]
STEP = 0.3  # of a trapezoidal sum, in deviations of the normal law or scales of Gumbel's
NORMAL_TAIL = math.sqrt(-2.0 * math.log(CERTAIN))  # deviations that leave out CERTAIN
GUMBEL_TAIL = -math.log(CERTAIN)  # scales below the location that leave out CERTAIN
MATCHED_SPREAD = math.pi / math.sqrt(3.0)  # deviation of a logistic variable of scale 1


def uncertain_performances(rating: Sequence[float], deviation: Sequence[float], noise: float) -> Performances:
    """The performances of a field of normal skills.

    The systems approximate the chance of a pair by a logistic curve of the same variance as the integral. Two players
    are given that curve, so that a duel has one answer, the system's own; the integral of a larger field differs from
    it by 0.023 for a pair at most, where skills are far less certain than results.

    Args:
        rating: (entrants) the mean skill.
        deviation: (entrants) of the skill, in the same unit.
    """
    location, widths = -np.asarray(rating, np.float64), np.asarray(deviation, np.float64)
    if location.size == 2:  # noqa: PLR2004  (a duel)
        both = math.hypot(noise, *(widths / MATCHED_SPREAD))
        return GumbelPerformances(location, np.full(2, both))
    return UncertainPerformances(location, widths, noise)


@dataclass(frozen=True, slots=True)
class UncertainPerformances:
    """Logarithms that are the sum of a normal skill and Gumbel noise: see `podium.probability.ranks.Performances`."""

    location: Floats
    deviation: Floats
    noise: float

    @property
    def scale(self) -> Floats:
        """The deviation of the sum."""
        widths: Floats = np.hypot(self.deviation, self.noise * math.pi / math.sqrt(6.0))
        return widths

    def cdf(self, u: Floats) -> Floats:
        """The distribution."""
        return self._integrate(_fill_distribution, u)

    def pdf(self, u: Floats) -> Floats:
        """The density."""
        densities: Floats = self._integrate(_fill_density, u) / self.noise
        return densities

    def support(self) -> tuple[Floats, Floats]:
        """Where either tail is CERTAIN.

        Gumbel's lower tail is below e^t, so that the sum's is below e^(t + spread^2 / 2), both in scales of the noise.
        """
        spread = self.deviation / self.noise
        low = GUMBEL_TAIL + spread * np.minimum(0.5 * spread, NORMAL_TAIL)
        high = math.log(GUMBEL_TAIL) + spread * NORMAL_TAIL
        return self.location - self.noise * low, self.location + self.noise * high

    def _integrate(self, fill: Any, u: Floats) -> Floats:
        low, high = ((edge - self.location) / self.noise for edge in self.support())
        nodes = np.arange(-math.ceil(NORMAL_TAIL / STEP), math.ceil(NORMAL_TAIL / STEP) + 1) * STEP
        normal = nodes, np.exp(-0.5 * nodes * nodes) * STEP / math.sqrt(2.0 * math.pi)
        first = -math.ceil(GUMBEL_TAIL / STEP)
        nodes = np.arange(first, math.ceil(math.log(GUMBEL_TAIL) / STEP) + 1) * STEP
        weights = np.exp(nodes - np.exp(nodes))
        weights /= weights.sum()
        gumbel = nodes, weights, np.append(0.0, np.cumsum(weights))
        lead = (u[:, None] - self.location) / self.noise
        filled = np.empty_like(lead)
        fill(lead, self.deviation / self.noise, low, high, normal, gumbel, filled)
        return filled


def _distributions(lead: Any, spread: Any, low: Any, high: Any, normal: Any, gumbel: Any, filled: Any) -> None:
    points, entrants = lead.shape
    for point in range(points):
        for i in range(entrants):
            t = lead[point, i]
            if t <= low[i] or t >= high[i]:
                filled[point, i] = 0.0 if t <= low[i] else 1.0
            elif spread[i] <= 1.0:
                filled[point, i] = over_skill(t, spread[i], normal)
            else:
                filled[point, i] = over_noise(t, spread[i], gumbel)


@kernel
def over_skill(t: float, spread: float, normal: Any) -> float:
    """The chance of skill and noise below t: Gumbel's distribution, averaged over the skill."""
    nodes, weights = normal
    total = 0.0
    for k in range(nodes.size):
        total -= weights[k] * math.expm1(-math.exp(min(t - spread * nodes[k], 700.0)))
    return min(total, 1.0)


@kernel
def over_noise(t: float, spread: float, gumbel: Any) -> float:
    """The distribution, the normal one averaged over the noise."""
    nodes, weights, below = gumbel
    first, last = reach(nodes, t, spread)
    total: float = below[first]  # noise so low that hardly any skill makes up for it
    scale = 1.0 / (spread * math.sqrt(2.0))
    for k in range(first, last):
        total += weights[k] * 0.5 * math.erfc((nodes[k] - t) * scale)
    return min(total, 1.0)


def _densities(lead: Any, spread: Any, low: Any, high: Any, normal: Any, gumbel: Any, filled: Any) -> None:
    points, entrants = lead.shape
    for point in range(points):
        for i in range(entrants):
            t = lead[point, i]
            if t <= low[i] or t >= high[i]:
                filled[point, i] = 0.0
            elif spread[i] <= 1.0:
                filled[point, i] = density_over_skill(t, spread[i], normal)
            else:
                filled[point, i] = density_over_noise(t, spread[i], gumbel)


@kernel
def density_over_skill(t: float, spread: float, normal: Any) -> float:
    """Gumbel's density, averaged over the skill."""
    nodes, weights = normal
    total = 0.0
    for k in range(nodes.size):
        x = min(t - spread * nodes[k], 700.0)
        total += weights[k] * math.exp(x - math.exp(x))
    return total


@kernel
def density_over_noise(t: float, spread: float, gumbel: Any) -> float:
    nodes, weights, _ = gumbel
    first, last = reach(nodes, t, spread)
    total = 0.0
    for k in range(first, last):
        z = (nodes[k] - t) / spread
        total += weights[k] * math.exp(-0.5 * z * z)
    return total / (spread * math.sqrt(2.0 * math.pi))


@kernel
def reach(nodes: Any, t: float, spread: float) -> tuple[int, int]:
    """The nodes within the normal law's tails around t: the first, and the one after the last."""
    far, count = spread * NORMAL_TAIL, float(nodes.size)
    first = min(max(math.ceil((t - far - nodes[0]) / STEP), 0.0), count)
    last = min(max(math.floor((t + far - nodes[0]) / STEP) + 1.0, first), count)
    return int(first), int(last)


_fill_distribution = compile_kernel(_distributions)
_fill_density = compile_kernel(_densities)
