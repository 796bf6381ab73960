"""Heats of many pairs: several pairs at once in the lanes of a processor, to the bits of one pair after the other.

Sixteen entrants stand in lanes next to each other, and meet everyone after them, one at a time. Each lane then adds its
sums in the order of the pair loop, and so does the opponent, lane after lane. The sixteen meet each other by pairs.
"""

from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import Entry, Heat, entry_at, mode_at, slot_at, weight_at
from podium.engine.large_heats import (
    LARGE_HEAT,
    all_finish,
    any_teams,
    compare_all,
    judge_by_sums,
    judge_in_bulk,
    judge_large_heat,
)
from podium.engine.rules import compare, compare_among, evidence, judge_heat, overrides, rate_event
from podium.engine.system import System
from podium.kernels.compiled import kernel
from podium.kernels.records import LANES, plus, read, read_fields, times, write, write_fields

MIN_WIDE = 32  # entrants of a heat that are quicker in lanes
MIN_PAIRS = 100_000  # of wide heats, that are worth the seconds it takes to compile their kernel once
ENTRY_FIELDS = len(Entry._fields)


class WideScratch(NamedTuple):
    """Scratch with room to judge wide heats, too."""

    entering_states: Any  # as in Scratch, these five
    sums: Any
    lines: Any
    room: Any
    pool: Any
    lanes: Any  # float64 (fields, LANES): see `Fields`
    large: Any  # as the system's `large_heat_room` says; () without a large heat, or a rule for one


class Fields(NamedTuple):
    """Where what is known of an entrant stands in its lane: one table, so that nothing can overlap."""

    me: int
    mine: int
    totals: int
    theirs: int  # the evidence for the opponent
    end: int


@kernel
def fields_of(prototypes: Any) -> Fields:
    """The fields of a lane."""
    _, entering, zero_evidence = prototypes
    mine = len(entering)
    totals = mine + ENTRY_FIELDS
    theirs = totals + len(zero_evidence)
    return Fields(0, mine, totals, theirs, theirs + len(zero_evidence))


def wide_scratch(system: System, sizes: Any, scratch: Any) -> Any:
    """The scratch for heats of these sizes, with room to judge wide ones where any is, and it is worth it."""
    longest = int(sizes.max(initial=0))
    if longest < MIN_WIDE or overrides(rate_event, system) or overrides(judge_heat, system):
        return scratch
    large = large_room(system, longest)
    wide = sizes[sizes >= MIN_WIDE].astype(np.float64)
    if large == () and wide @ wide < 2.0 * MIN_PAIRS:
        return scratch
    end = fields_of(system.prototypes()).end
    return WideScratch(**scratch._asdict(), lanes=np.ones((end, LANES)), large=large)


def large_room(system: System, longest: int) -> Any:
    """Room for the sums of heats of up to so many entrants; () where none is large, or the system has no rule."""
    return system.large_heat_room(longest) if longest >= LARGE_HEAT and sums_up(system) else ()


def sums_up(system: System) -> bool:
    """Whether a system says how to take the sums of a large heat, and its rules for pairs are by the same hand.

    A system derived from it, or one of whose rules is replaced, may rate otherwise.
    """
    kind = type(system.params())
    of_heats = [rule for rule in (compare_all, judge_large_heat) if overrides(rule, system)]
    of_pairs = [rule for rule in (compare, evidence) if overrides(rule, system)]
    hands = {(registered_for(rule, kind), rule.dispatch(kind).__module__) for rule in (*of_heats, *of_pairs)}
    return bool(of_heats) and len(hands) == 1


def registered_for(rule: Any, kind: type[Any]) -> type[Any]:
    """The type of parameters that a rule for this type was registered for: itself, or one it derives from."""
    return next(each for each in kind.__mro__ if each in rule.registry)


@judge_in_bulk.register
def judge_wide(
    scratch: WideScratch, params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int
) -> bool:
    """By sums where the heat is large and the system has them, else in lanes where all compare with all."""
    size = stop - start
    if size < MIN_WIDE or any_teams(columns, start, stop):
        return False
    if size >= LARGE_HEAT and judge_by_sums(
        scratch.large, params, prototypes, columns, heat, start, stop, first, scratch
    ):
        return True
    if not all_finish(columns, start, stop):
        return False
    judge_in_lanes(params, prototypes, columns, heat, start, stop, first, scratch)
    return True


@kernel
def judge_in_lanes(
    params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int, scratch: Any
) -> None:
    """The evidence of every pair, where all are compared with all; `scratch.lines` has their entries."""
    _, entering, zero_evidence = prototypes
    entering_states, sums, lines, lanes = scratch.entering_states, scratch.sums, scratch.lines, scratch.lanes
    fields = fields_of(prototypes)
    size = float(stop - start)
    course, weight = Heat(size, mode_at(columns, heat)), weight_at(columns, heat)
    blank = entry_at(columns, start, size)
    for block in range(start, stop, LANES):
        end = min(block + LANES, stop)
        compare_among(params, prototypes, columns, heat, start, stop, block, end, first, scratch)
        if end == stop:
            return
        for lane in range(LANES):
            me = slot_at(columns, block + lane, first)
            write_fields(lanes, fields.me, lane, read(entering_states, me, entering))
            write_fields(lanes, fields.mine, lane, read(lines, block - start + lane, blank))
            write_fields(lanes, fields.totals, lane, read(sums, me, zero_evidence))
        for j in range(end, stop):
            you = slot_at(columns, j, first)
            totals, b = read(sums, you, zero_evidence), read(entering_states, you, entering)
            compare_lanes(params, prototypes, b, read(lines, j - start, blank), course, weight, lanes)
            for lane in range(LANES):
                totals = plus(totals, read_fields(lanes, fields.theirs, lane, zero_evidence))
            write(sums, you, totals)
        for lane in range(LANES):
            write(sums, slot_at(columns, block + lane, first), read_fields(lanes, fields.totals, lane, zero_evidence))


@kernel
def compare_lanes(params: Any, prototypes: Any, b: Any, theirs: Entry, course: Heat, weight: float, lanes: Any) -> None:
    """Everyone in a lane meets one opponent who stands after them all."""
    _, entering, zero_evidence = prototypes
    fields = fields_of(prototypes)
    for lane in range(LANES):
        a, mine = read_fields(lanes, fields.me, lane, entering), read_fields(lanes, fields.mine, lane, theirs)
        for_a, for_b = compare(params, a, b, mine, theirs, course)
        totals = read_fields(lanes, fields.totals, lane, zero_evidence)
        write_fields(lanes, fields.totals, lane, plus(totals, times(evidence(params, for_a), weight)))
        write_fields(lanes, fields.theirs, lane, times(evidence(params, for_b), weight))
