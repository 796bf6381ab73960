"""The command that describes rating systems."""

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli import show
from podium.cli.options import Shape
from podium.cli.show import Format

if TYPE_CHECKING:
    from podium.systems.base import System


def systems(
    name: Annotated[str | None, typer.Argument(help="A system, to see its parameters, state and formulas.")] = None,
    form: Shape = Format.table,
) -> None:
    """List the rating systems, or describe one."""
    import polars as pl

    from podium.systems import find, names

    if name is None:
        listed = [{"name": each, "title": find(each).title, "source": find(each).source} for each in names()]
        show.show(pl.DataFrame(listed), form)
        return
    system = find(name)
    if form is not Format.table:
        told = described(system)
        show.show(pl.DataFrame(told["parameters"]), form) if form is Format.csv else show.show_json(told)
        return
    typer.echo(f"{system.name}: {system.title}\n{(system.__doc__ or '').strip()}\nSource: {system.source}\n")
    show.show(pl.DataFrame(described(system)["parameters"]), form, "Parameters")
    state = ", ".join(f"{field} {value:g}" for field, value in described(system)["newcomer"].items())
    typer.echo(f"A newcomer's state: {state}\n")
    typer.echo("Formulas:")
    for formula in system.formulas:
        typer.echo(f"  {formula}")
    typer.echo(f"\nA quit or dnf: {system.unfinished}")


def described(system: "type[System]") -> dict[str, Any]:
    """A system as data."""
    from podium.systems.base import allowed

    return {
        "name": system.name,
        "title": system.title,
        "source": system.source,
        "parameters": [
            {
                "name": setting.name,
                "default": "none" if setting.default is None else str(setting.default),
                "unit": setting.metadata["unit"],
                "allowed": allowed(system, setting),
            }
            for setting in fields(system)
        ],
        "newcomer": system().newcomer()._asdict(),
        "formulas": list(system.formulas),
        "unfinished": system.unfinished,
    }
