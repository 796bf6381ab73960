"""What changes a whole pool: seasons, another system, its closing. All are in the log, but that it is deleted."""

import json
import secrets
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from podium.arithmetic import ARITHMETIC
from podium.engine.system import System
from podium.errors import ParameterError
from podium.live import refuse_share
from podium.results.names import admit
from podium.store.derive.corrections import record
from podium.store.derive.rerating import Rerated, rerate
from podium.store.log.log import CLOSE, CONFIGURE, REOPEN, SEASON, append, json_entry
from podium.store.log.pools import START, OrderKey, Pool, settings_of
from podium.store.sql.database import StoreError
from podium.store.sql.schema import api_key, metadata, pools, season
from podium.store.sql.timestamps import microseconds, now
from podium.systems import find

SECRET_BYTES = 32


def create(connection: sa.Connection, name: str, system: System, actor: str) -> Pool:
    """Open a ladder.

    Raises:
        StoreError: there is one of that name.
        ParameterError: the rule for names refuses it.
    """
    pool = insert_pool(connection, name, system)
    log_system(connection, pool, actor)
    return pool


def insert_pool(connection: sa.Connection, name: str, system: System) -> Pool:
    """Store a new pool, with nothing in its log.

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
    return Pool(number, name, system, secret)


def configure(connection: sa.Connection, pool: Pool, system: System, actor: str) -> Rerated:
    """Rate a pool with another system, or other parameters, from its first event on.

    Raises:
        ResultsError: an event lacks what the system needs.
    """
    configured = replace(pool, system=system, arithmetic=ARITHMETIC)
    seq = log_system(connection, configured, actor)
    connection.execute(sa.update(pools).where(pools.c.id == pool.id).values(configuration(system)))
    rerated = rerate(connection, configured, START)
    record(connection, pool, seq, rerated)
    return rerated


def configuration(system: System) -> dict[str, Any]:
    """What a pool's row has of its system, and the arithmetic that rates it from now on."""
    return {"system": system.name, "parameters": json.dumps(settings_of(system)), "arithmetic": ARITHMETIC}


def log_system(connection: sa.Connection, pool: Pool, actor: str) -> int:
    """Log what a pool is rated with, and return the number of the entry.

    Raises:
        ParameterError: a server could not find the system by its name.
    """
    refuse_nameless(pool.system)
    settings = {"system": pool.system.name, "parameters": settings_of(pool.system)}
    (seq,), _ = append(connection, pool, CONFIGURE, [json_entry("", settings, actor)])
    return seq


def refuse_nameless(system: System) -> None:
    """Refuse a system that its name alone does not find again: one in a file, or a class of a program's own.

    Raises:
        ParameterError: it is one.
    """
    try:
        registered: object = find(system.name)
    except ParameterError:
        registered = None
    if registered is not type(system):
        raise ParameterError(
            f"{system.name!r} cannot rate a pool: a server finds its system by name, so it must be one of Podium's own "
            "or an installed package's entry point (docs/own-system.md); a file's path cannot be one"
        )


def begin_season(
    connection: sa.Connection, pool: Pool, name: str, starts: datetime, keep: float, actor: str
) -> Rerated | None:
    """Let a season begin: every lead over a newcomer shrinks to a share of itself; None where it began just so.

    Args:
        keep: the share, from 0 (all start level) to 1 (a name for a date, and nothing changes).

    Raises:
        ParameterError: the rule for names refuses it, the share is not from 0 to 1, or the moment is in the future.
        StoreError: there is a season of that name.
    """
    name = admit(name, "a season's name")
    refuse_share(keep)
    at = microseconds(starts)
    if at > now():
        raise ParameterError(f"{starts} is in the future; begin the season once that moment has come")
    same = sa.select(season.c.started_at, season.c.keep).where(season.c.pool_id == pool.id, season.c.name == name)
    known = connection.execute(same).first()
    if known is not None:
        if (known.started_at, known.keep) == (at, keep):
            return None
        raise StoreError(f"there is a season {name!r} already")
    reset = {"started_at": at, "keep": keep}
    (seq,), _ = append(connection, pool, SEASON, [json_entry(name, reset, actor)])
    connection.execute(sa.insert(season), {"pool_id": pool.id, "name": name, "seq": seq} | reset)
    rerated = rerate(connection, pool, OrderKey(at, seq))
    record(connection, pool, seq, rerated)
    return rerated


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
    for table in reversed(metadata.sorted_tables):
        if "pool_id" in table.c:
            connection.execute(sa.delete(table).where(table.c.pool_id == pool.id))
    connection.execute(sa.delete(api_key).where(api_key.c.pool == pool.name))
    connection.execute(sa.delete(pools).where(pools.c.id == pool.id))
