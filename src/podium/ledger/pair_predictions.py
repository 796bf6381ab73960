"""The expected and actual score of each pair of sides, and how often duels are drawn."""

import functools
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.inputs import comparable, entrant_at, entries_of, heats_of, slot_at
from podium.engine.kernel_calls import run_kernel
from podium.engine.replay import Replayed
from podium.engine.rules import enter, expect_side, params_in_pool
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.engine.tables.sides import empty_sides, gather_sides
from podium.errors import ParameterError
from podium.kernels.compiled import compile_twice, kernel
from podium.kernels.records import read, write
from podium.ledger.history import pools_brought, started_at, states_brought
from podium.ledger.hypothetical_race import has_draws
from podium.probability.draws import DRAW, learn_draws
from podium.results.derived_heats import OVERALL
from podium.results.hashing import SPREAD, runs
from podium.support.answers import answer
from podium.support.arrays import Floats, Integers, Mask

MAX_PAIRS = 200_000_000  # each row takes about 50 bytes; a larger table would not fit on one machine
MAX_INTERPRETED = 2_000  # entries; compiling takes seconds, and is only worth it for more
NEWEST_EVENTS, NEWEST_ENTRANTS = 1_000, 20_000  # the most events, and entrants in them, from which draws are learnt
Numbers = Integers


@answer
class ReliabilityBin:
    """Duels with similar expected scores. Each duel is counted from both sides.

    Attributes:
        expected: Mean of the expected scores.
        observed: Mean of the actual scores.
        lowest: Lower end of the 95% interval of the observed mean.
        highest: Upper end of the 95% interval of the observed mean.
        duels: Number of duels.
    """

    expected: float
    observed: float
    lowest: float
    highest: float
    duels: int


class Listing(NamedTuple):
    """Numbers that identify the entries of events and decide which side of a pair comes first."""

    selected: Mask  # (heats)
    brought: Floats  # (entrants, fields)
    known: Mask  # (entrants)
    lead: Numbers  # (entries): the first member of each entry's side, whose entry is written to the table
    name_key: npt.NDArray[np.uint64]  # (players)
    event_key: npt.NDArray[np.uint64]  # (heats)
    duels_only: bool  # list only heats of two sides


class Pairs(NamedTuple):
    first: Numbers  # entry of the side that comes first
    second: Numbers
    expected: Floats
    result: Floats

    @classmethod
    def room_for(cls, count: int) -> Self:
        return cls(np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count), np.empty(count))


def held_heats(events: Events) -> Mask:
    """Return a mask of the heats to compare. An overall result is included only if its event has no other heat."""
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
    heats: Mask | None = None,
    min_events: float = 0.0,
) -> pl.DataFrame:
    """List every pair of sides that the system compares, with the expected score from ratings before the event.

    A hash of the names and the event's ID decides which side is the player and which is the opponent. The order in the
    file must not be used, because it is often the finishing order.

    Args:
        system: the rating system.
        events: the encoded events.
        replayed: the replay of these events.
        heats: a mask of the heats to list. Default: all heats from `held_heats`.
        min_events: minimum number of rated events of each player.

    Returns:
        `event_id, pool, started_at, player, opponent, expected, result`, and `heat` if an event has several, in the
        order in which the events are rated. `expected` is the player's expected score, from 0 to 1. `result` is 1 for a
        win, 0 for a loss and 0.5 for a draw. A team is named after its members in alphabetical order: `Ana, Ben`.

    Raises:
        ParameterError: there are more pairs than a table can hold.
    """
    keys = name_keys(events.player_names), event_keys(events)
    pairs, lead = pairs_in(system, events, replayed, heats, min_events, keys)
    columns = events.columns
    taken = events.results.frame[events.entry_row[pairs.first]]
    players = events.results.frame["player"].gather(events.entry_row.array)
    if columns.side.size:
        rows = pl.DataFrame({"lead": lead, "player": players}).with_row_index("entry")
        sides_named = rows.sort("player").group_by("lead").agg(pl.col("player").str.join(", ").alias("side"))
        players = rows.join(sides_named, on="lead", maintain_order="left")["side"]  # all names on each entry's side
    names = {} if events.entry_heat is None or not columns.heats.size else {"heat": events.entry_heat[pairs.first]}
    return pl.DataFrame(
        {
            "event_id": taken["event_id"],
            **names,
            "pool": taken["pool"],
            "started_at": started_at(taken),
            "player": players[pairs.first],
            "opponent": players[pairs.second],
            "expected": pairs.expected,
            "result": pairs.result,
        }
    )


def pairs_in(
    system: System,
    events: Events,
    replayed: Replayed,
    heats: Mask | None = None,
    min_events: float = 0.0,
    keys: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]] | None = None,
) -> tuple[Pairs, Numbers]:
    """Return pairs of sides in the order in which they are rated, and for each entry the first member of its side.

    The other arguments have the same meaning as in `pair_predictions`.

    Args:
        keys: the keys of names and of heats that decide which side comes first. Default: only heats of two sides are
            listed, and the first side in the file comes first.
    """
    columns = events.columns
    params, prototypes = system.arguments()
    entering_states = np.empty((int(np.diff(columns.entrants).max(initial=0)), len(prototypes[1])))
    entries = columns.entries if columns.entries.size else columns.entrants
    sides = empty_sides(int(np.diff(entries).max(initial=0)), len(prototypes[1]), len(system.kinds))
    brought = states_brought(system, events, replayed)
    no_keys = np.zeros(events.player_names.len(), np.uint64), np.zeros(entries.size - 1, np.uint64)
    name_key, event_key = keys or no_keys
    listing = Listing(
        held_heats(events) if heats is None else heats,
        brought,
        brought[:, system.column("events")] >= min_events,
        np.arange(entries[-1]),
        name_key,
        event_key,
        duels_only=keys is None,
    )
    pools = pools_brought(system, events, replayed)
    arguments = params, prototypes, columns, listing, pools, entering_states, sides
    sizes = np.diff(entries)[listing.selected]
    few = keys is None and int(sizes.sum()) <= MAX_INTERPRETED
    fill = _fill if few else functools.partial(run_kernel, system, _fill_kernels, int(np.square(sizes).sum()))
    count = fill(*arguments, Pairs.room_for(0))
    if count > MAX_PAIRS:
        raise ParameterError(
            f"there are {count:,} pairs, and a table holds at most {MAX_PAIRS:,}. Rate fewer events, or use "
            "podium.evaluate, which does not need this table."
        )
    pairs = Pairs.room_for(count)
    fill(*arguments, pairs)
    return pairs, listing.lead


def name_keys(names: pl.Series) -> npt.NDArray[np.uint64]:
    """Return a number for each name, which does not depend on the order of the names."""
    digests = b"".join(blake2b(name.encode(), digest_size=8).digest() for name in names.to_list())
    return np.frombuffer(digests, np.dtype("<u8")).astype(np.uint64)


def event_keys(events: Events) -> npt.NDArray[np.uint64]:
    """Return a number for each heat's event, calculated from its ID. The heats of an event must be consecutive."""
    columns = events.columns
    entries = columns.entries if columns.entries.size else columns.entrants
    ids = events.results.frame["event_id"][events.entry_row[entries[:-1]]]
    number, starts = runs(ids)
    return np.array([crc32(event_id.encode()) for event_id in ids.gather(starts).to_list()], np.uint64)[number]


def _fill(
    params: Any, prototypes: Any, columns: Any, listing: Any, pools: Any, entering_states: Any, sides: Any, pairs: Any
) -> int:
    """Write all pairs if the table has enough rows. Return the number of pairs."""
    newcomer, entering, _ = prototypes
    row, room = 0, (entering_states, sides)
    for update in range(columns.entrants.size - 1):
        start, stop = columns.entrants[update], columns.entrants[update + 1]
        first_heat, last_heat = heats_of(columns, update)
        is_selected = False
        for heat in range(first_heat, last_heat):
            is_selected = is_selected or listing.selected[heat]
        if not is_selected:
            continue
        own = params_in_pool(params, columns, update, pools[update])
        for i in range(start, stop if pairs.first.size > 0 else start):
            write(entering_states, i - start, enter(own, read(listing.brought, i, newcomer), entrant_at(columns, i)))
        for heat in range(first_heat, last_heat):
            if listing.selected[heat]:
                row = fill_heat(own, entering, columns, heat, start, listing, room, pairs, row)
    return row


@kernel
def fill_heat(
    params: Any, entering: Any, columns: Any, heat: int, start: int, listing: Any, room: Any, pairs: Any, row: int
) -> int:
    """Write the pairs of a heat, starting at `row`, if the table has enough rows.

    Return the row after the last pair.
    """
    entering_states, sides = room
    begin, end = entries_of(columns, heat)
    count = gather_sides(columns, begin, end, start, entering_states, entering, sides)
    if listing.duels_only and count != 2:  # noqa: PLR2004  (a duel)
        return row
    for a in range(count):
        i = sides.entry[sides.start[a]]
        for member in range(sides.start[a], sides.start[a + 1]):
            listing.lead[sides.entry[member]] = i
        for b in range(a + 1, count if are_known(columns, listing.known, sides, a, start) else a + 1):
            j = sides.entry[sides.start[b]]
            if not (comparable(columns, i, j) and are_known(columns, listing.known, sides, b, start)):
                continue
            if pairs.first.size > 0:
                name_key, event_key = listing.name_key, listing.event_key[heat]
                key = side_key(columns, name_key, event_key, sides, a, start)
                swapped = key > side_key(columns, name_key, event_key, sides, b, start)
                one, other = (j, i) if swapped else (i, j)
                place, theirs = columns.place[one], columns.place[other]
                pairs.first[row], pairs.second[row] = one, other
                pairs.expected[row] = expect_side(params, entering, sides, b if swapped else a, a if swapped else b)
                pairs.result[row] = 1.0 if place < theirs else 0.0 if place > theirs else 0.5
            row += 1
    return row


@kernel
def are_known(columns: Any, known: Any, sides: Any, side: int, start: int) -> bool:
    """Return True if all members of a side have played enough events. The event's entrants begin at `start`."""
    all_known = True
    for member in range(sides.start[side], sides.start[side + 1]):
        all_known = all_known and known[start + slot_at(columns, sides.entry[member], start)]
    return all_known


@kernel
def side_key(columns: Any, name_key: Any, event_key: Any, sides: Any, side: int, start: int) -> Any:
    """Return the number that decides which side of a pair comes first: a hash of the names and the event."""
    key = np.uint64(0)
    for member in range(sides.start[side], sides.start[side + 1]):
        key += name_key[columns.player[start + slot_at(columns, sides.entry[member], start)]]
    return (key ^ event_key) * SPREAD


_fill_kernels = compile_twice(_fill)


def count_newest(entrants: Numbers, most_events: int = NEWEST_EVENTS, most_entrants: int = NEWEST_ENTRANTS) -> int:
    """Return the number of newest events within these limits, given the number of entrants of each event."""
    within = int(np.searchsorted(np.cumsum(entrants[::-1]), most_entrants, "right"))
    return min(within, most_events)


def learnt_nu(duels: Iterable[Pairs]) -> float:
    """Return Davidson's nu after these duels, or 0 if none of them was drawn."""
    parts = [*duels]
    expected, results = (
        np.concatenate([np.empty(0), *(getattr(part, name) for part in parts)]) for name in ("expected", "result")
    )
    return learn_draws(expected, results)[1] if (results == DRAW).any() else 0.0


def nu_of_pool(system: System, events: Events, replayed: Replayed, pool: str | None) -> float:
    """Return Davidson's nu after the newest events of a pool, or 0 if no duel in them was drawn."""
    span = next((part for part in events.pools if part.name == pool), None)
    if span is None or not has_draws(events, span.name):
        return 0.0
    columns, held = events.columns, held_heats(events)
    first = span.last - count_newest(np.diff(columns.entrants[span.first : span.last + 1]))
    if first == span.last:
        return 0.0
    held[: heats_of(columns, first)[0]] = False
    held[heats_of(columns, span.last - 1)[1] :] = False
    return learnt_nu([pairs_in(system, events, replayed, held)[0]])
