"""e^x: right to the last place, and the same however it is run."""

import math
from decimal import Decimal, localcontext

import numpy as np

from podium.kernels.compiled import compile_kernel
from podium.kernels.exponential import LARGEST, exp


def _each(x, y):
    for i in range(x.size):
        y[i] = exp(x[i])


def test_is_within_a_unit_in_the_last_place():
    with localcontext() as context:
        context.prec = 40
        for x in np.random.default_rng(1).uniform(-700.0, 700.0, 3000):
            exact = Decimal(float(x)).exp()
            told = exp(float(x))
            assert abs(Decimal(told) - exact) < Decimal(math.ulp(told))


def test_lanes_and_python_have_the_same_bits():
    edges = [0.0, -0.0, 1.0, -1.0, 1e-300, LARGEST, -LARGEST, 1e9, -1e9, math.inf, -math.inf]
    x = np.concatenate([edges, np.random.default_rng(2).normal(0.0, 50.0, 5000)])
    together = np.empty_like(x)
    compile_kernel(_each, cached=False)(x, together)
    assert together.tobytes() == np.array([exp(float(value)) for value in x]).tobytes()
    assert together[0] == 1.0
    assert np.isfinite(together).all()
    assert (together > 0.0).all()
