"""What each opponent did to a rating where no sum over pairs gives it: the event rated again without that opponent."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from podium.engine import inputs
from podium.engine.encoding import frozen
from podium.engine.replay import Replayed, replay_groups
from podium.engine.system import System

MAX_OPPONENTS = 100  # opponents left out: the nearest in the order of finish
MAX_WORK = 2e7  # pairs to be rated again: fewer opponents where a field is large
COUNTED_ANEW = ("entrant", "opponents", "place", "rank")  # of those who remain


class Contribution(NamedTuple):
    """One opponent's part."""

    entrant: int
    result: float  # mean over the heats that both were in
    contribution: float  # the change less the change without the opponent


class GroupEntries(NamedTuple):
    """The entries of a settlement, heat by heat."""

    start: np.ndarray[Any, Any]  # (heats) the first entry of each
    stop: np.ndarray[Any, Any]
    entrant: np.ndarray[Any, Any]  # (entries of the group) the entrant of all of each, in turn


def contributions(
    system: System, columns: inputs.Columns, settlement: int, entrant: int, states: Any, change: float
) -> Iterator[Contribution]:
    """Every opponent's part, or the nearest opponents' in a large field, in the order of the file."""
    group = group_entries(columns, settlement)
    results = mean_results(columns, group, entrant)
    place = columns.place[group.start[0] : group.stop[-1]]
    mine = place[group.entrant == entrant].mean()
    tried = int(min(MAX_OPPONENTS, max(2.0, MAX_WORK / len(results) ** 2))) if results else 0
    nearest = sorted(results, key=lambda other: abs(place[group.entrant == other].mean() - mine))[:tried]
    for other in sorted(nearest):
        left = change_without(system, columns, settlement, group, entrant, other, states)
        yield Contribution(other, results[other], change - left)


def group_entries(columns: inputs.Columns, settlement: int) -> GroupEntries:
    """The entries of a settlement."""
    first, last = int(columns.entrants[settlement]), int(columns.entrants[settlement + 1])
    if not columns.heats.size:
        return GroupEntries(np.array([first]), np.array([last]), np.arange(first, last))
    heats = slice(int(columns.heats[settlement]), int(columns.heats[settlement + 1]))
    start, stop = columns.entries[heats], columns.entries[heats.start + 1 : heats.stop + 1]
    return GroupEntries(start, stop, first + columns.entrant[int(start[0]) : int(stop[-1])])


def mean_results(columns: inputs.Columns, group: GroupEntries, entrant: int) -> dict[int, float]:
    """The mean result against each entrant that the player was compared with."""
    wins: dict[int, list[float]] = {}
    base = int(group.start[0])
    for start, stop in zip(group.start.tolist(), group.stop.tolist(), strict=True):
        members = group.entrant[start - base : stop - base]
        if entrant not in members:
            continue
        i = start + int(np.argmax(members == entrant))
        for j in range(start, stop):
            if j != i and inputs.comparable(columns, i, j):
                mine, theirs = columns.place[i], columns.place[j]
                won = 1.0 if mine < theirs else 0.0 if mine > theirs else 0.5
                wins.setdefault(int(members[j - start]), []).append(won)
    return {other: sum(won) / len(won) for other, won in wins.items()}


def change_without(
    system: System, columns: inputs.Columns, settlement: int, group: GroupEntries, entrant: int, other: int, states: Any
) -> float:
    """The change of the entrant's rating in the group rated without one opponent."""
    first, last = int(columns.entrants[settlement]), int(columns.entrants[settlement + 1])
    entrants = np.array([each for each in range(first, last) if each != other])
    remaining = np.flatnonzero(group.entrant != other)
    lengths = [
        int((group.entrant[start - group.start[0] : stop - group.start[0]] != other).sum())
        for start, stop in zip(group.start, group.stop, strict=True)
    ]
    alone = one_group(
        columns, entrants, group.start[0] + remaining, np.searchsorted(entrants, group.entrant[remaining]), lengths
    )
    moved = Replayed(states.copy(), np.empty(entrants.size), np.empty((entrants.size, states.shape[1])))
    replay_groups(system, alone, 0, 1, moved)
    me = int(np.searchsorted(entrants, entrant))
    rating = system.column("rating")
    return float(moved.after[me, rating] - moved.before[me])


def one_group(columns: inputs.Columns, entrants: Any, entries: Any, slots: Any, lengths: list[int]) -> inputs.Columns:
    """The columns of one group of those entrants and entries; empty heats are gone, ranks close up."""
    per_entrant = {name: getattr(columns, name) for name in inputs.ENTRANT_COLUMNS}
    per_entry = {name: getattr(columns, name) for name in inputs.ENTRY_COLUMNS if name not in COUNTED_ANEW}
    offsets = np.concatenate([[0], np.cumsum([length for length in lengths if length])])
    rank, place = reranked(columns.place[entries], offsets)
    taken = {name: values[entrants] if values.size else values for name, values in per_entrant.items()}
    taken |= {name: values[entries] if values.size else values for name, values in per_entry.items()}
    whole = columns.entries if columns.entries.size else columns.entrants
    heats = np.searchsorted(whole, entries[offsets[:-1]], side="right") - 1
    per_heat = {name: getattr(columns, name) for name in inputs.HEAT_COLUMNS}
    taken |= {name: values[heats] if values.size else values for name, values in per_heat.items()}
    taken |= {
        "entrants": np.array([0, entrants.size]),
        "heats": np.array([0, offsets.size - 1]),
        "entries": offsets,
        "entrant": slots,
        "rank": rank,
        "place": place,
    }
    return columns._replace(
        opponents=frozen(np.empty(0)),
        **{name: frozen(values, getattr(columns, name).dtype.type) for name, values in taken.items()},
    )


def reranked(places: Any, offsets: Any) -> tuple[Any, Any]:
    """Ranks and places within each heat, counted anew."""
    rank, place = np.empty(places.size), np.empty(places.size)
    for start, stop in pairwise(offsets):
        members = places[start:stop]
        order = np.sort(members)
        low, high = np.searchsorted(order, members), np.searchsorted(order, members, side="right")
        rank[start:stop], place[start:stop] = low + 1.0, 0.5 * (low + high + 1.0)
    return rank, place
