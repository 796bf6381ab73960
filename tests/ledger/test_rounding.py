"""Shown numbers add up as shown."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.support.words import shown, shown_change, shown_parts, signed


def test_a_change_is_the_difference_of_the_shown_ratings():
    """1787.66 and 1747.24 differ by 40.42, but the shown ratings differ by 40.5."""
    assert shown_change(1787.66, 1747.24, 1) == Decimal("-40.5")
    assert signed(shown_change(1787.66, 1747.24, 1)) == "−40.5"  # noqa: RUF001  (a minus)
    assert [signed(shown(value, 1)) for value in (0.25, -0.04, 0.0)] == ["+0.2", "0.0", "0.0"]


points = st.floats(-500.0, 500.0)


@settings(max_examples=50)
@given(before=st.floats(-5000.0, 5000.0), parts=st.lists(points, min_size=1, max_size=12), digits=st.integers(1, 3))
def test_parts_add_up_to_the_shown_change(before, parts, digits):
    change = shown_change(before, before + sum(parts), digits)
    cells = shown_parts(parts, change, digits)
    assert sum(cells) == change
    unit = Decimal(1).scaleb(-digits)
    assert all(abs(cell - Decimal(part)) < 2 * unit for cell, part in zip(cells, parts, strict=True))
    assert all(str(cell) == f"{cell:.{digits}f}" for cell in cells)


@pytest.mark.parametrize(
    ("parts", "total", "cells"),
    [
        ([], "0.0", []),
        ([0.25, 0.25, 0.5], "1.0", ["0.3", "0.2", "0.5"]),
        ([-6.66, -6.66, -6.66], "-20.0", ["-6.6", "-6.7", "-6.7"]),
        ([0.04], "0.1", ["0.1"]),
        ([1e300, -1e300], "0.0", None),
    ],
)
def test_the_rest_goes_to_the_largest_remainders(parts, total, cells):
    found = shown_parts(parts, Decimal(total), 1)
    if cells is None:
        assert len(found) == len(parts)
    else:
        assert [str(cell) for cell in found] == cells
