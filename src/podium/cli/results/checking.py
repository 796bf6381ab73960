"""Commands that check a results file before rating, and describe its columns: check, columns."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Argument

from podium.cli.results.reading import Input, input_option
from podium.cli.terminal import show
from podium.cli.terminal.app import examples, option
from podium.cli.terminal.options import as_written, check_output, one_of, write_table
from podium.errors import OutputError, ParameterError
from podium.results.column_guide import COLUMNS, STATUSES, Column
from podium.support.words import counted, suggestion

if TYPE_CHECKING:
    from podium.results.reading import Results


SHOWN_NAMES = 50


@examples("podium check results.csv", "podium check league.xlsx --fix league.csv", "podium check games.pgn -f pgn")
def check(
    file: Input = input_option(prints=False),
    fix: Path | None = option(
        "Write a copy of FILE as a results table to OUT, with all certain corrections.", "--fix", metavar="OUT"
    ),
) -> None:
    """Check FILE without changing anything. Show errors with their fixes, and the data that each system needs."""
    from podium.errors import ResultsError

    if fix is not None:
        if file.format is not None or file.map is not None:
            raise ParameterError("--fix works only with results files. For a format or a map, use podium import.")
        check_output(fix)
        if fix.resolve() == Path(file.path).resolve():
            raise OutputError(f"{fix}: is the input file. Write the corrected table to another file.")
    try:
        with show.progress("checking"):
            results = file.read()
    except ResultsError:
        if fix is not None:
            write_certain(file, fix)
        raise
    report(results)
    if fix is not None:
        write_table(as_written(results.frame), fix)
        typer.echo(f"the results table is in {fix}")


def write_certain(file: Input, fix: Path) -> None:
    """Write the table with all cells that Podium understands. Other cells stay unchanged."""
    from podium.importers.tables.open_table import mapped_rows, with_original_cells

    if not Path(file.path).is_file():
        return
    _, mapped = mapped_rows(file.path)
    write_table(as_written(with_original_cells(mapped)), fix)
    typer.echo(f"all corrections that are certain are in {fix}. Correct the following errors there:")


def report(results: "Results") -> None:
    from podium.ledger.leaderboard import needs, why_nothing_counts
    from podium.results.columns import SHARED, is_shared
    from podium.results.consistency import size_notice, tie_notice
    from podium.results.names import pairs_alike, warning

    frame = results.frame
    events, players = (frame[name].n_unique() for name in ("event_id", "player"))
    size = ", ".join((counted(frame.height, "row"), counted(events, "event"), counted(players, "player")))
    reason = why_nothing_counts(frame)
    verdict = "all good" if reason is None else f"nothing here can be rated: {reason}"
    typer.echo(f"{results.source}: {size}: {verdict}")
    if reason is None:
        for line in needs(results):
            typer.echo(f"{results.source}: {line}")
    shared = [name for name in frame.columns if name == "side" or is_shared(name)]
    if shared:
        kinds = "/".join(name.removeprefix(SHARED) for name in shared if name != "side")
        how = f" (equipment with --set shared={kinds})" if kinds else ""
        typer.echo(f"{results.source}: only the adaptive system uses {', '.join(shared)}{how}")
    for notice in filter(None, (tie_notice(frame), size_notice(frame))):
        typer.echo(f"{results.source}: {notice}")
    alike = pairs_alike(frame["player"].unique(maintain_order=True).to_list())
    for name, like in alike[:SHOWN_NAMES]:
        typer.echo(f"{results.source}: {warning(name, like)}", err=True)
    if len(alike) > SHOWN_NAMES:
        typer.echo(f"{results.source}: {len(alike) - SHOWN_NAMES} more names look alike", err=True)


WIDTH = 80
INDENT = 12  # width of the longest name and two blanks


@examples("podium columns", "podium columns status")
def columns(
    name: str | None = Argument(
        None,
        help="Show the unit, default and example of this column.",
        autocompletion=one_of(*(column.name for column in COLUMNS)),
    ),
) -> None:
    """Describe the columns of a results file, or one of them."""
    lines = overview() if name is None else detail(find(name))
    typer.echo("\n".join(lines))


def find(name: str) -> Column:
    by_name = {column.name: column for column in COLUMNS}
    word = name.strip().lower()
    if word not in by_name:
        hint = suggestion(word, list(by_name))
        raise ParameterError(f"{name!r} is not a column of a results file{hint} (columns: {', '.join(by_name)})")
    return by_name[word]


def overview() -> Iterator[str]:
    """Yield a description of every column."""
    yield "A results file has one row for each event, heat and entrant."
    yield "event_id and player are required. For details of a column: podium columns NAME"
    yield ""
    for column in COLUMNS:
        yield from entry(column.name, column.meaning)


def detail(column: Column) -> Iterator[str]:
    yield f"{column.name}: {column.type}"
    yield from textwrap.wrap(column.meaning, WIDTH)
    yield ""
    if column.unit:
        yield from entry("unit", column.unit)
    yield from entry("if absent", column.default)
    yield from entry("example", column.example)
    if column.name == "status":
        yield ""
        for status in STATUSES:
            yield from textwrap.wrap(f"{status.name}: {status.meaning} {status.cost}", WIDTH, subsequent_indent="  ")
        yield ""
        yield "For the cost of a quit or dnf in a system: podium systems NAME"


def entry(name: str, text: str) -> list[str]:
    """Return a name followed by a text, wrapped to the width."""
    return textwrap.wrap(text, WIDTH, initial_indent=name.ljust(INDENT), subsequent_indent=" " * INDENT)
