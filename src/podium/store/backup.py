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
from typing import Any, TypeVar

import polars as pl
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
from podium.log.pools import START, PoolView, every_pool, lock_pool
from podium.log.schema import change, kept, pool_state, rank_count, running, standing
from podium.log.statements import of_generation
from podium.pool.slots import numbers_of
from podium.pool.snapshot import Snapshot, count_counting
from podium.store.store import Store
from podium.store.writing import execution
from podium.store.writing.rating.events import Proposal
from podium.store.writing.rating.verification import Verification
from podium.support.part_files import part_file
from podium.version import ARITHMETIC

T = TypeVar("T")
SELECT_FORMER_RATINGS = sa.select(change.c.seq, change.c.player_id, change.c.rating).where(of_generation(change))


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
        delete_caches(part)
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


def delete_caches(part: Path) -> None:
    """Delete the caches in a copy, and the room that they took."""
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


def upgrade_pools(store: Store, actor: str) -> Iterator[Upgraded]:
    """Rate every pool again that waits, and report each once it is committed.

    Several processes may do so at once: one rates a pool, the others wait for it. A pool that cannot be rated stays as
    it was, and keeps no other from it.
    """
    for name in due_pools(store.engine):
        try:
            sentence = rerate_pool(store, name, actor)
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


def rerate_pool(store: Store, name: str, actor: str) -> str:
    """Rate a pool from its first event on with this version's arithmetic.

    Returns:
        A sentence for the admin; empty if another process was quicker.
    """
    with store.reading(name) as pool:
        former = former_ratings(pool)

    def read(look: execution.Look) -> Any:
        with store.reading(name) as pool:
            return look(pool)

    propose, lock = partial(rerate_all, actor=actor), partial(store.locking, name)
    done = in_turn(lambda: execution.run(read, lock, propose, lambda _pool: None))
    if done.place is None:
        return ""
    in_turn(partial(forget_former_ratings, store.engine, name))
    return moves(former, done.snapshot)


def rerate_all(pool: PoolView, _numbering: Numbering, *, actor: str) -> Proposal:
    if not pool.is_outdated:
        return Proposal(pool, RERATE)
    entry = json_entry("", {"arithmetic": ARITHMETIC}, actor)
    rated = replace(pool, arithmetic=ARITHMETIC)
    columns = {"arithmetic": ARITHMETIC}
    return Proposal(rated, RERATE, (entry,), (START,), columns=columns, refuses_unrateable=False)


def former_ratings(pool: PoolView) -> pl.DataFrame:
    """The ratings after each event as an earlier version stored them: `seq`, `player`, `rating`."""
    rows = pool.run(SELECT_FORMER_RATINGS)
    return pl.DataFrame(rows, {"seq": pl.Int64, "player": pl.Int64, "rating": pl.Float64}, orient="row")


def forget_former_ratings(engine: sa.Engine, name: str) -> None:
    """Delete the ledger of a pool that an earlier version stored."""
    with write_transaction(engine) as connection:
        pool = lock_pool(connection, name)
        for table in (change, pool_state, standing, rank_count):
            pool.execute(sa.delete(table).where(of_generation(table)))


def moves(former: pl.DataFrame, snapshot: Snapshot) -> str:
    """A sentence on how many ratings moved, and by how much."""
    rows, columns = snapshot.rows, snapshot.events.columns
    rating = rows.part("state")[:, snapshot.pool.system.column("rating")]
    seq, player = columns.at("seq", rows.part("event")), numbers_of(rows.part("slot"))
    present = pl.DataFrame({"seq": seq, "player": player, "rating": rating})
    both = former.join(present, on=["seq", "player"], how="full", coalesce=True)
    moved = both.filter(~pl.col("rating").eq_missing(pl.col("rating_right")))
    sentence = f"{count_counting(snapshot)} events rated again, {moved.height} changes of ratings moved"
    if moved.is_empty():
        return sentence
    largest: Any = (moved["rating"] - moved["rating_right"]).abs().max()
    return f"{sentence}, the largest by {largest or 0.0:.4g} points"
