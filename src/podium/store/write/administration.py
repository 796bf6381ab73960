"""What changes a whole pool: seasons, another system, its description and closing; all but its deletion is logged."""

import json
import secrets
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from podium.engine.system import System
from podium.errors import ParameterError
from podium.live import refuse_share
from podium.results.names import admit, normalise
from podium.store.derive.proposal import NewSeason, Proposal
from podium.store.log.description import PoolDescription
from podium.store.log.log import CLOSE, CONFIGURE, DESCRIBE, REOPEN, SEASON, LogEntry, append, json_entry
from podium.store.log.players import Numbering
from podium.store.log.pools import START, OrderKey, Pool, settings_of
from podium.store.log.reserved_names import refuse_reserved
from podium.store.sql.database import StoreError
from podium.store.sql.schema import api_key, generation, metadata, pools, season
from podium.store.sql.timestamps import microseconds, now
from podium.store.write.execution import Prepare, Prepared, count_written
from podium.support.collector import ARITHMETIC
from podium.systems import find

SECRET_BYTES = 32


def create(connection: sa.Connection, name: str, system: System, actor: str, description: PoolDescription) -> Pool:
    """Open a ladder.

    Raises:
        StoreError: there is one of that name.
        ParameterError: the rule for names refuses it, or a page of the service has its address.
    """
    refuse_reserved(normalise(name))
    pool = insert_pool(connection, name, system)
    append(connection, pool, CONFIGURE, [system_entry(system, actor)])
    describe(connection, pool, description, actor)
    return pool


def describe(connection: sa.Connection, pool: Pool, description: PoolDescription, actor: str) -> bool:
    """Let a pool say this of itself; False where it says so already."""
    if description == pool.description:
        return False
    append(connection, pool, DESCRIBE, [json_entry("", description.body(), actor)])
    connection.execute(sa.update(pools).where(pools.c.id == pool.id).values(description.columns()))
    return True


def insert_pool(connection: sa.Connection, name: str, system: System) -> Pool:
    """Store a new pool, with nothing in its log, and its first generation.

    Raises:
        StoreError: there is one of that name.
        ParameterError: the rule for names refuses it.
    """
    name, secret = admit(name, "a pool's name"), secrets.token_bytes(SECRET_BYTES)
    row = configuration(system) | {"name": name, "secret": secret}
    try:  # no query before it: another transaction might open one in between
        (number,) = connection.execute(sa.insert(pools).returning(pools.c.id), row).scalars()
    except sa.exc.IntegrityError:
        raise StoreError(f"there is a pool {name!r} already") from None
    (current,) = connection.execute(sa.insert(generation).returning(generation.c.id), {"pool_id": number}).scalars()
    connection.execute(sa.update(pools).where(pools.c.id == number).values(generation_id=current))
    return Pool(number, name, system, secret, generation=current)


def reconfiguration(system: System, actor: str) -> Prepare[int]:
    """Rate a pool with another system, or other parameters, from its first event on; how many rows changed.

    It raises:
        ResultsError: an event lacks what the system needs.
        ParameterError: a server could not find the system by its name.
    """

    def prepare(_connection: sa.Connection, pool: Pool, _numbering: Numbering) -> Prepared[int]:
        proposal = Proposal(
            replace(pool, system=system, arithmetic=ARITHMETIC),
            CONFIGURE,
            (system_entry(system, actor),),
            (START,),
            columns=configuration(system),
            refuses_unrateable=False,
        )
        return Prepared(proposal, count_written)

    return prepare


def configuration(system: System) -> dict[str, Any]:
    """What a pool's row has of its system, and the arithmetic that rates it from now on."""
    return {"system": system.name, "parameters": json.dumps(settings_of(system)), "arithmetic": ARITHMETIC}


def system_entry(system: System, actor: str) -> LogEntry:
    """The entry of what a pool is rated with.

    Raises:
        ParameterError: a server could not find the system by its name.
    """
    refuse_nameless(system)
    return json_entry("", {"system": system.name, "parameters": settings_of(system)}, actor)


def refuse_nameless(system: System) -> None:
    """Refuse a system that its name alone does not find again: one in a file, or a class of a program's own.

    Raises:
        ParameterError: it is one.
    """
    try:
        registered: Any = find(system.name)
    except ParameterError:
        registered = ()  # nothing is an instance of
    own = {each.name: getattr(system, each.name) for each in fields(system)}
    if not (isinstance(system, registered) and type(registered(**own)) is type(system)):
        raise ParameterError(
            f"{system.name!r} cannot rate a pool: a server finds its system by name, so it must be one of Podium's own "
            "or an installed package's entry point (docs/own-system.md); a file's path cannot be one"
        )


def new_season(name: str, starts: datetime, keep: float, actor: str) -> Prepare[int]:
    """Let a season begin: every lead over a newcomer shrinks to a share of itself; how many rows changed.

    Args:
        name: of the season.
        starts: the moment.
        keep: the share, from 0 (all start level) to 1 (a name for a date, and nothing changes).
        actor: for the log.

    Raises:
        ParameterError: the rule for names refuses it, the share is not from 0 to 1, or the moment is in the future.
    """
    name = admit(name, "a season's name")
    refuse_share(keep)
    at = microseconds(starts)
    if at > now():
        raise ParameterError(f"{starts} is in the future; begin the season once that moment has come")

    def prepare(connection: sa.Connection, pool: Pool, _numbering: Numbering) -> Prepared[int]:
        same = sa.select(season.c.started_at, season.c.keep).where(season.c.pool_id == pool.id, season.c.name == name)
        known = connection.execute(same).first()
        if known is not None:
            if (known.started_at, known.keep) == (at, keep):
                return Prepared(None, count_written)
            raise StoreError(f"there is a season {name!r} already")
        begun = NewSeason(name, at, keep)
        entry = json_entry(name, {"started_at": at, "keep": keep}, actor)
        touched = OrderKey(at, begun.seq)
        proposal = Proposal(pool, SEASON, (entry,), (touched,), season=begun, refuses_unrateable=False)
        return Prepared(proposal, count_written)

    return prepare


def set_closed(connection: sa.Connection, pool: Pool, actor: str, *, closed: bool) -> bool:
    """Close a pool, so that it takes nothing more, or open it again; False where it is so already."""
    if pool.closed == closed:
        return False
    append(connection, pool, CLOSE if closed else REOPEN, [json_entry("", None, actor)])
    connection.execute(sa.update(pools).where(pools.c.id == pool.id).values(closed=closed))
    return True


def delete(connection: sa.Connection, pool: Pool) -> None:
    """Delete a pool that is closed, with all that is stored of it, and the keys that opened it alone.

    Raises:
        StoreError: it is not closed.
    """
    if not pool.closed:
        raise StoreError(f"pool {pool.name!r} is not closed; podium pool close does that, so that nobody writes to it")
    of_pool = sa.select(generation.c.id).where(generation.c.pool_id == pool.id)
    generations = connection.execute(of_pool).scalars().all()
    connection.execute(sa.delete(generation).where(generation.c.pool_id == pool.id))  # first: so none is staged further
    for table in reversed(metadata.sorted_tables):
        if "generation_id" in table.c and table is not pools:
            connection.execute(sa.delete(table).where(table.c.generation_id.in_(generations)))
        if "pool_id" in table.c:
            connection.execute(sa.delete(table).where(table.c.pool_id == pool.id))
    connection.execute(sa.delete(api_key).where(api_key.c.pool == pool.name))
    connection.execute(sa.delete(pools).where(pools.c.id == pool.id))
