"""The command that turns files of a foreign format into a results table: import."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from podium.cli.results.reading import Input, reads_named_results
from podium.cli.results.table_flags import TableFlags, takes_table_flags
from podium.cli.terminal import show
from podium.cli.terminal.helping import App, examples
from podium.cli.terminal.options import check_output, complete_format, write_table, write_text
from podium.cli.terminal.show import Format
from podium.errors import SHOWN_FAULTS, OutputError, ParameterError
from podium.importers.registry import FORMATS
from podium.support.notebook import counted

if TYPE_CHECKING:
    import polars as pl

    from podium.dataset import Dataset
    from podium.importers import Imported, Options


STDOUT = "-"
SHOWN_ROWS, GUESSED_ROWS = 10, 3
TABLES = "csv"
PLAYER = "id"
NO_FLAGS = TableFlags()
COMPARED = frozenset({"position", "score", "time_s", "team_score"})


class Forfeits(StrEnum):
    """What becomes of who left."""

    keep = "keep"
    drop = "drop"


@examples(
    "podium import pgn games.pgn -o games.csv",
    "podium import csv f1.csv --guess",
    "podium import csv wta.csv --winner winner_name --loser loser_name -o wta.csv",
)
@takes_table_flags
def import_results(
    form: Annotated[
        str, typer.Argument(metavar="FORMAT", help=f"{', '.join(FORMATS)}.", autocompletion=complete_format)
    ],
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
    player: Annotated[
        str, typer.Option(metavar="NAME", help="What to call players by: id, name or fide. csv: the column of players.")
    ] = PLAYER,
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
    guess: Annotated[
        bool, typer.Option("--guess", help="csv: show the map that the headings say and the first rows, write neither.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="TOML", help="csv: write the map that was understood here.")
    ] = None,
    flags: TableFlags = NO_FLAGS,
) -> None:
    """Turn files of a foreign format into a results table; nothing is written where one breaks the format's rules."""
    from podium.importers import Options, read_format

    if out is None and not (dry_run or guess or save):
        raise ParameterError("say where the results go with --out FILE, or see them with --dry-run")
    check_outputs([path for path in (out, names) if path is not None and str(path) != STDOUT], files)
    options = Options(skip_bad, timezone, player, forfeits.value, map_file)
    if form == TABLES:
        options = table_options(options, flags)
    elif flags != NO_FLAGS or guess or save:
        raise ParameterError(f"options that name columns are for tables (csv); {form} needs none")
    with show.progress("importing"):
        imported = read_format(form, files, options)
    show_summary(imported, err=str(out) == STDOUT)
    if guess or save:
        show_map(files, options, save, show_it=guess)
    if dry_run or guess:
        show.show(as_written(imported.table.head(GUESSED_ROWS if guess else SHOWN_ROWS)), Format.table)
        return
    if names is not None:
        write_table(names_table(imported), names)
    if str(out) == STDOUT:
        show.show(as_written(imported.table), Format.csv)
    elif out is not None:
        write_table(as_written(imported.table) if out.suffix.lower() == ".csv" else imported.table, out)


def table_options(options: "Options", flags: TableFlags) -> "Options":
    """The options of tables: a map from a file, or of the flags, with what the headings say of all that those lack."""
    document = flags.document(None if options.player == PLAYER else options.player)
    options = replace(options, player=PLAYER)
    if document is None:
        return options
    if options.map is not None:
        raise ParameterError("--map says all of a table: leave out the options that name columns")
    columns = document["columns"]
    whole = "layout" in document or ({"event_id", "player"} <= columns.keys() and columns.keys() & COMPARED)
    return replace(options, map=document, guess=not whole)


def show_map(files: list[str], options: "Options", save: Path | None, *, show_it: bool) -> None:
    """Print the map that was understood, and write it."""
    from podium.importers.tables.csv import understand
    from podium.importers.tables.maps import write_map

    text = write_map(understand(files, options).document)
    if show_it:
        typer.echo(f"\n{text}")
    if save is not None:
        write_text(text, save)
        typer.echo(f"the map is in {save}")


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


dataset = App(help="Write results as a dataset, for many pools or more than memory holds, and check it.")


@dataset.callback()
def datasets() -> None:
    """Write results as a dataset, for many pools or more than memory holds, and check it."""


@dataset.command("write", short_help="Write FILE as a dataset.")
@examples("podium dataset write results.csv league", "podium dataset write exported/ s3://bucket/league")
@reads_named_results
def write(
    file: Input,
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="A new folder, or an address such as s3://bucket/league.")
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the dataset that is there.")] = False,
) -> None:
    """Write FILE, or a folder of Parquet files, as a dataset: a folder a pool, sorted, checked, with its digests."""
    from podium.dataset import write

    with show.progress("reading", "writing") as steps:
        source: Any = file.path if streams(file) else file.read()
        steps.next()
        written = write(source, folder, overwrite=overwrite)
    tell(written, "written")


def streams(file: Input) -> bool:
    """Whether a file is read part by part rather than whole."""
    from podium.dataset import is_dataset

    plain = file.format is None and file.map is None
    return plain and (is_dataset(file.path) or Path(file.path).is_dir() or file.path.lower().endswith(".parquet"))


@dataset.command("check", short_help="Check that a dataset is as it was written.")
@examples("podium dataset check league")
def check(folder: Annotated[str, typer.Argument(metavar="DIR", help="A dataset.")]) -> None:
    """Check that every file of a dataset is there and as it was written: digests, rows, events."""
    from podium.dataset import check

    with show.progress("checking"):
        checked = check(folder)
    tell(checked, "all good")


def tell(written: "Dataset", verdict: str) -> None:
    """Say how large a dataset is."""
    from podium.support.notebook import counted

    sizes = counted(written.rows, "row"), counted(written.events, "event"), counted(len(written.pools), "pool")
    typer.echo(f"{written.uri}: {', '.join(sizes)}, digest {written.digest}: {verdict}")
