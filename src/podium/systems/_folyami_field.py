"""Folyami's points of a large field: its sum over all pairs in time that hardly grows faster than the field.

    sum over j of w_j q(place_i - place_j) (result - E(rating_i - rating_j)),  q the witch of Agnesi, E = I(W; g, g)

Ratings are cut into boxes; those of many players act through Chebyshev's points, where E is smooth, so that a sum over
pairs becomes a few convolutions over places, each by Fourier transforms. Players of boxes with few act for themselves.
The sum is within 1e-13 of the exact one, measured by the points at stake in it.

Source: the sums are those of `podium.systems.folyami`; the method is a low-rank expansion by interpolation, as in
W. Fong and E. Darve, "The black-box fast multipole method", Journal of Computational Physics 228 (2009).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from podium.kernels.compiled import kernel
from podium.kernels.exponential import exp
from podium.kernels.fourier import COLUMNS, SIDE_BY_SIDE, roots_of_unity, size_for, transform, transform_back
from podium.kernels.logarithm import interpolation_weights, points
from podium.probability.gamma import incomplete_beta
from podium.probability.logistic import logistic
from podium.probability.normal import FIRST, ORDER, Boxes, fill_boxes, members, room_for_boxes

POINTS = 32
WIDEST = 4.0  # of a box, in log-odds of W
STEEP = 3.0  # a shape from which on boxes are the narrower, the steeper E
FEW = 120  # players of a box who act for themselves
BOX_WORK = 120  # players who take as long by themselves as a box by convolutions
MOST_WORK = 0.5  # of that, for each entrant: beyond, pairs are quicker
KINDS = 4  # of players, whose opponents weigh alike
ZEROS = points(POINTS)
FACTORS = interpolation_weights(POINTS)
NEXT_TO = 1e-300  # in place of no distance to a point, whose share then is everything


# Rows of the table, of each player.
RATING, PLACE = 0, 1  # to be filled; places are whole or half ones
WEIGHT = 2  # to be filled, KINDS rows: what each counts as an opponent of each kind of player
TOTAL = WEIGHT + KINDS  # KINDS rows: the sums, where a player is of that kind
SUMMED = TOTAL + KINDS  # of the points' shares before they are parts of a whole
# Rows of the indices, of each player.
KIND, GRID = 0, 1  # to be filled; and the row of each one's place
EVEN, ODD = 0, 1  # spectra: of q, and of q with the sign of the result


class RaceRoom(NamedTuple):
    """Room for the sums of a race."""

    table: Any  # float64 (SUMMED + 1, players)
    indices: Any  # int64 (2, players)
    boxes: Boxes
    spectra: Any  # float64 (2, rows)
    roots: Any  # float64 (rows, 2): of unity
    sequences: Any  # float64 (rows, COLUMNS): over places
    shares: Any  # float64 (POINTS): of a player in the points of its box
    strengths: Any  # float64 (POINTS): e to what each point of a box is above its centre, in log-odds


def room_for_race(size: int) -> RaceRoom:
    rows = size_for(4 * size)
    return RaceRoom(
        table=np.zeros((SUMMED + 1, size)),
        indices=np.zeros((2, size), np.int64),
        boxes=room_for_boxes(size),
        spectra=np.empty((2, rows)),
        roots=roots_of_unity(rows),
        sequences=np.empty((rows, COLUMNS)),
        shares=np.empty(POINTS),
        strengths=np.empty(POINTS),
    )


@kernel
def add_up_race(room: RaceRoom, size: int, slope: float, shape: float, closeness: float) -> bool:
    """Fill the totals of the table; False where the pairs are to be gone through one by one."""
    if MOST_WORK * size < BOX_WORK:  # not even everybody in one box
        return False
    width = WIDEST * min(1.0, STEEP / shape)
    count = fill_boxes(room.table, RATING, size, width / slope, room.boxes)
    kinds = 0
    for kind in range(KINDS):
        kinds += 1 if occurs(room, size, kind) else 0
    if count < 0 or work_of(room.boxes, count) * kinds > MOST_WORK * size:
        return False
    rows = lay_out_places(room, size)
    if rows == 0:
        return False
    take_results(room, size, rows, closeness)
    for kind in range(KINDS):
        if occurs(room, size, kind):
            for box in range(count):
                if members(room.boxes, box) < FEW:
                    take_few(room, size, kind, box, slope, shape, closeness)
                else:
                    take_many(room, size, rows, kind, box, 0.5 * width, slope, shape)
    return True


@kernel
def occurs(room: RaceRoom, size: int, kind: int) -> bool:
    """Whether any player is of a kind."""
    found = False
    for i in range(size):
        found = found or room.indices[KIND, i] == kind
    return found


@kernel
def work_of(boxes: Boxes, count: int) -> float:
    """How many players would take as long by themselves, for one weight."""
    work = 0.0
    for box in range(count):
        count_in_box = members(boxes, box)
        work += count_in_box if count_in_box < FEW else BOX_WORK
    return work


@kernel
def lay_out_places(room: RaceRoom, size: int) -> int:
    """Give each place its row, and the rows a transform takes; 0 where some place is none of whole or half ones."""
    halves = False
    for i in range(size):
        place = room.table[PLACE, i]
        if not 1.0 <= place <= size:
            return 0
        halves = halves or math.floor(place) != place
        if math.floor(2.0 * place) != 2.0 * place:
            return 0
    each = 2.0 if halves else 1.0
    for i in range(size):
        room.indices[GRID, i] = int(each * (room.table[PLACE, i] - 1.0))
    rows = 1
    while rows < 2.0 * each * size:
        rows *= 2
    return rows


@kernel
def take_results(room: RaceRoom, size: int, rows: int, closeness: float) -> None:
    """Find the spectra of q, and begin the totals with half of q times the sign of each result.

    One table takes all: q, q with the sign, and the weights for each kind.
    """
    sequences, spectra = room.sequences, room.spectra
    set_sequences(room, size, rows, closeness)
    transform(sequences, rows, room.roots)
    for row in range(rows):
        even, odd = sequences[row, 0] / rows, sequences[row, SIDE_BY_SIDE + 1] / rows
        spectra[EVEN, row], spectra[ODD, row] = even, odd
        for k in range(2, 2 + KINDS):
            real, imaginary = sequences[row, k], sequences[row, SIDE_BY_SIDE + k]
            sequences[row, k], sequences[row, SIDE_BY_SIDE + k] = -odd * imaginary, odd * real
    transform_back(sequences, rows, room.roots)
    for k in range(KINDS):
        for i in range(size):
            room.table[TOTAL + k, i] = 0.5 * sequences[room.indices[GRID, i], 2 + k]


@kernel
def set_sequences(room: RaceRoom, size: int, rows: int, closeness: float) -> None:
    """Lay out q, q with the sign of the result, and the weights for each kind, over places."""
    sequences = room.sequences
    clear(sequences, rows)
    each = 2.0 if rows >= 4 * size else 1.0  # rows a place
    for distance in range(rows // 2):
        q = agnesi(closeness * (distance / each))
        sequences[distance, 0] = q
        if distance > 0:
            sequences[rows - distance, 0] = q
            sequences[distance, 1] = -q  # behind
            sequences[rows - distance, 1] = q
    for k in range(KINDS):
        for i in range(size):
            sequences[room.indices[GRID, i], 2 + k] += room.table[WEIGHT + k, i]


@kernel
def clear(sequences: Any, rows: int) -> None:
    """Make the first so many rows zeros."""
    for row in range(rows):
        for column in range(COLUMNS):
            sequences[row, column] = 0.0


@kernel
def take_few(room: RaceRoom, size: int, k: int, box: int, slope: float, shape: float, closeness: float) -> None:
    """Add what each player of a box does to everyone."""
    for at in range(room.boxes.indices[FIRST, box], room.boxes.indices[FIRST, box + 1]):
        j = room.boxes.indices[ORDER, at]
        rating, place, weight = room.table[RATING, j], room.table[PLACE, j], room.table[WEIGHT + k, j]
        if weight > 0.0:
            for i in range(size):
                expected = incomplete_beta(logistic(slope * (room.table[RATING, i] - rating)), shape)
                room.table[TOTAL + k, i] += (
                    weight * agnesi(closeness * (room.table[PLACE, i] - place)) * (0.5 - expected)
                )


@kernel
def take_many(room: RaceRoom, size: int, rows: int, k: int, box: int, half: float, slope: float, shape: float) -> None:
    """Add what the players of a box do to everyone, through Chebyshev's points; `half` of its width in log-odds."""
    boxes, sequences, shares, centre = room.boxes, room.sequences, room.shares, room.boxes.centres[box]
    table, begin, end = room.table, boxes.indices[FIRST, box], boxes.indices[FIRST, box + 1]
    for point in range(POINTS):
        room.strengths[point] = exp(half * ZEROS[point])
    for at in range(begin, end):
        j = boxes.indices[ORDER, at]
        take_shares((table[RATING, j] - centre) * slope / half, 0, POINTS, shares)
        table[SUMMED, j] = 0.0
        for point in range(POINTS):
            table[SUMMED, j] += shares[point]
    for first in range(0, POINTS, COLUMNS):
        clear(sequences, rows)
        for at in range(begin, end):
            j = boxes.indices[ORDER, at]
            take_shares((table[RATING, j] - centre) * slope / half, first, COLUMNS, shares)
            weight = table[WEIGHT + k, j] / table[SUMMED, j]
            for column in range(COLUMNS):
                sequences[room.indices[GRID, j], column] += weight * shares[column]
        transform(sequences, rows, room.roots)
        for row in range(rows):
            for column in range(COLUMNS):
                sequences[row, column] *= room.spectra[EVEN, row]
        transform_back(sequences, rows, room.roots)
        for i in range(size):
            weakness = exp(slope * (centre - table[RATING, i]))
            table[TOTAL + k, i] += met_by(room, room.indices[GRID, i], first, weakness, shape)


@kernel
def met_by(room: RaceRoom, row: int, first: int, weakness: float, shape: float) -> float:
    """What `COLUMNS` of the points do to a player who is so weak beside their box's centre."""
    summed = 0.0
    for column in range(COLUMNS):
        share = 1.0 / (1.0 + weakness * room.strengths[first + column])
        room.shares[column] = 0.5 - incomplete_beta(share, shape)
    for column in range(COLUMNS):
        summed += room.sequences[row, column] * room.shares[column]
    return summed


@kernel
def take_shares(x: float, first: int, count: int, shares: Any) -> None:
    """What some of Chebyshev's points are to a player at `x`, from -1 to 1 in its box, in the barycentric formula.

    The share of each is that over the sum of all.
    """
    for point in range(count):
        distance = x - ZEROS[first + point]
        shares[point] = FACTORS[first + point] / (distance if distance != 0.0 else NEXT_TO)


@kernel
def agnesi(gap: float) -> float:
    """The witch of Agnesi: 1 side by side, 1/2 where `gap` (pi * places / span) is 1."""
    return 1.0 / (gap * gap + 1.0)
