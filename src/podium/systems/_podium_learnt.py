"""What pairs of units of a heat say of both and of what the pool learns; and, for people, what a pool has learnt."""

import functools
import math
from typing import Any

from podium.engine.inputs import Columns, Heat, Scratch, heats_of, mode_at, weight_at
from podium.engine.pool_state import LearntParameter
from podium.engine.rules import evidence, kernel
from podium.kernels.exponential import exp
from podium.kernels.fours import FOUR, four, four_at, logistics, number_of, put_four
from podium.kernels.records import add, read, times
from podium.systems._podium_entering import GROWTH_DAYS, YEAR, apart, things_of
from podium.systems._podium_rules import by_unfinished, comparisons, expected_log_odds, steepness
from podium.systems._podium_state import (
    MOST_SHARPNESS,
    SCALE,
    SHARPNESS,
    SHARPNESS_KNOWN,
    SHARPNESS_PRECISION,
    C,
    Pair,
    learn_curvature,
)
from podium.systems._podium_units import (
    BLOCKS,
    BY_TERMS,
    FINISHED,
    PLACE,
    SIZE,
    UNIT,
    Layout,
    are_compared,
    common_of,
    entry_of,
    heat_at,
    variances_at,
)

FEWEST = 3  # units of a field
MOST_STRENGTH = 300.0  # of which the exponential is still a number, and the sum of many
FIRST_YEAR = GROWTH_DAYS / YEAR * (1.0 - math.exp(-YEAR / GROWTH_DAYS))  # years of growth that the first one holds


def deviation(logarithm: float) -> float:
    """A variance's logarithm as a deviation in points."""
    return SCALE * math.exp(0.5 * logarithm)


def direction(points: float, up: str, down: str) -> str:
    """One verb or another, by the sign, and the points."""
    return f"{up if points >= 0.0 else down} {abs(points):.0f} points"


LEARNT = (
    LearntParameter(
        "spread",
        "Newcomers",
        "points",
        deviation,
        lambda points: f"Two of three newcomers turn out to be within {points:.0f} points of where all begin.",
    ),
    LearntParameter(
        "event",
        "What an event changes",
        "points",
        deviation,
        lambda points: f"From one event to the next a skill moves by some {points:.1f} points, however soon it is.",
    ),
    LearntParameter(
        "idle_day",
        "What a year changes",
        "points",
        lambda logarithm: deviation(logarithm) * math.sqrt(YEAR),
        lambda points: f"In a year a skill moves by some {points:.0f} points, up or down.",
    ),
    LearntParameter(
        "noise",
        "A day's form",
        "points",
        deviation,
        lambda points: f"On the day a player is some {points:.0f} points better or worse than the skill.",
    ),
    LearntParameter(
        "growth",
        "Growth",
        "points",
        lambda a_year: SCALE * FIRST_YEAR * a_year,
        lambda points: f"Newcomers {direction(points, 'gain', 'lose')} in the first year, beside their results.",
    ),
    LearntParameter(
        "ageing",
        "Ageing",
        "points",
        lambda a_year: SCALE * a_year,
        lambda points: f"After ten years a year {direction(points, 'takes', 'brings')}.",
    ),
    LearntParameter(
        "unfinished",
        "Breakdowns",
        "%",
        lambda logarithm: 100.0 * math.exp(logarithm),
        lambda percent: f"A duel that one did not finish counts {percent:.0f} % of another.",
    ),
    LearntParameter(
        "reach",
        "Reach",
        "%",
        lambda logarithm: 100.0 / (1.0 + (math.pi * math.exp(-logarithm)) ** 2),
        lambda percent: f"First and last of a field say {percent:.0f} % as much of each other as neighbours.",
    ),
    LearntParameter(
        "sharpness",
        "Luck of a field",
        "%",
        lambda logarithm: 100.0 * math.exp(-logarithm),
        lambda percent: f"In a field of three and more luck weighs {percent:.0f} % of what it does in a duel.",
    ),
)

LEARNT_OF_ENTRY = LearntParameter(
    "entry",
    "Newcomers' level",
    "points",
    lambda level: SCALE * level,
    lambda points: f"Newcomers are {abs(points):.0f} points {'better' if points >= 0.0 else 'weaker'} than the first.",
)

LEARNT_OF_MODES = LearntParameter(
    "mode",
    "Modes",
    "points",
    deviation,
    lambda points: f"In one mode a player is some {points:.0f} points better or worse than over all.",
)


def learnt_with(modes: int, things: tuple[str, ...]) -> tuple[LearntParameter, ...]:
    """What pools with so many modes and these kinds of things learn."""
    of_things = [
        each
        for number, kind in enumerate(things, start=1)
        for each in (
            LearntParameter(
                f"thing_{number}_spread",
                f"What a {kind} is worth",
                "points",
                deviation,
                functools.partial("Two of three are within {1:.0f} points by their {0}.".format, kind),
            ),
            LearntParameter(
                f"thing_{number}_day",
                f"What a year changes of a {kind}",
                "points",
                lambda logarithm: deviation(logarithm) * math.sqrt(YEAR),
                functools.partial("In a year what a {0} is worth moves by some {1:.0f} points.".format, kind),
            ),
        )
    ]
    return (*LEARNT, LEARNT_OF_ENTRY, *([LEARNT_OF_MODES] if modes else []), *of_things)


@kernel
def carry_pair(
    pair: Pair, for_a: Any, for_b: Any, weight: float, off: float, room: Any, i: int, j: int, learner: int, width: int
) -> None:
    """Carry the derivatives of both sides' evidence, and of the chance, through a comparison of two rows' units.

    Args:
        off: result less chance, as much as the pair counts in what theta learns.
    """
    d, steep, noise = pair.gap, pair.steepness, pair.noise
    w_i, w_j = weight * for_a.worth, weight * for_b.worth
    slope = d * -0.5 * C * steep * steep * steep
    g_i, g_j = for_a.g, for_b.g
    off_i, off_j = for_a.result - for_a.expected, for_b.result - for_b.expected
    v_i, v_j = for_a.expected * (1.0 - for_a.expected), for_b.expected * (1.0 - for_b.expected)
    bend_i, bend_j = (1.0 - 2.0 * for_a.expected) * v_i, (1.0 - 2.0 * for_b.expected) * v_j
    # By the difference of the means, and by the variance of the other side, which g attenuates.
    g_by_i, g_by_j = -0.5 * C * g_i * g_i * g_i, -0.5 * C * g_j * g_j * g_j
    s_gap_i, s_gap_j = -w_i * g_i * g_i * v_i, -w_j * g_j * g_j * v_j
    s_other_i, s_other_j = w_i * (off_i - g_i * v_i * d) * g_by_i, w_j * (off_j + g_j * v_j * d) * g_by_j
    j_gap_i, j_gap_j = w_i * g_i * g_i * g_i * bend_i, w_j * g_j * g_j * g_j * bend_j
    j_other_i = w_i * (2.0 * g_i * v_i + g_i * g_i * bend_i * d) * g_by_i
    j_other_j = w_j * (2.0 * g_j * v_j - g_j * g_j * bend_j * d) * g_by_j
    for k in range(0, width, FOUR):
        gap = four_at(room, i, k) - four_at(room, j, k)
        mine, theirs = variances_at(room, i, width, k, noise), variances_at(room, j, width, k, noise)
        if pair.common:
            both = four_at(room, learner + 1, k)
            mine, theirs = mine - both, theirs - both
        carry_by(room, i, 2 * width + k, s_gap_i * gap + s_other_i * theirs)
        carry_by(room, i, 3 * width + k, j_gap_i * gap + j_other_i * theirs)
        carry_by(room, j, 2 * width + k, s_other_j * mine - s_gap_j * gap)
        carry_by(room, j, 3 * width + k, j_other_j * mine - j_gap_j * gap)
        u = steep * gap + slope * (mine + theirs)
        carry_by(room, learner, k, off * u)
        put_four(room, learner, width + k, u)
    by_reach, by_terms = 2.0 * (1.0 - for_a.near), BLOCKS * width + BY_TERMS
    terms_i = four(by_reach, by_reach, pair.unfinished, pair.unfinished)
    terms_j = four(by_reach, by_reach, pair.other_unfinished, pair.other_unfinished)
    says_i, says_j = w_i * g_i * off_i, w_j * g_j * off_j
    carry_by(room, i, by_terms, terms_i * four(says_i, -s_gap_i, says_i, -s_gap_i))
    carry_by(room, j, by_terms, terms_j * four(says_j, -s_gap_j, says_j, -s_gap_j))


@kernel
def carry_by(room: Any, row: int, column: int, by: Any) -> None:
    """Add to four numbers of the room."""
    put_four(room, row, column, four_at(room, row, column) + by)


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
            gap, g_a, g_b = a.mean - b.mean, a.g, b.g
            chances = logistics(four(g_b * gap, -g_a * gap, expected_log_odds(params, a, b), 0.0))
            of_a, of_b, p = number_of(chances, 0), number_of(chances, 1), number_of(chances, 2)
            for_a, for_b = comparisons(params, a, b, mine, theirs, course, of_a, of_b)
            add(scratch.sums, me, times(evidence(params, for_a), weight))
            add(scratch.sums, you, times(evidence(params, for_b), weight))
            by_finish = by_unfinished(params, mine.finished, theirs.finished)
            by_other = by_unfinished(params, theirs.finished, mine.finished)
            pair = Pair(gap, steepness(params, a, b), by_finish, by_other, params.noise, common)
            off = (for_a.result - p) * each
            carry_pair(pair, for_a, for_b, weight, off, scratch.room, me, you, learner, layout.width)
            learn_curvature(scratch.room, learner, layout.full, p * (1.0 - p) * each)


@kernel
def learn_sharpness(params: Any, entering: Any, columns: Columns, settlement: int, heat: int, scratch: Scratch) -> None:
    """Move the pool's sharpness by who alone won a field: a step of Newton's on Luce's chance of the winner.

    A unit's strength is the log-odds against one of the field's mean skill and mean variance. No rating is moved by it.
    """
    lines, pool = scratch.lines, scratch.pool
    start, stop = heat_at(columns, settlement, heat, lines)
    winner, winners, mean, variance = start, 0, 0.0, 0.0
    for i in range(start, stop):
        me = read(scratch.entering_states, int(lines[i, UNIT]), entering)
        mean += (me.mean + me.mean_reading) / (stop - start)
        variance += (me.variance + me.variance_reading) / (stop - start)
        if lines[i, FINISHED] and (winners == 0 or lines[i, PLACE] <= lines[winner, PLACE]):
            winners = winners + 1 if winners and lines[i, PLACE] == lines[winner, PLACE] else 1
            winner = i
    if stop - start < FEWEST or winners != 1:
        return
    won, shares, sums, squares = 0.0, 0.0, 0.0, 0.0
    for i in range(start, stop):
        me = read(scratch.entering_states, int(lines[i, UNIT]), entering)
        both = max(variance + me.variance + me.variance_reading, 0.0)
        strength = (
            params.sharpness * (me.mean + me.mean_reading - mean) / math.sqrt(1.0 + C * (both + 2.0 * params.noise))
        )
        share = exp(min(strength, MOST_STRENGTH))
        won = strength if i == winner else won
        shares, sums, squares = shares + share, sums + share * strength, squares + share * strength * strength
    weight, expected = weight_at(columns, heat), sums / shares
    pool[SHARPNESS_KNOWN] += weight * (squares / shares - expected * expected)
    step = weight * (won - expected) / (SHARPNESS_PRECISION + pool[SHARPNESS_KNOWN])
    pool[SHARPNESS] = min(max(pool[SHARPNESS] + step, -MOST_SHARPNESS), MOST_SHARPNESS)
