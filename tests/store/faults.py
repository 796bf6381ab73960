"""Faults of databases and machines, which strike at a chosen step of a store's work."""

import shutil
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

import sqlalchemy as sa

from podium.log import log, pools, statements
from podium.log.files import files_of
from podium.store import Store

TABLES = ("log", "witness", "pool", "player")


class Killed(BaseException):
    """The process that had a store open has ended."""


@contextmanager
def at_step(engine: sa.Engine, number: int, strike: Callable[[Any], None]) -> Iterator[None]:
    """Strike before a statement or a commit, or after a transaction, unless the step is never reached.

    Args:
        engine: its steps are counted.
        number: of the step, from 1.
        strike: gets the driver's connection.
    """
    steps = count(1)

    def step(*of_event: Any) -> None:
        if next(steps) == number:
            connection = of_event[0]
            strike(connection.connection.driver_connection if isinstance(connection, sa.Connection) else connection)

    listened = [(engine, "before_cursor_execute"), (engine, "commit"), (engine.pool, "checkin")]
    for target, name in listened:
        sa.event.listen(target, name, step)
    try:
        yield
    finally:
        for target, name in listened:
            sa.event.remove(target, name, step)


def file_of(store: Store) -> Path:
    """Return the SQLite file of a store."""
    return Path(str(store.engine.url.database))


def copy_files(path: Path, target: Path) -> None:
    """Copy a database and the files next to it as they are on the disk now."""
    for each in files_of(path):
        shutil.copy(each, target.with_name(target.name + each.name.removeprefix(path.name)))


def kill(store: Store) -> Callable[..., None]:
    """End a store at a step, like the end of its process. `revive` opens what remains.

    In SQLite only the files on the disk remain. In PostgreSQL the connections end.
    """

    def strike(connection: Any) -> None:
        if store.engine.dialect.name == "sqlite":
            path = file_of(store)
            copy_files(path, path.with_name(f"left-{path.name}"))
        else:
            end_connections(store)
            connection.close()
        raise Killed

    return strike


def revive(store: Store) -> Store:
    """Open the store that a killed process left."""
    if store.engine.dialect.name != "sqlite":
        store.engine.dispose()
        return Store(store.engine.url.render_as_string(hide_password=False))
    path = file_of(store)
    store.engine.dispose()
    left = path.with_name(f"left-{path.name}")
    target = path.with_name(f"{uuid.uuid4().hex}.db")
    for each in files_of(left):
        each.rename(target.with_name(target.name + each.name.removeprefix(left.name)))
    return Store(str(target))


def admin_engine(store: Store) -> sa.Engine:
    """Return an engine for a store's server with an admin's rights, which is patient and commits every statement."""
    patient = {"options": "-c lock_timeout=10s"}
    return sa.create_engine(store.engine.url, isolation_level="AUTOCOMMIT", connect_args=patient)


def end_connections(store: Store) -> None:
    """End every other connection to a PostgreSQL database."""
    other = admin_engine(store)
    with other.connect() as connection:
        connection.execute(
            sa.text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    other.dispose()


@contextmanager
def dropped_connection(store: Store, step: int) -> Iterator[None]:
    """Make the server end every connection at a step. In SQLite a write fails as on a broken disk instead."""
    strike = (lambda _: end_connections(store)) if store.engine.dialect.name == "postgresql" else None
    if strike is None:
        with full_disk(store, step):
            yield
    else:
        with at_step(store.engine, step, strike):
            yield


@contextmanager
def full_disk(store: Store, step: int) -> Iterator[None]:
    """Stop the growth of the database at a step. In PostgreSQL one table cannot grow from the start."""
    if store.engine.dialect.name == "sqlite":

        def strike(connection: Any) -> None:
            connection.execute("PRAGMA max_page_count=1")  # SQLite uses the current number of pages instead

        try:
            with at_step(store.engine, step, strike):
                yield
        finally:
            store.engine.dispose()  # later connections have no such limit
        return
    table = TABLES[step % len(TABLES)]
    other = admin_engine(store)
    with other.begin() as connection:
        connection.execute(
            sa.text(
                "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger AS "
                "$$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$ LANGUAGE plpgsql"
            )
        )
        connection.execute(
            sa.text(f'CREATE TRIGGER full_disk BEFORE INSERT ON "{table}" FOR EACH ROW EXECUTE FUNCTION refuse()')
        )
    try:
        yield
    finally:
        with other.begin() as connection:
            connection.execute(sa.text(f'DROP TRIGGER full_disk ON "{table}"'))
        other.dispose()


@contextmanager
def locked(store: Store, step: int) -> Iterator[None]:
    """Let another writer take the lock at a step if it is free."""
    with ExitStack() as stack:

        def strike_file(_connection: Any) -> None:
            other = stack.enter_context(closing(sqlite3.connect(file_of(store), timeout=0, isolation_level=None)))
            with suppress(sqlite3.OperationalError):
                other.execute("BEGIN IMMEDIATE")

        def strike_server(_connection: Any) -> None:
            engine = sa.create_engine(store.engine.url)
            stack.callback(engine.dispose)
            other = stack.enter_context(engine.connect())
            with suppress(sa.exc.OperationalError):
                other.execute(sa.text(f'LOCK TABLE "{TABLES[step % len(TABLES)]}" IN EXCLUSIVE MODE NOWAIT'))

        strike = strike_file if store.engine.dialect.name == "sqlite" else strike_server
        with at_step(store.engine, step, strike):
            yield


@contextmanager
def clock_set_back(_store: Store, step: int) -> Iterator[None]:
    """Set the clock back by hours to years."""
    behind = timedelta(hours=step**3)

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz or UTC) - behind

    with ExitStack() as stack:
        for module in (statements, log, pools):
            stack.enter_context(mock.patch.object(module, "datetime", Clock))
        yield


PASSING = (dropped_connection, full_disk, locked, clock_set_back)  # faults that a store survives
