"""Commands that look ahead: predict, strength."""

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from podium.cli.rating import rated_file
from podium.cli.results.reading import Input, reads_results
from podium.cli.terminal import show
from podium.cli.terminal.helping import examples
from podium.cli.terminal.options import Columns, Period, Settings, Shape, SystemFile, SystemName
from podium.cli.terminal.settings import from_settings
from podium.cli.terminal.show import Format
from podium.cli.terminal.system_choice import chosen_system
from podium.errors import ParameterError


@examples(
    "podium predict results.csv --entrants Ana,Ben,Cleo",
    'podium predict results.csv --entrant "Doe, John" --entrant "Roe, Jane"',
    "podium predict results.csv -s trueskill --side Ana,Ben --side Cleo,Dan",
)
@reads_results
def predict(
    file: Input,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    entrants: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,...", help="Who is in the field; quote a name with a comma in it. May repeat."),
    ] = None,
    entrant: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="One who is in the field, commas and quotes being of the name. May repeat."),
    ] = None,
    side: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,...", help="Who starts on one side; quote a name with a comma in it. May repeat."),
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="The chance to finish among so many.")] = 3,
    pool: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The pool whose ratings to use, where there are several.",
            callback=from_settings("pool"),
        ),
    ] = None,
    period: Period = "event",
    columns: Columns = None,
    form: Shape = Format.table,
) -> None:
    """Predict a field from the ratings that FILE leads to: chances to win, of the first places, of each pair."""
    from podium.ledger.forecast import names_in

    rating_system = chosen_system(system, settings, system_file)
    names = [name for row in names_in(entrants or []) for name in row]
    names += [name.strip() for name in entrant or [] if name.strip()]
    sides = names_in(side or [])
    if not names and not sides:
        raise ParameterError("name the field with --entrants A,B,..., --entrant NAME or --side A,B,... for each")
    with show.progress("reading", "rating", "predicting") as steps:
        rated = rated_file(file, rating_system, period, steps)
        forecast = rated.predict(names, sides=sides, top=top, pool=pool)
        strangers = rated.newcomers([*names, *chain.from_iterable(sides)], pool=pool)
    scope = file if pool is None else f"pool {pool} of {file}"
    for name, near in strangers.items():
        hint = f" (did you mean {near}?)" if near else ""
        typer.echo(f"podium: {name} is not in {scope}{hint}; predicted as a newcomer", err=True)
    if form is Format.json:
        tables = {"entrants": forecast.entrants, "ranks": forecast.ranks, "pairs": forecast.pairs}
        show.show_json({name: table.to_dicts() for name, table in tables.items()})
        return
    show.show(forecast.entrants, form, rating_system.label, columns=columns)


@examples("podium strength results.csv --top 5", "podium strength results.csv -s folyami --chart strength.svg")
@reads_results
def strength(
    file: Input,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    top: Annotated[int, typer.Option(min=1, help="A probe's chance to finish among so many is what counts.")] = 5,
    probe: Annotated[float | None, typer.Option(help="The probe's rating; a newcomer's if not given.")] = None,
    period: Period = "event",
    chart: Annotated[Path | None, typer.Option(help="Draw the strengths here: .svg, .png or .html.")] = None,
    columns: Columns = None,
    form: Shape = Format.table,
) -> None:
    """Show how strong the field of each event of FILE was, by the ratings before it."""
    from podium.reporting import plotting
    from podium.reporting.plotting import check_path, save

    rating_system = chosen_system(system, settings, system_file)
    if chart is not None:
        check_path(chart)
    with show.progress("reading", "rating", "integrating") as steps:
        strengths = rated_file(file, rating_system, period, steps).strengths(top=top, probe=probe)
        if chart is not None:
            save(plotting.race_strengths(strengths, f"{rating_system.title}: the first {top}"), chart)
    ordered = strengths.sort("strength", descending=True) if form is Format.table else strengths
    show.show(ordered, form, rating_system.label, max_rows=50, columns=columns)
