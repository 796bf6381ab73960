"""NamedTuples in rows and columns of tables are stored alike in kernels and in Python."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit, typeof

from podium.kernels.compiled import by_reference
from podium.kernels.records import add, read, write, write_column


class Numbers(NamedTuple):
    one: float
    two: float
    three: float


VALUES = Numbers(1.5, -2.0, 3.25)


def filled(shape):
    return np.arange(float(np.prod(shape))).reshape(shape)


@pytest.mark.parametrize("store", [write, add])
def test_rows_are_stored_alike(store):
    interpreted, compiled = filled((4, 3)), filled((4, 3))
    store(interpreted, 2, VALUES)
    njit(lambda table, values: store(table, 2, values))(compiled, VALUES)
    assert compiled.tobytes() == interpreted.tobytes() != filled((4, 3)).tobytes()
    assert njit(lambda table, values: read(table, 2, values))(compiled, VALUES) == read(interpreted, 2, VALUES)


def test_columns_are_stored_alike():
    interpreted, compiled = filled((3, 5)), filled((3, 5))
    write_column(interpreted, 4, VALUES)
    njit(lambda table, values: write_column(table, 4, values))(compiled, VALUES)
    assert compiled.tobytes() == interpreted.tobytes()
    assert compiled[:, 4].tolist() == list(VALUES)
    assert (compiled[:, :4] == filled((3, 5))[:, :4]).all()


@by_reference
class Inner(NamedTuple):
    numbers: Any


@by_reference
class Outer(NamedTuple):
    inner: Inner
    counts: Any


def test_kernels_read_references_to_arrays_of_any_type():
    counted = njit(lambda outer: outer.inner.numbers[1] + outer.counts[0])
    outers = [Outer(Inner(np.array([1, 2.5], kind)), np.array([4])) for kind in (float, int)]
    assert [counted(outer) for outer in outers] == [6.5, 6]
    assert len({str(typeof(outer)) for outer in outers}) == 2
