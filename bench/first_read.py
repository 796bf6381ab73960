"""Measure the first read of all pools of a database in this process: `python bench/first_read.py DATABASE cache|log`.

The start of the libraries is not measured. With `log` the script deletes the stored caches first, and the first pool
compiles before the measurement. It prints JSON: seconds, changes, and bytes of memory of each change.
"""

import json
import sys
import time
from importlib import import_module
from unittest import mock

LIBRARIES = "numba", "polars", "zstandard", "sqlalchemy", "podium.store"


def main() -> None:
    """Read, and print the figures."""
    database, source = sys.argv[1:]
    for name in LIBRARIES:
        import_module(name)
    import sqlalchemy as sa

    from podium.log.schema import kept
    from podium.store import Store

    with mock.patch.object(Store, "keep_large_snapshots"):
        store = Store(database, must_exist=True)
        names = sorted((each.name for each in store.pools()), key=lambda name: name == "large")
        if source == "log":
            with store.engine.begin() as connection:
                connection.execute(sa.delete(kept))
            store.leaderboard(names[0])
        began = time.perf_counter()
        for name in names:
            store.leaderboard(name)
        seconds, changes, held = time.perf_counter() - began, 0, 0
        for name in names:
            with store.reading(name) as pool:
                changes += pool.snapshot.rows.size
                held += sum(pool.snapshot.memory().values())
        store.close()
    print(json.dumps({"seconds": seconds, "changes": changes, "bytes": held / changes}))


if __name__ == "__main__":
    main()
