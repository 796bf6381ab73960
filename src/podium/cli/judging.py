"""Commands that judge systems by how well they predict."""

from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import show
from podium.cli.options import File, Period, Settings, Shape, chosen_system
from podium.cli.show import Format
from podium.errors import ParameterError

if TYPE_CHECKING:
    from podium.systems.base import System

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
    made = []
    for text in texts:
        name, _, told = text.partition(":")
        own = [part for part in told.split(",") if part.strip()]
        made.append(chosen_system(name.strip(), own + (settings or []), None))
    return made


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
    from podium.evaluation import Window, evaluate

    made = described_systems(system, settings)
    with show.progress("reading", "predicting") as steps:
        results = podium.read_results(file)
        steps.next()
        window = Window(since, until, min_events)
        told = evaluate(results, made, labels=system, window=window, weight=weight, period=period)
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
