"""Answers that take long to work out, each kept as long as nothing is logged that could change it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

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
