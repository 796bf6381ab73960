"""What every pair of teams says of both, several pairs side by side in lanes; or what a whole ranking says.

The pairs of a heat go through the lanes in their order, and each team adds up what its pairs say in that order.
"""

import math
from functools import singledispatch
from typing import Any, NamedTuple

from numba.extending import overload

from podium.engine.rules import compiled_as
from podium.engine.tables.teams import MU, RANK, SHRINK, SPARE, SURPRISE, VARIANCE
from podium.kernels.compiled import IN_KERNELS, kernel
from podium.kernels.records import LANES, read_fields, write_fields

CUBED = SPARE  # what a line notes of a team, beside `teams.Team`: the cube of its deviation


class Pair(NamedTuple):
    """Two teams, the better first."""

    lead: float  # of its mean over the other's
    variance: float  # of both
    order: float  # 1 won, 0 tied


class PairVerdict(NamedTuple):
    """What their result says of the better one; the other's v is the negative, its w the same."""

    v: float  # the paper's, over c
    w: float  # over c^3


PAIR, VERDICT = Pair(0.0, 1.0, 0.0), PairVerdict(0.0, 0.0)
VERDICT_AT = len(Pair._fields)
ROOM = LANES, VERDICT_AT + len(PairVerdict._fields)  # of a scratch, beside a row for each entrant


@singledispatch
def judge_pair(params: Any, x: float, c: float, order: float) -> tuple[float, float]:
    """What a result says of the first team: v and w. `x` is its lead over c, `order` 1 won, 0 tied.

    The second team's v is the negative, its w the same.
    """
    raise NotImplementedError(f"{type(params).__module__} registers neither judge_pair nor judge_teams")


@singledispatch
def judge_teams(params: Any, lines: Any, teams: int, lanes: Any) -> None:
    """Fill each team's surprise and shrink; by default from pairs within the window."""
    reach = int(min(params.window, float(teams)))
    for i in range(teams):
        lines[i, CUBED] = math.sqrt(lines[i, VARIANCE]) * lines[i, VARIANCE]
    i, q = 0, 1
    while i < teams - 1:
        i, q = judge_in_lanes(params, lines, teams, lanes, reach, i, q)
    if params.mean:
        for i in range(teams):
            share = 1.0 / max(min(i, reach) + min(teams - 1 - i, reach), 1)
            lines[i, SURPRISE] *= share
            lines[i, SHRINK] *= share


@kernel
def judge_in_lanes(
    params: Any, lines: Any, teams: int, lanes: Any, reach: int, first: int, first_other: int
) -> tuple[int, int]:
    """Judge as many pairs as there are lanes, from this one on; which is next."""
    i, q, count = first, first_other, 0
    while i < teams - 1 and count < LANES:
        order = 1.0 if lines[i, RANK] < lines[q, RANK] else 0.0
        pair = Pair(lines[i, MU] - lines[q, MU], lines[i, VARIANCE] + lines[q, VARIANCE], order)
        write_fields(lanes, 0, count, pair)
        count += 1
        i, q = next_pair(teams, reach, i, q)
    for lane in range(count, LANES):
        write_fields(lanes, 0, lane, PAIR)
    judge_lanes(params, lanes)
    i, q = first, first_other
    for lane in range(count):
        verdict = read_fields(lanes, VERDICT_AT, lane, VERDICT)
        lines[i, SURPRISE] += verdict.v
        lines[q, SURPRISE] -= verdict.v
        lines[i, SHRINK] += lines[i, CUBED] * verdict.w
        lines[q, SHRINK] += lines[q, CUBED] * verdict.w
        i, q = next_pair(teams, reach, i, q)
    return i, q


@kernel
def next_pair(teams: int, reach: int, i: int, q: int) -> tuple[int, int]:
    """The pair after this one."""
    return (i, q + 1) if q < min(teams - 1, i + reach) else (i + 1, i + 2)


@kernel
def judge_lanes(params: Any, lanes: Any) -> None:
    """What the pairs of all lanes say."""
    for lane in range(LANES):
        pair = read_fields(lanes, 0, lane, PAIR)
        c = params.spread * math.sqrt(pair.variance + 2.0 * params.beta_squared)
        write_fields(lanes, VERDICT_AT, lane, verdict_of(params, pair.lead, c, pair.order))


@kernel
def verdict_of(params: Any, lead: float, c: float, order: float) -> PairVerdict:
    """What a result says of the better of a pair; gamma is sigma / c, so that w is over c^3."""
    inverse = 1.0 / c
    v, w = judge_pair(params, lead / c, c, order)
    return PairVerdict(v * inverse, w * (inverse * inverse * inverse))


@overload(judge_pair, jit_options=IN_KERNELS)
def _(params, x, c, order):  # type: ignore[no-untyped-def]
    return compiled_as(judge_pair)(params)


@overload(judge_teams, jit_options=IN_KERNELS)
def _(params, lines, teams, lanes):  # type: ignore[no-untyped-def]
    return compiled_as(judge_teams)(params)
