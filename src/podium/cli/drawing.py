"""The command that draws: plot."""

from pathlib import Path

import typer
from typer import Argument, Option

from podium.cli.rating import rated_file
from podium.cli.results.reading import Input, input_option, with_settings
from podium.cli.terminal import options, show
from podium.cli.terminal.helping import examples
from podium.cli.terminal.options import one_of
from podium.cli.terminal.settings import find_settings
from podium.cli.terminal.system_choice import chosen_system
from podium.errors import ParameterError

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
