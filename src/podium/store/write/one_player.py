"""One player by two names: refused where numbers are given to names, as a name that stands twice is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from podium.errors import Fault, ResultsError
from podium.store.log.content import Content, row_of
from podium.store.log.players import merges, names_of
from podium.store.log.pools import Pool


def refuse_player_twice(
    connection: sa.Connection, pool: Pool, contents: Iterable[Content], numbers: Mapping[str, int]
) -> None:
    """Refuse events in which one player stands twice in a heat, by two names.

    Args:
        numbers: of every player of the events, by name.

    Raises:
        ResultsError: there are some; both names and their rows are given.
    """
    merged = merges(connection, pool)
    if len(set(ends_of([*numbers], numbers, merged))) == len(numbers):
        return  # every name is another player, and a name that stands twice in a heat was refused before
    faults = []
    for content in contents:
        names, ends = content.players, ends_of(content.players, numbers, merged)
        if len(set(ends)) == len(set(names)):
            continue  # so it is in this event
        heats = [row_of(head).get("heat") for head in content.heads]
        for one, two in repeats(list(zip(heats, ends, strict=True))):
            where = f"rows {one + 1} and {two + 1} of event {content.event_id}"
            why = cause(connection, pool, (names[one], names[two]), numbers, ends[one])
            remedy = f"{names[one]!r} and {names[two]!r} ({where}) are one player since {why}; send the player once"
            faults.append(Fault(None, "player", None, remedy))
    if faults:
        raise ResultsError("results", faults)


def refuse_entrant_twice(
    connection: sa.Connection, pool: Pool, match_id: str, names: Sequence[str], numbers: Mapping[str, int]
) -> None:
    """Refuse a match in which one player stands twice, by two names.

    Args:
        names: of the entrants.
        numbers: of the entrants, by name.

    Raises:
        ResultsError: it is one; both names and their places are given.
    """
    ends = ends_of(names, numbers, merges(connection, pool))
    faults = []
    for one, two in repeats(ends):
        why = cause(connection, pool, (names[one], names[two]), numbers, ends[one])
        where = f"entrants {one + 1} and {two + 1}"
        remedy = f"{names[one]!r} and {names[two]!r} ({where}) are one player since {why}; register the player once"
        faults.append(Fault(None, "entrants", None, remedy))
    if faults:
        raise ResultsError(f"match {match_id}", faults)


def ends_of(names: Sequence[str], numbers: Mapping[str, int], merged: Mapping[int, int]) -> list[int]:
    """The number that each name's account plays on as."""
    return [merged.get(numbers[name], numbers[name]) for name in names]


def repeats(values: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """The places of every value that stands earlier already, each after the place where it first stands."""
    first: dict[Any, int] = {}
    for place, value in enumerate(values):
        if first.setdefault(value, place) != place:
            yield first[value], place


def cause(connection: sa.Connection, pool: Pool, names: tuple[str, str], numbers: Mapping[str, int], end: int) -> str:
    """What made two names one player's, a renaming or a merge, in words.

    Args:
        end: the number of the player.
    """
    current = names_of(connection, pool, [end])[end]
    if numbers[names[0]] == numbers[names[1]]:
        others, act = [name for name in names if name != current], "renamed to"
    else:
        others, act = [name for name in names if numbers[name] != end], "merged into"
    subject = repr(others[0]) if len(others) == 1 else "both"
    return f"{subject} {'was' if len(others) == 1 else 'were'} {act} {current!r}"
