"""Players by number, and the only places where their names stand."""

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from podium.errors import UnknownError
from podium.results.lookalikes import are_alike, key
from podium.results.names import admit, normalise, refusal
from podium.store.log.pools import Pool
from podium.store.sql.among import among, values
from podium.store.sql.database import StoreError
from podium.store.sql.schema import alias, merged, player

MOST_ALIKE = 20  # names of one key that a newcomer's is compared with
HERE = player.c.pool_id == sa.bindparam("pool")
SELECT_EVENTS = sa.select(player.c.name, player.c.id).where(HERE, among(player.c.name))
ONCE = sa.select(alias.c.name, alias.c.player_id.label("id")).where(
    alias.c.pool_id == sa.bindparam("pool"), among(alias.c.name)
)
NAMES = sa.select(player.c.id, player.c.name).where(among(player.c.id))  # a number is one pool's
EVERY_NAME = sa.select(player.c.id, player.c.name).where(HERE)
NEW = sa.insert(player).returning(player.c.id, player.c.name, sort_by_parameter_order=True)
MERGED = sa.select(merged.c.player_id, merged.c.into_id).where(merged.c.pool_id == sa.bindparam("pool"))
FORMER = sa.delete(alias).where(alias.c.pool_id == sa.bindparam("pool"), alias.c.player_id == sa.bindparam("who"))
RENAMED = (
    sa.update(player)
    .where(player.c.id == sa.bindparam("who"))
    .values(name=sa.bindparam("new"), lookalike=sa.bindparam("key"))
)
ALIKE = sa.select(player.c.name, player.c.lookalike).where(HERE, among(player.c.lookalike))


def exact_numbers(connection: sa.Connection, pool: Pool, names: Sequence[str]) -> dict[str, int]:
    """The numbers of those who are known by these very names, or were once."""
    found: dict[str, int] = dict(connection.execute(SELECT_EVENTS, {"pool": pool.id, "among": values(names)}).all())
    rest = [name for name in names if name not in found]
    if rest:
        found |= dict(connection.execute(ONCE, {"pool": pool.id, "among": values(rest)}).all())
    return found


def known_numbers(connection: sa.Connection, pool: Pool, names: Sequence[str]) -> dict[str, int]:
    """The numbers of those who are known by these names, or were once; to the letter, or else normalised."""
    found = exact_numbers(connection, pool, names)
    normal = {name: normalise(name) for name in names if name not in found}
    moved = {name: each for name, each in normal.items() if name != each}
    if moved:
        settled = exact_numbers(connection, pool, list(moved.values()))
        found |= {name: settled[each] for name, each in moved.items() if each in settled}
    return found


def admitted(connection: sa.Connection, pool: Pool, names: Sequence[str], what: str = "player") -> list[str]:
    """The names, normalised; but those of players who are known by them to the letter stay.

    Raises:
        ParameterError: a name that the rule refuses, and nobody has.
    """
    changed = [name for name in names if normalise(name) != name or refusal(name)]
    known = exact_numbers(connection, pool, changed) if changed else {}
    return [name if name in known else admit(name, what) for name in names]


def numbers_of(connection: sa.Connection, pool: Pool, names: Iterable[str]) -> dict[str, int]:
    """The numbers of players; newcomers get one."""
    return numbers_and_newcomers(connection, pool, names)[0]


def numbers_and_newcomers(
    connection: sa.Connection, pool: Pool, names: Iterable[str]
) -> tuple[dict[str, int], list[str]]:
    """The numbers of players, and the names of those who got theirs just now."""
    wanted = list(dict.fromkeys(names))
    found = known_numbers(connection, pool, wanted)
    newcomers = [name for name in wanted if name not in found]
    if newcomers:
        new = [{"pool_id": pool.id, "name": name, "lookalike": key(name)} for name in newcomers]
        found |= {row.name: row.id for row in connection.execute(NEW, new)}
    return found, newcomers


def lookalikes_of(connection: sa.Connection, pool: Pool, names: Sequence[str]) -> dict[str, str]:
    """Of these players those whose names look like another's in the pool, with that name."""
    keys = {name: key(name) for name in names}
    known: dict[str, list[str]] = {}
    for row in connection.execute(ALIKE, {"pool": pool.id, "among": values(set(keys.values()))}) if names else ():
        known.setdefault(row.lookalike, []).append(row.name)
    found = {}
    for name, own in keys.items():
        others = (each for each in known.get(own, ())[:MOST_ALIKE] if each != name and are_alike(name, each))
        like = next(others, None)
        if like is not None:
            found[name] = like
    return found


def number_of(connection: sa.Connection, pool: Pool, name: str) -> int:
    """A player's number; that of the account that stays, where it was merged.

    Raises:
        UnknownError: there is no such player.
    """
    found = known_numbers(connection, pool, [name])
    if name not in found:
        raise not_rated(pool, name)
    return merges(connection, pool).get(found[name], found[name])


def names_of(connection: sa.Connection, pool: Pool, numbers: Iterable[int] | None = None) -> dict[int, str]:
    """The names of these players, or of everyone."""
    if numbers is None:
        rows = connection.execute(EVERY_NAME, {"pool": pool.id})
    else:
        rows = connection.execute(NAMES, {"among": values(numbers)})
    return dict(rows.all())


def merges(connection: sa.Connection, pool: Pool) -> dict[int, int]:
    """Who plays on as whom, resolved to the end."""
    return {row.player_id: row.into_id for row in connection.execute(MERGED, {"pool": pool.id})}


def not_rated(pool: Pool, name: str) -> UnknownError:
    """What to say of a player without a rating."""
    return UnknownError(f"there is no rated player {name!r} in pool {pool.name!r}")


def rename(connection: sa.Connection, pool: Pool, name: str, new: str) -> int:
    """Call a player otherwise, who is still found by the old name; the player's number.

    Raises:
        UnknownError: there is no such player.
        StoreError: the name is another player's.
        ParameterError: the rule for names refuses it.
    """
    new = admit(new, "a player's name")
    number = number_of(connection, pool, name)
    taken = known_numbers(connection, pool, [new]).get(new)
    if taken not in (None, number):
        raise StoreError(f"there is a player {new!r} already; merge the two if they are one")
    (old,) = names_of(connection, pool, [number]).values()
    forget_alias(connection, pool, new)
    if old != new:
        forget_alias(connection, pool, old)
        connection.execute(sa.insert(alias), {"pool_id": pool.id, "name": old, "player_id": number})
        connection.execute(RENAMED, {"who": number, "new": new, "key": key(new)})
    return number


def forget_alias(connection: sa.Connection, pool: Pool, name: str) -> None:
    """Let a former name be free."""
    connection.execute(sa.delete(alias).where(alias.c.pool_id == pool.id, alias.c.name == name))


def pseudonymise(connection: sa.Connection, pool: Pool, name: str) -> tuple[int, str]:
    """Call a player, and every account merged into it, by a number, and forget every name; number and pseudonym.

    Raises:
        UnknownError: there is no such player.
    """
    number = number_of(connection, pool, name)
    accounts = [number, *(gone for gone, into in merges(connection, pool).items() if into == number)]
    for account in accounts:
        connection.execute(FORMER, {"pool": pool.id, "who": account})
        pseudonym = free_name(connection, pool, account)
        connection.execute(RENAMED, {"who": account, "new": pseudonym, "key": key(pseudonym)})
    return number, names_of(connection, pool, [number])[number]


def free_name(connection: sa.Connection, pool: Pool, number: int) -> str:
    """A name that says nothing, and that nobody has."""
    told = f"player {number}"
    while known_numbers(connection, pool, [told]).get(told, number) != number:
        told += "'"
    return told
