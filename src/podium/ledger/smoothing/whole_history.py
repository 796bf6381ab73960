"""Estimate strengths at every event in hindsight on the Elo scale: whole-history ratings.

Two sides meet as in the Bradley-Terry model, where a tie is half a win and a team's skill is its members' mean. A skill
follows a random walk in time. A newcomer has one win and one loss against an average player. The ratings are the most
probable ones, found by Newton's method.

Source: R. Coulom, "Whole-History Rating: A Bayesian Rating System for Players of Time-Varying Strength" (2008), for the
model; M. Hestenes and E. Stiefel, "Methods of conjugate gradients for solving linear systems" (1952), for each step.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.engine.inputs import comparable, entries_of, heats_of, slot_at, weight_at
from podium.engine.replay import Replayed
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.errors import ParameterError
from podium.kernels.compiled import compile_kernel, kernel
from podium.kernels.logarithm import LN_10
from podium.ledger.smoothing.propagation import Appearances, SmootherState, walk
from podium.probability.logistic import logistic, score
from podium.support.arrays import Floats
from podium.systems.elo import Elo

W2, MAX_W2 = 300.0, 1e6  # variance of a skill per day, in points squared, as in goshrine's ratings of Go players
CHESS_SCALE, CHESS_SYSTEMS = 400.0, ("dwz", "fide", "uscf")
LEAST_VARIANCE = 0.01  # of the walk between two events, in points squared; with less, rounding errors would matter
FARTHEST = 0.8  # log-odds: a step in which no skill moves further improves the ratings
MAX_STEPS, END_CHANGE = 100, 1e-8  # the largest change, in log-odds, of the last step
MAX_DIRECTIONS, REST = 200, 0.1  # of a step; the error that may be left, relative to the error before the step
SIZE, SKILL, CHANGE = range(3)  # rows of the table of sides


def scale_of(system: System) -> float | None:
    """Return the rating gap at which the odds are 10 to 1, or None if a system does not use the Elo scale."""
    if isinstance(system, Elo):
        return system.scale
    return CHESS_SCALE if system.name in CHESS_SYSTEMS else None


@dataclass(frozen=True, slots=True)
class Likelihood:
    """The log-likelihood of a skill for each visit, with its derivatives."""

    columns: Any
    visit: Any  # (entrants)
    walks: Appearances
    start: Any  # (players + 1): first visit of each player

    def derivatives(self, skills: Floats, change: Floats) -> Any:
        """Return the gradient, the precision of each skill from its games, and the negative Hessian times a change."""
        sums, sides = np.zeros((3, skills.size)), np.empty((3, self.columns.place.size))
        _add_games(self.columns, self.visit, skills, change, sides, sums)
        _add_newcomers(self.start, skills, change, sums)
        sums[0] -= self._pull(skills)
        sums[2] += self._pull(change)
        return sums

    def step(self, skills: Floats) -> Any:
        """Return the step of Newton's method, and write the variances.

        The step is calculated by conjugate gradients, with each player's own tridiagonal system as preconditioner.
        """
        change = np.zeros_like(skills)
        rest, precision, _ = self.derivatives(skills, change)
        direction = self._solve_by_player(rest, precision)
        error = (rest * direction).sum()
        enough = REST * REST * error
        for _ in range(MAX_DIRECTIONS):
            if error <= enough:
                break
            pulled = self.derivatives(skills, direction)[2]
            length = error / (direction * pulled).sum()
            change += length * direction
            rest -= length * pulled
            towards = self._solve_by_player(rest, precision)
            before, error = error, (rest * towards).sum()
            direction = towards + error / before * direction
        return change

    def _pull(self, skills: Floats) -> Any:
        """Return the force with which the visits before and after pull each skill."""
        steps = np.diff(skills, prepend=0.0) / self.walks.growth  # 0 for newcomers, whose growth is infinite
        return steps - np.append(steps[1:], 0.0)

    def _solve_by_player(self, force: Floats, precision: Floats) -> Floats:
        """Return the change of each skill under a force, as if the skills of all other players were known."""
        self.walks.precision[:], self.walks.shift[:], self.walks.mean[:] = precision, force, 0.0
        _walk_all(self.walks, self.start)
        change: Floats = self.walks.mean.copy()
        return change


def whole_history(
    system: System, events: Events, replayed: Replayed, way: SmootherState, day: Floats, w2: float
) -> tuple[Floats, Floats, int]:
    """Return the rating and deviation of each visit, and the number of steps.

    As with other hindsight estimates, the level is chosen to match the ratings after each player's last event.

    Args:
        way: the visits of each player.
        day: the day of each visit.
        w2: the variance of a skill per day, in points squared.

    Raises:
        ParameterError: `w2` is out of range.
    """
    if not 0.0 <= w2 <= MAX_W2:
        raise ParameterError(f"w2: {w2} must be a number from 0 to {MAX_W2:,.0f}.")
    points = (scale_of(system) or CHESS_SCALE) / LN_10
    walks = Appearances._make(np.zeros(day.size) for _ in Appearances._fields)
    walks.growth[:] = np.maximum(w2 * np.diff(day, prepend=0.0), LEAST_VARIANCE) / points**2
    walks.growth[way.start[:-1]] = np.inf
    visit = np.empty_like(way.order)
    visit[way.order] = np.arange(visit.size)
    likelihood, skills = Likelihood(events.columns, visit, walks, way.start), np.zeros(day.size)
    for step in range(1, MAX_STEPS + 1):  # noqa: B007
        change = likelihood.step(skills)
        furthest = np.abs(change).max(initial=0.0)
        skills += change * (FARTHEST / max(furthest, FARTHEST))
        if furthest < END_CHANGE:
            break
    last = way.start[1:] - 1
    off = replayed.after[way.order[last], system.column("rating")] - points * skills[last]
    worth = 1.0 / walks.variance[last]
    levels = np.bincount(way.pool[last], worth * off) / np.bincount(way.pool[last], worth)
    return points * skills + levels[way.pool], points * np.sqrt(walks.variance), step


@compile_kernel
def _walk_all(walks: Any, start: Any) -> None:
    for player in range(start.size - 1):
        walk(walks, start[player], start[player + 1])


@compile_kernel
def _add_newcomers(start: Any, skills: Any, change: Any, sums: Any) -> None:
    """Add a win and a loss against an average player before each player's first event."""
    for player in range(start.size - 1):
        expected = logistic(skills[start[player]])
        worth = 2.0 * expected * (1.0 - expected)
        _push(sums, start[player], 1.0 - 2.0 * expected, worth, worth * change[start[player]])


@compile_kernel
def _add_games(columns: Any, visit: Any, skills: Any, change: Any, sides: Any, sums: Any) -> None:
    """Add all pairs. In a field of n sides, pairs depend on each other, so each counts as 3 / (n + 1) duels.

    The pairs of all members of two teams count as one pair.
    """
    for update in range(columns.entrants.size - 1):
        first = columns.entrants[update]
        first_heat, after_last = heats_of(columns, update)
        for heat in range(first_heat, after_last):
            start, stop = entries_of(columns, heat)
            field = 0.0
            for i in range(start, stop):
                size, skill, moved = 0.0, 0.0, 0.0
                for j in range(start, stop) if columns.side.size else range(i, i + 1):
                    if i == j or columns.side[i] == columns.side[j]:
                        mate = visit[first + slot_at(columns, j, first)]
                        size, skill, moved = size + 1.0, skill + skills[mate], moved + change[mate]
                sides[SIZE, i], sides[SKILL, i], sides[CHANGE, i] = size, skill / size, moved / size
                field += 1.0 / size
            weight = 3.0 / (field + 1.0) * weight_at(columns, heat)
            for i in range(start, stop):
                for j in range(i + 1, stop):
                    if not comparable(columns, i, j):
                        continue
                    expected = logistic(sides[SKILL, i] - sides[SKILL, j])
                    surprise = score(columns.place[i], columns.place[j]) - expected
                    moved = sides[CHANGE, i] - sides[CHANGE, j]
                    worth = expected * (1.0 - expected)
                    pairs = sides[SIZE, i] * sides[SIZE, j] / weight
                    me, other = visit[first + slot_at(columns, i, first)], visit[first + slot_at(columns, j, first)]
                    _push(sums, me, surprise / pairs, worth / (pairs * sides[SIZE, i]), worth * moved / pairs)
                    _push(sums, other, -surprise / pairs, worth / (pairs * sides[SIZE, j]), -worth * moved / pairs)


@kernel
def _push(sums: Any, visit: int, force: float, precision: float, pull: float) -> None:
    sums[0, visit] += force
    sums[1, visit] += precision
    sums[2, visit] += pull
