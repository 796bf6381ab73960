"""Commands that rate a results file: rate, leaderboard, explain."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Option

from podium.cli.results.reading import PRINTED, Input, input_option
from podium.cli.terminal import options, show
from podium.cli.terminal.app import examples, flag, from_settings, option
from podium.cli.terminal.options import SYSTEM, check_outputs, write_table
from podium.cli.terminal.show import Format
from podium.errors import ParameterError, UnknownError

if TYPE_CHECKING:
    import polars as pl

    from podium.engine.system import System
    from podium.ledger.reasons.totals import ReasonTotals
    from podium.rated import Rated


SHOWN_ROWS = 50


def rated_file(file: Input, system: "System", period: str, steps: show.Steps, start: str | None = None) -> "Rated":
    """Read and rate a file, each in one step of the progress bar."""
    import podium

    results = file.read()
    steps.next()
    rated = podium.rate(results, system, period=period, start=start)
    steps.next()
    return rated


@examples(
    "podium rate results.csv",
    "podium rate league.xlsx -s glicko2 --period 1w",
    "podium rate spring.csv -s elo:k=20 --ratings spring.parquet",
    "podium rate summer.csv -s elo:k=20 --start spring.parquet",
    "podium rate results.csv -f csv > ratings.csv",
    "podium rate seasons/ --parts rated/",
)
def rate(
    file: Input = input_option(),
    system: "System" = SYSTEM,
    period: str = options.PERIOD,
    start: str | None = options.START,
    ratings: Path | None = option(
        "Write the ratings here: .csv, .xlsx, .json, .jsonl or .parquet. Only .parquet keeps full states."
    ),
    history: Path | None = option("Write every change here: .csv, .xlsx, .parquet, .json or .jsonl."),
    parts: Path | None = option(
        "Rate Parquet files larger than memory part by part, and write ratings and history to this folder. The"
        " same command continues an interrupted run. If FILE contains only folders named pool=NAME, they are rated"
        " in parallel on all cores.",
        metavar="FOLDER",
    ),
    columns: str | None = options.SHOWN_COLUMNS,
    form: Format = PRINTED,
) -> None:
    """Rate FILE and show every player's rating.

    FILE may be a folder of Parquet files, or a pattern such as 'results/*.parquet'.
    """
    if parts is not None:
        if ratings is not None or history is not None:
            raise ParameterError("--parts writes ratings and history. Leave out --ratings and --history.")
        with show.progress("rating"):
            table = rate_in_parts(file, parts, system, period, start)
    else:
        check_outputs([ratings, history], [file.path])
        with show.progress("reading", "rating", "writing") as steps:
            rated = rated_file(file, system, period, steps, start)
            if history is not None:
                write_table(rated.history, history, guard=True)
            if ratings is not None:
                whole = ratings.suffix.lower() == ".parquet"
                write_table(rated.states if whole else rated.ratings, ratings, rated.metadata, guard=True)
        for notice in notices(rated):
            typer.echo(notice, err=True)
        table = rated.ratings
    show.show(table, form, system.label, max_rows=SHOWN_ROWS, columns=columns)


def rate_in_parts(file: Input, out: Path, system: "System", period: str, start: str | None) -> "pl.DataFrame":
    """Rate files part by part. If a folder contains only pools, rate them on all cores."""
    from podium.parts import rate_parts, rate_pools

    if file.format is not None or file.map is not None:
        raise ParameterError(f"{file}: --parts needs Parquet files of results. Make them with podium import.")
    folder = Path(file.path)
    if start is None and folder.is_dir() and all(path.name.startswith("pool=") for path in folder.iterdir()):
        return rate_pools(folder, out, system, period=period)
    return rate_parts(file.path, out, system, period=period, start=start)


def notices(rated: "Rated") -> Iterator[str]:
    """Yield notices about the ratings."""
    from podium.ledger.leaderboard import why_nothing_counts
    from podium.results.consistency import tie_notice

    tied = tie_notice(rated.results.frame)
    if tied is not None:
        yield f"{rated.results.source}: {tied}"
    if rated.notice is not None:
        yield rated.notice
    reason = None if rated.events.pools else why_nothing_counts(rated.results.frame)
    if reason is not None:
        yield f"{rated.results.source}: nothing here can be rated: {reason}"


@examples(
    "podium leaderboard results.csv --top 20",
    "podium leaderboard results.csv -s trueskill --active-within 90d",
    "podium leaderboard results.csv --at 2025-06-30 --columns rank,player,rating",
)
def leaderboard(
    file: Input = input_option(),
    system: "System" = SYSTEM,
    period: str = options.PERIOD,
    start: str | None = options.START,
    min_events: int | None = option(
        "Minimum number of rated events for a player to be listed [default: the system's rule].",
        min=0,
        callback=from_settings("leaderboard.min_events"),
    ),
    max_deviation: float | None = option(
        "Maximum deviation for a player to be listed.", callback=from_settings("leaderboard.max_deviation")
    ),
    active_within: str | None = option(
        "List only players who played within this time of the last event, such as 90d, 12w, 6mo or 1y.",
        metavar="SPAN",
        callback=from_settings("leaderboard.active_within"),
    ),
    top: int | None = option("Number of ranks to list.", min=1, callback=from_settings("leaderboard.top")),
    at: str | None = option("Leaderboard as of this date, inclusive.", metavar="DATE"),
    pool: str | None = options.pool_option("Only this pool."),
    columns: str | None = options.SHOWN_COLUMNS,
    form: Format = PRINTED,
) -> None:
    """Show the leaderboard."""
    with show.progress("reading", "rating", "ranking") as steps:
        board = rated_file(file, system, period, steps, start).leaderboard(
            min_events=min_events, max_deviation=max_deviation, active_within=active_within, top=top, at=at, pool=pool
        )
    show.show(board, form, system.label, max_rows=SHOWN_ROWS if top is None else None, columns=columns)


def newest_event(rated: "Rated", player: str) -> str:
    """Return the latest event in which a player was rated."""
    import polars as pl

    from podium.results.names import normalise
    from podium.support.words import suggestion

    last = rated.ratings.filter(pl.col("player") == normalise(player)).sort("last_played_at", maintain_order=True)
    if last.is_empty():
        raise UnknownError(f"{player!r} is not rated{suggestion(player, rated.ratings['player'].to_list())}")
    return str(last["last_event_id"][-1])


def show_reasons(totals: "ReasonTotals", form: Format) -> None:
    """Print the points for each kind of reason, with the events."""
    if form is Format.json:
        show.show_json(asdict(totals))
        return
    if form is Format.table:
        typer.echo("\n".join([show.fill(totals.summary), "", *show.columns([*show.reason_lines(totals)])]))
        return
    rows = [
        {"reason": reason.reason, "points": reason.shown, "count": reason.count, "events": ", ".join(reason.events)}
        for reason in totals.reasons
    ]
    show.show_records(rows, {"reason": str, "points": float, "count": int, "events": str}, form)


@examples(
    "podium explain results.csv -p Ana",
    "podium explain results.csv -p Ana --last 10",
    "podium explain results.csv -s trials -e race-17 -p Ana --what-if",
)
def explain(
    file: Input = input_option(),
    event: str | None = option("ID of the event [default: the player's latest].", "--event", "-e"),
    player: str = Option(..., "--player", "-p", help="Name of the player."),
    last: int | None = option("Total the reasons for this many of the latest events.", min=1),
    pool: str | None = options.pool_option("Pool of these events, if there are several."),
    system: "System" = SYSTEM,
    period: str = options.PERIOD,
    start: str | None = options.START,
    what_if: bool = flag("--what-if", "Also show how other results would have changed the rating."),
    margin: float | None = options.MARGIN,
    form: Format = PRINTED,
) -> None:
    """Explain why PLAYER's rating changed in EVENT: by opponents, heats and other causes."""
    from podium.cli.terminal.show import explanation_text, what_if_text

    if last is not None and (event is not None or what_if):
        raise ParameterError("--last totals several events. Leave out --event and --what-if.")
    with show.progress("reading", "rating", "explaining") as steps:
        rated = rated_file(file, system, period, steps, start)
        if last is not None:
            show_reasons(rated.reasons(player, last, pool=pool), form)
            return
        in_event = newest_event(rated, player) if event is None else event
        explanation = rated.explain(in_event, player)
        imagined = rated.what_if(in_event, player, margin=margin) if what_if else None
    if form is Format.json:
        facts = explanation.to_dict() | {"system": system.name, "rows": explanation.rows.to_dicts()}
        show.show_json(facts if imagined is None else facts | {"what_if": imagined.to_dict()})
    elif form is Format.csv:
        show.show(explanation.rows, form)
    else:
        typer.echo(("" if event else f"{in_event}\n") + explanation_text(explanation))
        if imagined is not None:
            typer.echo(f"\n{what_if_text(imagined)}")
