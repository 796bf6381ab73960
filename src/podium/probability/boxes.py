"""Numbers sorted into boxes of one width along a line, in time that grows with how many they are.

Only boxes that hold a number count, so that a few which lie far apart cost nothing.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import kernel

DIGIT_BITS = 11  # of a box's number, sorted by at a time
DIGITS = 1 << DIGIT_BITS
MOST_BOXES = 1e15  # along the line, empty ones too: their numbers are exact, and fit 64 bits


# Rows of `Boxes.indices`.
ORDER = 0  # which numbers they are, box by box, and in their own order within each
FIRST = 1  # where in that order each box begins; then their count
PLACE = 2  # how many boxes, empty ones too, lie below each
KEY = 3  # as `PLACE`, of each number
SPARE = 4
OWN = 5  # for whoever uses the boxes


class Boxes(NamedTuple):
    """Room for so many numbers, and where they lie. Few arrays: each makes what takes them longer to compile."""

    indices: Any  # int64 (6, numbers + 1): the rows above
    centres: Any  # float64 (numbers): of each box
    counts: Any  # int64 (DIGITS)


def room_for_boxes(size: int) -> Boxes:
    """Room for so many numbers."""
    return Boxes(np.zeros((OWN + 1, size + 1), np.int64), np.zeros(size), np.zeros(DIGITS, np.int64))


@kernel
def fill_boxes(table: Any, row: int, size: int, width: float, boxes: Boxes) -> int:
    """Sort the first `size` numbers of a row into boxes; how many hold any, or -1 where it cannot be done.

    It can where the numbers are finite and not too far apart. The lowest lies at the lower edge of the first box.
    """
    indices = boxes.indices
    low = high = table[row, 0]
    for i in range(size):
        if not math.isfinite(table[row, i]):
            return -1
        low, high = min(low, table[row, i]), max(high, table[row, i])
    if not (high - low) / width < MOST_BOXES:
        return -1
    most = 0
    for i in range(size):
        indices[KEY, i] = int((table[row, i] - low) / width)
        indices[ORDER, i] = i
        most = max(most, indices[KEY, i])
    shift = 0
    while most >> shift > 0:
        sort_by_digit(boxes, size, shift)
        shift += DIGIT_BITS
    count = 0
    for k in range(size):
        place = indices[KEY, indices[ORDER, k]]
        if k == 0 or place != indices[PLACE, count - 1]:
            indices[FIRST, count], indices[PLACE, count] = k, place
            boxes.centres[count] = low + (place + 0.5) * width
            count += 1
    indices[FIRST, count] = size
    return count


@kernel
def sort_by_digit(boxes: Boxes, size: int, shift: int) -> None:
    """Bring the order into that of one digit of the keys; equal ones keep theirs."""
    indices, counts = boxes.indices, boxes.counts
    for digit in range(DIGITS):
        counts[digit] = 0
    for k in range(size):
        counts[(indices[KEY, k] >> shift) & (DIGITS - 1)] += 1
    before = 0
    for digit in range(DIGITS):
        before, counts[digit] = before + counts[digit], before
    for k in range(size):
        number = indices[ORDER, k]
        digit = (indices[KEY, number] >> shift) & (DIGITS - 1)
        indices[SPARE, counts[digit]] = number
        counts[digit] += 1
    for k in range(size):
        indices[ORDER, k] = indices[SPARE, k]


@kernel
def members(boxes: Boxes, box: int) -> int:
    """How many numbers a box holds."""
    held: int = boxes.indices[FIRST, box + 1] - boxes.indices[FIRST, box]
    return held
