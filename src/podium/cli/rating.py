"""Commands that rate a results file: rate, leaderboard, explain."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.results.reading import Input, reads_results
from podium.cli.terminal import show
from podium.cli.terminal.files import check_output, write_table
from podium.cli.terminal.helping import examples
from podium.cli.terminal.options import (
    Columns,
    Engine,
    Period,
    Scheduler,
    Settings,
    Shape,
    Start,
    SystemFile,
    SystemName,
    Workers,
)
from podium.cli.terminal.settings import from_settings
from podium.cli.terminal.show import Format
from podium.cli.terminal.system_choice import chosen_system

if TYPE_CHECKING:
    from podium.engine.system import System
    from podium.rated import Rated
    from podium.results.reading import Results

SHOWN_ROWS = 50


def rated_file(
    file: Input, system: "System", period: str, steps: show.Steps, start: str | None = None, **how: Any
) -> "Rated":
    """Read and rate a file, a step each; how a dataset is rated is as `podium.rate` takes it."""
    import podium

    results = file.open()
    steps.next()
    rated = podium.rate(results, system, period=period, start=start, **how)
    steps.next()
    return rated


@examples(
    "podium rate results.csv",
    "podium rate league.xlsx -s glicko2 --period 1w",
    "podium rate spring.csv -s elo:k=20 --ratings spring.parquet",
    "podium rate summer.csv -s elo:k=20 --start spring.parquet",
    "podium rate results.csv -f csv > ratings.csv",
    "podium rate league --engine processes --history league-history",
)
@reads_results
def rate(
    file: Input,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    period: Period = "event",
    start: Start = None,
    ratings: Annotated[
        Path | None,
        typer.Option(
            help="Write the ratings here: .csv, .json, .jsonl, or .parquet, which keeps every player's whole state."
        ),
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option(help="Write every change here: .csv, .parquet, .json or .jsonl; of a dataset, a new folder."),
    ] = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    workers: Workers = None,
    columns: Columns = None,
    form: Shape = Format.table,
) -> None:
    """Rate FILE and show every player's rating."""
    from podium.dataset import is_dataset

    rating_system = chosen_system(system, settings, system_file)
    of_dataset = is_dataset(file.path)
    for path in (ratings, None if of_dataset else history):
        if path is not None:
            check_output(path)
    how = {"engine": engine, "scheduler": scheduler, "workers": workers, "history_to": history if of_dataset else None}
    with show.progress("reading", "rating", "writing") as steps:
        rated = rated_file(file, rating_system, period, steps, start, **how)
        if history is not None and not of_dataset:
            write_table(rated.history, history)
        if ratings is not None:
            whole = ratings.suffix.lower() == ".parquet"
            write_table(rated.states if whole else rated.ratings, ratings, rated.metadata)
    if rated.notice is not None:
        typer.echo(rated.notice, err=True)
    if not of_dataset:
        report_results(rated.results)
    show.show(rated.ratings, form, rating_system.label, max_rows=SHOWN_ROWS, columns=columns)


def report_results(results: "Results") -> None:
    """Say on stderr what is notable in rated results: events in no certain order, or nothing that counts."""
    from podium.ledger.readiness import why_nothing_counts
    from podium.results.event_order import tie_notice

    notice = tie_notice(results.frame)
    if notice is not None:
        typer.echo(f"{results.source}: {notice}", err=True)
    reason = why_nothing_counts(results.frame)
    if reason is not None:
        typer.echo(f"{results.source}: nothing here can be rated: {reason}", err=True)


@examples(
    "podium leaderboard results.csv --top 20",
    "podium leaderboard results.csv -s trueskill --active-within 90d",
    "podium leaderboard results.csv --at 2025-06-30 --columns rank,player,rating",
)
@reads_results
def leaderboard(
    file: Input,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    period: Period = "event",
    start: Start = None,
    min_events: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Rated events it takes to be listed; the system's own rule if not given.",
            callback=from_settings("leaderboard.min_events"),
        ),
    ] = None,
    max_deviation: Annotated[
        float | None,
        typer.Option(help="Largest deviation listed.", callback=from_settings("leaderboard.max_deviation")),
    ] = None,
    active_within: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN",
            help="List who played within 90d, 12w, 6mo or 1y of the last event.",
            callback=from_settings("leaderboard.active_within"),
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="Ranks to list.", callback=from_settings("leaderboard.top"))
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="DATE", help="As it stood then; a date counts the whole day.")
    ] = None,
    pool: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this pool.", callback=from_settings("pool"))
    ] = None,
    columns: Columns = None,
    form: Shape = Format.table,
) -> None:
    """Show who stands where."""
    rating_system = chosen_system(system, settings, system_file)
    with show.progress("reading", "rating", "ranking") as steps:
        board = rated_file(file, rating_system, period, steps, start).leaderboard(
            min_events=min_events, max_deviation=max_deviation, active_within=active_within, top=top, at=at, pool=pool
        )
    show.show(board, form, rating_system.label, max_rows=SHOWN_ROWS if top is None else None, columns=columns)


@examples(
    "podium explain results.csv -e race-17 -p Ana", "podium explain results.csv -s trials -e race-17 -p Ana --what-if"
)
@reads_results
def explain(
    file: Input,
    event: Annotated[str, typer.Option("--event", "-e", help="The event's id.")],
    player: Annotated[str, typer.Option("--player", "-p", help="The player's name.")],
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    period: Period = "event",
    start: Start = None,
    what_if: Annotated[
        bool, typer.Option("--what-if", help="Say also what the change would have been, had one thing been different.")
    ] = False,
    form: Shape = Format.table,
) -> None:
    """Say why PLAYER's rating moved in EVENT: every opponent, every heat, every other cause."""
    from podium.cli.terminal.reasons import explanation_text, what_if_text

    rating_system = chosen_system(system, settings, system_file)
    with show.progress("reading", "rating", "explaining") as steps:
        rated = rated_file(file, rating_system, period, steps, start)
        explanation = rated.explain(event, player)
        imagined = rated.what_if(event, player) if what_if else None
    if form is Format.json:
        facts = explanation.to_dict() | {"system": rating_system.name, "rows": explanation.rows.to_dicts()}
        show.show_json(facts if imagined is None else facts | {"what_if": imagined.to_dict()})
    elif form is Format.csv:
        show.show(explanation.rows, form)
    else:
        typer.echo(explanation_text(explanation))
        if imagined is not None:
            typer.echo(f"\n{what_if_text(imagined)}")
