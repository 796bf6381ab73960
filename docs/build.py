"""Write the pages that the code itself knows: `make docs`. A test compares them with what stands here.

A page of a system, and the commands' help. The picture of the README is drawn too.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from inspect import getdoc
from pathlib import Path
from typing import Any

import typer

from podium.cli.app import app
from podium.systems import find, names
from podium.systems.base import allowed

DOCS = Path(__file__).parent


def commands() -> list[tuple[str, ...]]:
    """Every command, groups before their own; the words of each."""

    def below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield words
        for name, each in getattr(command, "commands", {}).items():
            yield from below(each, (*words, name))

    return list(below(typer.main.get_command(app), ()))


def system_page(name: str) -> str:
    """What a system is, computes and takes."""
    system = find(name)
    newcomer = system().newcomer()._asdict()
    lines = [
        f"# {name}: {system.title}",
        "",
        getdoc(system) or "",
        "",
        f"Source: {system.source}.",
        "",
        "## Formulas",
        "",
    ]
    lines += [f"    {formula}" for formula in system.formulas]
    if system.limits:
        lines += ["", "## Limits", "", *(f"- {limit}" for limit in system.limits)]
        lines.append(f"- `rate`, `evaluate` and a pool's description say how many players are there; {system.instead}")
    lines += ["", "## Parameters", "", "| name | default | unit | what it may be |", "|---|---|---|---|"]
    for setting in fields(system):
        default = "none" if setting.default is None else setting.default
        lines.append(f"| `{setting.name}` | {default} | {setting.metadata['unit']} | {allowed(system, setting)} |")
    lines += ["", "## State", "", "A player is so many numbers; a newcomer's are:", ""]
    lines += [f"- `{field}` {value:g}" for field, value in newcomer.items()]
    lines += ["", "## What it needs and gives", ""]
    needs = ", ".join(f"`{column}`" for column in system.needs) or "a position, a score or a time"
    lines.append(f"- every finisher needs {needs}")
    lines.append(f"- team mates {'share a result and are not compared' if system.teams else 'race for themselves'}")
    lines.append(f"- {'may' if system.takes_periods else 'may not'} settle at the end of a rating period")
    lines.append(f"- the points exchanged {'sum' if system.conserves else 'need not sum'} to zero")
    if system.ties_in_file_order:
        lines.append("- those who tie are linked to their neighbours in the order of the file")
    if system.min_events:
        lines.append(f"- it takes {system.min_events} events to stand on the leaderboard as settled")
    if system.settled_deviation is not None:
        lines.append(f"- a rating is provisional while its deviation is above {system.settled_deviation:g}")
    return "\n".join(lines) + "\n"


def command_page() -> str:
    """The help of every command, as a terminal of 100 columns shows it."""
    environment = {**os.environ, "COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}
    parts = ["# Commands\n"]
    for words in commands():
        run = [sys.executable, "-c", "from podium.cli import main; main()", *words, "--help"]
        told = subprocess.run(run, check=True, capture_output=True, text=True, env=environment).stdout
        told = told.replace("-c", "podium", 1) if "Usage: -c" in told else told
        body = "\n".join(f"    {line}".rstrip() for line in told.strip().splitlines())
        parts.append(f"## podium {' '.join(words)}".rstrip() + f"\n\n{body}\n")
    return "\n".join(parts)


def pages() -> dict[Path, str]:
    """Every page by its path."""
    told = {DOCS / "systems" / f"{name}.md": system_page(name) for name in names()}
    told[DOCS / "reference" / "commands.md"] = command_page()
    return told


def draw_histories(path: Path) -> None:
    """The leaders of the example season under folyami."""
    import podium
    from podium import charts
    from podium.cli.demo import season_path

    rated = podium.rate(season_path(), "folyami")
    history = rated.history.filter(rated.history["pool"] == "stunts")
    leaders = rated.leaderboard(pool="stunts", top=6)["player"].to_list()
    charts.save(charts.rating_histories(history, leaders, "The example season, rated with folyami"), path)


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    draw_histories(DOCS / "histories.png")
