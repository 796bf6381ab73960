"""Commands that draw: plot, report."""

from pathlib import Path
from typing import Annotated

import typer

from podium.cli.rating import rated_file
from podium.cli.results.reading import Input, reads_results, with_settings
from podium.cli.terminal import show
from podium.cli.terminal.helping import examples
from podium.cli.terminal.options import Period, Settings, SystemFile, SystemName, write_text
from podium.cli.terminal.settings import find_settings, from_settings
from podium.cli.terminal.system_choice import chosen_system
from podium.errors import ParameterError, needs_extra

FROM_RESULTS = ("histories", "distribution", "calibration", "circulation", "parameters")
CURVES = ("remoteness", "provisional", "expected", "gamma", "win-expectancy", "result", "importance")

Pool = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Draw this pool; the one with most events if not given.", callback=from_settings("pool")
    ),
]


@examples(
    "podium plot histories results.csv --player Ana --player Ben",
    "podium plot circulation results.csv -s folyami -o points.svg",
    "podium plot expected -o expected.png",
)
@reads_results
def plot(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help=f"{', '.join(FROM_RESULTS)}; curves: {', '.join(CURVES)}.",
            autocompletion=lambda incomplete: [name for name in FROM_RESULTS + CURVES if name.startswith(incomplete)],
        ),
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
    from podium.reporting.plotting import check_path, plot

    path = check_path(out or Path(f"{kind}.svg"))
    if kind in FROM_RESULTS:
        if file is None and find_settings().get("file") is None:
            raise ParameterError(f"{kind} is drawn from results: podium plot {kind} FILE --system NAME")
        chosen = chosen_system(system, settings, system_file)
        with show.progress("reading", "rating", "drawing") as steps:
            plot(
                kind,
                rated_file(file or with_settings(None, None, None), chosen, period, steps),
                pool=pool,
                players=player,
                out=path,
            )
    else:
        is_named = system is not None or system_file is not None
        if settings and not is_named:
            raise ParameterError("--set needs --system")
        plot(kind, system=chosen_system(system, settings, system_file) if is_named else None, out=path)
    typer.echo(f"{kind} is in {path}")


@examples("podium report results.csv", "podium report results.csv -s stk --title 'Karts 2026' -o karts.html")
@reads_results
def report(
    file: Input,
    system: SystemName = None,
    settings: Settings = None,
    system_file: SystemFile = None,
    period: Period = "event",
    pool: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Tell of this pool only; of all if not given.", callback=from_settings("pool")
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The heading, like 'Karts 2026'.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="HTML", help="Where to write the page.")] = Path(
        "report.html"
    ),
) -> None:
    """Write one self-contained page about FILE: every pool's board, its players, their reasons, and the fit."""
    with needs_extra("charts", "a report"):
        import jinja2  # noqa: F401

        from podium.reporting.report import report
    rating_system = chosen_system(system, settings, system_file)
    with show.progress("reading", "rating", "writing") as steps:
        write_text(report(rated_file(file, rating_system, period, steps), pool, title=title), out)
    typer.echo(f"The report is in {out}")
