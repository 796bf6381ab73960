"""Commands that draw: plot, report."""

from pathlib import Path
from typing import Annotated, Any

import typer

from podium.cli import show
from podium.cli.files import write_text
from podium.cli.options import Period, Settings, SystemFile, SystemName, chosen_system
from podium.cli.rating import rated_file
from podium.cli.reading import Input, reads_results
from podium.errors import ParameterError, UnknownError

SHOWN_PLAYERS = 8
FROM_RESULTS = ("histories", "distribution", "calibration", "circulation")
CURVES = ("remoteness", "provisional", "expected", "gamma", "win-expectancy", "result", "importance")

Pool = Annotated[str | None, typer.Option(help="Draw this pool; the one with most events if not given.")]


@reads_results
def plot(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help=f"{', '.join(FROM_RESULTS)}; curves: {', '.join(CURVES)}.")
    ],
    file: Input | None = None,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    period: Period = "event",
    pool: Pool = None,
    player: Annotated[list[str] | None, typer.Option(help="Whose history to draw. May repeat.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to: .svg, .png or .html; KIND.svg if not given.")
    ] = None,
) -> None:
    """Draw a chart of FILE, or a curve of one of the published systems."""
    from podium.ledger.forecast import suggestion
    from podium.reporting import charts

    if kind not in FROM_RESULTS + CURVES:
        hint = suggestion(kind, FROM_RESULTS + CURVES)
        raise ParameterError(f"there is no chart {kind!r}{hint} (there are {', '.join(FROM_RESULTS + CURVES)})")
    path = charts.check_path(out or Path(f"{kind}.svg"))
    if kind in CURVES:
        is_named = system is not None or system_file is not None
        if settings and not is_named:
            raise ParameterError("--set needs --system")
        chart = charts.published_curve(kind, chosen_system(system, settings, system_file) if is_named else None)
    else:
        if file is None:
            raise ParameterError(f"{kind} is drawn from results: podium plot {kind} FILE --system NAME")
        chart = chart_of(kind, file, chosen_system(system, settings, system_file), period, pool, player)
    charts.save(chart, path)
    typer.echo(f"{kind} is in {path}")


def chart_of(kind: str, file: Input, system: Any, period: str, pool: str | None, players: list[str] | None) -> Any:
    """The chart of a results file."""
    from podium.analysis.audit import audit
    from podium.analysis.evaluation import evaluate
    from podium.ledger.forecast import suggestion
    from podium.reporting import charts

    with show.progress("reading", "rating", "drawing") as steps:
        if kind == "calibration":
            evaluation = evaluate(file.read(), [system], period=period)
            return charts.calibration(evaluation.reliability, f"{file}, {system.name}")
        rated = rated_file(file, system, period, steps)
        if kind == "circulation":
            return charts.circulation(audit(rated).months, f"{file}, {system.name}")
        shown = rated.pool(pool)
        title = f"{shown}, {system.name}"
        if kind == "distribution":
            return charts.distribution(rated.ratings.filter(rated.ratings["pool"] == shown), title)
        history = rated.history.filter(rated.history["pool"] == shown)
        unknown = sorted(set(players or []) - set(history["player"]))
        if unknown:
            hint = suggestion(unknown[0], history["player"].unique().to_list())
            raise UnknownError(f"there is no player {unknown[0]!r} in pool {shown}{hint}")
        leaders = rated.leaderboard(pool=shown)["player"].head(SHOWN_PLAYERS).to_list()
        return charts.rating_histories(history, players or leaders, title)


@reads_results
def report(
    file: Input,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    period: Period = "event",
    pool: Pool = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="HTML", help="Where to write the page.")] = Path(
        "report.html"
    ),
) -> None:
    """Write one self-contained page about FILE: leaderboard, histories, fit, points, parameters."""
    from podium.reporting.report import report

    rating_system = chosen_system(system, settings, system_file)
    with show.progress("reading", "rating", "drawing") as steps:
        write_text(report(rated_file(file, rating_system, period, steps), pool), out)
    typer.echo(f"The report is in {out}")
