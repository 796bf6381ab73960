"""The normal distribution compared with 60-digit arithmetic, and the same bits in Python and in kernels."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from podium.kernels.compiled import compile_kernel
from podium.probability.normal import distribution, hazard, margin_mass, pdf, scaled_ratio

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


@pytest.fixture(autouse=True)
def many_digits():
    with localcontext() as context:
        context.prec = 90
        yield


def exact_density(x):
    return (-x * x / 2).exp() / (2 * PI).sqrt()


def exact_distribution(x):
    """Calculate 1 / 2 + density(x) (x + x^3 / 3 + x^5 / 15 + ...)."""
    term = total = x
    k = 1
    while abs(term) > Decimal("1e-85"):
        k += 2
        term = term * x * x / k
        total += term
    return Decimal("0.5") + exact_density(x) * total


def points(seed, low=-11.0, high=11.0):
    return [*map(float, np.random.default_rng(seed).uniform(low, high, 400)), 0.0, 1e-9, -1e-9]


def test_density_distribution_and_hazard_have_all_their_digits():
    for x in points(1):
        density, below = exact_density(Decimal(x)), exact_distribution(Decimal(x))
        assert abs(Decimal(pdf(x)) / density - 1) < 1e-15
        assert abs(Decimal(distribution(x)) / below - 1) < 2e-15
        assert abs(Decimal(hazard(x)) / (density / below) - 1) < (1e-14 if x > 5.0 else 2e-15)


def test_mass_within_a_margin():
    for low in points(2, -3.0, 8.0):
        for width in (1e-4, 0.05, 1.0, 4.0):
            high = low + width
            if high > abs(low):  # the upper end of a margin is further from 0
                inside = exact_distribution(Decimal(high)) - exact_distribution(Decimal(low))
                exact = inside * (Decimal(low) ** 2 / 2).exp()
                assert abs(Decimal(margin_mass(low, high)) / exact - 1) < 4e-15 / min(width, 1.0)


def test_far_tails():
    assert hazard(-1e9) == pytest.approx(1e9, rel=1e-15)
    assert hazard(60.0) == pytest.approx(0.0, abs=1e-300)
    assert scaled_ratio(1e300) == pytest.approx(1.0, rel=1e-15)
    assert (distribution(math.inf), distribution(100.0)) == (1.0, 1.0)
    assert 0.0 <= distribution(-math.inf) < 1e-300


def _each(x, hazards, chances):
    for i in range(x.size):
        hazards[i] = hazard(x[i])
    for i in range(x.size):
        chances[i] = distribution(x[i])


def test_kernels_and_python_have_the_same_bits():
    x = np.array([*points(3, -50.0, 50.0), 1e9, -1e9, math.inf, -math.inf])
    hazards, chances = np.empty((2, x.size))
    compile_kernel(_each, cached=False)(x, hazards, chances)
    finite = np.isfinite(x)
    assert hazards[finite].tobytes() == np.array([hazard(float(value)) for value in x[finite]]).tobytes()
    assert chances.tobytes() == np.array([distribution(float(value)) for value in x]).tobytes()
