"""Commands about seasons whose skills are known: simulate, recover."""

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli import show
from podium.cli.judging import Systems, described_systems
from podium.cli.options import File, Settings, Shape
from podium.cli.show import Format
from podium.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl

    from podium.analysis.simulation import Scenario

Table = Annotated[Path, typer.Option("--out", "-o", help="Write the results here: .csv, .parquet, .json or .jsonl.")]


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
        show.checked_output(path)
    with show.progress("simulating", "writing") as steps:
        told = simulate(scenario)
        steps.next()
        if laps is not None and told.laps is None:
            raise ParameterError("there are no lap times to write; --set laps=N makes races of several laps")
        for table, path in ((told.results, out), (told.skills, skills), (told.laps, laps)):
            if path is not None and table is not None:
                show.write(table, path)
    written = f"{told.results.height} rows of {told.skills['event_id'].n_unique()} events are in {out}"
    typer.echo(written + (f", the skills in {skills}" if skills else ""))


def scenario_of(settings: list[str], seed: int | None) -> "Scenario":
    """The scenario that the settings describe.

    Raises:
        ParameterError: an unknown property, or a value that does not fit.
    """
    from podium.analysis.simulation import Scenario

    known = {each.name: type(getattr(Scenario(), each.name)) for each in fields(Scenario)}
    told: dict[str, Any] = {} if seed is None else {"seed": seed}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if name not in known or not equals:
            raise ParameterError(f"--set {setting}: a season has {', '.join(known)}")
        try:
            told[name] = known[name](text.strip())
        except ValueError:
            raise ParameterError(f"{name} is {text!r}; it must be like {getattr(Scenario(), name)}") from None
    return Scenario(**told)


def recover(
    file: File,
    skills: Annotated[
        Path | None, typer.Option(help="The true skills, as `podium simulate --skills` writes them.")
    ] = None,
    system: Systems = None,
    settings: Settings = None,
    form: Shape = Format.table,
) -> None:
    """Rate a simulated season with several systems, and tell how soon and how well each finds the truth."""
    from podium.analysis.recovery import recover

    made = described_systems(system, settings)
    if skills is None:
        raise ParameterError("say where the true skills are with --skills FILE")
    with show.progress(*(f"rating with {each.name}" for each in made)):
        told = recover(file, read_table(skills), made, system)
    if form is Format.json:
        show.show_json({"systems": told.summary.to_dicts(), "progress": told.progress.to_dicts()})
        return
    show.show(told.summary, form, "How soon and how well")
    if form is Format.table:
        show.show(told.progress, form, "Over the season", most=100)


def read_table(path: Path) -> "pl.DataFrame":
    """A table by the path's suffix.

    Raises:
        ParameterError: it cannot be read.
    """
    import polars as pl

    readers = {
        ".csv": lambda: pl.read_csv(path, schema_overrides={"event_id": pl.String, "player": pl.String}),
        ".parquet": lambda: pl.read_parquet(path),
        ".json": lambda: pl.DataFrame(json.loads(path.read_text(encoding="utf-8"))),
        ".jsonl": lambda: pl.read_ndjson(path),
    }
    if path.suffix not in readers:
        raise ParameterError(f"{path}: the suffix must be one of {', '.join(readers)}")
    try:
        return readers[path.suffix]()
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise ParameterError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from None
