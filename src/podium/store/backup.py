"""Back up an SQLite database, and restore a database from a backup.

A file is either created completely or not at all.
"""

import sqlite3
from contextlib import AbstractContextManager, closing
from pathlib import Path

import sqlalchemy as sa

from podium.log.chain import head_note
from podium.log.database import (
    StoreError,
    database_file,
    engine_for,
    is_current,
    plain_engine,
    require_database,
    write_transaction,
)
from podium.log.files import (
    SIDE_FILES,
    connect_sealed,
    files_of,
    heads_beside,
    integrity_faults,
    is_sealed,
)
from podium.log.pools import every_pool
from podium.log.schema import kept, running
from podium.store.store import Store
from podium.store.verification import Verification
from podium.store.writing.reports import restart_hours
from podium.support.part_files import part_file


def back_up(url: str, target: Path) -> None:
    source = sqlite_file(url)
    refuse_existing(target)
    require_database(url)
    with database_part(target) as part:
        copy(source, part)
        refuse_damaged(part, str(source))
        delete_caches(part)
        require_alone(part, target)


def heads_of(path: Path) -> list[str]:
    """Return a sentence about the head of each pool's log in a copy. Copies from earlier versions have no heads."""
    engine = plain_engine(f"sqlite:///{path}")  # Podium's own engine would leave files next to the copy
    try:
        if not is_current(engine):
            return []
        with engine.connect() as connection:
            return [head_note(pool) for pool in every_pool(connection)]
    finally:
        engine.dispose()


def restore(source: Path, url: str, *, unverified: bool = False) -> Verification:
    """Restore a backup as a database, after checking that it is complete and agrees with its log.

    The backup does not change, except that SQLite merges the files next to it into it.
    """
    target = sqlite_file(url)
    refuse_existing(target)
    if not source.exists():
        raise StoreError(f"{source}: there is no such file. Check the path.")
    if not source.is_file():
        raise StoreError(f"{source}: is not a file")
    if not source.stat().st_size:
        raise StoreError(f"{source}: the file is empty. Choose a file that contains a database.")
    with database_part(target) as part:
        copy(source, part)
        refuse_damaged(part, str(source))
        delete_caches(part)
        require_database(str(part), str(source))
        with closing(Store(str(part))) as store:
            verification = store.verification()
            # races that were running when the copy was made are over
            with write_transaction(store.engine) as connection:
                connection.execute(sa.delete(running))
                restart_hours(connection)
        if verification.differences and not unverified:
            head = f"{source}: does not match its log, so nothing was restored (--unverified restores it anyway)"
            raise StoreError("\n".join([head, *verification.differences]))
        require_alone(part, target)
    return verification


def sqlite_file(url: str) -> Path:
    """Return the path of an SQLite database's file, which need not exist."""
    path = database_file(url)
    if path is None:
        raise StoreError("Podium restores only SQLite files. Use pg_dump and pg_restore for PostgreSQL.")
    return path


def refuse_existing(target: Path) -> None:
    """Raise an error if any of a database's files already exists, because SQLite would use it for the new database."""
    files = files_of(target)
    if target in files:
        names = " ".join(str(file) for file in files)
        raise StoreError(f"{target} already exists. Move it away first, with all of its files: {names}")
    if files:
        raise StoreError(
            f"{files[0]} is left over from an earlier {target.name} and contains some of its data. Move it to the "
            "other files of that database first."
        )


def database_part(target: Path) -> AbstractContextManager[Path]:
    """Yield the path at which a new database is prepared.

    Afterwards, the database is moved to its target, unless another file now has that name.
    """
    return part_file(target, StoreError, accept=make_way, side_files=SIDE_FILES, private=True)


def make_way(target: Path) -> None:
    """Raise an error if there already is a database. Remove saved heads of a deleted database."""
    refuse_existing(target)
    heads_beside(target).unlink(missing_ok=True)


def copy(source: Path, part: Path) -> None:
    """Copy an SQLite database at one point in time, including its `-wal` file."""
    try:
        with (
            closing(connect_sealed(source) if is_sealed(source) else sqlite3.connect(source)) as database,
            closing(sqlite3.connect(part)) as copied,
        ):
            database.backup(copied)
    except sqlite3.Error as error:
        raise StoreError(f"{source}: cannot be copied ({error})") from error


def delete_caches(part: Path) -> None:
    """Delete the caches in a copy, and free the space that they used."""
    with closing(sqlite3.connect(part)) as copied:
        has_table = copied.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [kept.name]).fetchone()
        if has_table and copied.execute(f"DELETE FROM {kept.name}").rowcount:  # noqa: S608  (a name of the schema)
            copied.commit()
            copied.execute("VACUUM")


def refuse_damaged(part: Path, name: str) -> None:
    engine = engine_for(str(part))
    faults = integrity_faults(engine)
    engine.dispose()
    if faults:
        raise StoreError("\n".join([f"{name}: the database is damaged. Use an earlier copy.", *faults]))


def require_alone(part: Path, target: Path) -> None:
    if files_of(part) != [part]:
        raise StoreError(f"{target}: cannot be written (another program has its part file open)")
