"""Commands that judge systems by how well they predict."""

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import show
from podium.cli.options import File, Period, Settings, Shape, SystemFile, SystemName, chosen_system
from podium.cli.rating import rated_file
from podium.cli.show import Format
from podium.errors import ParameterError, PodiumError

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


class NotConservedError(PodiumError):
    """A system that should keep an event's points level did not."""


Systems = Annotated[
    list[str] | None,
    typer.Option("--system", "-s", metavar="NAME[:PARAMETER=VALUE,...]", help="A system to judge. May repeat."),
]
Since = Annotated[str | None, typer.Option(metavar="DATE", help="Judge events from then on; earlier ones are learnt.")]
Until = Annotated[
    str | None, typer.Option(metavar="DATE", help="Judge events until then; a date counts the whole day.")
]


def described_systems(texts: list[str] | None, settings: list[str] | None) -> list["System"]:
    """The systems that the options describe.

    Raises:
        ParameterError: none or an unknown one, or `--set` with several.
    """
    if not texts:
        raise ParameterError("name at least one rating system with --system (`podium systems` lists them)")
    if settings and len(texts) > 1:
        raise ParameterError("--set is for one system; write --system NAME:PARAMETER=VALUE,... for several")
    from podium.systems import split_settings

    made = []
    for text in texts:
        name, of_its_own = split_settings(text)
        own = [part for part in of_its_own.split(",") if part.strip()]
        made.append(chosen_system(name, own + (settings or []), None))
    return made


def audit(
    file: File,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    period: Period = "event",
    chart: Annotated[Path | None, typer.Option(help="Draw the points by month here: .svg, .png or .html.")] = None,
    form: Shape = Format.table,
) -> None:
    """Audit the points of FILE: introduced, exchanged, created, leaked; and patterns worth a look."""
    from podium.analysis.audit import audit
    from podium.reporting import charts

    made = chosen_system(system, settings, system_file)
    with show.progress("reading", "rating", "auditing") as steps:
        found = audit(rated_file(file, made, period, steps))
        if chart is not None:
            charts.save(charts.circulation(found.months, f"{file}, {made.name}"), chart)
    tables = {name: getattr(found, attribute) for name, (attribute, _) in AUDIT_TABLES.items()}
    if form is Format.json:
        show.show_json({name: json.loads(show.as_text(table).write_json()) for name, table in tables.items()})
    elif form is Format.csv:
        show.show(found.months, form)
    else:
        for name, (_, title) in AUDIT_TABLES.items():
            if name == "months" or tables[name].height:
                show.show(tables[name], form, title, most=SHOWN_FINDINGS)
    if found.unbalanced.height:
        event = found.unbalanced["event_id"][0]
        raise NotConservedError(
            f"{made.name} should conserve points; event {event} and {found.unbalanced.height - 1} more do not"
        )


def tune(
    file: File,
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
    form: Shape = Format.table,
) -> None:
    """Search a system's parameters on the past of FILE, and test them on what came after."""
    import podium
    from podium.analysis.tuning import as_toml, tune

    made = chosen_system(system, settings, system_file)
    if train_until is None:
        raise ParameterError("say where the training events end, with --train-until DATE or --train-until 60%")
    with show.progress(*["trying"] * trials) as steps:
        told = tune(podium.read_results(file), made, train_until, trials=trials, study=study, progress=steps.reach)
    toml = as_toml(told.system)
    out = out or show.unused_path(Path(f"{made.name}-tuned.toml"))
    show.write_text(toml, out)
    if form is Format.json:
        difference = told.test.differences.row(0, named=True)
        parameters = {field.name: getattr(told.system, field.name) for field in fields(told.system)}
        fitted = {"fitted_log_loss": told.fitted, "fitted_log_loss_defaults": told.fitted_defaults}
        test = {"test": told.test.scores.to_dicts(), "difference": difference}
        show.show_json({"system": made.name, "parameters": parameters, "file": str(out)} | fitted | test)
        return
    kept = ("system", "events", "pairs", "log_loss", "brier", "accuracy", "calibration_error")
    show.show(told.test.scores.select(kept), form, "On the untouched events")
    show.show(told.test.differences, form, "Log loss less the defaults', with a 95 % interval")
    if form is Format.table:
        typer.echo(toml)
        typer.echo(f"{out} is for --system-file")


def evaluate(
    file: File,
    system: Systems = None,
    settings: Settings = None,
    since: Since = None,
    until: Until = None,
    min_events: Annotated[
        int, typer.Option(min=0, help="Judge pairs of players who both had so many rated events before.")
    ] = 0,
    weight: Annotated[str, typer.Option(help="Weigh every pair alike (pair), or every event (event).")] = "pair",
    period: Period = "event",
    form: Shape = Format.table,
) -> None:
    """Judge systems by predicting every event of FILE before learning it."""
    import podium
    from podium.analysis.evaluation import Window, evaluate

    made = described_systems(system, settings)
    with show.progress("reading", "predicting") as steps:
        results = podium.read_results(file)
        steps.next()
        window = Window(since, until, min_events)
        told = evaluate(results, made, labels=system, window=window, weight=weight, period=period)
    for notice in told.notices:
        typer.echo(notice, err=True)
    if form is Format.json:
        show.show_json(
            {
                "systems": told.scores.to_dicts(),
                "differences": told.differences.to_dicts(),
                "reliability": told.reliability.to_dicts(),
            }
        )
        return
    if form is Format.csv:
        show.show(told.scores, form)
        return
    kept = ("system", "events", "pairs", "log_loss", "brier", "accuracy", "calibration_error", "kendall_tau")
    show.show(told.scores.select(kept), form, "Pairs")
    split = [name for name in told.scores.columns if name.startswith(("winner_", "settled_", "newcomer_"))]
    show.show(told.scores.select("system", *split), form, "Winners, settled players, newcomers")
    if told.differences.height:
        show.show(told.differences, form, "Log loss less the first system's, with a 95 % interval")
    show.show(told.reliability, form, "Reliability")
