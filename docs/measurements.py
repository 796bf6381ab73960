"""The pages of measurements, from the tables in docs/data that `make comparison` and other targets write."""

import csv
import math
import re
import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parent
WHOLE = "nothing"  # the row of the parts table with the log loss itself
SHORT = re.compile(r"( singles)? (\d{4}-\d{4}|Grand Prix|engines).*|,.*")  # words that a column heading can omit


class Loss(NamedTuple):
    """The log loss of a system on a history."""

    history: str
    system: str
    log_loss: float


def rows_of(name: str) -> list[dict[str, str]]:
    """Return the rows of a table in docs/data."""
    with (DOCS / "data" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def losses() -> list[Loss]:
    """Return the log loss of each system on each history, with default settings."""
    return [Loss(row["history"], row["system"], float(row["log_loss"])) for row in rows_of("predictions")]


def short_title(history: str) -> str:
    """Return a history's title as a heading of a narrow column."""
    return SHORT.sub("", history)


def comparison_page() -> str:
    """Return the page: `comparison.md.in` with its tables."""
    facts = {
        "losses": loss_table(),
        "tuned": tuned_table(),
        "parts": part_table(),
        "cases": case_table(),
        "coverage": coverage_table(),
        "newer": newer_table(),
        "move": max((row["largest move"].lstrip("+-") for row in rows_of("self-tuning-largest-moves")), key=int),
    }
    text = (DOCS / "comparison.md.in").read_text(encoding="utf-8")
    for name, fact in facts.items():
        text = text.replace(f"{{{{ {name} }}}}", fact)
    return text


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    words = list(head)
    return "\n".join(
        [f"| {' | '.join(words)} |", "|---" * len(words) + "|", *(f"| {' | '.join(row)} |" for row in rows)]
    )


def newer_table() -> str:
    """Return the log loss of `adaptive`, of the best other system and of settings of `adaptive` on newer histories."""
    rows, others = [], set[str]()
    for row in rows_of("newer"):
        if not row["system"].startswith("adaptive"):
            if row["history"] in others:
                continue
            others.add(row["history"])
        name, _, side = row["system"].partition(" ")
        low, high = row["low"], row["high"]
        difference = "" if row["system"] == "adaptive" else f"{row['less_adaptive']} ({low} to {high})"
        rows.append([row["history"].split(",")[0], f"`{name}` {side}".rstrip(), row["log_loss"], difference])
    return markdown(["history", "system", "log loss", "less `adaptive` (95 %)"], rows)


def coverage_table() -> str:
    """Return how often the shown 95 % interval held the true strength."""
    rows = []
    for row in rows_of("coverage"):
        case = row["case"] if row["measured"] == "simulated" else short_title(row["case"])
        figures = f"{100 * float(row['covered']):.0f} %", f"{float(row['deviation']):.0f}", f"{float(row['error']):.0f}"
        rows.append([case, row["truth"], *figures])
    return markdown(["results", "truth", "held", "mean deviation", "typical error"], rows)


def loss_table() -> str:
    """Return the log loss of every system on every history, without the history of single heats."""
    all_losses = [each for each in losses() if "each heat" not in each.history]
    histories = list(dict.fromkeys(each.history for each in all_losses))
    by_system: dict[str, dict[str, float]] = {}
    for each in all_losses:
        by_system.setdefault(each.system, {})[each.history] = each.log_loss
    best = {history: min(found.get(history, math.inf) for found in by_system.values()) for history in histories}

    def cell(found: dict[str, float], history: str) -> str:
        if history not in found:
            return ""
        text = f"{found[history]:.3f}"
        return f"**{text}**" if found[history] == best[history] else text

    ranked = sorted(by_system.items(), key=lambda item: statistics.fmean(item[1].values()))
    rows = [[f"`{name}`", *(cell(found, history) for history in histories)] for name, found in ranked]
    return markdown(["system", *map(short_title, histories)], rows)


def tuned_table() -> str:
    """Return the best tuned system of each history, and `adaptive`."""
    best: dict[str, dict[str, str]] = {}
    for row in rows_of("tuned"):
        known = best.setdefault(row["history"], row)
        if float(row["tuned"]) < float(known["tuned"]):
            best[row["history"]] = row
    cells = [
        [
            short_title(history),
            f"`{row['system']}`",
            row["tuned"],
            row["adaptive"],
            f"{row['adaptive_less_tuned']} ({row['low']} to {row['high']})",
        ]
        for history, row in best.items()
    ]
    return markdown(["history", "best tuned", "its log loss", "adaptive", "difference"], cells)


def part_table() -> str:
    """Return, for each part of `adaptive`, the history that loses most without it."""
    rows = []
    for row in rows_of("self-tuning-parts"):
        part, *_ = row.values()
        if part != WHOLE:
            changes = {history: float(change) for history, change in list(row.items())[1:]}
            history = max(changes, key=lambda each: changes[each])
            rows.append([part, f"{changes[history]:+.4f}", short_title(history)])
    return markdown(["part left out", "log loss", "in"], rows)


def case_table() -> str:
    """Return the hard cases."""
    rows = rows_of("self-tuning-hard-cases")
    return markdown(rows[0].keys(), (row.values() for row in rows))


def best_rows() -> list[str]:
    """Return a row for each history: its title, the best system, and its log loss and Elo's."""
    found: dict[str, dict[str, float]] = {}
    for each in losses():
        found.setdefault(each.history, {})[each.system] = each.log_loss
    rows = []
    for history, of_systems in found.items():
        best = min(of_systems, key=lambda name: of_systems[name])
        rows.append(f"| {history} | `{best}` | {of_systems[best]:.4f} | {of_systems['elo']:.4f} |")
    return rows


def rounded(text: str, digits: int) -> str:
    """Return a number with so many digits after the point; an empty cell stays empty."""
    return f"{float(text):.{digits}f}" if text else ""


def recovery_page() -> str:
    """Return how soon systems find known skills: `recovery.md.in` with its table."""
    rows = rows_of("recovery")
    columns = {"events_to_50": 0, "found": 2, "rmse": 0, "rank_correlation": 2, "lag": 0}
    cells = [[f"`{row['system']}`", *(rounded(row[key], digits) for key, digits in columns.items())] for row in rows]

    def best(*keys: str) -> str:
        known = (row for row in rows if all(row[key] for key in keys))
        ranked = sorted(known, key=lambda row: [float(row[key]) for key in keys])
        return ", ".join(f"`{row['system']}`" for row in ranked[:3])

    facts = {
        "recovery": "\n".join(f"| {' | '.join(row)} |" for row in cells),
        "soonest": best("events_to_50", "rmse"),
        "nearest": best("rmse"),
        "quickest": best("lag"),
    }
    text = (DOCS / "recovery.md.in").read_text(encoding="utf-8")
    for name, fact in facts.items():
        text = text.replace(f"{{{{ {name} }}}}", fact)
    return text


def matchmaking_page() -> str:
    """Return how to match players: `matchmaking.md.in` with a table of waits for two populations."""
    rows = []
    for row in rows_of("matchmaking"):
        if row["players"] in {"200", "1000"}:
            policy = f"{float(row['target_s']):.0f} s" if row["target_s"] else row["kind"]
            seconds = (f"{rounded(row[key], 0)} s" for key in ("wait_median", "wait_p95"))
            rows.append(
                [row["players"], policy, *seconds, rounded(row["spread_median"], 0), rounded(row["quality_mean"], 2)]
            )
    head = ["players", "target", "median wait", "95 % wait less than", "median spread", "quality"]
    text = (DOCS / "matchmaking.md.in").read_text(encoding="utf-8")
    return text.replace("{{ waits }}", markdown(head, rows))
