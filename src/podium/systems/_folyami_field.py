"""Folyami's points for a large field: the sum over all pairs, computed in nearly linear time.

    sum over j of w_j q(place_i - place_j) (result - E(rating_i - rating_j)),  q the witch of Agnesi, E = I(W; g, g)

Ratings are divided into boxes. E is smooth, so the players in a full box can be replaced by the box's Chebyshev points.
The sum over pairs then becomes a few convolutions over places, computed by Fourier transforms. In a box with few
players, each player is summed directly. The error is at most 1e-13 of the points at stake.

Source: `podium.systems.folyami` defines the sums. The method is a low-rank expansion by interpolation, as in W. Fong
and E. Darve, "The black-box fast multipole method", Journal of Computational Physics 228 (2009).
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
from podium.probability.normal import FIRST, ORDER, Boxes, empty_boxes, fill_boxes, members

POINTS = 32
MAX_WIDTH = 4.0  # width of a box, in log-odds of W
STEEP_SHAPE = 3.0  # gamma shape above which boxes get narrower, because E gets steeper
MIN_SHARED = 120  # in a box with fewer players, each is summed directly
BOX_WORK = 120  # handling a box by convolutions takes as long as this many players directly
MAX_WORK = 0.5  # largest work per entrant; above this, looping over all pairs is faster
KINDS = 4  # groups of players whose opponents have the same weights
ZEROS = points(POINTS)
FACTORS = interpolation_weights(POINTS)
TINY = 1e-300  # replaces the distance 0 to a point, whose share is then 1


# Rows of the table; one column per player.
RATING, PLACE = 0, 1  # inputs; places are multiples of 1/2
WEIGHT = 2  # input, KINDS rows: the player's weight as an opponent of each kind
TOTAL = WEIGHT + KINDS  # output, KINDS rows: the sum for the player, if the player is of that kind
SUMMED = TOTAL + KINDS  # sum of the barycentric terms, by which each term is divided
# Rows of the indices; one column per player.
KIND, GRID = 0, 1  # KIND is an input; GRID is the row of the player's place
EVEN, ODD = 0, 1  # spectra of q, and of q times the sign of the result


class RaceWorkspace(NamedTuple):
    """Working memory for the sums of a race."""

    table: Any  # float64 (SUMMED + 1, players)
    indices: Any  # int64 (2, players)
    boxes: Boxes
    spectra: Any  # float64 (2, rows)
    roots: Any  # float64 (rows, 2): roots of unity
    sequences: Any  # float64 (rows, COLUMNS): functions of the place
    shares: Any  # float64 (POINTS): barycentric terms of a player in its box
    strengths: Any  # float64 (POINTS): e^(log-odds of a point against the centre of its box)


def race_workspace(size: int) -> RaceWorkspace:
    rows = size_for(4 * size)
    return RaceWorkspace(
        table=np.zeros((SUMMED + 1, size)),
        indices=np.zeros((2, size), np.int64),
        boxes=empty_boxes(size),
        spectra=np.empty((2, rows)),
        roots=roots_of_unity(rows),
        sequences=np.empty((rows, COLUMNS)),
        shares=np.empty(POINTS),
        strengths=np.empty(POINTS),
    )


@kernel
def add_up_race(work: RaceWorkspace, size: int, slope: float, shape: float, closeness: float) -> bool:
    """Fill in the totals in the table. Return False, leaving them unchanged, if looping over all pairs is faster."""
    if MAX_WORK * size < BOX_WORK:  # too small even with everyone in one box
        return False
    width = MAX_WIDTH * min(1.0, STEEP_SHAPE / shape)
    count = fill_boxes(work.table, RATING, size, width / slope, work.boxes)
    kinds = 0
    for kind in range(KINDS):
        kinds += 1 if occurs(work, size, kind) else 0
    if count < 0 or work_of(work.boxes, count) * kinds > MAX_WORK * size:
        return False
    rows = lay_out_places(work, size)
    if rows == 0:
        return False
    begin_totals(work, size, rows, closeness)
    for kind in range(KINDS):
        if occurs(work, size, kind):
            for box in range(count):
                if members(work.boxes, box) < MIN_SHARED:
                    add_players(work, size, kind, box, slope, shape, closeness)
                else:
                    add_box(work, size, rows, kind, box, 0.5 * width, slope, shape)
    return True


@kernel
def occurs(work: RaceWorkspace, size: int, kind: int) -> bool:
    """Return True if any player is of kind `kind`."""
    found = False
    for i in range(size):
        found = found or work.indices[KIND, i] == kind
    return found


@kernel
def work_of(boxes: Boxes, count: int) -> float:
    """Return the work for one kind of weights: the number of players that would take as long pair by pair."""
    work = 0.0
    for box in range(count):
        count_in_box = members(boxes, box)
        work += count_in_box if count_in_box < MIN_SHARED else BOX_WORK
    return work


@kernel
def lay_out_places(work: RaceWorkspace, size: int) -> int:
    """Assign a row to each place. Return the size of the transform, or 0 if some place is not a multiple of 1/2."""
    halves = False
    for i in range(size):
        place = work.table[PLACE, i]
        if not 1.0 <= place <= size:
            return 0
        halves = halves or math.floor(place) != place
        if math.floor(2.0 * place) != 2.0 * place:
            return 0
    rows_per_place = 2.0 if halves else 1.0
    for i in range(size):
        work.indices[GRID, i] = int(rows_per_place * (work.table[PLACE, i] - 1.0))
    rows = 1
    while rows < 2.0 * rows_per_place * size:
        rows *= 2
    return rows


@kernel
def begin_totals(work: RaceWorkspace, size: int, rows: int, closeness: float) -> None:
    """Compute the spectra of q, and start the totals with half of the sum of w q times the sign of the result.

    One transform handles all sequences: q, q times the sign of the result, and the weights of each kind.
    """
    sequences, spectra = work.sequences, work.spectra
    set_sequences(work, size, rows, closeness)
    transform(sequences, rows, work.roots)
    for row in range(rows):
        even, odd = sequences[row, 0] / rows, sequences[row, SIDE_BY_SIDE + 1] / rows
        spectra[EVEN, row], spectra[ODD, row] = even, odd
        for k in range(2, 2 + KINDS):
            real, imaginary = sequences[row, k], sequences[row, SIDE_BY_SIDE + k]
            sequences[row, k], sequences[row, SIDE_BY_SIDE + k] = -odd * imaginary, odd * real
    transform_back(sequences, rows, work.roots)
    for k in range(KINDS):
        for i in range(size):
            work.table[TOTAL + k, i] = 0.5 * sequences[work.indices[GRID, i], 2 + k]


@kernel
def set_sequences(work: RaceWorkspace, size: int, rows: int, closeness: float) -> None:
    """Fill the sequences: q and q times the sign of the result by distance, and each kind's weights by place."""
    sequences = work.sequences
    clear(sequences, rows)
    rows_per_place = 2.0 if rows >= 4 * size else 1.0
    for distance in range(rows // 2):
        q = agnesi(closeness * (distance / rows_per_place))
        sequences[distance, 0] = q
        if distance > 0:
            sequences[rows - distance, 0] = q
            sequences[distance, 1] = -q  # lost
            sequences[rows - distance, 1] = q
    for k in range(KINDS):
        for i in range(size):
            sequences[work.indices[GRID, i], 2 + k] += work.table[WEIGHT + k, i]


@kernel
def clear(sequences: Any, rows: int) -> None:
    """Set the first `rows` rows to zero."""
    for row in range(rows):
        for column in range(COLUMNS):
            sequences[row, column] = 0.0


@kernel
def add_players(work: RaceWorkspace, size: int, k: int, box: int, slope: float, shape: float, closeness: float) -> None:
    """Add the terms of a box's players to everyone's totals, pair by pair."""
    for at in range(work.boxes.indices[FIRST, box], work.boxes.indices[FIRST, box + 1]):
        j = work.boxes.indices[ORDER, at]
        rating, place, weight = work.table[RATING, j], work.table[PLACE, j], work.table[WEIGHT + k, j]
        if weight > 0.0:
            for i in range(size):
                expected = incomplete_beta(logistic(slope * (work.table[RATING, i] - rating)), shape)
                work.table[TOTAL + k, i] += (
                    weight * agnesi(closeness * (work.table[PLACE, i] - place)) * (0.5 - expected)
                )


@kernel
def add_box(
    work: RaceWorkspace, size: int, rows: int, k: int, box: int, half: float, slope: float, shape: float
) -> None:
    """Add the terms of a box's players to everyone's totals, using Chebyshev points.

    Args:
        half: Half the width of the box, in log-odds.
    """
    boxes, sequences, shares, centre = work.boxes, work.sequences, work.shares, work.boxes.centres[box]
    table, begin, end = work.table, boxes.indices[FIRST, box], boxes.indices[FIRST, box + 1]
    for point in range(POINTS):
        work.strengths[point] = exp(half * ZEROS[point])
    for at in range(begin, end):
        j = boxes.indices[ORDER, at]
        write_shares((table[RATING, j] - centre) * slope / half, 0, POINTS, shares)
        table[SUMMED, j] = 0.0
        for point in range(POINTS):
            table[SUMMED, j] += shares[point]
    for first in range(0, POINTS, COLUMNS):
        clear(sequences, rows)
        for at in range(begin, end):
            j = boxes.indices[ORDER, at]
            write_shares((table[RATING, j] - centre) * slope / half, first, COLUMNS, shares)
            weight = table[WEIGHT + k, j] / table[SUMMED, j]
            for column in range(COLUMNS):
                sequences[work.indices[GRID, j], column] += weight * shares[column]
        transform(sequences, rows, work.roots)
        for row in range(rows):
            for column in range(COLUMNS):
                sequences[row, column] *= work.spectra[EVEN, row]
        transform_back(sequences, rows, work.roots)
        for i in range(size):
            weakness = exp(slope * (centre - table[RATING, i]))
            table[TOTAL + k, i] += sum_of_points(work, work.indices[GRID, i], first, weakness, shape)


@kernel
def sum_of_points(work: RaceWorkspace, row: int, first: int, weakness: float, shape: float) -> float:
    """Return the sum of the terms of `COLUMNS` points for a player. `weakness` is e^-(rating above the centre)."""
    summed = 0.0
    for column in range(COLUMNS):
        share = 1.0 / (1.0 + weakness * work.strengths[first + column])
        work.shares[column] = 0.5 - incomplete_beta(share, shape)
    for column in range(COLUMNS):
        summed += work.sequences[row, column] * work.shares[column]
    return summed


@kernel
def write_shares(x: float, first: int, count: int, shares: Any) -> None:
    """Write the barycentric terms of some Chebyshev points, for a player at `x` (from -1 to 1) in its box.

    A point's share is its term divided by the sum of all terms.
    """
    for point in range(count):
        distance = x - ZEROS[first + point]
        shares[point] = FACTORS[first + point] / (distance if distance != 0.0 else TINY)


@kernel
def agnesi(gap: float) -> float:
    """Return the witch of Agnesi: 1 for equal places, and 1/2 if `gap` (pi * places / span) is 1."""
    return 1.0 / (gap * gap + 1.0)
