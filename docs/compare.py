"""Write docs/comparison.md: every system on public histories, from the results in a folder: `make comparison`.

The results are other people's and not part of this repository; see the page for what they are.
"""

import math
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from public_histories import HISTORIES, History
from tuned import against_tuned

import podium
from podium.analysis.evaluation import evaluate
from podium.analysis.predictions import MIN_PROBABILITY
from podium.analysis.scores import Window
from podium.systems import find, names

HEATS_AS_EVENTS = ("speedway",)  # meetings of many heats
SCORES = ("log_loss", "brier", "accuracy", "calibration_error", "kendall_tau", "winner_accuracy")
MILDER = 1e-6  # another clip, to show what the log loss owes to the choice
MANY_CLIPPED = 0.01  # of the predictions: from here on a sentence says what they do


class Row(NamedTuple):
    """One system on one history."""

    name: str
    score: dict[str, Any]
    gap: dict[str, Any]  # to Elo's log loss
    seconds: float


def comparison(folder: Path) -> str:
    """The page."""
    clip, loss = MIN_PROBABILITY, cost(MIN_PROBABILITY)
    lines = [
        "# How well each system predicts",
        "",
        "Every event is predicted before it is learnt, with each system's defaults; lower log loss is better. The",
        "interval is for the difference of log loss to Elo's, by bootstrap over events. Seconds are of a processor,",
        "for one replay with predictions, compiled code loaded. The results are the public histories named; they are",
        "not part of this repository. `make comparison DATA=folder` wrote this page.",
        "",
        "What `podium` has a parameter for was chosen with these histories in sight, though no parameter was searched",
        "on them; see [what it owes to its parts](self-tuning.md). Only it reads who was at home or had white, and",
        "what entrants share.",
        "",
        f"No prediction counts as surer than 1 - {clip:g}: one that is, and goes wrong, costs {loss:.1f}, where",
        "without this clip it would cost infinitely much. `clipped` is the share of predictions beyond it. Where it is",
        "not small, the log loss is a matter of the clip as much as of the system: look at the other scores instead.",
    ]
    for key, history in HISTORIES.items():
        results = history.read(folder)
        rows, left_out = judge_systems(results, history)
        lines += [
            "",
            f"## {history.title}",
            *shared_note(history),
            "",
            *table(rows),
            "",
            *verdict(rows),
            *clip_effects(rows),
        ]
        lines += ["", f"These results have not what {', '.join(left_out)} need: times or scores of every entry."]
        lines += ["", *against_tuned(results, key)]
        if key in HEATS_AS_EVENTS:
            apart = heats_apart(results, history, rows)
            lines += ["", f"## {history.title}, each heat an event of its own", "", *apart]
    return "\n".join(lines) + "\n"


def shared_note(history: History) -> list[str]:
    """Which settings podium has here."""
    settings = ", ".join(f"`{key}={value}`" for key, value in history.settings.items())
    return ["", f"Here `podium` has {settings}: what entrants share has a rating of its own."] if settings else []


def judge_systems(results: podium.Results, history: History) -> tuple[list[Row], list[str]]:
    """Every system by its log loss, and those that cannot rate these results."""
    rows, left_out = [], []
    window = Window(since=history.since)
    for name in names():
        systems = [find("elo")(), history.system(name)]
        try:
            evaluate(results, systems[1:], window=window)  # loads what was compiled
        except podium.ResultsError:
            left_out.append(name)
            continue
        started = time.process_time()
        evaluate(results, systems[1:], window=window)
        seconds = time.process_time() - started
        both = evaluate(results, systems, labels=["elo", name], window=window)
        rows.append(Row(name, both.scores.row(1, named=True), both.differences.row(0, named=True), seconds))
    return sorted(rows, key=lambda row: row.score["log_loss"]), left_out


def table(rows: list[Row]) -> list[str]:
    """The rows in Markdown."""
    lines = [
        f"| system | {' | '.join(SCORES)} | clipped | less Elo's log loss | seconds |",
        "|---" * (len(SCORES) + 4) + "|",
    ]
    for name, score, gap, seconds in rows:
        figures = " | ".join(f"{score[key]:.4f}" for key in SCORES)
        less = f"{gap['log_loss']:+.4f} ({gap['low']:+.4f} to {gap['high']:+.4f})" if name != "elo" else ""
        lines.append(f"| {name} | {figures} | {percent(score['clipped'])} | {less} | {seconds:.2f} |")
    return lines


def percent(share: float) -> str:
    """A share as people read it; a small one is not none."""
    return "0" if share == 0.0 else f"{100.0 * share:.2g} %"


def cost(clip: float) -> float:
    """What a prediction as sure as the clip costs when it goes wrong."""
    return -math.log(clip)


def clip_effects(rows: list[Row]) -> list[str]:
    """What the clip does to the log loss of those whom it touches much."""
    lines = []
    for name, score, *_ in rows:
        if score["clipped"] >= MANY_CLIPPED:
            loss = score["clipped_log_loss"]
            milder = loss * cost(MILDER) / cost(MIN_PROBABILITY)
            lines.append(
                f"Of {name}'s predictions {percent(score['clipped'])} are beyond the clip. Their part of its log loss "
                f"is {loss:.2f} of {score['log_loss']:.2f}; it would be {milder:.2f} with a "
                f"clip of {MILDER:g}, and infinite without one."
            )
    return lines


def heats_apart(results: podium.Results, history: History, together: list[Row]) -> list[str]:
    """The same results with every heat an event, and whom that changes most."""
    named = results.frame["event_id"] + "/" + results.frame["heat"]
    apart = podium.read_results(results.frame.with_columns(event_id=named).drop("heat"))
    rows, _ = judge_systems(apart, history)
    losses = {row.name: row.score["log_loss"] for row in together}
    moved = max(rows, key=lambda row: abs(row.score["log_loss"] - losses[row.name]))
    change = f"{moved.score['log_loss']:.2f} instead of {losses[moved.name]:.2f}"
    return [
        "An event moves every rating once: whatever its heats say is added up from the ratings before the event. So a",
        "meeting of many heats is one large step, too large a one for systems whose steps are long. Where each heat is",
        f"an event, {moved.name} changes most: its log loss is {change}.",
        "",
        *table(rows),
        "",
        *clip_effects(rows),
    ]


def verdict(rows: list[Row]) -> list[str]:
    """What the table says of the systems that communities published, in a sentence each."""
    sentences = []
    for word, worse in (("worse", True), ("better", False)):
        systems = [
            row.name
            for row in rows
            if find(row.name).game and (row.gap["low"] > 0.0 if worse else row.gap["high"] < 0.0)
        ]
        if systems:
            sentences.append(f"Of the communities' systems, {' and '.join(systems)} predict {word} than plain Elo.")
    return sentences


if __name__ == "__main__":
    Path(__file__).with_name("comparison.md").write_text(comparison(Path(sys.argv[1])), encoding="utf-8")
