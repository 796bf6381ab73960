"""In which order independent performances come in: the chance of each order of a few, and orders of many, drawn."""

from itertools import permutations

import numpy as np
import numpy.typing as npt
from numpy.polynomial import legendre

from podium.probability.ranks import Floats, Performances, grid

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
