"""The files of an SQLite database: which they are, whether they are whole, and what is moved from one to the other."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

SIDE_FILES = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database; they belong to it
TRUNCATE_WAIT_MS = 2_000  # for readers who are in the midst of something
LARGE_WAL_BYTES = 268_435_456  # of a `-wal` that is worth the wait: where reads overlap, it grows without end
UNMAPPED = {"mmap_size": 0}  # for what passes through all of a file: piece by piece, not as memory


def file_of(url: sa.URL) -> Path | None:
    """The file of an SQLite database; None of one in memory or on a server."""
    is_file = url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:"
    return Path(str(url.database)) if is_file else None


def files_of(path: Path) -> list[Path]:
    """The files that there are of a database, whether or not the database itself is among them."""
    return [each for each in (path, *(path.with_name(path.name + end) for end in SIDE_FILES)) if each.exists()]


def heads_beside(path: Path) -> Path:
    """Return the file in which `podium serve` keeps the newest heads of a database's logs."""
    return path.with_name(f"{path.name}-heads")


def is_sealed(path: Path) -> bool:
    """Whether SQLite can read a database only as one that nobody changes: no file is, nor can be made, beside it."""
    has_log = any(each.stat().st_size for each in files_of(path) if each != path)
    return path.is_file() and not has_log and not os.access(path.resolve().parent, os.W_OK)


def connect_sealed(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True, check_same_thread=False)


def sqlite_code(error: BaseException | None) -> str:
    """The name that SQLite gives an error, as `SQLITE_BUSY`; empty where it is another's."""
    if not isinstance(error, sqlite3.Error):
        return ""
    return str(getattr(error, "sqlite_errorname", None) or "SQLITE_ERROR")


@contextmanager
def pragmas(connection: Any, **values: int) -> Iterator[None]:
    """Give a connection to SQLite other settings for a while; one to a database in memory has not all of them."""
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
    """What SQLite itself finds wrong with its file, a line each; nothing of one in memory, or on a server.

    Other threads run meanwhile: it takes a connection of its own, and SQLite needs no Python.
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
    """Move all that is committed into the database's file, and empty the `-wal` beside it.

    Until then the `-wal` has earlier forms of what was changed since. A reader in the midst of something keeps it from
    being emptied; then all that can be is moved, and nothing is lost. `wait_ms` is how long to wait for such readers,
    while nobody can write; at least `TRUNCATE_WAIT_MS` where the file is large.
    """
    path = file_of(engine.url)
    if path is None or not path.is_file():  # a connection would make an empty one
        return True
    is_large = sum(each.stat().st_size for each in files_of(path) if each.name.endswith("-wal")) > LARGE_WAL_BYTES
    wait_ms = max(wait_ms, TRUNCATE_WAIT_MS) if is_large else wait_ms
    try:
        with closing(engine.raw_connection()) as connection, pragmas(connection, busy_timeout=wait_ms):
            (is_blocked, *_frames) = connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except (sqlite3.Error, sa.exc.SQLAlchemyError):  # as of a full disk: what is committed is safe where it is
        return False
    return not is_blocked
