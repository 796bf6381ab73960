"""Rate results larger than memory with `rate_parts` and `rate_pools`, and compare with one run of `rate`.

`python bench/parts.py --entries 4000000` makes a folder with one large pool and another with many pools. It rates the
first whole, in parts, and in parts by a process that is killed twice with SIGKILL. It rates the second whole, in
processes, and by two Dask workers, one of which is killed halfway. It prints CPU seconds and peak memory, and fails
unless all bits are the same.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

HERE = Path(__file__).resolve()
SEED = 20250101
ENTRANTS = 8  # of a race
FILES = 8
POOLS = 40
WORKERS = 2
LARGE, MANY = "whole", "many pools"  # rated in one run
KINDS = {LARGE: "large", "parts": "large", MANY: "pools", "processes": "pools", "dask": "pools"}  # the folder for each


def write_pool(folder: Path, entries: int, players: int, files: int = FILES, prefix: str = "") -> None:
    """Write races between random players, a minute apart, into several files."""
    rng = np.random.default_rng(SEED)
    folder.mkdir(parents=True)
    names = pl.Series([f"player {number}" for number in range(players)])
    races = np.array_split(np.arange(entries // ENTRANTS), files)
    for file, numbers in enumerate(races):
        first = np.sort(rng.integers(0, players - ENTRANTS + 1, (numbers.size, ENTRANTS)), axis=1)
        number = np.repeat(numbers, ENTRANTS)
        frame = pl.DataFrame(
            {
                "event_id": prefix + pl.Series(number).cast(pl.String),
                "started_at": pl.Series(number * 60_000_000).cast(pl.Datetime("us", "UTC")),
                "player": names[rng.permuted(first + np.arange(ENTRANTS), axis=1).ravel()],
                "position": np.tile(np.arange(1, ENTRANTS + 1), numbers.size),
            }
        )
        frame.write_parquet(folder / f"part-{file + 1}.parquet")


def write_folders(data: Path, entries: int, players: int) -> None:
    if not (data / "large").exists():
        write_pool(data / "large", entries, players)
    if not (data / "pools").exists():
        for pool in range(POOLS):
            own = max(players // POOLS, 2 * ENTRANTS)
            write_pool(data / "pools" / f"pool={pool:02}", entries // POOLS, own, 2, f"{pool:02}-")


def child(kind: str, source: Path, out: Path, options: dict[str, Any]) -> None:
    """Rate in one way, and print its figures."""
    from serving import peak_mb

    import podium

    if kind in (LARGE, MANY):
        rated = podium.rate(source, options["system"])
        (out / "history").mkdir(parents=True)
        rated.history.write_parquet(out / "history" / "all.parquet", compression="lz4")
        rated.save(out / "ratings.parquet")
    elif kind == "parts":
        podium.rate_parts(source, out, **options)
    elif kind == "processes":
        podium.rate_pools(source, out, **options)
    else:
        rate_by_dask(source, out, options)
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
    print(json.dumps({"cpu_s": cpu_s, "peak_mb": peak_mb(), "worker_peak_mb": others.ru_maxrss / 1024}))


def rate_by_dask(source: Path, out: Path, options: dict[str, Any]) -> None:
    """Rate pools by two Dask workers, and kill one once half of the pools are rated."""
    from threading import Thread

    import distributed

    import podium

    with (
        distributed.LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, memory_limit=0, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = min(client.run(os.getpid).values())

        def kill() -> None:
            while len(list(out.glob("*/ratings.parquet"))) < POOLS // 2:
                time.sleep(0.01)
            os.kill(victim, signal.SIGKILL)

        thread = Thread(target=kill, daemon=True)
        thread.start()
        podium.rate_pools(source, out, executor=client.get_executor(), **options)
        thread.join()


def run(kind: str, data: Path, options: dict[str, Any], kill_at: int | None = None, name: str = "") -> dict[str, float]:
    """Rate in one way in a separate process, and kill it once the history has this many parts."""
    out = data / (name or kind)
    if not name:
        shutil.rmtree(out, ignore_errors=True)
    words = [sys.executable, HERE, "--child", kind, data / KINDS[kind], out, json.dumps(options)]
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[1] / "src")}
    with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, env=environment) as process:
        while kill_at is not None and process.poll() is None:
            if len(list((out / "history").glob("part-*.parquet"))) >= kill_at:
                process.kill()
            time.sleep(0.01)
        printed = process.communicate()[0]
    if process.returncode not in (0, -signal.SIGKILL if kill_at is not None else 0):
        raise SystemExit(f"{kind} ended with {process.returncode}")
    return json.loads(printed) if printed else {}


def same_bits(one: Path, other: Path) -> bool:
    """Return True if two folders have the same history and the same states, row by row."""
    for pattern in ("history/*.parquet", "ratings.parquet"):
        tables = (pl.concat([pl.read_parquet(path) for path in sorted(out.rglob(pattern))]) for out in (one, other))
        if not next(tables).sort("pool", maintain_order=True).equals(next(tables).sort("pool", maintain_order=True)):
            return False
    return True


def same_bytes(one: Path, other: Path) -> bool:
    """Return True if two folders have the same files."""
    files = [{str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.parquet")} for out in (one, other)]
    return files[0] == files[1]


def measure(data: Path, system: str, rows: int) -> dict[str, dict[str, float | bool]]:
    """Rate both folders in all ways, and return the figures and True for each way with the same bits as one run."""
    options = {"system": system, "rows": rows}
    figures: dict[str, dict[str, float | bool]] = {kind: dict(run(kind, data, options)) for kind in KINDS}
    parts = len(list((data / "parts" / "history").iterdir()))
    shutil.rmtree(data / "killed", ignore_errors=True)
    kills = [run("parts", data, options, max(1, parts * k // 3), "killed") for k in (1, 2)]
    figures["killed"] = run("parts", data, options, name="killed") | {"kills": kills.count({})}
    figures["killed"]["same"] = same_bytes(data / "killed", data / "parts")
    figures["parts"]["same"] = same_bits(data / "parts", data / LARGE)
    for kind in ("processes", "dask"):
        figures[kind]["same"] = same_bits(data / kind, data / MANY)
    return figures


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=4_000_000)
    parser.add_argument("--players", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1 << 20, help="rows per part")
    parser.add_argument("--systems", default="elo,glicko2,podium")
    parser.add_argument("--data", type=Path, help="folder for the results [default: a temporary one]")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        kind, source, out, options = chosen.child
        child(kind, Path(source), Path(out), json.loads(options))
        return
    with tempfile.TemporaryDirectory() as folder:
        data = chosen.data or Path(folder)
        write_folders(data, chosen.entries, chosen.players)
        same = True
        for system in chosen.systems.split(","):
            for kind, each in measure(data, system, chosen.rows).items():
                print(f"{system:10} {kind:10} " + "  ".join(f"{name} {value:.6g}" for name, value in each.items()))
                same &= bool(each.get("same", True))
    if not same:
        raise SystemExit("some bits differ")


if __name__ == "__main__":
    main()
