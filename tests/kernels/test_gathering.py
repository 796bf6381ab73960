"""Rows gathered into lanes are the same in Python and in kernels."""

from typing import NamedTuple

import numpy as np

from podium.kernels.compiled import compile_kernel
from podium.kernels.memory import AT_ONCE, gather_rows
from podium.kernels.records import LANES


class Three(NamedTuple):
    """A row's numbers."""

    a: float
    b: float
    c: float


THREE = Three(0.0, 0.0, 0.0)


def _gather(source, pairs, start, side, table):
    gather_rows(source, pairs, start, side, table, 2, THREE)


def test_lanes_hold_the_rows_asked_for():
    source = np.random.default_rng(3).normal(size=(50, 4))
    pairs = np.random.default_rng(4).integers(0, 50, (3 * AT_ONCE, 2)).astype(np.uint32)
    for side in range(2):
        tables = np.zeros((2, 6, LANES))
        _gather(source, pairs, AT_ONCE, side, tables[0])
        compile_kernel(_gather, cached=False)(source, pairs, AT_ONCE, side, tables[1])
        assert np.array_equal(tables[0, 2:5, :AT_ONCE], source[pairs[AT_ONCE : 2 * AT_ONCE, side], :3].T)
        assert not tables[0, [0, 1, 5]].any()
        assert not tables[0, :, AT_ONCE:].any()
        assert np.array_equal(*tables)
