"""Podium against the peers that can be installed, on one machine in one run: `make bench`.

Every row rates events of one shape made by one seed. `load` is importing and getting ready, `first` the first
run over ten events (for Podium: compiling, or loading what was compiled), `events/s` the best of several runs.
Peers that take longer rate fewer of the same events. `ratio` is to the first contender of the shape.
"""

import argparse
import importlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from pathlib import Path

import numpy as np
import peers
import polars as pl
from events import PLAYERS, Fields, fields

import podium
from podium.analysis.batched import log_losses
from podium.analysis.evaluation import Window, judged_heats
from podium.analysis.predictions import HeatSelection, predict
from podium.engine.encoding import encode
from podium.engine.replay import newcomers, states_after
from podium.engine.system import System
from podium.kernels.records import LANES
from podium.systems import find


@dataclass
class Row:
    """What was measured of a contender."""

    shape: str
    contender: str
    events: int
    load_s: float
    first_s: float
    events_per_s: float
    ratio: float = 1.0


def podium_kernel(system: str) -> Callable[[Fields], peers.Timed]:
    """The replay of a system alone: table read and encoded before."""

    def ready(races: Fields) -> peers.Timed:
        instance = find(system)()
        columns = encode(podium.read_results(races.table()), instance).columns
        events = races.player.shape[0]
        return lambda: states_after(instance, columns, 0, events, newcomers(instance, PLAYERS))

    return ready


DUELS: dict[str, tuple[Callable[[Fields], peers.Timed], int]] = {
    "riix Elo": (peers.riix_elo, 200_000),
    "elote Elo": (peers.elote_elo, 20_000),
    "glicko2 package": (peers.glicko2_package, 4_000),
    "Podium elo": (podium_kernel("elo"), 1_000_000),
    "Podium glicko2": (podium_kernel("glicko2"), 1_000_000),
    "Podium openskill-bt": (podium_kernel("openskill-bt"), 1_000_000),
    "Podium trueskill": (podium_kernel("trueskill"), 500_000),
}
RACES: dict[str, tuple[Callable[[Fields], peers.Timed], int]] = {
    "openskill Plackett-Luce": (peers.openskill_pl, 4_000),
    "trueskill": (peers.trueskill, 200),
    "Elo-MMR-Py mmx-fast": (peers.elo_mmr("mmx-fast"), 4_000),
    "Podium elo": (podium_kernel("elo"), 200_000),
    "Podium stk": (podium_kernel("stk"), 200_000),
    "Podium folyami": (podium_kernel("folyami"), 200_000),
    "Podium glicko2": (podium_kernel("glicko2"), 200_000),
    "Podium openskill-pl": (podium_kernel("openskill-pl"), 200_000),
    "Podium openskill-bt": (podium_kernel("openskill-bt"), 200_000),
    "Podium trueskill": (podium_kernel("trueskill"), 50_000),
}
LARGE: dict[str, tuple[Callable[[Fields], peers.Timed], int]] = {
    "openskill Plackett-Luce": (peers.openskill_pl, 1),
    "Podium openskill-pl": (podium_kernel("openskill-pl"), 200),
    "Podium openskill-bt-part": (podium_kernel("openskill-bt-part"), 200),
}

# Events a second of the Rust library skillratings, as others measured it on this class of machine.
SKILLRATINGS = {
    ("1v1", "Podium elo"): 77e6,
    ("1v1", "Podium glicko2"): 6.4e6,
    ("1v1", "Podium openskill-bt"): 47e6,
    ("1v1", "Podium trueskill"): 22e6,
    ("8 entrants", "Podium openskill-pl"): 1.29e6,
    ("8 entrants", "Podium openskill-bt"): 1.29e6,
    ("8 entrants", "Podium trueskill"): 59e3,
    ("1000 entrants", "Podium openskill-pl"): 89.0,
}


def best_seconds(run: Callable[[], object], *, tries: int, limit_s: float = 5.0) -> float:
    """The best of so many runs, or of as many as the time allows."""
    best, started = float("inf"), time.perf_counter()
    for _ in range(tries):
        run_started = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - run_started)
        if time.perf_counter() - started > limit_s:
            break
    return best


def measured(
    shape: str, races: Fields, contenders: dict[str, tuple[Callable[[Fields], peers.Timed], int]]
) -> list[Row]:
    """A row for each contender; the first is what the others are a multiple of."""
    rows = []
    for name, (ready, events) in contenders.items():
        started = time.perf_counter()
        warm = ready(races.first(10))
        loaded = time.perf_counter()
        warm()
        first = time.perf_counter() - loaded
        seconds = best_seconds(ready(races.first(events)), tries=7 if name.startswith("Podium") else 2)
        rows.append(Row(shape, name, events, loaded - started, first, events / seconds))
        rows[-1].ratio = rows[-1].events_per_s / rows[0].events_per_s
    return rows


def end_to_end(duels: Fields) -> dict[str, float]:
    """A Parquet file of a million matches to ratings and history, in a process of its own, warm."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matches.parquet"
        table = duels.table().drop("time_s")
        table.write_parquet(path)
        figures = {}
        for _ in range(2):
            out = subprocess.run([sys.executable, __file__, "--child", str(path)], check=True, capture_output=True)
            figures = json.loads(out.stdout)
        return {"table_mb": table.estimated_size() / 1e6} | figures


def child(path: str) -> None:
    """Rate one file and tell how long it took, and how much memory."""
    started = time.perf_counter()
    rated = podium.rate(path, "elo")
    height = rated.ratings.height + rated.history.height
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps({"seconds": seconds, "peak_mb": peak, "rows": height}))


def one_huge_race(entrants: int = 10_000) -> float:
    """Seconds for one race of so many entrants with folyami, all pairs."""
    table = fields(1, entrants).table()
    return best_seconds(lambda: podium.rate(table, "folyami").ratings, tries=3)


def one_crowd(entrants: int = 100_000) -> float:
    """Seconds for the kernel over one race of so many entrants with Plackett-Luce."""
    system = find("openskill-pl")()
    table = {
        "event_id": ["e"] * entrants,
        "player": [str(k) for k in range(entrants)],
        "position": range(1, entrants + 1),
    }
    columns = encode(podium.read_results(pl.DataFrame(table)), system).columns
    return best_seconds(lambda: states_after(system, columns, 0, 1, newcomers(system, entrants)), tries=5)


def many_candidates(duels: Fields) -> dict[str, float]:
    """How many times faster sixteen parameter sets go together than one replay with predictions each."""
    results = podium.read_results(duels.first(200_000).table())
    figures = {}
    for name in ("elo", "xonstat", "folyami", "glicko2"):
        system = find(name)()
        setting = fields_of(system)[0]
        candidates = [replace(system, **{setting: getattr(system, setting) * (1.0 + 0.05 * k)}) for k in range(LANES)]
        events = encode(results, system)
        selected = judged_heats(events, Window())
        apart = best_seconds(
            lambda e=events, a=selected, c=candidates: [predict(each, e, HeatSelection(a)) for each in c], tries=2
        )
        figures[name] = apart / best_seconds(lambda e=events, a=selected, c=candidates: log_losses(c, e, a), tries=3)
    return figures


def fields_of(system: System) -> list[str]:
    """The names of a system's parameters."""
    return [each.name for each in dataclass_fields(system)]


def of_skillratings(row: Row) -> str:
    """The ratio to the published figure, where there is one."""
    published = SKILLRATINGS.get((row.shape, row.contender))
    return "" if published is None else f"{row.events_per_s / published:.2f}x"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        child(chosen.child)
        return
    importlib.import_module("numpy.random")
    duels = fields(1_000_000, 2)
    rows = measured("1v1", duels, DUELS) + measured("8 entrants", fields(200_000, 8), RACES)
    rows += measured("1000 entrants", fields(200, 1000), LARGE)
    heading = f"{'shape':12} {'contender':26} {'events':>9} {'load s':>7} {'first s':>8} {'events/s':>13} {'ratio':>9}"
    print(f"{heading} {'of skillratings':>16}")
    for row in rows:
        print(
            f"{row.shape:12} {row.contender:26} {row.events:9,} {row.load_s:7.2f} {row.first_s:8.3f} "
            f"{row.events_per_s:13,.0f} {row.ratio:8.1f}x{of_skillratings(row):>17}"
        )
    whole = end_to_end(duels)
    print(
        f"\nParquet of 1,000,000 matches to ratings and history: {whole['seconds']:.2f} s with imports, peak "
        f"{whole['peak_mb']:.0f} MB (the table is {whole['table_mb']:.0f} MB)"
    )
    huge = one_huge_race()
    print(f"One race of 10,000 entrants with folyami: {huge:.2f} s")
    crowd = one_crowd()
    print(f"One race of 100,000 entrants with openskill-pl, the kernel: {crowd:.4f} s")
    together = many_candidates(duels)
    print(
        f"{LANES} candidates in one pass, against a replay with predictions for each: "
        + ", ".join(f"{name} {ratio:.1f}x" for name, ratio in together.items())
    )
    if chosen.json:
        figures = {
            "rows": [asdict(row) for row in rows],
            "end_to_end": whole,
            "huge_race_s": huge,
            "crowd_s": crowd,
            "candidates": together,
        }
        chosen.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
