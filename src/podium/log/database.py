"""Connections and transactions, and the schema brought up to date when one is opened."""

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
BUSY_TIMEOUT_MS = 30_000  # writers take turns; so long each waits for its own
PRAGMAS = (
    "page_size=8192",  # of a new database: a batch changes pages all over the index by player, and logs each whole
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    "secure_delete=ON",  # what is deleted is overwritten: a pseudonymised name stands in no free page
    f"busy_timeout={BUSY_TIMEOUT_MS}",
    "cache_size=-16384",  # KiB a connection, of which a service has 15, for what is in the -wal: the rest is mapped
    "soft_heap_limit=50331648",  # bytes of a process's connections together: beyond, each takes a page of its own again
    "mmap_size=1073741824",
    "wal_autocheckpoint=8192",  # pages: those that each of many batches moves are copied once for them all
)


# What passes by itself or once an admin has helped, by SQLite's names and by SQLSTATE; the first that fits counts.
OUTAGES = (
    (("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL", "40001", "40P01", "55P03"),
     "the database is busy with other work"),
    (("SQLITE_FULL", "53100"), "the disk of the database is full"),
    (("SQLITE_READONLY", "25006"), "the database cannot be written to: its file or folder is read-only"),
    (("SQLITE_IOERR", "SQLITE_CANTOPEN", "58030"), "the files of the database cannot be read or written"),
    (("53",), "the database is out of connections or memory"),
    (("57P", "08"), "the database does not answer"),
)  # fmt: skip


class StoreError(PodiumError):
    """What the store refuses to do, or cannot do."""


class UnavailableError(StoreError):
    """The database cannot serve at the moment: it is busy, full or away. The same may work later."""


def open_database(url: str, *, must_exist: bool = False) -> sa.Engine:
    """An engine for the database, its schema brought up to date."""
    if must_exist:
        require_database(url)
    with explain_failure(url):
        engine = engine_for(url)
        path = file_of(engine.url)
        try:
            if path is not None and not path.exists() and "uri" not in engine.url.query:
                heads_beside(path).unlink(missing_ok=True)  # of a database that is gone
                create_private(path)
            upgrade(engine)
        except BaseException:
            engine.dispose()
            raise
    return engine


def require_database(url: str, name: str = "") -> None:
    """Refuse what is no database that this version of Podium knows; nothing is created or changed."""
    with explain_failure(name or url):
        reason = refusal_of(url)
    if reason:
        raise StoreError(f"{name or safe_url(url)}: {reason}")


def is_database(url: str) -> bool:
    """Return True if a URL is a database that this version of Podium knows; nothing is created or changed."""
    with explain_failure(url):
        return not refusal_of(url)


def refusal_of(url: str) -> str:
    """Return why a URL is no database that this version of Podium knows; empty if it is one."""
    engine = plain_engine(url)  # Podium's own would make a WAL database of any
    try:
        return refusal(engine)
    finally:
        engine.dispose()


def database_file(url: str) -> Path | None:
    """Return the file of an SQLite database, which need not exist; None of another database."""
    with explain_failure(url):
        return file_of(sa.make_url(full_url(url)))


def refusal(engine: sa.Engine) -> str:
    """Why this is no database that this version of Podium knows, in words; empty where it is one."""
    path = file_of(engine.url)
    if engine.dialect.name == "sqlite" and (path is None or not path.exists()):
        return "there is no such database"
    if path is not None and path.is_file() and not path.stat().st_size:
        return "the file is empty, there is no database in it"
    revision = schema_revision(engine)
    no_tables = "it has no tables of Podium; podium db init makes them"
    return no_tables if revision is None else unknown_schema(engine, revision)


def as_it_is(value: Any) -> Any:
    return value


for kind in (bytes, type(None)):  # without an adapter the driver looks for methods that would adapt it, and finds none
    sqlite3.register_adapter(kind, as_it_is)


def plain_engine(url: str) -> sa.Engine:
    address = sa.make_url(full_url(url))
    is_server, path = address.get_backend_name() != "sqlite", file_of(address)
    options: dict[str, Any] = {"pool_pre_ping": is_server}  # a server may have been restarted meanwhile
    if path is not None:
        options["pool_use_lifo"] = True  # a writer finds the last one's pages
        if is_sealed(path):
            options["creator"] = functools.partial(connect_sealed, path)
    return sa.create_engine(address, **options)


def engine_for(url: str) -> sa.Engine:
    """An engine for the database, its schema left as it is."""
    engine = plain_engine(url)
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def close_engine(engine: sa.Engine, patience_s: float = 0.0) -> None:
    """Close its connections: the idle ones now, and each that another thread still uses once that returns it.

    Args:
        patience_s: wait so long for the threads that use one: a process that ends before them leaves a -shm or -wal.
    """
    end, closing = time.monotonic() + patience_s, threading.Lock()

    def close_returned(_connection: Any, record: Any) -> None:
        with closing:  # of two that close at once, SQLite lets neither remove the -wal
            record.close()

    pools = [engine.pool]
    sa.event.listen(engine.pool, "checkin", close_returned)  # which `dispose` alone would leave open
    with closing:
        engine.dispose()
    pools.append(engine.pool)  # the new one has the listener, too: a thread may still begin something
    while time.monotonic() < end and any(isinstance(each, sa.QueuePool) and each.checkedout() for each in pools):
        time.sleep(0.01)


@contextmanager
def explain_failure(url: str) -> Iterator[None]:
    """Raise any failure to open a database as a `StoreError` of one line, without the password."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as error:
        reason = next(iter(str(getattr(error, "orig", None) or error).splitlines()), type(error).__name__)
        raise StoreError(f"{safe_url(url)}: cannot be opened ({reason})") from None


def full_url(url: str) -> str:
    """The URL that SQLAlchemy reads; a bare path is an SQLite file."""
    return url if "://" in url else f"sqlite:///{url}"


def safe_url(url: str) -> str:
    """The full URL without its password."""
    try:
        return sa.make_url(full_url(url)).render_as_string(hide_password=True)
    except sa.exc.ArgumentError:
        return "the database"


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # Podium begins its transactions itself
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    reads_only = connection.get_execution_options().get("podium_reads", False)
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")


def read_only_engine(engine: sa.Engine) -> sa.Engine:
    """The engine for transactions that only read: each sees one moment, and waits for no writer."""
    level = {"isolation_level": "REPEATABLE READ"} if engine.dialect.name == "postgresql" else {}
    return engine.execution_options(podium_reads=True, **level)


@contextmanager
def read_transaction(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction that sees one moment and waits for no writer."""
    with explain_outage(), read_only_engine(engine).connect() as connection:
        yield connection


def reading_once(connection: sa.Connection) -> AbstractContextManager[None]:
    """For work that reads all of a pool, and none of it again."""
    return pragmas(connection.connection, **UNMAPPED) if connection.dialect.name == "sqlite" else nullcontext()


@contextmanager
def write_transaction(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction that is committed whole, or not at all."""
    with explain_outage(), engine.connect() as connection, connection.begin():
        yield connection


@contextmanager
def explain_outage() -> Iterator[None]:
    """Raise a failure of the database that passes as an `UnavailableError`, any other as it is."""
    try:
        yield
    except sa.exc.TimeoutError as error:  # of waiting for a connection of this process
        raise UnavailableError("too much waits for the database; send it again") from error
    except sa.exc.DBAPIError as error:
        reason = outage(error)
        if not reason:
            raise
        raise UnavailableError(f"{reason}; send it again: what was stored by then is not counted twice") from error


def outage(error: sa.exc.DBAPIError) -> str:
    """Why a failure passes, in words; empty where it does not."""
    code = sqlite_code(error.orig) or getattr(error.orig, "sqlstate", None)
    if code is None:  # the connection itself broke, or was never there
        is_lost = error.connection_invalidated or isinstance(error, sa.exc.OperationalError)
        return "the database does not answer" if is_lost else ""
    return next((reason for codes, reason in OUTAGES if str(code).startswith(codes)), "")


def schema_revision(engine: sa.Engine) -> str | None:
    """The revision of the schema, None where there are no tables of Podium; locks nothing."""
    with read_only_engine(engine).connect() as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            return None
        return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()


@functools.cache
def known_revisions() -> tuple[str, ...]:
    """The revisions that this version has the migrations of, in their order: Alembic would import each to say so."""
    return tuple(sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")))


def unknown_schema(engine: sa.Engine, revision: str | None) -> str:
    """A sentence on a schema that this version of Podium cannot go on with; empty on any other, and on none."""
    known = known_revisions()
    if revision is None or revision in known:
        return ""
    if revision < known[0]:
        return (
            f"the database is an earlier version's: its schema is {revision}, and this version of Podium knows those "
            f"from {known[0]} on; {CARRY_OVER}"
        )
    earliest = earliest_revision(engine)
    if earliest is not None and earliest <= known[-1]:
        return ""
    return (
        f"the database is a newer version's: its schema is {revision}, and this version of Podium knows those up to "
        f"{known[-1]}; update Podium"
    )


def earliest_revision(engine: sa.Engine) -> str | None:
    """The earliest revision whose versions of Podium may go on with the schema, as its newest migration says."""
    with read_only_engine(engine).connect() as connection:
        if not sa.inspect(connection).has_table(compatibility.name):
            return None
        return connection.execute(sa.select(compatibility.c.earliest)).scalar()


def is_current(engine: sa.Engine) -> bool:
    """Whether the schema is this version's, or a newer one's that it can go on with; locks nothing."""
    revision = schema_revision(engine)
    return revision is not None and revision not in known_revisions()[:-1] and not unknown_schema(engine, revision)


def upgrade(engine: sa.Engine) -> None:
    """Bring the schema up to date; lock nothing if it is."""
    if is_current(engine):
        return
    reason = unknown_schema(engine, schema_revision(engine))
    if reason:
        raise StoreError(f"{engine.url.render_as_string()}: {reason}")
    from alembic import command  # noqa: PLC0415  (large, and no use to whoever opens a database of this version)
    from alembic.config import Config  # noqa: PLC0415  (so too)

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        lock_schema(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        if engine.dialect.name == "sqlite":  # this connection serves on, and knows no statistics that it wrote itself
            connection.exec_driver_sql("ANALYZE sqlite_master")


def lock_schema(connection: sa.Connection) -> None:
    """Wait until this transaction may change the tables of a database; in SQLite every writer may."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(7061)"))


def former_tables(connection: sa.Connection) -> list[str]:
    """Return the tables of a database that only earlier versions read."""
    present = sa.inspect(connection).get_table_names()
    return [name for name in FORMER_TABLES if name in present]


def delete_former_rows(connection: sa.Connection, pool_ids: Sequence[int]) -> None:
    """Delete the rows of pools in the tables that only earlier versions read."""
    for name in former_tables(connection):
        has_pool = any(column["name"] == "pool_id" for column in sa.inspect(connection).get_columns(name))
        pool = "pool_id" if has_pool else f"(SELECT id FROM pool WHERE pool.generation_id = {name}.generation_id)"  # noqa: S608
        delete = sa.text(f"DELETE FROM {name} WHERE {pool} IN :pools")  # noqa: S608  (names of tables)
        connection.execute(delete.bindparams(sa.bindparam("pools", expanding=True)), {"pools": [*pool_ids]})


def is_busy(error: BaseException | None) -> bool:
    """Whether SQLite gave up waiting for another writer's turn to end."""
    return isinstance(error, sa.exc.DBAPIError) and sqlite_code(error.orig).startswith("SQLITE_BUSY")


def acquire_pool_lock(connection: sa.Connection, pool_id: int) -> bool:
    """Wait until this transaction may write to a pool."""
    has_waited = connection.dialect.name == "postgresql"
    if has_waited:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(7062, :pool)"), {"pool": pool_id})
    return has_waited


UPKEEP = 7063  # beside those of migrations (7061) and of writers to a pool (7062)
TRY_LOCK = "SELECT pg_try_advisory_lock(%s)"
ALIVE = "SELECT 1"


class Turn:
    """The turn to look after a database, which one process has until it ends: then another gets it.

    In PostgreSQL it is an advisory lock of a session, which the database releases as soon as the process is no more.
    In SQLite, which one process serves, it is always one's own turn.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._session: Any = None  # the driver's, which has the lock
        self._lock = threading.Lock()
        self._is_over = False

    def take(self) -> bool:
        """Take the turn where nobody has it; whether it is this process's."""
        if self._engine.dialect.name != "postgresql":
            return True
        with self._lock, explain_outage():
            if self._is_over:  # a thread of a service that has stopped
                return False
            if self._session is None:
                self._try()
            elif not self._is_alive():
                self._end_session()  # by now another process may have the turn
            return self._session is not None

    def _try(self) -> None:
        """Get the lock, if nobody has it, in a session of its own."""
        pooled = self._engine.raw_connection()
        try:
            cursor = pooled.cursor()
            cursor.execute(TRY_LOCK, (UPKEEP,))
            (has_it,) = cursor.fetchone() or (False,)
            if has_it:
                session: Any = pooled.driver_connection
                session.commit()  # the lock is the session's, not the transaction's
                session.autocommit = True
                pooled.detach()  # it stays open, and is not the pool's any more
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
        """Leave the turn to another process, for good."""
        with self._lock:
            self._is_over = True
            self._end_session()
