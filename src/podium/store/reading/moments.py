"""Reads that see one moment of the database, each in a transaction of its own, or several in one."""

import copy
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Self, TypeVar

import sqlalchemy as sa

from podium.store.log.pools import Pool, get_pool
from podium.store.sql.database import read_transaction


@dataclass(frozen=True, slots=True)
class Moment:
    """A transaction that reads, and the pools that it found."""

    connection: sa.Connection
    pools: dict[str, Pool] = field(default_factory=dict)


class Moments:
    """A database that is read."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self._moment: Moment | None = None  # that all reads see; each has its own where None

    @contextmanager
    def at_one_moment(self) -> Iterator[Self]:
        """Let several reads see one moment, each number of which fits every other.

        Yields:
            The store as it is at the first read; it is one thread's, and ends with the block.
        """
        if self._moment is not None:
            yield self
            return
        with read_transaction(self.engine) as connection:
            view = copy.copy(self)
            view._moment = Moment(connection)  # noqa: SLF001  (its own)
            yield view

    @contextmanager
    def _reading_all(self) -> Iterator[sa.Connection]:
        """A transaction that sees one moment."""
        if self._moment is not None:
            yield self._moment.connection
            return
        with read_transaction(self.engine) as connection:
            yield connection

    @contextmanager
    def reading(self, pool_name: str) -> Iterator[tuple[sa.Connection, Pool]]:
        """A transaction that sees one moment of a pool."""
        with self._reading_all() as connection:
            if self._moment is None:
                yield connection, get_pool(connection, pool_name)
                return
            pools = self._moment.pools
            if pool_name not in pools:
                pools[pool_name] = get_pool(connection, pool_name)
            yield connection, pools[pool_name]


T = TypeVar("T")


class VersionCache:
    """The newest answers by what they answer, each with the version that it is of."""

    def __init__(self, most: int = 512) -> None:
        self._most = most
        self._answers: OrderedDict[Hashable, tuple[Hashable, Any]] = OrderedDict()
        self._lock = Lock()

    def value(self, key: Hashable, version: Hashable, find: Callable[[], T]) -> T:
        """Return the answer of a version, found anew where another's is kept.

        Args:
            key: what it answers.
            version: as long as it is the same, so is the answer.
            find: works it out; several threads may at once.

        Returns:
            The answer.
        """
        with self._lock:
            kept, answer = self._answers.get(key, (None, None))
        if kept != version:
            answer = find()
            self.keep(key, version, answer)
        found: T = answer
        return found

    def keep(self, key: Hashable, version: Hashable, answer: Any) -> None:
        """Take an answer that is known from elsewhere; the oldest goes where there are too many."""
        with self._lock:
            self._answers[key] = version, answer
            self._answers.move_to_end(key)
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)
