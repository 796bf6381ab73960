"""ln x and x^y are correct to the last places, and the same in Python and in kernels."""

import math
from decimal import Decimal, localcontext

import numpy as np

from podium.kernels.compiled import compile_kernel
from podium.kernels.logarithm import log, power

EDGES = [5e-324, 1e-310, 2.0**-1022, math.sqrt(0.5), math.sqrt(2.0), 1.0, 2.0, 1.7976931348623157e308]


def _each(x, logarithms):
    for i in range(x.size):
        logarithms[i] = log(x[i])


def drawn():
    rng = np.random.default_rng(1)
    return np.concatenate([EDGES, np.exp(rng.uniform(-700.0, 700.0, 1500)), 1.0 + rng.normal(0.0, 0.3, 1500) ** 3])


def test_logarithms_are_within_a_unit_in_the_last_place():
    with localcontext() as context:
        context.prec = 40
        for x in drawn()[drawn() > 0.0]:
            logarithm = log(float(x))
            assert abs(Decimal(logarithm) - Decimal(float(x)).ln()) < Decimal(math.ulp(logarithm))


def test_kernels_and_python_have_the_same_bits():
    x = np.concatenate([drawn(), [0.0, -0.0, -1.0, math.inf, -math.inf, math.nan]])
    together = np.empty_like(x)
    compile_kernel(_each, cached=False)(x, together)
    apart = np.array([log(float(value)) for value in x])
    assert np.array_equal(together, apart, equal_nan=True)
    assert apart[-6:-1].tolist()[:2] == [-math.inf, -math.inf]
    assert np.isnan(apart[[-4, -2, -1]]).all()
    assert apart[-3] == math.inf


def test_powers():
    assert power(0.3, 1.0) == 0.3
    with localcontext() as context:
        context.prec = 40
        for x, y in np.random.default_rng(2).uniform(0.01, 3.0, (500, 2)):
            assert abs(Decimal(power(float(x), float(y))) / Decimal(float(x)) ** Decimal(float(y)) - 1) < 4e-15
