"""Plackett and Luce's model of a ranking without teams: quotients, roots and powers go in lanes, sums one by one.

To the bits of `openskill_pl.whole_ranking`, which serves all else.
"""

import math
from typing import Any, NamedTuple

from podium.engine.fast.large_heats import any_teams
from podium.engine.inputs import rank_at, slot_at, weight_at
from podium.engine.rules import kernel
from podium.kernels.exponential import exp
from podium.kernels.records import LANES, add, read, read_fields, write_fields

FAR = 700.0  # from here on a field's strengths no longer fit into one scale of numbers


class Number(NamedTuple):
    """One of the numbers of a lane."""

    value: float


NUMBER = Number(0.0)
# What is known of a place, best first: whose it is, and how many share its rank; the player's mean and variance; the
# strength, and what is left of the field's at this rank and at the one above; two quotients of these, then the
# evidence; sums of quotients over the ranks so far; how many have taken the rank.
SLOT, TIES, MU, VARIANCE, STRENGTH, LEFT, ABOVE, CHANCE, FALLEN, ONCE, SQUARED, TAKEN = range(12)
SHIFT = CHANCE
ROOM = LANES, 12  # of a scratch, beside a row for each entrant: `LANES` places take twelve rows
VECTOR, VECTOR_BITS, LANE_BITS = 8, 3, 4  # places that are worked out together, and a power of two, as `LANES` is


@kernel
def number_in(table: Any, field: int, lane: int) -> float:
    """A number of a lane; `field` counts from the first of all."""
    number: float = read_fields(table, field, lane, NUMBER).value
    return number


@kernel
def first_field(place: int) -> int:
    """Where the fields of a place begin."""
    return (place >> LANE_BITS) * ROOM[1]


@kernel
def number_at(table: Any, place: int, field: int) -> float:
    """A number of a place; places count from 0."""
    return number_in(table, first_field(place) + field, place & (LANES - 1))


@kernel
def note(table: Any, place: int, field: int, value: float) -> None:
    """Put down a number of a place."""
    write_fields(table, first_field(place) + field, place & (LANES - 1), Number(value))


@kernel
def judge_players(
    params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> bool:
    """Add what a heat says of each of its players; False where it is not for these lanes, and nothing was added."""
    if (columns.played_s.size and params.partial_play) or any_teams(columns, start, stop):
        return False
    _, entering, evidence = prototypes
    table, size = scratch.room, stop - start
    best, worst = seat_players(entering, columns, start, stop, first, scratch)
    total = 0.0
    for k in range(size):
        total += number_at(table, k, VARIANCE) + params.beta_squared
    inverse = 1.0 / math.sqrt(total)
    if not (best - worst) * inverse <= FAR:  # nor where a rating is not finite
        return False
    weigh_strengths(table, size, best, inverse)
    if columns.rank.size:
        share_ranks(table, size)
    sum_quotients(table, size)
    judge_places(table, size, inverse, weight_at(columns, heat))
    for k in range(size):
        lane, field = k & (LANES - 1), first_field(k) + SHIFT
        add(scratch.sums, int(number_at(table, k, SLOT)), read_fields(table, field, lane, evidence))
    return True


@kernel
def seat_players(entering: Any, columns: Any, start: int, stop: int, first: int, scratch: Any) -> tuple[float, float]:
    """Lay the players out by rank, those who tie in the order of the file; the best mean, and the worst."""
    table, size, any_tie = scratch.room, stop - start, columns.rank.size > 0
    for k in range(size if any_tie else 0):
        note(table, k, TAKEN, 0.0)
    best, worst = -math.inf, math.inf
    for i in range(start, stop):
        slot, k, taken = slot_at(columns, i, first), int(rank_at(columns, i)) - 1, 0.0
        if any_tie:
            taken = number_at(table, k, TAKEN)
            note(table, k, TAKEN, taken + 1.0)
            k += int(taken)
        me = read(scratch.entering_states, slot, entering)
        note(table, k, SLOT, float(slot))
        note(table, k, TIES, 1.0)
        note(table, k, MU, me.rating)
        note(table, k, VARIANCE, me.deviation * me.deviation)
        best, worst = max(best, me.rating), min(worst, me.rating)
    for k in range(size, whole_vectors(size)):  # of nobody: numbers that can be worked with
        note(table, k, MU, best)
        for field in (TIES, VARIANCE, LEFT, ABOVE):
            note(table, k, field, 1.0)
    return best, worst


@kernel
def whole_vectors(size: int) -> int:
    """How many places are worked out, for so many players."""
    return (size + VECTOR - 1) >> VECTOR_BITS << VECTOR_BITS


@kernel
def weigh_strengths(table: Any, size: int, best: float, inverse: float) -> None:
    """The strength of each player, and what is left of the field's at its rank, from the bottom."""
    end = whole_vectors(size)
    for begin in range(0, end, LANES):
        at = first_field(begin)
        for lane in range(min(LANES, end - begin)):
            strength = exp((number_in(table, at + MU, lane) - best) * inverse)
            write_fields(table, at + STRENGTH, lane, Number(strength))
    left = 0.0
    for below in range(size):
        k = size - 1 - below
        left += number_at(table, k, STRENGTH)
        note(table, k, LEFT, left)
        note(table, k + 1, ABOVE, left)
    note(table, 0, ABOVE, 1.0)


@kernel
def share_ranks(table: Any, size: int) -> None:
    """Have those who tie know how many they are, and what is left at their rank."""
    k = 0
    while k < size:
        ties, left = number_at(table, k, TAKEN), number_at(table, k, LEFT)
        for other in range(k, k + int(ties)):
            note(table, other, TIES, ties)
            note(table, other, LEFT, left)
        k += int(ties)
        note(table, k, ABOVE, left)


@kernel
def sum_quotients(table: Any, size: int) -> None:
    """From the top: sums, over the ranks so far, of what is left at this rank over what was left at each."""
    end = whole_vectors(size)
    for begin in range(0, end, LANES):
        at = first_field(begin)
        for lane in range(min(LANES, end - begin)):
            left = number_in(table, at + LEFT, lane)
            write_fields(table, at + CHANCE, lane, Number(number_in(table, at + STRENGTH, lane) / left))
            write_fields(table, at + FALLEN, lane, Number(left / number_in(table, at + ABOVE, lane)))
    once, squared, ties = 0.0, 0.0, 0
    for k in range(size):
        if ties == 0:
            fallen, ties = number_at(table, k, FALLEN), int(number_at(table, k, TIES))
            once, squared = once * fallen + 1.0, squared * fallen * fallen + 1.0
        note(table, k, ONCE, once)
        note(table, k, SQUARED, squared)
        ties -= 1


@kernel
def judge_places(table: Any, size: int, inverse: float, weight: float) -> None:
    """How far each player's mean shifts, and by what share the variance shrinks."""
    end, cubed = whole_vectors(size), inverse * inverse * inverse
    for begin in range(0, end, LANES):
        at = first_field(begin)
        for lane in range(min(LANES, end - begin)):
            chance, variance = number_in(table, at + CHANCE, lane), number_in(table, at + VARIANCE, lane)
            once, squared = (
                chance * number_in(table, at + ONCE, lane),
                chance * chance * number_in(table, at + SQUARED, lane),
            )
            surprise = (1.0 / number_in(table, at + TIES, lane) - once) * inverse
            shrink = math.sqrt(variance) * variance * ((once - squared) * cubed)
            write_fields(table, at + SHIFT, lane, Number(weight * (variance * surprise)))
            write_fields(table, at + SHIFT + 1, lane, Number(weight * shrink))
