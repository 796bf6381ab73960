"""The units of an event, of the system `podium`: who is placed, as a list of states and their coefficients.

A unit is an entrant, or a side: the mean of its members, what they share, the side that begins. Its rows are those of
`scratch.entering_states`, `scratch.sums` and `scratch.room`; states stand before units, and where every entrant is a
unit of its own, they are the same rows. In a row of the room stand, a block each, what theta does to the mean, to the
variance, to the surprise, to the information, and to the surprise at the mode; then what is named below.
"""

import math
from typing import Any, NamedTuple

from podium.engine.inputs import Columns, Entry, entries_of, heats_of, rank_at, slot_at
from podium.engine.tables.sides import are_alike, gather_sides, move_side
from podium.kernels.compiled import kernel
from podium.kernels.fours import FOUR, four, four_at, put_four
from podium.kernels.records import read, write
from podium.systems._podium_entering import (
    Entering,
    Passed,
    enters_at_level,
    full_of,
    joined,
    offset_entered,
    offset_in,
    seen,
    side_entered,
    spread_column,
)
from podium.systems._podium_rules import in_both
from podium.systems._podium_state import (
    AGEING,
    ENTRY,
    EVENT,
    GROWTH,
    IDLE_DAY,
    MEANS,
    MODE,
    NOISE,
    OF_SIDE,
    OF_THINGS,
    OWN,
    REST,
    SIDE_VARIANCE,
    THETA,
    width_of,
)

BLOCKS = 5  # in a row of the room
LAND, LOW, HIGH, SURPRISE, INFORMATION, DONE, USES = range(7)  # numbers behind them: the mode's search, how many units
BY_TERMS = 8  # and what reach and unfinished do to the surprise and to the information by the terms with them in them
BEHIND = 12
UNIT, PLACE, RANK, FINISHED, SIDE, SIZE = range(6)  # in a line: its unit's row, its result; in a heat's first: units
BESIDE = 2  # rows of the room behind all others: the learner's, what a pair shares; before them the curvature's


def room_for(modes: int, things: int) -> tuple[int, int]:
    """The scratch that an event takes: numbers a row, and rows beside."""
    full = OWN + (modes > 0) + OF_THINGS * things + OF_SIDE
    return BLOCKS * width_of(full) + BEHIND, full + BESIDE


class Layout(NamedTuple):
    """Where what stands in an event's scratch."""

    first: int  # of the columns' entrants
    entrants: int
    modal: int  # 1 where each entrant has an offset: in as many rows behind the entrants'
    sided: int  # 1 where the side that begins has a row, behind those
    base: int  # the first unit's row
    units: int
    width: int  # of a block
    full: int  # parameters


@kernel
def enter_row(
    params: Any, me: Any, brought: Entering, passed: Passed, kind: float, room: Any, i: int, width: int
) -> None:
    """Write the derivatives that a state brings, after the time before the event."""
    full = full_of(params)
    clear_row(room, i, width)
    spread = spread_column(params, kind)
    day = IDLE_DAY if kind == 0.0 else spread + 1
    if passed.new:
        room[i, width + spread] = passed.skill
        room[i, ENTRY] = params.maturity * enters_at_level(me, kind)
        return
    for k in range(1, full + 1):
        room[i, k] = me[MEANS + k]
        room[i, width + k] = me[MEANS + full + 1 + k]
    room[i, REST], room[i, width + REST] = brought.mean_reading, brought.variance_reading
    if kind == 0.0:
        room[i, GROWTH] += passed.growth
        room[i, AGEING] -= passed.ageing
        room[i, width + EVENT] += params.event
    if passed.rate > 0.0:
        rise = (passed.ceiling - passed.skill) * passed.fade * passed.rate
        for k in range(1, full + 1):
            room[i, width + k] *= passed.fade
        room[i, width + day] += rise
        room[i, width + spread] += passed.ceiling * (1.0 - passed.fade) - rise


@kernel
def clear_row(room: Any, i: int, width: int) -> None:
    """Begin a row of the room; the block of the surprise at the mode is begun where it is needed."""
    for k in range(0, (BLOCKS - 1) * width, FOUR):
        put_four(room, i, k, four(0.0, 0.0, 0.0, 0.0))
    for k in range(BLOCKS * width, BLOCKS * width + BEHIND, FOUR):
        put_four(room, i, k, four(0.0, 0.0, 0.0, 0.0))


@kernel
def enter_offset(params: Any, me: Any, scratch: Any, i: int, width: int) -> None:
    """Write an entrant's offset in the event's mode, and its derivatives, as a state of its own."""
    full, offset = full_of(params), offset_in(params, me)
    brought = offset_entered(params, me, offset)
    write(scratch.entering_states, i, brought)
    clear_row(scratch.room, i, width)
    for k in range(1, full + 1):
        scratch.room[i, k] = me[offset + 2 + k]
        scratch.room[i, width + k] = me[offset + full + 3 + k]
    scratch.room[i, REST], scratch.room[i, width + REST] = brought.mean_reading, brought.variance_reading
    if me[offset + 1] == 0.0:  # not seen in this mode before
        scratch.room[i, width + MODE] += params.offset


@kernel
def enter_side(params: Any, scratch: Any, i: int, full: int) -> None:
    """Write the side that begins as a state, and its derivatives, which the pool keeps."""
    width, pool, block = width_of(full), scratch.pool, THETA + full + full * (full + 1) // 2
    brought = side_entered(params)
    write(scratch.entering_states, i, brought)
    clear_row(scratch.room, i, width)
    if pool[SIDE_VARIANCE] == 0.0:
        scratch.room[i, width + full - 1] = brought.variance
        return
    for k in range(1, full + 1):
        scratch.room[i, k] = pool[block + k]
        scratch.room[i, width + k] = pool[block + full + 1 + k]
    scratch.room[i, REST], scratch.room[i, width + REST] = brought.mean_reading, brought.variance_reading
    scratch.room[i, width + full] += brought.variance - pool[SIDE_VARIANCE]


@kernel
def line_up(columns: Columns, settlement: int, first: int, base: int, entering: Any, scratch: Any) -> int:
    """Write a line for each unit of each heat, in the order of the file; how many units there are in the event.

    A heat's lines begin where its entries do, less the event's first; where it has fewer units, some stay unused.
    """
    lines, sides, units = scratch.lines, scratch.sides, 0
    first_heat, after_last = heats_of(columns, settlement)
    first_entry, _ = entries_of(columns, first_heat)
    for heat in range(first_heat, after_last):
        start, stop = entries_of(columns, heat)
        at = start - first_entry
        if base == 0:
            for i in range(start, stop):
                slot = slot_at(columns, i, first)
                units = max(units, slot + 1)
                put_line(columns, i, slot, columns.place[i], lines, i - first_entry)
            lines[at, SIZE] = float(stop - start)
            continue
        known = units
        count = gather_sides(columns, start, stop, first, scratch.entering_states, entering, sides, known)
        for side in range(known, known + count):
            i = sides.entry[sides.start[side]]
            twin = 0
            while twin < known and not are_alike(sides, twin, side):
                twin += 1
            if twin == known:
                twin = units
                move_side(sides, side, twin, entering)
                units += 1
            put_line(columns, i, base + twin, columns.place[i], lines, at + side - known)
        if columns.side.size:
            for a in range(at, at + count):
                ahead, level = 0.0, 0.0
                for b in range(at, at + count):
                    ahead += 1.0 if lines[b, RANK] < lines[a, RANK] else 0.0
                    level += 1.0 if lines[b, RANK] == lines[a, RANK] else 0.0
                lines[a, PLACE] = ahead + (0.5 * (level + 1.0) if lines[a, FINISHED] else 1.0)
        lines[at, SIZE] = float(count)
    return units


@kernel
def put_line(columns: Columns, entry: int, row: int, place: float, lines: Any, at: int) -> None:
    """Write the line of a unit that an entry stands for."""
    lines[at, UNIT], lines[at, RANK] = float(row), rank_at(columns, entry)
    lines[at, FINISHED] = columns.finished[entry] if columns.finished.size else 1.0
    lines[at, PLACE] = place if lines[at, FINISHED] else lines[at, RANK]  # right behind the last who finished
    lines[at, SIDE] = float(columns.side[entry]) if columns.side.size else -1.0 - entry


@kernel
def heat_at(columns: Columns, settlement: int, heat: int, lines: Any) -> tuple[int, int]:
    """The lines of a heat: the first, and the one after the last."""
    first_heat, _ = heats_of(columns, settlement)
    start = entries_of(columns, heat)[0] - entries_of(columns, first_heat)[0]
    return start, start + int(lines[start, SIZE])


@kernel
def are_compared(lines: Any, i: int, j: int) -> bool:
    """Whether two lines of a heat say anything about each other: not of one side, not both unfinished."""
    return bool(lines[i, SIDE] != lines[j, SIDE] and (lines[i, FINISHED] or lines[j, FINISHED]))


@kernel
def entry_of(lines: Any, i: int) -> Entry:
    """A line as the rules read it."""
    place, unknown = lines[i, PLACE], math.nan
    return Entry(lines[i, FINISHED], place, place, unknown, unknown, unknown, unknown, 0.0, 1.0)


@kernel
def form_units(params: Any, entering: Any, layout: Layout, scratch: Any) -> None:
    """Write what each unit brings, and its derivatives, and count in how many units each state is."""
    room, width, uses = scratch.room, layout.width, BLOCKS * layout.width + USES
    for number in range(layout.units):
        row = layout.base + number
        clear_row(room, row, width)
        unit = seen(params, 0.0, 0.0, 0.0, 0.0, 0.0)
        for part in range(parts_of(layout, scratch.sides, number)):
            state, share = part_at(layout, scratch.sides, number, part)
            unit = joined(params, unit, share, read(scratch.entering_states, state, entering))
            room[state, uses] += 1.0
            for k in range(0, width, FOUR):
                put_four(room, row, k, four_at(room, row, k) + share * four_at(room, state, k))
                by_variance = share * share * four_at(room, state, width + k)
                put_four(room, row, width + k, four_at(room, row, width + k) + by_variance)
        write(scratch.entering_states, row, unit)


@kernel
def variances_at(room: Any, row: int, width: int, k: int, noise: float) -> Any:
    """What four of the parameters do to the variance of a unit's performance, noise among them."""
    by_variance = four_at(room, row, width + k)
    if k == NOISE:  # which begins four
        by_variance += four(noise, 0.0, 0.0, 0.0)
    return by_variance


@kernel
def parts_of(layout: Layout, sides: Any, number: int) -> int:
    """How many states a unit has."""
    if layout.base == 0:
        return 1
    members: int = sides.start[number + 1] - sides.start[number]
    return members * (1 + layout.modal) + int(sides.home[number])


@kernel
def part_at(layout: Layout, sides: Any, number: int, part: int) -> tuple[int, float]:
    """The row of one of a unit's states, and its coefficient: members and things, then offsets, then the side."""
    if layout.base == 0:
        return number, 1.0
    start, stop = sides.start[number], sides.start[number + 1]
    if part < stop - start:
        return sides.slot[start + part], sides.share[start + part]
    if part < (stop - start) * (1 + layout.modal):
        member = start + part - (stop - start)
        return layout.entrants + sides.slot[member], sides.share[member]
    return layout.base - 1, 1.0


@kernel
def common_of(params: Any, entering: Any, layout: Layout, scratch: Any, one: int, other: int) -> Entering:
    """The things that the units of two rows share, with what theta does to their variance in the room's last row."""
    sides, room, width = scratch.sides, scratch.room, layout.width
    row, a, b = room.shape[0] - 1, one - layout.base, other - layout.base
    both = in_both(params, entering, sides, a, b)
    if both.variance > 0.0:
        for k in range(0, width, FOUR):
            put_four(room, row, k, four(0.0, 0.0, 0.0, 0.0))
        for m in range(sides.start[a], sides.start[a + 1]):
            for n in range(sides.start[b], sides.start[b + 1]):
                if sides.shared[m] and sides.slot[m] == sides.slot[n]:
                    share = sides.share[m] * sides.share[n]
                    for k in range(0, width, FOUR):
                        by_variance = share * four_at(room, sides.slot[m], width + k)
                        put_four(room, row, k, four_at(room, row, k) + by_variance)
    return both
