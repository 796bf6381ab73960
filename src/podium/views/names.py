"""Players by their present names: who plays on as whom after merges."""

from collections.abc import Iterable, Iterator

from podium.log.players import SELECT_ALIASES, known_numbers, names_of, unrated_error
from podium.views.reader import PoolAt


def number_of(pool: PoolAt, name: str) -> int:
    """Return a player's number; for a merged account, the number of the account that it plays on as."""
    number = known_numbers(pool, [name]).get(name)
    if number is None:
        raise unrated_error(pool, name)
    return pool.snapshot.merged.get(number, number)


def name_of(pool: PoolAt, name: str) -> str:
    """Return the present name of the player whom a name means."""
    (present,) = names_of(pool, [number_of(pool, name)]).values()
    return present


def accounts_of(pool: PoolAt, number: int) -> list[int]:
    """Return a player's own account and those that are merged into it."""
    return [number, *(account for account, into in pool.snapshot.merged.items() if into == number)]


def names_had(pool: PoolAt, number: int) -> Iterator[tuple[str, int]]:
    """Yield every name that a player has or had, with the account that had it."""
    for account in accounts_of(pool, number):
        aliases = pool.execute(SELECT_ALIASES, player=account).scalars()
        yield from ((name, account) for name in (*names_of(pool, [account]).values(), *aliases))


def present_names(pool: PoolAt, numbers: Iterable[int]) -> dict[int, str]:
    """Return the names of players and equipment, by number. A merged account has the name of the one it plays on as."""
    merged = pool.snapshot.merged
    ends = {number: merged.get(number, number) for number in numbers}
    names = names_of(pool, set(ends.values()))
    return {number: names[end] for number, end in ends.items()}
