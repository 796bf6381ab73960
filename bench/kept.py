"""Measure the first read of a pool, from its log and from its kept snapshot: `python bench/kept.py DATABASE`.

Each read of each pool runs in a separate process. The script deletes the kept snapshots, reads the log once, keeps the
snapshot, and reads that several times. The columns must be equal.
"""

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time
from contextlib import closing
from importlib import import_module

ROUNDS = 5
LIBRARIES = "numba", "polars", "zstandard"  # its start is not measured


def read_first(database: str, pool_name: str, *, keeps: bool) -> dict[str, float | str | int]:
    """Read a pool in this process, and return its time and size."""
    from unittest import mock

    for name in LIBRARIES:
        import_module(name)
    from podium.store import Store

    with mock.patch.object(Store, "keep_large_snapshots"), closing(Store(database, must_exist=True)) as store:
        cpu, wall = time.process_time(), time.perf_counter()
        with store.reading(pool_name) as pool:
            snapshot = pool.snapshot
        found: dict[str, float | str | int] = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        digest = hashlib.sha256()
        for name in ("event", "slot", "previous", "rank", "place", "before", "state"):
            digest.update(snapshot.rows.part(name).tobytes())
        found |= {"changes": snapshot.rows.size, "digest": digest.hexdigest()}
        cpu = time.process_time()
        if keeps and store.keep_snapshot(pool_name, entries=0):
            found["keep"] = time.process_time() - cpu
    return found


def in_a_process(database: str, pool_name: str, *words: str) -> dict[str, float]:
    program = [sys.executable, __file__, database, "--pool", pool_name, *words]
    return json.loads(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Measure every pool, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--pool", help=argparse.SUPPRESS)  # for a separate process
    parser.add_argument("--keep", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.pool:
        print(json.dumps(read_first(chosen.database, chosen.pool, keeps=chosen.keep)))
        return
    import sqlalchemy as sa

    from podium.log.schema import kept
    from podium.store import Store

    with closing(Store(chosen.database, must_exist=True)) as store, store.engine.begin() as connection:
        connection.execute(sa.delete(kept))
        names = [each.name for each in store.pools()]
    titles = "log, CPU s", "keep, CPU s", "kept, CPU s", "kept, wall s", "MB"
    print(f"{'pool':20} {'changes':>10}", *(f"{each:>12}" for each in titles))
    for name in names:
        log = in_a_process(chosen.database, name, "--keep")
        rounds = [in_a_process(chosen.database, name) for _ in range(chosen.rounds)]
        if {each["digest"] for each in rounds} != {log["digest"]}:
            sys.exit(f"{name}: the kept snapshot has other columns than the log gives")
        with closing(Store(chosen.database)) as store, store.engine.connect() as connection:
            size = connection.execute(sa.select(sa.func.sum(sa.func.length(kept.c.body)))).scalar()
        cpu, wall = (statistics.median(each[key] for each in rounds) for key in ("cpu", "wall"))
        spent = log["cpu"], log.get("keep", 0.0), cpu, wall, (size or 0) / 1e6
        print(f"{name:20} {log['changes']:10,}", *(f"{each:12.2f}" for each in spent))


if __name__ == "__main__":
    main()
