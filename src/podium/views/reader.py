"""A pool at one point in time, as all answers read it."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

from podium.log.pools import PoolView
from podium.pool.snapshot import Snapshot
from podium.views.answers import Answers

T = TypeVar("T")


@dataclass(frozen=True)
class PoolAt(PoolView):
    """A pool as a transaction sees it: its columns in memory, and the names of its players."""

    @property
    def snapshot(self) -> Snapshot:
        """The pool as this transaction sees it, in memory."""
        raise NotImplementedError

    @property
    def answers(self) -> Answers:
        """The answers of all pools that are kept."""
        raise NotImplementedError

    def version(self) -> int:
        """Find the version of a pool that answers from this transaction are of.

        Returns:
            The number of the newest log entry that they know of; 0 before the first one.
        """
        raise NotImplementedError

    def value(self, key: tuple[Hashable, ...], find: Callable[[], T], version: Hashable = None) -> T:
        """Return an answer of this pool, found once for each of its versions.

        Args:
            key: what is answered.
            find: finds the answer.
            version: of the answer, if it has another than the pool.
        """
        return self.answers.value((self.id, *key), self.snapshot.seq if version is None else version, find)
