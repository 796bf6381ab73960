"""The command that describes rating systems."""

import inspect
import textwrap
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.terminal import show
from podium.cli.terminal.completion import complete_system
from podium.cli.terminal.helping import examples
from podium.cli.terminal.options import Shape
from podium.cli.terminal.show import Format

WIDTH = 80

if TYPE_CHECKING:
    from podium.engine.system import System


@examples("podium systems", "podium systems folyami", "podium systems --check my.py:Stakes")
def systems(
    name: Annotated[
        str | None,
        typer.Argument(help="A system, to see its parameters, state and formulas.", autocompletion=complete_system),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="SYSTEM", help="Check a system of your own: my.py:Class, or an installed one's name."),
    ] = None,
    form: Shape = Format.table,
) -> None:
    """List the rating systems, describe one, or check one of your own."""
    import polars as pl

    from podium.systems import find, load, names, outsiders

    if check is not None:
        show_check(check, form)
        return
    if name is None:
        installed, refused = outsiders()
        classes = [*map(find, names()), *installed]
        listed = [{"name": each.name, "title": each.title, "source": each.source} for each in classes]
        show.show(pl.DataFrame(listed), form)
        for reason in refused:
            typer.echo(f"podium: {reason}", err=True)
        return
    system = load(name)
    if form is not Format.table:
        description = as_data(system)
        show.show(pl.DataFrame(description["parameters"]), form) if form is Format.csv else show.show_json(description)
        return
    typer.echo(f"{system.name}: {system.title}\n{inspect.getdoc(system) or ''}\nSource: {system.source}\n")
    show.show(pl.DataFrame(as_data(system)["parameters"]), form, "Parameters")
    state = ", ".join(f"{field} {value:g}" for field, value in as_data(system)["newcomer"].items())
    typer.echo(f"A newcomer's state: {state}\n")
    typer.echo("Formulas:")
    for formula in system.formulas:
        typer.echo(f"  {formula}")
    typer.echo("\n" + "\n".join(textwrap.wrap(f"A quit or dnf: {system.unfinished}", WIDTH)))
    typer.echo(f"\nTry it: podium leaderboard results.csv --system {name}")


def show_check(text: str, form: Format) -> None:
    """Check a system, and show what it keeps.

    Raises:
        RuleError: it does not keep what every system owes.
    """
    from dataclasses import asdict

    from podium.analysis.conformance import check_system
    from podium.cli.judging import described_systems

    (system,) = described_systems([text], None)
    with show.progress("checking"):
        checked = check_system(system)
    show.show_json(asdict(checked)) if form is Format.json else typer.echo(str(checked))


def as_data(system: "type[System]") -> dict[str, Any]:
    """A system as data."""
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
