"""The teams of a heat, in finishing order for systems that rate teams, and in file order for predictions.

In finishing order, teams are placed in the rows of `Scratch.lines` without sorting. Ranks are integers from 1, and each
rank has one row for every entry that shares it.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import PRESENT, part_at, rank_at
from podium.engine.kernel_calls import run_kernel
from podium.engine.rules import enter, expect_side
from podium.engine.system import System
from podium.engine.tables.sides import Sides, empty_sides
from podium.kernels.compiled import compile_twice, kernel
from podium.support.arrays import Floats

COMPILED_MIN_MEMBERS = 64  # below this, plain Python is faster than loading a kernel
MIN_PART = 1e-4  # keeps a team's variance above 0 if its players hardly played


class Team(NamedTuple):
    """A row in the table of a heat's teams. A player without team mates forms a team of one."""

    mu: float  # sum of the players' means
    variance: float  # sum of their variances
    rank: float  # tied teams share the best rank
    surprise: float  # filled by the system: change of the team's mean, divided by its variance
    shrink: float  # filled by the system: share of the variance that is lost


MU, VARIANCE, RANK, SURPRISE, SHRINK = range(len(Team._fields))
SIDE, TAKEN, ROW_OF_LINE, LINE_OF_ENTRY = range(len(Team._fields), len(Team._fields) + 4)
SPARE = TAKEN  # unused once the teams are gathered


@kernel
def gather_teams(columns: Any, start: int, stop: int, lines: Any) -> int:
    """Assign each team of a heat (entries `start` to `stop`) a row, best first. Return the number of teams.

    Afterwards, `row_of(lines, entry - start)` is an entry's row.
    """
    size = stop - start
    for i in range(size):
        lines[i, TAKEN] = 0.0
    for i in range(start, stop):
        rank = rank_at(columns, i)
        first = int(rank) - 1
        line = first
        while line < first + int(lines[first, TAKEN]):
            if columns.side.size and lines[line, SIDE] == float(columns.side[i]):
                break
            line = line + 1 if columns.side.size else first + int(lines[first, TAKEN])
        if line == first + int(lines[first, TAKEN]):
            lines[first, TAKEN] += 1.0
            lines[line, SIDE] = float(columns.side[i]) if columns.side.size else 0.0
            lines[line, RANK] = rank
        lines[i - start, LINE_OF_ENTRY] = float(line)
    teams = 0
    first = 0
    while first < size:
        taken = int(lines[first, TAKEN])
        if taken == 0:
            first += 1
            continue
        for line in range(first, first + taken):
            lines[line, ROW_OF_LINE] = float(teams)
            lines[teams, RANK] = lines[line, RANK]
            lines[teams, MU] = lines[teams, VARIANCE] = lines[teams, SURPRISE] = lines[teams, SHRINK] = 0.0
            teams += 1
        first += taken
    return teams


@kernel
def row_of(lines: Any, entry: int) -> int:
    """Return the row of an entry's team. `entry` counts from 0 in its heat."""
    return int(lines[int(lines[entry, LINE_OF_ENTRY]), ROW_OF_LINE])


@kernel
def part_in_team(columns: Any, i: int, partial_play: float) -> float:
    """Return the weight of entry `i` in its team, which is never 0: the part of the game played, if parts count."""
    return counted_part(part_at(columns, i), partial_play)


@kernel
def counted_part(part: float, partial_play: float) -> float:
    """Return the weight in a team, never 0, of a player who played this part of the game."""
    return max(part, MIN_PART) if partial_play else 1.0


class Shared(NamedTuple):
    """A piece of equipment that members of one side share."""

    number: int  # the equipment's state
    kind: int  # from 1
    state: Any
    share: float  # sum of its users' shares


def sides_of(
    system: System,
    states: Sequence[Sequence[Any]],
    equipment: Sequence[Sequence[Shared]] = (),
    home: Sequence[float] = (),
) -> Sides:
    """Return the sides, given the states of their players. All members count equally.

    Args:
        equipment: The equipment of each side. Default: no equipment.
        home: 1 for each side that moves first or is at home, otherwise 0. Default: no home side.
    """
    params, (_, entering, _) = system.arguments()
    rows: list[Any] = []
    members: list[tuple[float, int, int]] = []
    start = [0]
    for number, side in enumerate(states):
        rows += [enter(params, state, PRESENT) for state in side]
        members += [(1.0 / len(side), -1, 0)] * len(side)
        for item in equipment[number] if equipment else ():
            rows.append(enter(params, item.state, PRESENT._replace(kind=float(item.kind))))
            members.append((item.share, item.number, 1))
        start.append(len(rows))
    share, slot, shared = (np.array(column) for column in zip(*members, strict=True))
    sides = empty_sides(len(rows), len(entering))._replace(
        members=np.array(rows), share=share, slot=slot, shared=shared
    )
    sides.start[: len(start)] = start
    sides.home[: len(home)] = home
    if system.rates_sizes and len(states) == 2:  # noqa: PLR2004  (two sides)
        surplus = math.log(len(states[0]) / len(states[1]))
        sides.surplus[:2] = max(surplus, 0.0), max(-surplus, 0.0)
    return sides


def expected_scores(system: System, sides: Sides, count: int) -> Floats:
    """Return the expected scores of the first `count` sides against each other, from the system's model for sides.

    Returns:
        A float64 array of shape (count, count), with values from 0 to 1, and 0.5 on the diagonal.
    """
    params, (_, entering, _) = system.arguments()
    expected = np.full((count, count), 0.5)
    if sides.start[count] < COMPILED_MIN_MEMBERS:
        _expect_all(params, entering, sides, expected)
    else:
        run_kernel(system, _expect_kernels, count * count, params, entering, sides, expected)
    return expected


def _expect_all(params: Any, entering: Any, sides: Any, expected: Any) -> None:
    for a in range(len(expected)):
        for b in range(len(expected)):
            if a != b:
                expected[a, b] = expect_side(params, entering, sides, a, b)


_expect_kernels = compile_twice(_expect_all)
