"""Processes without HTTP: starts of the store, its memory, whole commands, and compilation."""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
from pipeline import WHOLE, run_child, write_duels
from serving import PODIUM, SOURCES, environment_for
from setting import SMALL_DUELS, SMALL_PLAYERS, SMALL_POOLS, Setting, duels, fill
from targets import NO_SLOWER, Row

STARTS, RUNS, COMPILATIONS = 5, 3, 3
FIVE = ("elo", "glicko2", "trueskill", "openskill-pl", "folyami")
VARIANT = "elo:margin=log"


def read_in_a_process(path: Path, source: str) -> dict[str, float]:
    """Read all pools of a database for the first time in a new process, from their caches or from their logs."""
    command = [sys.executable, str(Path(__file__).with_name("first_read.py")), str(path), source]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment_for(SOURCES))
    return json.loads(run.stdout)


def starts(setting: Setting) -> list[Row]:
    """Measure how long the first read of pools takes, and the memory of a change."""
    path = setting.copy_of_large("starts") / "podium.db"
    kept = [read_in_a_process(path, "cache") for _ in range(STARTS)]
    logs = [read_in_a_process(path, "log") for _ in range(2)]
    many = setting.new_folder("many") / "podium.db"
    fill(many, {f"pool-{number}": (SMALL_DUELS, SMALL_PLAYERS) for number in range(SMALL_POOLS)})
    small = [read_in_a_process(many, "cache")["seconds"] for _ in range(STARTS)]
    millions, size = setting.changes / 1_000_000, f"{setting.changes:,} changes"
    return [
        Row("memory of a change", [each["bytes"] for each in logs], "bytes", most=120.0),
        Row(
            f"first read of {size}, from the cache",
            [each["seconds"] for each in kept],
            "s",
            most=max(0.2 * millions, 0.1),
        ),
        Row("from the log, for each 1,000,000 changes", [each["seconds"] / millions for each in logs], "s", most=5.0),
        Row(f"first read of {SMALL_POOLS} pools of {SMALL_PLAYERS} players", small, "s", most=3.0),
    ]


def spent(words: list[str], sources: Path, folder: Path, **variables: str) -> tuple[float, float]:
    """Return the CPU and wall-clock seconds of a command in a separate process."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run = subprocess.run(
        [*PODIUM, *words], cwd=folder, check=False, capture_output=True, text=True,
        env=environment_for(sources) | variables,
    )  # fmt: skip
    if run.returncode:
        sys.exit(f"podium {' '.join(words)}: {run.stderr}")
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def analysis(setting: Setting) -> list[Row]:
    """Measure commands on files, by turns with REF, in CPU seconds."""
    folder = setting.new_folder("files")
    write_duels(folder / "all.parquet", setting.file_duels)
    duels(0, 100_000, 10_000).write_parquet(folder / "many.parquet")
    duels(0, 20_000, 1_000).write_parquet(folder / "some.parquet")
    duels(0, 3_000, 1_000).write_parquet(folder / "few.parquet")
    systems = [word for name in FIVE for word in ("-s", name)]
    commands = {
        "evaluate five systems on 100,000 duels": ["evaluate", "many.parquet", *systems],
        "tune with 100 trials on 20,000 duels": ["tune", "some.parquet", "-s", "elo", "--trials", "100"],
        "site of 1,000 players": ["site", "few.parquet", "-o"],
    }
    found = {name: {tree: [] for tree in setting.trees} for name in commands}
    whole = {tree: [] for tree in setting.trees}
    for k in range(1 + RUNS):  # the first round compiles
        for tree, sources in setting.trees.items():
            if k:
                whole[tree].append(run_child(str(sources), WHOLE, folder / "all.parquet")["cpu_s"])
            for name, words in commands.items():
                out = [f"site {tree} {k}"] if words[-1] == "-o" else []
                cpu_s, _ = spent([*words, *out], sources, folder)
                if k:
                    found[name][tree].append(cpu_s)
    size = f"{setting.file_duels:,} duels from Parquet to ratings and history"
    rows = [Row(f"{size}, CPU", whole["Podium"], "s")]
    if "REF" in setting.trees:
        rows.append(Row("the same, of REF's CPU", ratio(whole), "x", most=0.8))
    for name, times in found.items():
        rows.append(Row(f"{name}, CPU", times["Podium"], "s"))
        if "REF" in setting.trees:
            rows.append(Row("the same, of REF's CPU", ratio(times), "x", most=1.0 / NO_SLOWER))
    return rows


def ratio(times: dict[str, list[float]]) -> list[float]:
    """Return the time of each round as a share of REF's."""
    return [own / other for own, other in zip(times["Podium"], times["REF"], strict=True)]


def compilation(setting: Setting) -> list[Row]:
    """Measure how much longer the first run of a variant takes, when only plain Elo is compiled."""
    folder, took = setting.new_folder("compilation"), []
    table = duels(0, 10, 5).with_columns(score=pl.Series(np.tile([2.0, 1.0], 10)))
    table.write_parquet(folder / "few.parquet")
    for k in range(COMPILATIONS):
        cache = {"PODIUM_CACHE_DIR": str(folder / f"cache {k}")}
        spent(["rate", "few.parquet", "-s", "elo"], SOURCES, folder, **cache)
        first, again = (spent(["rate", "few.parquet", "-s", VARIANT], SOURCES, folder, **cache)[1] for _ in range(2))
        took.append(first - again)
    return [Row(f"first run of {VARIANT}, beyond the second", took, "s", most=5.0)]
