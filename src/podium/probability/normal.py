"""The normal distribution, TrueSkill's corrections for wins and draws, and sorting numbers into boxes.

v and w are the additive and multiplicative corrections of Herbrich, Minka and Graepel (TrueSkill, 2006) and of Weng and
Lin (2011). x is the expected difference and t is the draw margin, both in standard deviations.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import kernel
from podium.kernels.exponential import exp, expm1

SQRT_2_PI = 2.5066282746310002
INVERSE_SQRT_2_PI = 0.3989422804014327
CENTRE = 5.0  # centre of the polynomial's variable
VANISHING = 40.0  # in deviations: beyond this, the tail is 0
HALF_DIGITS = 134217729.0  # 2^27 + 1: splits a number into two numbers with half of its digits (Veltkamp)
THIN = 1e-3
RATIO = (
    1.1568486282918946,
    -0.22948753825211315,
    0.07778159886873769,
    0.0250721793016388,
    -0.0661776007790963,
    0.0615050458401865,
    -0.03802659218584139,
    0.01634823128102938,
    -0.004201290329187307,
    1.9530638370790786e-05,
    0.00045704392357953655,
    -0.0001343742785571135,
    -2.480583845192319e-05,
    2.270961270923768e-05,
    -1.7633239265736746e-07,
    -3.277287633208865e-06,
    3.2054316652589574e-07,
    4.91996233147834e-07,
    -6.588974491108954e-08,
    -7.758520236786343e-08,
    9.092476134019147e-09,
    1.1032071151574336e-08,
    -7.073898575561589e-10,
    -9.564832934712551e-10,
)  # coefficients of t^0, t^1, ...


@kernel
def pdf(x: float) -> float:
    """Return the standard normal density."""
    return INVERSE_SQRT_2_PI * falloff(x)


@kernel
def falloff(x: float) -> float:
    """Return e^(-x^2 / 2), which is accurate even for large x because the square is exact.

    Above 37, the value at 37 is used.
    """
    z = min(abs(x), VANISHING)
    shifted = HALF_DIGITS * z
    high = shifted - (shifted - z)
    rest = 0.5 * (z - high) * (z + high)
    return exp(-0.5 * high * high) * (1.0 - rest * (1.0 - 0.5 * rest))


@kernel
def distribution(x: float) -> float:
    """Return the standard normal distribution function. Below -37, the value at -37 is used."""
    z = min(abs(x), VANISHING)
    tail = pdf(x) * (scaled_ratio(z) / (1.0 + z))
    return 1.0 - tail if x > 0.0 else tail


@kernel
def scaled_ratio(z: float) -> float:
    """Return Mills' ratio times 1 + z, which is (1 + z) (1 - distribution(z)) / density(z), for z >= 0.

    It falls from 1.253 at z = 0 towards 1. The polynomial is the Chebyshev series in (z - 5) / (z + 5) up to the 23rd
    power, with an error below 2e-17. Coefficients are combined in groups of four.
    """
    t = (z - CENTRE) / (z + CENTRE)
    t2 = t * t
    t4 = t2 * t2
    t8 = t4 * t4
    c = RATIO
    c0 = (c[0] + c[1] * t) + (c[2] + c[3] * t) * t2
    c4 = (c[4] + c[5] * t) + (c[6] + c[7] * t) * t2
    c8 = (c[8] + c[9] * t) + (c[10] + c[11] * t) * t2
    c12 = (c[12] + c[13] * t) + (c[14] + c[15] * t) * t2
    c16 = (c[16] + c[17] * t) + (c[18] + c[19] * t) * t2
    c20 = (c[20] + c[21] * t) + (c[22] + c[23] * t) * t2
    ratio: float = (c0 + c4 * t4) + ((c8 + c12 * t4) + (c16 + c20 * t4) * t8) * t8
    return ratio


@kernel
def hazard(x: float) -> float:
    """Return density(x) / distribution(x), which is finite for any x, and close to -x for x far below 0."""
    z = abs(x)
    ratio, one_more = scaled_ratio(z), 1.0 + z
    if x <= 0.0:
        return one_more / ratio
    fall = exp(-0.5 * z * z)
    return fall * (INVERSE_SQRT_2_PI * one_more) / (one_more - fall * (INVERSE_SQRT_2_PI * ratio))


@kernel
def win_corrections(x: float, t: float) -> tuple[float, float]:
    """Return v and w for a win: the shift of the mean, and the share of the variance that is lost."""
    shift = hazard(x - t)
    return shift, min(max(shift * (shift + x - t), 0.0), 1.0)


@kernel
def draw_corrections(x: float, t: float) -> tuple[float, float]:
    """Return v and w for a draw, which moves the mean towards 0."""
    if t <= 0.0:
        return -x, 1.0
    # The density falls by e^(-2 t far) across the margin. In this quotient, the common factor is removed.
    far = abs(x)
    low, high = far - t, far + t
    inside = margin_mass(low, high)
    if inside <= 0.0:
        return -low if x > 0.0 else low, 1.0
    fall = expm1(-2.0 * t * far)
    shift = -fall / (SQRT_2_PI * inside)
    # (t - far) N(t - far) + (t + far) N(t + far), divided by the mass, plus the shift squared.
    edge = (far * fall + t * (2.0 + fall)) / (SQRT_2_PI * inside)
    return -shift if x > 0.0 else shift, min(max(edge + shift * shift, 0.0), 1.0)


@kernel
def margin_mass(low: float, high: float) -> float:
    """Return the mass between `low` and `high`, divided by e^(-low^2 / 2)."""
    if high - low < THIN:
        # A difference would lose digits. Simpson's rule is therefore applied to e^((low^2 - u^2) / 2).
        middle = 0.5 * (low + high)
        ends = 1.0 + exp(0.5 * (low - high) * (low + high))
        inner = 4.0 * exp(0.5 * (low - middle) * (low + middle))
        return (high - low) / 6.0 * (ends + inner) / SQRT_2_PI
    near = scaled_ratio(abs(low)) / (1.0 + abs(low))
    far = exp(0.5 * (low - high) * (low + high)) * (scaled_ratio(high) / (1.0 + high))
    inside = near if low >= 0.0 else SQRT_2_PI * exp(0.5 * low * low) - near
    return (inside - far) / SQRT_2_PI


@kernel
def inflated(deviation: float, tau_squared: float, idle_variance: float, most: float) -> float:
    """Return the deviation before an event. Tau^2 is added to the variance, and idle time adds more, up to `most`."""
    variance = deviation * deviation
    if idle_variance > 0.0:
        variance = max(variance, min(variance + idle_variance, most * most))
    return math.sqrt(variance + tau_squared)


DIGIT_BITS = 11  # bits of a box's number that are used in one sorting pass
DIGITS = 1 << DIGIT_BITS
MAX_BOXES = 1e15  # including empty boxes: box numbers are exact and fit into 64 bits


# Rows of `Boxes.indices`.
ORDER = 0  # indices of the numbers, box by box, in their original order within each box
FIRST = 1  # start of each box in that order, followed by the count
PLACE = 2  # number of boxes below each box, including empty ones
KEY = 3  # like `PLACE`, for each number
SPARE = 4
OWN = 5  # can be used by the boxes' users


class Boxes(NamedTuple):
    """Boxes of numbers. They share a few arrays, because each array lengthens the compile time of its users."""

    indices: Any  # int64 (6, numbers + 1): see the row names above
    centres: Any  # float64 (numbers): centre of each box
    counts: Any  # int64 (DIGITS)


def empty_boxes(size: int) -> Boxes:
    return Boxes(np.zeros((OWN + 1, size + 1), np.int64), np.zeros(size), np.zeros(DIGITS, np.int64))


@kernel
def fill_boxes(table: Any, row: int, size: int, width: float, boxes: Boxes) -> int:
    """Sort the first `size` numbers of a row into boxes.

    Return the number of filled boxes, or -1 if this is impossible.

    The numbers must be finite and not too far apart. The lowest one is at the lower edge of the first box.
    """
    indices = boxes.indices
    low = high = table[row, 0]
    for i in range(size):
        if not math.isfinite(table[row, i]):
            return -1
        low, high = min(low, table[row, i]), max(high, table[row, i])
    if not (high - low) / width < MAX_BOXES:
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
    """Sort the order by one digit of the keys. The sort is stable."""
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
    """Return the size of a box."""
    held: int = boxes.indices[FIRST, box + 1] - boxes.indices[FIRST, box]
    return held
