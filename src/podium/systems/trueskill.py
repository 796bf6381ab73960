"""TrueSkill: beliefs are passed along a factor graph of players, teams and differences between neighbours.

Source: R. Herbrich, T. Minka and T. Graepel, "TrueSkill: A Bayesian Skill Rating System" (2006). All messages are
normal distributions, stored as a precision and precision times mean. In a ranking, messages pass between the teams and
the differences between neighbours until they converge (figure 1).
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

from podium.engine.inputs import PRESENT, Columns, Entrant, Scratch, nobody_finished, part_at, slot_at, weight_at
from podium.engine.rules import (
    enter,
    expect,
    expect_side,
    face_off,
    judge_heat,
    judge_result,
    judge_two_heats,
    kernel,
    rate_event,
    rate_heats,
    rate_in_steps,
    rate_two,
    update_state,
    update_two,
)
from podium.engine.system import conservatism, parameter
from podium.engine.tables.sides import Sides
from podium.engine.tables.teams import MU, RANK, SHRINK, SPARE, SURPRISE, VARIANCE, counted_part, gather_teams, row_of
from podium.kernels.records import add, read
from podium.probability.normal import distribution, draw_corrections, win_corrections
from podium.systems._normal_skill import NormalSkill, State, add_uncertainty, normal_chance

# Columns of a team's line in addition to `teams.Team`: its performance as a message (in place of surprise and shrink),
# the messages from the differences to its left and right, and the message from the result to the right difference.
OWN, OWN_MEAN = SURPRISE, SHRINK
SIZE, LEFT, LEFT_MEAN, RIGHT, RIGHT_MEAN, RESULT, RESULT_MEAN = range(9, 16)
KEPT = SPARE
MAX_SWEEPS = 10


class Params(NamedTuple):
    beta_squared: float
    tau_squared: float
    margin: float  # draw margin, per root of the sum of squared parts of all players
    idle_variance: float  # per day
    max_deviation: float
    tolerance: float
    partial_play: float  # 1 or 0


class Evidence(NamedTuple):
    """The evidence from an event's heats, as a message to the player's skill."""

    precision: float
    precision_mean: float


class Difference(NamedTuple):
    """The performances of two players before the result, and their difference: the winner's minus the other's."""

    deviation_a: float  # of the skill
    deviation_b: float
    mean_a: float  # of the performance
    mean_b: float
    variance_a: float
    variance_b: float
    lead: float
    precision: float
    root: float  # square root of the precision
    x: float  # lead and margin, in deviations of the difference
    t: float
    order: float  # 1 won, 0 drawn
    ahead: float  # 1 if a won, or drew and is first in the file; else -1


class Verdict(NamedTuple):
    """The correction that the result makes to the difference."""

    v: float
    w: float


@dataclass(frozen=True, slots=True)
class TrueSkill(NormalSkill):
    """TrueSkill over teams, fields and draws."""

    name = "trueskill"
    title = "TrueSkill"
    for_players = "Beat players rated above you, alone or in a team, and you gain more."
    source = "Herbrich, Minka and Graepel, TrueSkill (2006)"
    formulas = (
        "performance ~ N(skill, beta^2), skill ~ N(mu, sigma^2 + tau^2); a team's is the sum of its players'",
        "a win: the difference of neighbours in the ranking is above the margin; a draw: within it",
        "v(x, t) = N(x - t) / Phi(x - t), w = v (v + x - t); messages are passed until the largest moves little",
        "partial play: a player's performance counts in the sum by the part of the game played",
        "a part is the time played over the longest in the heat: a match that all played equally long counts in full",
        "margin = Phi^-1((draw_probability + 1) / 2) sqrt(sum of squared parts in both teams) beta",
    )
    evidence_type = Evidence
    duel_types = Difference, Verdict
    ties_in_file_order = True

    draw_probability: float = parameter(
        0.1, "share of matches between equal players that are drawn", low=0.0, high=0.999999
    )
    idle_growth: float = parameter(
        0.0, "deviation added by an idle day", unit="points", low=0.0, high=1e6, search=(0.0, 0.5)
    )
    partial_play: bool = parameter(
        True, "a player counts towards the team in proportion to the part of the game played"
    )
    tolerance: float = parameter(1e-4, "largest change in a message at which passing stops", low=0.0, high=1.0)
    conservative: float = conservatism()

    def params(self) -> Params:
        return Params(
            beta_squared=self.beta * self.beta,
            tau_squared=self.tau * self.tau,
            margin=NormalDist().inv_cdf(0.5 * (self.draw_probability + 1.0)) * self.beta,
            idle_variance=self.idle_growth * self.idle_growth,
            max_deviation=self.deviation,
            tolerance=self.tolerance,
            partial_play=float(self.partial_play),
        )

    def as_one(self, sides: Sides, number: int) -> State:
        """Return the sum of the members' skills and noise, minus one player's noise, which is added again later."""
        ratings, deviations, _ = sides.members[sides.start[number] : sides.start[number + 1]].T.tolist()
        variance = sum(deviation**2 + self.beta**2 for deviation in deviations) - self.beta**2
        return State(sum(ratings), math.sqrt(variance), 0.0)


enter.register(Params, add_uncertainty)
rate_event.register(Params, rate_heats)


@judge_heat.register
def judge_ranking(
    params: Params, prototypes: Any, columns: Columns, heat: int, start: int, stop: int, first: int, scratch: Scratch
) -> None:
    """Add the evidence of a heat to each of its players."""
    lines = scratch.lines
    teams = line_up(params, prototypes, columns, start, stop, first, scratch)
    pass_messages(params, lines, teams, lines, 0)
    if teams:
        update_players(params, prototypes, columns, heat, start, stop, first, scratch)


@judge_two_heats.register
def judge_two_rankings(
    params: Params,
    prototypes: Any,
    columns: Columns,
    heat: int,
    start: int,
    middle: int,
    stop: int,
    scratch: Scratch,
    other: Scratch,
) -> None:
    """Judge two heats as `judge_ranking` does, but in alternating steps."""
    teams = line_up(params, prototypes, columns, start, middle, start, scratch)
    other_teams = line_up(params, prototypes, columns, middle, stop, middle, other)
    pass_messages(params, scratch.lines, teams, other.lines, other_teams)
    if teams:
        update_players(params, prototypes, columns, heat, start, middle, start, scratch)
    if other_teams:
        update_players(params, prototypes, columns, heat + 1, middle, stop, middle, other)


@kernel
def line_up(params: Any, prototypes: Any, columns: Columns, start: int, stop: int, first: int, scratch: Scratch) -> int:
    """Add up the teams of a heat, without messages. Return the number of teams, or 0 if there is nothing to learn."""
    _, entering, _ = prototypes
    lines = scratch.lines
    if nobody_finished(columns, start, stop):
        return 0
    teams = gather_teams(columns, start, stop, lines)
    if teams < 2:
        return 0
    longest = longest_part(columns, start, stop)
    for k in range(teams):
        lines[k, SIZE] = 0.0
    for i in range(start, stop):
        me = read(scratch.entering_states, slot_at(columns, i, first), entering)
        row = row_of(lines, i - start)
        part = counted_part(part_at(columns, i) / longest, params.partial_play)
        lines[row, MU] += part * me.rating
        lines[row, VARIANCE] += part * part * (me.deviation * me.deviation + params.beta_squared)
        lines[row, SIZE] += part * part
    clear_messages(lines, teams)
    return teams


@kernel
def longest_part(columns: Columns, start: int, stop: int) -> float:
    """Return the largest part of the game that any player in a heat played."""
    if not columns.played_s.size:
        return 1.0
    longest = 0.0
    for i in range(start, stop):
        longest = max(longest, part_at(columns, i))
    return longest if longest > 0.0 else 1.0


@kernel
def update_players(
    params: Any, prototypes: Any, columns: Columns, heat: int, start: int, stop: int, first: int, scratch: Scratch
) -> None:
    """Add the evidence about each player, derived from the messages to the player's team."""
    _, entering, _ = prototypes
    lines, weight, longest = scratch.lines, weight_at(columns, heat), longest_part(columns, start, stop)
    for i in range(start, stop):
        slot = slot_at(columns, i, first)
        me = read(scratch.entering_states, slot, entering)
        row = row_of(lines, i - start)
        precision = lines[row, LEFT] + lines[row, RIGHT]
        if precision <= 0.0:
            continue
        mean = (lines[row, LEFT_MEAN] + lines[row, RIGHT_MEAN]) / precision
        part = counted_part(part_at(columns, i) / longest, params.partial_play)
        squared = part * part
        # The team's sum minus the team mates is the player's performance. Adding beta^2 gives the player's skill.
        message = squared / (1.0 / precision + lines[row, VARIANCE] - squared * me.deviation * me.deviation)
        skill = (mean - (lines[row, MU] - part * me.rating)) / part
        add(scratch.sums, slot, Evidence(weight * message, weight * message * skill))


@face_off.register
def difference_of_performances(params: Params, a: State, b: State, place: float, other_place: float) -> Difference:
    """Return the difference between two single players, exactly as `apply_result` computes it before any message."""
    me, you = enter(params, a, PRESENT), enter(params, b, PRESENT)
    own, other = me.deviation * me.deviation + params.beta_squared, you.deviation * you.deviation + params.beta_squared
    precision_a, precision_b = 1.0 / own, 1.0 / other
    variance_a, variance_b = 1.0 / precision_a, 1.0 / precision_b
    mean_a, mean_b = me.rating * precision_a * variance_a, you.rating * precision_b * variance_b
    precision = precision_a * precision_b / (precision_a + precision_b)
    root = math.sqrt(precision)
    ahead = 1.0 if place <= other_place else -1.0
    lead = ahead * (mean_a - mean_b)
    x, t = lead * root, params.margin * math.sqrt(2.0) * root
    order = 0.0 if place == other_place else 1.0
    return Difference(
        *(me.deviation, you.deviation, mean_a, mean_b, variance_a, variance_b),
        *(lead, precision, root, x, t, order, ahead),
    )


@judge_result.register
def correct_difference(params: Params, difference: Difference) -> Verdict:
    """Return the paper's v and w for a win or a draw."""
    if difference.order > 0.0:
        v, w = win_corrections(difference.x, difference.t)
    else:
        v, w = draw_corrections(difference.x, difference.t)
    return Verdict(v, w)


@update_two.register
def pass_both_messages(
    params: Params, a: State, b: State, difference: Difference, verdict: Verdict
) -> tuple[State, State]:
    """Pass the result on to both players. They send no message back, so a second sweep would not change anything."""
    d = difference
    result, result_mean, kept = message_of_result(d.precision, d.lead, d.root, verdict.v, verdict.w)
    share_a, share_b = 1.0 / (d.variance_b * result + kept), 1.0 / (d.variance_a * result + kept)
    mean_a = (d.mean_b * result + d.ahead * result_mean) * share_a
    mean_b = (d.mean_a * result - d.ahead * result_mean) * share_b
    for_a = message_to_skill(params, d.deviation_a, result * share_a, mean_a)
    for_b = message_to_skill(params, d.deviation_b, result * share_b, mean_b)
    me, you = State(a.rating, d.deviation_a, a.events), State(b.rating, d.deviation_b, b.events)
    return update_state(params, me, for_a, PRESENT), update_state(params, you, for_b, PRESENT)


@kernel
def message_to_skill(params: Any, deviation: float, precision: float, precision_mean: float) -> Evidence:
    """Return the message to the skill from the message to the performance."""
    if precision <= 0.0:
        return Evidence(0.0, 0.0)
    squared = deviation * deviation
    message = 1.0 / (1.0 / precision + (squared + params.beta_squared) - squared)
    return Evidence(message, message * (precision_mean / precision))


rate_two.register(Params, rate_in_steps)


@update_state.register
def multiply_messages(params: Params, me: State, totals: Evidence, entrant: Entrant) -> State:
    """Multiply the belief before the event by the messages."""
    own = 1.0 / (me.deviation * me.deviation)
    precision = own + totals.precision
    mean = (me.rating * own + totals.precision_mean) / precision
    return State(mean, 1.0 / math.sqrt(precision), me.events + entrant.events)


expect.register(Params, normal_chance)


@expect_side.register
def chance_of_side(params: Params, entering: State, sides: Sides, a: int, b: int) -> float:
    """Return the probability that side `a` has the larger sum of performances."""
    lead, variance, parts = 0.0, 0.0, 0.0
    for side, sign in ((a, 1.0), (b, -1.0)):
        for i in range(sides.start[side], sides.start[side + 1]):
            me, part = read(sides.members, i, entering), counted_part(sides.parts[i], params.partial_play)
            lead += sign * part * me.rating
            variance += part * part * me.deviation * me.deviation
            parts += part * part
    return distribution(lead / math.sqrt(variance + parts * params.beta_squared))


@kernel
def clear_messages(lines: Any, teams: int) -> None:
    """Write each team's performance as a message, and clear all other messages."""
    for k in range(teams):
        for note in range(LEFT, RESULT_MEAN + 1):
            lines[k, note] = 0.0
        lines[k, KEPT] = 1.0
        lines[k, OWN] = 1.0 / lines[k, VARIANCE]
        lines[k, OWN_MEAN] = lines[k, MU] * lines[k, OWN]


@kernel
def pass_messages(params: Any, lines: Any, teams: int, other_lines: Any, other_teams: int) -> None:
    """Sweep down and up through two rankings until no result changes a difference by more than the tolerance.

    The two rankings take turns, step by step. A ranking without teams takes no steps.
    """
    steps, other_steps = steps_of_sweep(teams), steps_of_sweep(other_teams)
    for _ in range(MAX_SWEEPS):
        moved, other_moved = 0.0, 0.0
        for step in range(max(steps, other_steps)):
            if step < steps:
                moved = max(moved, take_step(params, lines, teams, step))
            if step < other_steps:
                other_moved = max(other_moved, take_step(params, other_lines, other_teams, step))
        if moved <= params.tolerance:
            steps = 0
        if other_moved <= params.tolerance:
            other_steps = 0
        if steps + other_steps == 0:
            break
    pass_to_ends(lines, teams)
    pass_to_ends(other_lines, other_teams)


@kernel
def steps_of_sweep(teams: int) -> int:
    """Return the number of steps in a sweep down and up. Two teams have one result, so one step is enough."""
    return max(2 * (teams - 2), min(teams - 1, 1), 0)


@kernel
def take_step(params: Any, lines: Any, teams: int, step: int) -> float:
    """Apply a result and pass it on, first down the ranking and then up.

    Return the amount by which the belief changed.
    """
    if step < teams - 2:
        moved = apply_result(params, lines, step)
        pass_right(lines, step)
        return moved
    k = 2 * (teams - 2) - step
    moved = apply_result(params, lines, k)
    if teams > 2:
        pass_left(lines, k)
    return moved


@kernel
def pass_to_ends(lines: Any, teams: int) -> None:
    """Pass the outermost results to the first and last teams, which the sweeps do not reach."""
    if teams >= 2:
        pass_left(lines, 0)
        pass_right(lines, teams - 2)


@kernel
def without_right(lines: Any, k: int) -> tuple[float, float]:
    """Return the mean and variance of a team's performance without the message from its right."""
    variance = 1.0 / (lines[k, OWN] + lines[k, LEFT])
    return (lines[k, OWN_MEAN] + lines[k, LEFT_MEAN]) * variance, variance


@kernel
def without_left(lines: Any, k: int) -> tuple[float, float]:
    """Return the mean and variance of a team's performance without the message from its left."""
    variance = 1.0 / (lines[k, OWN] + lines[k, RIGHT])
    return (lines[k, OWN_MEAN] + lines[k, RIGHT_MEAN]) * variance, variance


@kernel
def apply_result(params: Any, lines: Any, k: int) -> float:
    """Apply the result between team k and the next team to their difference. Return the change in the belief."""
    mean, _ = without_right(lines, k)
    next_mean, _ = without_left(lines, k + 1)
    own, other = lines[k, OWN] + lines[k, LEFT], lines[k + 1, OWN] + lines[k + 1, RIGHT]
    precision, lead = own * other / (own + other), mean - next_mean
    root = math.sqrt(precision)
    x, t = lead * root, params.margin * math.sqrt(lines[k, SIZE] + lines[k + 1, SIZE]) * root
    if lines[k, RANK] == lines[k + 1, RANK]:
        v, w = draw_corrections(x, t)
    else:
        v, w = win_corrections(x, t)
    result, result_mean, kept = message_of_result(precision, lead, root, v, w)
    before, now = 1.0 / lines[k, KEPT], 1.0 / kept
    moved_mean = abs(result_mean * now - lines[k, RESULT_MEAN] * before)
    moved: float = max(moved_mean, math.sqrt(abs(result * now - lines[k, RESULT] * before)))
    lines[k, RESULT], lines[k, RESULT_MEAN], lines[k, KEPT] = result, result_mean, kept
    return moved


@kernel
def message_of_result(precision: float, lead: float, root: float, v: float, w: float) -> tuple[float, float, float]:
    """Return the scaled message from a result to the difference, and the share of the variance that is left.

    The message is multiplied by that share. The new precision of the difference is the old one divided by the share.
    The unscaled message's precision would be the old precision times the lost share, divided by the share that is left.
    Leaving out this division saves one of two divisions per team.
    """
    kept = max(1.0 - w, 1e-12)
    result = precision * (1.0 - kept)
    return result, lead * result + root * v, kept


@kernel
def pass_right(lines: Any, k: int) -> None:
    """Pass the right difference of team k on to the next team: team k's performance minus the difference."""
    mean, variance = without_right(lines, k)
    result = lines[k, RESULT]
    share = 1.0 / (variance * result + lines[k, KEPT])
    lines[k + 1, LEFT] = result * share
    lines[k + 1, LEFT_MEAN] = (mean * result - lines[k, RESULT_MEAN]) * share


@kernel
def pass_left(lines: Any, k: int) -> None:
    """Pass the right difference of team k on to team k: the next team's performance plus the difference."""
    mean, variance = without_left(lines, k + 1)
    result = lines[k, RESULT]
    share = 1.0 / (variance * result + lines[k, KEPT])
    lines[k, RIGHT] = result * share
    lines[k, RIGHT_MEAN] = (mean * result + lines[k, RESULT_MEAN]) * share


SYSTEM = TrueSkill
