"""Commands that draw charts, or that publish the pages of results or of a database: plot, site, report."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Argument, Option

from podium.cli.rating import rated_file
from podium.cli.results.reading import Input, input_option, with_settings
from podium.cli.service.storing import store_type
from podium.cli.terminal import options, show
from podium.cli.terminal.app import examples, find_settings, flag, option
from podium.cli.terminal.options import SystemFlags, one_of, write_text
from podium.errors import ParameterError, UnknownError, needs_extra
from podium.support.addresses import is_https
from podium.support.collector import keep_loaded

if TYPE_CHECKING:
    from podium.results.reading import Results
    from podium.service.site.folder import Source

FROM_RESULTS = ("histories", "distribution", "calibration", "circulation", "parameters", "card", "result-card")
CURVES = ("remoteness", "provisional", "expected", "gamma", "win-expectancy", "result", "importance")


@examples(
    "podium plot histories results.csv --player Ana --player Ben",
    "podium plot circulation results.csv -s folyami -o points.svg",
    "podium plot card results.csv -o card.png",
    "podium plot expected -o expected.png",
)
def plot(
    kind: str = Argument(
        metavar="KIND",
        help=f"{', '.join(FROM_RESULTS)}; curves: {', '.join(CURVES)}.",
        autocompletion=one_of(*FROM_RESULTS, *CURVES),
    ),
    file: Input | None = input_option(optional=True, prints=False),
    named: SystemFlags = options.SYSTEM_FLAGS,
    period: str = options.PERIOD,
    pool: str | None = options.pool_option("Pool to draw [default: the one with the most events]."),
    player: list[str] | None = option("Draw the history of this player. Can be repeated."),
    hindsight: bool = flag(
        "--hindsight", "Also draw hindsight as a dashed line (for the systems of podium hindsight)."
    ),
    out: Path | None = option("File to write: .svg, .png or .html [default: KIND.svg].", "--out", "-o"),
) -> None:
    """Draw a chart of FILE, or a curve of one of the published systems."""
    from podium.ledger.hindsight import why_unavailable
    from podium.reporting.plotting import check_path, plot

    path = check_path(out or Path(f"{kind}.svg"))
    if kind in FROM_RESULTS:
        if file is None and find_settings().get("file") is None:
            raise ParameterError(f"{kind} needs results. Type podium plot {kind} FILE --system NAME.")
        chosen = named.choose()
        if hindsight and (lack := why_unavailable(chosen)):
            raise ParameterError(lack)
        with show.progress("reading", "rating", "drawing") as steps:
            rated = rated_file(file or with_settings(None, None, None), chosen, period, steps)
            plot(kind, rated, pool=pool, players=player, out=path, hindsight=hindsight)
    else:
        if named.settings and not named.names_one:
            raise ParameterError("--set needs a system. Add --system NAME.")
        plot(kind, system=named.choose() if named.names_one else None, out=path, hindsight=hindsight)
    typer.echo(f"{kind} is in {path}")


POOL = options.pool_option("Publish only this pool [default: all public pools].")
POINTS = option("Also publish championship points, using a scheme such as 'f1 drop=2'.", "--scheme", metavar="SCHEME")
TITLE = option("Heading, such as 'Karts 2026', if FILE has one pool.", metavar="TEXT")


def is_store(path: str) -> bool:
    """Return True if a path is a database, based on its URL or its first bytes."""
    from podium.importers.sources import is_database

    with suppress(OSError):
        return ("://" in path and not is_https(path)) or is_database(Path(path))
    return False


def read_published(file: Input, pool: str | None) -> "Results":
    """Return the results of a pool, or of all pools."""
    import polars as pl

    from podium.results.reading import Results

    results = file.read()
    if pool is not None:
        rows = results.frame.filter(pl.col("pool") == pool)
        if rows.is_empty():
            raise UnknownError(f"{file}: has no pool {pool!r}. Check the name.")
        results = Results(rows, results.source)
    if results.frame.is_empty():
        raise ParameterError(f"{file}: has no results to publish. Choose another file.")
    return results


def source(file: Input, named: SystemFlags, pool: str | None, title: str | None, points_scheme: str | None) -> "Source":
    """Return the source of the pages, rejecting options that do not apply to a database."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # for small tables, threads cost more time than they save
    store_type()
    from podium.service.site.folder import ResultsSource, StoreSource

    if not is_store(file.path):
        return ResultsSource(read_published(file, pool), named.choose(), title, points_scheme)
    if named.are_given or title is not None or points_scheme is not None:
        advice = "Leave out --system, --title and --scheme"
        raise ParameterError(f"{file}: a database has its own systems, titles and points. {advice}.")
    return StoreSource(file.path, pool)


@examples("podium site results.csv -s trueskill", "podium site podium.db --pool karts -o public")
def site(
    file: Input = input_option(prints=False),
    named: SystemFlags = options.SYSTEM_FLAGS,
    pool: str | None = POOL,
    title: str | None = TITLE,
    points_scheme: str | None = POINTS,
    out: Path = Option(Path("site"), "--out", "-o", metavar="FOLDER", help="Folder for the pages."),
) -> None:
    """Write the public pages of FILE, or of a service's database, as files for any web host.

    Running it again writes only the changes, and does not touch other files.
    """
    with needs_extra("service", "a site"), show.progress("reading", "writing") as steps:
        found = source(file, named, pool, title, points_scheme)
        from podium.service.site.folder import write_site

        steps.next()
        keep_loaded()
        written = write_site(out, found)
    changes = f"{written.changed:,} written, {written.removed:,} removed"
    typer.echo(f"The site is in {out}, its first page {out / 'index.html'}: {written.files:,} files, {changes}")


@examples("podium report results.csv", "podium report results.csv -s stk --title 'Karts 2026' -o karts.html")
def report(
    file: Input = input_option(prints=False),
    named: SystemFlags = options.SYSTEM_FLAGS,
    pool: str | None = POOL,
    title: str | None = TITLE,
    points_scheme: str | None = POINTS,
    out: Path = Option(Path("report.html"), "--out", "-o", metavar="HTML", help="File to write."),
) -> None:
    """Write the public pages of FILE, or of a database, as one file that loads nothing else.

    For large pools, it contains only the best players and the latest events. `podium site` writes everything.
    """
    with needs_extra("service", "a report"), show.progress("reading", "writing") as steps:
        found = source(file, named, pool, title, points_scheme)
        from podium.service.site.folder import one_file

        steps.next()
        with found.opened({}) as (view, pools, _):
            write_text(one_file(view, pools, title or Path(file.path).stem), out)
    typer.echo(f"The report is in {out}")
