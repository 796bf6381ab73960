"""A pool at one point in time, from which every response is calculated."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from podium.errors import ParameterError
from podium.log.pools import PoolView
from podium.pool.snapshot import Snapshot
from podium.support.collector import size_of

T = TypeVar("T")
MAX_NUMBER = 2**62  # larger than any start, score, player number or log entry number


class Answers:
    """Cached responses for all pools, by key, each with its version.

    The least recently used response is dropped first.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes, self.nbytes = most_bytes, 0
        self._answers: OrderedDict[Hashable, tuple[Hashable, Any, int]] = OrderedDict()
        self._lock = Lock()

    def value(self, key: Hashable, version: Hashable, find: Callable[[], T]) -> T:
        """Return the response for a version. Calculate it unless this version is cached."""
        with self._lock:
            kept, answer, _ = self._answers.get(key, (None, None, 0))
            if key in self._answers:
                self._answers.move_to_end(key)
        if kept != version:
            answer = find()
            self.keep(key, version, answer)
        found: T = answer
        return found

    def keep(self, key: Hashable, version: Hashable, answer: Any) -> None:
        """Cache a response, unless it would fill the whole cache by itself."""
        size = size_of(key) + size_of(answer)
        with self._lock:
            _, _, former = self._answers.pop(key, (None, None, 0))
            self.nbytes -= former
            if size <= self.most_bytes:
                self._answers[key] = version, answer, size
                self.nbytes += size
            while self.nbytes > self.most_bytes:
                _, (_, _, gone) = self._answers.popitem(last=False)
                self.nbytes -= gone


def read_cursor(cursor: str, page: str, *kinds: type[int] | type[float]) -> tuple[Any, ...]:
    """Return the numbers encoded in the `next` value of a page.

    Raises:
        ParameterError: the value is not a cursor.
    """
    try:
        found: tuple[float, ...] = tuple(kind(part) for kind, part in zip(kinds, cursor.split(","), strict=True))
    except ValueError:
        found = (MAX_NUMBER,)
    if not all(abs(number) < MAX_NUMBER for number in found):
        raise ParameterError(f"the cursor {cursor!r} is not the `next` of {page}")
    return found


@dataclass(frozen=True)
class PoolAt(PoolView):
    """A pool as one transaction sees it: its columns in memory, and the names of its players."""

    answers: Answers = field(kw_only=True, repr=False, compare=False)  # the cached responses of all pools
    # True if players can be looked up by their IDs in other programs, even if the pool hides these
    sees_ids: bool = field(default=True, kw_only=True, compare=False)

    @property
    def snapshot(self) -> Snapshot:
        """The pool in memory, as this transaction sees it."""
        raise NotImplementedError

    def version(self) -> int:
        """The version of the pool to which this transaction's responses belong.

        Returns:
            The number of the latest log entry, or 0 if the log is empty.
        """
        raise NotImplementedError

    def edition(self) -> str:
        """Identify the pool and the newest log entry that this transaction's responses include."""
        raise NotImplementedError

    def value(self, key: tuple[Hashable, ...], find: Callable[[], T], version: Hashable = None) -> T:
        """Return a response about this pool. It is calculated once for each edition of the pool.

        Args:
            key: name under which the response is cached.
            find: function that calculates the response.
            version: further values that the response depends on.
        """
        return self.answers.value((self.id, *key), (self.edition(), version), find)
