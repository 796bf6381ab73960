"""Compare Podium with its peers and with loops written by hand, in one run on one machine: `make bench`.

Every row rates events of one shape from one seed, and the contenders of a shape take turns. `load` is the time to
import and prepare. `first` is the first run over ten events, in which Podium compiles or loads compiled code.
`events/s` is the best of the rounds, in processor time, which a busy machine changes least. Slow peers rate fewer of
the same events. `ratio` compares with the first contender of the shape. With `--docs` the script also writes
`docs/performance.md` and its pictures. With `--service` it adds the table that `service.py` has measured.
"""

import argparse
import importlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from pathlib import Path

import numpy as np
import polars as pl
import targets
from contenders import SHAPES, Shape, states_after
from events import SEED, Fields, fields
from growth import growth_by_entrants, growth_by_events, growth_by_players, seconds_of
from performance_page import of_skillratings, write_page

import podium
from podium.analysis.batched import sums_of_losses
from podium.analysis.predictions import HeatSelection, predict
from podium.analysis.scores import Window, judged_heats
from podium.engine.replay import newcomers
from podium.engine.system import System
from podium.engine.tables.encoding import encode
from podium.kernels.records import LANES
from podium.systems import find

LARGE_RACES = (("elo", 10_000), ("elo", 100_000), ("folyami", 10_000))
ROUNDS = 9
LONGEST_S = 3.0  # of all rounds of a contender together


@dataclass
class Row:
    """The measurements of a contender."""

    shape: str
    contender: str
    events: int
    load_s: float
    first_s: float
    events_per_s: float = 0.0
    ratio: float = 1.0


def measured(name: str, shape: Shape) -> list[Row]:
    """Return a row for each contender whose package is installed. They take turns."""
    races = shape.events()
    rows, runs = [], []
    for contender, (ready, at_most) in shape.contenders.items():
        events = min(at_most, len(races.player))
        started = time.perf_counter()
        try:
            warm = ready(races.first(10))
        except ModuleNotFoundError as missing:
            print(f"{name}: {contender} is left out, since {missing.name} is not installed", flush=True)
            continue
        loaded = time.perf_counter()
        warm()
        rows.append(Row(name, contender, events, loaded - started, time.perf_counter() - loaded))
        runs.append(ready(races.first(events)))
        runs[-1]()
    spent = [0.0] * len(rows)
    for _ in range(ROUNDS):
        for k, (row, run) in enumerate(zip(rows, runs, strict=True)):
            if spent[k] < LONGEST_S:
                started = time.process_time()
                run()
                seconds = time.process_time() - started
                spent[k] += seconds
                row.events_per_s = max(row.events_per_s, row.events / seconds)
    for row in rows:
        row.ratio = row.events_per_s / rows[0].events_per_s
    return rows


def best_seconds(run: Callable[[], object], *, tries: int, limit_s: float = 5.0) -> float:
    """Return the best time of several runs within a time limit, after one that compiles and does not count."""
    run()
    best, started = float("inf"), time.perf_counter()
    for _ in range(tries):
        run_started = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - run_started)
        if time.perf_counter() - started > limit_s:
            break
    return best


def one_huge_race(entrants: int = 10_000) -> float:
    """Return the seconds to rate one race of this many entrants with folyami, from table to ratings."""
    table = fields(1, entrants).table()
    return best_seconds(lambda: podium.rate(table, "folyami").ratings, tries=3)


def large_races() -> dict[str, float]:
    """Return the kernel's processor seconds for one large race, by system and entrants, with realistic ratings."""
    figures = {}
    for name, entrants in LARGE_RACES:
        system, race = find(name)(), fields(1, entrants, entrants)
        columns = encode(podium.read_results(race.table()), system).columns
        start = newcomers(system, entrants)
        start[:, 0] += np.random.default_rng(SEED).normal(0.0, 300.0, entrants)
        seconds = [
            seconds_of(lambda c=columns, s=system, b=start: states_after(s, c, 0, 1, b.copy())) for _ in range(6)
        ]
        figures[f"{name}, {entrants:,} entrants"] = min(seconds)
    return figures


def one_crowd(entrants: int = 100_000) -> float:
    """Return the kernel's seconds for one race of this many entrants with Plackett-Luce."""
    system = find("openskill-pl")()
    table = {
        "event_id": ["e"] * entrants,
        "player": [str(k) for k in range(entrants)],
        "position": range(1, entrants + 1),
    }
    columns = encode(podium.read_results(pl.DataFrame(table)), system).columns
    return best_seconds(lambda: states_after(system, columns, 0, 1, newcomers(system, entrants)), tries=5)


def many_candidates(duels: Fields) -> dict[str, float]:
    """Return how many times faster sixteen parameter sets run together than as single replays with predictions."""
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
        figures[name] = apart / best_seconds(
            lambda e=events, a=selected, c=candidates: sums_of_losses(c, e, a), tries=3
        )
    return figures


def fields_of(system: System) -> list[str]:
    """Return the names of a system's parameters."""
    return [each.name for each in dataclass_fields(system)]


def main() -> None:
    """Measure, print the figures, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--docs", type=Path, help="write performance.md and its pictures into this folder")
    parser.add_argument("--service", type=Path, help="figures of service.py")
    parser.add_argument("--shape", action="append", choices=list(SHAPES), help="only this shape, without the page")
    chosen = parser.parse_args()
    importlib.import_module("numpy.random")
    heading = f"{'shape':24} {'contender':26} {'events':>9} {'load s':>7} {'first s':>8} {'events/s':>13} {'ratio':>9}"
    print(f"{heading} {'of skillratings':>16}")
    rows: list[Row] = []
    for name in chosen.shape or SHAPES:
        shape_rows = measured(name, SHAPES[name])
        rows += shape_rows
        for row in shape_rows:
            print(
                f"{row.shape:24} {row.contender:26} {row.events:9,} {row.load_s:7.2f} {row.first_s:8.3f} "
                f"{row.events_per_s:13,.0f} {row.ratio:8.1f}x "
                f"{of_skillratings(rows, row):>16}",
                flush=True,
            )
    if chosen.shape:
        return
    figures = {
        "rows": rows,
        "players": growth_by_players(),
        "entrants": growth_by_entrants(),
        "events": growth_by_events(),
        "huge_race_s": one_huge_race(),
        "large_races_s": large_races(),
        "crowd_s": one_crowd(),
        "candidates": many_candidates(fields(200_000, 2)),
        "load": os.getloadavg()[1],
    }
    for point in figures["events"]:
        print(
            f"Parquet of {point['events']:,} duels to ratings and history: {point['seconds']:.2f} s, peak "
            f"{point['peak_mb']:.0f} MB (the table is {point['table_mb']:.0f} MB)"
        )
    print(f"One race of 10,000 entrants with folyami: {figures['huge_race_s']:.2f} s")
    for race, seconds in figures["large_races_s"].items():
        print(f"One race, {race}, the kernel: {1e3 * seconds:.2f} ms")
    print(f"One race of 100,000 entrants with openskill-pl, the kernel: {figures['crowd_s']:.4f} s")
    print(
        f"{LANES} candidates in one pass, against a replay with predictions for each: "
        + ", ".join(f"{name} {ratio:.1f}x" for name, ratio in figures["candidates"].items())
    )
    if chosen.service:
        service = json.loads(chosen.service.read_text())
        service["groups"] = {name: [targets.Row(**row) for row in some] for name, some in service["groups"].items()}
        figures["service"] = service
        print("\n".join(targets.table(service["groups"])))
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2, default=asdict))
    if chosen.docs:
        write_page(chosen.docs, figures)


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
