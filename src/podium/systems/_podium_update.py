"""How an event moves the states of its units, of the system `podium`: never beyond the mode, with exact derivatives."""

import math
from typing import Any

from podium.engine.inputs import Columns, entrant_at, heats_of, weight_at
from podium.engine.rules import kernel
from podium.kernels.fours import FOUR, four, four_at, number_of, put_four
from podium.kernels.records import read, write
from podium.probability.logistic import logistic, score
from podium.systems._podium_entering import Entering, apart, first_day, offset_in, things_of
from podium.systems._podium_rules import Evidence, by_unfinished, finish_weight, nearness
from podium.systems._podium_state import (
    DEVIATION,
    EVENTS,
    FIRST,
    LAST,
    LINGER,
    MEANS,
    RATING,
    REACH,
    SCALE,
    SIDE_LAST,
    SIDE_MEAN,
    SIDE_VARIANCE,
    THETA,
    UNFINISHED,
    C,
)
from podium.systems._podium_units import (
    BLOCKS,
    BY_TERMS,
    DONE,
    FINISHED,
    HIGH,
    INFORMATION,
    LAND,
    LOW,
    PLACE,
    SIZE,
    SURPRISE,
    UNIT,
    USES,
    Layout,
    are_compared,
    common_of,
    heat_at,
    part_at,
    parts_of,
    variances_at,
)

NEAR_MODE, MOST_STEPS = 1e-3, 30  # of the search: the last step leaves the square of that
BOUND = 4.0  # log-odds by which an event may move a performance
LEAST_LAND = 1e-9
SEARCHED, AT_MODE, AT_BOUND, STANDS = 0.0, 1.0, 2.0, 3.0  # a unit's step: looked for; where it ends; that of old


@kernel
def find_modes(params: Any, prototypes: Any, columns: Columns, settlement: int, scratch: Any, layout: Layout) -> None:
    """Find where each unit's step ends: as of old, but never beyond the mode of its performance, nor the bound.

    Given the opponents at their old means, the mode of a performance solves d = A S(d), where the surprise S falls
    with d: it lies between 0 and A S(0). A step that ends before it stands; else the information is raised, so that
    the step ends there.
    """
    _, entering, zero_evidence = prototypes
    room, behind, left = scratch.room, BLOCKS * layout.width, 0
    for row in range(layout.base, layout.base + layout.units):
        spread = read(scratch.entering_states, row, entering).variance + params.noise
        totals = read(scratch.sums, row, zero_evidence)
        by_terms = four_at(room, row, behind + BY_TERMS)
        room[row, 2 * layout.width + REACH] += number_of(by_terms, 0)
        room[row, 3 * layout.width + REACH] += number_of(by_terms, 1)
        room[row, 2 * layout.width + UNFINISHED] += number_of(by_terms, 2)
        room[row, 3 * layout.width + UNFINISHED] += number_of(by_terms, 3)
        whole = spread * totals.surprise
        land = whole / (1.0 + spread * totals.information)
        room[row, behind + LOW], room[row, behind + HIGH] = min(0.0, whole), max(0.0, whole)
        # The information between the old mean and the step's end is on average at most J + rise d / 2 + curb d^2 / 144,
        # since v (1 - 6 v) is at most 1 / 24: where that is no more than J, the step ends before the mode.
        stands = land * (72.0 * totals.rise + totals.curb * land) <= 0.0
        room[row, behind + LAND], room[row, behind + DONE] = land, STANDS if stands else SEARCHED
        left += 0 if stands else 1
    step = 0
    while left > 0 and step < MOST_STEPS:
        look_at_lands(params, entering, columns, settlement, scratch, layout, SEARCHED)
        left = 0
        for row in range(layout.base, layout.base + layout.units):
            if room[row, behind + DONE] == SEARCHED:
                spread = read(scratch.entering_states, row, entering).variance + params.noise
                left += move_land(room, row, behind, spread, step)
        step += 1
    beyond = 0
    for row in range(layout.base, layout.base + layout.units):
        beyond += end_step(params, entering, zero_evidence, scratch, row, layout.width)
    if beyond > 0:
        look_at_lands(params, entering, columns, settlement, scratch, layout, AT_MODE)
    for row in range(layout.base, layout.base + layout.units):
        if room[row, behind + DONE] != STANDS:
            raise_information(params, entering, zero_evidence, scratch, row, layout.width)


@kernel
def end_step(params: Any, entering: Any, zero_evidence: Any, scratch: Any, row: int, width: int) -> int:
    """Say where a unit's step ends: where it was found, if that is nearer than of old; 1 at the mode, else 0."""
    room, behind = scratch.room, BLOCKS * width
    spread = read(scratch.entering_states, row, entering).variance + params.noise
    totals = read(scratch.sums, row, zero_evidence)
    land, done = room[row, behind + LAND], room[row, behind + DONE]
    if done == STANDS:
        land = spread * totals.surprise / (1.0 + spread * totals.information)
    if abs(land) > BOUND:
        land, done = BOUND if land > 0.0 else -BOUND, AT_BOUND
    if abs(land) < LEAST_LAND or totals.surprise / land - 1.0 / spread <= totals.information:
        done = STANDS
    room[row, behind + LAND], room[row, behind + DONE] = land, done
    for k in range(4 * width, behind if done == AT_MODE else 0, FOUR):
        put_four(room, row, k, four(0.0, 0.0, 0.0, 0.0))
    return 1 if done == AT_MODE else 0


@kernel
def move_land(room: Any, row: int, behind: int, spread: float, step: int) -> int:
    """A step of Newton's, kept between the bounds of the root; 1 if the search goes on, else 0."""
    land, low, high = room[row, behind + LAND], room[row, behind + LOW], room[row, behind + HIGH]
    off = spread * room[row, behind + SURPRISE] - land
    to = land + off / (1.0 + spread * room[row, behind + INFORMATION])
    if step == 0 and off * land >= 0.0:
        room[row, behind + DONE] = STANDS
        return 0
    if abs(off) < NEAR_MODE or high - low < LEAST_LAND:
        room[row, behind + DONE], room[row, behind + LAND] = AT_MODE, to
        return 0
    low, high = (land, high) if off > 0.0 else (low, land)
    room[row, behind + LOW], room[row, behind + HIGH] = low, high
    room[row, behind + LAND] = to if low < to < high else 0.5 * (low + high)
    return 1


@kernel
def look_at_lands(
    params: Any, entering: Any, columns: Columns, settlement: int, scratch: Any, layout: Layout, wanted: float
) -> None:
    """Sum the surprise and the information where the steps of these units end; at the mode with their derivatives."""
    room, lines, behind = scratch.room, scratch.lines, BLOCKS * layout.width
    for row in range(layout.base, layout.base + layout.units):
        if room[row, behind + DONE] == wanted:
            room[row, behind + SURPRISE], room[row, behind + INFORMATION] = 0.0, 0.0
    first_heat, after_last = heats_of(columns, settlement)
    for heat in range(first_heat, after_last):
        start, stop = heat_at(columns, settlement, heat, lines)
        weight = weight_at(columns, heat)
        for i in range(start, stop):
            me = int(lines[i, UNIT])
            if room[me, behind + DONE] == wanted:
                a = read(scratch.entering_states, me, entering)
                look_at_land(params, entering, weight, scratch, layout, a, me, i, start, stop, wanted)


@kernel
def look_at_land(
    params: Any,
    entering: Any,
    weight: float,
    scratch: Any,
    layout: Layout,
    me: Entering,
    row: int,
    i: int,
    start: int,
    stop: int,
    wanted: float,
) -> None:
    """Add what the other lines of a heat say of the unit of line `i`, where its step ends."""
    room, lines, width, behind = scratch.room, scratch.lines, layout.width, BLOCKS * layout.width
    place, size, finished = lines[i, PLACE], lines[start, SIZE], lines[i, FINISHED]
    landed, surprises, informations = me.mean + room[row, behind + LAND], 0.0, 0.0
    for j in range(start, stop):
        if not are_compared(lines, i, j):
            continue
        other = int(lines[j, UNIT])
        you, common = read(scratch.entering_states, other, entering), False
        if things_of(params):
            both = common_of(params, entering, layout, scratch, row, other)
            if both.variance > 0.0:
                you, common = apart(params, you, both), True
        near = nearness(params, place, lines[j, PLACE], size)
        unfinished = by_unfinished(params, finished, lines[j, FINISHED])
        worth = weight * (near * finish_weight(params, finished, lines[j, FINISHED]))
        gap, g = landed - you.mean, you.g
        expected = logistic(g * gap)
        off, v = score(place, lines[j, PLACE]) - expected, expected * (1.0 - expected)
        surprise, information = worth * g * off, worth * g * g * v
        surprises += surprise
        informations += information
        if wanted == AT_MODE:
            by_other, block = worth * (off - g * v * gap) * -0.5 * C * g * g * g, 4 * width
            for k in range(0, width, FOUR):
                theirs = variances_at(room, other, width, k, params.noise)
                if common:
                    theirs -= four_at(room, room.shape[0] - 1, k)
                by = by_other * theirs - information * (four_at(room, row, k) - four_at(room, other, k))
                put_four(room, row, block + k, four_at(room, row, block + k) + by)
            room[row, block + REACH] += 2.0 * (1.0 - near) * surprise
            room[row, block + UNFINISHED] += unfinished * surprise
    room[row, behind + SURPRISE] += surprises
    room[row, behind + INFORMATION] += informations


@kernel
def raise_information(params: Any, entering: Any, zero_evidence: Any, scratch: Any, row: int, width: int) -> None:
    """Raise a unit's information to the average between the old mean and where its step ends, with the derivatives."""
    room, behind = scratch.room, BLOCKS * width
    spread = read(scratch.entering_states, row, entering).variance + params.noise
    surprise, to = read(scratch.sums, row, zero_evidence).surprise, room[row, behind + LAND]
    moves = room[row, behind + DONE] == AT_MODE
    at_mode, curved = room[row, behind + SURPRISE], 1.0 + spread * room[row, behind + INFORMATION]
    for k in range(0, width, FOUR):
        by_spread, by_land = variances_at(room, row, width, k, params.noise), four(0.0, 0.0, 0.0, 0.0)
        if moves:
            by_land = (by_spread * at_mode + spread * four_at(room, row, 4 * width + k)) / curved
        of_surprise = four_at(room, row, 2 * width + k) / to - surprise * by_land / (to * to)
        put_four(room, row, 3 * width + k, of_surprise + by_spread / (spread * spread))
    write(scratch.sums, row, Evidence(surprise, surprise / to - 1.0 / spread, 0.0, 0.0))


@kernel
def settle_units(params: Any, prototypes: Any, scratch: Any, layout: Layout) -> None:
    """Move every state by its share of what its units' results say."""
    _, entering, zero_evidence = prototypes
    room, uses = scratch.room, BLOCKS * layout.width + USES
    for state in range(layout.base):
        write(scratch.sums, state, zero_evidence)
    for number in range(layout.units):
        row = layout.base + number
        whole, totals = read(scratch.entering_states, row, entering), read(scratch.sums, row, zero_evidence)
        for part in range(parts_of(layout, scratch.sides, number)):
            state, share = part_at(layout, scratch.sides, number, part)
            if room[state, uses] > 1.0:
                add_share(params, entering, zero_evidence, scratch, whole, totals, row, state, share, layout.width)
            else:
                settle_alone(params, entering, scratch, whole, totals, row, state, share, layout.width)
    for state in range(layout.base):
        if room[state, uses] > 1.0:
            settle_sum(entering, zero_evidence, scratch, state, layout.width)


@kernel
def settle_alone(
    params: Any,
    entering: Any,
    scratch: Any,
    whole: Entering,
    totals: Evidence,
    row: int,
    state: int,
    share: float,
    width: int,
) -> None:
    """Move a state that is in one unit alone, in `row`, with a share as its coefficient; both may be one row."""
    room, own = scratch.room, read(scratch.entering_states, state, entering)
    spread = whole.variance + params.noise
    weight = 1.0 / (1.0 + spread * totals.information)
    r, c = totals.surprise * weight, totals.information * weight
    square = share * share
    for k in range(0, width, FOUR):
        by_information = four_at(room, row, 3 * width + k)
        by_weight = variances_at(room, row, width, k, params.noise) * totals.information + spread * by_information
        r_by = (four_at(room, row, 2 * width + k) - r * by_weight) * weight
        c_by = (by_information - c * by_weight) * weight
        by = four_at(room, state, width + k)
        put_four(room, state, k, four_at(room, state, k) + share * (by * r + own.variance * r_by))
        by -= square * (2.0 * own.variance * by * c + own.variance * own.variance * c_by)
        put_four(room, state, width + k, by)
    moved = share * own.variance * r
    variance = own.variance - square * own.variance * own.variance * c
    put(scratch.entering_states, state, own, moved, variance)


@kernel
def put(entering_states: Any, state: int, own: Entering, moved: float, variance: float) -> None:
    """Write a state that an event has moved by so much, to a new variance."""
    moved_to = own.rating + SCALE * moved, own.mean + moved
    write(entering_states, state, Entering(*moved_to, variance, own.mean_reading, own.variance_reading, own.g))


@kernel
def add_share(
    params: Any,
    entering: Any,
    zero_evidence: Any,
    scratch: Any,
    whole: Entering,
    totals: Evidence,
    row: int,
    state: int,
    share: float,
    width: int,
) -> None:
    """Add what one of several units, in `row`, says of a state to the state's sums."""
    room, own = scratch.room, read(scratch.entering_states, state, entering)
    square = share * share
    spread = whole.variance + params.noise - square * own.variance  # of what else is in the performance
    weight = 1.0 / (1.0 + spread * totals.information)
    r, c = totals.surprise * weight, totals.information * weight
    sums = read(scratch.sums, state, zero_evidence)
    write(scratch.sums, state, Evidence(sums.surprise + share * r, sums.information + square * c, 0.0, 0.0))
    for k in range(0, width, FOUR):
        by_information = four_at(room, row, 3 * width + k)
        by_spread = variances_at(room, row, width, k, params.noise) - square * four_at(room, state, width + k)
        by_weight = by_spread * totals.information + spread * by_information
        r_by = share * (four_at(room, row, 2 * width + k) - r * by_weight) * weight
        put_four(room, state, 2 * width + k, four_at(room, state, 2 * width + k) + r_by)
        c_by = square * (by_information - c * by_weight) * weight
        put_four(room, state, 3 * width + k, four_at(room, state, 3 * width + k) + c_by)


@kernel
def settle_sum(entering: Any, zero_evidence: Any, scratch: Any, state: int, width: int) -> None:
    """Move a state that is in several units by their sums."""
    room, own = scratch.room, read(scratch.entering_states, state, entering)
    sums = read(scratch.sums, state, zero_evidence)
    weight = 1.0 / (1.0 + own.variance * sums.information)
    r, c = sums.surprise * weight, sums.information * weight
    for k in range(0, width, FOUR):
        by, by_information = four_at(room, state, width + k), four_at(room, state, 3 * width + k)
        by_weight = by * sums.information + own.variance * by_information
        r_by = (four_at(room, state, 2 * width + k) - r * by_weight) * weight
        c_by = (by_information - c * by_weight) * weight
        put_four(room, state, k, four_at(room, state, k) + by * r + own.variance * r_by)
        by -= 2.0 * own.variance * by * c + own.variance * own.variance * c_by
        put_four(room, state, width + k, by)
    put(scratch.entering_states, state, own, own.variance * r, own.variance - own.variance * own.variance * c)


@kernel
def leave(
    params: Any, me: Any, prototypes: Any, columns: Columns, scratch: Any, layout: Layout, i: int, after: Any, row: int
) -> None:
    """Write the state that an entrant leaves with."""
    _, entering, _ = prototypes
    pool, room, width, full = scratch.pool, scratch.room, layout.width, layout.full
    brought = read(scratch.entering_states, i, entering)
    write(after, row, me)
    after[row, RATING], after[row, DEVIATION] = brought.rating, SCALE * math.sqrt(brought.variance)
    after[row, EVENTS] += entrant_at(columns, layout.first + i).events
    after[row, FIRST], after[row, LAST] = first_day(params, me), params.today
    leave_block(pool, room, i, 0, after, row, MEANS, full)
    leave_block(pool, room, i, width, after, row, MEANS + full + 1, full)
    if layout.modal and entrant_at(columns, layout.first + i).kind == 0.0:
        offset = offset_in(params, me)
        brought = read(scratch.entering_states, layout.entrants + i, entering)
        after[row, offset], after[row, offset + 1] = brought.mean, brought.variance
        leave_block(pool, room, layout.entrants + i, 0, after, row, offset + 2, full)
        leave_block(pool, room, layout.entrants + i, width, after, row, offset + full + 3, full)


@kernel
def leave_side(params: Any, entering: Any, scratch: Any, layout: Layout) -> None:
    """Write the side that begins into the pool's state."""
    pool, full, row = scratch.pool, layout.full, layout.base - 1
    brought = read(scratch.entering_states, row, entering)
    pool[SIDE_MEAN], pool[SIDE_VARIANCE], pool[SIDE_LAST] = brought.mean, brought.variance, params.today
    block, table = THETA + full + full * (full + 1) // 2, pool.reshape((1, pool.size))
    leave_block(pool, scratch.room, row, 0, table, 0, block, full)
    leave_block(pool, scratch.room, row, layout.width, table, 0, block + full + 1, full)


@kernel
def leave_block(pool: Any, room: Any, i: int, start: int, after: Any, row: int, at: int, count: int) -> None:
    """Put a block of a row of the room into a state, y = LINGER x - derivatives times theta in place of its reading."""
    rest = LINGER * room[i, start]
    for k in range(1, count + 1):
        after[row, at + k] = room[i, start + k]
        rest -= room[i, start + k] * pool[THETA + k - 1]
    after[row, at] = rest
