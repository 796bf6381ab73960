"""Commands that evaluate, tune and audit systems, or that simulate results for this."""

import json
import math
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Option

from podium.cli.rating import rated_file
from podium.cli.results.reading import PRINTED, Input, input_option
from podium.cli.terminal import options, show
from podium.cli.terminal.app import App, examples, flag, option
from podium.cli.terminal.options import SYSTEM, SystemFlags, chosen_system, complete_system, write_text
from podium.cli.terminal.show import Format
from podium.errors import ParameterError, PodiumError
from podium.support.words import as_text, counted, suggestion

if TYPE_CHECKING:
    from podium.analysis.simulation import Scenario
    from podium.engine.system import System

SHOWN_FINDINGS = 40
SHOWN_MONTHS = 240
AUDIT_TABLES = {  # attribute of Audit and title, by name in JSON
    "months": ("months", "Points by month"),
    "broken": ("unbalanced", "Events whose points do not sum to zero"),
    "farmed": ("farming", "Points mostly from a few opponents"),
    "groups": ("isolated_groups", "Groups that only play each other"),
    "newcomers": ("newcomers", "Newcomers who rise far faster than others"),
    "quitters": ("quitters", "Players who quit often"),
}
POINTS_OF_MONTHS = (
    "month", "introduced_starts", "introduced_base_points", "exchanged", "created", "leaked", "circulation",
)  # fmt: skip


class NotConservedError(PodiumError):
    """A system that should conserve points did not conserve them."""


SYSTEMS = option(
    "System to evaluate [default: PODIUM_SYSTEM, podium.toml, or elo]. Can be repeated.",
    "--system",
    "-s",
    metavar="NAME[:PARAMETER=VALUE,...]",
    autocompletion=complete_system,
)


def described_systems(texts: list[str] | None, settings: list[str] | None) -> list["System"]:
    if settings and texts and len(texts) > 1:
        raise ParameterError("--set works with a single system. For several, write --system NAME:PARAMETER=VALUE,...")
    named: list[str | None] = [*(texts or [])] or [None]
    return [chosen_system(text, settings, None) for text in named]


@examples("podium audit results.csv", "podium audit results.csv -s folyami --chart points.svg")
def audit(
    file: Input = input_option(),
    system: "System" = SYSTEM,
    period: str = options.PERIOD,
    chart: Path | None = option("File for a chart of the points by month: .svg, .png or .html."),
    form: Format = PRINTED,
) -> None:
    """Audit the points of FILE: introduced, exchanged, created and leaked. Show patterns that are worth checking."""
    from podium.analysis.audit import audit
    from podium.reporting import plotting

    with show.progress("reading", "auditing") as steps:
        source = file.read()
        steps.next()
        findings = audit(source, system, period=period)
        if chart is not None:
            plotting.save(plotting.circulation(findings.months, system.title), chart)
    tables = {name: getattr(findings, attribute) for name, (attribute, _) in AUDIT_TABLES.items()}
    if form is Format.json:
        show.show_json({name: json.loads(as_text(table).write_json()) for name, table in tables.items()})
    elif form is Format.csv:
        show.show(findings.months, form)
    else:
        show.show(findings.months.select(POINTS_OF_MONTHS), form, AUDIT_TABLES["months"][1], max_rows=SHOWN_MONTHS)
        show.show(
            findings.months.drop(POINTS_OF_MONTHS[1:]), form, "Players and ratings by month", max_rows=SHOWN_MONTHS
        )
        for name, (_, title) in AUDIT_TABLES.items():
            if name != "months" and tables[name].height:
                show.show(tables[name], form, title, max_rows=SHOWN_FINDINGS)
    if findings.unbalanced.height:
        event, found = findings.unbalanced["event_id"][0], counted(findings.unbalanced.height, "event")
        raise NotConservedError(f"{system.name} should conserve points, but {found} did not. The first is {event}.")


@examples(
    "podium tune results.csv -s elo --train-until 60%",
    "podium tune results.csv -s stk --train-until 2024-12-31 -o tuned.toml",
)
def tune(
    file: Input = input_option(),
    system: "System" = SYSTEM,
    train_until: str | None = option(
        "End of the training events. Later events are used only for testing.", metavar="DATE|SHARE%"
    ),
    trials: int = Option(100, min=1, help="Number of candidates to try."),
    out: Path | None = option(
        "Write the tuned system here, replacing the file [default: SYSTEM-tuned.toml, "
        "or SYSTEM-tuned-2.toml and so on if it exists].",
        "--out",
        "-o",
        metavar="TOML",
    ),
    study: Path | None = option("Save the trials here, and continue from them next time.", metavar="SQLITE"),
    form: Format = PRINTED,
) -> None:
    """Search for a system's best parameters on the earlier events of FILE, and test them on the later ones."""
    from podium.analysis.tuning import as_toml, tune

    if train_until is None:
        raise ParameterError("the end of the training events is missing. Add --train-until DATE or --train-until 60%.")
    with show.progress(*["trying"] * trials) as steps:
        tuned = tune(file.read(), system, train_until, trials=trials, study=study, progress=steps.reach)
    toml = as_toml(tuned.system)
    out = out or options.unused_path(Path(f"{system.name}-tuned.toml"))
    write_text(toml, out)
    if form is Format.json:
        difference = tuned.test.differences.row(0, named=True)
        parameters = {field.name: getattr(tuned.system, field.name) for field in fields(tuned.system)}
        fitted = {"fitted_log_loss": tuned.fitted, "fitted_log_loss_defaults": tuned.fitted_defaults}
        test = {"test": tuned.test.scores.to_dicts(), "difference": difference}
        show.show_json({"system": system.name, "parameters": parameters, "file": str(out)} | fitted | test)
        return
    columns = ("system", "events", "pairs", "log_loss", "brier", "accuracy", "calibration_error")
    show.show(tuned.test.scores.select(columns), form, "On the held-out events")
    show.show(tuned.test.differences, form, "Log loss minus that of the defaults, with a 95% interval")
    if form is Format.table:
        typer.echo(toml)
        typer.echo(f"Use it with --system-file {out}")


@examples(
    "podium evaluate results.csv -s elo -s glicko2 -s folyami:k=20",
    "podium evaluate results.csv -s elo --since 2025-01-01 --min-events 5",
)
def evaluate(
    file: Input = input_option(),
    system: list[str] | None = SYSTEMS,
    settings: list[str] | None = options.SETTINGS,
    since: str | None = option("Evaluate events from this date on; learn from earlier ones.", metavar="DATE"),
    until: str | None = option("Evaluate events up to this date, inclusive.", metavar="DATE"),
    min_events: int = Option(
        0, min=0, help="Evaluate only pairs of players who both have at least this many rated events."
    ),
    weight: str = Option(
        "pair", help="Give equal weight to pairs of sides (pair), pairs of players (player) or events (event)."
    ),
    period: str = options.PERIOD,
    columns: str | None = options.SHOWN_COLUMNS,
    form: Format = PRINTED,
) -> None:
    """Evaluate systems: let them predict every event of FILE before they learn its result."""
    from podium.analysis.evaluation import evaluate
    from podium.analysis.scores import Window

    rating_systems = described_systems(system, settings)
    labels = system or [chosen.label for chosen in rating_systems]
    with show.progress("reading", "predicting") as steps:
        results = file.read()
        steps.next()
        window = Window(since, until, min_events)
        evaluation = evaluate(results, rating_systems, labels=labels, window=window, weight=weight, period=period)
    for notice in evaluation.notices:
        typer.echo(notice, err=True)
    if form is Format.json:
        tables = {"systems": evaluation.scores, "differences": evaluation.differences}
        show.show_tables(tables | {"reliability": evaluation.reliability})
        return
    if form is Format.csv or columns is not None:
        show.show(evaluation.scores, form, columns=columns)
        return
    of_pairs = ["system", "events", "pairs", "log_loss", "brier", "accuracy", "calibration_error", "kendall_tau"]
    if evaluation.scores["three_way_log_loss"].null_count() == 0:  # some duels were drawn
        of_pairs.append("three_way_log_loss")
    show.show(evaluation.scores.select(of_pairs), form, "Pairs")
    split = [name for name in evaluation.scores.columns if name.startswith(("winner_", "established_", "newcomer_"))]
    show.show(evaluation.scores.select("system", *split), form, "Winners, established players, newcomers")
    if evaluation.differences.height:
        show.show(evaluation.differences, form, "Log loss minus the first system's, with a 95% interval")
    show.show(evaluation.reliability, form, "Reliability")


@examples("podium simulate --describe", "podium simulate -o season.parquet --skills skills.parquet --set events=3000")
def simulate(
    out: Path = Option(
        Path("season.csv"), "--out", "-o", help="Write the results here: .csv, .xlsx, .parquet, .json or .jsonl."
    ),
    skills: Path | None = option("Write every entrant's true skill in every event here."),
    laps: Path | None = option("Write the lap times here."),
    settings: list[str] | None = option(
        "Set a property of the season; --describe lists them. Can be repeated.", "--set", metavar="NAME=VALUE"
    ),
    seed: int | None = option("Random seed; change it for a different season of the same kind.", min=0),
    describe: bool = flag("--describe", "List the properties of a season, and exit."),
) -> None:
    """Simulate a season from known skills."""
    from podium.analysis.simulation import simulate

    scenario = scenario_of(settings or [], seed)
    if describe:
        for setting in fields(scenario):
            typer.echo(f"{setting.name} = {getattr(scenario, setting.name)}")
        return
    options.check_outputs([out, skills, laps])
    with show.progress("simulating", "writing") as steps:
        season = simulate(scenario)
        steps.next()
        if laps is not None and season.laps is None:
            raise ParameterError("there are no lap times to write. Simulate races of several laps with --set laps=N.")
        for table, path in ((season.results, out), (season.skills, skills), (season.laps, laps)):
            if path is not None and table is not None:
                options.write_table(table, path)
    summary = f"{season.results.height} rows of {season.skills['event_id'].n_unique()} events are in {out}"
    typer.echo(summary + (f", the skills in {skills}" if skills else ""))


def scenario_of(settings: list[str], seed: int | None) -> "Scenario":
    from podium.analysis.simulation import Scenario

    known = {setting.name: type(getattr(Scenario(), setting.name)) for setting in fields(Scenario)}
    properties: dict[str, Any] = {} if seed is None else {"seed": seed}
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if name not in known or not equals:
            raise ParameterError(
                f"--set {setting}: is not a property of a season{suggestion(name, known)} ({', '.join(known)})"
            )
        try:
            properties[name] = known[name](text.strip())
        except ValueError:
            raise ParameterError(f"{name} is {text!r}; write a value such as {getattr(Scenario(), name)}") from None
    return Scenario(**properties)


@examples("podium recovery-test season.parquet --skills skills.parquet -s elo -s glicko2")
def recovery_test(
    file: Input = input_option(named=True),
    skills: Path | None = option("True skills, from `podium simulate --skills`."),
    system: list[str] | None = SYSTEMS,
    settings: list[str] | None = options.SETTINGS,
    form: Format = PRINTED,
) -> None:
    """Rate a simulated season with several systems, and show how soon and how accurately they find the true skills."""
    from podium.analysis.recovery import recover

    rating_systems = described_systems(system, settings)
    if skills is None:
        raise ParameterError("the true skills are missing. Give them with --skills FILE.")
    with show.progress(*(f"rating with {chosen.name}" for chosen in rating_systems)):
        recovery = recover(file.read(), options.read_table(skills), rating_systems, system)
    if form is Format.json:
        show.show_tables({"systems": recovery.summary, "progress": recovery.progress})
        return
    show.show(recovery.summary, form, "How soon and how well")
    if form is Format.table:
        show.show(recovery.progress, form, "Over the season", max_rows=100)


lab = App(help="Try out matchmaking policies before you use them.")


def numbers(text: str, what: str, kind: type[int] | type[float]) -> list[Any]:
    """Return the finite numbers in a comma-separated text."""
    try:
        found = [kind(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(abs(number) < math.inf for number in found):
        kinds = "whole numbers" if kind is int else "numbers"
        raise ParameterError(f"{what} is {text!r}; write {kinds} separated by commas")
    return found


@lab.command(
    "matchmaking",
    "podium lab matchmaking --population 200,1000 --target 20,40",
    "podium lab matchmaking results.csv -s trueskill --chart waits.svg",
    short_help="Try matchmaking policies on simulated populations, or on your results.",
)
def matchmaking(
    file: Input | None = input_option(optional=True),
    named: SystemFlags = options.SYSTEM_FLAGS,
    population: str = Option("50,200,1000,5000", metavar="N,N,...", help="Populations to try if no FILE is given."),
    target: str = Option("20,40,80", metavar="S,S,...", help="Target waiting times to try, in seconds."),
    size: int = Option(4, min=2, help="Players per match."),
    teams: int = Option(0, min=0, help="Sides per match; 0 if everyone plays individually."),
    least: int = Option(
        0,
        min=0,
        help=(
            "Minimum number of players once the target wait is over. 0 means a full match if there are "
            "sides, and 2 otherwise."
        ),
    ),
    minutes: float = Option(30.0, help="Minutes to simulate for each population."),
    match_s: float = Option(240.0, "--match", help="Length of a match, in seconds."),
    rest_s: float = Option(60.0, "--rest", help="Average rest between matches, in seconds."),
    deviation: float = Option(250.0, help="Standard deviation of the players' ratings."),
    scale: float | None = option(
        "Rating gap at which the odds are 10 to 1 [default: the system's own, or 400 without FILE]."
    ),
    seed: int = Option(1, min=0, help="Random seed; change it for a different crowd of the same kind."),
    chart: Path | None = option("File for a chart of waits and spreads: .svg, .png or .html."),
    form: Format = PRINTED,
) -> None:
    """Compare matchmaking policies with first come, first served, on populations or the arrival times in FILE."""
    from podium.matchmaking.lab import Crowd, compare_policies, replayed_arrivals
    from podium.matchmaking.matcher import Policy
    from podium.matchmaking.pairing import odds_scale
    from podium.reporting import plotting

    if chart is not None:
        plotting.check_path(chart)
    rating_system = None if file is None else named.choose()
    if scale is None:
        scale = Policy().scale if rating_system is None else odds_scale(rating_system)
    policies = [Policy(size, teams, least, wait, scale) for wait in numbers(target, "--target", float)]
    if file is not None and rating_system is not None:
        with show.progress("reading", "rating", "matching") as steps:
            rated = rated_file(file, rating_system, "event", steps)
            runs = replayed_arrivals(rated.events, rated.replayed, policies)
    else:
        if named.are_given:
            raise ParameterError("--system requires a FILE of arrivals. Add a FILE, or leave out --system.")
        crowds = [
            Crowd(count, minutes, match_s=match_s, rest_s=rest_s, skill_deviation=deviation, seed=seed)
            for count in numbers(population, "--population", int)
        ]
        with show.progress("matching"):
            runs = compare_policies(crowds, policies)
    if chart is not None:
        plotting.save(plotting.waits_and_spreads(runs, "Effect of longer waits"), chart)
    show.show(runs, form, "Waits in seconds, spreads in points")
