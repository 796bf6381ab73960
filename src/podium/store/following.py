"""Snapshots of pools, which all readers of a store share. A snapshot catches up with the log when it is read."""

import hashlib
import logging
import math
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock, RLock, Thread
from typing import Any, NamedTuple

import polars as pl
import sqlalchemy as sa

from podium.errors import UnknownError
from podium.log.database import StoreError, read_transaction
from podium.log.pools import NO_DESCRIPTION, Pool, PoolView, get_pool, refuse_other_arithmetic
from podium.log.schema import log
from podium.log.statements import fetch_parts, of_pool
from podium.pool.fold import Draft, Entry
from podium.pool.rating import rate
from podium.pool.snapshot import Snapshot, empty
from podium.results.reading import first_line
from podium.store import kept
from podium.views.reader import Answers, PoolAt

LOGGER = logging.getLogger(__name__)
UNREADABLE = ValueError, LookupError, TypeError, pl.exceptions.PolarsError  # errors that an altered entry can raise
SHORT_EVENTS = 5_000  # maximum number of events to rate, and of log entries to read, while a request waits
MAX_EARLIER = 4  # maximum number of snapshots per pool for transactions that began before its newest entry
FETCHED_ENTRIES = 500
NEWEST = math.inf  # version for readers who need every entry of the log
SELECT_NEWEST = sa.select(log.c.seq, log.c.hash).where(of_pool(log)).order_by(log.c.seq.desc()).limit(1)
SELECT_ENTRIES = sa.select(*(log.c[name] for name in Entry._fields)).where(*kept.LATER).order_by(log.c.seq)


class BehindError(Exception):
    """A transaction sees log entries that no snapshot of the pool includes yet.

    This error never leaves the store.
    """

    def __init__(self, pool_name: str) -> None:
        super().__init__(pool_name)
        self.pool_name = pool_name


class LogPlace(NamedTuple):
    """One entry of a log."""

    seq: int
    hash: bytes | None  # the entry's hash in the chain


START_OF_LOG = LogPlace(0, None)
Key = tuple[int, LogPlace]


class Held(NamedTuple):
    """A snapshot, and the newest log entry that it includes."""

    place: LogPlace
    snapshot: Snapshot


class Fold(NamedTuple):
    """The work of one thread that rates much of a pool again, and the snapshot to read in the meantime."""

    older: Held | None
    result: "Future[Held]"


class Followed:
    """The newest snapshots of one pool."""

    def __init__(self, name: str) -> None:
        self.name = name  # name of the pool
        self.lock = Lock()  # held by the thread that checks the log; never taken by a thread with a connection
        self.fold: Fold | None = None  # the fold in progress, if any
        self.has_failed = False  # True if the latest fold failed
        self.snapshots: dict[Key, Snapshot] = {}  # by pool number and newest entry; replaced, never modified
        self.nbytes = 0  # size of all snapshots when they were last measured

    def measure(self) -> None:
        """Measure the arrays of all snapshots, which share most of them."""
        parts = dict[int, int]()
        for snapshot in self.snapshots.values():
            parts |= snapshot.memory()
        self.nbytes = sum(parts.values())


class Snapshots:
    """The snapshots that all readers of a store share."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self.answers = Answers(0)  # cached responses of all pools
        self.most_bytes = 0  # maximum size of all snapshots; the most recently stored pool may exceed it
        self._pools: OrderedDict[str, Followed] = OrderedDict()  # by the pool's name, least recently read first
        self._lock = RLock()

    def find(self, pool: PoolView, place: LogPlace) -> Snapshot | None:
        """Return the snapshot in memory of a pool whose newest log entry is this one, or None."""
        return self._followed(pool.name).snapshots.get((pool.id, place))

    def holds(self, name: str) -> bool:
        """Return True if a snapshot of a pool is in memory, even an older one."""
        with self._lock:
            return name in self._pools and bool(self._pools[name].snapshots)

    def large(self, contents: int) -> list[str]:
        """Return the names of pools whose snapshot in memory has more than this many contents of events."""
        with self._lock:
            held = {name: [*pool.snapshots.values()] for name, pool in self._pools.items()}
        return [name for name, some in held.items() if any(snapshot.contents.size > contents for snapshot in some)]

    def newest_version(self, name: str) -> int:
        """Return the version of the newest snapshot of a pool in memory.

        After a write, this is the version that the write created.
        """
        return max((place.seq for _, place in self._followed(name).snapshots), default=0)

    def at(self, pool: "PoolReader", *, refuse_long: bool = False) -> Snapshot:
        """Return a pool as its transaction sees it, folding any missing entries in this thread.

        A snapshot is trusted only if the log still contains its entry with the same hash. Otherwise, for example if an
        earlier copy of the database was restored, the whole log is folded again.

        Raises:
            BehindError: `refuse_long` is set, and more than `SHORT_EVENTS` events would have to be rated.
        """
        place = pool.place
        found = self.find(pool, place)
        if found is None:
            draft = drafted(pool, self._base(pool, place))
            if refuse_long and not is_short(draft):
                raise BehindError(pool.name)
            found, _ = rate(draft)
            self.keep(pool, place, found)
        return found

    def follow(self, name: str, since: float = 0) -> Held:
        """Return a pool with everything that was committed before this call. The thread must not hold a connection.

        One thread folds the log, and the others wait for it. During a long fold, they get the older snapshot instead of
        waiting.

        Args:
            name: the name of the pool.
            since: minimum version of the snapshot, if the log has reached it.

        Raises:
            UnknownError: the pool does not exist.
            StoreError: another revision of the arithmetic rated the pool, or its log cannot be read.
        """
        followed = self._followed(name)
        try:
            return self._follow(followed, since)
        except UnknownError:
            self.forget(name)
            raise

    def _follow(self, followed: Followed, since: float) -> Held:
        before = followed.fold  # the fold may have started before the newest entry was committed
        while True:
            found, begins = self._look(followed)
            if isinstance(found, Held):
                return found
            older = found.older
            is_enough = older is not None and older.place.seq >= since
            if begins and is_enough:
                Thread(target=self._fold, args=(followed, found), name=f"fold {followed.name}", daemon=True).start()
            elif begins:
                self._fold(followed, found)
            if older is not None and is_enough:
                return older
            newest = found.result.result()
            if found is not before:
                return newest

    def _look(self, followed: Followed) -> tuple[Held | Fold, bool]:
        """Return the current pool, or else the fold that produces it.

        Also return True if that fold has not been started yet.
        """
        with followed.lock:
            if followed.fold is not None:
                return followed.fold, False
            with read_transaction(self._engine) as connection:
                pool = get_pool(connection, followed.name)
                refuse_other_arithmetic(pool)
                place = newest_place(pool)
                found = followed.snapshots.get((pool.id, place))
                if found is not None:
                    return Held(place, found), False
                older, draft = self.newest(pool, place), None
                if older is None or pool.run(kept.SELECT_REDACTED, after=older.place.seq) or followed.has_failed:
                    older = None  # old texts may contain a removed name
                elif place.seq - older.place.seq <= SHORT_EVENTS:
                    draft = drafted(pool, older.snapshot)
            if draft is not None and is_short(draft):
                return self.keep(pool, place, rate(draft)[0]), False
            followed.fold = Fold(older, Future())
            return followed.fold, True

    def _fold(self, followed: Followed, fold: Fold) -> None:
        """Bring a pool up to date, even if it takes a long time."""
        try:
            with read_transaction(self._engine) as connection:
                pool = get_pool(connection, followed.name)
                place = newest_place(pool)
                draft = drafted(pool, self._base(pool, place))
            found = self.keep(pool, place, rate(draft)[0])
        except BaseException as error:  # noqa: BLE001  (re-raised in every thread that waits)
            LOGGER.warning("pool %s: its snapshot could not be brought up to date: %s", followed.name, error)
            followed.has_failed, followed.fold = True, None
            fold.result.set_exception(error)
        else:
            followed.has_failed, followed.fold = False, None
            fold.result.set_result(found)

    def keep(self, pool: Pool, place: LogPlace, snapshot: Snapshot) -> Held:
        """Keep a snapshot in memory.

        Readers use it only when its entry is in the log, so writers call this before COMMIT.
        """
        with self._lock:
            followed, key = self._followed(pool.name), (pool.id, place)
            earlier = [*followed.snapshots.items()][1 - MAX_EARLIER :]
            followed.snapshots = dict(earlier) | {key: snapshot}
            # measuring takes longer than rating an event, so a pool that hardly grows is not measured
            if not earlier or not snapshot.rows.shares_chunks(earlier[-1][1].rows):
                followed.measure()
            self._make_room(followed)
        return Held(place, snapshot)

    def _make_room(self, kept: Followed) -> None:
        """Remove the least recently read pools from memory. Readers that are using them keep their snapshots."""
        total = sum(pool.nbytes for pool in self._pools.values())
        for name, followed in [*self._pools.items()]:
            if total > self.most_bytes and followed is not kept and followed.fold is None:
                total -= followed.nbytes
                del self._pools[name]

    def held_bytes(self) -> dict[str, int]:
        """Return the size of each pool's snapshots in bytes, by the pool's name."""
        with self._lock:
            for pool in self._pools.values():
                pool.measure()
            return {name: pool.nbytes for name, pool in self._pools.items()}

    def drop(self, pool: Pool, place: LogPlace) -> None:
        """Remove the snapshot of an entry that was not committed."""
        followed, gone = self._followed(pool.name), (pool.id, place)
        with self._lock:
            followed.snapshots = {key: snapshot for key, snapshot in followed.snapshots.items() if key != gone}

    def forget(self, name: str) -> None:
        """Remove a deleted pool from memory."""
        with self._lock:
            self._pools.pop(name, None)

    def newest(self, pool: PoolView, place: LogPlace) -> Held | None:
        """Return the newest snapshot before an entry whose own entry is still in the log, or None."""
        held = self._followed(pool.name).snapshots
        for (number, known), snapshot in sorted(held.items(), key=lambda entry: -entry[0][1].seq):
            if number == pool.id and known.seq < place.seq and has_entry(pool, known):
                return Held(known, snapshot)
        return None

    def _base(self, pool: PoolView, place: LogPlace) -> Snapshot | None:
        older = self.newest(pool, place)
        return kept.load(pool) if older is None else older.snapshot

    def _followed(self, name: str) -> Followed:
        with self._lock:
            followed = self._pools.pop(name, None) or Followed(name)
            self._pools[name] = followed
            return followed


def newest_place(pool: PoolView) -> LogPlace:
    """Return the newest entry of a pool's log, as its transaction sees it."""
    rows = pool.run(SELECT_NEWEST)
    return LogPlace(*rows[0]) if rows else START_OF_LOG


def has_entry(pool: PoolView, place: LogPlace) -> bool:
    """Return True if the log contains an entry with this hash, as the transaction sees it."""
    return place == START_OF_LOG or pool.run(kept.SELECT_HASH, seq=place.seq) == [(place.hash,)]


def drafted(pool: PoolView, base: Snapshot | None) -> Draft:
    """Apply the log to a snapshot, or to an empty pool, and return the draft before anything is rated."""
    draft = Draft.of(unfolded(pool) if base is None else base)
    try:
        draft.read(entries_after(pool, draft.seq))
    except UNREADABLE as error:
        reason = first_line(error)
        raise StoreError(
            f"pool {pool.name!r}: its log cannot be read ({type(error).__name__}: {reason}). Find the altered entry "
            "with `podium verify`, and restore an earlier copy."
        ) from error
    return drafted(pool, None) if draft.is_rewritten else draft


def is_short(draft: Draft) -> bool:
    """Return True if a draft has so few events to rate that a request can wait for them."""
    return draft.table.size - draft.position <= SHORT_EVENTS


def replay(pool: PoolView) -> Snapshot:
    """Fold a pool from its whole log, as its transaction sees it."""
    after, _ = rate(drafted(pool, None))
    return after


def unfolded(pool: PoolView) -> Snapshot:
    """Return a pool before the first entry of its log."""
    return empty(replace(Pool(*pool.cells()), closed=False, description=NO_DESCRIPTION, order=None))


def entries_after(pool: PoolView, seq: int) -> Iterator[Entry]:
    """Yield the entries of a pool's log that come after the one with this number."""
    params = pool.known(()) | {"after": seq}
    for rows in fetch_parts(pool.connection, SELECT_ENTRIES, params, FETCHED_ENTRIES):
        yield from map(Entry._make, rows)


@dataclass(frozen=True)
class PoolReader(PoolAt):
    """A pool as a transaction sees it, together with its snapshot."""

    snapshots: Snapshots = field(kw_only=True, repr=False, compare=False)
    older: Held | None = field(default=None, kw_only=True, repr=False, compare=False)  # snapshot to read instead
    # True to raise a `BehindError` instead of folding a long log
    begins_again: bool = field(default=False, kw_only=True, compare=False)
    written: list[LogPlace] = field(default_factory=list, kw_only=True, repr=False, compare=False)

    @classmethod
    def of(cls, pool: PoolView, snapshots: Snapshots, **more: Any) -> "PoolReader":
        """Return the same pool, but with its snapshot from these snapshots."""
        answers = snapshots.answers
        return cls(*pool.cells(), connection=pool.connection, snapshots=snapshots, answers=answers, **more)

    @cached_property
    def snapshot(self) -> Snapshot:
        """The pool in memory, as this transaction sees it.

        Raises:
            StoreError: another revision of the arithmetic rated the pool.
            BehindError: the pool must first be brought up to date, without a connection.
        """
        refuse_other_arithmetic(self)
        return self.folded

    @cached_property
    def folded(self) -> Snapshot:
        """The pool as this transaction sees it, even if it was rated by another revision of the arithmetic."""
        if self.older is not None:
            return self.older.snapshot
        if self.begins_again:
            found = self.snapshots.find(self, self.place)
            if found is None:
                raise BehindError(self.name)
            return found
        return self.snapshots.at(self)

    @cached_property
    def place(self) -> LogPlace:
        """The newest log entry that the responses include."""
        return newest_place(self) if self.older is None else self.older.place

    def version(self) -> int:
        """Return the version of the pool that this transaction sees.

        Returns:
            The number of the newest log entry that the responses include, or 0 if the log is empty.
        """
        return self.place.seq

    def edition(self) -> str:
        """Identify the pool and the newest log entry that the responses include.

        Returns:
            A text. It also distinguishes pools with the same name, and log entries with the same number, for example
            after a database was restored to an earlier state.
        """
        digest = hashlib.blake2b(self.place.hash or b"", key=self.secret, digest_size=12)
        return f"{self.place.seq} {digest.hexdigest()}"

    def publish(self, place: LogPlace, snapshot: Snapshot) -> None:
        """Let readers use the snapshot that results from this transaction, once it is committed."""
        self.snapshots.keep(self, place, snapshot)
        self.written.append(place)
