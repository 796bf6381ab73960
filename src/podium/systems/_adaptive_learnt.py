"""Learning in the `adaptive` system: the evidence from each pair, and the gradient and curvature of theta."""

import functools
import math
from collections.abc import Iterable
from typing import Any

from podium.engine.inputs import Columns, Heat, Scratch, heats_of, mode_at, weight_at
from podium.engine.pool_state import LearntParameter
from podium.engine.rules import evidence, kernel
from podium.kernels.exponential import exp
from podium.kernels.fours import FOUR, four, four_at, logistics, number_of, put_four
from podium.kernels.logarithm import log
from podium.kernels.records import add, times
from podium.systems._adaptive_entering import (
    GROWTH_DAYS,
    MIN_MARGINS,
    YEAR,
    equipment_of,
    extras_of,
    full_of,
    modal_of,
)
from podium.systems._adaptive_rules import (
    by_unfinished,
    comparisons,
    expected_log_odds,
    has_margin,
    limited,
    margin_variance,
    steepness,
)
from podium.systems._adaptive_state import (
    HIGHEST,
    LARGEST_STEP,
    LOWEST,
    MARGIN,
    MARGIN_SCALE,
    MARGIN_SQUARE,
    MARGINS,
    MAX_SHARPNESS,
    MODE,
    OF_EQUIPMENT,
    OF_EXTRAS,
    OF_SIDE,
    OWN,
    PRECISION,
    READING,
    REVERSION,
    SCALE,
    SHARPNESS,
    SHARPNESS_KNOWN,
    SHARPNESS_PRECISION,
    START,
    THETA,
    C,
    Pair,
    extras_at,
    learn_curvature,
    width_of,
)
from podium.systems._adaptive_units import (
    BY_TERMS,
    FINISHED,
    PLACE,
    SIZE,
    UNIT,
    Derivatives,
    Layout,
    are_compared,
    entry_of,
    heat_at,
    opponents_at,
    state_at,
    variances_at,
)

MIN_FIELD = 3  # smallest field, in units, whose winner is used for learning
MAX_STRENGTH = 300.0  # limit that keeps sums of exponentials from overflowing
MARGIN_MEMORY, MAX_SCALE_STEP = 1000.0, 0.05  # margins over which ln lambda is averaged, and its largest change
LEAST_SQUARE = 1e-9  # smallest variance of margins, so that their scale is finite
FIRST_YEAR = GROWTH_DAYS / YEAR * (1.0 - math.exp(-YEAR / GROWTH_DAYS))  # growth in the first year, in full years


def deviation(logarithm: float) -> float:
    """Return the deviation in points for the logarithm of a variance."""
    return SCALE * math.exp(0.5 * logarithm)


def direction(points: float, up: str, down: str) -> str:
    """Return a verb that matches the sign of the points, followed by the points."""
    return f"{up if points >= 0.0 else down} {abs(points):.0f} points"


LEARNT = (
    LearntParameter(
        "spread",
        "Newcomers",
        "points",
        deviation,
        lambda points: f"Two out of three newcomers turn out to be within {points:.0f} points of the starting rating.",
    ),
    LearntParameter(
        "event",
        "Change per event",
        "points",
        deviation,
        lambda points: (
            f"From one event to the next, a skill changes by about {points:.1f} points, no matter how much time passes."
        ),
    ),
    LearntParameter(
        "idle_day",
        "Change per year",
        "points",
        lambda logarithm: deviation(logarithm) * math.sqrt(YEAR),
        lambda points: f"In a year, a skill changes by about {points:.0f} points, up or down.",
    ),
    LearntParameter(
        "noise",
        "A day's form",
        "points",
        deviation,
        lambda points: f"On a given day, a player performs about {points:.0f} points above or below their skill.",
    ),
    LearntParameter(
        "growth",
        "Growth",
        "points",
        lambda a_year: SCALE * FIRST_YEAR * a_year,
        lambda points: (
            f"Newcomers {direction(points, 'gain', 'lose')} in the first year, in addition to their results."
        ),
    ),
    LearntParameter(
        "ageing",
        "Ageing",
        "points",
        lambda a_year: SCALE * a_year,
        lambda points: f"After ten years, each further year {direction(points, 'takes', 'brings')}.",
    ),
    LearntParameter(
        "unfinished",
        "Breakdowns",
        "%",
        lambda logarithm: 100.0 * math.exp(logarithm),
        lambda percent: f"A duel that one player did not finish counts {percent:.0f}% of a normal duel.",
    ),
    LearntParameter(
        "reach",
        "Reach",
        "%",
        lambda logarithm: 100.0 / (1.0 + (math.pi * math.exp(-logarithm)) ** 2),
        lambda percent: (
            f"A duel between the first and the last of a field counts {percent:.0f}% as much as one between neighbours."
        ),
    ),
    LearntParameter(
        "sharpness",
        "Luck of a field",
        "%",
        lambda logarithm: 100.0 * math.exp(-logarithm),
        lambda percent: f"In a field of three or more, luck weighs {percent:.0f}% as much as in a duel.",
    ),
)

LEARNT_OF_ENTRY = LearntParameter(
    "entry",
    "Newcomers' level",
    "points",
    lambda level: SCALE * level,
    lambda points: (
        f"Newcomers are {abs(points):.0f} points {'better' if points >= 0.0 else 'weaker'} than the"
        " pool's first ones were."
    ),
)

LEARNT_OF_MODES = LearntParameter(
    "mode",
    "Modes",
    "points",
    deviation,
    lambda points: f"In a single mode, a player is about {points:.0f} points better or worse than overall.",
)


LEARNT_OF_EXTRAS = {
    "reversion": LearntParameter(
        "reversion",
        "Reversion to the mean",
        "%",
        lambda rate: 100.0 * -math.expm1(-rate),
        lambda percent: f"In a year, a player loses {percent:.1f}% of the distance to the mean of active players.",
    ),
    "margin": LearntParameter(
        "margin",
        "Weight of margins",
        "%",
        lambda log_odds: 100.0 / (1.0 + math.exp(-log_odds)),
        lambda percent: f"The margin makes up {percent:.0f}% of a duel's evidence, and who won makes up the rest.",
    ),
    "size": LearntParameter(
        "size_mean",
        "Outnumbering",
        "points",
        lambda worth: SCALE * math.log(2.0) * worth,
        lambda points: f"A side twice as large as the other is {direction(points, 'ahead by', 'behind by')}.",
    ),
}


def learnt_with(modes: int, equipment: tuple[str, ...], extras: Iterable[str] = ()) -> tuple[LearntParameter, ...]:
    """Return the parameters learnt by a pool with this many modes, these kinds of equipment and these extras."""
    of_equipment = [
        parameter
        for number, kind in enumerate(equipment, start=1)
        for parameter in (
            LearntParameter(
                f"thing_{number}_spread",
                f"Value of a {kind}",
                "points",
                deviation,
                functools.partial(
                    "For two out of three players, the {0} makes a difference of at most {1:.0f} points.".format, kind
                ),
            ),
            LearntParameter(
                f"thing_{number}_day",
                f"Yearly change of a {kind}",
                "points",
                lambda logarithm: deviation(logarithm) * math.sqrt(YEAR),
                functools.partial("In a year, the value of a {0} changes by about {1:.0f} points.".format, kind),
            ),
        )
    ]
    more = [LEARNT_OF_MODES] * (modes > 0) + of_equipment + [LEARNT_OF_EXTRAS[name] for name in extras]
    return (*LEARNT, LEARNT_OF_ENTRY, *more)


@kernel
def carry_pair(
    pair: Pair,
    for_a: Any,
    for_b: Any,
    weight: float,
    error: float,
    work: Any,
    i: int,
    j: int,
    learner: int,
    d: Derivatives,
) -> None:
    """Add one pair to the derivatives of S and J for both units, and to the gradient of theta.

    Args:
        error: (s - p) times the pair's weight in learning.
        i: the workspace row of one unit; `j` is the row of the other unit.
        learner: the workspace row of the gradient. The pair's u is stored in it, after the gradient.
    """
    gap, steep, noise = pair.gap, pair.steepness, pair.noise
    w_i, w_j = weight * for_a.worth, weight * for_b.worth
    g_i, g_j = for_a.g, for_b.g
    surprise_i, surprise_j = for_a.result - for_a.expected, for_b.result - for_b.expected  # s - e
    v_i, v_j = for_a.expected * (1.0 - for_a.expected), for_b.expected * (1.0 - for_b.expected)  # e (1 - e)
    bend_i, bend_j = (1.0 - 2.0 * for_a.expected) * v_i, (1.0 - 2.0 * for_b.expected) * v_j
    # Derivatives of g, S and J with respect to the difference of the means (gap) and the opponent's variance (other).
    g_by_i, g_by_j = -0.5 * C * g_i * g_i * g_i, -0.5 * C * g_j * g_j * g_j
    s_gap_i, s_gap_j = -w_i * g_i * g_i * v_i, -w_j * g_j * g_j * v_j
    s_other_i = w_i * (surprise_i - g_i * v_i * gap) * g_by_i
    s_other_j = w_j * (surprise_j + g_j * v_j * gap) * g_by_j
    j_gap_i, j_gap_j = w_i * g_i * g_i * g_i * bend_i, w_j * g_j * g_j * g_j * bend_j
    j_other_i = w_i * (2.0 * g_i * v_i + g_i * g_i * bend_i * gap) * g_by_i
    j_other_j = w_j * (2.0 * g_j * v_j - g_j * g_j * bend_j * gap) * g_by_j
    u_other = gap * -0.5 * C * steep * steep * steep  # of the log-odds with respect to the variance of either unit
    if for_a.margin_weight > 0.0:  # adds omega (X - d) / Q to S and omega / Q to J, with Q = 1 / C + A_j = 1 / (C g^2)
        m_i, m_j = weight * for_a.margin_weight, weight * for_b.margin_weight
        s_gap_i, s_gap_j = s_gap_i - m_i, s_gap_j - m_j
        m_other_i, m_other_j = m_i * C * g_i * g_i, m_j * C * g_j * g_j
        s_other_i, s_other_j = s_other_i - m_other_i * for_a.margin, s_other_j - m_other_j * for_b.margin
        j_other_i, j_other_j = j_other_i - m_other_i, j_other_j - m_other_j
    for k in range(0, d.width, FOUR):
        by_gap = four_at(work, i, d.mean + k) - four_at(work, j, d.mean + k)
        by_i, by_j = variances_at(work, i, d, k, noise), variances_at(work, j, d, k, noise)
        if pair.common:
            by_common = four_at(work, learner + 1, k)
            by_i, by_j = by_i - by_common, by_j - by_common
        add_four(work, i, d.surprise + k, s_gap_i * by_gap + s_other_i * by_j)
        add_four(work, i, d.information + k, j_gap_i * by_gap + j_other_i * by_j)
        add_four(work, j, d.surprise + k, s_other_j * by_i - s_gap_j * by_gap)
        add_four(work, j, d.information + k, j_other_j * by_i - j_gap_j * by_gap)
        u = steep * by_gap + u_other * (by_i + by_j)
        add_four(work, learner, k, error * u)
        put_four(work, learner, d.width + k, u)
    by_reach = 2.0 * (1.0 - for_a.near)  # of ln w with respect to ln reach
    terms_i = four(by_reach, by_reach, pair.unfinished, pair.unfinished)
    terms_j = four(by_reach, by_reach, pair.other_unfinished, pair.other_unfinished)
    s_i, s_j = w_i * g_i * surprise_i, w_j * g_j * surprise_j
    add_four(work, i, BY_TERMS, terms_i * four(s_i, -s_gap_i, s_i, -s_gap_i))
    add_four(work, j, BY_TERMS, terms_j * four(s_j, -s_gap_j, s_j, -s_gap_j))


@kernel
def add_four(work: Any, row: int, column: int, numbers: Any) -> None:
    """Add four numbers to four columns of a row."""
    put_four(work, row, column, four_at(work, row, column) + numbers)


@kernel
def pair_weight(units: float) -> float:
    """Return the weight of each pair in a heat when theta is learnt."""
    return math.sqrt(2.0 / units)


@kernel
def pairs_counted(columns: Columns, update: int, lines: Any) -> float:
    """Return the sum of the weights of all pairs in an event."""
    count = 0.0
    first_heat, after_last = heats_of(columns, update)
    for heat in range(first_heat, after_last):
        start, stop = heat_at(columns, update, heat, lines)
        units = float(stop - start)
        count += weight_at(columns, heat) * 0.5 * units * (units - 1.0) * pair_weight(units)
    return count


@kernel
def judge_pairs(
    params: Any,
    columns: Columns,
    update: int,
    heat: int,
    scratch: Scratch,
    learner: int,
    layout: Layout,
) -> None:
    """Predict and compare every pair of units in a heat."""
    lines, weight = scratch.lines, weight_at(columns, heat)
    start, stop = heat_at(columns, update, heat, lines)
    course = Heat(lines[start, SIZE], mode_at(columns, heat))
    counted = weight * pair_weight(course.entries)
    for i in range(start, stop):
        mine, me = entry_of(lines, i), int(lines[i, UNIT])
        for j in range(i + 1, stop):
            if not are_compared(lines, i, j):
                continue
            theirs, you = entry_of(lines, j), int(lines[j, UNIT])
            a, b, common = opponents_at(params, layout, scratch, me, you)
            gap, g_a, g_b = a.mean - b.mean, a.g, b.g
            chances = logistics(four(g_b * gap, -g_a * gap, expected_log_odds(params, a, b), 0.0))
            of_a, of_b, p = number_of(chances, 0), number_of(chances, 1), number_of(chances, 2)
            for_a, for_b = comparisons(params, a, b, mine, theirs, course, of_a, of_b)
            evidence_a, evidence_b = evidence(params, for_a), evidence(params, for_b)
            add(scratch.sums, me, times(evidence_a, weight))
            add(scratch.sums, you, times(evidence_b, weight))
            by_finish = by_unfinished(params, mine.finished, theirs.finished)
            by_other = by_unfinished(params, theirs.finished, mine.finished)
            pair = Pair(gap, steepness(params, a, b), by_finish, by_other, params.noise, common)
            error = (for_a.result - p) * counted
            carry_pair(pair, for_a, for_b, weight, error, scratch.workspace, me, you, learner, layout.d)
            if for_a.margin_weight > 0.0:
                carry_margin(params, for_a, evidence_a, weight, scratch.workspace, me, layout)
                carry_margin(params, for_b, evidence_b, weight, scratch.workspace, you, layout)
            if extras_of(params) and params.margins and has_margin(mine, theirs, course.entries):
                learn_margin_scale(params, scratch.pool, gap, margin_variance(params, a, b), mine.score - theirs.score)
            learn_curvature(scratch.workspace, learner, layout.full, p * (1.0 - p) * counted)


@kernel
def carry_margin(params: Any, pair: Any, found: Any, weight: float, work: Any, row: int, layout: Layout) -> None:
    """Add the derivatives of a pair's evidence with respect to the log-odds of omega to those of S and J."""
    d, column, omega = layout.d, layout.full - MARGIN, params.margin_weight
    work[row, d.surprise + column] += weight * (found.margin - omega * found.surprise)
    work[row, d.information + column] += weight * (pair.margin_weight - omega * found.information)


@kernel
def learn_margin_scale(params: Any, pool: Any, gap: float, variance: float, difference: float) -> None:
    """Update the scale of margins, lambda. With it, X = lambda y has on average the variance T around d.

    Args:
        gap: d, the expected X.
        variance: T, the expected variance of X.
        difference: y, the difference of scores.
    """
    at, y = extras_at(full_of(params)), limited(difference)
    known, square = pool[at + MARGINS], pool[at + MARGIN_SQUARE]
    if known >= MIN_MARGINS and square > 0.0:
        off = exp(pool[at + MARGIN_SCALE]) * y - gap
        step = 0.5 * (off * off / variance - 1.0) / min(known, MARGIN_MEMORY)
        pool[at + MARGIN_SCALE] -= min(max(step, -MAX_SCALE_STEP), MAX_SCALE_STEP)
    known += 1.0
    pool[at + MARGINS] = known
    pool[at + MARGIN_SQUARE] += (y * y - square) / known
    if known == MIN_MARGINS or square == 0.0:
        pool[at + MARGIN_SCALE] = 0.5 * log(variance / max(pool[at + MARGIN_SQUARE], LEAST_SQUARE))


@kernel
def learn_sharpness(params: Any, columns: Columns, update: int, heat: int, scratch: Scratch) -> None:
    """Update the pool's sharpness from a field with a sole winner: one Newton step on Luce's probability of winning.

    A unit's strength is its log-odds against a unit with the field's mean skill and mean variance. Ratings do not
    change.
    """
    lines, pool = scratch.lines, scratch.pool
    start, stop = heat_at(columns, update, heat, lines)
    winner, winners, mean, variance = start, 0, 0.0, 0.0
    for i in range(start, stop):
        me = state_at(scratch, int(lines[i, UNIT]))
        mean += (me.mean + me.mean_reading) / (stop - start)
        variance += (me.variance + me.variance_reading) / (stop - start)
        if lines[i, FINISHED] and (winners == 0 or lines[i, PLACE] <= lines[winner, PLACE]):
            winners = winners + 1 if winners and lines[i, PLACE] == lines[winner, PLACE] else 1
            winner = i
    if stop - start < MIN_FIELD or winners != 1:
        return
    won, shares, sums, squares = 0.0, 0.0, 0.0, 0.0
    for i in range(start, stop):
        me = state_at(scratch, int(lines[i, UNIT]))
        both = max(variance + me.variance + me.variance_reading, 0.0)
        strength = (
            params.sharpness * (me.mean + me.mean_reading - mean) / math.sqrt(1.0 + C * (both + 2.0 * params.noise))
        )
        share = exp(min(strength, MAX_STRENGTH))
        won = strength if i == winner else won
        shares, sums, squares = shares + share, sums + share * strength, squares + share * strength * strength
    weight, expected = weight_at(columns, heat), sums / shares
    pool[SHARPNESS_KNOWN] += weight * (squares / shares - expected * expected)
    step = weight * (won - expected) / (SHARPNESS_PRECISION + pool[SHARPNESS_KNOWN])
    pool[SHARPNESS] = min(max(pool[SHARPNESS] + step, -MAX_SHARPNESS), MAX_SHARPNESS)


@kernel
def prior_at(params: Any, column: int) -> int:
    """Return the position of a column's prior in the arrays of priors."""
    of_players = OWN + modal_of(params)
    if column <= of_players:
        return column
    if column > of_players + OF_EQUIPMENT * equipment_of(params):
        return MODE + OF_EQUIPMENT + OF_EXTRAS + OF_SIDE + column - full_of(params)
    return MODE + 1 + (column - of_players - 1) % OF_EQUIPMENT


@kernel
def precision_at(params: Any, column: int) -> float:
    """Return the precision of a column's prior. Users choose the precision for reversion to the mean."""
    if extras_of(params) and params.reversion > 0.0 and column == full_of(params) - REVERSION:
        return 1.0 / float(params.reversion * params.reversion)
    precision: float = PRECISION[prior_at(params, column)]
    return precision


@kernel
def begin_event(params: Any, pool: Any, work: Any, learner: int, keep: float) -> None:
    """Start an event's gradient with the prior's pull, to replace the forgotten part of M, and clear the event's M."""
    full = full_of(params)
    for a in range(1, full + 1):
        start = START[prior_at(params, a)]
        work[learner, a] = (1.0 - keep) * precision_at(params, a) * (start - pool[THETA + a - 1])
        for b in range(a // FOUR * FOUR, width_of(full), FOUR):
            put_four(work, learner - a, b, four(0.0, 0.0, 0.0, 0.0))


@kernel
def take_step(params: Any, pool: Any, work: Any, learner: int, keep: float) -> None:
    """Move theta by M^-1 times the gradient, using Gaussian elimination, limited by the largest step and the bounds."""
    full = full_of(params)
    at = THETA + full
    for a in range(1, full + 1):
        for b in range(1, a + 1):
            pool[at] = keep * pool[at] + work[learner - b, a]
            if a == b:
                pool[at] += (1.0 - keep) * precision_at(params, a)
            work[learner - b, a] = pool[at]
            at += 1
    for p in range(1, full + 1):
        row = learner - p
        work[row, READING] = 1.0 / max(work[row, p], 1e-12)
        for a in range(p + 1, full + 1):
            factor = work[row, a] * work[row, READING]
            work[learner, a] -= factor * work[learner, p]
            for b in range(a // FOUR * FOUR, width_of(full), FOUR):
                put_four(work, learner - a, b, four_at(work, learner - a, b) - factor * four_at(work, row, b))
    for back in range(full):
        p = full - back
        work[learner, p] *= work[learner - p, READING]
        for a in range(1, p):
            work[learner, a] -= work[learner - a, p] * work[learner, p]
        prior = prior_at(params, p)
        step = min(max(work[learner, p], -LARGEST_STEP), LARGEST_STEP)
        pool[THETA + p - 1] = min(max(pool[THETA + p - 1] + step, LOWEST[prior]), HIGHEST[prior])
