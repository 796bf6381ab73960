"""The sides of a heat: team mates or one alone, with what they share, in the order of the file."""

from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import part_at, rank_at, slot_at
from podium.kernels.compiled import kernel
from podium.kernels.records import read, write


class Sides(NamedTuple):
    """The sides of a heat: team mates of one rank (whoever quits has another), or one without mates.

    Behind its members stand the things that they share, as members of their own: a car, a club.
    """

    members: Any  # float64 (members, fields of an entering state), side by side
    parts: Any  # float64 (members): the part of the game that each was there for; 1 of one without mates
    share: Any  # float64 (members): the parts by their sum, 1 in all; of a thing the sum of those who have it
    entry: Any  # int64 (members): which entry of all each member is; of a thing the side's first
    slot: Any  # int64 (members): which entrant of the settlement
    shared: Any  # int64 (members): 1 of things, else 0
    start: Any  # int64 (members + 1): each side's first member, and the end of the last
    home: Any  # float64 (members): 1 of a side that begins, or is at home, else 0


def room_for_sides(longest: int, fields: int, kinds: int = 0) -> Sides:
    """Room for the sides of so many entries, of which each may share a thing of each kind."""
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
    )


@kernel
def gather_sides(
    columns: Any, begin: int, end: int, first: int, entering_states: Any, entering: Any, sides: Any, known: int = 0
) -> int:
    """Gather the sides of entries `begin` to `end`, in the order of their first ones in the file; how many they are.

    Args:
        entering_states: what each entrant of the settlement brings, (entrants, fields).
        known: how many sides stand there already, behind which these go.
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
                put_member(
                    entering_states, entering, slot_at(columns, j, first), j, part_at(columns, j), sides, members
                )
                members += 1
        share_out(sides, sides.start[count], members)
        if columns.shared.size:
            members = put_things(columns, entering_states, entering, sides, sides.start[count], members)
        sides.home[count] = columns.home[i] if columns.home.size else 0.0
        count += 1
        sides.start[count] = members
    return count - known


@kernel
def put_member(
    entering_states: Any, entering: Any, slot: int, entry: int, part: float, sides: Any, member: int
) -> None:
    write(sides.members, member, read(entering_states, slot, entering))
    sides.parts[member], sides.entry[member], sides.slot[member], sides.shared[member] = part, entry, slot, 0


@kernel
def share_out(sides: Any, start: int, stop: int) -> None:
    """Say what each member from `start` to `stop` counts in its side: as long as it was there, all alike if nobody was.

    Who had no mates was expected to play all of it, and quits as a result.
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
def put_things(columns: Any, entering_states: Any, entering: Any, sides: Any, start: int, stop: int) -> int:
    """Write the things that members `start` to `stop` share behind them; where they end."""
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
                put_member(entering_states, entering, slot, sides.entry[start], 1.0, sides, end)
                sides.shared[end], sides.share[end] = 1, 0.0
                end += 1
            sides.share[at] += sides.share[k]
    return end


@kernel
def are_mates(columns: Any, i: int, j: int) -> bool:
    """Whether two entries of a heat that teams contest are on one side."""
    return bool(columns.side[i] == columns.side[j] and rank_at(columns, i) == rank_at(columns, j))


@kernel
def are_alike(sides: Any, one: int, other: int) -> bool:
    """Whether two sides have the same members, things and parts, and are both at home or both not."""
    start, begin = sides.start[one], sides.start[other]
    alike = sides.start[one + 1] - start == sides.start[other + 1] - begin and sides.home[one] == sides.home[other]
    if alike:
        for k in range(sides.start[one + 1] - start):
            same = sides.slot[start + k] == sides.slot[begin + k] and sides.share[start + k] == sides.share[begin + k]
            alike = alike and same
    return bool(alike)


@kernel
def move_side(sides: Any, source: int, to: int, entering: Any) -> None:
    """Put a side behind those before number `to`, which is not above its own."""
    at = sides.start[to]
    for k in range(sides.start[source], sides.start[source + 1]):
        write(sides.members, at, read(sides.members, k, entering))
        sides.parts[at], sides.share[at] = sides.parts[k], sides.share[k]
        sides.entry[at], sides.slot[at], sides.shared[at] = sides.entry[k], sides.slot[k], sides.shared[k]
        at += 1
    sides.home[to] = sides.home[source]
    sides.start[to + 1] = at
