"""e^x is correct to the last place, and the same in Python and in kernels."""

import math
from decimal import Decimal, localcontext

import numpy as np

from podium.kernels.compiled import compile_kernel
from podium.kernels.exponential import LARGEST, exp, expm1, tanh


def _each(x, powers, less_one, tangents):
    for i in range(x.size):
        powers[i] = exp(x[i])
    for i in range(x.size):
        less_one[i] = expm1(x[i])
    for i in range(x.size):
        tangents[i] = tanh(x[i])


def test_e_to_x_is_within_a_unit_in_the_last_place():
    with localcontext() as context:
        context.prec = 40
        for x in np.random.default_rng(1).uniform(-700.0, 700.0, 3000):
            exact = Decimal(float(x)).exp()
            power = exp(float(x))
            assert abs(Decimal(power) - exact) < Decimal(math.ulp(power))


def near_and_far(seed, count=3000):
    """Return numbers of all sizes up to where tanh is 1, and numbers near 0."""
    rng = np.random.default_rng(seed)
    sizes = rng.normal(0.0, 1.0, count) * 10.0 ** rng.uniform(-8.0, 1.0, count)
    return [*map(float, sizes), *map(float, rng.uniform(-0.02, 0.02, count))]


def test_e_to_x_minus_1_keeps_its_digits_near_0():
    with localcontext() as context:
        context.prec = 60
        for x in near_and_far(3):
            less_one = expm1(x)
            assert abs(Decimal(less_one) - (Decimal(x).exp() - 1)) < 3 * Decimal(math.ulp(less_one))


def test_hyperbolic_tangent():
    with localcontext() as context:
        context.prec = 60
        for x in near_and_far(4):
            squared = (2 * Decimal(x)).exp()
            tangent = tanh(x)
            assert abs(Decimal(tangent) - (squared - 1) / (squared + 1)) < 4 * Decimal(math.ulp(tangent))
    assert [tanh(x) for x in (0.0, 30.0, -30.0, math.inf, -math.inf)] == [0.0, 1.0, -1.0, 1.0, -1.0]
    assert math.copysign(1.0, tanh(-0.0)) == -1.0


def test_lanes_and_python_have_the_same_bits():
    edges = [0.0, -0.0, 1.0, -1.0, 1e-300, LARGEST, -LARGEST, 1e9, -1e9, math.inf, -math.inf]
    x = np.concatenate([edges, np.random.default_rng(2).normal(0.0, 50.0, 5000)])
    powers, less_one, tangents = np.empty((3, x.size))
    compile_kernel(_each, cached=False)(x, powers, less_one, tangents)
    for together, function in ((powers, exp), (less_one, expm1), (tangents, tanh)):
        assert together.tobytes() == np.array([function(float(value)) for value in x]).tobytes()
        assert np.isfinite(together).all()
    assert powers[0] == 1.0
    assert (powers > 0.0).all()
