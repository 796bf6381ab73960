"""Players' names that were stored before there was a rule for them, brought to its form; no rating moves."""

from collections.abc import Iterator
from typing import NamedTuple

import sqlalchemy as sa

from podium.results.lookalikes import search_key
from podium.results.names import LONGEST, normalise, refusal
from podium.store.log.log import RENAME, append, json_entry
from podium.store.log.players import names_of, update_name
from podium.store.log.pools import Pool
from podium.store.sql.schema import alias, player

SELECT_WITHOUT_KEY = sa.select(player.c.id, player.c.name).where(
    player.c.pool_id == sa.bindparam("pool"), player.c.lookalike.is_(None) | player.c.folded.is_(None)
)
SELECT_FORMER_WITHOUT_KEY = sa.select(alias.c.name).where(
    alias.c.pool_id == sa.bindparam("pool"), alias.c.folded.is_(None)
)
UPDATE_FORMER = (
    sa.update(alias)
    .where(alias.c.pool_id == sa.bindparam("pool"), alias.c.name == sa.bindparam("former"))
    .values(folded=sa.bindparam("new_folded"))
)
MAX_MARKED_SHOWN = 20  # marked names that are reported


class Renaming(NamedTuple):
    """What a player is called from now on."""

    number: int
    old: str
    new: str
    marked: bool  # the normal name is another player's


def normal_form(name: str) -> str:
    """The name in its normal form; one that the rule refuses stays to the letter, so that it can be addressed."""
    normal = normalise(name)
    return name if refusal(normal) else normal


def are_due(connection: sa.Connection, pool: Pool) -> bool:
    """Whether a player's name is not in its normal form, or is found neither by its looks nor by a search."""
    without_key = SELECT_WITHOUT_KEY, SELECT_FORMER_WITHOUT_KEY
    if any(connection.execute(select, {"pool": pool.id}).first() is not None for select in without_key):
        return True
    return any(normal_form(name) != name for name in names_of(connection, pool).values())


def normalise_names(connection: sa.Connection, pool: Pool, actor: str) -> str:
    """Bring every name to its normal form. Where players would be called alike, the later keeps a marked name.

    Returns:
        A sentence for the admin, with the marked names; empty where every name was in its normal form.
    """
    changes = list(renamings(connection, pool))
    for each in reversed(changes):  # the later gives a name up before the earlier takes it
        update_name(connection, pool, each.number, each.new)
    for row in connection.execute(SELECT_WITHOUT_KEY, {"pool": pool.id}).all():
        update_name(connection, pool, row.id, row.name)
    for row in connection.execute(SELECT_FORMER_WITHOUT_KEY, {"pool": pool.id}).all():
        params = {"pool": pool.id, "former": row.name, "new_folded": search_key(row.name)}
        connection.execute(UPDATE_FORMER, params)
    append(connection, pool, RENAME, [json_entry(str(each.number), None, actor) for each in changes])
    if not changes:
        return ""
    marked = [f"a later {each.old!r} is now {each.new!r}" for each in changes if each.marked]
    more = [f"and {len(marked) - MAX_MARKED_SHOWN} more"] if len(marked) > MAX_MARKED_SHOWN else []
    return ", ".join([f"{len(changes)} names normalised", *marked[:MAX_MARKED_SHOWN], *more])


def renamings(connection: sa.Connection, pool: Pool) -> Iterator[Renaming]:
    """What players are to be called, those who came first first."""
    names = names_of(connection, pool)
    formers = connection.execute(sa.select(alias.c.name, alias.c.player_id).where(alias.c.pool_id == pool.id))
    former = {row.name: row.player_id for row in formers}
    stored, taken = {*names.values(), *former}, set[str]()
    for number in sorted(names):
        old, normal = names[number], normal_form(names[number])
        free = normal not in taken and former.get(normal, number) == number
        new = normal if free else marked_name(normal, taken | stored)
        taken.add(new)
        if new != old:
            yield Renaming(number, old, new, marked=not free)


def marked_name(name: str, taken: set[str]) -> str:
    """The name with a number behind it that nobody has."""
    mark = 2
    while (marked := f"{name[: LONGEST - len(f' ({mark})')].rstrip()} ({mark})") in taken:
        mark += 1
    return marked
