"""Faster ways to rate small events, heats with many pairs, and events whose ratings are computed by iteration.

Models that pass messages until they converge compute a long chain of numbers. Each number depends on the previous one,
so the processor spends most of its time waiting. Therefore, two consecutive events without a common player are judged
in alternating steps: while one waits, the other continues. The result of each event is exactly the same as on its own.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from podium.engine.inputs import ABSENT, Columns, Entry, Heat, entry_at, mode_at, slot_at, weight_at
from podium.engine.large_heats import (
    LARGE_HEAT,
    all_finish,
    any_teams,
    compare_all,
    judge_by_sums,
    judge_in_bulk,
    judge_large_heat,
)
from podium.engine.pool_state import keep_states
from podium.engine.rule_checks import check_rules
from podium.engine.rules import (
    compare,
    compare_among,
    counts,
    enter_all,
    evidence,
    in_pool,
    is_from_author,
    judge_heat,
    judge_two_heats,
    overrides,
    rate_event,
    rate_heats,
    update_all,
)
from podium.engine.system import System
from podium.engine.tables.encoding import NO_COLUMNS, frozen, margin_scores, place_columns, stated_times
from podium.engine.tables.placing import Reported, place_heats
from podium.engine.tables.selection import DAY_US, DAYS_TO_1970, UNFINISHED_STATUS, UNRATED_STATUS, idle_between
from podium.kernels.compiled import by_reference, compile_twice, kernel
from podium.kernels.records import LANES, plus, read, read_fields, times, write, write_fields
from podium.support.arrays import Integers

MAX_ENTRANTS = 256  # largest event to check against the next one; the check compares all pairs of players


def runs_two_events_at_once(system: System, columns: Columns) -> bool:
    """Return True if the events in these columns can be judged side by side with exactly the same results."""
    kind = type(system.params())
    if columns.heats.size or not is_from_author(judge_two_heats, kind, judge_heat):
        return False
    moves_states_alone = not system.pool_fields and not overrides(in_pool, system)
    return moves_states_alone and rate_event.dispatch(kind) is rate_heats


def _replay_side_by_side(
    params: Any,
    prototypes: Any,
    columns: Any,
    first: int,
    last: int,
    rating: int,
    scratch: Any,
    other: Any,
    new_states: Any,
    states: Any,
    before: Any,
    after: Any,
) -> tuple[int, int]:
    """Rate updates as the loop in `podium.engine.replay` does, but two at a time.

    `runs_two_events_at_once` must have accepted the columns.
    """
    update = first
    while update < last:
        start, middle = columns.entrants[update], columns.entrants[update + 1]
        stop = columns.entrants[update + 2] if update + 1 < last else middle
        if not are_apart(columns.player, start, middle, stop):
            stop = middle
        enter_all(params, prototypes, columns, start, middle, states, scratch)
        enter_all(params, prototypes, columns, middle, stop, states, other)
        judge_two_heats(params, prototypes, columns, update, start, middle, stop, scratch, other)
        update_all(params, prototypes, columns, start, middle, scratch, new_states, 0)
        fault = keep_states(columns, start, middle, rating, prototypes, new_states, states, before, after)
        if fault >= 0:
            return update, fault
        update_all(params, prototypes, columns, middle, stop, other, new_states, 0)
        fault = keep_states(columns, middle, stop, rating, prototypes, new_states, states, before, after)
        if fault >= 0:
            return update + 1, fault
        update += 2 if stop > middle else 1
    return last, -1


@kernel
def are_apart(player: Any, start: int, middle: int, stop: int) -> bool:
    """Return True if no player is among both the entrants `start` to `middle` and the entrants `middle` to `stop`.

    Large events are not checked. For them, the result is False.
    """
    if max(middle - start, stop - middle) > MAX_ENTRANTS:
        return False
    common = 0
    for i in range(start, middle):
        for j in range(middle, stop):
            common += player[i] == player[j]
    return common == 0


replay_side_by_side = compile_twice(_replay_side_by_side)


Row = Mapping[str, Any]
NOT_PLAIN = {"heat", "team", "team_score", "side", "age_group"}
NOTHING = frozen(ABSENT)


def entries_of(rows: Sequence[Row], system: System) -> Sequence[Row] | None:
    """Return the rows of an event that are rated, or None if the event is not plain or might not be rated."""
    if overrides(counts, system) or any(row.keys() & NOT_PLAIN or not row.get("ranked", True) for row in rows):
        return None
    if system.rates_absent and any(row["status"] != "finished" for row in rows):
        return None
    entries = [row for row in rows if row["status"] not in UNRATED_STATUS]
    finishers = [row for row in entries if row["status"] == "finished"]
    is_rated = len(entries) > 1 and (finishers or not system.needs_finisher)
    if not is_rated or any(row.get(name) is None for name in system.needs for row in finishers):
        return None
    return entries


def encode_small(
    rows: Sequence[Row],
    entries: Sequence[Row],
    system: System,
    pool: str,
    started_at: int | None,
    seen: Integers,
) -> Columns:
    """Encode an event.

    Args:
        started_at: microseconds since 1970, or None if the results have no times.
        seen: an array of shape (entrants,) with the time of each entrant's previous event, in the same form, or
            `started_at` if there was no such event.
    """
    check_rules(system)
    size = len(entries)
    offsets = frozen(np.array([0, size]), np.int64)
    finishes = np.array([row["status"] not in UNFINISHED_STATUS for row in entries])
    given = {name for row in rows for name in row}

    def column(name: str) -> Any:
        if name not in given:
            return NOTHING
        return frozen(np.array([np.nan if row.get(name) is None else row[name] for row in entries], np.float64))

    has_quit = not finishes.all()
    reported = Reported(
        heats=offsets,
        finished=frozen(finishes if has_quit else ABSENT, np.bool_),
        position=column("position"),
        score=column("score"),
        time_s=column("time_s"),
        team=NO_COLUMNS.side,
        team_score=NOTHING,
    )
    places = place_heats(reported, teams=system.teams)
    weight = entries[0].get("weight") or 1.0
    day = np.nan
    idle: Any = ABSENT
    if started_at is not None:
        day = started_at / DAY_US + DAYS_TO_1970
        if system.idle_unit not in (None, "period"):
            idle = idle_between(np.minimum(seen, started_at), np.int64(started_at), system)
    mode = system.mode_number(entries[0].get("mode") or pool)
    modes = system.modes_on(np.array([mode]), lambda: np.array([day]))
    return NO_COLUMNS._replace(
        entrants=offsets,
        player=frozen(np.arange(size), np.int32),
        quit=frozen(~finishes if has_quit else ABSENT),
        idle=frozen(idle),
        finished=frozen(reported.finished),
        **place_columns(places, reported),
        mode=frozen(modes if modes.any() else ABSENT),
        weight=frozen(np.array([weight]) if weight != 1.0 else ABSENT),
        time_s=reported.time_s,
        score=margin_scores(reported, places) if system.rates_margins else reported.score,
        played_s=frozen(stated_times(column("played_s"), offsets, system)),
        duration_s=column("duration_s"),
        handicap=frozen(np.array([row.get("handicap", False) for row in entries])) if "handicap" in given else NOTHING,
        day=frozen(np.array([day])) if system.reads_days else NOTHING,
    )


MIN_WIDE = 32  # entrants from which a heat is faster in lanes
MIN_PAIRS = 100_000  # pairs in wide heats that justify compiling their kernel, which takes seconds
ENTRY_FIELDS = len(Entry._fields)


@by_reference
class WideScratch(NamedTuple):
    """Scratch memory with enough space to judge wide heats."""

    entering_states: Any  # the first six fields are the same as in Scratch
    sums: Any
    lines: Any
    workspace: Any
    pool: Any
    sides: Any
    lanes: Any  # float64 (fields, LANES): see `Fields`
    large: Any  # from the system's `large_heat_workspace`; () if no heat is large or no rule exists


class Fields(NamedTuple):
    """The position of each number about an entrant in its lane.

    All numbers are in one table, so nothing can overlap.
    """

    me: int
    mine: int
    totals: int
    theirs: int  # the evidence for the opponent
    end: int


@kernel
def fields_of(prototypes: Any) -> Fields:
    _, entering, zero_evidence = prototypes
    mine = len(entering)
    totals = mine + ENTRY_FIELDS
    theirs = totals + len(zero_evidence)
    return Fields(0, mine, totals, theirs, theirs + len(zero_evidence))


def wide_scratch(system: System, sizes: Any, scratch: Any) -> Any:
    """Return scratch memory for heats of these sizes, with the extra memory that wide heats need if that saves time."""
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
    """Return memory for the sums of heats with up to `longest` entrants.

    Return () if no heat is large or no rule applies.
    """
    return system.large_heat_workspace(longest) if longest >= LARGE_HEAT and sums_up(system) else ()


def sums_up(system: System) -> bool:
    """Return True if a system's rule for large heats has the same author as its rules for pairs.

    A derived system, or one with a replaced rule, may rate differently.
    """
    kind = type(system.params())
    of_heats = [rule for rule in (compare_all, judge_large_heat) if overrides(rule, system)]
    of_pairs = [rule for rule in (compare, evidence) if overrides(rule, system)]
    hands = {
        (next(ancestor for ancestor in kind.__mro__ if ancestor in rule.registry), rule.dispatch(kind).__module__)
        for rule in (*of_heats, *of_pairs)
    }
    return bool(of_heats) and len(hands) == 1


@judge_in_bulk.register
def judge_wide(
    scratch: WideScratch, params: Any, prototypes: Any, columns: Any, heat: int, start: int, stop: int, first: int
) -> bool:
    """Judge a large heat by sums if the system has a rule for that.

    Otherwise, use lanes if all entrants are compared.
    """
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
    """Add the evidence of every pair in a heat in which all are compared. `scratch.lines` holds their entries."""
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
    """Compare all entrants in the lanes with one opponent, who comes after them in the file."""
    _, entering, zero_evidence = prototypes
    fields = fields_of(prototypes)
    for lane in range(LANES):
        a, mine = read_fields(lanes, fields.me, lane, entering), read_fields(lanes, fields.mine, lane, theirs)
        for_a, for_b = compare(params, a, b, mine, theirs, course)
        totals = read_fields(lanes, fields.totals, lane, zero_evidence)
        write_fields(lanes, fields.totals, lane, plus(totals, times(evidence(params, for_a), weight)))
        write_fields(lanes, fields.theirs, lane, times(evidence(params, for_b), weight))
