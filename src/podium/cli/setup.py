"""The command that writes settings: init."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from podium.cli.terminal.completion import complete_system
from podium.cli.terminal.files import write_text
from podium.cli.terminal.helping import examples
from podium.cli.terminal.settings import FILE_NAME, MEANINGS
from podium.cli.terminal.system_choice import DEFAULT_SYSTEM, system_of
from podium.errors import ParameterError

DEFAULTS = {"system": DEFAULT_SYSTEM}
QUESTIONS = {
    "file": "Where are the results? A file, or Enter for none",
    "map": "A map of its columns, as podium import --save writes one; or Enter for none",
    "system": "Which rating system? podium systems lists them",
    "pool": "Which pool do you ask about, if there are several? Enter for none",
}


@examples(
    "podium init",
    "podium init --file league.csv --system glicko2",
    "podium init --file games.csv --map games.toml --system elo:k=20 --pool blitz",
)
def init(
    results: Annotated[
        str | None, typer.Option("--file", metavar="FILE", help="The results that commands read.")
    ] = None,
    map_file: Annotated[
        str | None, typer.Option("--map", metavar="TOML", help="What the columns of FILE mean.")
    ] = None,
    system: Annotated[
        str | None,
        typer.Option("--system", "-s", metavar="NAME", help="The rating system.", autocompletion=complete_system),
    ] = None,
    pool: Annotated[str | None, typer.Option(metavar="NAME", help="The pool that commands ask about.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the podium.toml that is there.")] = False,
) -> None:
    """Write podium.toml in this folder, so that commands need not be given the same options again.

    On a terminal it asks what no option says; in a script it asks nothing.
    """
    path = Path(FILE_NAME)
    if path.exists() and not force:
        raise ParameterError(f"{path} is there already; change it, or replace it with --force")
    given = {"file": results or "", "map": map_file or "", "system": system or "", "pool": pool or ""}
    if sys.stdin.isatty():
        for name, question in QUESTIONS.items():
            given[name] = given[name] or typer.prompt(question, default=DEFAULTS.get(name, "")).strip()
    values = {name: value or DEFAULTS.get(name, "") for name, value in given.items()}
    for name in ("file", "map"):
        if values[name] and not Path(values[name]).exists():
            typer.echo(f"podium: there is no {values[name]} yet", err=True)
    system_of(values["system"], {})
    write_text(settings_text({name: value for name, value in values.items() if value}), path)
    typer.echo(f"{path} is written, and holds in this folder and those below it")


def settings_text(values: dict[str, str]) -> str:
    """The file of some settings."""
    from podium.importers.tables.maps import toml_value

    width = max(map(len, values))
    lines = [f"{name:{width}} = {toml_value(values[name])}" for name in MEANINGS if name in values]
    return "\n".join(["# What podium's commands take where no option says otherwise.", *lines]) + "\n"
