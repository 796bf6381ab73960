"""Connections and transactions. Opening a database upgrades its schema."""

import functools
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from podium.errors import PodiumError
from podium.log.files import UNMAPPED, connect_sealed, file_of, heads_beside, is_sealed, pragmas, sqlite_code
from podium.log.schema import FORMER_TABLES, compatibility
from podium.support.part_files import create_private

MIGRATIONS = Path(__file__).with_name("migrations")
CARRY_OVER = "run podium pool export with the version that wrote it, and podium pool import with this one"
BUSY_TIMEOUT_MS = 30_000  # writers take turns; a writer waits this long
PRAGMAS = (
    "page_size=8192",  # for new databases: batches change pages throughout the index by player
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "secure_delete=ON",  # deleted data are overwritten, so that anonymized names do not stay in free pages
    f"busy_timeout={BUSY_TIMEOUT_MS}",
    "cache_size=-16384",  # KiB for data in the -wal, for each of a service's 15 connections; the rest is mapped
    "soft_heap_limit=50331648",  # bytes of all connections of a process; above it, each reuses its pages
    "mmap_size=1073741824",
    "wal_autocheckpoint=8192",  # in pages: a page that many batches change is copied only once
)


# Temporary failures, by SQLite's names and by SQLSTATE. The first match applies.
OUTAGES = (
    (("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL", "40001", "40P01", "55P03"),
     "the database is busy with other work"),
    (("SQLITE_FULL", "53100"), "the disk of the database is full"),
    (("SQLITE_READONLY", "25006"), "the database cannot be written to: its file or folder is read-only"),
    (("SQLITE_IOERR", "SQLITE_CANTOPEN", "58030"), "the files of the database cannot be read or written"),
    (("53",), "the database is out of connections or memory"),
    (("57P", "08"), "the database does not respond"),
)  # fmt: skip


class StoreError(PodiumError):
    """The store cannot perform an operation, or does not allow it."""


class UnavailableError(StoreError):
    """The database is unavailable: busy, full or disconnected. The same request may succeed later."""


def open_database(url: str, *, must_exist: bool = False) -> sa.Engine:
    """Open a database, upgrading its schema, and return its engine."""
    if must_exist:
        require_database(url)
    with explain_failure(url):
        engine = engine_for(url)
        path = file_of(engine.url)
        try:
            if path is not None and not path.exists() and "uri" not in engine.url.query:
                heads_beside(path).unlink(missing_ok=True)  # left over from a deleted database
                create_private(path)
            upgrade(engine)
        except BaseException:
            engine.dispose()
            raise
    return engine


def require_database(url: str, name: str = "") -> None:
    """Raise an error if a URL does not lead to a database of this version of Podium. Nothing is created or changed."""
    with explain_failure(name or url):
        reason = refusal_of(url)
    if reason:
        raise StoreError(f"{name or safe_url(url)}: {reason}")


def is_database(url: str) -> bool:
    """Return True if a URL leads to a database of this version of Podium. Nothing is created or changed."""
    with explain_failure(url):
        return not refusal_of(url)


def refusal_of(url: str) -> str:
    """Return the reason why a URL is not a database of this Podium version, or an empty string if it is one."""
    engine = plain_engine(url)  # Podium's own engine would convert any database to WAL
    try:
        return refusal(engine)
    finally:
        engine.dispose()


def database_file(url: str) -> Path | None:
    """Return the file of an SQLite database, whether or not it exists, or None for other databases."""
    with explain_failure(url):
        return file_of(sa.make_url(full_url(url)))


def refusal(engine: sa.Engine) -> str:
    """Return the reason why a database does not belong to this version of Podium, or an empty string if it does."""
    path = file_of(engine.url)
    if engine.dialect.name == "sqlite" and (path is None or not path.exists()):
        return "there is no such database. To create it, run podium serve or podium db init"
    if path is not None and path.is_file() and not path.stat().st_size:
        return "the file is empty and contains no database"
    revision = schema_revision(engine)
    no_tables = "it has no Podium tables; podium db init creates them"
    return no_tables if revision is None else unknown_schema(engine, revision)


def as_it_is(value: Any) -> Any:
    return value


for kind in (bytes, type(None)):  # an adapter avoids the driver's slow search for other ways to adapt a value
    sqlite3.register_adapter(kind, as_it_is)


def plain_engine(url: str) -> sa.Engine:
    address = sa.make_url(full_url(url))
    is_server, path = address.get_backend_name() != "sqlite", file_of(address)
    options: dict[str, Any] = {"pool_pre_ping": is_server}  # the server may have been restarted
    if path is not None:
        options["pool_use_lifo"] = True  # a writer finds the previous writer's pages in its cache
        if is_sealed(path):
            options["creator"] = functools.partial(connect_sealed, path)
    return sa.create_engine(address, **options)


def engine_for(url: str) -> sa.Engine:
    """Return a database's engine, without upgrading the schema."""
    engine = plain_engine(url)
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def close_engine(engine: sa.Engine, patience_s: float = 0.0) -> None:
    """Close the engine's connections: idle ones now, and the others when their threads return them.

    Args:
        patience_s: Number of seconds to wait for threads that are using a connection. If the process ends before they
            return their connections, a -shm or -wal file is left behind.
    """
    end, closing = time.monotonic() + patience_s, threading.Lock()

    def close_returned(_connection: Any, record: Any) -> None:
        with closing:  # if two connections close at once, SQLite lets neither remove the -wal
            record.close()

    pools = [engine.pool]
    sa.event.listen(engine.pool, "checkin", close_returned)  # `dispose` alone would leave these connections open
    with closing:
        engine.dispose()
    pools.append(engine.pool)  # the new pool also needs the listener, because a thread may still start a transaction
    while time.monotonic() < end and any(isinstance(pool, sa.QueuePool) and pool.checkedout() for pool in pools):
        time.sleep(0.01)


@contextmanager
def explain_failure(url: str) -> Iterator[None]:
    """Convert any failure to open a database to a `StoreError` with a one-line message that leaves out the password."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as error:
        reason = next(iter(str(getattr(error, "orig", None) or error).splitlines()), type(error).__name__)
        raise StoreError(f"{safe_url(url)}: cannot be opened ({reason})") from None


def full_url(url: str) -> str:
    """Return the URL in the form that SQLAlchemy expects. A plain path is an SQLite file."""
    return url if "://" in url else f"sqlite:///{url}"


def safe_url(url: str) -> str:
    """Return the full URL with its password removed."""
    try:
        return sa.make_url(full_url(url)).render_as_string(hide_password=True)
    except sa.exc.ArgumentError:
        return "the database"


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # Podium starts transactions itself
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    reads_only = connection.get_execution_options().get("podium_reads", False)
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")


@functools.lru_cache(16)  # making it takes as long as a statement
def read_only_engine(engine: sa.Engine) -> sa.Engine:
    """Return an engine for read-only transactions. Each of them sees a snapshot and never waits for writers."""
    level = {"isolation_level": "REPEATABLE READ"} if engine.dialect.name == "postgresql" else {}
    return engine.execution_options(podium_reads=True, **level)


@contextmanager
def read_transaction(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Start a read-only transaction, which sees a snapshot and never waits for writers."""
    with explain_outage(), read_only_engine(engine).connect() as connection:
        yield connection


def reading_once(connection: sa.Connection) -> AbstractContextManager[None]:
    """Return a context for reading all data of a pool once."""
    return pragmas(connection.connection, **UNMAPPED) if connection.dialect.name == "sqlite" else nullcontext()


@contextmanager
def write_transaction(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Start a transaction that is either committed completely or rolled back."""
    with explain_outage(), engine.connect() as connection, connection.begin():
        yield connection


def write(engine: sa.Engine, statement: sa.Executable, params: Any = None) -> Any:
    """Execute a statement in its own transaction, and return the number of affected rows."""
    with write_transaction(engine) as connection:
        return connection.execute(statement, params).rowcount


@contextmanager
def explain_outage() -> Iterator[None]:
    """Convert a temporary failure of the database to an `UnavailableError`, and re-raise any other error unchanged."""
    try:
        yield
    except sa.exc.TimeoutError as error:  # no connection of this process became free
        raise UnavailableError("Too many requests are waiting for the database. Send the request again.") from error
    except sa.exc.DBAPIError as error:
        reason = outage(error)
        if not reason:
            raise
        raise UnavailableError(f"{reason}. Send the request again: nothing is counted twice.") from error


def outage(error: sa.exc.DBAPIError) -> str:
    """Return the reason for a temporary failure, or an empty string if the failure is not temporary."""
    code = sqlite_code(error.orig) or getattr(error.orig, "sqlstate", None)
    if code is None:  # the connection itself broke or never existed
        is_lost = error.connection_invalidated or isinstance(error, sa.exc.OperationalError)
        return "the database does not respond" if is_lost else ""
    return next((reason for codes, reason in OUTAGES if str(code).startswith(codes)), "")


def schema_revision(engine: sa.Engine) -> str | None:
    """Return the revision of the schema, or None if the database has no Podium tables. This takes no locks."""
    with read_only_engine(engine).connect() as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            return None
        return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()


@functools.cache
def known_revisions() -> tuple[str, ...]:
    """Return this version's migrations in order, without importing each one as Alembic would."""
    return tuple(sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")))


def unknown_schema(engine: sa.Engine, revision: str | None) -> str:
    """Return a sentence about a schema that this version of Podium cannot use, or an empty string if it can."""
    known = known_revisions()
    if revision is None or revision in known:
        return ""
    if revision < known[0]:
        return (
            f"the database belongs to an earlier version: its schema is {revision}, but this version of Podium "
            f"supports schemas from {known[0]} on; {CARRY_OVER}"
        )
    earliest = earliest_revision(engine)
    if earliest is not None and earliest <= known[-1]:
        return ""
    return (
        f"the database belongs to a newer version: its schema is {revision}, but this version of Podium supports "
        f"schemas up to {known[-1]}; update Podium"
    )


def earliest_revision(engine: sa.Engine) -> str | None:
    """Return the earliest revision whose versions of Podium can still use the schema.

    The newest migration names it.
    """
    with read_only_engine(engine).connect() as connection:
        if not sa.inspect(connection).has_table(compatibility.name):
            return None
        return connection.execute(sa.select(compatibility.c.earliest)).scalar()


def is_current(engine: sa.Engine) -> bool:
    """Return True if the schema belongs to this version, or to a newer schema that this version can use.

    This takes no locks.
    """
    revision = schema_revision(engine)
    return revision is not None and revision not in known_revisions()[:-1] and not unknown_schema(engine, revision)


def upgrade(engine: sa.Engine) -> None:
    """Upgrade the schema. If it is current, take no locks."""
    if is_current(engine):
        return
    reason = unknown_schema(engine, schema_revision(engine))
    if reason:
        raise StoreError(f"{engine.url.render_as_string()}: {reason}")
    from alembic import command  # noqa: PLC0415  (large, and not needed to open a database of this version)
    from alembic.config import Config  # noqa: PLC0415  (for the same reason)

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        lock_schema(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        # this connection stays in use, but has not loaded the statistics that it has just written
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("ANALYZE sqlite_master")


WORDS = {  # in braces in the statements of migrations
    "sqlite": {
        "number": "INTEGER", "counted": "INTEGER", "small_counted": "INTEGER", "bytes": "BLOB", "double": "DOUBLE",
        "prefixed": "TEXT", "false": "0", "is_true": "IS 1", "unlogged": "", "by_key": " WITHOUT ROWID",
        "log_number": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT",
        "generation_number": "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT",
    },
    "postgresql": {
        "number": "BIGINT", "counted": "BIGSERIAL", "small_counted": "SERIAL", "bytes": "BYTEA",
        "double": "DOUBLE PRECISION", "prefixed": 'TEXT COLLATE "C"', "false": "false", "is_true": "IS true",
        "unlogged": "UNLOGGED ", "by_key": "",
        "log_number": "BIGSERIAL NOT NULL CONSTRAINT pk_log PRIMARY KEY",
        "generation_number": "BIGSERIAL NOT NULL CONSTRAINT pk_generation PRIMARY KEY",
    },
}  # fmt: skip


def run_script(connection: sa.Connection, script: str) -> None:
    """Run a migration's statements, which semicolons separate. Names in braces stand for the database's own words."""
    for statement in script.format(**WORDS[connection.dialect.name]).split(";"):
        connection.exec_driver_sql(statement)


def lock_schema(connection: sa.Connection) -> None:
    """Wait until this transaction may change tables. In SQLite, every writer may."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(7061)"))


def former_tables(connection: sa.Connection) -> list[str]:
    """Return those tables of a database that only earlier versions of Podium read."""
    present = sa.inspect(connection).get_table_names()
    return [name for name in FORMER_TABLES if name in present]


def delete_former_rows(connection: sa.Connection, pool_ids: Sequence[int]) -> None:
    """Delete the rows of these pools from the tables that only earlier versions of Podium read."""
    for name in former_tables(connection):
        has_pool = any(column["name"] == "pool_id" for column in sa.inspect(connection).get_columns(name))
        pool = "pool_id" if has_pool else f"(SELECT id FROM pool WHERE pool.generation_id = {name}.generation_id)"  # noqa: S608
        delete = sa.text(f"DELETE FROM {name} WHERE {pool} IN :pools")  # noqa: S608  (names of tables)
        connection.execute(delete.bindparams(sa.bindparam("pools", expanding=True)), {"pools": [*pool_ids]})


def is_busy(error: BaseException | None) -> bool:
    """Return True if an error means that SQLite gave up waiting for another writer."""
    return isinstance(error, sa.exc.DBAPIError) and sqlite_code(error.orig).startswith("SQLITE_BUSY")


def acquire_pool_lock(connection: sa.Connection, pool_id: int) -> bool:
    """Wait until this transaction may write to a pool."""
    has_waited = connection.dialect.name == "postgresql"
    if has_waited:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(7062, :pool)"), {"pool": pool_id})
    return has_waited


UPKEEP = 7063  # lock number; 7061 is for migrations and 7062 for writers to a pool
TRY_LOCK = "SELECT pg_try_advisory_lock(%s)"
ALIVE = "SELECT 1"


class UpkeepLock:
    """The right to maintain a database.

    Only one process at a time can have it, and keeps it until the process ends.

    In PostgreSQL, this is an advisory lock of a session, which the database releases when the process ends. SQLite
    serves only a single process, which always has the right.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._session: Any = None  # the driver's session with the lock
        self._lock = threading.Lock()
        self._is_over = False

    def acquire(self) -> bool:
        """Acquire the right if no other process has it. Return True if this process now has it."""
        if self._engine.dialect.name != "postgresql":
            return True
        with self._lock, explain_outage():
            if self._is_over:  # a thread of a stopped service
                return False
            if self._session is None:
                self._try()
            elif not self._is_alive():
                self._end_session()  # another process may have it by now
            return self._session is not None

    def _try(self) -> None:
        """Try to get the lock in a new session."""
        pooled = self._engine.raw_connection()
        try:
            cursor = pooled.cursor()
            cursor.execute(TRY_LOCK, (UPKEEP,))
            (has_it,) = cursor.fetchone() or (False,)
            if has_it:
                session: Any = pooled.driver_connection
                session.commit()  # the lock belongs to the session, not to the transaction
                session.autocommit = True
                pooled.detach()  # the session stays open, outside the connection pool
                self._session = session
        finally:
            if self._session is None:
                pooled.close()

    def _is_alive(self) -> bool:
        try:
            self._session.cursor().execute(ALIVE)
        except self._engine.dialect.loaded_dbapi.Error:
            return False
        return True

    def _end_session(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def release(self) -> None:
        """Release the right permanently."""
        with self._lock:
            self._is_over = True
            self._end_session()
