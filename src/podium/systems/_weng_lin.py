"""The common part of Weng and Lin's five systems, which differ in the evidence that a result gives about teams.

Source: R. C. Weng and C.-J. Lin, "A Bayesian Approximation Method for Online Ranking", JMLR 12 (2011). As in the
openskill package, every event first adds tau^2 to a player's variance, and models with partial pairing take the mean
over neighbours within a window.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from podium.engine.inputs import PRESENT, Columns, Entrant, Scratch, is_sought, nobody_finished, slot_at, weight_at
from podium.engine.rules import (
    enter,
    expect,
    expect_side,
    face_off,
    judge_heat,
    judge_result,
    kernel,
    rate_event,
    rate_heats,
    update_state,
    update_two,
)
from podium.engine.system import conservatism, parameter
from podium.engine.tables.sides import Sides
from podium.engine.tables.teams import (
    MU,
    RANK,
    SHRINK,
    SPARE,
    SURPRISE,
    VARIANCE,
    Team,
    gather_teams,
    part_in_team,
    row_of,
)
from podium.kernels.compiled import rule
from podium.kernels.records import LANES, add, read, read_fields, write_fields
from podium.probability.ranks import Performances
from podium.probability.uncertain import MATCHED_SPREAD, uncertain_performances
from podium.systems._normal_skill import (
    Cube,
    NormalSkill,
    State,
    add_uncertainty,
    normal_chance,
    performance_deviation,
    side_as_one,
)

CUBED = SPARE  # a column that follows those of `teams.Team`: the cube of the team's deviation


class Pair(NamedTuple):
    """Two teams, the better one first."""

    lead: float  # difference of the means
    variance: float  # sum of both variances
    order: float  # 1 won, 0 tied


class PairVerdict(NamedTuple):
    """Evidence about the better team of a pair. The other team has -v and the same w."""

    v: float  # the paper's v, divided by c
    w: float  # the paper's w, divided by c^2, or by c^3 if gamma is sigma / c


PAIR, VERDICT = Pair(0.0, 1.0, 0.0), PairVerdict(0.0, 0.0)
VERDICT_AT = len(Pair._fields)
WIDE = 128  # with this many teams or more, each team is judged against blocks of other teams
TEAM, CUBE, CUBE_AT = Team(0.0, 1.0, 0.0, 0.0, 0.0), Cube(0.0), len(Team._fields)
VERDICTS, BLOCK = CUBE_AT + 1, CUBE_AT + 1 + len(PairVerdict._fields)  # rows of a block: teams, cubes, verdicts
WORKSPACE = LANES, BLOCK  # columns, extra rows


@rule
def judge_pair(params: Any, x: float, c: float, order: float) -> tuple[float, float]:
    """Return v and w of the first team. The second team has -v and the same w.

    Args:
        x: Lead of the first team, divided by c.
        order: 1 if it won, 0 for a tie.
    """
    raise NotImplementedError(f"{type(params).__module__} registers neither judge_pair nor judge_teams")


@rule
def judge_teams(params: Any, lines: Any, teams: int, lanes: Any, sought: int) -> None:
    """Fill in each team's surprise and shrink. By default, they are computed from all pairs within the window.

    Only those of the team in the row `sought` are needed, or of all teams if it is negative.
    """
    reach = int(min(params.window, float(teams)))
    for i in range(teams):
        lines[i, CUBED] = gamma_of(params, math.sqrt(lines[i, VARIANCE]), float(teams)) * lines[i, VARIANCE]
    if sought >= 0:
        judge_sought(params, lines, teams, reach, sought)
    elif teams >= WIDE and reach >= teams:
        judge_wide(params, lines, teams, lanes)
    else:
        i, q = 0, 1
        while i < teams - 1:
            i, q = judge_in_lanes(params, lines, teams, lanes, reach, i, q)
    if params.mean:
        for i in range(teams):
            share = 1.0 / max(min(i, reach) + min(teams - 1 - i, reach), 1)
            lines[i, SURPRISE] *= share
            lines[i, SHRINK] *= share


@kernel
def gamma_of(params: Any, deviation: float, teams: float) -> float:
    """Return the factor gamma in a heat with this number of teams, or c * gamma if gamma is sigma / c."""
    if params.cubes:
        return deviation
    return 1.0 / teams if params.per_team else 1.0


@kernel
def gamma_power(params: Any, inverse: float) -> float:
    """Return 1 / c^2, or 1 / c^3 if gamma is sigma / c, so that the product with `gamma_of` is gamma / c^2."""
    return inverse * inverse * (inverse if params.cubes else 1.0)


@kernel
def judge_sought(params: Any, lines: Any, teams: int, reach: int, sought: int) -> None:
    """Judge the pairs of one team. Terms are added in the same order as for all pairs."""
    for other in range(max(sought - reach, 0), min(sought + reach + 1, teams)):
        if other != sought:
            i, q = min(sought, other), max(sought, other)
            order = 1.0 if lines[i, RANK] < lines[q, RANK] else 0.0
            c = params.spread * math.sqrt(lines[i, VARIANCE] + lines[q, VARIANCE] + 2.0 * params.beta_squared)
            verdict = verdict_of(params, lines[i, MU] - lines[q, MU], c, order)
            lines[sought, SURPRISE] += verdict.v if sought == i else -verdict.v
            lines[sought, SHRINK] += lines[sought, CUBED] * verdict.w


@kernel
def judge_wide(params: Any, lines: Any, teams: int, lanes: Any) -> None:
    """Judge all pairs: each team against the teams behind it.

    Terms are added in the same order as in `judge_in_lanes`.
    """
    blocks = (teams + LANES - 1) // LANES
    for k in range(blocks * LANES):
        row = min(k, teams - 1)
        write_fields(lanes, k // LANES * BLOCK, k % LANES, read(lines, row, TEAM))
        write_fields(lanes, k // LANES * BLOCK + CUBE_AT, k % LANES, Cube(lines[row, CUBED]))
    for i in range(teams):
        mine, cubed = read_fields(lanes, i // LANES * BLOCK, i % LANES, TEAM), lines[i, CUBED]
        surprise, shrink = mine.surprise, mine.shrink
        for block in range((i + 1) // LANES, blocks):
            judge_block(params, lanes, block, i, teams, mine)
            for lane in range(LANES):
                verdict = read_fields(lanes, block * BLOCK + VERDICTS, lane, VERDICT)
                surprise += verdict.v
                shrink += cubed * verdict.w
        lines[i, SURPRISE], lines[i, SHRINK] = surprise, shrink


@kernel
def judge_block(params: Any, lanes: Any, block: int, i: int, teams: int, mine: Team) -> None:
    """Judge team `i` against the teams of a block that are behind it. Other teams get the weight 0."""
    first, at = block * LANES, block * BLOCK
    for lane in range(LANES):
        other = read_fields(lanes, at, lane, TEAM)
        counts = 1.0 * ((first + lane > i) & (first + lane < teams))
        c = params.spread * math.sqrt(mine.variance + other.variance + 2.0 * params.beta_squared)
        verdict = verdict_of(params, mine.mu - other.mu, c, 1.0 * (mine.rank < other.rank))
        v, w = counts * verdict.v, counts * verdict.w
        cubed = read_fields(lanes, at + CUBE_AT, lane, CUBE).cube
        write_fields(lanes, at + SURPRISE, lane, PairVerdict(other.surprise - v, other.shrink + cubed * w))
        write_fields(lanes, at + VERDICTS, lane, PairVerdict(v, w))


@kernel
def judge_in_lanes(
    params: Any, lines: Any, teams: int, lanes: Any, reach: int, first: int, first_other: int
) -> tuple[int, int]:
    """Judge as many pairs as there are lanes, starting with this one. Return the next pair."""
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
    """Return the pair after this one."""
    return (i, q + 1) if q < min(teams - 1, i + reach) else (i + 1, i + 2)


@kernel
def judge_lanes(params: Any, lanes: Any) -> None:
    """Judge the pairs in all lanes."""
    for lane in range(LANES):
        pair = read_fields(lanes, 0, lane, PAIR)
        c = params.spread * math.sqrt(pair.variance + 2.0 * params.beta_squared)
        write_fields(lanes, VERDICT_AT, lane, verdict_of(params, pair.lead, c, pair.order))


@kernel
def verdict_of(params: Any, lead: float, c: float, order: float) -> PairVerdict:
    """Return the evidence about the better team of a pair."""
    inverse = 1.0 / c
    v, w = judge_pair(params, lead / c, c, order)
    return PairVerdict(v * inverse, w * gamma_power(params, inverse))


class Params(NamedTuple):
    beta_squared: float
    tau_squared: float
    kappa: float
    idle_variance: float  # per day
    max_deviation: float
    window: float  # neighbours on either side with which a team is compared
    mean: float  # 1: mean over neighbours, 0: sum
    margin: float  # draw margin
    spread: float  # factor of c
    partial_play: float  # 1 or 0
    cubes: float  # 1 if gamma is sigma / c, and 0 if it is the same for every c
    per_team: float  # 1 if gamma is 1 / teams
    limits_sigma: float  # 1 if no event makes a deviation larger


class Evidence(NamedTuple):
    shift: float  # change of the mean
    shrink: float  # share of the variance that is lost


class Difference(NamedTuple):
    """The difference between two players before the result."""

    deviation_a: float
    deviation_b: float
    lead: float  # of the winner or, for a tie, of the player first in the file, in points
    c: float
    order: float  # 1 won, 0 tied
    ahead: float  # 1 if the lead belongs to a, 0 if it belongs to b


class Verdict(NamedTuple):
    """The evidence about the winner (or, for a tie, the player first in the file) and about the other player."""

    v: float  # the paper's v, divided by c
    w: float  # the paper's w, divided as in `PairVerdict`
    other_v: float
    other_w: float


@dataclass(frozen=True, slots=True)
class WengLin(NormalSkill):
    """The parameters that all five share."""

    source = "Weng and Lin, A Bayesian Approximation Method for Online Ranking (2011)"
    evidence_type = Evidence
    duel_types: ClassVar[tuple[type[Any], ...] | None] = Difference, Verdict
    params_type: ClassVar[type[Params]] = Params
    spread: ClassVar[float] = 1.0
    workspace = WORKSPACE
    logistic: ClassVar[bool] = False  # True if differences of performances are logistic

    beta: float = parameter(25.0 / 6.0, "spread of a single performance", unit="points", low=0.0, high=1e6)
    kappa: float = parameter(0.0001, "minimum share of the variance that remains after an event", low=1e-12, high=1.0)
    idle_growth: float = parameter(
        0.0, "deviation added by an idle day", unit="points", low=0.0, high=1e6, search=(0.0, 0.5)
    )
    partial_play: bool = parameter(
        True, "a player counts towards the team in proportion to the part of the game played"
    )
    gamma: str = parameter(
        "sigma/c", "factor of the variance that an event removes", choices=("sigma/c", "1/teams", "1"), search=()
    )
    limit_sigma: bool = parameter(False, "an event never makes a deviation larger", search=())
    conservative: float = conservatism()

    def params(self) -> Params:
        return self.params_type(
            beta_squared=self.beta * self.beta,
            tau_squared=self.tau * self.tau,
            kappa=self.kappa,
            idle_variance=self.idle_growth * self.idle_growth,
            max_deviation=self.deviation,
            window=float(getattr(self, "neighbours", math.inf)),
            mean=float(hasattr(self, "neighbours")),
            margin=float(getattr(self, "draw_margin", 0.0)),
            spread=self.spread,
            partial_play=float(self.partial_play),
            cubes=float(self.gamma == "sigma/c"),
            per_team=float(self.gamma == "1/teams"),
            limits_sigma=float(self.limit_sigma),
        )

    def performances(self, entering_states: Sequence[Any]) -> Performances:
        """Return performances around uncertain skills. In the logistic models, their differences are logistic.

        These models add variances to c^2, the square of a logistic scale. The deviation of a skill is therefore treated
        as the deviation of a logistic distribution, which is pi / sqrt(3) times its scale.
        """
        if not self.logistic:
            return NormalSkill.performances(self, entering_states)
        ratings = [me.rating for me in entering_states]
        spread = [MATCHED_SPREAD * me.deviation for me in entering_states]
        return uncertain_performances(ratings, spread, math.sqrt(2.0) * self.beta)

    def as_one(self, sides: Sides, number: int) -> State:
        """Return the sum of a side's members."""
        ratings, deviations, _ = sides.members[sides.start[number] : sides.start[number + 1]].T.tolist()
        return State(sum(ratings), math.hypot(*deviations), 0.0)


enter.register(Params, add_uncertainty)
rate_event.register(Params, rate_heats)


@judge_heat.register
@kernel
def judge_teams_of_heat(
    params: Params, prototypes: Any, columns: Columns, heat: int, start: int, stop: int, first: int, scratch: Scratch
) -> None:
    """Add the evidence of a heat to each of its players."""
    _, entering, _ = prototypes
    lines, weight = scratch.lines, weight_at(columns, heat)
    if nobody_finished(columns, start, stop):
        return
    teams, sought = gather_teams(columns, start, stop, lines), -1
    for i in range(start, stop):
        me = read(scratch.entering_states, slot_at(columns, i, first), entering)
        row = row_of(lines, i - start)
        part = part_in_team(columns, i, params.partial_play)
        lines[row, MU] += part * me.rating
        lines[row, VARIANCE] += part * part * me.deviation * me.deviation
        if columns.sought.size and is_sought(columns, first + slot_at(columns, i, first)):
            sought = row
    judge_teams(params, lines, teams, scratch.workspace, sought)
    for i in range(start, stop):
        slot = slot_at(columns, i, first)
        me = read(scratch.entering_states, slot, entering)
        row = row_of(lines, i - start)
        part, variance = part_in_team(columns, i, params.partial_play), me.deviation * me.deviation
        shift = part * variance * lines[row, SURPRISE]
        shrink = part * part * variance / lines[row, VARIANCE] * lines[row, SHRINK]
        add(scratch.sums, slot, Evidence(weight * shift, weight * shrink))


@kernel
def difference_of(x: Any, y: Any, c: float, place: float, other_place: float) -> Difference:
    """Return the lead of the winner or, for a tie, of the player first in the file.

    Teams are ordered by rank and then by file order.
    """
    ahead = place <= other_place
    lead = x.rating - y.rating if ahead else y.rating - x.rating
    order = 0.0 if place == other_place else 1.0
    return Difference(x.deviation, y.deviation, lead, c, order, 1.0 if ahead else 0.0)


@face_off.register
def lead_of_winner(params: Params, a: State, b: State, place: float, other_place: float) -> Difference:
    """Return the difference between the two players of a duel."""
    x, y = enter(params, a, PRESENT), enter(params, b, PRESENT)
    c = params.spread * performance_deviation(params, x, y)
    return difference_of(x, y, c, place, other_place)


@judge_result.register
def judge_only_pair(params: Params, difference: Difference) -> Verdict:
    """Judge the pair of a duel. The other player gets -v."""
    verdict = verdict_of(params, difference.lead, difference.c, difference.order)
    return Verdict(verdict.v, verdict.w, -verdict.v, verdict.w)


@update_two.register
def update_beliefs(params: Params, a: State, b: State, difference: Difference, verdict: Verdict) -> tuple[State, State]:
    """Shift both means by variance * v / c, and shrink both variances by gamma * variance / c^2 * w."""
    ahead = difference.ahead > 0.0
    v, other_v = (verdict.v, verdict.other_v) if ahead else (verdict.other_v, verdict.v)
    w, other_w = (verdict.w, verdict.other_w) if ahead else (verdict.other_w, verdict.w)
    x = State(a.rating, difference.deviation_a, a.events)
    y = State(b.rating, difference.deviation_b, b.events)
    variance, other_variance = x.deviation * x.deviation, y.deviation * y.deviation
    for_x = Evidence(variance * v, gamma_of(params, x.deviation, 2.0) * variance * w)
    for_y = Evidence(other_variance * other_v, gamma_of(params, y.deviation, 2.0) * other_variance * other_w)
    return update_state(params, x, for_x, PRESENT), update_state(params, y, for_y, PRESENT)


@update_state.register
def update_belief(params: Params, me: State, totals: Evidence, entrant: Entrant) -> State:
    """Return the state with the new mean and the remaining variance."""
    deviation = me.deviation * math.sqrt(max(1.0 - totals.shrink, params.kappa))
    if params.limits_sigma:
        before = math.sqrt(max(me.deviation * me.deviation - params.tau_squared, 0.0))
        deviation = min(deviation, before)
    return State(me.rating + totals.shift, deviation, me.events + entrant.events)


expect.register(Params, normal_chance)


@expect_side.register
def chance_of_side(params: Params, entering: State, sides: Sides, a: int, b: int) -> float:
    """Return the probability, treating each side as a player whose skill is the sum of its members' skills."""
    return expect(params, side_as_one(params, entering, sides, a), side_as_one(params, entering, sides, b))
