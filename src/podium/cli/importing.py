"""The command that turns files of a foreign format into a results table: import."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from podium.cli import show
from podium.cli.files import OutputError, check_output, write_table
from podium.cli.show import Format
from podium.errors import SHOWN_FAULTS, ParameterError
from podium.importers.registry import FORMATS

if TYPE_CHECKING:
    import polars as pl

    from podium.importers import Imported

STDOUT = "-"
SHOWN_ROWS = 10


class Called(StrEnum):
    """What players are called."""

    id = "id"
    name = "name"
    fide = "fide"


class Forfeits(StrEnum):
    """What becomes of who left."""

    keep = "keep"
    drop = "drop"


def import_results(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help=f"{', '.join(FORMATS)}.")],
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Files or folders, in the order of their events; - reads stdin."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the results here: .csv, .parquet, .json, .jsonl; - is stdout, as CSV."),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out events that break the format's rules, each whole.")
    ] = False,
    timezone: Annotated[str, typer.Option(metavar="ZONE", help="The zone of local times, as Europe/Berlin.")] = "UTC",
    player: Annotated[Called, typer.Option(help="What to call players by.")] = Called.id,
    names: Annotated[
        Path | None, typer.Option(help="Write what each player is called here, where the format has ids and names.")
    ] = None,
    forfeits: Annotated[Forfeits, typer.Option(help="Keep who left as quit, or drop them.")] = Forfeits.keep,
    map_file: Annotated[
        Path | None, typer.Option("--map", metavar="TOML", help="What the columns of a csv mean.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the counts and the first rows, and write nothing.")
    ] = False,
) -> None:
    """Turn files of a foreign format into a results table; nothing is written where one breaks the format's rules."""
    from podium.importers import Options, read_format

    if out is None and not dry_run:
        raise ParameterError("say where the results go with --out FILE, or see them with --dry-run")
    check_outputs([path for path in (out, names) if path is not None and str(path) != STDOUT], files)
    with show.progress("importing"):
        imported = read_format(form, files, Options(skip_bad, timezone, player.value, forfeits.value, map_file))
    show_summary(imported, err=str(out) == STDOUT)
    if dry_run:
        show.show(as_written(imported.table.head(SHOWN_ROWS)), Format.table)
        return
    if names is not None:
        write_table(names_table(imported), names)
    if str(out) == STDOUT:
        show.show(as_written(imported.table), Format.csv)
    elif out is not None:
        write_table(as_written(imported.table) if out.suffix.lower() == ".csv" else imported.table, out)


def check_outputs(outputs: list[Path], files: list[str]) -> None:
    """Check that the files can be written, and are none of those that are read, nor one another.

    Raises:
        OutputError: one is not fit to be written.
    """
    read = {Path(file).resolve() for file in files}
    for path in outputs:
        check_output(path)
        if path.resolve() in read:
            raise OutputError(f"{path}: is a file to import or to write already; write somewhere else")
        read.add(path.resolve())


def show_summary(imported: "Imported", *, err: bool) -> None:
    """Print what became of the input, and on stderr what was skipped."""
    for line in summary(imported):
        typer.echo(line, err=err)
    for fault in imported.bad[:SHOWN_FAULTS]:
        typer.echo(f"podium: skipped: {fault.file} {fault}", err=True)
    if len(imported.bad) > SHOWN_FAULTS:
        typer.echo(f"podium: {len(imported.bad) - SHOWN_FAULTS} more faults", err=True)


def summary(imported: "Imported") -> list[str]:
    """What became of the input, a line each."""
    table = imported.table
    events, players = (table[name].n_unique() for name in ("event_id", "player"))
    lines = [f"imported: {counted(table.height, 'row')}, {counted(events, 'event')}, {counted(players, 'player')}"]
    if imported.dropped:
        lines.append(f"dropped: {', '.join(f'{count:,} {reason}' for reason, count in imported.dropped.items())}")
    if imported.skipped:
        lines.append(f"skipped: {counted(imported.skipped, 'bad event')}")
    return [*lines, *imported.notes]


def counted(count: int, noun: str) -> str:
    """So many of something, in words."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def as_written(table: "pl.DataFrame") -> "pl.DataFrame":
    """The table with whole numbers without a fraction, as people write them."""
    import polars as pl

    def plain(name: str) -> pl.Expr:
        whole = (pl.col(name) == pl.col(name).round()) & (pl.col(name).abs() < EXACT)
        shortest = pl.col(name).cast(pl.String)
        return pl.when(whole).then(pl.col(name).cast(pl.Int64, strict=False).cast(pl.String)).otherwise(shortest)

    from podium.results.columns import EXACT

    return table.with_columns(plain(name).alias(name) for name, kind in table.schema.items() if kind.is_float())


def names_table(imported: "Imported") -> "pl.DataFrame":
    """What each player is called, and in which event last."""
    import polars as pl

    rows = [(player, name, event_id) for player, (name, event_id) in imported.names.items()]
    return pl.DataFrame(rows, schema=dict.fromkeys(("player", "name", "last_event_id"), pl.String), orient="row")
