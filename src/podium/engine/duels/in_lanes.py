"""Several duels at once: the next up to sixteen in which nobody plays twice, as no result changes what another needs.

Their states are gathered into lanes next to each other, each step of the rules is one loop over them in a function of
its own, and the new states go back. Lanes that have no duel repeat what an earlier one left there.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from podium.engine.duels.one_by_one import AHEAD, rate_one
from podium.engine.duels.steps import face_off, judge_result, update_two
from podium.engine.system import System, blank
from podium.kernels.compiled import compile_kernel, kernel
from podium.kernels.prefetch import prefetch
from podium.kernels.records import LANES, read, read_fields, total, write, write_fields

FEWEST = 3  # duels that are quicker in lanes than one after the other
LINE_BYTES = 64  # of a cache: numbers of a row that are read at once lie in one


class Lanes(NamedTuple):
    """Room for the duels of a batch."""

    table: Any  # float64 (fields, LANES): see `fields_of`
    batch: Any  # int32 (players): the last batch that a player was in


class Places(NamedTuple):
    """Where both stand in the result."""

    place: float
    other_place: float


class Everything(NamedTuple):
    """The sum of all numbers of both new states."""

    everything: float


PLACES, EVERYTHING = Places(1.0, 2.0), Everything(0.0)


class Fields(NamedTuple):
    """Where what is known of a duel stands in its lane: one table, so that nothing can overlap but what must."""

    a: int  # the states of both, before
    b: int
    new_a: int  # and after
    new_b: int
    places: int
    difference: int
    verdict: int
    everything: int
    end: int


@kernel
def fields_of(prototypes: Any) -> Fields:
    """The fields of a lane, from a newcomer and an example of what the steps pass on."""
    newcomer, difference, verdict = prototypes
    state = len(newcomer)
    places = 4 * state
    difference_at = places + len(PLACES)
    verdict_at = difference_at + len(difference)
    everything = verdict_at + len(verdict)
    end = everything + len(EVERYTHING)
    return Fields(0, state, 2 * state, 3 * state, places, difference_at, verdict_at, everything, end)


def prototypes_for(system: System) -> tuple[Any, Any, Any]:
    """A newcomer, and an example of each of the two types between the steps."""
    assert system.duel_types is not None  # noqa: S101 who calls has looked
    difference, verdict = system.duel_types
    return system.newcomer(), blank(difference), blank(verdict)


def lanes_for(system: System, players: int) -> Lanes:
    """Room for the duels of so many players; lanes that have had no duel hold one of newcomers."""
    prototypes = prototypes_for(system)
    newcomer = np.array(prototypes[0], np.float64)[:, None]
    fields = fields_of(prototypes)
    numbers = np.ones(fields.end * LANES + LINE_BYTES // 8)
    begin = -numbers.ctypes.data % LINE_BYTES // 8
    table = numbers[begin : begin + fields.end * LANES].reshape(fields.end, LANES)
    table[fields.a : fields.b] = table[fields.b : fields.new_a] = newcomer
    return Lanes(table, np.zeros(players, np.int32))


@kernel
def rate_lanes(params: Any, prototypes: Any, table: Any, count: int) -> None:
    """Rate the duels of all lanes; the step that may have branches only those of the first `count`."""
    newcomer, difference, verdict = prototypes
    fields = fields_of(prototypes)
    for lane in range(LANES):
        a, b = read_fields(table, fields.a, lane, newcomer), read_fields(table, fields.b, lane, newcomer)
        places = read_fields(table, fields.places, lane, PLACES)
        write_fields(table, fields.difference, lane, face_off(params, a, b, places.place, places.other_place))
    for lane in range(count):
        result = judge_result(params, read_fields(table, fields.difference, lane, difference))
        write_fields(table, fields.verdict, lane, result)
    for lane in range(LANES):
        new_a, new_b = update_two(
            params,
            read_fields(table, fields.a, lane, newcomer),
            read_fields(table, fields.b, lane, newcomer),
            read_fields(table, fields.difference, lane, difference),
            read_fields(table, fields.verdict, lane, verdict),
        )
        write_fields(table, fields.new_a, lane, new_a)
        write_fields(table, fields.new_b, lane, new_b)
        write_fields(table, fields.everything, lane, Everything(total(new_a) + total(new_b)))


@kernel
def gather(
    prototypes: Any, columns: Any, settlement: int, most: int, begin: int, batch: int, lanes: Any, states: Any
) -> int:
    """Fill the lanes with up to `most` duels from a settlement on, whose entrants begin at `begin`; how many."""
    newcomer, _, _ = prototypes
    fields = fields_of(prototypes)
    table, last_batch = lanes
    end = columns.player.size - 1
    for k in range(most):
        i = begin + 2 * k
        if columns.entrants[settlement + k + 1] != i + 2:
            return k
        one, other = columns.player[i], columns.player[i + 1]
        if (last_batch[one] == batch) | (last_batch[other] == batch):
            return k
        last_batch[one] = last_batch[other] = batch
        ahead = min(i + 2 * AHEAD, end - 1)
        prefetch(states, columns.player[ahead])
        prefetch(states, columns.player[ahead + 1])
        write_fields(table, fields.a, k, read(states, one, newcomer))
        write_fields(table, fields.b, k, read(states, other, newcomer))
        write_fields(table, fields.places, k, Places(columns.place[i], columns.place[i + 1]))
    return most


@kernel
def scatter(
    prototypes: Any,
    columns: Any,
    begin: int,
    count: int,
    rating: int,
    table: Any,
    states: Any,
    before: Any,
    after: Any,
) -> int:
    """Put the new states where they belong; how many duels there are before one whose states may not be finite."""
    newcomer, _, _ = prototypes
    fields = fields_of(prototypes)
    for k in range(count):
        i = begin + 2 * k
        one, other = columns.player[i], columns.player[i + 1]
        new_a, new_b = read_fields(table, fields.new_a, k, newcomer), read_fields(table, fields.new_b, k, newcomer)
        if before.size > 0:
            before[i], before[i + 1] = states[one, rating], states[other, rating]
            write(after, i, new_a)
            write(after, i + 1, new_b)
        write(states, one, new_a)
        write(states, other, new_b)
        if not math.isfinite(read_fields(table, fields.everything, k, EVERYTHING).everything):
            return k
    return count


def _replay_in_lanes(
    params: Any,
    prototypes: Any,
    columns: Any,
    first: int,
    last: int,
    rating: int,
    lanes: Any,
    states: Any,
    before: Any,
    after: Any,
) -> tuple[int, int]:
    """Where it stopped, and the entrant there: of two whose states may not be finite, or -1 where no duel is."""
    newcomer, _, _ = prototypes
    start = columns.entrants[first]
    if start < 0:  # never: it spares every index below a look at its sign
        return first, -1
    settlement, batch = first, 0
    while settlement < last:
        batch += 1
        begin = start + 2 * (settlement - first)
        count = gather(prototypes, columns, settlement, min(LANES, last - settlement), begin, batch, lanes, states)
        if count == 0:
            return settlement, -1
        rated = count
        if count < FEWEST:
            for k in range(count):
                i = begin + 2 * k
                everything = rate_one(params, newcomer, columns, settlement + k, i, rating, states, before, after)
                if not math.isfinite(everything):
                    return settlement + k, i
        else:
            rate_lanes(params, prototypes, lanes.table, count)
            rated = scatter(prototypes, columns, begin, count, rating, lanes.table, states, before, after)
        if rated < count:
            return settlement + rated, begin + 2 * rated
        settlement += count
    return last, -1


in_lanes_cached = compile_kernel(_replay_in_lanes)
in_lanes_uncached = compile_kernel(_replay_in_lanes, cached=False)
