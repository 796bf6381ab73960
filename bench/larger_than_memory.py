"""One pool larger than memory: rated from the command line in one run, and in a run that is killed twice.

`python bench/larger_than_memory.py --entries 100000000` makes the pool, a folder of Parquet files; rates it with
`podium rate FOLDER --ratings --history --checkpoint`, measuring CPU seconds and peak memory from outside; rates it
again, killing the process with SIGKILL when a third and two thirds of the parts are written; and compares every byte of
both runs' ratings and histories. It fails where they differ.
"""

import argparse
import hashlib
import json
import os
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
FILE_ROWS = 1 << 21
COMMAND = "from podium.cli import main; main()"


def write_pool(folder: Path, entries: int, entrants: int, players: int, file_rows: int = FILE_ROWS) -> None:
    """Races between random players, a minute apart, several files."""
    rng = np.random.default_rng(SEED)
    folder.mkdir(parents=True)
    names = pl.Series([f"player {number}" for number in range(players)])
    events, races = entries // entrants, file_rows // entrants
    for file, first in enumerate(range(0, events, races)):
        count = min(races, events - first)
        drawn = np.sort(rng.integers(0, players - entrants + 1, (count, entrants)), axis=1) + np.arange(entrants)
        number = np.repeat(np.arange(first, first + count), entrants)
        frame = pl.DataFrame(
            {
                "event_id": pl.Series(number).cast(pl.String),
                "started_at": pl.Series(number * 60_000_000).cast(pl.Datetime("us", "UTC")),
                "player": names[rng.permuted(drawn, axis=1).ravel()],
                "position": np.tile(np.arange(1, entrants + 1), count),
            }
        )
        frame.write_parquet(folder / f"{file:05}.parquet")


def rate(results: Path, out: Path, options: list[str], kill_at: int | None = None) -> dict[str, float]:
    """Run the command; kill it as soon as so many parts of the history are there.

    Returns:
        What it took, and how many parts were there in the end.
    """
    out.mkdir(exist_ok=True)
    paths = ["--ratings", out / "ratings.parquet", "--history", out / "history", "--checkpoint", out / "state"]
    command = [sys.executable, "-c", COMMAND, "rate", results, *paths, "--format", "csv", *options]
    began, peak_mb = time.perf_counter(), 0.0
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL) as process:
        while True:
            peak_mb = max(peak_mb, resident_peak_mb(process.pid))
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            if kill_at is not None and parts_in(out) >= kill_at:
                process.send_signal(signal.SIGKILL)
            time.sleep(0.05)
    expected = 0 if kill_at is None else -signal.SIGKILL
    if process.returncode != expected:
        raise SystemExit(f"the command ended with {process.returncode}, not {expected}")
    return {
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "wall_s": time.perf_counter() - began,
        "peak_mb": peak_mb,
        "parts": parts_in(out),
    }


def resident_peak_mb(pid: int) -> float:
    """The most memory that a process has had so far; 0 where that is not known any more."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((float(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM")), 0.0)


def parts_in(out: Path) -> int:
    return sum(1 for _ in (out / "history").glob("part-*.parquet"))


def digests(out: Path) -> dict[str, Any]:
    """Digests of every byte of the ratings, and of the history's files in turn, and their size."""
    history, size = hashlib.blake2b(digest_size=16), 0
    for path in sorted((out / "history").iterdir()):
        history.update(path.name.encode() + path.read_bytes())
        size += path.stat().st_size
    ratings = hashlib.blake2b((out / "ratings.parquet").read_bytes(), digest_size=16)
    return {"ratings": ratings.hexdigest(), "history": history.hexdigest(), "history_mb": size / 1e6}


def measure(folder: Path, entries: int, entrants: int, players: int, options: list[str]) -> dict[str, Any]:
    """Make the pool, rate it in one run and in one that is killed twice, and compare them."""
    results = folder / "results"
    if not results.exists():
        write_pool(results, entries, entrants, players)
    shutil.rmtree(folder / "one", ignore_errors=True)
    shutil.rmtree(folder / "killed", ignore_errors=True)
    one = rate(results, folder / "one", options)
    whole = digests(folder / "one")
    shutil.rmtree(folder / "one")
    parts = int(one["parts"])
    killed = [rate(results, folder / "killed", options, kill_at=max(1, parts * k // 3)) for k in (1, 2)]
    last = rate(results, folder / "killed", options)
    again = digests(folder / "killed")
    return {
        "entries": entries,
        "entrants": entrants,
        "players": players,
        "results_mb": sum(path.stat().st_size for path in results.iterdir()) / 1e6,
        "one run": one | whole,
        "killed twice": {"runs": [*killed, last], **again},
        "same bits": whole == again,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--entrants", type=int, default=8, help="of a race")
    parser.add_argument("--players", type=int, default=100_000)
    parser.add_argument("--data", type=Path, help="where the pool is made and stays; gone afterwards if not given")
    parser.add_argument("options", nargs="*", help="more options of podium rate, after --")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = chosen.data or Path(folder)
        figures = measure(place, chosen.entries, chosen.entrants, chosen.players, chosen.options)
    print(json.dumps(figures, indent=2))
    if not figures["same bits"]:
        raise SystemExit("the run that was killed has other bits")


if __name__ == "__main__":
    main()
