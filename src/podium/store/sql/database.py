"""Connections, and the schema brought up to date when one is opened."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from podium.errors import PodiumError

MIGRATIONS = Path(__file__).parents[1] / "migrations"
BUSY_TIMEOUT_MS = 30_000  # writers take turns; so long each waits for its own
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    f"busy_timeout={BUSY_TIMEOUT_MS}",
    "cache_size=-65536",  # KiB a connection: a correction looks up every player it touches
    "mmap_size=1073741824",
)


class StoreError(PodiumError):
    """What the store refuses to do, or cannot do."""


def opened(url: str) -> sa.Engine:
    """An engine for the database, its schema brought up to date.

    Args:
        url: a URL of SQLAlchemy, as `sqlite:///podium.db` or `postgresql+psycopg://…`; a bare path is an SQLite file.

    Raises:
        StoreError: the database cannot be opened.
    """
    with explain_failure(url):
        engine = engine_for(url)
        upgrade(engine)
    return engine


def engine_for(url: str) -> sa.Engine:
    """An engine for the database, its schema left as it is."""
    engine = sa.create_engine(full_url(url))
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


@contextmanager
def explain_failure(url: str) -> Iterator[None]:
    """Raise any failure to open a database as a `StoreError` of one line, without the password."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as error:
        lines = str(getattr(error, "orig", None) or error).splitlines()
        reason = lines[0] if lines else type(error).__name__
        raise StoreError(f"{safe_url(full_url(url))}: cannot be opened ({reason})") from None


def full_url(url: str) -> str:
    """The URL that SQLAlchemy reads; a bare path is an SQLite file."""
    return url if "://" in url else f"sqlite:///{url}"


def safe_url(url: str) -> str:
    """The URL without its password."""
    try:
        return sa.make_url(url).render_as_string(hide_password=True)
    except sa.exc.ArgumentError:
        return "the database"


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # Podium begins its transactions itself
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    reads_only = connection.get_execution_options().get("podium_reads", False)
    connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")


def only_reading(engine: sa.Engine) -> sa.Engine:
    """The engine for transactions that only read: each sees one moment, and waits for no writer."""
    level = {"isolation_level": "REPEATABLE READ"} if engine.dialect.name == "postgresql" else {}
    return engine.execution_options(podium_reads=True, **level)


def is_current(engine: sa.Engine) -> bool:
    """Whether the schema is this version's; locks nothing."""
    with only_reading(engine).connect() as connection:
        newest_revision = ScriptDirectory.from_config(migration_config()).get_current_head()
        return MigrationContext.configure(connection).get_current_revision() == newest_revision


def migration_config() -> Config:
    """The configuration that tells Alembic where the migrations are."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def upgrade(engine: sa.Engine, revision: str = "head") -> None:
    """Bring the schema up to a revision; lock nothing if it is there already."""
    if revision == "head" and is_current(engine):
        return
    config = migration_config()
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(7061)"))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def is_busy(error: sa.exc.OperationalError) -> bool:
    """Whether SQLite gave up waiting for another writer's turn to end."""
    return str(getattr(error.orig, "sqlite_errorname", "")).startswith("SQLITE_BUSY")


def acquire_pool_lock(connection: sa.Connection, pool_id: int) -> bool:
    """Wait until this transaction may write to a pool.

    Returns:
        Whether others may have written meanwhile; never in SQLite, where the transaction began with the lock.
    """
    has_waited = connection.dialect.name == "postgresql"
    if has_waited:
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(7062, :pool)"), {"pool": pool_id})
    return has_waited
