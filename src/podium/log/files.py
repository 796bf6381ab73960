"""The files of an SQLite database: their names, integrity checks and checkpoints."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

SIDE_FILES = ("-wal", "-shm", "-journal")  # files that SQLite keeps next to a database, which belong to it
TRUNCATE_WAIT_MS = 2_000  # wait for active readers
LARGE_WAL_BYTES = 268_435_456  # size of a `-wal` that justifies waiting: with overlapping reads, it grows without limit
UNMAPPED = {"mmap_size": 0}  # for reading a whole file: piece by piece, not mapped


def file_of(url: sa.URL) -> Path | None:
    """Return the file of an SQLite database, or None if the database is in memory or on a server."""
    is_file = url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:"
    return Path(str(url.database)) if is_file else None


def files_of(path: Path) -> list[Path]:
    """Return the files of a database that exist, even if the database itself is missing."""
    return [file for file in (path, *(path.with_name(path.name + end) for end in SIDE_FILES)) if file.exists()]


def heads_beside(path: Path) -> Path:
    """Return the file, next to a database, in which `podium serve` saves the newest heads of the logs."""
    return path.with_name(f"{path.name}-heads")


def is_sealed(path: Path) -> bool:
    """Return True if SQLite can only read a database as immutable. No side file exists, and none can be created."""
    has_log = any(file.stat().st_size for file in files_of(path) if file != path)
    return path.is_file() and not has_log and not os.access(path.resolve().parent, os.W_OK)


def connect_sealed(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True, check_same_thread=False)


def sqlite_code(error: BaseException | None) -> str:
    """Return SQLite's name for an error, such as `SQLITE_BUSY`, or an empty string for errors from elsewhere."""
    if not isinstance(error, sqlite3.Error):
        return ""
    return str(getattr(error, "sqlite_errorname", None) or "SQLITE_ERROR")


@contextmanager
def pragmas(connection: Any, **values: int) -> Iterator[None]:
    """Change settings of an SQLite connection while the context is active.

    Settings that in-memory databases lack are ignored.
    """
    cursor = connection.cursor()
    found = {name: cursor.execute(f"PRAGMA {name}").fetchone() for name in values}
    earlier = {name: row[0] for name, row in found.items() if row is not None}
    try:
        for name in earlier:
            cursor.execute(f"PRAGMA {name}={values[name]:d}")
        yield
    finally:
        for name, value in earlier.items():
            cursor.execute(f"PRAGMA {name}={value:d}")


def integrity_faults(engine: sa.Engine) -> list[str]:
    """Return the problems that SQLite's own check finds in its file, one per string.

    The list is empty for other databases. Other threads keep running, because the check has its own connection and
    SQLite releases Python's lock.
    """
    if file_of(engine.url) is None:
        return []
    try:
        with closing(engine.raw_connection()) as connection, pragmas(connection, **UNMAPPED):
            cursor = connection.cursor()
            rows = cursor.execute("PRAGMA integrity_check(20)").fetchall()
    except sqlite3.DatabaseError as error:
        if sqlite_code(error) not in ("SQLITE_CORRUPT", "SQLITE_NOTADB"):
            raise
        return [str(error)]
    return [line for (text,) in rows for line in str(text).splitlines() if text != "ok"]


def truncate_wal(engine: sa.Engine, wait_ms: int = TRUNCATE_WAIT_MS) -> bool:
    """Move all committed data into the database file, and empty the `-wal` file next to it.

    Until this happens, the `-wal` file contains older versions of changed data. An active reader prevents it from being
    emptied. In this case, as much data as possible is moved. Nothing is lost.

    Args:
        wait_ms: Milliseconds to wait for active readers, at least `TRUNCATE_WAIT_MS` for a large file. Nobody can write
            during that time.
    """
    path = file_of(engine.url)
    if path is None or not path.is_file():  # a connection would create an empty file
        return True
    is_large = sum(file.stat().st_size for file in files_of(path) if file.name.endswith("-wal")) > LARGE_WAL_BYTES
    wait_ms = max(wait_ms, TRUNCATE_WAIT_MS) if is_large else wait_ms
    try:
        with closing(engine.raw_connection()) as connection, pragmas(connection, busy_timeout=wait_ms):
            (is_blocked, *_frames) = connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except (sqlite3.Error, sa.exc.SQLAlchemyError):  # a full disk, for example: committed data are safe where they are
        return False
    return not is_blocked
