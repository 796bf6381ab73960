"""What every pair of units of a heat says: of both, and of what the pool learns; of the system `podium`."""

import math
from typing import Any

from podium.engine.inputs import Columns, Heat, Scratch, heats_of, mode_at, weight_at
from podium.engine.rules import compare, evidence, expect, kernel
from podium.kernels.records import add, read, times
from podium.systems._podium_entering import apart, things_of
from podium.systems._podium_rules import steepness
from podium.systems._podium_state import NOISE, REACH, UNFINISHED, C, Pair, learn_pair
from podium.systems._podium_units import SIZE, UNIT, Layout, are_compared, common_of, entry_of, heat_at


@kernel
def carry_pair(pair: Pair, for_a: Any, for_b: Any, weight: float, room: Any, i: int, j: int, count: int) -> None:
    """Carry the derivatives of both sides' evidence through a comparison of the units in rows `i` and `j`."""
    d, w, columns, shared = pair.gap, weight * for_a.worth, count + 1, room.shape[0] - 1
    g_i, g_j = for_a.g, for_b.g
    off_i, off_j = for_a.result - for_a.expected, for_b.result - for_b.expected
    v_i, v_j = for_a.expected * (1.0 - for_a.expected), for_b.expected * (1.0 - for_b.expected)
    bend_i, bend_j = (1.0 - 2.0 * for_a.expected) * v_i, (1.0 - 2.0 * for_b.expected) * v_j
    # By the difference of the means, and by the variance of the other side, which g attenuates.
    g_by_i, g_by_j = -0.5 * C * g_i * g_i * g_i, -0.5 * C * g_j * g_j * g_j
    s_gap_i, s_gap_j = -w * g_i * g_i * v_i, -w * g_j * g_j * v_j
    s_other_i, s_other_j = w * (off_i - g_i * v_i * d) * g_by_i, w * (off_j + g_j * v_j * d) * g_by_j
    j_gap_i, j_gap_j = w * g_i * g_i * g_i * bend_i, w * g_j * g_j * g_j * bend_j
    j_other_i = w * (2.0 * g_i * v_i + g_i * g_i * bend_i * d) * g_by_i
    j_other_j = w * (2.0 * g_j * v_j - g_j * g_j * bend_j * d) * g_by_j
    for k in range(columns):
        gap, mine, theirs = room[i, k] - room[j, k], room[i, columns + k], room[j, columns + k]
        if pair.common:
            mine, theirs = mine - room[shared, k], theirs - room[shared, k]
        room[i, 2 * columns + k] += s_gap_i * gap + s_other_i * theirs
        room[i, 3 * columns + k] += j_gap_i * gap + j_other_i * theirs
        room[j, 2 * columns + k] += s_other_j * mine - s_gap_j * gap
        room[j, 3 * columns + k] += j_other_j * mine - j_gap_j * gap
    by_reach = 2.0 * (1.0 - for_a.near)
    carry_own(room, i, columns, pair, by_reach, s_other_i, j_other_i, w * g_i * off_i, w * g_i * g_i * v_i)
    carry_own(room, j, columns, pair, by_reach, s_other_j, j_other_j, w * g_j * off_j, w * g_j * g_j * v_j)


@kernel
def carry_own(
    room: Any,
    i: int,
    columns: int,
    pair: Pair,
    by_reach: float,
    s_other: float,
    j_other: float,
    surprise: float,
    information: float,
) -> None:
    """Add what noise, reach and unfinished do to the evidence for a unit by the terms that have them in them."""
    room[i, 2 * columns + NOISE] += s_other * pair.noise
    room[i, 3 * columns + NOISE] += j_other * pair.noise
    room[i, 2 * columns + REACH] += by_reach * surprise
    room[i, 3 * columns + REACH] += by_reach * information
    room[i, 2 * columns + UNFINISHED] += pair.unfinished * surprise
    room[i, 3 * columns + UNFINISHED] += pair.unfinished * information


@kernel
def pair_weight(units: float) -> float:
    """What a pair of a heat counts in what theta learns."""
    return math.sqrt(2.0 / units)


@kernel
def pairs_counted(columns: Columns, settlement: int, lines: Any) -> float:
    """The pairs of an event, as much as they count."""
    count = 0.0
    first_heat, after_last = heats_of(columns, settlement)
    for heat in range(first_heat, after_last):
        start, stop = heat_at(columns, settlement, heat, lines)
        units = float(stop - start)
        count += weight_at(columns, heat) * 0.5 * units * (units - 1.0) * pair_weight(units)
    return count


@kernel
def judge_pairs(
    params: Any,
    prototypes: Any,
    columns: Columns,
    settlement: int,
    heat: int,
    scratch: Scratch,
    learner: int,
    layout: Layout,
) -> None:
    """Predict and compare every pair of units of a heat."""
    _, entering, _ = prototypes
    lines, weight = scratch.lines, weight_at(columns, heat)
    start, stop = heat_at(columns, settlement, heat, lines)
    course = Heat(lines[start, SIZE], mode_at(columns, heat))
    each = weight * pair_weight(course.entries)
    for i in range(start, stop):
        mine, me = entry_of(lines, i), int(lines[i, UNIT])
        whole = read(scratch.entering_states, me, entering)
        for j in range(i + 1, stop):
            if not are_compared(lines, i, j):
                continue
            theirs, you = entry_of(lines, j), int(lines[j, UNIT])
            a, b, common = whole, read(scratch.entering_states, you, entering), False
            if things_of(params):
                both = common_of(params, entering, layout, scratch, me, you)
                if both.variance > 0.0:
                    a, b, common = apart(params, a, both), apart(params, b, both), True
            for_a, for_b = compare(params, a, b, mine, theirs, course)
            add(scratch.sums, me, times(evidence(params, for_a), weight))
            add(scratch.sums, you, times(evidence(params, for_b), weight))
            unfinished = 0.0 if mine.finished and theirs.finished else 1.0
            pair = Pair(a.mean - b.mean, steepness(params, a, b), unfinished, params.noise, common)
            carry_pair(pair, for_a, for_b, weight, scratch.room, me, you, layout.carried)
            p = expect(params, a, b)
            off, spread = (for_a.result - p) * each, p * (1.0 - p) * each
            learn_pair(pair, off, spread, scratch.pool, scratch.room, me, you, learner, layout.carried, layout.full)
