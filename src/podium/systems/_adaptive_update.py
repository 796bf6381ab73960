"""The update of the `adaptive` system: how far an event moves each unit and the states in it.

A unit is a list of states with coefficients c. Its mean is mu = sum of c m and its variance U = sum of c^2 V. The
variance of its performance is A = U + noise. Its results give the surprise S and the information J.

    Glicko's step         d = A S / (1 + A J)
    the mode              d = A S(d),  S(d) = sum of w g (s - sigma(g (mu + d - mu_j)))
    the bound             |d| <= 4
    a shortened step      J <- S / d - 1 / A, so that A S / (1 + A J) = d
    a state in one unit   m += c V S / (1 + A J),  V -= c^2 V^2 J / (1 + A J)
    a state in several    m += V R / (1 + V T),  V -= V^2 T / (1 + V T),  with B = A - c^2 V in
                          R = sum of c S / (1 + B J),  T = sum of c^2 J / (1 + B J)

In the code, `uncertainty` is A, or B if a comment says so. `by_x` is the derivative of x with respect to four
parameters of theta at a time. All of these derivatives are exact.
"""

import math
from typing import Any

from podium.engine.inputs import Columns, Heat, entrant_at, heats_of, weight_at
from podium.engine.rules import kernel
from podium.kernels.fours import FOUR, four, four_at, number_of, put_four
from podium.kernels.records import read, write
from podium.probability.logistic import logistic
from podium.systems._adaptive_entering import Entering, first_day, offset_in
from podium.systems._adaptive_rules import (
    NO_EVIDENCE,
    Evidence,
    by_unfinished,
    comparisons,
    has_margin,
)
from podium.systems._adaptive_state import (
    DEVIATION,
    EVENTS,
    FIELD_EVENTS,
    FIELD_LUCK,
    FILTERED,
    FIRST,
    LAST,
    LINGER,
    MARGIN,
    MEANS,
    OUTNUMBERING,
    RATING,
    REACH,
    SCALE,
    SIDE_MEAN,
    THETA,
    UNFINISHED,
    C,
    extras_at,
    side_block,
)
from podium.systems._adaptive_units import (
    BY_TERMS,
    HIGH,
    INFORMATION,
    LOW,
    SIZE,
    STATUS,
    STEP,
    SURPRISE,
    UNIT,
    USES,
    Derivatives,
    Layout,
    are_compared,
    entry_of,
    heat_at,
    opponents_at,
    part_at,
    parts_of,
    state_at,
    variances_at,
)

MODE_TOLERANCE, NEWTON_STEPS = 1e-3, 30  # of |A S(d) - d|; one more step follows and squares the error
BOUND = 4.0  # log-odds: the most by which an event moves a performance
SMALLEST_STEP = 1e-9
SEARCHING, AT_MODE, AT_BOUND, KEPT = 0.0, 1.0, 2.0, 3.0  # status of a step; KEPT is Glicko's unchanged step


@kernel
def evidence_at(scratch: Any, row: int) -> Evidence:
    """Return the sums of the evidence about a state or unit."""
    return read(scratch.sums, row, NO_EVIDENCE)  # type: ignore[no-any-return]


@kernel
def find_modes(params: Any, columns: Columns, update: int, scratch: Any, layout: Layout) -> None:
    """Find each unit's step: the shortest of Glicko's step, the step to the mode of its performance, and the bound.

    With the opponents at their old means, S(d) falls with d, so the mode lies between 0 and A S(0). If Glicko's step
    ends before the mode, it is kept. Otherwise, the information is increased so that the step ends at the mode.
    """
    work, d, searching = scratch.workspace, layout.d, 0
    is_gaussian = bool(params.margins) and is_duel_with_margin(columns, update, scratch.lines)
    for row in range(layout.base, layout.base + layout.units):
        uncertainty = state_at(scratch, row).variance + params.noise
        totals = evidence_at(scratch, row)
        by_terms = four_at(work, row, BY_TERMS)
        work[row, d.surprise + REACH] += number_of(by_terms, 0)
        work[row, d.information + REACH] += number_of(by_terms, 1)
        work[row, d.surprise + UNFINISHED] += number_of(by_terms, 2)
        work[row, d.information + UNFINISHED] += number_of(by_terms, 3)
        farthest = uncertainty * totals.surprise  # A S(0)
        step = farthest / (1.0 + uncertainty * totals.information)
        work[row, LOW], work[row, HIGH] = min(0.0, farthest), max(0.0, farthest)
        # The mean information from the old mean to the end of the step is at most J + rise d / 2 + curb d^2 / 144,
        # because v (1 - 6 v) <= 1 / 24. If this is at most J, the step ends before the mode.
        is_kept = is_gaussian or step * (72.0 * totals.rise + totals.curb * step) <= 0.0
        work[row, STEP], work[row, STATUS] = step, KEPT if is_kept else SEARCHING
        searching += 0 if is_kept else 1
    iteration = 0
    while searching > 0 and iteration < NEWTON_STEPS:
        evaluate_steps(params, columns, update, scratch, layout, SEARCHING)
        searching = 0
        for row in range(layout.base, layout.base + layout.units):
            if work[row, STATUS] == SEARCHING:
                uncertainty = state_at(scratch, row).variance + params.noise
                searching += newton_step(work, row, uncertainty, iteration)
        iteration += 1
    at_mode = 0
    for row in range(layout.base, layout.base + layout.units):
        at_mode += choose_step(params, scratch, row, layout)
    if at_mode > 0:
        evaluate_steps(params, columns, update, scratch, layout, AT_MODE)
    for row in range(layout.base, layout.base + layout.units):
        if work[row, STATUS] != KEPT:
            raise_information(params, scratch, row, layout)


@kernel
def is_duel_with_margin(columns: Columns, update: int, lines: Any) -> bool:
    """Return True if an event is a single duel with a margin.

    Its evidence is nearly Gaussian, so Glicko's step is kept.
    """
    first_heat, after_last = heats_of(columns, update)
    if after_last > first_heat + 1:
        return False
    start, _ = heat_at(columns, update, first_heat, lines)
    return has_margin(entry_of(lines, start), entry_of(lines, start + 1), lines[start, SIZE])


@kernel
def choose_step(params: Any, scratch: Any, row: int, layout: Layout) -> int:
    """Choose a unit's step: the shortest of Glicko's step, the step to the mode, and the bound.

    Return 1 for the step to the mode, otherwise 0.
    """
    work, d = scratch.workspace, layout.d
    uncertainty = state_at(scratch, row).variance + params.noise
    totals = evidence_at(scratch, row)
    step, status = work[row, STEP], work[row, STATUS]
    if status == KEPT:
        step = uncertainty * totals.surprise / (1.0 + uncertainty * totals.information)
    if abs(step) > BOUND:
        step, status = BOUND if step > 0.0 else -BOUND, AT_BOUND
    if abs(step) < SMALLEST_STEP or totals.surprise / step - 1.0 / uncertainty <= totals.information:
        status = KEPT
    work[row, STEP], work[row, STATUS] = step, status
    if status != AT_MODE:
        return 0
    for k in range(0, d.width, FOUR):
        put_four(work, row, d.surprise_at_mode + k, four(0.0, 0.0, 0.0, 0.0))
    return 1


@kernel
def newton_step(work: Any, row: int, uncertainty: float, iteration: int) -> int:
    """Move a unit's d towards A S(d) = d by Newton's method, staying within its bracket.

    Return 1 to continue, otherwise 0.
    """
    step, low, high = work[row, STEP], work[row, LOW], work[row, HIGH]
    error = uncertainty * work[row, SURPRISE] - step
    guess = step + error / (1.0 + uncertainty * work[row, INFORMATION])
    if iteration == 0 and error * step >= 0.0:  # the mode lies beyond Glicko's step
        work[row, STATUS] = KEPT
        return 0
    if abs(error) < MODE_TOLERANCE or high - low < SMALLEST_STEP:
        work[row, STATUS], work[row, STEP] = AT_MODE, guess
        return 0
    low, high = (step, high) if error > 0.0 else (low, step)
    work[row, LOW], work[row, HIGH] = low, high
    work[row, STEP] = guess if low < guess < high else 0.5 * (low + high)
    return 1


@kernel
def evaluate_steps(params: Any, columns: Columns, update: int, scratch: Any, layout: Layout, status: float) -> None:
    """Sum S(d) and J(d) for the units with this status. For AT_MODE, also sum the derivatives of S(d)."""
    work, lines = scratch.workspace, scratch.lines
    for row in range(layout.base, layout.base + layout.units):
        if work[row, STATUS] == status:
            work[row, SURPRISE], work[row, INFORMATION] = 0.0, 0.0
    first_heat, after_last = heats_of(columns, update)
    for heat in range(first_heat, after_last):
        start, stop = heat_at(columns, update, heat, lines)
        weight = weight_at(columns, heat)
        for i in range(start, stop):
            row = int(lines[i, UNIT])
            if work[row, STATUS] == status:
                evaluate_step(params, weight, scratch, layout, row, i, start, stop)


@kernel
def evaluate_step(
    params: Any, weight: float, scratch: Any, layout: Layout, row: int, i: int, start: int, stop: int
) -> None:
    """Add the evidence from the other lines of a heat about the unit of line `i`, at mu + d instead of mu."""
    work, lines, d = scratch.workspace, scratch.lines, layout.d
    mine, heat, step = entry_of(lines, i), Heat(lines[start, SIZE], math.nan), work[row, STEP]
    surprises, informations = 0.0, 0.0
    for j in range(start, stop):
        if not are_compared(lines, i, j):
            continue
        theirs, opponent_row = entry_of(lines, j), int(lines[j, UNIT])
        own, opponent, has_common = opponents_at(params, layout, scratch, row, opponent_row)
        gap = own.mean + step - opponent.mean
        pair, _ = comparisons(params, own, opponent, mine, theirs, heat, logistic(opponent.g * gap), 0.0)
        w, g, omega = weight * pair.worth, pair.g, params.margin_weight if pair.margin_weight > 0.0 else 0.0
        difference, v = pair.result - pair.expected, pair.expected * (1.0 - pair.expected)  # s - e, e (1 - e)
        margin_weight = omega * weight * C * g * g
        by_margin = margin_weight * (pair.margin - step)
        surprise, information = w * g * difference + by_margin, w * g * g * v + margin_weight
        surprises += surprise
        informations += information
        if work[row, STATUS] == AT_MODE:
            by_opponent_variance = w * (difference - g * v * gap) * -0.5 * C * g * g * g
            if omega > 0.0:
                by_opponent_variance -= by_margin * C * g * g
                work[row, d.surprise_at_mode + layout.full - MARGIN] += by_margin - omega * surprise
            for k in range(0, d.width, FOUR):
                by_variance = variances_at(work, opponent_row, d, k, params.noise)
                if has_common:
                    by_variance -= four_at(work, work.shape[0] - 1, k)
                by_gap = four_at(work, row, d.mean + k) - four_at(work, opponent_row, d.mean + k)
                by_surprise = by_opponent_variance * by_variance - information * by_gap
                column = d.surprise_at_mode + k
                put_four(work, row, column, four_at(work, row, column) + by_surprise)
            work[row, d.surprise_at_mode + REACH] += 2.0 * (1.0 - pair.near) * surprise
            work[row, d.surprise_at_mode + UNFINISHED] += (
                by_unfinished(params, mine.finished, theirs.finished) * surprise
            )
    work[row, SURPRISE] += surprises
    work[row, INFORMATION] += informations


@kernel
def raise_information(params: Any, scratch: Any, row: int, layout: Layout) -> None:
    """Set J = S / d - 1 / A, and the derivatives of J, for a unit whose step was shortened.

    At the mode, by_d = (by_A S(d) + A by_S(d)) / (1 + A J(d)). At the bound, by_d = 0. In both cases, by_J = by_S / d -
    S by_d / d^2 + by_A / A^2.
    """
    work, d = scratch.workspace, layout.d
    uncertainty = state_at(scratch, row).variance + params.noise
    surprise, step = evidence_at(scratch, row).surprise, work[row, STEP]
    at_mode = work[row, STATUS] == AT_MODE
    surprise_at_mode, curvature = work[row, SURPRISE], 1.0 + uncertainty * work[row, INFORMATION]
    for k in range(0, d.width, FOUR):
        by_uncertainty, by_step = variances_at(work, row, d, k, params.noise), four(0.0, 0.0, 0.0, 0.0)
        if at_mode:
            by_surprise_at_mode = four_at(work, row, d.surprise_at_mode + k)
            by_step = (by_uncertainty * surprise_at_mode + uncertainty * by_surprise_at_mode) / curvature
        by_quotient = four_at(work, row, d.surprise + k) / step - surprise * by_step / (step * step)
        put_four(work, row, d.information + k, by_quotient + by_uncertainty / (uncertainty * uncertainty))
    write(scratch.sums, row, Evidence(surprise, surprise / step - 1.0 / uncertainty, 0.0, 0.0, 0.0))


@kernel
def update_units(params: Any, scratch: Any, layout: Layout) -> None:
    """Move every state by its share of the evidence about its units."""
    work = scratch.workspace
    for state in range(layout.base):
        write(scratch.sums, state, NO_EVIDENCE)
    for number in range(layout.units):
        row = layout.base + number
        unit, totals = state_at(scratch, row), evidence_at(scratch, row)
        for part in range(parts_of(layout, scratch.sides, number)):
            state, share = part_at(layout, scratch.sides, number, part)
            if work[state, USES] > 1.0:
                add_share(params, scratch, unit, totals, row, state, share, layout)
            else:
                update_alone(params, scratch, unit, totals, row, state, share, layout)
    for state in range(layout.base):
        if work[state, USES] > 1.0:
            update_sum(scratch, state, layout)


@kernel
def update_alone(
    params: Any,
    scratch: Any,
    unit: Entering,
    totals: Evidence,
    row: int,
    state: int,
    share: float,
    layout: Layout,
) -> None:
    """Move a state that belongs to one unit: m += c V r and V -= c^2 V^2 j, with r = S / (1 + A J), j = J / (1 + A J).

    Args:
        row: the unit's row, which is the same as `state` if every entrant is a unit.
        share: the coefficient c.
    """
    work, d, own = scratch.workspace, layout.d, state_at(scratch, state)
    uncertainty = unit.variance + params.noise
    weight = 1.0 / (1.0 + uncertainty * totals.information)
    r, j = totals.surprise * weight, totals.information * weight
    square = share * share
    for k in range(0, d.width, FOUR):
        by_information = four_at(work, row, d.information + k)
        by_weight = variances_at(work, row, d, k, params.noise) * totals.information + uncertainty * by_information
        by_r = (four_at(work, row, d.surprise + k) - r * by_weight) * weight
        by_j = (by_information - j * by_weight) * weight
        by_variance = four_at(work, state, d.variance + k)
        by_mean = four_at(work, state, d.mean + k) + share * (by_variance * r + own.variance * by_r)
        put_four(work, state, d.mean + k, by_mean)
        by_variance -= square * (2.0 * own.variance * by_variance * j + own.variance * own.variance * by_j)
        put_four(work, state, d.variance + k, by_variance)
    variance = own.variance - square * own.variance * own.variance * j
    move_state(scratch.entering_states, state, own, share * own.variance * r, variance)


@kernel
def move_state(entering_states: Any, state: int, own: Entering, change: float, variance: float) -> None:
    """Write a state with its mean changed by `change` log-odds, and its new variance."""
    moved = own.rating + SCALE * change, own.mean + change
    write(entering_states, state, Entering(*moved, variance, own.mean_reading, own.variance_reading, own.g))


@kernel
def add_share(
    params: Any,
    scratch: Any,
    unit: Entering,
    totals: Evidence,
    row: int,
    state: int,
    share: float,
    layout: Layout,
) -> None:
    """Add the unit's terms, c S / (1 + B J) and c^2 J / (1 + B J), to R and T of a state in several units."""
    work, d, own = scratch.workspace, layout.d, state_at(scratch, state)
    square = share * share
    uncertainty = unit.variance + params.noise - square * own.variance  # B
    weight = 1.0 / (1.0 + uncertainty * totals.information)
    r, j = totals.surprise * weight, totals.information * weight
    sums = evidence_at(scratch, state)
    write(scratch.sums, state, Evidence(sums.surprise + share * r, sums.information + square * j, 0.0, 0.0, 0.0))
    for k in range(0, d.width, FOUR):
        by_information = four_at(work, row, d.information + k)
        by_uncertainty = variances_at(work, row, d, k, params.noise) - square * four_at(work, state, d.variance + k)
        by_weight = by_uncertainty * totals.information + uncertainty * by_information
        by_r = share * (four_at(work, row, d.surprise + k) - r * by_weight) * weight
        put_four(work, state, d.surprise + k, four_at(work, state, d.surprise + k) + by_r)
        by_j = square * (by_information - j * by_weight) * weight
        put_four(work, state, d.information + k, four_at(work, state, d.information + k) + by_j)


@kernel
def update_sum(scratch: Any, state: int, layout: Layout) -> None:
    """Move a state that belongs to several units, using the sums R and T from `add_share`."""
    work, d, own = scratch.workspace, layout.d, state_at(scratch, state)
    sums = evidence_at(scratch, state)
    weight = 1.0 / (1.0 + own.variance * sums.information)
    r, j = sums.surprise * weight, sums.information * weight
    for k in range(0, d.width, FOUR):
        by_variance, by_information = four_at(work, state, d.variance + k), four_at(work, state, d.information + k)
        by_weight = by_variance * sums.information + own.variance * by_information
        by_r = (four_at(work, state, d.surprise + k) - r * by_weight) * weight
        by_j = (by_information - j * by_weight) * weight
        put_four(work, state, d.mean + k, four_at(work, state, d.mean + k) + by_variance * r + own.variance * by_r)
        by_variance -= 2.0 * own.variance * by_variance * j + own.variance * own.variance * by_j
        put_four(work, state, d.variance + k, by_variance)
    move_state(scratch.entering_states, state, own, own.variance * r, own.variance - own.variance * own.variance * j)


@kernel
def field_luck(columns: Columns, update: int, lines: Any) -> float:
    """Return the variance that the filter misses in fields as large as the event's: 0 in duels.

    The filter treats the pairs of a heat as independent, but a player's luck is the same in all of them.
    """
    entries, opponents = 0.0, 0.0
    first_heat, after_last = heats_of(columns, update)
    for heat in range(first_heat, after_last):
        start, stop = heat_at(columns, update, heat, lines)
        units = float(stop - start)
        entries += units
        opponents += units * (units - 1.0)
    share = max(opponents - entries, 0.0) / max(opponents + entries, 1.0)  # 1 - 2 / n for a heat of n
    return FIELD_LUCK * share * share


@kernel
def write_state(
    params: Any,
    me: Any,
    columns: Columns,
    scratch: Any,
    layout: Layout,
    luck: float,
    i: int,
    after: Any,
    row: int,
) -> None:
    """Write the state of entrant `i` after the event into a row of `after`.

    `luck` is the event's `field_luck`. The shown deviation includes its mean over the player's latest events.
    """
    pool, work, d, full = scratch.pool, scratch.workspace, layout.d, layout.full
    moved = state_at(scratch, i)
    write(after, row, me)
    after[row, RATING], after[row, FILTERED] = moved.rating, SCALE * math.sqrt(moved.variance)
    after[row, EVENTS] += entrant_at(columns, layout.first + i).events
    added = max(me.deviation * me.deviation - me.filtered * me.filtered, 0.0) / (SCALE * SCALE)
    added += (luck - added) / min(max(after[row, EVENTS], 1.0), FIELD_EVENTS)
    after[row, DEVIATION] = SCALE * math.sqrt(moved.variance + added)
    after[row, FIRST], after[row, LAST] = first_day(params, me), params.today
    write_blocks(pool, work, i, d, after, row, MEANS, full)
    if layout.modal and entrant_at(columns, layout.first + i).kind == 0.0:
        offset = offset_in(params, me)
        moved = state_at(scratch, layout.entrants + i)
        after[row, offset], after[row, offset + 1] = moved.mean, moved.variance
        write_blocks(pool, work, layout.entrants + i, d, after, row, offset + 2, full)


@kernel
def write_pool_states(params: Any, scratch: Any, layout: Layout) -> None:
    """Write the home side and outnumbering into the pool's state, if the event has them."""
    full, row = layout.full, layout.base - 1
    if layout.sided:
        write_pool_state(params, scratch, layout, row, SIDE_MEAN, side_block(full))
    if layout.sized:
        at = extras_at(full) + OUTNUMBERING
        write_pool_state(params, scratch, layout, row - layout.sided, at, at + 3)


@kernel
def write_pool_state(params: Any, scratch: Any, layout: Layout, row: int, at: int, blocks: int) -> None:
    """Write a state of the pool: its mean, variance and day from `at` on, and its derivatives at `blocks`."""
    pool, moved = scratch.pool, state_at(scratch, row)
    pool[at], pool[at + 1], pool[at + 2] = moved.mean, moved.variance, params.today
    write_blocks(pool, scratch.workspace, row, layout.d, pool.reshape((1, pool.size)), 0, blocks, layout.full)


@kernel
def write_blocks(pool: Any, work: Any, i: int, d: Derivatives, after: Any, row: int, at: int, full: int) -> None:
    """Copy the derivatives of a mean and its variance from a workspace row to the blocks that start at `at`.

    Their readings become y = LINGER x - derivatives * theta.
    """
    mean, variance = LINGER * work[i, d.mean], LINGER * work[i, d.variance]
    for k in range(1, full + 1):
        by_mean, by_variance = work[i, d.mean + k], work[i, d.variance + k]
        after[row, at + k], after[row, at + full + 1 + k] = by_mean, by_variance
        mean -= by_mean * pool[THETA + k - 1]
        variance -= by_variance * pool[THETA + k - 1]
    after[row, at], after[row, at + full + 1] = mean, variance
