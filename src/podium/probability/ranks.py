"""Who finishes where: ranks and orders of independent performances, by integrating over one of them at a time.

Given a performance x of one entrant, how many of the others are ahead is a sum of independent yes and no, whose
distribution takes one step an opponent: n^2 steps for all of a field, and n more to leave one entrant out. Nothing
is enumerated, nothing drawn. A performance is given by its logarithm u; lower is better.
"""

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from numpy.polynomial import legendre

from podium.errors import ParameterError
from podium.kernels.compiled import compile_kernel, kernel

Floats = npt.NDArray[np.float64]
CERTAIN = 1e-17  # what is left out at either end of a performance
NO_CHANCE = 1e-34  # of so many being ahead; a thousand of them together are no digit of any chance
CONVERGED = 1e-7  # a change below it leaves an error of about its square: the sum converges exponentially
FIRST_STEP, MOST_HALVINGS = 0.5, 12
CHUNK = 4096  # points of integration at a time
MOST_BINS = 2_000_000


class Performances(Protocol):
    """Independent performances of a field, an entry each."""

    @property
    def scale(self) -> Floats:
        """About the width of each entrant's logarithm: (entrants)."""

    def cdf(self, u: Floats) -> Floats:
        """The chance of each entrant to be better than u: (points, entrants)."""

    def pdf(self, u: Floats) -> Floats:
        """The density of each entrant's logarithm at u: (points, entrants)."""

    def support(self) -> tuple[Floats, Floats]:
        """Below and above which no entrant's logarithm ever is: (entrants) each."""


@dataclass(frozen=True, slots=True)
class GammaPerformances:
    """Performances with a gamma density of one whole shape."""

    log_rate: Floats
    shape: int

    @property
    def scale(self) -> Floats:
        return np.full(self.log_rate.size, 1.0 / math.sqrt(self.shape))

    def cdf(self, u: Floats) -> Floats:
        """1 - e^-z sum over k < g of z^k / k!, with z the rate times e^u."""
        z = np.exp(np.minimum(u[:, None] + self.log_rate, 700.0))
        term, total = np.exp(-z), np.zeros_like(z)
        for k in range(self.shape):
            total += term
            term = term * z / (k + 1.0)
        return np.clip(1.0 - total, 0.0, 1.0)

    def pdf(self, u: Floats) -> Floats:
        """z^g e^-z / (g - 1)!."""
        log_z = np.minimum(u[:, None] + self.log_rate, 700.0)
        density: Floats = np.exp(self.shape * log_z - np.exp(log_z) - math.lgamma(self.shape))
        return density

    def support(self) -> tuple[Floats, Floats]:
        """From z^g / g! = CERTAIN to far past where e^-z is."""
        low = (math.log(CERTAIN) + math.lgamma(self.shape + 1.0)) / self.shape
        return low - self.log_rate, math.log(60.0 + 3.0 * self.shape) - self.log_rate


@dataclass(frozen=True, slots=True)
class GumbelPerformances:
    """Logarithms with the distribution 1 - exp(-e^((u - location) / scale)).

    At one scale the lead of one over another is logistic, and a field finishes by Plackett and Luce's model.
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
        """Where either tail is CERTAIN."""
        far = -math.log(CERTAIN)
        return self.location - far * self.scale, self.location + math.log(far) * self.scale


@dataclass(frozen=True, slots=True)
class NormalPerformances:
    """Normal logarithms."""

    location: Floats
    scale: Floats

    def cdf(self, u: Floats) -> Floats:
        from scipy.special import ndtr  # noqa: PLC0415  (a third of a second, and only here)

        distribution: Floats = ndtr((u[:, None] - self.location) / self.scale)
        return distribution

    def pdf(self, u: Floats) -> Floats:
        t = (u[:, None] - self.location) / self.scale
        density: Floats = np.exp(-0.5 * t * t) / (math.sqrt(2.0 * math.pi) * self.scale)
        return density

    def support(self) -> tuple[Floats, Floats]:
        """8.6 deviations."""
        far = math.sqrt(-2.0 * math.log(CERTAIN))
        return self.location - far * self.scale, self.location + far * self.scale


def rank_distribution(field: Performances, selection: npt.NDArray[np.bool_] | None = None) -> Floats:
    """The chance of each entrant to take each rank.

    Args:
        selection: (entrants) whose ranks to work out; all where None.

    Returns:
        (entrants, ranks) float64, the best rank first; rows that are not selected are 0. Within 1e-9.
    """
    rows = np.ones(field.scale.size, np.bool_) if selection is None else selection
    step = FIRST_STEP * float(field.scale.min())
    ranks = integrate(field, rows, step, 0.0)
    for _ in range(MOST_HALVINGS):
        finer = 0.5 * (ranks + integrate(field, rows, step, 0.5))
        moved = float(np.abs(finer - ranks).max(initial=0.0))
        ranks, step = finer, 0.5 * step
        if moved < CONVERGED:
            break
    return np.clip(ranks, 0.0, 1.0)


def field_strength(field: Performances, top: int) -> float:
    """One over the chance of the last entrant to finish among the first `top`; 1 where it cannot miss."""
    size = field.scale.size
    if top >= size:
        return 1.0
    chance = float(rank_distribution(field, np.arange(size) == size - 1)[-1, :top].sum())
    return 1.0 / chance if chance > 0.0 else math.inf


def integrate(field: Performances, rows: npt.NDArray[np.bool_], step: float, offset: float) -> Floats:
    """The trapezoidal sum over the points (k + offset) step at which any selected entrant may perform."""
    n = rows.size
    ranks = np.zeros((n, n))
    low, high = field.support()
    points = grid(low[rows], high[rows], step, offset)
    for first in range(0, points.size, CHUNK):
        u = points[first : first + CHUNK]
        add_ranks(field.cdf(u), np.where(rows, field.pdf(u) * step, 0.0), ranks)
    return ranks


def grid(low: Floats, high: Floats, step: float, offset: float) -> Floats:
    """The points (k + offset) step within any of the intervals."""
    order = np.argsort(low)
    parts, reached = [], -math.inf
    for start, stop in zip(low[order], high[order], strict=True):
        first, last = max(math.floor(start / step), reached + 1), math.ceil(stop / step)
        if last >= first:
            parts.append(np.arange(first, last + 1))
            reached = last
    return (np.concatenate(parts) + offset) * step if parts else np.empty(0)


def tied_rank_distribution(field: Performances, resolution: float) -> Floats:
    """The chances of ranks where a clock cuts performances to multiples of `resolution`; who ties shares the best rank.

    Rows sum to 1; columns need not, as ranks are shared.
    """
    n = field.scale.size
    worst = float(np.exp(field.support()[1].max()))
    count = worst / resolution if resolution > 0.0 else math.inf
    if not count <= MOST_BINS:
        raise ParameterError(f"a resolution of {resolution:g} is too fine for performances of up to {worst:.3g}")
    ranks = np.zeros((n, n))
    total = math.ceil(count) + 1
    for first in range(0, total, CHUNK):
        edges = np.arange(first, min(first + CHUNK, total) + 1) * resolution
        with np.errstate(divide="ignore"):
            cdf = field.cdf(np.log(edges))
        add_ranks(cdf[:-1], np.diff(cdf, axis=0), ranks)
    return np.clip(ranks, 0.0, 1.0)


def add_ranks(cdf: Floats, weight: Floats, ranks: Floats) -> None:
    """Add, for each point and entrant, its weight times the distribution of how many others are ahead.

    Args:
        cdf: (points, entrants) the chance to be ahead of the point.
        weight: (points, entrants) of each entrant being there.
        ranks: (entrants, entrants) is added to.
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
    """Fill `counts` with the distribution of how many are ahead, of those who may be or not."""
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
    """Add the distribution without entrant i, who is counted with p: divided out from where errors do not grow."""
    if not 0.0 < p < 1.0:  # not counted among those who may be ahead or not
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


Orders = npt.NDArray[np.int64]
NODES = 16  # of Gauss and Legendre's, in a panel as wide as the narrowest performance: no digit is lost
DRAWN_STEP = 0.1  # of the narrowest performance, between which a distribution is taken as straight


def order_chances(field: Performances) -> tuple[Orders, Floats]:
    """The chance of every order of a few, by integrating one performance after the other.

    Returns:
        Orders, (n!, n), the best first, as `itertools.permutations` has them; their chances, (n!), within 1e-12.
    """
    size, width = field.scale.size, float(field.scale.min())
    nodes, weights = legendre.leggauss(NODES)
    powers = np.linalg.inv(legendre.legvander(nodes, NODES - 1))  # the polynomials that are 1 at a node, 0 at others
    rising = (legendre.legvander(nodes, NODES) @ legendre.legint(powers, lbnd=-1)).T
    panels = grid(*field.support(), width, 0.0)
    points = panels[:, None] + 0.5 * width * (nodes + 1.0)
    density = field.pdf(points.ravel()).T.reshape(size, *points.shape) * 0.5 * width
    chances: list[float] = []

    def extend(last: tuple[int, ...], ahead: Floats) -> None:
        """Let each of the rest come in next; `ahead` is the chance that the others have by then, in their order."""
        for each in range(size):
            if each not in last:
                here = density[each] * ahead
                whole = np.cumsum(here @ weights)
                if len(last) + 1 == size:
                    chances.append(float(whole[-1]))
                else:
                    extend((*last, each), (whole - here @ weights)[:, None] + here @ rising)

    extend((), np.ones(points.shape))
    return np.array(list(permutations(range(size)))), np.array(chances)


def drawn_orders(field: Performances, uniform: Floats) -> Orders:
    """The orders, (draws, n), the best first, of performances at these points of their distributions, (draws, n)."""
    low, high = field.support()
    points = grid(low, high, DRAWN_STEP * float(field.scale.min()), 0.0)
    distribution = field.cdf(points)
    drawn = [np.interp(uniform[:, i], distribution[:, i], points) for i in range(uniform.shape[1])]
    orders: Orders = np.argsort(np.stack(drawn, axis=1), axis=1, kind="stable")
    return orders
