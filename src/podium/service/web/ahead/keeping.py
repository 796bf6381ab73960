"""The stakes that are kept: one table at a time is worked out for a pool, and a minute old one may be shown."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Annotated, Any, Final, NamedTuple

from podium.ledger.stakes.stakes import Stakes
from podium.service.http.threads import from_state
from podium.store import Store
from podium.store.reading.moments import VersionCache

MOST_AGE_S: Final = 60.0
MOST_TABLES: Final = 256


class Aged(NamedTuple):
    """Stakes, and since when there may be newer results."""

    stakes: Stakes
    age_s: float  # 0 where they are as of now


class KeptStakes:
    """The stakes of races that were looked at lately."""

    def __init__(self) -> None:
        self._tables = VersionCache(most=MOST_TABLES)
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def find(self, store: Store, pool: str, key: tuple[Any, ...], find: Callable[[], Stakes]) -> Aged:
        """Return the stakes of a race of a pool, at most a minute old.

        Args:
            key: what race, and whose table.
            find: works them out.
        """
        version = store.version(pool)
        found = self._kept(pool, key, version)
        if found is None:
            with self._turns[pool]:
                found = self._kept(pool, key, version)  # by who had the turn before
                if found is None:
                    found = Aged(find(), 0.0)
                    self._tables.keep((pool, key), None, (version, time.monotonic(), found.stakes))
        return found

    def _kept(self, pool: str, key: tuple[Any, ...], version: int) -> Aged | None:
        kept = self._tables.value((pool, key), None, lambda: None)
        if kept is None:
            return None
        of_version, made, table = kept
        age_s = 0.0 if of_version == version else time.monotonic() - made
        return Aged(table, age_s) if age_s <= MOST_AGE_S else None


CurrentStakes = Annotated[KeptStakes, from_state("stakes")]
