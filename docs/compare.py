"""Write docs/comparison.md: every system on four histories, from the results in a folder: `make comparison`.

The results are other people's and not part of this repository; see the page for what they are.
"""

import sys
import time
from pathlib import Path

import podium
from podium.evaluation import Window, evaluate
from podium.systems import find, names
from podium.tuning import tune

DATA = {
    "atp": ("Men's tennis singles 1968-2024, judged from 1991 on", "atp.parquet", "1991-01-01", "2010-12-31"),
    "f1": ("Formula 1, races and qualifying, the whole history", "f1.parquet", None, "2000-12-31"),
    "zakstunts": ("ZakStunts, 293 races of Stunts", "zakstunts.parquet", None, "60%"),
    "speedway": ("Speedway Grand Prix, 5,454 heats of four", "speedway.parquet", None, "2010-12-31"),
}
TUNED, TRIALS = ("elo", "folyami", "xonstat"), 160
SCORES = ("log_loss", "brier", "accuracy", "calibration_error", "kendall_tau", "winner_accuracy")


def comparison(folder: Path) -> str:
    """The page."""
    lines = [
        "# How well each system predicts",
        "",
        "Every event is predicted before it is learnt, with each system's defaults; lower log loss is better. The",
        "interval is for the difference of log loss to Elo's, by bootstrap over events. Seconds are for one replay",
        "with predictions on one core, compiled code loaded. The results are the public histories named; they are not",
        "part of this repository. `make comparison DATA=folder` wrote this page.",
    ]
    for title, file, since, until in DATA.values():
        lines += ["", f"## {title}", "", f"| system | {' | '.join(SCORES)} | less Elo's log loss | seconds |"]
        lines.append("|---" * (len(SCORES) + 3) + "|")
        results = podium.read_results(folder / file)
        rows, left_out = [], []
        for name in names():
            systems = [find("elo")(), find(name)()]
            window = Window(since=since)
            try:
                evaluate(results, systems[1:], window=window)  # loads what was compiled
            except podium.ResultsError:
                left_out.append(name)
                continue
            begun = time.perf_counter()
            evaluate(results, systems[1:], window=window)
            seconds = time.perf_counter() - begun
            told = evaluate(results, systems, labels=["elo", name], window=window)
            rows.append((told.scores.row(1, named=True), told.differences.row(0, named=True), name, seconds))
        for score, gap, name, seconds in sorted(rows, key=lambda row: row[0]["log_loss"]):
            figures = " | ".join(f"{score[key]:.4f}" for key in SCORES)
            less = f"{gap['log_loss']:+.4f} ({gap['low']:+.4f} to {gap['high']:+.4f})" if name != "elo" else ""
            lines.append(f"| {name} | {figures} | {less} | {seconds:.2f} |")
        lines += ["", *verdict(rows), *tuned(results, until)]
        lines += ["", f"These results have not what {', '.join(left_out)} need: times or scores of every entry."]
    return "\n".join(lines) + "\n"


def tuned(results: podium.Results, until: str) -> list[str]:
    """What tuning brings on the part that no search saw."""
    told = []
    past = f"the first {until} of the events" if until.endswith("%") else f"the events until {until}"
    for name in TUNED:
        found = tune(results, find(name)(), until, trials=TRIALS)
        gap = found.test.differences.row(0, named=True)
        told.append(
            f"Tuning {name} on {past} ({TRIALS} trials) changes its log loss on the later ones by "
            f"{gap['log_loss']:+.4f} ({gap['low']:+.4f} to {gap['high']:+.4f})."
        )
    return told


def verdict(rows: list[tuple[dict[str, float], dict[str, float], str, float]]) -> list[str]:
    """What the table says of the systems that communities published, in a sentence each."""
    told = []
    for word, worse in (("worse", True), ("better", False)):
        found = [
            name for _, gap, name, _ in rows if find(name).game and (gap["low"] > 0.0 if worse else gap["high"] < 0.0)
        ]
        if found:
            told.append(f"Of the communities' systems, {' and '.join(found)} predict {word} than plain Elo here.")
    return told


if __name__ == "__main__":
    Path(__file__).with_name("comparison.md").write_text(comparison(Path(sys.argv[1])), encoding="utf-8")
