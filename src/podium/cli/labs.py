"""Commands to try things on people who are not there: lab matchmaking."""

from pathlib import Path
from typing import Annotated

import typer

from podium.cli.rating import rated_file
from podium.cli.results.reading import Input, reads_results
from podium.cli.terminal import show
from podium.cli.terminal.helping import App, examples
from podium.cli.terminal.options import Settings, Shape, SystemFile, SystemName
from podium.cli.terminal.show import Format
from podium.cli.terminal.system_choice import chosen_system
from podium.errors import ParameterError

lab = App(help="Try a policy before players have to.")


@lab.callback()
def laboratory() -> None:
    """Try a policy before players have to."""


def numbers(text: str, what: str) -> list[float]:
    """The positive numbers in a text, between commas.

    Raises:
        ParameterError: it holds something else.
    """
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(f"{what} is {text!r}; it must be numbers between commas") from None
    return values


@lab.command("matchmaking", short_help="Try matchmaking policies on populations, or on your results.")
@examples(
    "podium lab matchmaking --population 200,1000 --target 20,40",
    "podium lab matchmaking results.csv -s trueskill --chart waits.svg",
)
@reads_results
def matchmaking(
    file: Input | None = None,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    population: Annotated[
        str, typer.Option(metavar="N,N,...", help="Populations to try, without FILE.")
    ] = "50,200,1000,5000",
    target: Annotated[str, typer.Option(metavar="S,S,...", help="Target waits to try, in seconds.")] = "20,40,80",
    size: Annotated[int, typer.Option(min=2, help="Players of a match.")] = 4,
    teams: Annotated[int, typer.Option(min=0, help="Sides of a match; 0: each for himself.")] = 0,
    least: Annotated[int, typer.Option(min=2, help="Players of a match that has waited its time.")] = 2,
    minutes: Annotated[float, typer.Option(help="How long to watch each population.")] = 30.0,
    match_s: Annotated[float, typer.Option("--match", help="Seconds that a match takes.")] = 240.0,
    rest_s: Annotated[float, typer.Option("--rest", help="Seconds that players rest, on average.")] = 60.0,
    deviation: Annotated[float, typer.Option(help="Of the players' ratings.")] = 250.0,
    scale: Annotated[
        float | None,
        typer.Option(help="Gap in rating at which the odds are 10 to 1; the system's own, or 400 without FILE."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another crowd of the same kind.")] = 1,
    chart: Annotated[Path | None, typer.Option(help="Draw waits against spreads here: .svg, .png or .html.")] = None,
    form: Shape = Format.table,
) -> None:
    """Try matchmaking policies on populations, or on the arrival times of FILE, beside first come, first served."""
    from podium.matchmaking.lab import Crowd, compare_policies, replayed_arrivals
    from podium.matchmaking.matcher import Policy, odds_scale
    from podium.reporting import plotting
    from podium.reporting.plotting import check_path, save

    if chart is not None:
        check_path(chart)
    rating_system = None if file is None else chosen_system(system, settings, system_file)
    if scale is None:
        scale = Policy().scale if rating_system is None else odds_scale(rating_system)
    policies = [Policy(size, teams, max(least, teams or 2), wait, scale) for wait in numbers(target, "--target")]
    if file is not None and rating_system is not None:
        with show.progress("reading", "rating", "matching") as steps:
            rated = rated_file(file, rating_system, "event", steps)
            runs = replayed_arrivals(rated.events, rated.replayed, policies)
    else:
        if system or settings or system_file:
            raise ParameterError("--system is for the arrivals of a FILE")
        people = [int(count) for count in numbers(population, "--population")]
        crowds = [
            Crowd(count, minutes, match_s=match_s, rest_s=rest_s, skill_deviation=deviation, seed=seed)
            for count in people
        ]
        with show.progress("matching"):
            runs = compare_policies(crowds, policies)
    if chart is not None:
        save(plotting.waits_and_spreads(runs, "What a longer wait buys"), chart)
    show.show(runs, form, "Waits in seconds, spreads in points")
