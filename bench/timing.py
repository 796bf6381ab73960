"""Measure the rows of one revision's `run.py` on request. `against.py` starts this script for each revision.

A request is a line with a measurement's name, and an answer is a line of JSON. A revision's `run.py` needs `SHAPES`.
Earlier ones need `fields` and the contenders of `DUELS`, `RACES` and `LARGE`. Their players met in fixed pairs, so
their rows have other names. Other measurements are optional.
"""

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from functools import cache, partial
from types import ModuleType
from typing import Any

ENOUGH_S = 0.2  # a measurement repeats short runs for this time, and takes the best
OWN = "Podium"  # the peers are the same on both sides

Speeds = dict[str, float]  # by the name of the row; more is better
Measure = Callable[[], Speeds]


def runs_a_second(run: Callable[[], object]) -> float:
    best, started = float("inf"), time.perf_counter()
    while True:
        begun = time.perf_counter()
        run()
        ended = time.perf_counter()
        best = min(best, ended - begun)
        if ended - started >= ENOUGH_S:
            return 1.0 / best


def kernel_measure(name: str, ready: Callable[[Any], Callable[[], object]], races: Callable[[], Any]) -> Measure:
    """Return the measurement of a contender over its events, which are encoded once."""
    timed: list[Callable[[], object]] = []

    def measure() -> Speeds:
        if not timed:
            timed.append(ready(races()))
            timed[0]()
        return {name: runs_a_second(timed[0])}

    return measure


def shapes_of(run: ModuleType) -> dict[str, tuple[Callable[[], Any], dict[str, Any]]]:
    """Return the events of each shape, and its contenders."""
    if hasattr(run, "SHAPES"):
        return dict(run.SHAPES)
    sizes = (("1v1", 2, run.DUELS), ("8 entrants", 8, run.RACES), ("1000 entrants", 1000, run.LARGE))
    return {
        shape: (partial(run.fields, max(events for _, events in rows.values()), size), rows)
        for shape, size, rows in sizes
    }


def contenders(run: ModuleType) -> dict[str, Measure]:
    measures = {}
    for shape, (events_of, rows) in shapes_of(run).items():
        races = cache(events_of)
        for contender, (ready, events) in rows.items():
            if contender.startswith(OWN):
                name = f"{shape}, {contender}"
                measures[name] = kernel_measure(name, ready, lambda races=races, events=events: races().first(events))
    return measures


def others(run: ModuleType) -> dict[str, Measure]:
    """Return the other measurements of `run.py`, which a revision may lack."""
    duels = cache(lambda: run.fields(1_000_000, 2))
    measures: dict[str, Measure] = {}
    if hasattr(run, "SHAPES"):
        file = "a file of 1,000,000 duels"
        whole = importlib.import_module("growth").end_to_end
        measures[file] = lambda: {file: 1.0 / whole(1_000_000)["seconds"]}
    elif hasattr(run, "end_to_end"):
        file = "a file of 1,000,000 matches"
        measures[file] = lambda: {file: 1.0 / run.end_to_end(duels())["seconds"]}
    if hasattr(run, "one_huge_race"):
        huge = "one race of 10,000 entrants, folyami"
        measures[huge] = lambda: {huge: 1.0 / run.one_huge_race()}
    if hasattr(run, "one_crowd"):
        crowd = "one race of 100,000 entrants, openskill-pl"
        measures[crowd] = lambda: {crowd: 1.0 / run.one_crowd()}
    if hasattr(run, "many_candidates"):
        measures["candidates in one pass"] = lambda: {
            f"candidates in one pass, {system}": speed for system, speed in run.many_candidates(duels()).items()
        }
    return measures


def main() -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keep the output of a revision's files apart from the answers
    sys.path[0] = sys.argv[1]
    run = importlib.import_module("run")
    measures = contenders(run) | others(run)
    print(json.dumps(list(measures)), file=answers, flush=True)
    for line in sys.stdin:
        try:
            answer: Speeds | str = measures[line.rstrip("\n")]()
        except Exception as problem:  # noqa: BLE001 a row that fails must not end the others
            answer = f"{type(problem).__name__}: {problem}"
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
