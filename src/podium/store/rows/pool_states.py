"""States of pools: what a system has learnt of one, a row an event that is rated; no rows where pools have none."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from podium.engine.system import System
from podium.store.log.pools import BOUND_KEY, FOREVER, OrderKey, Pool, key_of, key_params
from podium.store.rows.ledger import GENERATION
from podium.store.sql.schema import pool_state
from podium.store.sql.upsert import upsert

PoolStates = dict[OrderKey, bytes]  # after each rated event, in the order of rating: little-endian doubles
SELECT_STATES = sa.select(pool_state.c.started_at, pool_state.c.seq, pool_state.c.state).where(
    pool_state.c.generation_id == GENERATION,
    key_of(pool_state) >= BOUND_KEY,
    key_of(pool_state) < sa.tuple_(sa.bindparam("end_started_at"), sa.bindparam("end_seq")),
)
SELECT_NEWEST = (
    sa.select(pool_state.c.started_at, pool_state.c.seq, pool_state.c.state)
    .where(pool_state.c.generation_id == GENERATION, key_of(pool_state) < BOUND_KEY)
    .order_by(pool_state.c.started_at.desc(), pool_state.c.seq.desc())
    .limit(1)
)
DELETE_STATE = sa.delete(pool_state).where(
    pool_state.c.generation_id == GENERATION,
    pool_state.c.started_at == sa.bindparam("started_at"),
    pool_state.c.seq == sa.bindparam("seq"),
)
DELETE_STATES = sa.delete(pool_state).where(pool_state.c.generation_id == GENERATION)


class PoolState(NamedTuple):
    """The state of a pool, and the event after which it is so."""

    key: OrderKey
    state: bytes


def stored_pool_states(connection: sa.Connection, pool: Pool, first: OrderKey, end: OrderKey = FOREVER) -> PoolStates:
    """The states as they are stored, of the events from a key on, up to another."""
    params = key_params(pool, first) | {"end_started_at": end.started_at, "end_seq": end.seq}
    return {OrderKey(*key): state for *key, state in connection.execute(SELECT_STATES, params)}


def newest_pool_state(connection: sa.Connection, pool: Pool, before: OrderKey = FOREVER) -> PoolState | None:
    """The state of a pool before a key; None of a new pool, and without a look where the system's pools have none."""
    if not pool.system.pool_fields:
        return None
    row = connection.execute(SELECT_NEWEST, key_params(pool, before)).first()
    return None if row is None else PoolState(OrderKey(row.started_at, row.seq), row.state)


def system_today(connection: sa.Connection, pool: Pool) -> System:
    """A pool's system as it expects now, with what it has learnt of the pool."""
    newest = newest_pool_state(connection, pool)
    return pool.system if newest is None else pool.system.within(np.frombuffer(newest.state, "<f8"))


def write_pool_states(connection: sa.Connection, pool: Pool, old: Mapping[OrderKey, bytes], new: PoolStates) -> None:
    """Write the difference of what is stored and what is to be."""
    gone = [{"generation": pool.generation} | key._asdict() for key in old if key not in new]
    if gone:
        connection.execute(DELETE_STATE, gone)
    other = {key: state for key, state in new.items() if old.get(key) != state}
    upsert(connection, pool_state, state_rows(pool, other))


def state_rows(pool: Pool, states: PoolStates) -> list[tuple[Any, ...]]:
    """The states as rows of the table."""
    return [(pool.generation, *key, state) for key, state in states.items()]


def delete_pool_states(connection: sa.Connection, pool: Pool) -> None:
    """Delete every state, as where another system comes whose pools have none."""
    connection.execute(DELETE_STATES, {"generation": pool.generation})
