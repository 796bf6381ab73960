"""Look up players by name and events by ID."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from podium.errors import UnknownError
from podium.log.players import (
    SELECT_ALIASES,
    current_numbers,
    is_id,
    known_numbers,
    names_of,
    public_ids,
    unrated_error,
)
from podium.pool.columns import NONE, is_player, numbers_of
from podium.pool.snapshot import SEASON, STATUSES, Event
from podium.results.names import normalise
from podium.views.reader import PoolAt

RECENT_ROWS = 2_000  # number of rating changes that count as recent


def public_numbers(pool: PoolAt, names: Sequence[str]) -> dict[str, int]:
    """Return the numbers of players by any of their names. IDs count only if the pool shows them to readers."""
    numbers = known_numbers(pool, names)
    if pool.display.shows_ids:
        return numbers
    ids = [name for name in numbers if is_id(normalise(name))]
    return {name: numbers[name] for name in numbers if name not in ids} | current_numbers(pool, ids)


def number_of(pool: PoolAt, name: str) -> int:
    """Return a player's number. For a merged account, return the number of the account that it was merged into."""
    number = (known_numbers if pool.sees_ids else public_numbers)(pool, [name]).get(name)
    if number is None:
        raise unrated_error(pool, name)
    return pool.snapshot.merged.get(number, number)


def name_of(pool: PoolAt, name: str) -> str:
    """Return the current name of the player to whom a name refers."""
    (present,) = names_of(pool, [number_of(pool, name)]).values()
    return present


def accounts_of(pool: PoolAt, number: int) -> list[int]:
    """Return a player's own account and the accounts merged into it."""
    return [number, *(account for account, into in pool.snapshot.merged.items() if into == number)]


def names_had(pool: PoolAt, number: int) -> Iterator[tuple[str, int]]:
    """Yield every name that a player has or had, with the account that used it."""
    for account in accounts_of(pool, number):
        aliases = pool.execute(SELECT_ALIASES, player=account).scalars()
        yield from ((name, account) for name in (*names_of(pool, [account]).values(), *aliases))


def present_names(pool: PoolAt, numbers: Iterable[int]) -> dict[int, str]:
    """Return the names of players and equipment, by number.

    A merged account has the name of the account that it was merged into.
    """
    merged = pool.snapshot.merged
    ends = {number: merged.get(number, number) for number in numbers}
    names = names_of(pool, set(ends.values()))
    return {number: names[end] for number, end in ends.items()}


def frequent_players(pool: PoolAt, most: int) -> tuple[str, ...]:
    """Return the players who took part in recent events, most frequent first.

    Args:
        pool: the pool.
        most: number of players to return.

    Returns:
        The players' names.
    """
    rows = pool.snapshot.rows
    slots = rows.at("slot", np.arange(max(0, rows.size - RECENT_ROWS), rows.size))
    found, counts = np.unique(slots[is_player(slots)], return_counts=True)
    first = np.argsort(-counts, kind="stable")[:most]
    numbers = numbers_of(found[first]).tolist()
    names = names_of(pool, numbers)
    return tuple(names[number] for number in numbers)


RATED, UNRATED, VOIDED, SUPERSEDED = EVENT_STATUSES = STATUSES[:SEASON]


def find_event(pool: PoolAt, event_id: str) -> Event:
    """Find an event by its ID, or by an ID that it had before a player was anonymized.

    Raises:
        UnknownError: there is no such event.
    """
    events = pool.snapshot.events
    uid = events.find(event_id)
    if uid < 0:
        uid = max(map(events.find, public_ids(pool, [event_id]).values()), default=NONE)
    if uid < 0 or uid in events.seasons:
        raise UnknownError(f"pool {pool.name!r} has no event {event_id!r}. Check the ID.")
    return events.event_of(uid)


def find_events(pool: PoolAt, event_ids: Iterable[str]) -> list[Event]:
    """Return the events with these current IDs, in order. Unknown IDs are skipped."""
    events = pool.snapshot.events
    return events.of_uids([uid for uid in events.ids.find_all([*event_ids]) if uid >= 0])


def version_of(event: Event) -> str:
    """Return the version of an event, which changes with its content, and when it is voided or restored."""
    return f"{event.content_seq}-voided" if event.status == VOIDED else f"{event.content_seq}"
