"""The sides of a heat, in file order: teams or single players, with the equipment that they share."""

from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import part_at, rank_at, slot_at
from podium.kernels.compiled import by_reference, kernel
from podium.kernels.records import read, write


@by_reference
class Sides(NamedTuple):
    """The sides of a heat. A side is a single player, or team mates of equal rank (a quit changes the rank).

    After its players, a side lists the equipment that they share, such as a car or a club, as additional members.
    """

    members: Any  # float64 (members, fields of an entering state), one side after the other
    parts: Any  # float64 (members): part of the game played; 1 for a single player
    share: Any  # float64 (members): part divided by the sum of all parts; for equipment, the sum over its users
    entry: Any  # int64 (members): entry in the table; for equipment, the side's first entry
    slot: Any  # int64 (members): entrant of the update
    shared: Any  # int64 (members): 1 for equipment, else 0
    start: Any  # int64 (members + 1): first member of each side, followed by the end
    home: Any  # float64 (members): 1 for a side that starts or is at home, else 0
    surplus: Any  # float64 (members): ln(n / m) for a side of n players against m, if sizes count, else 0


def empty_sides(longest: int, fields: int, kinds: int = 0) -> Sides:
    """Return memory for the sides of `longest` entries, each with up to one piece of equipment of each kind."""
    size = longest * (1 + kinds)
    numbers = np.zeros((4, size), np.int64)
    return Sides(
        np.empty((size, fields)),
        np.ones(size),
        np.ones(size),
        numbers[0],
        numbers[1],
        numbers[2],
        np.zeros(size + 1, np.int64),
        np.zeros(size),
        np.zeros(size),
    )


@kernel
def gather_sides(
    columns: Any, begin: int, end: int, first: int, entering_states: Any, entering: Any, sides: Any, known: int = 0
) -> int:
    """Gather the sides of entries `begin` to `end`, in the order of their first entries. Return the number of sides.

    Args:
        entering_states: The entering states of the update's entrants, an array of shape (entrants, fields).
        known: Number of sides that already exist. The new sides follow them.
    """
    has_teams = columns.side.size > 0
    sides.start[0] = 0
    count, members = known, sides.start[known]
    for i in range(begin, end):
        is_mate = False
        for k in range(known, count if has_teams else known):
            is_mate = is_mate or are_mates(columns, i, sides.entry[sides.start[k]])
        if is_mate:
            continue
        for j in range(i, end if has_teams else i + 1):
            if j == i or are_mates(columns, i, j):
                write_member(
                    entering_states, entering, slot_at(columns, j, first), j, part_at(columns, j), sides, members
                )
                members += 1
        write_shares(sides, sides.start[count], members)
        if columns.shared.size:
            members = write_equipment(columns, entering_states, entering, sides, sides.start[count], members)
        sides.home[count] = columns.home[i] if columns.home.size else 0.0
        sides.surplus[count] = columns.surplus[i] if columns.surplus.size else 0.0
        count += 1
        sides.start[count] = members
    return count - known


@kernel
def write_member(
    entering_states: Any, entering: Any, slot: int, entry: int, part: float, sides: Any, member: int
) -> None:
    write(sides.members, member, read(entering_states, slot, entering))
    sides.parts[member], sides.entry[member], sides.slot[member], sides.shared[member] = part, entry, slot, 0


@kernel
def write_shares(sides: Any, start: int, stop: int) -> None:
    """Write each member's share of the side. Shares are in proportion to the part played, or equal if nobody played.

    A single player is expected to play the whole game, so leaving early counts as a quit.
    """
    if stop == start + 1:
        sides.parts[start] = sides.share[start] = 1.0
        return
    total = 0.0
    for k in range(start, stop):
        total += sides.parts[k]
    for k in range(start, stop):
        sides.share[k] = sides.parts[k] / total if total > 0.0 else 1.0 / (stop - start)


@kernel
def write_equipment(columns: Any, entering_states: Any, entering: Any, sides: Any, start: int, stop: int) -> int:
    """Write the equipment of members `start` to `stop` after these members. Return the index after the equipment."""
    kinds, end = columns.shared.size // columns.place.size, stop
    for kind in range(kinds):
        for k in range(start, stop):
            slot = columns.shared[sides.entry[k] * kinds + kind]
            if slot < 0:
                continue
            at = stop
            while at < end and sides.slot[at] != slot:
                at += 1
            if at == end:
                write_member(entering_states, entering, slot, sides.entry[start], 1.0, sides, end)
                sides.shared[end], sides.share[end] = 1, 0.0
                end += 1
            sides.share[at] += sides.share[k]
    return end


@kernel
def are_mates(columns: Any, i: int, j: int) -> bool:
    """Return True if two entries of a team heat are on the same side."""
    return bool(columns.side[i] == columns.side[j] and rank_at(columns, i) == rank_at(columns, j))


@kernel
def are_alike(sides: Any, one: int, other: int) -> bool:
    """Return True if two sides have the same members, equipment and parts, and both are at home or neither is."""
    start, begin = sides.start[one], sides.start[other]
    alike = sides.start[one + 1] - start == sides.start[other + 1] - begin and sides.home[one] == sides.home[other]
    alike = alike and sides.surplus[one] == sides.surplus[other]
    if alike:
        for k in range(sides.start[one + 1] - start):
            same = sides.slot[start + k] == sides.slot[begin + k] and sides.share[start + k] == sides.share[begin + k]
            alike = alike and same
    return bool(alike)


@kernel
def move_side(sides: Any, source: int, to: int, entering: Any) -> None:
    """Move a side to number `to`, which must not be above its current number."""
    at = sides.start[to]
    for k in range(sides.start[source], sides.start[source + 1]):
        write(sides.members, at, read(sides.members, k, entering))
        sides.parts[at], sides.share[at] = sides.parts[k], sides.share[k]
        sides.entry[at], sides.slot[at], sides.shared[at] = sides.entry[k], sides.slot[k], sides.shared[k]
        at += 1
    sides.home[to], sides.surplus[to] = sides.home[source], sides.surplus[source]
    sides.start[to + 1] = at
