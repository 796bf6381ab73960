"""Upgrade databases from earlier versions: rate their pools again, and remove tables that are no longer used.

Each pool is rated in its own transactions, by `podium db upgrade` or when `podium serve` starts. An interrupted upgrade
continues at the next call.
"""

import json
import logging
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import polars as pl
import sqlalchemy as sa

from podium.errors import PodiumError
from podium.log.database import (
    StoreError,
    UnavailableError,
    delete_former_rows,
    former_tables,
    is_busy,
    is_current,
    lock_schema,
    read_only_engine,
    write_transaction,
)
from podium.log.files import truncate_wal
from podium.log.log import RERATE, json_entry
from podium.log.pools import every_pool
from podium.log.schema import log
from podium.log.statements import of_pool
from podium.pool.columns import numbers_of
from podium.pool.snapshot import SEASON, STATUSES, SUPERSEDED, VOIDED, Event, Snapshot, count_counting
from podium.store.following import PoolReader
from podium.store.store import Store
from podium.store.writing import execution
from podium.store.writing.proposals import Proposal
from podium.support.immutable import immutable
from podium.version import ARITHMETIC

LOGGER = logging.getLogger(__name__)
T = TypeVar("T")
MAX_DIFFERENCES = 3  # maximum number of differences to report per pool
OF_GENERATION = "generation_id = (SELECT generation_id FROM pool WHERE id = :pool)"
SELECT_FORMER_CHANGES = sa.text(f"SELECT seq, player_id, rating FROM change WHERE {OF_GENERATION}")  # noqa: S608
SELECT_FORMER_EVENTS = sa.text(
    "SELECT event_id, seq, content_seq, started_at, match_id, present, status FROM event WHERE pool_id = :pool"
)
SELECT_FORMER_MERGES = sa.text("SELECT player_id, into_id FROM merged WHERE pool_id = :pool")
SELECT_FORMER_SEASONS = sa.text("SELECT name, seq, started_at, keep FROM season WHERE pool_id = :pool")
SELECT_RERATES = sa.select(log.c.body).where(of_pool(log), log.c.kind == RERATE)


@immutable
class Upgraded:
    """The outcome of an upgrade for a single pool."""

    pool: str
    sentence: str  # description of the upgrade; empty if it failed
    error: str = ""  # reason for a failure

    def __str__(self) -> str:
        return f"pool {self.pool} is unchanged: {self.error}" if self.error else f"pool {self.pool}: {self.sentence}"


def is_due(engine: sa.Engine) -> bool:
    """Return True if an upgrade would change a database. This takes no locks."""
    with read_only_engine(engine).connect() as connection:
        former = former_tables(connection)
    return bool(former) or not is_current(engine) or bool(due_pools(engine))


def due_pools(engine: sa.Engine) -> list[str]:
    """Return the names of pools that an earlier revision of the arithmetic rated."""
    with read_only_engine(engine).connect() as connection:
        return [pool.name for pool in every_pool(connection) if pool.is_outdated]


def upgrade_pools(store: Store, actor: str) -> Iterator[Upgraded]:
    """Rate every outdated pool again, report each one after its commit, and drop the tables of earlier versions.

    Several processes may do this at the same time. One of them rates a pool while the others wait for it. A pool that
    cannot be rated stays unchanged, and does not affect other pools. If a pool's earlier tables differ from its log, it
    is reported, and the tables are kept.
    """
    with read_only_engine(store.engine).connect() as connection:
        former, kept = former_tables(connection), list[str]()
    names = [pool.name for pool in store.pools()] if former else due_pools(store.engine)
    for name in names:
        try:
            with store.reading(name) as pool:
                was_outdated, ratings = pool.is_outdated, former_ratings(pool) if former else NO_RATINGS
            done = rerate_pool(store, name, actor) if was_outdated else None
            if done is not None:
                yield Upgraded(name, moved_ratings(ratings, done))
            found = find_differences(store, name, ratings) if former else []
            if found:
                raise StoreError(f"the tables of an earlier version differ from its log ({'; '.join(found)})")
        except PodiumError as error:
            kept.append(name)
            yield Upgraded(name, "", str(error))
    if former:
        in_turn(partial(drop_former, store.engine, kept))
        make_small(store.engine)


def in_turn(write: Callable[[], T]) -> T:
    """Run a function that writes, and return its result. If another process writes for a long time, wait for it."""
    while True:
        try:
            return write()
        except UnavailableError as error:
            if not is_busy(error.__cause__):
                raise


def rerate_pool(store: Store, name: str, actor: str) -> Snapshot | None:
    """Rate a pool again with this version's arithmetic. Return None if another process has already done so."""

    def read(look: execution.Look) -> Any:
        with store.reading(name) as pool:
            return look(pool)

    propose, lock = partial(rerate_all, actor=actor), partial(store.locking, name)
    done = in_turn(lambda: execution.run(read, lock, propose))
    return done.snapshot if done.proposal.entries else None


def find_differences(store: Store, name: str, former: pl.DataFrame) -> list[str]:
    """Return the first differences between the log and the tables of an earlier version, as text."""
    try:
        with store.reading(name) as pool:
            return [*islice(former_differences(pool, former), MAX_DIFFERENCES)]
    except (sa.exc.DBAPIError, UnavailableError):
        with read_only_engine(store.engine).connect() as connection:
            if former_tables(connection):
                raise
        return []  # another process has compared and dropped the tables


def rerate_all(pool: PoolReader, *, actor: str) -> Proposal:
    """Propose to rate a pool again from its first event on, with this version's arithmetic."""
    if not pool.is_outdated:
        return Proposal(pool, RERATE)
    entry = json_entry("", {"arithmetic": ARITHMETIC}, actor)
    rated, columns = replace(pool, arithmetic=ARITHMETIC), {"arithmetic": ARITHMETIC}
    return Proposal(rated, RERATE, (entry,), columns=columns, refuses_unrateable=False)


NO_RATINGS = pl.DataFrame(schema={"seq": pl.Int64, "player": pl.Int64, "rating": pl.Float64})


def former_ratings(pool: PoolReader) -> pl.DataFrame:
    """Return an earlier version's ratings after each event, in the columns `seq`, `player` and `rating`."""
    return pl.DataFrame(pool.execute(SELECT_FORMER_CHANGES).all(), NO_RATINGS.schema, orient="row")


def former_differences(pool: PoolReader, former: pl.DataFrame) -> Iterator[str]:
    """Describe each difference between the tables of an earlier version and the log."""
    snapshot, events = pool.snapshot, pool.snapshot.events
    rows = pool.execute(SELECT_FORMER_EVENTS).all()
    if not rows and former.is_empty():  # an earlier upgrade has compared the pool and deleted its rows
        return
    left = {event.event_id: event for event in events.at(np.arange(events.size)) if event.status != STATUSES[SEASON]}
    for event_id, *cells, status in rows:
        event = left.pop(event_id, None)
        if event is None or event_cells(event) != (*cells, status if status in UNCOUNTED else ""):
            yield f"event {event_id!r}"
    if left:
        yield "an event is missing"
    if dict(pool.execute(SELECT_FORMER_MERGES).all()) != snapshot.merged:
        yield "merges"
    seasons = {(own.name, *reversed(events.key(uid)), own.keep) for uid, own in events.seasons.items()}
    if {*map(tuple, pool.execute(SELECT_FORMER_SEASONS))} != seasons:
        yield "seasons"
    rerated = [json.loads(body)["arithmetic"] for (body,) in pool.run(SELECT_RERATES)]  # possibly this version
    if ARITHMETIC not in rerated and not moved(former, snapshot).is_empty():
        yield "ratings"


UNCOUNTED = STATUSES[VOIDED], STATUSES[SUPERSEDED]


def event_cells(event: Event) -> tuple[Any, ...]:
    """Return an event as an earlier version stored it, except for statuses that depend on ratings."""
    status = event.status if event.status in UNCOUNTED else ""
    return event.seq, event.content_seq, event.started_at, event.match_id, event.present, status


def moved(former: pl.DataFrame, snapshot: Snapshot) -> pl.DataFrame:
    """Return the changes after which ratings differ, with the earlier `rating` and the snapshot's `rating_right`."""
    rows, columns = snapshot.rows, snapshot.events.columns
    rating = rows.part("state")[:, snapshot.pool.system.column("rating")]
    seq, player = columns.at("seq", rows.part("event")), numbers_of(rows.part("slot"))
    present = pl.DataFrame({"seq": seq, "player": player, "rating": rating}, NO_RATINGS.schema)
    both = former.join(present, on=["seq", "player"], how="full", coalesce=True)
    return both.filter(~pl.col("rating").eq_missing(pl.col("rating_right")))


def moved_ratings(former: pl.DataFrame, snapshot: Snapshot) -> str:
    """Return a sentence about the number of ratings that moved, and how far they moved."""
    found = moved(former, snapshot)
    sentence = f"{count_counting(snapshot)} events rated again, {found.height} rating changes affected"
    if found.is_empty():
        return sentence
    largest: Any = (found["rating"] - found["rating_right"]).abs().max()
    return f"{sentence}, the largest by {largest or 0.0:.4g} points"


def drop_former(engine: sa.Engine, kept: Collection[str]) -> None:
    """Drop the tables of earlier versions. If some pools keep their tables, delete only the other pools' rows."""
    with write_transaction(engine) as connection:
        if kept:
            delete_former_rows(connection, [pool.id for pool in every_pool(connection) if pool.name not in kept])
            return
        lock_schema(connection)
        for name in former_tables(connection):
            connection.execute(sa.text(f"DROP TABLE {name}"))
        columns = {column["name"] for column in sa.inspect(connection).get_columns("pool")}
        for name in FORMER_COLUMNS & columns:
            connection.execute(sa.text(f"ALTER TABLE pool DROP COLUMN {name}"))


FORMER_COLUMNS = {"generation_id", "staging_id"}  # columns of a pool's row


def make_small(engine: sa.Engine) -> None:
    """Free the disk space of dropped tables. PostgreSQL does this by itself."""
    if engine.dialect.name != "sqlite":
        return
    try:
        with closing(engine.raw_connection()) as connection:
            connection.cursor().execute("VACUUM")
    # for example because others use the database; nothing is lost, but the file stays large
    except sqlite3.OperationalError as error:
        LOGGER.warning("the database could not be made smaller (%s)", error)
    truncate_wal(engine)
