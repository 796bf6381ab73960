"""What is known of a batch of duels, a number in each lane: so laid out, a processor rates several at once."""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from podium.engine.duels.steps import face_off, judge_result, update_two
from podium.engine.inputs import Heat, finisher
from podium.engine.rules import rate_two
from podium.engine.system import System, blank
from podium.kernels.compiled import IN_KERNELS, kernel
from podium.kernels.memory import LINE_BYTES
from podium.kernels.records import LANES, read_fields, write_fields


class Places(NamedTuple):
    """Where both stand in the result."""

    place: float
    other_place: float


PLACES = Places(1.0, 2.0)


class Fields(NamedTuple):
    """Where what is known of a duel stands in its lane: one table, so that nothing can overlap but what must."""

    a: int  # the states of both, before
    b: int
    new_a: int  # and after
    new_b: int
    places: int
    between: int  # what the steps pass on


@kernel
def fields_of(newcomer: Any) -> Fields:
    """The fields of a lane."""
    state = len(newcomer)
    return Fields(0, state, 2 * state, 3 * state, 4 * state, 4 * state + len(PLACES))


def examples_between(system: System) -> tuple[Any, ...]:
    """An example of each of the types between the steps of a duel; none where it is one step."""
    return tuple(map(blank, system.duel_types or ()))


def lanes_for(system: System) -> Any:
    """A table of lanes, float64 (fields, LANES); those that have had no duel hold one of newcomers."""
    newcomer = np.array(system.newcomer(), np.float64)[:, None]
    fields = fields_of(system.newcomer())
    size = (fields.between + sum(map(len, examples_between(system)))) * LANES
    numbers = np.ones(size + LINE_BYTES // 8)
    begin = -numbers.ctypes.data % LINE_BYTES // 8
    table = numbers[begin : begin + size].reshape(-1, LANES)
    table[fields.a : fields.b] = table[fields.b : fields.new_a] = newcomer
    return table


def rate_lanes(params: Any, newcomer: Any, between: Any, table: Any) -> None:
    """Rate the duels of all lanes: in steps, or in one where there is nothing between."""
    if between:
        rate_in_three_steps(params, newcomer, between, table)
    else:
        rate_pairs(params, newcomer, between, table)


@kernel
def rate_pairs(params: Any, newcomer: Any, between: Any, table: Any) -> None:
    """Rate the duels of all lanes by rules that read only the places of a result."""
    fields = fields_of(newcomer)
    for lane in range(LANES):
        a, b = read_fields(table, fields.a, lane, newcomer), read_fields(table, fields.b, lane, newcomer)
        places = read_fields(table, fields.places, lane, PLACES)
        mine, theirs = finisher(places.place), finisher(places.other_place)
        new_a, new_b = rate_two(params, a, b, mine, theirs, Heat(2.0, 0.0))
        write_fields(table, fields.new_a, lane, new_a)
        write_fields(table, fields.new_b, lane, new_b)


@kernel
def rate_in_three_steps(params: Any, newcomer: Any, between: Any, table: Any) -> None:
    """Rate the duels of all lanes, a loop for each step."""
    difference, verdict = between
    fields = fields_of(newcomer)
    verdict_at = fields.between + len(difference)
    for lane in range(LANES):
        a, b = read_fields(table, fields.a, lane, newcomer), read_fields(table, fields.b, lane, newcomer)
        places = read_fields(table, fields.places, lane, PLACES)
        write_fields(table, fields.between, lane, face_off(params, a, b, places.place, places.other_place))
    for lane in range(LANES):
        result = judge_result(params, read_fields(table, fields.between, lane, difference))
        write_fields(table, verdict_at, lane, result)
    for lane in range(LANES):
        new_a, new_b = update_two(
            params,
            read_fields(table, fields.a, lane, newcomer),
            read_fields(table, fields.b, lane, newcomer),
            read_fields(table, fields.between, lane, difference),
            read_fields(table, verdict_at, lane, verdict),
        )
        write_fields(table, fields.new_a, lane, new_a)
        write_fields(table, fields.new_b, lane, new_b)


@overload(rate_lanes, jit_options=IN_KERNELS)
def _(params, newcomer, between, table):  # type: ignore[no-untyped-def]
    rate_all = rate_in_three_steps if len(between) else rate_pairs
    return lambda params, newcomer, between, table: rate_all(params, newcomer, between, table)
