"""Commands that judge systems by how well they predict."""

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Option

from podium.cli.results.reading import PRINTED, Input, input_option
from podium.cli.terminal import options, show
from podium.cli.terminal.app import examples
from podium.cli.terminal.options import SYSTEM, chosen_system, complete_system, unused_path, write_text
from podium.cli.terminal.show import Format
from podium.errors import ParameterError, PodiumError
from podium.support.words import as_text

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
    "month", "introduced_starts", "introduced_base_points", "exchanged", "created", "leaked", "circulation",
)  # fmt: skip


class NotConservedError(PodiumError):
    """A system that should conserve points did not."""


SYSTEMS = Option(
    None,
    "--system",
    "-s",
    metavar="NAME[:PARAMETER=VALUE,...]",
    help="A system to judge; if not given, what PODIUM_SYSTEM or podium.toml says, else elo. May repeat.",
    autocompletion=complete_system,
)


def described_systems(texts: list[str] | None, settings: list[str] | None) -> list["System"]:
    if settings and texts and len(texts) > 1:
        raise ParameterError("--set is for one system; write --system NAME:PARAMETER=VALUE,... for several")
    if not texts:
        return [chosen_system(None, settings, None)]
    return [chosen_system(text, settings, None) for text in texts]


@examples("podium audit results.csv", "podium audit results.csv -s folyami --chart points.svg")
def audit(
    file: Input = input_option(),
    system: "System" = SYSTEM,
    period: str = options.PERIOD,
    chart: Path | None = Option(None, help="Draw the points by month here: .svg, .png or .html."),
    how: dict[str, Any] = options.EXECUTOR,
    form: Format = PRINTED,
) -> None:
    """Audit the points of FILE: introduced, exchanged, created, leaked; and patterns worth a look."""
    from podium.analysis.audit import audit
    from podium.reporting import plotting
    from podium.reporting.plotting import save

    with show.progress("reading", "auditing") as steps:
        source = file.open()
        steps.next()
        findings = audit(source, system, period=period, **how)
        if chart is not None:
            save(plotting.circulation(findings.months, system.title), chart)
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
        raise NotConservedError(f"{system.name} should conserve points; event {event} and {others} more do not")


@examples(
    "podium tune results.csv -s elo --train-until 60%",
    "podium tune results.csv -s stk --train-until 2024-12-31 -o tuned.toml",
)
def tune(
    file: Input = input_option(),
    system: "System" = SYSTEM,
    train_until: str | None = Option(
        None, metavar="DATE|SHARE%", help="Learn and search until then; later events are only tested."
    ),
    trials: int = Option(100, min=1, help="Candidates to try in all."),
    out: Path | None = Option(
        None,
        "--out",
        "-o",
        metavar="TOML",
        help="Write the tuned system here, over what is there; if not given, SYSTEM-tuned.toml, "
        "or SYSTEM-tuned-2.toml and so on where that exists.",
    ),
    study: Path | None = Option(
        None, metavar="SQLITE", help="Keep the trials here, and go on from them when run again."
    ),
    how: dict[str, Any] = options.EXECUTOR,
    form: Format = PRINTED,
) -> None:
    """Search a system's parameters on the past of FILE, and test them on what came after."""
    from podium.analysis.tuning import as_toml, tune

    if train_until is None:
        raise ParameterError("say where the training events end, with --train-until DATE or --train-until 60%")
    with show.progress(*["trying"] * trials) as steps:
        tuned = tune(file.open(), system, train_until, trials=trials, study=study, progress=steps.reach, **how)
    toml = as_toml(tuned.system)
    out = out or unused_path(Path(f"{system.name}-tuned.toml"))
    write_text(toml, out)
    if form is Format.json:
        difference = tuned.test.differences.row(0, named=True)
        parameters = {field.name: getattr(tuned.system, field.name) for field in fields(tuned.system)}
        fitted = {"fitted_log_loss": tuned.fitted, "fitted_log_loss_defaults": tuned.fitted_defaults}
        test = {"test": tuned.test.scores.to_dicts(), "difference": difference}
        show.show_json({"system": system.name, "parameters": parameters, "file": str(out)} | fitted | test)
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
def evaluate(
    file: Input = input_option(),
    system: list[str] | None = SYSTEMS,
    settings: list[str] | None = options.SETTINGS,
    since: str | None = Option(None, metavar="DATE", help="Judge events from then on; earlier ones are learnt."),
    until: str | None = Option(None, metavar="DATE", help="Judge events until then; a date counts the whole day."),
    min_events: int = Option(0, min=0, help="Judge pairs of players who both had so many rated events before."),
    weight: str = Option("pair", help="Weigh every pair alike (pair), or every event (event)."),
    period: str = options.PERIOD,
    how: dict[str, Any] = options.EXECUTOR,
    columns: str | None = options.SHOWN_COLUMNS,
    form: Format = PRINTED,
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
        evaluation = evaluate(
            results, rating_systems, labels=labels, window=window, weight=weight, period=period, **how
        )
    for notice in evaluation.notices:
        typer.echo(notice, err=True)
    if form is Format.json:
        tables = {"systems": evaluation.scores, "differences": evaluation.differences}
        tables |= {"reliability": evaluation.reliability}
        show.show_json({name: table.to_dicts() for name, table in tables.items()})
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
