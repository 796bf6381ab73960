"""Commands that rate a results file: rate, leaderboard, explain."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import show
from podium.cli.files import check_output, write_table
from podium.cli.options import Period, Settings, Shape, Start, SystemFile, SystemName, chosen_system
from podium.cli.reading import Input, reads_results
from podium.cli.show import Format

if TYPE_CHECKING:
    from podium.engine.system import System
    from podium.rated import Rated

SHOWN_ROWS = 50


def rated_file(file: Input, system: "System", period: str, steps: show.Steps, start: str | None = None) -> "Rated":
    """Read and rate a file, a step each."""
    import podium

    results = file.read()
    steps.next()
    rated = podium.rate(results, system, period=period, start=start)
    steps.next()
    return rated


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
        Path | None, typer.Option(help="Write every change here: .csv, .parquet, .json or .jsonl.")
    ] = None,
    form: Shape = Format.table,
) -> None:
    """Rate FILE and show every player's rating."""
    from podium.results.event_order import tie_notice

    rating_system = chosen_system(system, settings, system_file)
    for path in (ratings, history):
        if path is not None:
            check_output(path)
    with show.progress("reading", "rating", "writing") as steps:
        rated = rated_file(file, rating_system, period, steps, start)
        if history is not None:
            write_table(rated.history, history)
        if ratings is not None:
            whole = ratings.suffix.lower() == ".parquet"
            write_table(rated.states if whole else rated.ratings, ratings, rated.metadata)
    notice = tie_notice(rated.results.frame)
    if notice is not None:
        typer.echo(f"{rated.results.source}: {notice}", err=True)
    if rated.notice is not None:
        typer.echo(rated.notice, err=True)
    show.show(rated.ratings, form, max_rows=SHOWN_ROWS)


@reads_results
def leaderboard(
    file: Input,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    period: Period = "event",
    start: Start = None,
    min_events: Annotated[
        int | None, typer.Option(min=0, help="Rated events it takes to be listed; the system's own rule if not given.")
    ] = None,
    max_deviation: Annotated[float | None, typer.Option(help="Largest deviation listed.")] = None,
    active_within: Annotated[
        str | None, typer.Option(metavar="SPAN", help="List who played within 90d, 12w, 6mo or 1y of the last event.")
    ] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Ranks to list.")] = None,
    at: Annotated[
        str | None, typer.Option(metavar="DATE", help="As it stood then; a date counts the whole day.")
    ] = None,
    pool: Annotated[str | None, typer.Option(help="Only this pool.")] = None,
    form: Shape = Format.table,
) -> None:
    """Show who stands where."""
    rating_system = chosen_system(system, settings, system_file)
    with show.progress("reading", "rating", "ranking") as steps:
        board = rated_file(file, rating_system, period, steps, start).leaderboard(
            min_events=min_events, max_deviation=max_deviation, active_within=active_within, top=top, at=at, pool=pool
        )
    show.show(board, form, max_rows=SHOWN_ROWS if top is None else None)


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
    from podium.cli.reasons import explanation_text, what_if_text

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
