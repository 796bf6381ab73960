"""Commands that judge systems by how well they predict."""

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.results.reading import Input, reads_results
from podium.cli.terminal import show
from podium.cli.terminal.helping import examples
from podium.cli.terminal.options import (
    Columns,
    Engine,
    Period,
    Scheduler,
    Settings,
    Shape,
    SystemFile,
    SystemName,
    Workers,
    complete_system,
    unused_path,
    write_text,
)
from podium.cli.terminal.show import Format
from podium.cli.terminal.system_choice import chosen_system
from podium.errors import ParameterError, PodiumError
from podium.support.cells import as_text

if TYPE_CHECKING:
    from podium.engine.system import System


SHOWN_FINDINGS = 40
AUDIT_TABLES = {  # the name in JSON, the attribute of Audit and the title of each
    "months": ("months", "Points by month"),
    "broken": ("unbalanced", "Events whose points do not sum to zero"),
    "farmed": ("farming", "Points mostly from few opponents"),
    "groups": ("isolated_groups", "Groups who only meet each other"),
    "newcomers": ("newcomers", "Newcomers who rise far faster than others"),
    "quitters": ("quitters", "Players who quit often"),
}
POINTS_OF_MONTHS = (
    "month",
    "introduced_starts",
    "introduced_base_points",
    "exchanged",
    "created",
    "leaked",
    "circulation",
)


class NotConservedError(PodiumError):
    """A system that should conserve points did not."""


Systems = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        "-s",
        metavar="NAME[:PARAMETER=VALUE,...]",
        help="A system to judge; if not given, what PODIUM_SYSTEM or podium.toml says, else elo. May repeat.",
        autocompletion=complete_system,
    ),
]
Since = Annotated[str | None, typer.Option(metavar="DATE", help="Judge events from then on; earlier ones are learnt.")]
Until = Annotated[
    str | None, typer.Option(metavar="DATE", help="Judge events until then; a date counts the whole day.")
]


def described_systems(texts: list[str] | None, settings: list[str] | None) -> list["System"]:
    """The systems that the options describe."""
    if settings and texts and len(texts) > 1:
        raise ParameterError("--set is for one system; write --system NAME:PARAMETER=VALUE,... for several")
    if not texts:
        return [chosen_system(None, settings, None)]
    return [chosen_system(text, settings, None) for text in texts]


@examples("podium audit results.csv", "podium audit results.csv -s folyami --chart points.svg")
@reads_results
def audit(
    file: Input,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    period: Period = "event",
    chart: Annotated[Path | None, typer.Option(help="Draw the points by month here: .svg, .png or .html.")] = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    form: Shape = Format.table,
) -> None:
    """Audit the points of FILE: introduced, exchanged, created, leaked; and patterns worth a look."""
    from podium.analysis.audit import audit
    from podium.reporting import plotting
    from podium.reporting.plotting import save

    rating_system = chosen_system(system, settings, system_file)
    how: dict[str, Any] = {"period": period, "engine": engine, "scheduler": scheduler, "workers": workers}
    with show.progress("reading", "auditing") as steps:
        source = file.open()
        steps.next()
        findings = audit(source, rating_system, **how)
        if chart is not None:
            save(plotting.circulation(findings.months, rating_system.title), chart)
    tables = {name: getattr(findings, attribute) for name, (attribute, _) in AUDIT_TABLES.items()}
    if form is Format.json:
        show.show_json({name: json.loads(as_text(table).write_json()) for name, table in tables.items()})
    elif form is Format.csv:
        show.show(findings.months, form)
    else:
        show.show(findings.months.select(POINTS_OF_MONTHS), form, AUDIT_TABLES["months"][1])
        show.show(findings.months.drop(POINTS_OF_MONTHS[1:]), form, "Players and ratings by month")
        for name, (_, title) in AUDIT_TABLES.items():
            if name != "months" and tables[name].height:
                show.show(tables[name], form, title, max_rows=SHOWN_FINDINGS)
    if findings.unbalanced.height:
        event, others = findings.unbalanced["event_id"][0], findings.unbalanced.height - 1
        raise NotConservedError(f"{rating_system.name} should conserve points; event {event} and {others} more do not")


@examples(
    "podium tune results.csv -s elo --train-until 60%",
    "podium tune results.csv -s stk --train-until 2024-12-31 -o tuned.toml",
)
@reads_results
def tune(
    file: Input,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    train_until: Annotated[
        str | None,
        typer.Option(metavar="DATE|SHARE%", help="Learn and search until then; later events are only tested."),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Candidates to try in all.")] = 100,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="TOML",
            help="Write the tuned system here, over what is there; if not given, SYSTEM-tuned.toml, "
            "or SYSTEM-tuned-2.toml and so on where that exists.",
        ),
    ] = None,
    study: Annotated[
        Path | None, typer.Option(metavar="SQLITE", help="Keep the trials here, and go on from them when run again.")
    ] = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    form: Shape = Format.table,
) -> None:
    """Search a system's parameters on the past of FILE, and test them on what came after."""
    from podium.analysis.tuning import as_toml, tune

    rating_system = chosen_system(system, settings, system_file)
    if train_until is None:
        raise ParameterError("say where the training events end, with --train-until DATE or --train-until 60%")
    with show.progress(*["trying"] * trials) as steps:
        how: dict[str, Any] = {"engine": engine, "scheduler": scheduler, "workers": workers}
        how |= {"trials": trials, "study": study, "progress": steps.reach}
        tuned = tune(file.open(), rating_system, train_until, **how)
    toml = as_toml(tuned.system)
    out = out or unused_path(Path(f"{rating_system.name}-tuned.toml"))
    write_text(toml, out)
    if form is Format.json:
        difference = tuned.test.differences.row(0, named=True)
        parameters = {field.name: getattr(tuned.system, field.name) for field in fields(tuned.system)}
        fitted = {"fitted_log_loss": tuned.fitted, "fitted_log_loss_defaults": tuned.fitted_defaults}
        test = {"test": tuned.test.scores.to_dicts(), "difference": difference}
        show.show_json({"system": rating_system.name, "parameters": parameters, "file": str(out)} | fitted | test)
        return
    columns = ("system", "events", "pairs", "log_loss", "brier", "accuracy", "calibration_error")
    show.show(tuned.test.scores.select(columns), form, "On the untouched events")
    show.show(tuned.test.differences, form, "Log loss less the defaults', with a 95 % interval")
    if form is Format.table:
        typer.echo(toml)
        typer.echo(f"{out} is for --system-file")


@examples(
    "podium evaluate results.csv -s elo -s glicko2 -s folyami:k=20",
    "podium evaluate results.csv -s elo --since 2025-01-01 --min-events 5",
)
@reads_results
def evaluate(
    file: Input,
    system: Systems = None,
    settings: Settings = None,
    since: Since = None,
    until: Until = None,
    min_events: Annotated[
        int, typer.Option(min=0, help="Judge pairs of players who both had so many rated events before.")
    ] = 0,
    weight: Annotated[str, typer.Option(help="Weigh every pair alike (pair), or every event (event).")] = "pair",
    period: Period = "event",
    engine: Engine = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    columns: Columns = None,
    form: Shape = Format.table,
) -> None:
    """Judge systems by predicting every event of FILE before learning it."""
    from podium.analysis.evaluation import evaluate
    from podium.analysis.scores import Window

    rating_systems = described_systems(system, settings)
    labels = system or [each.label for each in rating_systems]
    with show.progress("reading", "predicting") as steps:
        results = file.open()
        steps.next()
        window = Window(since, until, min_events)
        how: dict[str, Any] = {"engine": engine, "scheduler": scheduler, "workers": workers}
        evaluation = evaluate(
            results, rating_systems, labels=labels, window=window, weight=weight, period=period, **how
        )
    for notice in evaluation.notices:
        typer.echo(notice, err=True)
    if form is Format.json:
        show.show_json(
            {
                "systems": evaluation.scores.to_dicts(),
                "differences": evaluation.differences.to_dicts(),
                "reliability": evaluation.reliability.to_dicts(),
            }
        )
        return
    if form is Format.csv or columns is not None:
        show.show(evaluation.scores, form, columns=columns)
        return
    of_pairs = ("system", "events", "pairs", "log_loss", "brier", "accuracy", "calibration_error", "kendall_tau")
    show.show(evaluation.scores.select(of_pairs), form, "Pairs")
    split = [name for name in evaluation.scores.columns if name.startswith(("winner_", "settled_", "newcomer_"))]
    show.show(evaluation.scores.select("system", *split), form, "Winners, settled players, newcomers")
    if evaluation.differences.height:
        show.show(evaluation.differences, form, "Log loss less the first system's, with a 95 % interval")
    show.show(evaluation.reliability, form, "Reliability")
