"""Transactions on pools. Each read sees a single version, and each write has exclusive access."""

import copy
import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import sqlalchemy as sa

from podium.log.database import read_transaction
from podium.log.files import truncate_wal
from podium.log.pools import (
    Pool,
    PoolView,
    WriteObserver,
    get_pool,
    ignore_times,
    locked_pool,
    other_arithmetic,
    refuse_other_arithmetic,
    refuse_unwritable,
)
from podium.store import kept
from podium.store.following import NEWEST, BehindError, Held, LogPlace, PoolReader, Snapshots, has_entry
from podium.support.collector import allowed_memory
from podium.support.immutable import immutable

ATTEMPTS = 2  # number of attempts to read exactly the newest version
SHARE_OF_MEMORY = 0.6  # share of the allowed memory that snapshots and cached responses may use
ANSWERS_SHARE = 8  # one part in this many is reserved for cached responses
P = ParamSpec("P")
T = TypeVar("T")


@immutable
class Moment:
    """A read transaction, and the pools that it has read."""

    connection: sa.Connection
    snapshots: Snapshots
    pools: dict[str, PoolReader] = field(default_factory=dict)
    # by pool, the snapshot that may be read even if others have written in the meantime
    followed: Mapping[str, Held] = field(default_factory=dict)
    begins_again: bool = False  # True to bring a pool without a snapshot up to date first
    sees_ids: bool = True

    def pool(self, name: str) -> PoolReader:
        """Return a pool, together with its snapshot."""
        if name not in self.pools:
            self.pools[name] = self.reader(get_pool(self.connection, name))
        return self.pools[name]

    def reader(self, pool: PoolView) -> PoolReader:
        """Return a pool with its snapshot, given its row in the database."""
        held = self.followed.get(pool.name)
        is_same = held is not None and held.snapshot.pool.id == pool.id and not other_arithmetic(pool)
        if held is None or not is_same or not has_entry(pool, held.place):
            return PoolReader.of(pool, self.snapshots, begins_again=self.begins_again, sees_ids=self.sees_ids)
        known = held.snapshot.pool  # the system may have changed in the meantime
        pool = replace(pool, system=known.system, order=known.order)
        return PoolReader.of(pool, self.snapshots, older=held, sees_ids=self.sees_ids)


class Moments:
    """A database, the snapshots of its pools, and the transactions that read and write them."""

    observe_write: WriteObserver = staticmethod(ignore_times)  # the durations are recorded if there is a service

    sees_ids = True  # see `PoolReader`

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self.snapshots = Snapshots(engine)
        self.answers = self.snapshots.answers
        self.limit_memory(int(SHARE_OF_MEMORY * allowed_memory()))
        self._moment: Moment | None = None  # the moment that all reads see; if None, each read has its own moment

    def limit_memory(self, most_bytes: int) -> None:
        """Limit the memory for snapshots and cached responses.

        Args:
            most_bytes: the limit for both together. One eighth is reserved for cached responses.
        """
        self.answers.most_bytes = most_bytes // ANSWERS_SHARE
        self.snapshots.most_bytes = most_bytes - self.answers.most_bytes

    def held_bytes(self) -> dict[str, int]:
        """Measure the memory that snapshots and cached responses use.

        Returns:
            The number of bytes for each pool's snapshots, by the pool's name. An empty name stands for cached
            responses.
        """
        return self.snapshots.held_bytes() | {"": self.answers.nbytes}

    def hiding_ids(self) -> Self:
        """Hide the players' IDs in other programs.

        Returns:
            The same store. Its reads find players by these IDs only in pools that show them to readers.
        """
        view = copy.copy(self)
        view.sees_ids = False
        return view

    @contextmanager
    def at_one_moment(self) -> Iterator[Self]:
        """Return a context in which all reads see the same version.

        Yields:
            The store at the time of the first read. It belongs to one thread, and must not be used after the block.
        """
        with self._reading() as moment:
            yield self._view(moment)

    def _view(self, moment: Moment) -> Self:
        view = copy.copy(self)
        view._moment = moment  # noqa: SLF001  (its own)
        return view

    @contextmanager
    def _reading(self) -> Iterator[Moment]:
        if self._moment is not None:
            yield self._moment
            return
        with read_transaction(self.engine) as connection:
            yield Moment(connection, self.snapshots, sees_ids=self.sees_ids)

    def read(self, find: Callable[[Moment], T], since: float = 0, *, as_stored: bool = False) -> T:
        """Return a function's result, calculated from one version of the data.

        If the transaction sees entries of a pool that no snapshot includes, it ends. One thread then brings the pool up
        to date, and the function starts again. During a long correction, the function reads the older snapshot.

        Args:
            find: a function that only reads, so that it can be repeated.
            since: minimum version of each pool, if its log has reached it.
            as_stored: True to read exactly the newest version, which proposals of changes require.

        Returns:
            The function's result.
        """
        if self._moment is not None:
            return find(self._moment)
        followed: dict[str, Held] = {}
        attempt = 0
        while True:
            try:
                with read_transaction(self.engine) as connection:
                    if as_stored and attempt == ATTEMPTS:  # others write continuously, so this thread folds the rest
                        return find(Moment(connection, self.snapshots, sees_ids=self.sees_ids))
                    accepted = {} if as_stored else followed
                    return find(Moment(connection, self.snapshots, {}, accepted, True, self.sees_ids))
            except BehindError as error:
                behind = error.pool_name
            followed[behind] = self.snapshots.follow(behind, NEWEST if as_stored else since)
            attempt += 1

    def read_pool(self, pool_name: str, find: Callable[[PoolReader], T], *, as_stored: bool = False) -> T:
        """Read a single version of a pool.

        Args:
            pool_name: the pool.
            find: a function that only reads, so that it can be repeated.
            as_stored: True to read exactly the newest version.

        Returns:
            The function's result.
        """
        return self.read(lambda moment: find(moment.pool(pool_name)), as_stored=as_stored)

    def read_view(self, find: Callable[[Self], T], since: float = 0) -> T:
        """Read all pools at one point in time.

        Args:
            find: a function of the store at that time. It only reads, so that it can be repeated.
            since: minimum version of each pool, if its log has reached it.

        Returns:
            The function's result.
        """
        return self.read(lambda moment: find(self._view(moment)), since)

    @contextmanager
    def reading(self, pool_name: str) -> Iterator[PoolReader]:
        """Open a transaction that sees one version of a pool.

        If the pool's snapshot is behind, this thread folds the rest.
        """
        with self._reading() as moment:
            yield moment.pool(pool_name)

    def pool(self, pool_name: str) -> Pool:
        """Find a pool.

        Returns:
            The pool, with its system.
        """
        return self.read_pool(pool_name, lambda pool: pool)

    def follow(self, pool_name: str) -> None:
        """Load a pool into memory before locking it, because folding a whole log takes a long time."""
        if not self.snapshots.holds(pool_name):
            self.snapshots.follow(pool_name, NEWEST)

    @contextmanager
    def locking(self, pool_name: str) -> Iterator[PoolReader]:
        """Open a transaction with exclusive access to a pool, regardless of the pool's state."""
        written: list[LogPlace] = []
        try:
            with locked_pool(self.engine, pool_name, self.observe_write) as pool:
                yield PoolReader.of(pool, self.snapshots, written=written)
        except BaseException:
            for place in written:
                self.snapshots.drop(pool, place)
            raise

    @contextmanager
    def writing(self, pool_name: str, *, even_closed: bool = False) -> Iterator[PoolReader]:
        """Return a transaction with exclusive access to a pool.

        Args:
            pool_name: the pool.
            even_closed: True for changes that are allowed even in a closed pool, because they do not affect ratings.

        Raises:
            StoreError: another revision of the arithmetic rated the pool, or it is closed.
        """
        with self.locking(pool_name) as pool:
            (refuse_other_arithmetic if even_closed else refuse_unwritable)(pool)
            yield pool


def reads(
    find: Callable[Concatenate[PoolReader, P], T], *, as_stored: bool = False
) -> Callable[Concatenate[Any, str, P], T]:
    """Return a store method that applies a function to one version of a pool, which is found by name."""

    @functools.wraps(find)
    def read(store: Moments, pool_name: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return store.read_pool(pool_name, lambda pool: find(pool, *args, **kwargs), as_stored=as_stored)

    return read


def writes(
    act: Callable[Concatenate[PoolReader, P], T], *, even_closed: bool = False, forgets: bool = False
) -> Callable[Concatenate[Any, str, P], T]:
    """Return a store method that applies a function to a pool in an exclusive transaction.

    With `forgets`, deleted texts are also removed from the write-ahead log. If a reader delays this, it happens on
    `close` at the latest.
    """

    @functools.wraps(act)
    def write(store: Moments, pool_name: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with store.writing(pool_name, even_closed=even_closed) as pool:
            answer = act(pool, *args, **kwargs)
            if forgets:
                kept.forget_texts(pool)
        if forgets:
            truncate_wal(store.engine)
        return answer

    return write
