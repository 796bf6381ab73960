"""The units of an event in the `adaptive` system. Each unit is a list of states with coefficients.

A unit is an entrant or a side: the mean of its members, plus their shared equipment, plus the home side. States and
units have rows in `scratch.entering_states`, `scratch.sums` and `scratch.workspace`: first the states, then the units.
If every entrant is a unit, states and units share their rows.
"""

import math
from typing import Any, NamedTuple

from podium.engine.inputs import Columns, Entry, entries_of, heats_of, rank_at, slot_at
from podium.engine.tables.sides import are_alike, gather_sides, move_side
from podium.kernels.compiled import kernel
from podium.kernels.fours import FOUR, four, four_at, put_four
from podium.kernels.records import read, write
from podium.systems._adaptive_entering import (
    NOBODY,
    Entering,
    Passed,
    apart,
    distance_of,
    enters_at_level,
    equipment_of,
    extras_of,
    full_of,
    joined,
    offset_entered,
    offset_in,
    seen,
    side_entered,
    size_entered,
    spread_column,
)
from podium.systems._adaptive_rules import in_both
from podium.systems._adaptive_state import (
    AGEING,
    ENTRY,
    EVENT,
    GROWTH,
    IDLE_DAY,
    MEANS,
    MODE,
    NOISE,
    OUTNUMBERING,
    READING,
    REVERSION,
    SCALE,
    SIDE_VARIANCE,
    extras_at,
    prior_of,
    side_block,
    width_of,
)

# Columns of a row of the workspace: the search for a unit's mode, and the number of units that use a state.
STEP, LOW, HIGH, SURPRISE, INFORMATION, STATUS, USES = range(7)
BY_TERMS = 8  # four columns: dS and dJ by reach, then by unfinished, from pair weights only
FIRST_BLOCK = 12  # the derivatives with respect to theta begin here
# Columns of a line: the row of its unit, and the unit's result. SIZE, in a heat's first line, is the number of units.
UNIT, PLACE, RANK, FINISHED, SIDE, SIZE, SCORE = range(7)
EXTRA_ROWS = 2  # the last rows of the workspace: the gradient, and a pair's common part; M is above them


class Derivatives(NamedTuple):
    """First column of each block of derivatives in a row of the workspace. A block starts with the reading."""

    mean: int  # of m, or of mu for a unit
    variance: int  # of V, or of U for a unit
    surprise: int  # of S
    information: int  # of J
    surprise_at_mode: int  # of S(d), for a fixed d
    width: int  # columns of a block, a multiple of four


@kernel
def derivatives_of(full: int) -> Derivatives:
    """Return the first columns of the blocks, for a pool with `full` parameters."""
    width, first = width_of(full), FIRST_BLOCK
    return Derivatives(first, first + width, first + 2 * width, first + 3 * width, first + 4 * width, width)


def workspace_for(modes: int, equipment: int, extras: int) -> tuple[int, int]:
    """Return the shape of an event's workspace: its columns, and its rows beyond those of states and units."""
    full = len(prior_of(modes, equipment, extras))
    d = derivatives_of(full)
    return d.surprise_at_mode + d.width, full + EXTRA_ROWS


class Layout(NamedTuple):
    """The position of an event's states and units in the scratch memory."""

    first: int  # number of the first entrant in the columns
    entrants: int
    modal: int  # 1 if each entrant has an offset in the event's mode, in a row after the entrants' rows
    sided: int  # 1 if the home side has a row, the last one before those of units
    sized: int  # 1 if outnumbering has a row, before that of the home side
    base: int  # row of the first unit; 0 if every entrant is a unit of its own
    units: int
    d: Derivatives
    full: int  # number of parameters


@kernel
def enter_row(
    params: Any, me: Any, brought: Entering, passed: Passed, kind: float, work: Any, i: int, d: Derivatives
) -> None:
    """Write the derivatives of a state at the start of an event, after the effect of the time since its last event."""
    full = full_of(params)
    clear_row(work, i, d)
    spread = spread_column(params, kind)
    day = IDLE_DAY if kind == 0.0 else spread + 1
    if passed.new:
        work[i, d.variance + spread] = passed.skill
        work[i, d.mean + ENTRY] = params.maturity * enters_at_level(me, kind)
        return
    copy_blocks(me, MEANS, brought, work, i, d, full)
    if extras_of(params) and passed.years > 0.0:
        revert(params, me, passed, kind, work, i, d)
    if kind == 0.0:
        work[i, d.mean + GROWTH] += passed.growth
        work[i, d.mean + AGEING] -= passed.ageing
        work[i, d.variance + EVENT] += params.event
    if passed.rate > 0.0:
        rise = (passed.ceiling - passed.skill) * passed.fade * passed.rate
        for k in range(1, full + 1):
            work[i, d.variance + k] *= passed.fade
        work[i, d.variance + day] += rise
        work[i, d.variance + spread] += passed.ceiling * (1.0 - passed.fade) - rise


@kernel
def revert(params: Any, me: Any, passed: Passed, kind: float, work: Any, i: int, d: Derivatives) -> None:
    """Apply reversion to the mean to a state's derivatives: m - a and its derivatives times E, and V times E^2."""
    full, kept = full_of(params), passed.kept
    for k in range(1, full + 1):
        work[i, d.mean + k] *= kept
        work[i, d.variance + k] *= kept * kept
    variance = (me.filtered / SCALE) * (me.filtered / SCALE)
    work[i, d.mean + full - REVERSION] -= passed.years * kept * distance_of(params, me, kind)
    work[i, d.variance + full - REVERSION] -= 2.0 * passed.years * kept * kept * variance


@kernel
def copy_blocks(state: Any, at: int, brought: Entering, work: Any, i: int, d: Derivatives, full: int) -> None:
    """Copy the derivatives of a mean and its variance, whose blocks start at `at`, into a row of the workspace."""
    work[i, d.mean + READING], work[i, d.variance + READING] = brought.mean_reading, brought.variance_reading
    for k in range(1, full + 1):
        work[i, d.mean + k], work[i, d.variance + k] = state[at + k], state[at + full + 1 + k]


@kernel
def enter_state(state: Any, at: int, brought: Entering, scratch: Any, i: int, d: Derivatives, full: int) -> None:
    """Write an entering state that is not an entrant's, with its derivatives."""
    write(scratch.entering_states, i, brought)
    clear_row(scratch.workspace, i, d)
    copy_blocks(state, at, brought, scratch.workspace, i, d, full)


@kernel
def state_at(scratch: Any, row: int) -> Entering:
    """Return the entering state of an entrant, another state or a unit."""
    return read(scratch.entering_states, row, NOBODY)  # type: ignore[no-any-return]


@kernel
def clear_row(work: Any, i: int, d: Derivatives) -> None:
    """Set a row of the workspace to zero, except for the derivatives of S(d), which `choose_step` clears."""
    for k in range(0, d.surprise_at_mode, FOUR):
        put_four(work, i, k, four(0.0, 0.0, 0.0, 0.0))


@kernel
def enter_offset(params: Any, me: Any, scratch: Any, i: int, d: Derivatives) -> None:
    """Write an entrant's offset for the event's mode, and its derivatives, as a separate state."""
    full, offset = full_of(params), offset_in(params, me)
    enter_state(me, offset + 2, offset_entered(params, me, offset), scratch, i, d, full)
    if me[offset + 1] == 0.0:  # the first event in this mode
        scratch.workspace[i, d.variance + MODE] += params.offset


@kernel
def enter_pool_states(params: Any, scratch: Any, base: int, sided: int, sized: int, d: Derivatives) -> None:
    """Write the home side and outnumbering, with their derivatives, as states, if the event has them."""
    work, pool, full = scratch.workspace, scratch.pool, full_of(params)
    if sided:
        enter_state(pool, side_block(full), side_entered(params), scratch, base - 1, d, full)
        known: float = pool[SIDE_VARIANCE]
        work[base - 1, d.variance + (full if known > 0.0 else full - 1)] += params.side_variance - known
    if sized:
        enter_state(pool, extras_at(full) + OUTNUMBERING + 3, size_entered(params), scratch, base - 1 - sided, d, full)


@kernel
def line_up(columns: Columns, update: int, first: int, base: int, scratch: Any) -> int:
    """Write the lines of all units of all heats, in file order, and return the number of units.

    A heat's lines begin at the position that its first entry has in the event. If the heat has fewer units than
    entries, its last lines are unused.
    """
    lines, sides, units = scratch.lines, scratch.sides, 0
    first_heat, after_last = heats_of(columns, update)
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
        count = gather_sides(columns, start, stop, first, scratch.entering_states, NOBODY, sides, known)
        for side in range(known, known + count):
            i = sides.entry[sides.start[side]]
            twin = 0
            while twin < known and not are_alike(sides, twin, side):
                twin += 1
            if twin == known:
                twin = units
                move_side(sides, side, twin, NOBODY)
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
    """Write the line of the unit to which an entry belongs."""
    lines[at, UNIT], lines[at, RANK] = float(row), rank_at(columns, entry)
    lines[at, FINISHED] = columns.finished[entry] if columns.finished.size else 1.0
    lines[at, PLACE] = place if lines[at, FINISHED] else lines[at, RANK]  # right behind the last finisher
    lines[at, SIDE] = float(columns.side[entry]) if columns.side.size else -1.0 - entry
    lines[at, SCORE] = columns.score[entry] if columns.score.size else math.nan


@kernel
def heat_at(columns: Columns, update: int, heat: int, lines: Any) -> tuple[int, int]:
    """Return the range of a heat's lines: the first line, and the line after the last one."""
    first_heat, _ = heats_of(columns, update)
    start = entries_of(columns, heat)[0] - entries_of(columns, first_heat)[0]
    return start, start + int(lines[start, SIZE])


@kernel
def are_compared(lines: Any, i: int, j: int) -> bool:
    """Return True if two lines of a heat are compared: they are on different sides, and at least one finished."""
    return bool(lines[i, SIDE] != lines[j, SIDE] and (lines[i, FINISHED] or lines[j, FINISHED]))


@kernel
def entry_of(lines: Any, i: int) -> Entry:
    """Convert a line to an entry for the rules."""
    place, unknown = lines[i, PLACE], math.nan
    return Entry(lines[i, FINISHED], place, place, unknown, lines[i, SCORE], unknown, unknown, 0.0, 1.0, 0.0)


@kernel
def form_units(params: Any, layout: Layout, scratch: Any) -> None:
    """Write the mean, variance and derivatives of each unit, and count how many units use each state."""
    work, d = scratch.workspace, layout.d
    for number in range(layout.units):
        row = layout.base + number
        clear_row(work, row, d)
        unit = seen(params, 0.0, 0.0, 0.0, 0.0, 0.0)
        for part in range(parts_of(layout, scratch.sides, number)):
            state, share = part_at(layout, scratch.sides, number, part)
            unit = joined(params, unit, share, state_at(scratch, state))
            work[state, USES] += 1.0
            for k in range(d.mean, d.variance, FOUR):
                put_four(work, row, k, four_at(work, row, k) + share * four_at(work, state, k))
            for k in range(d.variance, d.surprise, FOUR):
                put_four(work, row, k, four_at(work, row, k) + share * share * four_at(work, state, k))
        write(scratch.entering_states, row, unit)


@kernel
def variances_at(work: Any, row: int, d: Derivatives, k: int, noise: float) -> Any:
    """Return the derivatives of A = U + noise with respect to four parameters, starting at column `k` of the block."""
    by_variance = four_at(work, row, d.variance + k)
    if k == NOISE:  # the noise is not part of any state
        by_variance += four(noise, 0.0, 0.0, 0.0)
    return by_variance


@kernel
def parts_of(layout: Layout, sides: Any, number: int) -> int:
    """Return the number of states in a unit."""
    if layout.base == 0:
        return 1
    members: int = sides.start[number + 1] - sides.start[number]
    return members * (1 + layout.modal) + int(sides.home[number]) + int(sides.surplus[number] > 0.0)


@kernel
def part_at(layout: Layout, sides: Any, number: int, part: int) -> tuple[int, float]:
    """Return the row and coefficient of one of a unit's states: members, then equipment, offsets and the home side."""
    if layout.base == 0:
        return number, 1.0
    start, stop = sides.start[number], sides.start[number + 1]
    if part < stop - start:
        return sides.slot[start + part], sides.share[start + part]
    if part < (stop - start) * (1 + layout.modal):
        member = start + part - (stop - start)
        return layout.entrants + sides.slot[member], sides.share[member]
    if sides.home[number] and part == (stop - start) * (1 + layout.modal):
        return layout.base - 1, 1.0
    return layout.base - 1 - layout.sided, sides.surplus[number]


@kernel
def common_of(params: Any, layout: Layout, scratch: Any, row_a: int, row_b: int) -> Entering:
    """Return the equipment that two units share, and write the derivatives of its variance into the last row."""
    sides, work, d = scratch.sides, scratch.workspace, layout.d
    last, a, b = work.shape[0] - 1, row_a - layout.base, row_b - layout.base
    common = in_both(params, NOBODY, sides, a, b)
    if common.variance > 0.0:
        for k in range(0, d.width, FOUR):
            put_four(work, last, k, four(0.0, 0.0, 0.0, 0.0))
        for m in range(sides.start[a], sides.start[a + 1]):
            for n in range(sides.start[b], sides.start[b + 1]):
                if sides.shared[m] and sides.slot[m] == sides.slot[n]:
                    share = sides.share[m] * sides.share[n]
                    for k in range(0, d.width, FOUR):
                        by_variance = share * four_at(work, sides.slot[m], d.variance + k)
                        put_four(work, last, k, four_at(work, last, k) + by_variance)
    return common


@kernel
def opponents_at(params: Any, layout: Layout, scratch: Any, row_a: int, row_b: int) -> tuple[Entering, Entering, bool]:
    """Return two units without the equipment that they share, and True if they share any."""
    a, b = state_at(scratch, row_a), state_at(scratch, row_b)
    if equipment_of(params):
        common = common_of(params, layout, scratch, row_a, row_b)
        if common.variance > 0.0:
            return apart(params, a, common), apart(params, b, common), True
    return a, b, False
