"""The stakes that are kept: one table at a time is worked out for a pool, and a minute old one may be shown."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Annotated, Any, Final, NamedTuple

from podium.ledger.stakes import Stakes
from podium.service.http.threads import from_state
from podium.store import Store
from podium.store.reading.moments import VersionCache
from podium.store.writing.fixtures import Fixture

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

    def of_race(
        self, store: Store, pool: str, planned: Fixture, player: str | None, *, heats: int = 1, is_fixture: bool = True
    ) -> Aged:
        """Return the stakes of a race as it is planned, of its first entrant or of a player, at most a minute old.

        Args:
            is_fixture: whether the store knows it by its id; else it is a registered match.
        """
        members = planned.members

        def find() -> Stakes:
            if is_fixture:
                return store.stakes(pool, fixture=planned.fixture_id, player=player, heats=heats)
            return store.stakes(pool, player=player, sides=members, heats=heats)

        return self.find(store, pool, (planned.fixture_id, planned.starts_at, str(members), player, heats), find)

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
