"""Snapshots of pools, which all readers of a store share; each follows the log when it is read."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import polars as pl
import sqlalchemy as sa

from podium.log.database import StoreError
from podium.log.pools import Pool, PoolView, refuse_other_arithmetic
from podium.log.schema import log
from podium.log.statements import fetch_parts, of_pool
from podium.pool.fold import Draft, Entry
from podium.pool.rating import rate
from podium.pool.snapshot import Snapshot, empty
from podium.results.reading import first_line

UNREADABLE = ValueError, LookupError, TypeError, pl.exceptions.PolarsError  # as an altered entry raises
MOST_POOLS = 64  # whose snapshots are held
MOST_EARLIER = 4  # snapshots of one pool, for transactions that began before its newest entry
FETCHED_ENTRIES = 500
OF_POOL = sa.select(log.c.seq, log.c.hash).where(of_pool(log)).limit(1)
SELECT_NEWEST = OF_POOL.order_by(log.c.seq.desc())
SELECT_ONE = OF_POOL.where(log.c.seq == sa.bindparam("seq"))
SELECT_ENTRIES = (
    sa.select(*(log.c[name] for name in Entry._fields))
    .where(of_pool(log), log.c.seq > sa.bindparam("after"))
    .order_by(log.c.seq)
)


class LogPlace(NamedTuple):
    """One entry of a log."""

    seq: int
    hash: bytes | None  # in the chain


START_OF_LOG = LogPlace(0, None)


class Followed:
    """The newest snapshots of one pool."""

    def __init__(self, name: str) -> None:
        self.name = name  # of the pool
        self.lock = Lock()  # of the thread that follows the log
        self.snapshots: OrderedDict[LogPlace, Snapshot] = OrderedDict()  # oldest first

    def keep(self, place: LogPlace, snapshot: Snapshot) -> None:
        """Hold a snapshot as the newest one."""
        snapshots = OrderedDict([*self.snapshots.items()][1 - MOST_EARLIER :])
        snapshots[place] = snapshot
        self.snapshots = snapshots  # readers look at it without the lock


class Snapshots:
    """The snapshots that readers of one store share."""

    def __init__(self) -> None:
        self._pools: OrderedDict[int, Followed] = OrderedDict()  # by the pool's number; the last one was read last
        self._lock = Lock()

    def at(self, pool: PoolView) -> Snapshot:
        """Return a pool as its transaction sees it.

        A snapshot is trusted only if the log still holds its entry, with the same hash. Otherwise, as after the
        database was replaced by an earlier copy, the whole log is folded again.
        """
        place, followed = newest_place(pool), self._followed(pool)
        found = followed.snapshots.get(place)
        if found is not None:
            return found
        with followed.lock:
            found = followed.snapshots.get(place)
            if found is None:
                found = follow(pool, self._base(pool, followed, place))
                followed.keep(place, found)
        return found

    def find(self, pool: PoolView) -> Snapshot | None:
        """Return the snapshot that is held of a pool as its transaction sees it; None if none is."""
        return self._followed(pool).snapshots.get(newest_place(pool))

    def holds(self, name: str) -> bool:
        """Return whether a snapshot of a pool is held, perhaps an older one."""
        with self._lock:
            return any(each.name == name and each.snapshots for each in self._pools.values())

    def keep(self, pool: PoolView, place: LogPlace, snapshot: Snapshot) -> None:
        """Hold a snapshot that a committed write has made."""
        followed = self._followed(pool)
        with followed.lock:
            followed.keep(place, snapshot)

    def _followed(self, pool: PoolView) -> Followed:
        with self._lock:
            followed = self._pools.pop(pool.id, None) or Followed(pool.name)
            self._pools[pool.id] = followed
            while len(self._pools) > MOST_POOLS:
                self._pools.popitem(last=False)
            return followed

    @staticmethod
    def _base(pool: PoolView, followed: Followed, place: LogPlace) -> Snapshot:
        """Return the newest snapshot before an entry, if this log still has it. Otherwise it is empty."""
        for known in reversed(followed.snapshots):
            if known.seq < place.seq and (known == START_OF_LOG or pool.run(SELECT_ONE, seq=known.seq) == [known]):
                return followed.snapshots[known]
        return empty(Pool(*pool.cells()))


def newest_place(pool: PoolView) -> LogPlace:
    """Return the newest entry of a pool's log as its transaction sees it."""
    rows = pool.run(SELECT_NEWEST)
    return LogPlace(*rows[0]) if rows else START_OF_LOG


def follow(pool: PoolView, base: Snapshot) -> Snapshot:
    """Return a snapshot brought up to date with the log as a transaction sees it."""
    draft = Draft.of(base)
    try:
        draft.follow(entries_after(pool, base.seq))
    except UNREADABLE as error:
        reason = first_line(error)
        raise StoreError(
            f"pool {pool.name!r}: its log cannot be read ({type(error).__name__}: {reason}). podium verify says which "
            "entry was altered; put back a copy from before"
        ) from error
    if draft.is_rewritten:
        return replay(pool)
    after, _ = rate(draft)
    return after


def replay(pool: PoolView) -> Snapshot:
    """Return a pool folded from its whole log as a transaction sees it."""
    return follow(pool, empty(Pool(*pool.cells())))


def entries_after(pool: PoolView, seq: int) -> Iterator[Entry]:
    """Yield the entries of a pool's log after one of them."""
    params = pool.known(()) | {"after": seq}
    for rows in fetch_parts(pool.connection, SELECT_ENTRIES, params, FETCHED_ENTRIES):
        yield from map(Entry._make, rows)


@dataclass(frozen=True)
class PoolReader(PoolView):
    """A pool as a transaction that only reads sees it, with its snapshot."""

    snapshots: Snapshots = field(kw_only=True, repr=False, compare=False)

    @classmethod
    def of(cls, pool: PoolView, snapshots: Snapshots) -> "PoolReader":
        """Return the same pool with its snapshot among these."""
        return cls(*pool.cells(), connection=pool.connection, snapshots=snapshots)

    @cached_property
    def snapshot(self) -> Snapshot:
        """The pool as this transaction sees it, in memory.

        Raises:
            StoreError: another revision of the arithmetic rated the pool.
        """
        refuse_other_arithmetic(self)
        return self.snapshots.at(self)
