"""Processes without HTTP: starts of the store, its memory, whole commands, and compilation."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import polars as pl
from events import fields
from pipeline import WHOLE, run_child, write_duels
from serving import PODIUM, SOURCES, environment_for
from setting import SMALL_DUELS, SMALL_PLAYERS, SMALL_POOLS, Setting, duels, fill
from targets import NO_SLOWER, Row

STARTS, RUNS, COMPILATIONS = 5, 2, 2
FIVE = [word for name in ("elo", "glicko2", "trueskill", "openskill-pl", "folyami") for word in ("-s", name)]
VARIANTS = {"elo:margin=log": "duels.parquet", "adaptive": "races.parquet"}


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
    millions = setting.changes / 1_000_000
    return [
        Row("memory per change", [each["bytes"] for each in logs], "bytes", most=120.0),
        Row("start from the cache", [each["seconds"] for each in kept], "s", most=0.2 * millions),
        Row("start from the log, per 1,000,000", [each["seconds"] / millions for each in logs], "s", most=5.0),
        Row(f"start of {SMALL_POOLS} pools", small, "s", most=3.0),
    ]


def cpu_s(words: list[str], sources: Path, folder: Path, **variables: str) -> float:
    """Return the CPU seconds of a command in a separate process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [*PODIUM, *words], cwd=folder, check=False, capture_output=True, text=True,
        env=environment_for(sources) | variables,
    )  # fmt: skip
    if run.returncode:
        sys.exit(f"podium {' '.join(words)}: {run.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def analysis(setting: Setting) -> list[Row]:
    """Measure commands on files, by turns with REF, in CPU seconds."""
    folder = setting.new_folder("files")
    write_duels(folder / "all.parquet", setting.file_duels)
    duels(0, 100_000, 10_000).write_parquet(folder / "many.parquet")
    duels(0, 20_000, 1_000).write_parquet(folder / "some.parquet")
    fields(250, 8, 1_000).table().drop("time_s").write_parquet(folder / "races.parquet")
    tune = ["tune", "some.parquet", "-s", "elo", "--train-until", "60%", "--trials", "100"]
    commands = {
        "evaluate, five systems": ["evaluate", "many.parquet", *FIVE],
        "tune, 100 trials": tune,
        "site, 1,000 players": ["site", "races.parquet", "-o"],
    }
    whole = f"{setting.file_duels:,} duels from Parquet to history"
    found = {name: {tree: [] for tree in setting.trees} for name in (whole, *commands)}
    for k in range(1 + RUNS):  # the first round compiles
        for tree, sources in setting.trees.items():
            if k:
                found[whole][tree].append(run_child(str(sources), WHOLE, folder / "all.parquet")["cpu_s"])
            for name, words in commands.items():
                out = [f"{name} {tree}"] if words[-1] == "-o" else []
                if k == RUNS or not out:  # a site takes a minute, and compiles nothing
                    found[name][tree].append(cpu_s([*words, *out], sources, folder))
    rows = []
    for name, times in found.items():
        rows.append(Row(f"{name}, CPU", times["Podium"][-RUNS:], "s"))
        if "REF" in setting.trees:
            most = 0.8 if name == whole else 1.0 / NO_SLOWER
            rows.append(Row("of REF's", ratio(times)[-RUNS:], "x", most=most))
    return rows


def ratio(times: dict[str, list[float]]) -> list[float]:
    """Return the time of each round as a share of REF's."""
    return [own / other for own, other in zip(times["Podium"], times["REF"], strict=True)]


def compilation(setting: Setting) -> list[Row]:
    """Measure how much more CPU time the first run of a variant takes, with plain Elo already compiled."""
    folder = setting.new_folder("compilation")
    duels(0, 20_000, 1_000).with_columns(score=2.0 - pl.col("position")).write_parquet(folder / "duels.parquet")
    fields(5_000, 8, 1_000).table().drop("time_s").write_parquet(folder / "races.parquet")
    took = {variant: [] for variant in VARIANTS}
    for k in range(COMPILATIONS):
        cache = {"PODIUM_CACHE_DIR": str(folder / f"cache {k}")}
        cpu_s(["rate", "duels.parquet", "-s", "elo"], SOURCES, folder, **cache)
        for variant, file in VARIANTS.items():
            first, again = (cpu_s(["rate", file, "-s", variant], SOURCES, folder, **cache) for _ in range(2))
            took[variant].append(first - again)
    return [Row(f"{variant}, first run, CPU", values, "s", most=5.0) for variant, values in took.items()]
