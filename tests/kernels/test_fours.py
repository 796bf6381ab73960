"""Calculations with four numbers at once give the same bits in Python, in kernels, and one by one."""

import operator

import numpy as np
import pytest

from podium.kernels.compiled import compile_kernel
from podium.kernels.fours import FOUR, four, four_at, logistics, number_of, put_four
from podium.probability.logistic import logistic

OPERATORS = (operator.add, operator.sub, operator.mul, operator.truediv)
RNG = np.random.default_rng(7)
EDGES = [0.0, -0.0, 708.0, -708.0, 709.5, -1e9, 1e300, -1e-300]
NUMBERS = np.concatenate([np.array(EDGES), RNG.normal(0.0, 30.0, 392)]).reshape(-1, 2 * FOUR)


def compute(table, number, out):
    """Apply every operator to two fours and to a four and a number, and create fours."""
    for row in range(table.shape[0]):
        one, other = four_at(table, row, 0), four_at(table, row, FOUR)
        put_four(out, row, 0, one + other)
        put_four(out, row, 4, one - other)
        put_four(out, row, 8, one * other)
        put_four(out, row, 12, one / other)
        put_four(out, row, 16, number - one)
        put_four(out, row, 20, one * number)
        put_four(out, row, 24, logistics(one))
        last = four(0.0, number_of(one, 3), number_of(other, 0), number)
        last += one
        last *= number
        put_four(out, row, 28, last)


def computed(function, number=0.3):
    """Return the output of a function, compiled or not."""
    out = np.full((len(NUMBERS), 32), np.nan)
    function(NUMBERS, number, out)
    return out


def test_kernels_and_python_have_the_same_bits():
    np.testing.assert_array_equal(
        computed(compile_kernel(compute, cached=False)).view(np.int64), computed(compute).view(np.int64)
    )


def test_each_number_has_the_result_of_a_single_calculation():
    out, one, other = computed(compute), NUMBERS[:, :FOUR], NUMBERS[:, FOUR:]
    with np.errstate(all="ignore"):
        for k, act in enumerate(OPERATORS):
            np.testing.assert_array_equal(out[:, FOUR * k : FOUR * (k + 1)], act(one, other))
    np.testing.assert_array_equal(out[:, 16:20], 0.3 - one)
    np.testing.assert_array_equal(out[:, 24:28], [[logistic(float(x)) for x in row] for row in one])


def test_numpy_numbers_can_be_multiplied_with_fours():
    assert np.float64(2.0) * four(1.0, 2.0, 3.0, 4.0) == four(2.0, 4.0, 6.0, 8.0)
    with pytest.raises(TypeError):
        four(1.0, 2.0, 3.0, 4.0) * "2"
