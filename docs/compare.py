"""Write docs/data/predictions.csv, tuned.csv and newer.csv, how well systems predict histories: `make comparison`.

The histories belong to other people and are not part of this repository. `make docs` then writes docs/comparison.md.
"""

import csv
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from public_histories import HEATS_APART, HISTORIES, NEWER, NEWER_SETTINGS, History
from tuned import against_tuned, gap, judge_later, later_events, log_loss

import podium
from podium.analysis.evaluation import evaluate
from podium.analysis.scores import Window
from podium.systems import find, make_system, names

DATA = Path(__file__).parent / "data"
SCORES = ("log_loss", "brier", "accuracy", "calibration_error", "kendall_tau", "winner_accuracy", "clipped")
HEAD = ("history", "system", *SCORES, "less_elo", "low", "high", "seconds")
TUNED = ("history", "system", "defaults", "tuned", "adaptive", "adaptive_less_tuned", "low", "high")
NEWER_HEAD = ("history", "system", "log_loss", "less_adaptive", "low", "high")


def judge_systems(title: str, results: podium.Results, history: History) -> list[list[str]]:
    """Return a row for each system that can rate these results, the best log loss first."""
    judged: list[tuple[float, list[str]]] = []
    window = Window(since=history.since)
    for name in names():
        systems = [find("elo")(), history.system(name)]
        try:
            evaluate(results, systems[1:], window=window)  # loads compiled code
        except (podium.ResultsError, podium.ParameterError):
            continue
        started = time.process_time()
        evaluate(results, systems[1:], window=window)
        seconds = time.process_time() - started
        both = evaluate(results, systems, labels=["elo", name], window=window)
        score: dict[str, Any] = both.scores.row(1, named=True)
        gap = both.differences.row(0, named=True)
        figures = [f"{score[key]:.4f}" for key in SCORES[:-1]] + [f"{score['clipped']:.2g}"]
        less = [f"{gap[key]:.4f}" for key in ("log_loss", "low", "high")]
        judged.append((score["log_loss"], [title, name, *figures, *less, f"{seconds:.2f}"]))
    return [row for _, row in sorted(judged)]


def judge_newer(key: str, folder: Path) -> list[list[str]]:
    """Return a row for each system, and for settings of `adaptive`, judged on the last 40 % of a newer history.

    Systems have default settings. Only the settings of `adaptive` read the column `side`.
    """
    history = NEWER[key]
    results = history.read(folder)
    without_side = podium.read_results(results.frame.drop("side", strict=False))
    later = later_events(results, history.train_until)
    own = judge_later(without_side, find("adaptive")(), later)
    words = " with side" if "side" in results.frame.columns else ""
    cases = [(name, name, without_side) for name in names() if find(name).teams or "team" not in results.frame.columns]
    cases += [(f"{text}{words}", text, results) for text in NEWER_SETTINGS[key]]
    rows = []
    for label, text, table in cases:
        try:
            judged = judge_later(table, make_system(text), later)
        except podium.PodiumError:
            continue
        rows.append([history.title, label, f"{log_loss(judged):.4f}", *gap(judged, own)])
    return sorted(rows, key=lambda row: row[2])


def with_heats_apart(results: podium.Results) -> podium.Results:
    """Return the results with every heat as an event."""
    named = results.frame["event_id"] + "/" + results.frame["heat"]
    return podium.read_results(results.frame.with_columns(event_id=named).drop("heat"))


def write_table(name: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table into `docs/data`."""
    with (DATA / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def main(folder: Path) -> None:
    """Judge every system on every history in a folder."""
    scores: list[list[str]] = []
    tuned: list[list[str]] = []
    for key, history in HISTORIES.items():
        results = history.read(folder)
        scores += judge_systems(history.title, results, history)
        tuned += [[history.title, *row] for row in against_tuned(results, key)]
        if key == HEATS_APART:
            title = f"{history.title}, each heat an event of its own"
            scores += judge_systems(title, with_heats_apart(results), history)
    write_table("predictions.csv", HEAD, scores)
    write_table("tuned.csv", TUNED, tuned)
    write_table("newer.csv", NEWER_HEAD, (row for key in NEWER for row in judge_newer(key, folder)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
