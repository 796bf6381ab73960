"""The files of an SQLite database: which they are, whether they are whole, and what is moved from one to the other."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

SIDE_FILES = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database; they belong to it
TRUNCATE_WAIT_MS = 2_000  # for readers who are in the midst of something


def file_of(url: sa.URL) -> Path | None:
    """The file of an SQLite database; None of one in memory or on a server."""
    is_file = url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:"
    return Path(str(url.database)) if is_file else None


def files_of(path: Path) -> list[Path]:
    """The files that there are of a database, whether or not the database itself is among them."""
    return [each for each in (path, *(path.with_name(path.name + end) for end in SIDE_FILES)) if each.exists()]


def sqlite_code(error: BaseException | None) -> str:
    """The name that SQLite gives an error, as `SQLITE_BUSY`; empty where it is another's."""
    if not isinstance(error, sqlite3.Error):
        return ""
    return str(getattr(error, "sqlite_errorname", None) or "SQLITE_ERROR")


@contextmanager
def unmapped(connection: Any) -> Iterator[None]:
    """Read SQLite's file piece by piece and not as memory: for work that passes through all of it once.

    Args:
        connection: the driver's.
    """
    cursor = connection.cursor()
    (mapped_bytes,) = cursor.execute("PRAGMA mmap_size").fetchone()
    cursor.execute("PRAGMA mmap_size=0")
    try:
        yield
    finally:
        cursor.execute(f"PRAGMA mmap_size={mapped_bytes:d}")


def integrity_faults(engine: sa.Engine) -> list[str]:
    """What SQLite itself finds wrong with its file, a line each; a server looks after its own."""
    if engine.dialect.name != "sqlite":
        return []
    try:
        with closing(engine.raw_connection()) as connection, unmapped(connection):
            rows = connection.cursor().execute("PRAGMA integrity_check(20)").fetchall()
    except sqlite3.DatabaseError as error:
        if sqlite_code(error) not in ("SQLITE_CORRUPT", "SQLITE_NOTADB"):
            raise
        return [str(error)]
    return [line for (text,) in rows for line in str(text).splitlines() if text != "ok"]


def truncate_wal(engine: sa.Engine, wait_ms: int = TRUNCATE_WAIT_MS) -> bool:
    """Move all that is committed into the database's file, and empty the `-wal` beside it.

    Until then the `-wal` has earlier forms of what was changed since. A reader in the midst of something keeps it from
    being emptied; then all that can be is moved, and nothing is lost.

    Args:
        engine: of any database; nothing is done to one without such files.
        wait_ms: how long to wait for such readers.

    Returns:
        Whether nothing is left outside of the database's file.
    """
    path = file_of(engine.url)
    if path is None or not path.is_file():  # a connection would make an empty one
        return True
    try:
        with closing(engine.raw_connection()) as connection:
            cursor = connection.cursor()
            (patience_ms,) = cursor.execute("PRAGMA busy_timeout").fetchone()
            cursor.execute(f"PRAGMA busy_timeout={wait_ms:d}")
            try:
                (is_blocked, *_frames) = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                cursor.execute(f"PRAGMA busy_timeout={patience_ms:d}")
    except (sqlite3.Error, sa.exc.SQLAlchemyError):  # as of a full disk: what is committed is safe where it is
        return False
    return not is_blocked
