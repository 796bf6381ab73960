"""Answers that are kept in memory, each with its version, as long as there is room."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

from podium.support.collector import size_of

T = TypeVar("T")


class Answers:
    """Answers of all pools by what they answer, each with its version; the one wanted longest ago goes first."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes, self.nbytes = most_bytes, 0
        self._answers: OrderedDict[Hashable, tuple[Hashable, Any, int]] = OrderedDict()
        self._lock = Lock()

    def value(self, key: Hashable, version: Hashable, find: Callable[[], T]) -> T:
        """Return the answer of a version; find it if another version's is kept."""
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
        """Keep an answer, unless it takes all the memory by itself."""
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
