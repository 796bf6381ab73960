"""Positions behave like the array that they stand for, also if they do not store it."""

import numpy as np
import pytest

from podium.engine.tables.selection import Positions

ARRAYS = {
    "all rows in order": np.arange(9, dtype=np.int32),
    "another order": np.array([2, 0, 1, 8, 5], np.int32),
    "some rows in order": np.array([0, 1, 2, 4], np.int32),
    "not from the first": np.arange(1, 6, dtype=np.int32),
    "one row": np.zeros(1, np.int32),
    "none": np.zeros(0, np.int32),
}
CHOICES = (slice(None), slice(1, 3), slice(3, 100), slice(None, None, -1), slice(2, 0, -1))


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS.keys())
def test_positions_equal_their_array(array):
    positions = Positions.of(array)
    assert positions.size == array.size
    assert np.array_equal(positions.array, array)
    assert positions.array.dtype == array.dtype
    assert [positions.at(k) for k in range(array.size)] == array.tolist()
    values = np.arange(20.0) ** 2
    assert np.array_equal(positions.take(values), values[array])
    backwards = np.arange(array.size)[::-1]
    for chosen in (*CHOICES, backwards, array % 2 == 0, np.zeros(0, np.int64)):
        assert np.array_equal(positions[chosen], array[chosen])


def test_positions_of_all_rows_in_order_store_no_array_and_copy_no_values():
    positions = Positions.of(np.arange(9))
    assert positions.listed is None
    values = np.arange(9.0)
    assert positions.are_all(9)
    assert positions.take(values) is values
    assert not positions.are_all(10)
    assert positions.take(np.arange(10.0)).size == 9
    assert not Positions.of(np.array([1, 0])).are_all(2)
