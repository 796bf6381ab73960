"""Copies of an SQLite database, databases from copies, and pools that an earlier version's arithmetic rated.

A copy, and a database from one, is where it is to be whole, or not at all. Each pool of an earlier arithmetic is rated
again, in transactions of its own, by `podium db upgrade` and by `podium serve` as it starts; what was interrupted goes
on at the next call.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import sqlalchemy as sa

from podium.errors import PodiumError
from podium.log.database import (
    StoreError,
    UnavailableError,
    engine_for,
    explain_failure,
    full_url,
    is_busy,
    is_current,
    plain_engine,
    read_only_engine,
    require_database,
    write_transaction,
)
from podium.log.files import (
    SIDE_FILES,
    connect_sealed,
    file_of,
    files_of,
    heads_beside,
    integrity_faults,
    is_sealed,
)
from podium.log.log import RERATE, head_note, json_entry
from podium.log.players import Numbering
from podium.log.pools import START, PoolView, every_pool
from podium.log.schema import running
from podium.store.store import Store
from podium.store.writing.rating.events import Proposal
from podium.store.writing.rating.generations import clear_unread
from podium.store.writing.rating.rerating import Rerated
from podium.store.writing.rating.verification import Verification
from podium.store.writing.staging import run
from podium.support.part_files import part_file
from podium.version import ARITHMETIC

T = TypeVar("T")


def back_up(url: str, target: Path) -> None:
    source = sqlite_file(url)
    refuse_existing(target)
    require_database(url)
    with database_part(target) as part:
        copy(source, part)
        refuse_damaged(part, str(source))
        require_alone(part, target)


def heads_of(path: Path) -> list[str]:
    """A sentence on the head of each pool's log in a copy; none where the copy is of an earlier version."""
    engine = plain_engine(f"sqlite:///{path}")  # Podium's own would leave files beside the copy
    try:
        if not is_current(engine):
            return []
        with engine.connect() as connection:
            return [head_note(pool) for pool in every_pool(connection)]
    finally:
        engine.dispose()


def restore(source: Path, url: str, *, unverified: bool = False) -> Verification:
    """Put a copy where a database is to be, once it is found to be whole and what its log says.

    The copy is left as it is, but for what SQLite has beside it, which it moves into the copy.
    """
    target = sqlite_file(url)
    refuse_existing(target)
    if not source.exists():
        raise StoreError(f"{source}: there is no such file")
    if not source.is_file():
        raise StoreError(f"{source}: is not a file")
    if not source.stat().st_size:
        raise StoreError(f"{source}: the file is empty, there is no database in it")
    with database_part(target) as part:
        copy(source, part)
        refuse_damaged(part, str(source))
        require_database(str(part), str(source))
        with closing(Store(str(part))) as store:
            verification = store.verification()
            with write_transaction(store.engine) as connection:  # no race of the copy's moment runs any more
                connection.execute(sa.delete(running))
        if verification.differences and not unverified:
            head = f"{source}: is not what its log says; nothing is put in place (--unverified does)"
            raise StoreError("\n".join([head, *verification.differences]))
        require_alone(part, target)
    return verification


def sqlite_file(url: str) -> Path:
    """The file of an SQLite database, which need not be there."""
    with explain_failure(url):
        path = file_of(sa.make_url(full_url(url)))
    if path is None:
        raise StoreError("this is for SQLite files; PostgreSQL has pg_dump and pg_restore")
    return path


def refuse_existing(target: Path) -> None:
    """Refuse to write where any file of a database is: SQLite would take it for one of the new database's."""
    files = files_of(target)
    if target in files:
        names = " ".join(str(each) for each in files)
        raise StoreError(f"{target} is there already; move it away first, with all of its files: {names}")
    if files:
        raise StoreError(
            f"{files[0]} is left of an earlier {target.name}, and holds a part of what that held; "
            "move it to where the rest of that database is first"
        )


def database_part(target: Path) -> AbstractContextManager[Path]:
    """Where to prepare a database that is to appear whole, unless meanwhile there is another of that name."""
    return part_file(target, StoreError, accept=make_way, side_files=SIDE_FILES, private=True)


def make_way(target: Path) -> None:
    """Refuse to replace a database; remove the heads that were kept of one that is gone."""
    refuse_existing(target)
    heads_beside(target).unlink(missing_ok=True)


def copy(source: Path, part: Path) -> None:
    """Copy an SQLite database, with what is in its `-wal`, as of one moment."""
    try:
        with (
            closing(connect_sealed(source) if is_sealed(source) else sqlite3.connect(source)) as database,
            closing(sqlite3.connect(part)) as copied,
        ):
            database.backup(copied)
    except sqlite3.Error as error:
        raise StoreError(f"{source}: cannot be copied ({error})") from error


def refuse_damaged(part: Path, name: str) -> None:
    engine = engine_for(str(part))
    faults = integrity_faults(engine)
    engine.dispose()
    if faults:
        raise StoreError("\n".join([f"{name}: the database is damaged; take an earlier copy", *faults]))


def require_alone(part: Path, target: Path) -> None:
    if files_of(part) != [part]:
        raise StoreError(f"{target}: cannot be written (another program has its part file open)")


@dataclass(frozen=True, slots=True)
class Upgraded:
    """What became of a pool that waited to be rated again."""

    pool: str
    sentence: str  # what was done; empty where nothing could be
    error: str = ""  # why nothing could be

    def __str__(self) -> str:
        return f"pool {self.pool} stays as it was: {self.error}" if self.error else f"pool {self.pool}: {self.sentence}"


def is_due(engine: sa.Engine) -> bool:
    """Whether the schema is an earlier version's, or a pool waits; nothing is locked."""
    return not is_current(engine) or bool(due_pools(engine))


def due_pools(engine: sa.Engine) -> list[str]:
    with read_only_engine(engine).connect() as connection:
        return [pool.name for pool in every_pool(connection) if pool.is_outdated]


def upgrade_pools(engine: sa.Engine, actor: str) -> Iterator[Upgraded]:
    """Rate every pool again that waits, and report each once it is committed.

    Of several processes one rates a pool, the others wait for it. A pool that cannot be rated stays as it was, and
    keeps no other from it.
    """
    clear_unread(engine)
    for name in due_pools(engine):
        try:
            sentence = rerate_pool(engine, name, actor)
        except PodiumError as error:
            yield Upgraded(name, "", str(error))
        else:
            if sentence:
                yield Upgraded(name, sentence)


def in_turn(write: Callable[[], T]) -> T:
    """What a write returns, after any other process that has a long turn."""
    while True:
        try:
            return write()
        except UnavailableError as error:
            if not is_busy(error.__cause__):
                raise


def rerate_pool(engine: sa.Engine, name: str, actor: str) -> str:
    """Rate a pool from its first event on with this version's arithmetic.

    Returns:
        A sentence for the admin; empty where another process was quicker.
    """
    rerate = partial(rerate_all, actor=actor)
    return moves(in_turn(lambda: run(engine, name, rerate, lambda _pool: None)).rerated)


def rerate_all(pool: PoolView, _numbering: Numbering, *, actor: str) -> Proposal:
    if not pool.is_outdated:
        return Proposal(pool, RERATE)
    entry = json_entry("", {"arithmetic": ARITHMETIC}, actor)
    rated = replace(pool, arithmetic=ARITHMETIC)
    columns = {"arithmetic": ARITHMETIC}
    return Proposal(rated, RERATE, (entry,), (START,), columns=columns, refuses_unrateable=False)


def moves(rerated: Rerated | None) -> str:
    if rerated is None:
        return ""
    totals = rerated.totals
    sentence = f"{rerated.events} events rated again, {totals.changes} changes of ratings moved"
    return f"{sentence}, the largest by {totals.largest:.4g} points" if totals.changes else sentence
