"""Measure the service and the commands against their targets, and print one table: part of `make bench`.

    python bench/service.py [--only GROUP …] [--ref REVISION] [--large] [--json FILE] [--changes N] [--seconds S]

The script starts its own servers and databases on the loopback address, in a temporary folder. With `--ref` it takes
turns with another revision, or with a folder of its sources; without it, comparisons are left out. Both use today's
packages. `--large` fills a pool with 10,000,000 changes instead of 1,000,000, which takes ten times as long. `--data`
keeps that pool in a folder and uses it again. Absolute times are wall-clock times, and hold on two quiet cores. A
figure is the median of several rounds.
"""

import argparse
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import commands
from against import check_out
from corrections import corrections
from posts import delayed, posts, workers
from reads import reads
from serving import SOURCES
from setting import Setting
from targets import Row, table

GROUPS: dict[str, Callable[[Setting], list[Row]]] = {
    "Posts over HTTP, SQLite": posts,
    "PostgreSQL with several workers": workers,
    "PostgreSQL behind a delay of 20 ms, two workers": delayed,
    "Memory and start": commands.starts,
    "Reads over HTTP": reads,
    "Corrections": corrections,
    "From file to result": commands.analysis,
    "Cold compilation": commands.compilation,
}
MOST_CHANGES = 10_000_000


def main() -> None:
    """Measure, print the table, and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="only groups whose names contain this")
    parser.add_argument("--ref", help="revision to compare with, or a folder of its sources")
    parser.add_argument("--changes", type=int, default=1_000_000, help="rating changes of the large pool")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a round of requests")
    parser.add_argument("--large", action="store_true", help=f"a pool of {MOST_CHANGES:,} changes")
    parser.add_argument("--data", type=Path, help="folder for the large pool [default: a temporary one]")
    parser.add_argument("--json", type=Path, help="file for the figures")
    chosen = parser.parse_args()
    groups: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory(prefix="podium-bench-") as folder, ExitStack() as stack:
        trees = {"Podium": SOURCES}
        if chosen.ref:
            given = Path(chosen.ref)
            trees["REF"] = given if given.is_dir() else stack.enter_context(check_out(chosen.ref)) / "src"
        changes = MOST_CHANGES if chosen.large else chosen.changes
        setting = Setting(Path(folder), trees, changes, chosen.seconds, chosen.data or Path(folder))
        for name, measure in GROUPS.items():
            if chosen.only and not any(each in name for each in chosen.only):
                continue
            began = time.perf_counter()
            try:
                groups[name] = measure(setting)
            except (Exception, SystemExit) as problem:  # noqa: BLE001  (the other groups are still worth measuring)
                traceback.print_exc()
                groups[f"{name}: not measured, {type(problem).__name__}"] = []
                continue
            for row in groups[name]:
                print(row.line(), file=sys.stderr)
            print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
            if chosen.json:  # after each group, so that an interrupted run keeps what it has measured
                figures = {"load": os.getloadavg()[1], "changes": changes, "ref": chosen.ref}
                rows = {name: [asdict(row) for row in rows] for name, rows in groups.items()}
                chosen.json.write_text(json.dumps(figures | {"groups": rows}, indent=1))
    print("\n".join(table(groups)))


if __name__ == "__main__":
    main()
