"""Pools: each a ladder with its system, and the order in which its events are rated."""

import functools
import json
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.arithmetic import ARITHMETIC
from podium.engine.system import System
from podium.errors import UnknownError
from podium.store.sql.database import StoreError, acquire_pool_lock
from podium.store.sql.schema import pools
from podium.systems import find


class Key(NamedTuple):
    """Where an event stands in the order of rating."""

    started_at: int  # microseconds since 1970, UTC
    seq: int  # of the log entry that submitted it


START, FOREVER = Key(-(2**62), 0), Key(2**62, 0)  # before and after every event
KEY = sa.tuple_(sa.bindparam("at"), sa.bindparam("number"))  # as `asked` gives it


def key_of(table: "sa.FromClause") -> "sa.Tuple":
    """Where the rows of a table stand in the order of rating."""
    return sa.tuple_(table.c.started_at, table.c.seq)


def key_params(pool: "Pool", key: Key) -> dict[str, int]:
    """The parameters of statements about a pool, from a key or before it."""
    return {"pool": pool.id, "at": key.started_at, "number": key.seq}


@dataclass(frozen=True, slots=True)
class Pool:
    """A pool, and its system."""

    id: int
    name: str
    system: System
    arithmetic: int = ARITHMETIC  # revision that its ledger was rated with

    @classmethod
    def loaded(cls, row: Any) -> "Pool":
        """From its row."""
        return cls(row.id, row.name, system_of(row.system, row.parameters), row.arithmetic)

    @property
    def waits(self) -> bool:
        """Whether an earlier version's arithmetic rated it."""
        return self.arithmetic < ARITHMETIC


@functools.cache
def system_of(name: str, parameters: str) -> System:
    """The system that a pool's row describes."""
    return find(name).from_text(json.loads(parameters))


def settings_of(system: System) -> dict[str, Any]:
    """A system's parameters as JSON keeps them; `none` for what is switched off."""
    told = {each.name: getattr(system, each.name) for each in fields(system)}
    return {name: "none" if value is None else value for name, value in told.items()}


NAMED = sa.select(pools).where(pools.c.name == sa.bindparam("name"))
ALL = sa.select(pools).order_by(pools.c.name)


def find_pool(connection: sa.Connection, name: str) -> Pool | None:
    """The pool of that name."""
    row = connection.execute(NAMED, {"name": name}).first()
    return None if row is None else Pool.loaded(row)


def get_pool(connection: sa.Connection, name: str) -> Pool:
    """The pool of that name.

    Raises:
        UnknownError: there is none.
    """
    found = find_pool(connection, name)
    if found is None:
        raise UnknownError(f"there is no pool {name!r}")
    return found


def every_pool(connection: sa.Connection) -> list[Pool]:
    """Every pool, by name."""
    return [Pool.loaded(row) for row in connection.execute(ALL)]


def lock_pool(connection: sa.Connection, name: str) -> Pool:
    """The pool, once it is this transaction's turn to write to it.

    Raises:
        UnknownError: there is none of that name.
    """
    found = get_pool(connection, name)
    return (
        get_pool(connection, name) if acquire_pool_lock(connection, found.id) else found
    )  # it may be another meanwhile


def other_arithmetic(pools: Pool) -> str:
    """How a pool's ratings are not this version's, and what to do about it; empty where they are."""
    if pools.arithmetic == ARITHMETIC:
        return ""
    revisions = (
        f"it was rated with revision {pools.arithmetic} of the arithmetic, this version of Podium has {ARITHMETIC}"
    )
    if pools.waits:
        return f"waits to be rated again: {revisions}; run podium db upgrade (podium serve does the same as it starts)"
    return f"is a newer version's: {revisions}; update Podium"


def refuse_other_arithmetic(pools: Pool) -> None:
    """Refuse to add this version's numbers to ratings of another arithmetic.

    Raises:
        StoreError: another revision rated the pool.
    """
    reason = other_arithmetic(pools)
    if reason:
        raise StoreError(f"pool {pools.name!r} {reason}")
