"""Which pools everybody may read."""

import time

from podium.service.http.access import KEY_CACHE_S
from podium.service.http.threads import Threads, run_in
from podium.store import Store


class Visibility:
    """The names of the public pools, read again after a second."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store, self._threads = store, threads
        self._public: frozenset[str] = frozenset()
        self._read_at = float("-inf")

    async def public_pools(self) -> frozenset[str]:
        """Return their names.

        Raises:
            UnavailableError: the database cannot serve at the moment.
        """
        now = time.monotonic()
        if now - self._read_at >= KEY_CACHE_S:
            self._public = await run_in(self._threads.keys, self._store.public_pools)
            self._read_at = now
        return self._public
