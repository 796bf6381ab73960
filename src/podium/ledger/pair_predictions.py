"""What a system expected of every pair before it knew, and what came: a row a pair."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.encoding import Events
from podium.engine.inputs import comparable, entrant_at, entries_of, heats_of, slot_at
from podium.engine.replay import Replayed
from podium.engine.rule_checks import run_kernel
from podium.engine.rules import enter, expect, params_in_pool
from podium.engine.system import System
from podium.errors import ParameterError
from podium.kernels.compiled import compile_kernel
from podium.kernels.records import read, write
from podium.ledger.history import pools_brought, started_at, states_brought
from podium.results.derived_heats import OVERALL

MAX_PAIRS = 200_000_000  # rows of some 50 bytes: more is no table for one machine
Numbers = npt.NDArray[np.int64]


def held_heats(events: Events) -> npt.NDArray[np.bool_]:
    """The heats that were held: an overall result only where it is all there is of an event."""
    columns = events.columns
    starts = (columns.entries if columns.entries.size else columns.entrants)[:-1]
    held = np.ones(starts.size, np.bool_)
    if columns.heats.size and events.entry_heat is not None:
        several = np.repeat(np.diff(columns.heats) > 1, np.diff(columns.heats))
        held &= ~((events.entry_heat[starts] == OVERALL).to_numpy() & several)
    return held


def pair_predictions(
    system: System,
    events: Events,
    replayed: Replayed,
    *,
    heats: npt.NDArray[np.bool_] | None = None,
    min_events: float = 0.0,
) -> pl.DataFrame:
    """List every pair that the system compares, with what it expected from the ratings before.

    Args:
        heats: whose pairs are listed, (heats); all that were held where None.
        min_events: rated events that both players must have had before.

    Returns:
        `event_id, heat` (where the results have heats)`, pool, started_at, player, opponent, expected, result`: the
        expected score of the player, from 0 to 1, and the score, 1, 0 or 0.5 for a draw; in the order of rating.

    Raises:
        ParameterError: there are more pairs than a table can hold.
    """
    columns = events.columns
    kernel = _fill_cached if system.shipped else _fill_uncached
    brought = states_brought(system, events, replayed)
    pools = pools_brought(system, events, replayed)
    known = brought[:, system.column("events")] >= min_events
    params, prototypes = system.arguments()
    entering_states = np.empty((int(np.diff(columns.entrants).max(initial=0)), len(prototypes[1])))
    selected = held_heats(events) if heats is None else heats
    arguments = params, prototypes, columns, selected, known, brought, pools, entering_states
    pairs = run_kernel(system, kernel, *arguments, *tables_of(0))
    if pairs > MAX_PAIRS:
        raise ParameterError(
            f"there are {pairs:,} pairs, more than the {MAX_PAIRS:,} that one table holds; rate fewer events, or judge "
            "them with podium.evaluate, which needs no table of them"
        )
    tables = tables_of(pairs)
    run_kernel(system, kernel, *arguments, *tables)
    first, second, expected, result = tables
    taken = events.results.frame[events.entry_row[first]]
    names = {} if events.entry_heat is None or not columns.heats.size else {"heat": events.entry_heat[first]}
    return pl.DataFrame(
        {
            "event_id": taken["event_id"],
            **names,
            "pool": taken["pool"],
            "started_at": started_at(taken),
            "player": taken["player"],
            "opponent": events.results.frame["player"][events.entry_row[second]],
            "expected": expected,
            "result": result,
        }
    )


def tables_of(pairs: int) -> tuple[Numbers, Numbers, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Room for so many pairs: the entry of each one's first and second, the expected score and the score."""
    return np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.empty(pairs), np.empty(pairs)


def _fill(
    params: Any,
    prototypes: Any,
    columns: Any,
    selected: Any,
    known: Any,
    brought: Any,
    pools: Any,
    entering_states: Any,
    first: Any,
    second: Any,
    expected: Any,
    result: Any,
) -> int:
    """Write every pair, if there is room for any; return how many there are."""
    newcomer, entering, _ = prototypes
    row, has_room = 0, first.size > 0
    for settlement in range(columns.entrants.size - 1):
        start, stop = columns.entrants[settlement], columns.entrants[settlement + 1]
        own = params_in_pool(params, columns, settlement, pools[settlement])
        if has_room:
            for i in range(start, stop):
                write(entering_states, i - start, enter(own, read(brought, i, newcomer), entrant_at(columns, i)))
        first_heat, last_heat = heats_of(columns, settlement)
        for heat in range(first_heat, last_heat):
            if not selected[heat]:
                continue
            begin, end = entries_of(columns, heat)
            for i in range(begin, end):
                for j in range(i + 1, end):
                    me, you = slot_at(columns, i, start), slot_at(columns, j, start)
                    if not (known[start + me] and known[start + you] and comparable(columns, i, j)):
                        continue
                    if has_room:
                        mine, yours = read(entering_states, me, entering), read(entering_states, you, entering)
                        place, theirs = columns.place[i], columns.place[j]
                        first[row], second[row] = i, j
                        expected[row] = expect(own, mine, yours)
                        result[row] = 1.0 if place < theirs else 0.0 if place > theirs else 0.5
                    row += 1
    return row


_fill_cached = compile_kernel(_fill)
_fill_uncached = compile_kernel(_fill, cached=False)
