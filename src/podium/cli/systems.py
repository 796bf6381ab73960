"""Commands that describe rating systems or save defaults: systems, init, trust."""

import inspect
import os
import sys
import textwrap
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument

from podium.cli.terminal import options, show
from podium.cli.terminal.app import FILE_NAME, MEANINGS, examples, find_settings, flag, option
from podium.cli.terminal.options import DEFAULT_SYSTEM, complete_system, read_system_file, system_of, write_text
from podium.cli.terminal.show import Format
from podium.cli.terminal.trust import code_in
from podium.cli.terminal.trust import trust as trust_files
from podium.errors import ParameterError

if TYPE_CHECKING:
    from podium.engine.system import System


WIDTH = 80


@examples("podium systems", "podium systems folyami", "podium systems --check my.py:Stakes")
def systems(
    name: str | None = Argument(
        None, help="Show the parameters, state and formulas of this system.", autocompletion=complete_system
    ),
    check: str | None = option(
        "Check your own system: my.py:Class, or the name of an installed one.", metavar="SYSTEM"
    ),
    form: Format = options.FORM,
) -> None:
    """List the rating systems, describe one, or check your own."""
    import polars as pl

    from podium.systems import FITS, find, load, outsiders

    if check is not None:
        show_check(check, form)
        return
    if name is None:
        installed, refused = outsiders()
        listed = [
            {"name": kind.name, "title": kind.title, "fits": FITS.get(kind.name), "source": kind.source}
            for kind in (*map(find, FITS), *installed)
        ]
        show.show(pl.DataFrame(listed), form)
        for reason in refused:
            show.note(f"{reason}")
        return
    system = load(name)
    description = as_data(system)
    if form is not Format.table:
        show.show(pl.DataFrame(description["parameters"]), form) if form is Format.csv else show.show_json(description)
        return
    typer.echo(f"{system.name}: {system.title}\n{inspect.getdoc(system) or ''}\nSource: {system.source}\n")
    show.show(pl.DataFrame(description["parameters"]), form, "Parameters")
    state = ", ".join(f"{field} {value:g}" for field, value in description["newcomer"].items())
    typer.echo(f"A newcomer's state: {state}\n")
    typer.echo("Formulas:")
    for formula in system.formulas:
        typer.echo(f"  {formula}")
    typer.echo("\n" + "\n".join(textwrap.wrap(f"A quit or dnf: {system.unfinished}", WIDTH)))
    typer.echo(f"\nTry it: podium leaderboard results.csv --system {name}")


def show_check(text: str, form: Format) -> None:
    from dataclasses import asdict

    from podium.analysis.conformance import check_system
    from podium.cli.judging import described_systems

    (system,) = described_systems([text], None)
    with show.progress("checking"):
        checked = check_system(system)
    show.show_json(asdict(checked)) if form is Format.json else typer.echo(str(checked))


def as_data(system: "type[System]") -> dict[str, Any]:
    from podium.engine.system import allowed, as_setting

    return {
        "name": system.name,
        "title": system.title,
        "source": system.source,
        "parameters": [
            {
                "name": setting.name,
                "default": as_setting(setting.default),
                "unit": setting.metadata["unit"],
                "allowed": allowed(system, setting).removesuffix(f" ({setting.metadata['help']})"),
                "meaning": setting.metadata["help"],
            }
            for setting in fields(system)
        ],
        "newcomer": system().newcomer()._asdict(),
        "formulas": list(system.formulas),
        "unfinished": system.unfinished,
    }


DEFAULTS = {"system": DEFAULT_SYSTEM}
QUESTIONS = {
    "file": "Which file has the results? Press Enter for none",
    "map": "Which map describes its columns, from podium import --save? Press Enter for none",
    "system": "Which rating system? podium systems lists them",
    "pool": "Which pool do you use, if there are several? Press Enter for none",
}


@examples(
    "podium init",
    "podium init --file league.csv --system glicko2",
    "podium init --file games.csv --map games.toml --system elo:k=20 --pool blitz",
)
def init(
    results: str | None = option("Default file of results.", "--file", metavar="FILE"),
    map_file: str | None = option("Map of FILE's columns.", "--map", metavar="TOML"),
    system: str | None = option(
        "Default rating system.", "--system", "-s", metavar="NAME", autocompletion=complete_system
    ),
    pool: str | None = option("Default pool.", metavar="NAME"),
    force: bool = flag("--force", "Replace an existing podium.toml."),
) -> None:
    """Save your default file, system and pool in podium.toml, in this folder.

    In a terminal, it asks for everything that the options do not provide. When run from a script, it does not prompt.
    """
    path = Path(FILE_NAME)
    if path.exists() and not force:
        raise ParameterError(f"{path} already exists. Edit it, or replace it with --force.")
    given = {"file": results or "", "map": map_file or "", "system": system or "", "pool": pool or ""}
    if sys.stdin.isatty():
        for name, question in QUESTIONS.items():
            given[name] = given[name] or typer.prompt(question, default=DEFAULTS.get(name, "")).strip()
    values = {name: value or DEFAULTS.get(name, "") for name, value in given.items()}
    for name in ("file", "map"):
        if values[name] and not Path(values[name]).exists():
            show.note(f"there is no {values[name]} yet")
    system_of(values["system"], {})
    write_text(settings_text({name: value for name, value in values.items() if value}), path)
    code = code_in(values["system"])
    if code is not None:
        trust_files(path, code)
    typer.echo(f"{path} is written. It applies to this folder and the folders below")


@examples("podium trust", "podium trust tuned.toml")
def trust(
    toml: Path | None = Argument(
        None,
        metavar="TOML",
        help="The file to use with --system-file [default: the podium.toml in effect for this folder].",
    ),
) -> None:
    """Allow podium.toml to run the Python file that it names, until one of the two files changes."""
    if toml is None:
        settings = find_settings()
        if settings.path is None:
            raise ParameterError(f"there is no {FILE_NAME} in this folder or above it. Write one with `podium init`.")
        path, named, folder = settings.path, settings.get("system"), Path(os.path.relpath(settings.path.parent))
    else:
        path, named, folder = toml, read_system_file(toml)[0], Path()
    code = code_in(named)
    if code is None:
        typer.echo(f"{path} names no Python code, so there is nothing to trust")
        return
    trust_files(path, folder / code)
    typer.echo(f"{path} may run {folder / code}, until one of the two changes")


def settings_text(values: dict[str, str]) -> str:
    from podium.importers.tables.maps import toml_value

    width = max(map(len, values))
    lines = [f"{name:{width}} = {toml_value(values[name])}" for name in MEANINGS if name in values]
    return "\n".join(["# Defaults for Podium's commands.", *lines]) + "\n"
