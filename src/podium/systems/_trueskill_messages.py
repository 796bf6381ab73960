"""Pass TrueSkill's messages between the teams in a ranking and the differences between neighbours until they converge.

Source: Herbrich, Minka and Graepel (2006), figure 1. A message is a normal distribution, stored as a precision and
precision times mean.
"""

import math
from typing import Any

from podium.engine.rules import kernel
from podium.engine.tables.teams import MU, RANK, SHRINK, SPARE, SURPRISE, VARIANCE
from podium.probability.normal import draw_corrections, win_corrections

# Columns of a team's line in addition to `teams.Team`: its performance as a message (in place of surprise and shrink),
# the messages from the differences to its left and right, and the message from the result to the right difference.
OWN, OWN_MEAN = SURPRISE, SHRINK
SIZE, LEFT, LEFT_MEAN, RIGHT, RIGHT_MEAN, RESULT, RESULT_MEAN = range(9, 16)
KEPT = SPARE
MAX_SWEEPS = 10


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
    """Return the message from a result to the difference, times the share of the variance that is left, and that share.

    The new precision of the difference is the old one divided by that share. The message's precision is the old
    precision times the lost share, divided by the share that is left. Leaving out this division saves one of two
    divisions per team.
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
