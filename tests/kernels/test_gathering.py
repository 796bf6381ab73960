"""Rows gathered into lanes are the same in Python and in kernels."""

from typing import NamedTuple

import numpy as np

from podium.kernels.compiled import compile_kernel
from podium.kernels.memory import gather_rows
from podium.kernels.records import LANES


class Three(NamedTuple):
    """A row's numbers."""

    a: float
    b: float
    c: float


THREE = Three(0.0, 0.0, 0.0)


def _gather(source, rows, start, table):
    gather_rows(source, rows, start, table, 2, THREE)


def test_lanes_hold_the_rows_asked_for():
    source = np.random.default_rng(3).normal(size=(50, 4))
    rows = np.random.default_rng(4).integers(0, 50, 3 * LANES).astype(np.uint32)
    tables = np.zeros((2, 6, LANES))
    _gather(source, rows, LANES, tables[0])
    compile_kernel(_gather, cached=False)(source, rows, LANES, tables[1])
    assert np.array_equal(tables[0, 2:5], source[rows[LANES : 2 * LANES], :3].T)
    assert not tables[0, [0, 1, 5]].any()
    assert np.array_equal(*tables)
