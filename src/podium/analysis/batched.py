"""Rate events with many parameter sets for one system in a single pass, and return each set's log loss.

Each number of a state is stored for `LANES` candidates side by side, so that compiled rules handle several candidates
per instruction. The rules are the same as in a replay. Only the order in which losses are summed differs.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from podium.analysis.predictions import MIN_PROBABILITY
from podium.engine import rules
from podium.engine.inputs import (
    Heat,
    comparable,
    entrant_at,
    entries_of,
    entry_at,
    heats_of,
    mode_at,
    slot_at,
    weight_at,
)
from podium.engine.kernel_calls import run_kernel
from podium.engine.replay import newcomers, pairs_compared, takes_sums
from podium.engine.rules import compare, enter, evidence, expect, update_state
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.kernels.compiled import compile_twice, kernel
from podium.kernels.records import LANES, plus, read_lane, times, total, write_lane
from podium.support.arrays import Floats, Mask

CHANCES_MULTIPLIED = 8  # number of probabilities to multiply before taking a logarithm; SURE^(2 * 8) does not underflow


class Tables(NamedTuple):
    """The data of the candidates. Each number has one lane per candidate."""

    settings: Any  # float64 (1, parameters, LANES)
    states: Any  # float64 (players, fields of the state, LANES)
    entering_states: Any  # float64 (entrants of the widest group, fields of the entering state, LANES)
    sums: Any  # float64 (entrants as above, fields of the evidence, LANES)
    comparison: Any  # float64 (2, fields of the evidence, LANES): evidence of a pair
    chances: Any  # float64 (LANES): product of the probabilities of the results
    losses: Any  # float64 (LANES)


def can_share(system: System, events: Events | None = None) -> bool:
    """Return True if candidates can share a pass, because the system rates these events pair by pair.

    Team events, and heats large enough to be summed at once, need a separate pass for each candidate.
    """
    if rules.overrides(rules.rate_event, system):
        return False
    return events is None or (events.columns.side.size == 0 and not takes_sums(system, events.columns))


def sums_of_losses(systems: list[System], events: Events, selected: Mask) -> tuple[Floats, float]:
    """Return the losses of up to `LANES` candidates in one pass, and the number of pairs.

    Args:
        selected: mask of the heats to judge. All heats are rated.

    Returns:
        A float64 array with each candidate's sum of log losses, and the number of pairs. The sum is infinite if a state
        or probability is not finite.
    """
    lanes = systems + systems[-1:] * (LANES - len(systems))
    columns = events.columns
    params, (newcomer, entering, zero_evidence) = lanes[0].arguments()
    settings = np.array([candidate.params() for candidate in lanes], np.float64).T[None]
    widest = int(np.diff(columns.entrants).max(initial=0))
    states = np.empty((events.player_names.len(), len(newcomer), LANES))
    for lane, candidate in enumerate(lanes):
        states[:, :, lane] = newcomers(candidate, len(states))
    tables = Tables(
        settings=np.ascontiguousarray(settings),
        states=states,
        entering_states=np.empty((widest, len(entering), LANES)),
        sums=np.empty((widest, len(zero_evidence), LANES)),
        comparison=np.empty((2, len(zero_evidence), LANES)),
        chances=np.ones(LANES),
        losses=np.zeros(LANES),
    )
    prototypes = type(params)(*map(float, params)), newcomer, entering, zero_evidence
    steps = LANES * pairs_compared(columns, 0, columns.entrants.size - 1)
    pairs = run_kernel(lanes[0], _judge_kernels, steps, *prototypes, columns, selected, tables)
    losses = tables.losses[: len(systems)]  # spare lanes repeat the last candidate
    return np.where(np.isfinite(losses), losses, np.inf), float(pairs)


def _judge(
    params: Any, newcomer: Any, entering: Any, zero_evidence: Any, events: Any, selected: Any, tables: Any
) -> float:
    prototypes = params, newcomer, entering, zero_evidence
    pairs, waiting = 0.0, 0
    for update in range(events.entrants.size - 1):
        first, last = events.entrants[update], events.entrants[update + 1]
        enter_all(prototypes, events, first, last, tables)
        first_heat, last_heat = heats_of(events, update)
        for heat in range(first_heat, last_heat):
            start, stop = entries_of(events, heat)
            for i in range(start, stop):
                for j in range(i + 1, stop):
                    if comparable(events, i, j):
                        compare_pair(prototypes, events, heat, i, j, first, float(stop - start), selected[heat], tables)
                        pairs += 1.0 if selected[heat] else 0.0
                        waiting += 1
                        if waiting == CHANCES_MULTIPLIED:
                            waiting = 0
                            take_logarithms(tables)
        update_all(prototypes, events, first, last, tables)
    take_logarithms(tables)
    return pairs


@kernel
def enter_all(prototypes: Any, events: Any, first: int, last: int, tables: Any) -> None:
    """Write every entrant's entering state, and clear the evidence."""
    params, newcomer, _, zero_evidence = prototypes
    for i in range(first, last):
        facts = entrant_at(events, i)
        for lane in range(LANES):
            own = read_lane(tables.settings, 0, lane, params)
            me = enter(own, read_lane(tables.states, events.player[i], lane, newcomer), facts)
            write_lane(tables.entering_states, i - first, lane, me)
            write_lane(tables.sums, i - first, lane, zero_evidence)


@kernel
def compare_pair(
    prototypes: Any, events: Any, heat: int, i: int, j: int, first: int, size: float, judged: bool, tables: Any
) -> None:
    """Compare two entries, and multiply each candidate's product by the probability of the result.

    The work is split into three loops, because the compiler vectorises lanes only if few tables can overlap.
    """
    params, _, entering, zero_evidence = prototypes
    mine, theirs = entry_at(events, i, size), entry_at(events, j, size)
    me, you = slot_at(events, i, first), slot_at(events, j, first)
    course, weight = Heat(size, mode_at(events, heat)), weight_at(events, heat)
    won, drawn = 1.0 if mine.place < theirs.place else 0.0, mine.place == theirs.place
    for lane in range(LANES):
        own = read_lane(tables.settings, 0, lane, params)
        a, b = (
            read_lane(tables.entering_states, me, lane, entering),
            read_lane(tables.entering_states, you, lane, entering),
        )
        for_a, for_b = compare(own, a, b, mine, theirs, course)
        write_lane(tables.comparison, 0, lane, times(evidence(own, for_a), weight))
        write_lane(tables.comparison, 1, lane, times(evidence(own, for_b), weight))
        p = min(max(expect(own, a, b), MIN_PROBABILITY), 1.0 - MIN_PROBABILITY)
        # A draw counts as half a win and half a loss: the square root of the product of both probabilities.
        seen = math.sqrt(p * (1.0 - p)) if drawn else won * p + (1.0 - won) * (1.0 - p)
        tables.chances[lane] *= seen if judged else 1.0
    for lane in range(LANES):
        more = read_lane(tables.comparison, 0, lane, zero_evidence)
        write_lane(tables.sums, me, lane, plus(read_lane(tables.sums, me, lane, zero_evidence), more))
    for lane in range(LANES):
        more = read_lane(tables.comparison, 1, lane, zero_evidence)
        write_lane(tables.sums, you, lane, plus(read_lane(tables.sums, you, lane, zero_evidence), more))


@kernel
def take_logarithms(tables: Any) -> None:
    """Convert the products of probabilities to losses."""
    for lane in range(LANES):
        tables.losses[lane] -= math.log(tables.chances[lane])
        tables.chances[lane] = 1.0


@kernel
def update_all(prototypes: Any, events: Any, first: int, last: int, tables: Any) -> None:
    """Write every entrant's new state. A candidate with a non-finite state gets an infinite loss."""
    params, _, entering, zero_evidence = prototypes
    for i in range(first, last):
        facts = entrant_at(events, i)
        for lane in range(LANES):
            own = read_lane(tables.settings, 0, lane, params)
            me = read_lane(tables.entering_states, i - first, lane, entering)
            state = update_state(own, me, read_lane(tables.sums, i - first, lane, zero_evidence), facts)
            write_lane(tables.states, events.player[i], lane, state)
            tables.losses[lane] += 0.0 * total(state)  # adds 0, or NaN if the state is not finite


_judge_kernels = compile_twice(_judge)
