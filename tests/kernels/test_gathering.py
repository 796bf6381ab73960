"""Rows gathered into lanes are the same in Python and in kernels."""

from typing import NamedTuple

import numpy as np
import pytest

from podium.kernels.compiled import compile_kernel
from podium.kernels.memory import AT_ONCE, gather_rows
from podium.kernels.records import LANES


class Three(NamedTuple):
    """The numbers of a row."""

    a: float
    b: float
    c: float


THREE = Three(0.0, 0.0, 0.0)


def _gather(source, pairs, start, side, table, begin):
    gather_rows(source, pairs, start, side, table, 2, begin, THREE)


compiled = compile_kernel(_gather, cached=False)


@pytest.mark.parametrize(("side", "begin"), [(0, 0), (1, 0), (1, AT_ONCE)])
def test_lanes_hold_the_requested_rows(side, begin):
    source = np.random.default_rng(3).normal(size=(50, 4))
    pairs = np.random.default_rng(4).integers(0, 50, (3 * AT_ONCE, 2)).astype(np.uint32)
    plain, from_kernel = np.zeros((2, 6, LANES))
    _gather(source, pairs, AT_ONCE, side, plain, begin)
    compiled(source, pairs, AT_ONCE, side, from_kernel, begin)
    expected = np.zeros((6, LANES))
    expected[2:5, begin : begin + AT_ONCE] = source[pairs[AT_ONCE : 2 * AT_ONCE, side], :3].T
    assert np.array_equal(plain, expected)
    assert np.array_equal(from_kernel, expected)
