"""Sums of logistic curves over an entire field, in plain Python, compared with exact sums over pairs.

`tests/engine/test_large_heats.py` tests the compiled sums in large fields.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.probability.logistic import TOTAL, WEIGHT, X, add_up_logistics, logistic_workspace
from podium.probability.normal import FIRST, KEY, ORDER, PLACE, empty_boxes, fill_boxes

SLOPE = math.log(10.0) / 400.0
fields = st.lists(
    st.one_of(st.floats(-1e9, 1e9), st.floats(1400.0, 1600.0), st.sampled_from([0.0, 1500.0, 41500.0])),
    min_size=1,
    max_size=40,
)


def sums(x, weight):
    room = logistic_workspace(len(x))
    room.table[X, : len(x)], room.table[WEIGHT, : len(x)] = x, weight
    assert add_up_logistics(room, len(x), SLOPE)
    return room.table[TOTAL, : len(x)]


def chance(lead):
    return 1.0 / (1.0 + math.exp(-SLOPE * lead)) if lead > -1.2e5 else 0.0


def exact(x, weight, i):
    return math.fsum(w * chance(x[i] - y) for j, (y, w) in enumerate(zip(x, weight, strict=True)) if j != i)


@given(fields, st.integers(0, 3))
def test_sums_of_small_fields_equal_exact_sums(x, zeros):
    weight = [0.0 if i < zeros else 1.0 for i in range(len(x))]
    found = sums(x, weight)
    for i in range(len(x)):
        wanted = exact(x, weight, i)
        assert abs(found[i] - wanted) <= 1e-13 * wanted + 1e-20 * len(x)


def test_sums_of_large_and_single_boxes_equal_exact_sums():
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(1500.0, 60.0, 150), [1e9, -1e9, -2000.0, 9000.0], np.full(40, 1650.0)])
    weight = rng.uniform(0.5, 2.0, x.size)
    found = sums(x, weight)
    for i in range(0, x.size, 3):
        wanted = exact(x.tolist(), weight.tolist(), i)
        assert abs(found[i] - wanted) <= 1e-13 * wanted + 1e-20 * x.size


@pytest.mark.parametrize("worst", [math.nan, math.inf, -math.inf, 1e300])
def test_extreme_and_non_finite_numbers_are_left_to_pairs(worst):
    room = logistic_workspace(3)
    room.table[X, :3] = [0.0, 1.0, worst]
    assert not add_up_logistics(room, 3, SLOPE)


@given(fields)
def test_boxes_hold_all_numbers_in_order(x):
    boxes, table = empty_boxes(len(x)), np.array([x])
    count = fill_boxes(table, 0, len(x), 350.0, boxes)
    order = boxes.indices[ORDER, : len(x)]
    assert sorted(order) == list(range(len(x)))
    edges = boxes.indices[FIRST, : count + 1]
    assert edges[0] == 0
    assert edges[-1] == len(x)
    assert (np.diff(edges) > 0).all()
    assert (np.diff(boxes.indices[PLACE, :count]) > 0).all()
    for box in range(count):
        held = order[edges[box] : edges[box + 1]]
        assert (boxes.indices[KEY, held] == boxes.indices[PLACE, box]).all()
        assert (np.diff(held) > 0).all()
        assert (np.abs(table[0, held] - boxes.centres[box]) <= 175.0 * (1.0 + 1e-9) + 1e-6).all()
