"""TrueSkill: beliefs are passed along a factor graph of players, teams and differences between neighbours.

Source: R. Herbrich, T. Minka and T. Graepel, "TrueSkill: A Bayesian Skill Rating System" (2006). All messages are
normal distributions, stored as a precision and precision times mean.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple

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
from podium.engine.tables.teams import MU, VARIANCE, counted_part, gather_teams, row_of
from podium.kernels.records import add, read
from podium.probability.normal import distribution, draw_corrections, win_corrections
from podium.systems import _trueskill_messages as messages
from podium.systems._normal_skill import NormalSkill, State, add_uncertainty


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

    name: ClassVar[str] = "trueskill"
    title: ClassVar[str] = "TrueSkill"
    for_players: ClassVar[str] = "Beat players rated above you, alone or in a team, and you gain more."
    source: ClassVar[str] = "Herbrich, Minka and Graepel, TrueSkill (2006)"
    formulas: ClassVar[tuple[str, ...]] = (
        "performance ~ N(skill, beta^2), skill ~ N(mu, sigma^2 + tau^2); a team's is the sum of its players'",
        "a win: the difference of neighbours in the ranking is above the margin; a draw: within it",
        "v(x, t) = N(x - t) / Phi(x - t), w = v (v + x - t); messages are passed until the largest moves little",
        "partial play: a player's performance counts in the sum by the part of the game played",
        "a part is the time played over the longest in the heat: a match that all played equally long counts in full",
        "margin = Phi^-1((draw_probability + 1) / 2) sqrt(sum of squared parts in both teams) beta",
    )
    evidence_type = Evidence
    duel_types = Difference, Verdict
    ties_in_file_order: ClassVar[bool] = True

    draw_probability: float = parameter(
        0.1, "share of matches between equal players that are drawn", low=0.0, high=0.999999
    )
    idle_growth: float = parameter(
        0.0, "deviation added by an idle day", unit="points", low=0.0, high=1e6, search=(0.0, 0.5)
    )
    partial_play: bool = parameter(True, "a player counts in the team in proportion to the part of the game played")
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
        """Return the sum of the members and of the noise in their performances, minus the noise that is added later."""
        ratings, deviations, _ = sides.members[sides.start[number] : sides.start[number + 1]].T.tolist()
        variance = sum(deviation**2 + self.beta**2 for deviation in deviations) - self.beta**2
        return State(sum(ratings), math.sqrt(variance), 0.0)


enter.register(Params, add_uncertainty)
rate_event.register(Params, rate_heats)


@judge_heat.register
def judge_ranking(
    params: Params, prototypes: Any, columns: Columns, heat: int, start: int, stop: int, first: int, scratch: Scratch
) -> None:
    """Add a heat's message to each of its players."""
    lines = scratch.lines
    teams = line_up(params, prototypes, columns, start, stop, first, scratch)
    messages.pass_messages(params, lines, teams, lines, 0)
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
    """Judge two heats as `judge_ranking` does, alternating between their messages."""
    teams = line_up(params, prototypes, columns, start, middle, start, scratch)
    other_teams = line_up(params, prototypes, columns, middle, stop, middle, other)
    messages.pass_messages(params, scratch.lines, teams, other.lines, other_teams)
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
        lines[k, messages.SIZE] = 0.0
    for i in range(start, stop):
        me = read(scratch.entering_states, slot_at(columns, i, first), entering)
        row = row_of(lines, i - start)
        part = counted_part(part_at(columns, i) / longest, params.partial_play)
        lines[row, MU] += part * me.rating
        lines[row, VARIANCE] += part * part * (me.deviation * me.deviation + params.beta_squared)
        lines[row, messages.SIZE] += part * part
    messages.clear_messages(lines, teams)
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
    """Add the evidence that the messages to a team give about each of its players."""
    _, entering, _ = prototypes
    lines, weight, longest = scratch.lines, weight_at(columns, heat), longest_part(columns, start, stop)
    for i in range(start, stop):
        slot = slot_at(columns, i, first)
        me = read(scratch.entering_states, slot, entering)
        row = row_of(lines, i - start)
        precision = lines[row, messages.LEFT] + lines[row, messages.RIGHT]
        if precision <= 0.0:
            continue
        mean = (lines[row, messages.LEFT_MEAN] + lines[row, messages.RIGHT_MEAN]) / precision
        part = counted_part(part_at(columns, i) / longest, params.partial_play)
        squared = part * part
        # The team's sum minus the team mates is the player's performance. Adding beta^2 gives the player's skill.
        message = squared / (1.0 / precision + lines[row, VARIANCE] - squared * me.deviation * me.deviation)
        skill = (mean - (lines[row, MU] - part * me.rating)) / part
        add(scratch.sums, slot, Evidence(weight * message, weight * message * skill))


@face_off.register
def difference_of_performances(params: Params, a: State, b: State, place: float, other_place: float) -> Difference:
    """Return the difference between two single players as `apply_result` computes it before any message arrives."""
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
    """Pass the result on to both players. No message comes back, so a second sweep would not change anything."""
    d = difference
    result, result_mean, kept = messages.message_of_result(d.precision, d.lead, d.root, verdict.v, verdict.w)
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


@expect.register
def chance(params: Params, a: State, b: State) -> float:
    """Return the probability that `a` performs better than `b`."""
    spread = a.deviation * a.deviation + b.deviation * b.deviation + 2.0 * params.beta_squared
    return distribution((a.rating - b.rating) / math.sqrt(spread))


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


SYSTEM = TrueSkill
