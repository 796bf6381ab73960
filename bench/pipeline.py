"""Measure a run from Parquet to ratings and history: CPU seconds and peak memory, each in a separate process.

`python bench/pipeline.py` measures this tree. With `--base FOLDER` it takes turns with the sources of another tree,
such as `../main/src`. Every figure is the best of the rounds. A tree that cannot run a row has no figure for it.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from events import SEED, fields
from serving import peak_mb

HERE = Path(__file__).resolve()
SOURCES = str(HERE.parents[1] / "src")  # of this tree
POOLS = 40
POOL_PLAYERS = 2_000
RACE_ENTRANTS = 8


def write_duels(path: Path, duels: int) -> None:
    fields(duels, 2).table().drop("time_s").write_parquet(path)


def write_pools(folder: Path, entries: int) -> None:
    """Write pools of races of eight, one folder per pool, named `pool=NAME`."""
    rng = np.random.default_rng(SEED)
    races = entries // POOLS // RACE_ENTRANTS
    for pool in range(POOLS):
        first = np.arange(0, POOL_PLAYERS, POOL_PLAYERS // RACE_ENTRANTS)
        player = rng.permuted(first + rng.integers(0, first[1], (races, 1)), axis=1)
        number = np.repeat(np.arange(races), RACE_ENTRANTS)
        frame = pl.DataFrame(
            {
                "event_id": pl.Series(number + pool * races).cast(pl.String),
                "started_at": pl.Series(number * 60_000_000).cast(pl.Datetime("us", "UTC")),
                "player": pl.Series(player.ravel()).cast(pl.String),
                "position": np.tile(np.arange(1, RACE_ENTRANTS + 1), races),
            }
        )
        part = folder / f"pool=p{pool:03}" / "part-0.parquet"
        part.parent.mkdir(parents=True)
        frame.write_parquet(part)


def rate_whole(path: str, _: Path) -> int:
    import podium

    rated = podium.rate(path, "elo")
    return rated.ratings.height + rated.history.height


def rate_pools_at_once(path: str, _: Path) -> int:
    import podium

    return podium.rate(pl.scan_parquet(path, hive_partitioning=True), "elo").ratings.height


def rate_folder(path: str, _: Path) -> int:
    import podium

    return podium.rate(path, "elo").ratings.height


def rate_in_parts(path: str, folder: Path) -> int:
    import podium

    return podium.rate_parts(path, folder / "out", "elo").height


Run = Callable[[str, Path], int]
WHOLE = "1 M duels, ratings and history"
ROWS: dict[str, tuple[str, Run]] = {
    WHOLE: ("duels-1.parquet", rate_whole),
    "10 M duels, ratings and history": ("duels-10.parquet", rate_whole),
    "10 M duels in parts, history written": ("duels-10.parquet", rate_in_parts),
    "10 M entries of 40 pools, one table": ("pools", rate_pools_at_once),
    "10 M entries of 40 pools, a folder": ("pools", rate_folder),
}


def child(row: str, path: str) -> None:
    """Run one row, and print its time and memory, including imports."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        rows = ROWS[row][1](path, Path(folder))
        usage = resource.getrusage(resource.RUSAGE_SELF)
        figures = {
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "wall_s": time.perf_counter() - began,
            "peak_mb": peak_mb(),
            "rows": rows,
        }
    print(json.dumps(figures))


def run_child(sources: str, row: str, path: Path) -> dict[str, float] | None:
    environment = os.environ | {"PYTHONPATH": sources}
    command = [sys.executable, str(HERE), "--child", row, str(path)]
    out = subprocess.run(command, check=False, capture_output=True, env=environment)
    return json.loads(out.stdout) if out.returncode == 0 else None


def measure(rows: list[str], trees: dict[str, str], data: Path, rounds: int) -> dict[str, dict[str, Any]]:
    best: dict[str, dict[str, Any]] = {row: {} for row in rows}
    for _ in range(rounds):
        for row in rows:
            for tree, sources in trees.items():
                figures = run_child(sources, row, data / ROWS[row][0])
                if figures is not None:
                    before = best[row].get(tree, figures)
                    best[row][tree] = {name: min(before[name], value) for name, value in figures.items()}
    return best


def make_data(data: Path, rows: list[str]) -> None:
    data.mkdir(parents=True, exist_ok=True)
    for name in {ROWS[row][0] for row in rows}:
        if (data / name).exists():
            continue
        if name == "pools":
            write_pools(data / name, 10_000_000)
        else:
            write_duels(data / name, int(name.removeprefix("duels-").removesuffix(".parquet")) * 1_000_000)


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", help="sources of another tree to compare with")
    parser.add_argument("--rows", default="", help="only rows whose names contain this")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, help="folder for the tables [default: a temporary one]")
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        child(*chosen.child)
        return
    rows = [row for row in ROWS if chosen.rows in row]
    trees = ({"base": chosen.base} if chosen.base else {}) | {"this tree": SOURCES}
    with tempfile.TemporaryDirectory() as folder:
        data = chosen.data or Path(folder)
        make_data(data, rows)
        best = measure(rows, trees, data, chosen.rounds)
    print(f"{'row':40} {'tree':10} {'CPU s':>7} {'wall s':>7} {'peak MB':>8}")
    for row, figures in best.items():
        for tree, each in figures.items():
            print(f"{row:40} {tree:10} {each['cpu_s']:7.2f} {each['wall_s']:7.2f} {each['peak_mb']:8.0f}")
    if chosen.json:
        chosen.json.write_text(json.dumps(best, indent=2))


if __name__ == "__main__":
    main()
