"""Expected scores from log-odds: the logistic curve that Elo and most later systems use, and fast sums over it."""

from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import kernel
from podium.kernels.exponential import exp
from podium.kernels.logarithm import points, polynomials
from podium.kernels.records import LANES
from podium.probability.normal import FIRST, ORDER, OWN, PLACE, Boxes, empty_boxes, fill_boxes, members

LARGEST = 300.0  # strengths stay within e^300, so that sums of two are finite and ratios are precise


@kernel
def logistic(log_odds: float) -> float:
    """Return 1 / (1 + e^-x), finite for any x."""
    return 1.0 / (1.0 + exp(-log_odds))


@kernel
def both_chances(log_odds: float) -> tuple[float, float]:
    """Return the logistic of `log_odds` and of its negative. They sum to 1, and neither loses digits."""
    against = exp(-log_odds)
    mine = 1.0 / (1.0 + against)
    return mine, against * mine


@kernel
def bradley_terry(log_odds: float) -> float:
    """Return e^x, a player's strength in the Bradley-Terry model, or 0 if it is out of range.

    Using strengths, a field of n needs n exponentials instead of n (n - 1) / 2.
    """
    return exp(log_odds) if abs(log_odds) <= LARGEST else 0.0


@kernel
def win_share(mine: float, theirs: float, log_odds: float) -> float:
    """Return the logistic of `log_odds`, computed from both strengths if they are in range."""
    return mine / (mine + theirs) if mine * theirs > 0.0 else logistic(log_odds)


@kernel
def score(mine: float, theirs: float) -> float:
    """Return the result for two places without branching: 1 if the first is better (lower), 0.5 if equal, else 0."""
    return 0.5 * (1.0 + (mine < theirs) - (mine > theirs))


WIDTH = 2.0  # width of a box, in log-odds
POINTS = 24  # the curve's poles are pi off the real axis: 6.4^-24 is far below the last digit
FAR_BOXES = 32  # distance in boxes: 62 log-odds, a probability of 1e-27
ZEROS = points(POINTS)
VALUES = polynomials(POINTS)
# Rows of the table; one column per player.
X, WEIGHT = 0, 1  # inputs; WEIGHT is the player's weight as an opponent
TOTAL = 2  # the sums
# Rows of the sources, box by box. Sources are players, or points that represent the players of a box.
AT, SOURCE_WEIGHT, POTENTIAL = 3, 4, 5  # position, weight, and the sum of all sources there
BELOW = 6  # row with one column per box: the weight of all boxes below
ROWS = 7
# Rows of the lanes.
HERE, BEFORE, NOW, SUMS = 0, 1, 2, 3


class LogisticWorkspace(NamedTuple):
    table: Any  # float64 (ROWS, players and LANES more)
    boxes: Boxes  # `OWN`: first source of each box
    lanes: Any  # float64 (SUMS + POINTS, LANES)


def logistic_workspace(size: int) -> LogisticWorkspace:
    return LogisticWorkspace(np.zeros((ROWS, size + LANES)), empty_boxes(size), np.zeros((SUMS + POINTS, LANES)))


@kernel
def add_up_logistics(work: LogisticWorkspace, size: int, slope: float) -> bool:
    """Fill in the `TOTAL` row from `X` and `WEIGHT`.

    Return False if any x is not finite, or if they are too far apart.
    """
    boxes, table = work.boxes, work.table
    count = fill_boxes(table, X, size, WIDTH / slope, boxes)
    if count < 0:
        return False
    boxes.indices[OWN, 0], table[BELOW, 0] = 0, 0.0
    for box in range(count):
        set_sources(work, box, slope)
    for box in range(count):
        sum_sources(work, box, count, slope)
    for box in range(count):
        write_totals(work, box, slope)
    return True


@kernel
def set_sources(work: LogisticWorkspace, box: int, slope: float) -> None:
    """Write the sources of a box: its players or, if there are many, Chebyshev points."""
    table, boxes, _ = work
    indices, begin = boxes.indices, boxes.indices[OWN, box]
    first, last = indices[FIRST, box], indices[FIRST, box + 1]
    summed = 0.0
    for k in range(first, last):
        summed += table[WEIGHT, indices[ORDER, k]]
    table[BELOW, box + 1] = table[BELOW, box] + summed
    if members(boxes, box) <= POINTS:
        for k in range(first, last):
            table[AT, begin + k - first] = table[X, indices[ORDER, k]]
            table[SOURCE_WEIGHT, begin + k - first] = table[WEIGHT, indices[ORDER, k]]
        indices[OWN, box + 1] = begin + last - first
        return
    add_up_polynomials(work, box, slope)
    set_points(work, box, slope)


@kernel
def add_up_polynomials(work: LogisticWorkspace, box: int, slope: float) -> None:
    """Sum each polynomial over the players of a box, sixteen at a time."""
    table, boxes, lanes = work
    indices = boxes.indices
    first, last = indices[FIRST, box], indices[FIRST, box + 1]
    for a in range(lanes.shape[0] - SUMS):
        for lane in range(LANES):
            lanes[SUMS + a, lane] = 0.0
    for k in range(first, last, LANES):
        for lane in range(LANES):
            here = k + lane < last
            number = indices[ORDER, k + lane if here else first]
            lanes[HERE, lane] = (table[X, number] - boxes.centres[box]) * slope
            lanes[BEFORE, lane] = 0.0
            lanes[NOW, lane] = table[WEIGHT, number] if here else 0.0
        add_polynomials(lanes)


@kernel
def set_points(work: LogisticWorkspace, box: int, slope: float) -> None:
    """Write the weights of a box's Chebyshev points, using the sums of the polynomials."""
    table, boxes, lanes = work
    begin = boxes.indices[OWN, box]
    count = lanes.shape[0] - SUMS  # POINTS; a constant would make the compiler unroll every loop
    for j in range(count):
        weight = 0.0
        for a in range(count):
            moment = 0.0
            for lane in range(LANES):
                moment += lanes[SUMS + a, lane]
            weight += (moment if a == 0 else 2.0 * moment) * VALUES[a, j]
        table[AT, begin + j] = boxes.centres[box] + ZEROS[j] / slope
        table[SOURCE_WEIGHT, begin + j] = weight / POINTS
    boxes.indices[OWN, box + 1] = begin + POINTS


@kernel
def add_polynomials(lanes: Any) -> None:
    """Add weight * polynomial to each sum.

    NOW contains weight * T(0), and HERE contains the position within the box.
    """
    for lane in range(LANES):
        lanes[SUMS, lane] += lanes[NOW, lane]
        lanes[BEFORE, lane] = lanes[NOW, lane]
        lanes[NOW, lane] *= lanes[HERE, lane]
    for a in range(1, lanes.shape[0] - SUMS):
        for lane in range(LANES):
            now, twice = lanes[NOW, lane], 2.0 * lanes[HERE, lane]
            lanes[SUMS + a, lane] += now
            lanes[NOW, lane] = twice * now - lanes[BEFORE, lane]
            lanes[BEFORE, lane] = now


@kernel
def sum_sources(work: LogisticWorkspace, box: int, count: int, slope: float) -> None:
    """Sum the effects of all sources on the sources of a box: exactly within `FAR_BOXES`, by weight for lower boxes."""
    table, boxes, lanes = work
    indices = boxes.indices
    lowest, highest = box, box + 1
    while lowest > 0 and indices[PLACE, box] - indices[PLACE, lowest - 1] < FAR_BOXES:
        lowest -= 1
    while highest < count and indices[PLACE, highest] - indices[PLACE, box] < FAR_BOXES:
        highest += 1
    are_players = members(boxes, box) <= POINTS  # the sources are players
    for first in range(indices[OWN, box], indices[OWN, box + 1], LANES):
        for lane in range(LANES):
            lanes[HERE, lane] = table[AT, min(first + lane, indices[OWN, box + 1] - 1)]
            lanes[NOW, lane] = table[BELOW, lowest]
        for other in range(indices[OWN, lowest], indices[OWN, highest]):
            at, weight = table[AT, other], table[SOURCE_WEIGHT, other]
            own = other - first if are_players else -1  # players do not act on themselves
            for lane in range(LANES):
                chance = logistic(slope * (lanes[HERE, lane] - at))
                lanes[NOW, lane] += 0.0 if lane == own else weight * chance
        for lane in range(LANES):
            if first + lane < indices[OWN, box + 1]:
                table[POTENTIAL, first + lane] = lanes[NOW, lane]


@kernel
def write_totals(work: LogisticWorkspace, box: int, slope: float) -> None:
    """Write the total of each player in a box: the player's own sum, or Clenshaw's sum of polynomials."""
    table, boxes, _ = work
    indices, begin = boxes.indices, boxes.indices[OWN, box]
    first, last = indices[FIRST, box], indices[FIRST, box + 1]
    if members(boxes, box) <= POINTS:
        for k in range(first, last):
            table[TOTAL, indices[ORDER, k]] = table[POTENTIAL, begin + k - first]
        return
    set_coefficients(work, box)
    sum_polynomials(work, box, slope)


@kernel
def set_coefficients(work: LogisticWorkspace, box: int) -> None:
    """Compute the coefficients of the polynomials from the values at the points."""
    table, boxes, lanes = work
    begin = boxes.indices[OWN, box]
    count = lanes.shape[0] - SUMS  # POINTS, as above
    for a in range(count):
        coefficient = 0.0
        for j in range(count):
            coefficient += VALUES[a, j] * table[POTENTIAL, begin + j]
        for lane in range(LANES):
            lanes[SUMS + a, lane] = (1.0 if a == 0 else 2.0) / POINTS * coefficient


@kernel
def sum_polynomials(work: LogisticWorkspace, box: int, slope: float) -> None:
    """Sum the polynomials at each player in a box, sixteen at a time. Subtract the effect of players on themselves."""
    table, boxes, lanes = work
    indices = boxes.indices
    first, last = indices[FIRST, box], indices[FIRST, box + 1]
    for k in range(first, last, LANES):
        for lane in range(LANES):
            number = indices[ORDER, min(k + lane, last - 1)]
            lanes[HERE, lane] = (table[X, number] - boxes.centres[box]) * slope
            lanes[NOW, lane] = lanes[BEFORE, lane] = 0.0
        for a in range(lanes.shape[0] - SUMS - 1, 0, -1):
            for lane in range(LANES):
                now, twice = lanes[NOW, lane], 2.0 * lanes[HERE, lane]
                lanes[NOW, lane] = twice * now - lanes[BEFORE, lane] + lanes[SUMS + a, lane]
                lanes[BEFORE, lane] = now
        for lane in range(LANES):
            if k + lane < last:
                number = indices[ORDER, k + lane]
                value = lanes[HERE, lane] * lanes[NOW, lane] - lanes[BEFORE, lane] + lanes[SUMS, lane]
                table[TOTAL, number] = value - 0.5 * table[WEIGHT, number]
