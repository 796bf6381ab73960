"""Generations of what derives from a pool's log: one is read, another is staged in short transactions.

The rows of any other are read by nobody, and are cleared in short transactions, too.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from podium.log.database import read_transaction, write_transaction
from podium.log.pools import BOUND_KEY, END_KEY, START, OrderKey, Pool, PoolView, key_of, lock_pool
from podium.log.schema import change, generation, pool_state, pools, staged_status, standing
from podium.log.statements import insert, now, of_generation
from podium.store.writing.rating.ledger_rows import Ledger, PoolStates, state_rows, table_rows
from podium.store.writing.rating.standing_rows import newest_standings, standing_rows

PART_ROWS = 5_000  # that are written or deleted in one transaction
REST = 0.5  # of the time that a transaction took: other writers have their turns meanwhile
MIN_REST_S = 0.01
ABANDONED_US = 300_000_000  # a staging without a new part for so long was killed
TABLES = (change, pool_state, standing, staged_status)
NUMBER: sa.BindParameter[int] = sa.bindparam("number", type_=sa.BigInteger())
UPDATE_ACTIVE = (
    sa.update(generation)
    .where(generation.c.id == NUMBER, generation.c.active_at.is_not(None))
    .values(active_at=sa.bindparam("moment"))
)
UPDATE_INACTIVE = sa.update(generation).where(generation.c.id == NUMBER).values(active_at=None)
SELECT_FIRST_AFFECTED = sa.select(generation.c.touched_at, generation.c.touched_seq).where(generation.c.id == NUMBER)
UPDATE_STATUSES = sa.text(
    "UPDATE event SET status = staged.status, reason = staged.reason FROM staged_status AS staged "
    "WHERE staged.generation_id = :generation AND (staged.started_at, staged.seq) < (:started_at, :seq) "
    "AND event.pool_id = :pool AND event.started_at = staged.started_at AND event.seq = staged.seq"
)
SELECT_UNREAD = (
    sa.select(generation.c.id)
    .join(pools, pools.c.id == generation.c.pool_id)
    .where(
        generation.c.id != pools.c.generation_id,
        sa.or_(generation.c.active_at.is_(None), generation.c.active_at < sa.bindparam("abandoned")),
    )
    .order_by(generation.c.id)
)


class OvertakenError(Exception):
    """Another staging of the pool took the place of this one; never seen by callers of the store."""


def begin(engine: sa.Engine, pool_name: str) -> Pool:
    """Begin to stage a pool's next generation, instead of any that is being staged; the pool as it is.

    From now on all that rates the pool again leaves with the generation where it did so.
    """
    with write_transaction(engine) as connection:
        pool = lock_pool(connection, pool_name)
        connection.execute(UPDATE_INACTIVE, {"number": pool.staging or 0})
        row = {"pool_id": pool.id, "active_at": now()}
        (number,) = connection.execute(sa.insert(generation).returning(generation.c.id), row).scalars()
        connection.execute(sa.update(pools).where(pools.c.id == pool.id).values(staging_id=number))
        return replace(pool, staging=number)


def first_affected(connection: sa.Connection, number: int) -> OrderKey | None:
    """From where on the pool was rated again since the staging of a generation began; None where it was not."""
    row = connection.execute(SELECT_FIRST_AFFECTED, {"number": number}).one()
    return None if row.touched_at is None else OrderKey(row.touched_at, row.touched_seq)


def take_first_affected(engine: sa.Engine, staged: Pool) -> OrderKey | None:
    """From where on the pool was rated again; from now on it is looked for anew."""
    with write_transaction(engine) as connection:
        lock_pool(connection, staged.name)
        key = first_affected(connection, staged.generation)
        blank = {"touched_at": None, "touched_seq": None}
        connection.execute(sa.update(generation).where(generation.c.id == staged.generation).values(blank))
        return key


@contextmanager
def staging_transaction(engine: sa.Engine, staged: Pool) -> Iterator[sa.Connection]:
    """A short transaction that writes a part of a staged generation; an OvertakenError where it is staged no more."""
    with short_transaction(engine) as connection:
        active = connection.execute(UPDATE_ACTIVE, {"number": staged.generation, "moment": now()})
        if active.rowcount != 1:
            raise OvertakenError
        yield connection


def keep_active(engine: sa.Engine, staged: Pool) -> None:
    """Let others know that a generation is being staged still."""
    with staging_transaction(engine, staged):
        pass


@contextmanager
def short_transaction(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A short transaction, with a rest after it."""
    with write_transaction(engine) as connection:
        begun = time.perf_counter()
        yield connection
    time.sleep(max(MIN_REST_S, REST * (time.perf_counter() - begun)))


def copy_before(engine: sa.Engine, pool: Pool, staged: Pool, first: OrderKey) -> None:
    """Copy a pool's ledger up to a key, and the pool's states, into a staged generation."""
    for table in (change, pool_state) if staged.system.pool_fields else (change,):
        copy_rows(engine, table, pool, staged, first)


def copy_rows(engine: sa.Engine, table: sa.Table, pool: Pool, staged: Pool, first: OrderKey) -> None:
    """Copy a pool's rows of a table up to a key into a staged generation, part by part."""
    at = START
    names = [column.name for column in table.columns if column.name != "generation_id"]
    copied = sa.select(NUMBER, *(table.c[name] for name in names)).where(rows_between(table))
    copy = sa.insert(table).from_select(["generation_id", *names], copied)
    order = [column for column in table.primary_key if column.name != "generation_id"]
    keys = sa.select(table.c.started_at, table.c.seq).where(rows_between(table)).order_by(*order)
    part_end = keys.offset(sa.bindparam("rows")).limit(1)
    while at < first:
        params = {"generation": pool.generation} | at._asdict() | first.as_end()
        with read_transaction(engine) as connection:
            row = connection.execute(part_end, params | {"rows": PART_ROWS}).first()
        end = first if row is None else OrderKey(row.started_at, row.seq)
        if end == at:  # one event has more rows than a part
            end = OrderKey(at.started_at, at.seq + 1)
        params |= {"number": staged.generation} | end.as_end()
        with staging_transaction(engine, staged) as connection:
            connection.execute(copy, params)
        at = end


def rows_between(table: sa.Table) -> sa.ColumnElement[bool]:
    """The condition of a generation's rows from a key on, up to another."""
    return sa.and_(of_generation(table), key_of(table) >= BOUND_KEY, key_of(table) < END_KEY)


def write_part(
    engine: sa.Engine,
    staged: Pool,
    ledger: Ledger,
    pools: PoolStates,
    statuses: Sequence[tuple[OrderKey, tuple[str, str]]],
) -> None:
    """Write a span of a staged generation's ledger, the pool's states, and the statuses that are to be other."""
    write_rows(engine, staged, change, [*table_rows(staged, ledger)])
    write_rows(engine, staged, pool_state, state_rows(staged, pools))
    write_rows(engine, staged, staged_status, [(staged.generation, *key, *status) for key, status in statuses])


def write_standings(engine: sa.Engine, staged: Pool) -> None:
    """Write the standings of a staged generation, by its ledger."""
    delete(engine, standing, staged.generation)
    with read_transaction(engine) as connection:
        standings = newest_standings(staged.within(connection), None)
    write_rows(engine, staged, standing, standing_rows(staged, standings))


def write_rows(engine: sa.Engine, staged: Pool, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write rows of a staged generation, part by part."""
    for start in range(0, len(rows), PART_ROWS):
        with staging_transaction(engine, staged) as connection:
            insert(connection, table, rows[start : start + PART_ROWS])


def delete_from(engine: sa.Engine, staged: Pool, first: OrderKey) -> None:
    for table in (change, pool_state, staged_status):
        delete(engine, table, staged.generation, key_of(table) >= sa.tuple_(first.started_at, first.seq))


def delete(engine: sa.Engine, table: sa.Table, number: int, *conditions: sa.ColumnElement[bool]) -> None:
    """Delete a generation's rows of a table, part by part."""
    columns = [column for column in table.primary_key if column.name != "generation_id"]
    chosen = (table.c.generation_id == number, *conditions)
    bound = sa.select(*columns).where(*chosen).order_by(*columns).offset(PART_ROWS).limit(1)
    while True:
        with read_transaction(engine) as connection:
            row = connection.execute(bound).first()
        before = [] if row is None else [sa.tuple_(*columns) < sa.tuple_(*row)]
        with short_transaction(engine) as connection:
            connection.execute(sa.delete(table).where(*chosen, *before))
        if row is None:
            return


def apply_statuses(staged: PoolView, end: OrderKey) -> None:
    """Let staged statuses up to a key be those of the events."""
    params = {"pool": staged.id, "generation": staged.generation, "started_at": end.started_at, "seq": end.seq}
    staged.connection.execute(UPDATE_STATUSES, params)


def adopt(staged: PoolView) -> None:
    staged.connection.execute(
        sa.update(pools).where(pools.c.id == staged.id).values(generation_id=staged.generation, staging_id=None)
    )
    staged.connection.execute(UPDATE_INACTIVE, {"number": staged.generation})


def discard(connection: sa.Connection, staged: Pool) -> None:
    connection.execute(sa.update(pools).where(pools.c.id == staged.id).values(staging_id=None))
    connection.execute(sa.delete(generation).where(generation.c.id == staged.generation))


def abandon(engine: sa.Engine, number: int) -> None:
    """Give up a generation that is being staged: its rows wait to be cleared."""
    with write_transaction(engine) as connection:
        connection.execute(UPDATE_INACTIVE, {"number": number})
        connection.execute(sa.update(pools).where(pools.c.staging_id == number).values(staging_id=None))


def clear_unread(engine: sa.Engine) -> int:
    """Delete, part by part, the rows of every generation that is neither read nor staged; how many there were."""
    with read_transaction(engine) as connection:
        unread = connection.execute(SELECT_UNREAD, {"abandoned": now() - ABANDONED_US}).scalars().all()
    for number in unread:
        abandon(engine, number)
        for table in TABLES:
            delete(engine, table, number)
        with short_transaction(engine) as connection:
            connection.execute(sa.delete(generation).where(generation.c.id == number))
    return len(unread)
