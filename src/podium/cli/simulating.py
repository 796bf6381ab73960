"""Commands about seasons whose skills are known, and populations: simulate, recover, lab."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Option

from podium.cli.judging import SYSTEMS, described_systems
from podium.cli.rating import rated_file
from podium.cli.results.reading import PRINTED, Input, input_option
from podium.cli.terminal import options, show
from podium.cli.terminal.app import App, examples
from podium.cli.terminal.options import check_output, chosen_system, read_table, write_table
from podium.cli.terminal.show import Format
from podium.errors import ParameterError

if TYPE_CHECKING:
    from podium.analysis.simulation import Scenario


@examples("podium simulate --describe", "podium simulate -o season.parquet --skills skills.parquet --set events=3000")
def simulate(
    out: Path = Option(
        Path("season.csv"), "--out", "-o", help="Write the results here: .csv, .parquet, .json or .jsonl."
    ),
    skills: Path | None = Option(None, help="Write the true skill of every entrant of every event here."),
    laps: Path | None = Option(None, help="Write the lap times here."),
    settings: list[str] | None = Option(
        None, "--set", metavar="NAME=VALUE", help="Set a property of the season; --describe lists them. May repeat."
    ),
    seed: int | None = Option(None, min=0, help="Another season of the same kind."),
    describe: bool = Option(False, "--describe", help="List what can be set, and stop."),
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
def recover(
    file: Input = input_option(named=True),
    skills: Path | None = Option(None, help="The true skills, as `podium simulate --skills` writes them."),
    system: list[str] | None = SYSTEMS,
    settings: list[str] | None = options.SETTINGS,
    form: Format = PRINTED,
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


lab = App(help="Try a policy before players have to.")


def numbers(text: str, what: str) -> list[float]:
    """The positive numbers in a text, between commas."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(f"{what} is {text!r}; it must be numbers between commas") from None
    return values


@lab.command(
    "matchmaking",
    "podium lab matchmaking --population 200,1000 --target 20,40",
    "podium lab matchmaking results.csv -s trueskill --chart waits.svg",
    short_help="Try matchmaking policies on populations, or on your results.",
)
def matchmaking(
    file: Input | None = input_option(optional=True),
    system: str | None = options.SYSTEM_NAME,
    settings: list[str] | None = options.SETTINGS,
    system_file: Path | None = options.SYSTEM_FILE,
    population: str = Option("50,200,1000,5000", metavar="N,N,...", help="Populations to try, without FILE."),
    target: str = Option("20,40,80", metavar="S,S,...", help="Target waits to try, in seconds."),
    size: int = Option(4, min=2, help="Players of a match."),
    teams: int = Option(0, min=0, help="Sides of a match; 0: each for himself."),
    least: int = Option(2, min=2, help="Players of a match that has waited its time."),
    minutes: float = Option(30.0, help="How long to watch each population."),
    match_s: float = Option(240.0, "--match", help="Seconds that a match takes."),
    rest_s: float = Option(60.0, "--rest", help="Seconds that players rest, on average."),
    deviation: float = Option(250.0, help="Of the players' ratings."),
    scale: float | None = Option(
        None, help="Gap in rating at which the odds are 10 to 1; the system's own, or 400 without FILE."
    ),
    seed: int = Option(1, min=0, help="Another crowd of the same kind."),
    chart: Path | None = Option(None, help="Draw waits against spreads here: .svg, .png or .html."),
    form: Format = PRINTED,
) -> None:
    """Try matchmaking policies on populations, or on the arrival times of FILE, beside first come, first served."""
    from podium.matchmaking.lab import Crowd, compare_policies, replayed_arrivals
    from podium.matchmaking.matcher import Policy
    from podium.matchmaking.pairing import odds_scale
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
