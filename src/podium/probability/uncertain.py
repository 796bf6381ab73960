"""Performances of players with uncertain skill: normal skill plus Gumbel noise with a common scale.

Between two players of known skill, the difference is logistic, as in Elo's model, and a field finishes according to the
Plackett-Luce model. An uncertain skill is integrated out. The distribution and density of the sum are trapezoidal sums,
which converge exponentially. Both are tabulated so densely that a polynomial through a few points matches the curve
between them. All players share these points, except players whose skill is nearly certain. The error is below 1e-12.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from podium.kernels.compiled import compile_kernel, kernel
from podium.probability.ranks import CERTAIN, GumbelPerformances, Performances, grid
from podium.support.arrays import Floats

TABLE_STEP = 0.1  # step of a table, in scales of the Gumbel distribution
POINTS = 16  # points of the table for one interpolation polynomial
NARROW = 1.0 / 3.0  # deviation, in the same scales, below which the table is too coarse
NARROW_STEP = 0.6  # step of the separate sum for players below this deviation, in deviations
NORMAL_TAIL = math.sqrt(-2.0 * math.log(CERTAIN))  # deviations beyond which a tail is CERTAIN
GUMBEL_TAIL = -math.log(CERTAIN)  # scales below the location beyond which a tail is CERTAIN
MATCHED_SPREAD = math.pi / math.sqrt(3.0)  # deviation of a logistic variable with scale 1


def uncertain_performances(rating: Sequence[float], deviation: Sequence[float], noise: float) -> Performances:
    """Return the performances of a field with normal skills.

    Systems approximate a pair's probability by a logistic curve with the integral's variance. For two players, that
    curve is used exactly, so a duel's probability is always the system's own. In larger fields, the integral differs
    from the curve by at most 0.023 per pair. The largest differences occur if skills are much less certain than
    results.

    Args:
        rating: the mean skill of each entrant.
        deviation: the deviation of each entrant's skill, in the same unit.
        noise: Scale of the Gumbel noise, in the same unit.
    """
    location, widths = -np.asarray(rating, np.float64), np.asarray(deviation, np.float64)
    if location.size == 2:  # noqa: PLR2004  (a duel)
        both = math.hypot(noise, *(widths / MATCHED_SPREAD))
        return GumbelPerformances(location, np.full(2, both))
    return UncertainPerformances(location, widths, noise)


@dataclass(frozen=True)
class UncertainPerformances:
    """Performances whose logarithms are normal skill plus Gumbel noise. See `podium.probability.ranks.Performances`."""

    location: Floats
    deviation: Floats
    noise: float

    @property
    def scale(self) -> Floats:
        """The deviation of the sum of skill and noise."""
        widths: Floats = np.hypot(self.deviation, self.noise * math.pi / math.sqrt(6.0))
        return widths

    def cdf(self, u: Floats) -> Floats:
        return np.minimum(self._between(0, u), 1.0)

    def pdf(self, u: Floats) -> Floats:
        return self._between(1, u)

    def support(self) -> tuple[Floats, Floats]:
        """Return the bounds beyond which each tail has the probability CERTAIN.

        The lower tail of the Gumbel distribution is below e^t, so the lower tail of the sum is below e^(t + spread^2 /
        2), both in scales of the noise.
        """
        spread = self.deviation / self.noise
        low = GUMBEL_TAIL + spread * np.minimum(0.5 * spread, NORMAL_TAIL)
        high = math.log(GUMBEL_TAIL) + spread * NORMAL_TAIL
        return self.location - self.noise * low, self.location + self.noise * high

    @property
    def step(self) -> float:
        """The step of the table: a multiple of the sums' step, and larger if everyone is very uncertain."""
        return TABLE_STEP * self.noise * max(1, int(self.deviation.min() / self.noise))

    @cached_property
    def table(self) -> tuple[Floats, Floats]:
        """Points near the performances, one step apart, and their distribution and density: (2, points, entrants)."""
        (low, high), fine, every = self.support(), TABLE_STEP * self.noise, round(self.step / TABLE_STEP / self.noise)
        points = grid(low - POINTS * self.step, high + POINTS * self.step, self.step, 0.0)
        filled = np.zeros((2, points.size, self.location.size))
        nodes = np.arange(-math.ceil(NORMAL_TAIL / NARROW_STEP), math.ceil(NORMAL_TAIL / NARROW_STEP) + 1) * NARROW_STEP
        weights = np.exp(-0.5 * nodes * nodes) * NARROW_STEP / math.sqrt(2.0 * math.pi)
        t = points / self.noise
        _fill(t, self.location / self.noise, self.deviation / self.noise, low, high, self.noise, nodes, weights, filled)
        lattice = np.rint(points / fine).astype(np.int64)
        first = -math.ceil(GUMBEL_TAIL / TABLE_STEP)
        noises = np.arange(first, math.ceil(math.log(GUMBEL_TAIL) / TABLE_STEP) + 1) * TABLE_STEP
        density = np.exp(noises - np.exp(noises))
        growth = np.diff(-np.expm1(-np.exp(noises)), prepend=0.0)
        for i in np.flatnonzero(self.deviation >= NARROW * self.noise):
            far = NORMAL_TAIL * self.deviation[i]
            skills = np.arange(math.ceil((self.location[i] - far) / fine), (self.location[i] + far) // fine + 1.0)
            normal = np.exp(-0.5 * ((skills * fine - self.location[i]) / self.deviation[i]) ** 2)
            normal /= normal.sum()
            begin = np.searchsorted(lattice, math.ceil(low[i] / fine))
            cut = int(lattice[begin] - skills[0]) - first
            sums = np.cumsum(np.convolve(normal, growth))[cut::every]
            filled[0, begin : begin + sums.size, i] = sums
            filled[0, begin + sums.size :, i] = 1.0
            filled[1, begin : begin + sums.size, i] = np.convolve(normal, density)[cut::every]
        filled[1] /= self.noise
        return points, filled

    def _between(self, which: int, u: Floats) -> Floats:
        """Interpolate at each u, using Lagrange polynomials through the surrounding points."""
        points, filled = self.table
        first = np.clip(np.searchsorted(points, u) - POINTS // 2, 0, points.size - POINTS)
        ahead = (u - points[first])[:, None] / self.step - np.arange(POINTS)
        others = ~np.eye(POINTS, dtype=np.bool_)
        weights = [np.prod(ahead[:, other] / (k - np.flatnonzero(other)), axis=1) for k, other in enumerate(others)]
        values = np.empty((u.size, self.location.size))
        _interpolate(u, *self.support(), filled[which], first, np.stack(weights, axis=1), float(which == 0), values)
        return values


def _fill_narrow(
    points: Any, location: Any, spread: Any, low: Any, high: Any, noise: float, nodes: Any, weights: Any, filled: Any
) -> None:
    for i in range(location.size):
        if spread[i] < NARROW:
            ratio = math.exp(-spread[i] * NARROW_STEP)
            for point in range(points.size):
                t = points[point] - location[i]
                if points[point] * noise >= high[i]:
                    filled[0, point, i] = 1.0
                elif points[point] * noise > low[i]:
                    above, density = over_skill(math.exp(t - spread[i] * nodes[0]), ratio, weights)
                    filled[0, point, i], filled[1, point, i] = max(1.0 - above, 0.0), density


@kernel
def over_skill(x: float, ratio: float, weights: Any) -> tuple[float, float]:
    """Average the Gumbel distribution over the skill.

    Return the probability that t is exceeded, and the density at t.
    """
    above, density = 0.0, 0.0
    for k in range(weights.size):
        share = weights[k] * math.exp(-x)
        above += share
        density += share * x
        x *= ratio
    return above, density


def _add_points(
    u: Any, low: Any, high: Any, tabulated: Any, first: Any, weights: Any, beyond: float, values: Any
) -> None:
    for point in range(u.size):
        for i in range(low.size):
            values[point, i] = 0.0
        for k in range(weights.shape[1]):
            weight = weights[point, k]
            for i in range(low.size):
                values[point, i] += weight * tabulated[first[point] + k, i]
        for i in range(low.size):
            is_low = u[point] <= low[i] or values[point, i] < 0.0
            values[point, i] = beyond if u[point] >= high[i] else 0.0 if is_low else values[point, i]


_fill = compile_kernel(_fill_narrow)
_interpolate = compile_kernel(_add_points)
