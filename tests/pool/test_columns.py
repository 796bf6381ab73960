"""Immutable columns behave like arrays, and never change an older version."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.pool import columns as module
from podium.pool.columns import Columns, bisected

TYPES = {"number": np.int32, "state": (np.float64, (2,))}
NUMBERS = st.lists(st.integers(-1000, 1000), max_size=12)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(module, "CHUNK_BITS", 2)
    monkeypatch.setattr(module, "CHUNK_ROWS", 4)


def cells(numbers):
    array = np.array(numbers, np.int32)
    return {"number": array, "state": np.stack([array, -array], axis=1) / 8}


def assert_same(columns, numbers):
    expected = cells(numbers)
    assert columns.size == len(numbers)
    for name, array in expected.items():
        assert np.array_equal(columns.part(name), array)
        assert columns.part(name).shape == array.shape
        assert columns.part(name).dtype == array.dtype
        for first in range(len(numbers)):
            assert np.array_equal(columns.value(name, first), array[first])
            assert np.array_equal(columns.part(name, first, first + 3), array[first : first + 3])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["append", "replace", "update", "fill"]), NUMBERS, st.integers(0, 40), st.integers(1, 3)
        ),
        max_size=8,
    )
)
def test_older_versions_never_change(acts):
    versions = [(Columns(TYPES), [])]
    for act, values, place, back in acts:
        columns, numbers = versions[-min(back, len(versions))]
        if act == "append":
            columns, numbers = columns.appended(cells(values)), numbers + values
        elif act == "replace":
            row = min(place, len(numbers))
            columns, numbers = columns.replaced_from(row, cells(values)), numbers[:row] + values
        elif act == "fill":
            filled = {"number": 7, "state": np.array([7, -7]) / 8}
            columns, numbers = columns.filled_to(place, filled), numbers + [7] * (place - len(numbers))
        elif numbers:
            rows = np.unique(np.array([each % len(numbers) for each in values], np.int64))
            new = np.arange(rows.size)
            columns = columns.updated(rows, cells(new))
            changed = dict(zip(rows.tolist(), new.tolist(), strict=True))
            numbers = [changed.get(row, number) for row, number in enumerate(numbers)]
        versions.append((columns, numbers))
    for version, expected in versions:
        assert_same(version, expected)


@given(st.lists(st.integers(0, 99), min_size=0, max_size=60))
def test_rows_can_be_read_in_any_order(rows):
    columns = Columns(TYPES).appended(cells(range(100)))
    for name, array in cells(range(100)).items():
        found = columns.at(name, np.array(rows, np.int64))
        assert np.array_equal(found, array[rows])
        assert found.dtype == array.dtype


def test_chunks_are_read_only():
    columns = Columns(TYPES).appended(cells(range(10)))
    part = columns.part("number", 1, 3)
    with pytest.raises(ValueError, match="read-only"):
        part[0] = 5


def test_only_the_first_append_shares_the_last_chunk():
    old = Columns(TYPES).appended(cells(range(10)))
    for new, shares_last in ((old.appended(cells([10])), True), (old.appended(cells([11])), False)):
        rows = [(old.part("number", row, row + 1), new.part("number", row, row + 1)) for row in range(10)]
        assert [np.shares_memory(*pair) for pair in rows] == [True] * 8 + [shares_last] * 2
        assert (new.trunk is old.trunk) == shares_last  # of two objects with one trunk, one begins with the other
    assert old.replaced_from(9, cells([9])).trunk is not old.trunk
    assert old.updated(np.array([1]), cells([9])).trunk is not old.trunk


def test_memory_includes_the_room_for_more_rows_and_counts_it_once():
    two = Columns({"number": np.int64}).appended({"number": np.arange(2)})
    three = two.appended({"number": np.arange(1)})
    assert two.memory() == three.memory()
    assert [*two.memory().values()] == [4 * 8]
    assert [*three.updated(np.array([0]), {"number": np.array([9])}).memory().values()] == [3 * 8]


@given(st.lists(st.integers(0, 20)), st.integers(-1, 21))
def test_bisection_counts_smaller_values(values, bound):
    values.sort()
    assert bisected(len(values), lambda place: values[place] < bound) == sum(value < bound for value in values)
