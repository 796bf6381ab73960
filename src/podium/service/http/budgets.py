"""Budgets of requests: so many a second on average, and some more at once; held in memory, by process."""

import time
from collections import OrderedDict
from collections.abc import Hashable

MAX_BUDGETS = 10_000  # the one that was used least recently goes, and begins anew


class Budgets:
    """What each has left, whoever they are."""

    def __init__(self) -> None:
        self._left: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()  # when, and how much there was left

    def take(self, owner: Hashable, per_second: float, burst: float) -> int:
        """Take a request from a budget.

        Args:
            per_second: how fast it grows.
            burst: how large it gets.

        Returns:
            0, or the seconds until there is one to take.
        """
        now = time.monotonic()
        counted_at, left = self._left.pop(owner, (now, burst))
        left = min(burst, left + (now - counted_at) * per_second)
        is_enough = left >= 1.0
        self._left[owner] = now, left - 1.0 if is_enough else left
        if len(self._left) > MAX_BUDGETS:
            self._left.popitem(last=False)
        return 0 if is_enough else int((1.0 - left) / per_second) + 1
