"""Commands about seasons whose skills are known: simulate, recover."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.judging import Systems, described_systems
from podium.cli.results.reading import Input, reads_named_results
from podium.cli.terminal import show
from podium.cli.terminal.files import check_output, read_table, write_table
from podium.cli.terminal.helping import examples
from podium.cli.terminal.options import Settings, Shape
from podium.cli.terminal.show import Format
from podium.errors import ParameterError

if TYPE_CHECKING:
    from podium.analysis.simulation import Scenario

Table = Annotated[Path, typer.Option("--out", "-o", help="Write the results here: .csv, .parquet, .json or .jsonl.")]


@examples("podium simulate --describe", "podium simulate -o season.parquet --skills skills.parquet --set events=3000")
def simulate(
    out: Table = Path("season.csv"),
    skills: Annotated[
        Path | None, typer.Option(help="Write the true skill of every entrant of every event here.")
    ] = None,
    laps: Annotated[Path | None, typer.Option(help="Write the lap times here.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Set a property of the season; --describe lists them. May repeat."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Another season of the same kind.")] = None,
    describe: Annotated[bool, typer.Option("--describe", help="List what can be set, and stop.")] = False,
) -> None:
    """Simulate a season from known skills."""
    from podium.analysis.simulation import simulate

    scenario = scenario_of(settings or [], seed)
    if describe:
        for each in fields(scenario):
            typer.echo(f"{each.name} = {getattr(scenario, each.name)}")
        return
    for path in (out, skills, laps):
        if path is not None:
            check_output(path)
    with show.progress("simulating", "writing") as steps:
        season = simulate(scenario)
        steps.next()
        if laps is not None and season.laps is None:
            raise ParameterError("there are no lap times to write; --set laps=N makes races of several laps")
        for table, path in ((season.results, out), (season.skills, skills), (season.laps, laps)):
            if path is not None and table is not None:
                write_table(table, path)
    summary = f"{season.results.height} rows of {season.skills['event_id'].n_unique()} events are in {out}"
    typer.echo(summary + (f", the skills in {skills}" if skills else ""))


def scenario_of(settings: list[str], seed: int | None) -> "Scenario":
    """The scenario that the settings describe.

    Raises:
        ParameterError: an unknown property, or a value that does not fit.
    """
    from podium.analysis.simulation import Scenario

    known = {each.name: type(getattr(Scenario(), each.name)) for each in fields(Scenario)}
    properties: dict[str, Any] = {} if seed is None else {"seed": seed}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if name not in known or not equals:
            raise ParameterError(f"--set {setting}: a season has {', '.join(known)}")
        try:
            properties[name] = known[name](text.strip())
        except ValueError:
            raise ParameterError(f"{name} is {text!r}; it must be like {getattr(Scenario(), name)}") from None
    return Scenario(**properties)


@examples("podium recover season.parquet --skills skills.parquet -s elo -s glicko2")
@reads_named_results
def recover(
    file: Input,
    skills: Annotated[
        Path | None, typer.Option(help="The true skills, as `podium simulate --skills` writes them.")
    ] = None,
    system: Systems = None,
    settings: Settings = None,
    form: Shape = Format.table,
) -> None:
    """Rate a simulated season with several systems, and tell how soon and how well each finds the truth."""
    from podium.analysis.recovery import recover

    rating_systems = described_systems(system, settings)
    if skills is None:
        raise ParameterError("say where the true skills are with --skills FILE")
    with show.progress(*(f"rating with {each.name}" for each in rating_systems)):
        recovery = recover(file.read(), read_table(skills), rating_systems, system)
    if form is Format.json:
        show.show_json({"systems": recovery.summary.to_dicts(), "progress": recovery.progress.to_dicts()})
        return
    show.show(recovery.summary, form, "How soon and how well")
    if form is Format.table:
        show.show(recovery.progress, form, "Over the season", max_rows=100)
