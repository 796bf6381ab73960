"""The teams of a heat: in the order of finish for systems that rate teams, in the file's order for predictions.

In the order of finish they are laid out in the rows of `Scratch.lines`, without sorting: ranks are whole numbers from
1, and as many rows are free from a rank on as entries share it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from podium.engine.inputs import PRESENT, part_at, rank_at
from podium.engine.kernel_calls import run_kernel
from podium.engine.rules import enter, expect_side
from podium.engine.system import System
from podium.engine.tables.sides import Sides, room_for_sides
from podium.kernels.compiled import compile_twice, kernel

COMPILED_MIN_MEMBERS = 64  # below, Python has filled the table before a kernel is loaded
LEAST_PART = 1e-4  # so that a team of players who hardly played still has a variance


class Team(NamedTuple):
    """A row of the teams of a heat; a player without mates is a team of one."""

    mu: float  # sum of its players' means
    variance: float  # sum of their variances
    rank: float  # ties share the best
    surprise: float  # what the system makes of it: how far the team's mean moves, over its variance
    shrink: float  # and by what share its variance does


MU, VARIANCE, RANK, SURPRISE, SHRINK = range(len(Team._fields))
SIDE, TAKEN, ROW_OF_LINE, LINE_OF_ENTRY = range(len(Team._fields), len(Team._fields) + 4)
SPARE = TAKEN  # nothing reads it once the teams are gathered


@kernel
def gather_teams(columns: Any, start: int, stop: int, lines: Any) -> int:
    """Give each team of a heat (entries `start` to `stop`) a row, best first; how many there are.

    `row_of(lines, entry - start)` is then an entry's row.
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
    """The row of an entry's team; `entry` counts from 0 in its heat."""
    return int(lines[int(lines[entry, LINE_OF_ENTRY]), ROW_OF_LINE])


@kernel
def part_in_team(columns: Any, i: int, partial_play: float) -> float:
    """What entry `i` counts in its team: the part of the game it was there for, where that counts; never nothing."""
    return counted_part(part_at(columns, i), partial_play)


@kernel
def counted_part(part: float, partial_play: float) -> float:
    """What a part of the game counts in a team, where parts count; never nothing."""
    return max(part, LEAST_PART) if partial_play else 1.0


class Shared(NamedTuple):
    """A thing that members of a side have."""

    number: int  # of the thing
    kind: int  # from 1
    state: Any
    share: float  # of the members, who has it


def sides_of(
    system: System, states: Sequence[Sequence[Any]], things: Sequence[Sequence[Shared]] = (), home: Sequence[float] = ()
) -> Sides:
    """The sides of players in these states, all members alike.

    Args:
        things: of each side; none where left out.
        home: 1 for each side that begins, or is at home, else 0; nobody is where left out.
    """
    params, (_, entering, _) = system.arguments()
    rows: list[Any] = []
    members: list[tuple[float, int, int]] = []
    start = [0]
    for number, side in enumerate(states):
        rows += [enter(params, state, PRESENT) for state in side]
        members += [(1.0 / len(side), -1, 0)] * len(side)
        for each in things[number] if things else ():
            rows.append(enter(params, each.state, PRESENT._replace(kind=float(each.kind))))
            members.append((each.share, each.number, 1))
        start.append(len(rows))
    share, slot, shared = (np.array(column) for column in zip(*members, strict=True))
    sides = room_for_sides(len(rows), len(entering))._replace(
        members=np.array(rows), share=share, slot=slot, shared=shared
    )
    sides.start[: len(start)] = start
    sides.home[: len(home)] = home
    return sides


def expected_scores(system: System, sides: Sides, count: int) -> npt.NDArray[np.float64]:
    """The expected score of each of the first sides against each other, by the system's own model of a side.

    Returns:
        (count, count) float64, from 0 to 1; 0.5 of a side against itself.
    """
    params, (_, entering, _) = system.arguments()
    expected = np.full((count, count), 0.5)
    if sides.start[count] < COMPILED_MIN_MEMBERS:
        _expect_all(params, entering, sides, expected)
    else:
        run_kernel(system, _expect_kernels, params, entering, sides, expected)
    return expected


def _expect_all(params: Any, entering: Any, sides: Any, expected: Any) -> None:
    for a in range(len(expected)):
        for b in range(len(expected)):
            if a != b:
                expected[a, b] = expect_side(params, entering, sides, a, b)


_expect_kernels = compile_twice(_expect_all)
