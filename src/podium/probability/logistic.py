"""Expected scores from log-odds: the logistic curve that Elo and most after it share, and its sums over many."""

from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import kernel
from podium.kernels.exponential import exp
from podium.kernels.logarithm import points, polynomials
from podium.kernels.records import LANES
from podium.probability.normal import FIRST, ORDER, OWN, PLACE, Boxes, fill_boxes, members, room_for_boxes

LARGEST = 300.0  # strengths stay within e^300, so that a sum of two is finite and a ratio keeps its digits


@kernel
def logistic(log_odds: float) -> float:
    """1 / (1 + e^-x), finite for any x."""
    return 1.0 / (1.0 + exp(-log_odds))


@kernel
def both_chances(log_odds: float) -> tuple[float, float]:
    """The logistic of `log_odds` and of its negative: they sum to 1, and each has all its digits."""
    against = exp(-log_odds)
    mine = 1.0 / (1.0 + against)
    return mine, against * mine


@kernel
def bradley_terry(log_odds: float) -> float:
    """e^x, the strength of a player in Bradley and Terry's model; 0 out of range.

    With it a field of n takes n exponentials, not n (n - 1) / 2.
    """
    return exp(log_odds) if abs(log_odds) <= LARGEST else 0.0


@kernel
def win_share(mine: float, theirs: float, log_odds: float) -> float:
    """The logistic of `log_odds`, from the strengths of both where they have one."""
    return mine / (mine + theirs) if mine * theirs > 0.0 else logistic(log_odds)


@kernel
def score(mine: float, theirs: float) -> float:
    """The result by places: 1 for the better (lower), 0 for the worse, 0.5 for a tie; without a branch."""
    return 0.5 * (1.0 + (mine < theirs) - (mine > theirs))


WIDTH = 2.0  # of a box, in log-odds
POINTS = 24  # the curve's poles lie pi off the line: 6.4^-24 is far below a last digit
FAR = 32  # boxes apart: 62 log-odds, a chance of 1e-27
ZEROS = points(POINTS)
VALUES = polynomials(POINTS)
# Rows of the table, of each player.
X, WEIGHT = 0, 1  # to be filled; the weight is what each counts as an opponent
TOTAL = 2  # the sums
# Rows of those who act for a box, box by box.
AT, ACTING, POTENTIAL = 3, 4, 5  # where, with what weight, and what acts on them
BELOW = 6  # row of each box: the weight of all before it
ROWS = 7
# Rows of the lanes.
HERE, BEFORE, NOW, SUMS = 0, 1, 2, 3


class LogisticRoom(NamedTuple):
    table: Any  # float64 (ROWS, players and LANES more)
    boxes: Boxes  # `OWN`: where those who act for each box begin
    lanes: Any  # float64 (SUMS + POINTS, LANES)


def room_for_logistic_sums(size: int) -> LogisticRoom:
    return LogisticRoom(np.zeros((ROWS, size + LANES)), room_for_boxes(size), np.zeros((SUMS + POINTS, LANES)))


@kernel
def add_up_logistics(room: LogisticRoom, size: int, slope: float) -> bool:
    """Fill the row `TOTAL` from `X` and `WEIGHT`; False where some x is not finite, or they are too far apart."""
    boxes, table = room.boxes, room.table
    count = fill_boxes(table, X, size, WIDTH / slope, boxes)
    if count < 0:
        return False
    boxes.indices[OWN, 0], table[BELOW, 0] = 0, 0.0
    for box in range(count):
        set_acting(room, box, slope)
    for box in range(count):
        act_on(room, box, count, slope)
    for box in range(count):
        take_totals(room, box, slope)
    return True


@kernel
def set_acting(room: LogisticRoom, box: int, slope: float) -> None:
    """Say who acts for a box, where, and with what weight: its players, or Chebyshev's points."""
    table, boxes, _ = room
    indices, begin = boxes.indices, boxes.indices[OWN, box]
    first, last = indices[FIRST, box], indices[FIRST, box + 1]
    summed = 0.0
    for k in range(first, last):
        summed += table[WEIGHT, indices[ORDER, k]]
    table[BELOW, box + 1] = table[BELOW, box] + summed
    if members(boxes, box) <= POINTS:
        for k in range(first, last):
            table[AT, begin + k - first] = table[X, indices[ORDER, k]]
            table[ACTING, begin + k - first] = table[WEIGHT, indices[ORDER, k]]
        indices[OWN, box + 1] = begin + last - first
        return
    add_up_polynomials(room, box, slope)
    set_points(room, box, slope)


@kernel
def add_up_polynomials(room: LogisticRoom, box: int, slope: float) -> None:
    """Add up each polynomial over the players of a box, sixteen at a time."""
    table, boxes, lanes = room
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
def set_points(room: LogisticRoom, box: int, slope: float) -> None:
    """Say with what weight each of Chebyshev's points acts for a box, from its polynomials' sums."""
    table, boxes, lanes = room
    begin = boxes.indices[OWN, box]
    count = lanes.shape[0] - SUMS  # POINTS; as a constant it would make a compiler unroll every loop
    for j in range(count):
        acting = 0.0
        for a in range(count):
            moment = 0.0
            for lane in range(LANES):
                moment += lanes[SUMS + a, lane]
            acting += (moment if a == 0 else 2.0 * moment) * VALUES[a, j]
        table[AT, begin + j] = boxes.centres[box] + ZEROS[j] / slope
        table[ACTING, begin + j] = acting / POINTS
    boxes.indices[OWN, box + 1] = begin + POINTS


@kernel
def add_polynomials(lanes: Any) -> None:
    """Add weight times polynomial to each sum; T(0) stands in NOW, times the weight, and `HERE` is within the box."""
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
def act_on(room: LogisticRoom, box: int, count: int, slope: float) -> None:
    """Add up what acts on those of a box: all from boxes within `FAR`, and the weight of those further below."""
    table, boxes, lanes = room
    indices = boxes.indices
    lowest, highest = box, box + 1
    while lowest > 0 and indices[PLACE, box] - indices[PLACE, lowest - 1] < FAR:
        lowest -= 1
    while highest < count and indices[PLACE, highest] - indices[PLACE, box] < FAR:
        highest += 1
    few = members(boxes, box) <= POINTS  # who act for themselves
    for first in range(indices[OWN, box], indices[OWN, box + 1], LANES):
        for lane in range(LANES):
            lanes[HERE, lane] = table[AT, min(first + lane, indices[OWN, box + 1] - 1)]
            lanes[NOW, lane] = table[BELOW, lowest]
        for other in range(indices[OWN, lowest], indices[OWN, highest]):
            at, acting = table[AT, other], table[ACTING, other]
            own = other - first if few else -1  # nobody acts on itself
            for lane in range(LANES):
                chance = logistic(slope * (lanes[HERE, lane] - at))
                lanes[NOW, lane] += 0.0 if lane == own else acting * chance
        for lane in range(LANES):
            if first + lane < indices[OWN, box + 1]:
                table[POTENTIAL, first + lane] = lanes[NOW, lane]


@kernel
def take_totals(room: LogisticRoom, box: int, slope: float) -> None:
    """Give each player of a box what acts on it: its own, or by Clenshaw's sum of polynomials."""
    table, boxes, _ = room
    indices, begin = boxes.indices, boxes.indices[OWN, box]
    first, last = indices[FIRST, box], indices[FIRST, box + 1]
    if members(boxes, box) <= POINTS:
        for k in range(first, last):
            table[TOTAL, indices[ORDER, k]] = table[POTENTIAL, begin + k - first]
        return
    set_coefficients(room, box)
    sum_polynomials(room, box, slope)


@kernel
def set_coefficients(room: LogisticRoom, box: int) -> None:
    """Find the coefficients of the polynomials that have the points' values."""
    table, boxes, lanes = room
    begin = boxes.indices[OWN, box]
    count = lanes.shape[0] - SUMS  # POINTS, as above
    for a in range(count):
        coefficient = 0.0
        for j in range(count):
            coefficient += VALUES[a, j] * table[POTENTIAL, begin + j]
        for lane in range(LANES):
            lanes[SUMS + a, lane] = (1.0 if a == 0 else 2.0) / POINTS * coefficient


@kernel
def sum_polynomials(room: LogisticRoom, box: int, slope: float) -> None:
    """Sum up the polynomials at each player of a box, sixteen at a time, less what each does to itself."""
    table, boxes, lanes = room
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
