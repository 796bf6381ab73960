"""The commands' output at 80 columns: `python tests/screens.py` updates the golden files."""

import os
from pathlib import Path
from unittest import mock

import typer
from commands import run

from podium.cli.commands import build

ROOT = Path(__file__).parents[1]
HELP, TABLES = (ROOT / "tests" / "cli" / f"{name}.golden.txt" for name in ("help", "tables"))
SEASON, RACE, DUELS, HEATS = (f"examples/{name}.csv" for name in ("season", "race", "duels", "heats"))
COMMANDS = {  # by rating system, because one test worker compiles its kernels
    "elo": (
        ("systems",),
        ("systems", "elo"),
        ("columns", "status"),
        ("check", SEASON),
        ("rate", RACE),
        ("rate", DUELS, "--columns", "player,rating,events"),
        ("leaderboard", SEASON, "--top", "3"),
        ("explain", RACE, "--event", "lap-1", "--player", "Dev"),
        ("predict", DUELS, "--entrants", "Ana,Ben,nobody yet"),
        ("strength", RACE, "--top", "2"),
        ("audit", DUELS),
        ("evaluate", SEASON, "--system", "elo", "--system", "elo:k=40"),
        ("standings", SEASON, "--pool", "bikes", "--scheme", "f1 +pole=1", "--drop", "2"),
    ),
    "glicko2": (
        ("leaderboard", SEASON, "-s", "glicko2", "--pool", "karts", "--top", "5"),
        ("rate", RACE, "-s", "glicko2"),
    ),
    "trials": (
        ("leaderboard", HEATS, "-s", "trials:overall=false"),
        ("predict", HEATS, "-s", "trials", "--entrants", "Ana,Ben"),
    ),
}


def words_of_commands(command=None, words=()):
    """Yield the words of every command, groups before their commands."""
    command = command or typer.main.get_command(build())
    yield words
    for name, each in getattr(command, "commands", {}).items():
        yield from words_of_commands(each, (*words, name))


def screens(commands):
    """Return each command and its output on a terminal of 80 columns."""
    folder = Path.cwd()
    os.chdir(ROOT)
    try:
        with mock.patch.dict(os.environ, {"COLUMNS": "80", "NO_COLOR": "1"}):
            for words in commands:
                shown = run(*words)
                yield f"$ {' '.join(('podium', *words))}\n{shown}\n"
    finally:
        os.chdir(folder)


def help_screens():
    """Return the help of every command."""
    return "".join(screens((*words, "--help") for words in words_of_commands()))


def table_screens(system):
    """Return the tables of commands that rate with a system."""
    return "".join(screens(COMMANDS[system]))


if __name__ == "__main__":
    HELP.write_text(help_screens(), encoding="utf-8")
    TABLES.write_text("".join(table_screens(system) for system in COMMANDS), encoding="utf-8")
