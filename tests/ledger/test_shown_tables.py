"""Rounded tables whose rows and columns add up, with cells close to the exact values."""

from decimal import Decimal

import numpy as np
import pytest

from podium.ledger.reasons.shares import shown_table


@pytest.mark.parametrize("size", [2, 3, 10, 24, 64])
def test_chances_of_places_add_up_to_a_hundred_in_rows_and_columns(size):
    rng = np.random.default_rng(size)
    chances = rng.random((size, size)) ** 4
    for _ in range(200):  # Sinkhorn's algorithm makes rows and columns sum to one
        chances /= chances.sum(axis=1, keepdims=True)
        chances /= chances.sum(axis=0, keepdims=True)
    hundred = [Decimal(100)] * size
    table = shown_table((100.0 * chances).tolist(), hundred, hundred, 0)
    assert [sum(row) for row in table] == hundred
    assert [sum(column) for column in zip(*table, strict=True)] == hundred
    errors = np.abs(np.array(table, np.float64) - 100.0 * chances)
    assert errors.max() < 2.0
    assert errors.mean() < 0.5
    assert min(min(row) for row in table) >= 0


def test_signed_cells_with_decimals_keep_their_totals():
    cells = [[-7.44, -9.04, 0.26], [3.33, -0.04, 1.19]]
    table = shown_table(
        cells, [Decimal("-16.2"), Decimal("4.5")], [Decimal("-4.1"), Decimal("-9.1"), Decimal("1.5")], 1
    )
    assert [sum(row) for row in table] == [Decimal("-16.2"), Decimal("4.5")]
    assert [sum(column) for column in zip(*table, strict=True)] == [Decimal("-4.1"), Decimal("-9.1"), Decimal("1.5")]
    assert np.abs(np.array(table, np.float64) - cells).max() < 0.2


def test_totals_that_disagree_are_rejected():
    with pytest.raises(ValueError, match="have different sums"):
        shown_table([[1.0]], [Decimal(1)], [Decimal(2)], 0)


def test_rows_add_up_beyond_the_precision_of_doubles():
    rows = [Decimal("5000000000000000.3"), Decimal("-1.5")]
    table = shown_table([[5e15, 0.25], [-1e15, 1e15]], rows, [sum(rows, Decimal(0)), Decimal(0)], 1)
    assert [sum(row, Decimal(0)) for row in table] == rows
