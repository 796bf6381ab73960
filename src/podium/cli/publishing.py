"""Commands that draw a chart, or publish the pages of results or of a store: plot, site, report."""

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
from podium.cli.terminal.app import examples, find_settings
from podium.cli.terminal.options import SystemFlags, one_of, write_text
from podium.errors import ParameterError, UnknownError, needs_extra
from podium.support.collector import keep_loaded

if TYPE_CHECKING:
    from podium.results.reading import Results
    from podium.service.site.folder import Source

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
    named: SystemFlags = options.SYSTEM_FLAGS,
    period: str = options.PERIOD,
    pool: str | None = options.pool_option("Draw this pool; the one with most events if not given."),
    player: list[str] | None = Option(None, help="Whose history to draw. May repeat."),
    hindsight: bool = Option(False, "--hindsight", help="Draw histories knowing all since, too: dashed; of podium."),
    out: Path | None = Option(None, "--out", "-o", help="Where to: .svg, .png or .html; KIND.svg if not given."),
) -> None:
    """Draw a chart of FILE, or a curve of one of the published systems."""
    from podium.ledger.hindsight import why_unavailable
    from podium.reporting.plotting import check_path, plot

    path = check_path(out or Path(f"{kind}.svg"))
    if kind in FROM_RESULTS:
        if file is None and find_settings().get("file") is None:
            raise ParameterError(f"{kind} is drawn from results: podium plot {kind} FILE --system NAME")
        chosen = named.choose()
        if hindsight and (lack := why_unavailable(chosen)):
            raise ParameterError(lack)
        with show.progress("reading", "rating", "drawing") as steps:
            rated = rated_file(file or with_settings(None, None, None), chosen, period, steps)
            plot(kind, rated, pool=pool, players=player, out=path, hindsight=hindsight)
    else:
        if named.settings and not named.names_one:
            raise ParameterError("--set needs --system")
        plot(kind, system=named.choose() if named.names_one else None, out=path, hindsight=hindsight)
    typer.echo(f"{kind} is in {path}")


POOL = options.pool_option("Publish this pool only; all that are public if not given.")
TITLE = Option(None, metavar="TEXT", help="The heading, like 'Karts 2026', where FILE has one pool.")


def is_store(path: str) -> bool:
    """Whether it is a database, by its URL or its first bytes, and no file of results."""
    from podium.importers.sources import is_database

    with suppress(OSError):
        return "://" in path or is_database(Path(path))
    return False


def read_published(file: Input, pool: str | None) -> "Results":
    """The results of a pool, or all of them."""
    import polars as pl

    from podium.results.reading import Results

    results = file.read()
    if pool is not None:
        rows = results.frame.filter(pl.col("pool") == pool)
        if rows.is_empty():
            raise UnknownError(f"{file}: there is no pool {pool!r}")
        results = Results(rows, results.source)
    if results.frame.is_empty():
        raise ParameterError(f"{file}: has no results to write pages of")
    return results


def source(file: Input, named: SystemFlags, pool: str | None, title: str | None) -> "Source":
    """Where the pages come from; an option that a store does not have is refused."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # small tables: handing them to threads costs more than it saves
    store_type()
    from podium.service.site.folder import ResultsSource, StoreSource

    if not is_store(file.path):
        return ResultsSource(read_published(file, pool), named.choose(), title)
    if named.are_given or title is not None:
        raise ParameterError(f"{file}: a store has systems and titles of its own; leave --system and --title out")
    return StoreSource(file.path, pool)


@examples("podium site results.csv -s trueskill", "podium site podium.db --pool karts -o public")
def site(
    file: Input = input_option(prints=False),
    named: SystemFlags = options.SYSTEM_FLAGS,
    pool: str | None = POOL,
    title: str | None = TITLE,
    out: Path = Option(Path("site"), "--out", "-o", metavar="FOLDER", help="Where to write the pages."),
) -> None:
    """Write the public pages of FILE, or of the database of a service, as files for any web space.

    Run again, it writes only what changed, and touches no file that is not its own.
    """
    with needs_extra("service", "a site"), show.progress("reading", "writing") as steps:
        found = source(file, named, pool, title)
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
    out: Path = Option(Path("report.html"), "--out", "-o", metavar="HTML", help="Where to write the file."),
) -> None:
    """Write the public pages of FILE, or of a database, as one file that loads nothing.

    Of large pools it has the best players and the newest events; `podium site` has everything.
    """
    with needs_extra("service", "a report"), show.progress("reading", "writing") as steps:
        found = source(file, named, pool, title)
        from podium.service.site.folder import one_file

        steps.next()
        with found.opened({}) as (view, pools, _):
            write_text(one_file(view, pools, title or Path(file.path).stem), out)
    typer.echo(f"The report is in {out}")
