"""Commands that draw: plot, report."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Argument, Option

from podium.cli.rating import rated_file
from podium.cli.results.reading import Input, input_option, with_settings
from podium.cli.terminal import options, show
from podium.cli.terminal.helping import examples
from podium.cli.terminal.options import one_of, write_text
from podium.cli.terminal.settings import find_settings
from podium.cli.terminal.system_choice import SYSTEM, chosen_system
from podium.errors import ParameterError, needs_extra

if TYPE_CHECKING:
    from podium.engine.system import System

FROM_RESULTS = ("histories", "distribution", "calibration", "circulation", "parameters")
CURVES = ("remoteness", "provisional", "expected", "gamma", "win-expectancy", "result", "importance")


@examples(
    "podium plot histories results.csv --player Ana --player Ben",
    "podium plot circulation results.csv -s folyami -o points.svg",
    "podium plot expected -o expected.png",
)
def plot(
    kind: str = Argument(
        metavar="KIND",
        help=f"{', '.join(FROM_RESULTS)}; curves: {', '.join(CURVES)}.",
        autocompletion=one_of(*FROM_RESULTS, *CURVES),
    ),
    file: Input | None = input_option(optional=True, prints=False),
    system: str | None = options.SYSTEM_NAME,
    settings: list[str] | None = options.SETTINGS,
    system_file: Path | None = options.SYSTEM_FILE,
    period: str = options.PERIOD,
    pool: str | None = options.pool_option("Draw this pool; the one with most events if not given."),
    player: list[str] | None = Option(None, help="Whose history to draw. May repeat."),
    out: Path | None = Option(None, "--out", "-o", help="Where to: .svg, .png or .html; KIND.svg if not given."),
) -> None:
    """Draw a chart of FILE, or a curve of one of the published systems."""
    from podium.reporting.plotting import check_path, plot

    path = check_path(out or Path(f"{kind}.svg"))
    if kind in FROM_RESULTS:
        if file is None and find_settings().get("file") is None:
            raise ParameterError(f"{kind} is drawn from results: podium plot {kind} FILE --system NAME")
        chosen = chosen_system(system, settings, system_file)
        with show.progress("reading", "rating", "drawing") as steps:
            rated = rated_file(file or with_settings(None, None, None), chosen, period, steps)
            plot(kind, rated, pool=pool, players=player, out=path)
    else:
        is_named = system is not None or system_file is not None
        if settings and not is_named:
            raise ParameterError("--set needs --system")
        plot(kind, system=chosen_system(system, settings, system_file) if is_named else None, out=path)
    typer.echo(f"{kind} is in {path}")


@examples("podium report results.csv", "podium report results.csv -s stk --title 'Karts 2026' -o karts.html")
def report(
    file: Input = input_option(prints=False),
    system: "System" = SYSTEM,
    period: str = options.PERIOD,
    pool: str | None = options.pool_option("Tell of this pool only; of all if not given."),
    title: str | None = Option(None, metavar="TEXT", help="The heading, like 'Karts 2026'."),
    out: Path = Option(Path("report.html"), "--out", "-o", metavar="HTML", help="Where to write the page."),
) -> None:
    """Write one self-contained page about FILE: every pool's board, its players, their reasons, and the fit."""
    with needs_extra("charts", "a report"):
        import jinja2  # noqa: F401

        from podium.reporting.report import report
    with show.progress("reading", "rating", "writing") as steps:
        write_text(report(rated_file(file, system, period, steps), pool, title=title), out)
    typer.echo(f"The report is in {out}")
