"""Distributions of ranks and finishing orders, by integrating over one independent performance at a time.

If one entrant's performance is x, the number of others ahead is a sum of independent Bernoulli variables. Adding one
opponent to its distribution takes n steps, so a field takes n^2 steps. Removing one entrant again takes n steps.
Nothing is enumerated or sampled. Performances are represented by their logarithm u, and lower is better.
"""

import math
from functools import cache
from itertools import permutations
from typing import Any, Protocol

import numpy as np
from numpy.polynomial import legendre

from podium.kernels.compiled import compile_kernel, kernel
from podium.probability import normal
from podium.support.arrays import Array, Floats, Integers, Mask
from podium.support.immutable import immutable

CERTAIN = 1e-17  # probability left out at either end of a performance
NO_CHANCE = 1e-34  # counts with smaller probabilities are dropped; a thousand of them do not change a digit
CONVERGED = 1e-7  # a smaller change leaves an error of about its square, because convergence is exponential
FIRST_STEP, MAX_HALVINGS = 0.5, 12
CHUNK = 4096  # number of integration points processed at a time


class Performances(Protocol):
    """The independent performances in a field, one per entrant."""

    @property
    def scale(self) -> Floats:
        """The approximate width of each logarithm's distribution."""

    def cdf(self, u: Floats) -> Floats:
        """Return each entrant's probability of being better than each u, as an array of shape (points, entrants)."""

    def pdf(self, u: Floats) -> Floats:
        """Return the density of each entrant's logarithm at each u, as an array of shape (points, entrants)."""

    def support(self) -> tuple[Floats, Floats]:
        """Return the lower and upper bounds of each entrant's logarithm."""


@immutable
class GammaPerformances:
    """Performances with gamma distributions of the same integer shape."""

    log_rate: Floats
    shape: int

    @property
    def scale(self) -> Floats:
        return np.full(self.log_rate.size, 1.0 / math.sqrt(self.shape))

    def cdf(self, u: Floats) -> Floats:
        """Return 1 - e^-z * (sum over k < g of z^k / k!), where z is the rate times e^u."""
        z = np.exp(np.minimum(u[:, None] + self.log_rate, 700.0))
        term, total = np.exp(-z), np.zeros_like(z)
        for k in range(self.shape):
            total += term
            term = term * z / (k + 1.0)
        return np.clip(1.0 - total, 0.0, 1.0)

    def pdf(self, u: Floats) -> Floats:
        """Return z^g e^-z / (g - 1)!."""
        log_z = np.minimum(u[:, None] + self.log_rate, 700.0)
        density: Floats = np.exp(self.shape * log_z - np.exp(log_z) - math.lgamma(self.shape))
        return density

    def support(self) -> tuple[Floats, Floats]:
        """Return the bounds: where z^g / g! = CERTAIN, and where e^-z vanishes."""
        low = (math.log(CERTAIN) + math.lgamma(self.shape + 1.0)) / self.shape
        return low - self.log_rate, math.log(60.0 + 3.0 * self.shape) - self.log_rate


@immutable
class GumbelPerformances:
    """Performances whose logarithms have the distribution 1 - exp(-e^((u - location) / scale)).

    With a common scale, differences are logistic, and a field finishes according to the Plackett-Luce model.
    """

    location: Floats
    scale: Floats

    def cdf(self, u: Floats) -> Floats:
        distribution: Floats = -np.expm1(-np.exp(np.minimum((u[:, None] - self.location) / self.scale, 700.0)))
        return distribution

    def pdf(self, u: Floats) -> Floats:
        t = np.minimum((u[:, None] - self.location) / self.scale, 700.0)
        density: Floats = np.exp(t - np.exp(t)) / self.scale
        return density

    def support(self) -> tuple[Floats, Floats]:
        """Return the bounds beyond which each tail has the probability CERTAIN."""
        far = -math.log(CERTAIN)
        return self.location - far * self.scale, self.location + math.log(far) * self.scale


@immutable
class NormalPerformances:
    """Performances whose logarithms are normal."""

    location: Floats
    scale: Floats

    def cdf(self, u: Floats) -> Floats:
        deviations: Floats = (u[:, None] - self.location) / self.scale
        _replace_by_distribution(deviations.reshape(-1))
        return deviations

    def pdf(self, u: Floats) -> Floats:
        t = (u[:, None] - self.location) / self.scale
        density: Floats = np.exp(-0.5 * t * t) / (math.sqrt(2.0 * math.pi) * self.scale)
        return density

    def support(self) -> tuple[Floats, Floats]:
        """Return the bounds, which are 8.6 deviations from the means."""
        far = math.sqrt(-2.0 * math.log(CERTAIN))
        return self.location - far * self.scale, self.location + far * self.scale


def rank_distribution(field: Performances, selection: Mask | None = None) -> Floats:
    """Return each entrant's probability of each rank, accurate to 1e-9.

    Args:
        selection: a mask of the entrants whose ranks are needed. Default: all.

    Returns:
        A float64 array of shape (entrants, ranks), with the best rank first. The rows of all other entrants are 0.
    """
    rows = np.ones(field.scale.size, np.bool_) if selection is None else selection
    step = FIRST_STEP * float(field.scale.min())
    ranks = integrate(field, rows, step, 0.0)
    for _ in range(MAX_HALVINGS):
        finer = 0.5 * (ranks + integrate(field, rows, step, 0.5))
        moved = float(np.abs(finer - ranks).max(initial=0.0))
        ranks, step = finer, 0.5 * step
        if moved < CONVERGED:
            break
    return np.clip(ranks, 0.0, 1.0)


def field_strength(field: Performances, top: int) -> float:
    """Return 1 / (probability that the last entrant finishes among the first `top`). It is 1 if this is certain."""
    size = field.scale.size
    if top >= size:
        return 1.0
    chance = float(rank_distribution(field, np.arange(size) == size - 1)[-1, :top].sum())
    return 1.0 / chance if chance > 0.0 else math.inf


def integrate(field: Performances, rows: Mask, step: float, offset: float) -> Floats:
    """Return the trapezoidal sum over the points (k + offset) * step that any selected entrant may reach."""
    n = rows.size
    ranks = np.zeros((n, n))
    low, high = field.support()
    points = grid(low[rows], high[rows], step, offset)
    for first in range(0, points.size, CHUNK):
        u = points[first : first + CHUNK]
        add_ranks(field.cdf(u), np.where(rows, field.pdf(u) * step, 0.0), ranks)
    return ranks


def grid(low: Floats, high: Floats, step: float, offset: float) -> Floats:
    """Return the points (k + offset) * step that lie within any of the intervals."""
    order = np.argsort(low)
    parts, reached = [], -math.inf
    for start, stop in zip(low[order], high[order], strict=True):
        first, last = max(math.floor(start / step), reached + 1), math.ceil(stop / step)
        if last >= first:
            parts.append(np.arange(first, last + 1))
            reached = last
    return (np.concatenate(parts) + offset) * step if parts else np.empty(0)


def add_ranks(cdf: Floats, weight: Floats, ranks: Floats) -> None:
    """For each point and entrant, add the weight times the distribution of the number of others who are ahead.

    Args:
        cdf: the probability of being ahead of each point, of shape (points, entrants).
        weight: the probability that the entrant is at each point, of shape (points, entrants).
        ranks: an array of shape (entrants, entrants). The result is added to it.
    """
    counts = np.empty(ranks.shape[0] + 1)
    _add_ranks(np.ascontiguousarray(cdf), np.ascontiguousarray(weight), counts, ranks)


def _count_ranks(cdf: Any, weight: Any, counts: Any, ranks: Any) -> None:
    points, n = cdf.shape
    for point in range(points):
        most = 0.0
        for i in range(n):
            most = max(most, weight[point, i])
        if most < CERTAIN:
            continue
        certain = 0
        for j in range(n):
            certain += 1 if cdf[point, j] >= 1.0 else 0
        size, low, high = count_ahead(cdf, point, counts)
        for i in range(n):
            if weight[point, i] >= CERTAIN:
                add_others(counts, size, low, high, certain, cdf[point, i], weight[point, i], ranks, i)


@kernel
def count_ahead(cdf: Any, point: int, counts: Any) -> tuple[int, int, int]:
    """Fill `counts` with the distribution of the number of entrants ahead, among those for whom it is uncertain."""
    size, low, high = 0, 0, 0
    counts[0] = 1.0
    for j in range(cdf.shape[1]):
        p = cdf[point, j]
        if 0.0 < p < 1.0:
            counts[high + 1] = counts[high] * p
            for k in range(high, low, -1):
                counts[k] = counts[k] * (1.0 - p) + counts[k - 1] * p
            counts[low] *= 1.0 - p
            size, high = size + 1, high + 1
            while counts[low] < NO_CHANCE:
                low += 1
            while counts[high] < NO_CHANCE:
                high -= 1
    return size, low, high


@kernel
def add_others(
    counts: Any, size: int, low: int, high: int, certain: int, p: float, weight: float, ranks: Any, i: int
) -> None:
    """Add the distribution without entrant i, who was included with probability p.

    Divide from the side on which errors shrink.
    """
    if not 0.0 < p < 1.0:  # not one of the uncertain entrants
        first = certain - 1 if p >= 1.0 else certain
        for k in range(low, high + 1):
            ranks[i, first + k] += weight * counts[k]
        return
    q, others = 1.0 - p, 0.0
    if p <= q:
        for k in range(low, min(high, size - 1) + 1):
            others = counts[k] / q - p / q * others
            ranks[i, certain + k] += weight * others
        return
    for k in range(high, max(low, 1) - 1, -1):
        others = counts[k] / p - q / p * others
        ranks[i, certain + k - 1] += weight * others


_add_ranks = compile_kernel(_count_ranks)


def _fill_distribution(values: Any) -> None:
    """Replace each standard deviation by the normal distribution function at that point."""
    for k in range(values.size):
        values[k] = normal.distribution(values[k])


_replace_by_distribution = compile_kernel(_fill_distribution)


Orders = Integers
NODES = 16  # Gauss-Legendre nodes per panel; exact to the last digit for panels as wide as the narrowest performance
SAMPLE_STEP = 0.1  # step in widths of the narrowest performance; distributions are interpolated linearly


@cache
def panel() -> tuple[Floats, Floats, Array]:
    """Return the nodes of a panel, their weights, and the integrals of the nodes' polynomials up to each node."""
    nodes, weights = legendre.leggauss(NODES)
    powers = np.linalg.inv(legendre.legvander(nodes, NODES - 1))  # polynomials that are 1 at one node, else 0
    return nodes, weights, (legendre.legvander(nodes, NODES) @ legendre.legint(powers, lbnd=-1)).T


def order_chances(field: Performances) -> tuple[Orders, Floats]:
    """Return the probability of every order of a small field, integrating over one performance after another.

    Returns:
        The orders, best first, as in `itertools.permutations`, in an array of shape (n!, n), and their probabilities,
        accurate to 1e-12.
    """
    size, width = field.scale.size, float(field.scale.min())
    nodes, weights, rising = panel()
    panels = grid(*field.support(), width, 0.0)
    points = panels[:, None] + 0.5 * width * (nodes + 1.0)
    density = field.pdf(points.ravel()).T.reshape(size, *points.shape) * 0.5 * width
    chances: list[float] = []

    def extend(last: tuple[int, ...], ahead: Floats) -> None:
        """Extend an order with each remaining entrant as the next to finish.

        Args:
            last: The entrants ahead, in order.
            ahead: For each point, the probability that they have finished by then in this order.
        """
        for entrant in range(size):
            if entrant not in last:
                here = density[entrant] * ahead
                whole = np.cumsum(here @ weights)
                if len(last) + 1 == size:
                    chances.append(float(whole[-1]))
                else:
                    extend((*last, entrant), (whole - here @ weights)[:, None] + here @ rising)

    extend((), np.ones(points.shape))
    return np.array(list(permutations(range(size)))), np.array(chances)


def sample_orders(field: Performances, uniform: Floats) -> Orders:
    """Return the finishing orders, best first, for performances at these quantiles.

    Both arrays have shape (draws, n).
    """
    low, high = field.support()
    points = grid(low, high, SAMPLE_STEP * float(field.scale.min()), 0.0)
    distribution = field.cdf(points)
    sampled = [np.interp(uniform[:, i], distribution[:, i], points) for i in range(uniform.shape[1])]
    orders: Orders = np.argsort(np.stack(sampled, axis=1), axis=1, kind="stable")
    return orders
