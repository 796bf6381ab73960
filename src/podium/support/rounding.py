"""Numbers as people read them: one rule for all that shows a change, so that what is shown adds up as shown.

Ratings are rounded to the digits that a system shows. A change is the difference of the two ratings as shown, and its
parts are rounded so that they add up to it, by largest remainder. What programs read has every digit.
"""

from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt

WHOLE = 2**53  # units: beyond, a double does not have each whole number
MINUS = "\N{MINUS SIGN}"


def shown(value: float, digits: int) -> Decimal:
    """The number as it is shown, to so many decimals; zero has no sign."""
    number = Decimal(f"{value:.{digits}f}")
    return abs(number) if number.is_zero() else number


def shown_change(before: float, after: float, digits: int) -> Decimal:
    """The difference of two ratings as they are shown."""
    return shown(after, digits) - shown(before, digits)


def shown_parts(parts: Sequence[float], total: Decimal, digits: int) -> list[Decimal]:
    """Parts as they are shown, so that they add up to a total that is shown, by largest remainder."""
    if not parts:
        return []
    unit = Decimal(1).scaleb(-digits)
    rounded = [shown(part, digits) for part in parts]
    every, more = divmod(int((total - sum(rounded, Decimal(0))) / unit), len(parts))
    short = sorted(range(len(parts)), key=lambda k: rounded[k] - Decimal(parts[k]))
    for k in range(len(parts)):
        rounded[k] += every * unit
    for k in short[:more]:
        rounded[k] += unit
    return [abs(number) if number.is_zero() else number for number in rounded]


def shown_table(
    cells: Sequence[Sequence[float]], rows: Sequence[Decimal], columns: Sequence[Decimal], digits: int
) -> list[list[Decimal]]:
    """The cells of a table as they are shown, so that its rows and its columns both add up to totals that are shown.

    Each row is rounded by largest remainder; then units move within rows from columns that have too many to columns
    that have too few, by the moves that leave the cells nearest to what they are. Where a cell is so large that a
    double has no such digits, the rows alone add up.

    Args:
        cells: rows of equal length; rows and columns add up to their totals but for the totals' own rounding.

    Raises:
        ValueError: the totals of the rows and those of the columns do not add up to the same.
    """
    if sum(rows, Decimal(0)) != sum(columns, Decimal(0)):
        raise ValueError("the totals of the rows and of the columns do not add up to the same")
    unit = Decimal(1).scaleb(-digits)
    table = [shown_parts(row, total, digits) for row, total in zip(cells, rows, strict=True)]
    if any(abs(cell / unit) >= WHOLE for row in table for cell in row):
        return table
    counts = np.array([[int(cell / unit) for cell in row] for row in table], np.int64).reshape(len(table), -1)
    wanted = np.array([int(total / unit) for total in columns], np.int64)
    exact = np.array(cells, np.float64).reshape(counts.shape) / float(unit)
    while (surplus := counts.sum(axis=0) - wanted).any():
        move_unit(counts, exact, surplus)
    return [[int(count) * unit for count in row] for row in counts]


def move_unit(counts: npt.NDArray[np.int64], exact: npt.NDArray[np.float64], surplus: npt.NDArray[np.int64]) -> None:
    """Move a unit from a column that has too many to one that has too few, over others where that costs less.

    The cost of a step is what it adds to the squares of the cells' errors; the cheapest path is Bellman and Ford's.
    """
    error = counts - exact
    steps = error[:, None, :] - error[:, :, None]  # from a column to a column, in each row
    cheapest = steps.argmin(axis=0)
    costs = 2.0 + 2.0 * np.take_along_axis(steps, cheapest[None], axis=0)[0]
    distance = np.where(surplus > 0, 0.0, np.inf)
    before = np.full(surplus.size, -1)
    for _ in range(surplus.size):
        through = distance[:, None] + costs
        nearest = through.argmin(axis=0)
        shorter = through.min(axis=0) < distance - 1e-9
        if not shorter.any():
            break
        distance = np.where(shorter, through.min(axis=0), distance)
        before = np.where(shorter, nearest, before)
    column = int(np.where(surplus < 0, distance, np.inf).argmin())
    while before[column] >= 0:
        source = int(before[column])
        row = cheapest[source, column]
        counts[row, source] -= 1
        counts[row, column] += 1
        column = source


def signed(number: Decimal) -> str:
    """A change with its sign; nothing before zero."""
    return f"+{number}" if number > 0 else f"{MINUS}{-number}" if number < 0 else str(number)
