"""The `import` command, which converts files to a results table."""

import shlex
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Argument, Option

from podium.cli.results.reading import PLAYER, TABLE_FLAGS, TABLES, TableFlags
from podium.cli.terminal import show
from podium.cli.terminal.app import examples, flag, option
from podium.cli.terminal.options import (
    EVERY,
    STARTED_AT,
    as_written,
    check_outputs,
    dated,
    one_of,
    write_table,
    write_text,
)
from podium.cli.terminal.show import Format
from podium.errors import SHOWN_FAULTS, Fault, ParameterError
from podium.importers import FORMATS
from podium.results.column_guide import COMPARED
from podium.support.words import counted

if TYPE_CHECKING:
    import polars as pl

    from podium.importers import Imported, Options


STDOUT = "-"
SHOWN_ROWS, GUESSED_ROWS, MAX_KEY_DOTS = 10, 3, 3  # dots of a key, such as columns.status.map.DNF


class Forfeits(StrEnum):
    """How to treat players who left."""

    keep = "keep"
    drop = "drop"


@examples(
    "podium import pgn games.pgn -o games.csv",
    "podium import league.xlsx",
    "podium import csv f1.csv --guess",
    "podium import csv wta.csv --winner winner_name --loser loser_name -o wta.csv",
)
def import_results(
    form: str = Argument(
        metavar="[FORMAT]",
        help=f"{', '.join(FORMATS)}. Without a format, Podium shows the map of FILE and saves it next to it.",
        autocompletion=one_of(*FORMATS),
    ),
    files: list[str] | None = Argument(
        None, metavar="FILE...", help="Files or folders, in the order of their events; - reads stdin."
    ),
    out: Path | None = option(
        "File for the results: .csv, .xlsx, .parquet, .json or .jsonl. - writes CSV to stdout.", "--out", "-o"
    ),
    skip_bad: bool = flag("--skip-bad", "Leave out events that break the format's rules."),
    timezone: str = Option("UTC", metavar="ZONE", help="Time zone of local times, such as Europe/Berlin."),
    player: str = Option(
        PLAYER,
        metavar="NAME",
        help="How to identify players: id, name or fide. For tables (csv): the column that holds the players.",
    ),
    names: Path | None = option("Write the players' IDs and names here, if the format has both."),
    forfeits: Forfeits = Option(Forfeits.keep, help="Keep players who left early, with the status quit, or drop them."),
    map_file: Path | None = option("For tables (csv): a map that says what the columns mean.", "--map", metavar="TOML"),
    dry_run: bool = flag("--dry-run", "Show counts and the first rows, without writing anything."),
    guess: bool = flag("--guess", "For tables (csv): show the map and the first rows, without writing anything."),
    save: Path | None = option("For tables (csv): write the map of the table here.", "--save", metavar="TOML"),
    settings: list[str] | None = option(
        "For tables (csv): set a key of the map. Can be repeated.", "--set", metavar="KEY=VALUE"
    ),
    no_input: bool = flag("--no-input", "For tables (csv): reject unclear tables instead of asking."),
    started_at: str | None = STARTED_AT,
    every: str | None = EVERY,
    flags: TableFlags = TABLE_FLAGS,
) -> None:
    """Convert files from other programs to a results table. Nothing is written if a file breaks its format's rules."""
    from podium.importers import Options, read_format
    from podium.importers.sources import format_of

    named = form in FORMATS or (files and not Path(form).exists() and form != STDOUT)
    if not named:
        is_table = settings or flags.are_given() or map_file or guess or save
        form, files = (None if is_table else format_of(form)) or TABLES, [form, *(files or [])]
    files = files or []
    if not named and not (out or dry_run or guess or save):
        guess, save, dry_run = (True, map_beside(files[0]), False) if form == TABLES else (False, None, True)
    if out is None and not (dry_run or guess or save):
        raise ParameterError("no output file is named. Write the results with --out FILE, or see them with --dry-run.")
    check_outputs([None if str(path) == STDOUT else path for path in (out, names)], files)
    options = Options(skip_bad, timezone, player, forfeits.value, map_file)
    options = read_options(
        form, files, options, flags, settings or [], writes_map=bool(guess or save), asks=not no_input
    )
    with show.progress("importing"):
        imported = read_format(form, files, options)
    if started_at or every:
        table, made = dated(imported.table, started_at, every)
        imported = replace(imported, table=table, notes=(*imported.notes, made))
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


def map_beside(file: str) -> Path:
    """Return the path for a file's map: next to the file, with the same name."""
    path = Path(file)
    name = f"{path.name.partition('.')[0] or 'map'}.toml"
    return path.with_name(name) if path.is_file() else Path(name)


def read_options(
    form: str,
    files: list[str],
    options: "Options",
    flags: TableFlags,
    settings: list[str],
    *,
    writes_map: bool,
    asks: bool,
) -> "Options":
    """Return the options of an import. For tables, these include command-line flags and answers from a terminal."""
    if form != TABLES:
        if flags.are_given() or writes_map:
            raise ParameterError(f"{form} needs no options that name columns. They are for tables (csv).")
        if settings:
            raise ParameterError(f"--set is only for tables (csv). Leave it out for {form}.")
        return options
    options = table_options(options, flags, settings)
    return with_answers(files, options) if asks and sys.stdin.isatty() and sys.stdout.isatty() else options


def table_options(options: "Options", flags: TableFlags, settings: list[str]) -> "Options":
    """Return the options for tables: a map from a file or from flags, completed with the headings."""
    from podium.importers.tables.read_sheet import answer

    document = flags.document(None if options.player == PLAYER else options.player)
    options = replace(options, player=PLAYER)
    for setting in settings:
        key, _, value = setting.partition("=")
        if not 0 < key.partition('"')[0].count(".") <= MAX_KEY_DOTS or not value:
            raise ParameterError(f"--set {setting}: write a key of a map and its value, such as source.sheet=Standings")
        document = answer(key, value, document)
    if document is None:
        return options
    if options.map is not None:
        raise ParameterError("--map describes the whole table. Leave out the options that name columns.")
    columns = document["columns"]
    whole = "layout" in document or (
        {"event_id", "player"} <= columns.keys() and not columns.keys().isdisjoint(COMPARED)
    )
    return replace(options, map=document, guess=not whole)


def with_answers(files: list[str], options: "Options") -> "Options":
    """Return the options with answers to all open questions, which appear one by one below the first rows."""
    from podium.importers.tables.read_sheet import answer, first_rows, questions

    posed: list[Fault] = []
    while (found := questions(files, options)) and found[0].choices and found[0] not in posed:
        if not posed:
            show.show(first_rows(files, options), Format.table)
        posed.append(found[0])
        typer.echo(f"\n{found[0]}")
        for number, choice in enumerate(found[0].choices, start=1):
            typer.echo(f"  {number}  {choice.meaning}: {choice.key} = {choice.value}")
        number = 0
        while not 0 < number <= len(found[0].choices):
            number = typer.prompt("which", type=int)
        chosen = found[0].choices[number - 1]
        document = options.map if isinstance(options.map, dict) else None
        options = replace(options, map=answer(chosen.key, chosen.value, document), guess=True)
    return options


def show_map(files: list[str], options: "Options", save: Path | None, *, show_it: bool) -> None:
    from podium.importers.tables.maps import write_map
    from podium.importers.tables.read_sheet import map_of_files

    text = write_map(map_of_files(files, options).document)
    if show_it:
        typer.echo(f"\n{text}")
    if save is not None:
        write_text(text, save)
        typer.echo(
            f"the map is saved in {save}. Use it: podium rate {shlex.quote(files[0])} --map {shlex.quote(str(save))}"
        )


def show_summary(imported: "Imported", *, err: bool) -> None:
    """Print counts for the input, and list on stderr everything that was skipped."""
    table = imported.table
    events, players = (table[name].n_unique() for name in ("event_id", "player"))
    lines = [f"imported: {counted(table.height, 'row')}, {counted(events, 'event')}, {counted(players, 'player')}"]
    if imported.dropped:
        lines.append(f"dropped: {', '.join(f'{count:,} {reason}' for reason, count in imported.dropped.items())}")
    if imported.skipped:
        lines.append(f"skipped: {counted(imported.skipped, 'bad event')}")
    for line in (*lines, *imported.notes):
        typer.echo(line, err=err)
    for fault in imported.bad[:SHOWN_FAULTS]:
        show.note(f"skipped: {fault.file} {fault.with_command if fault.choices else fault}")
    if len(imported.bad) > SHOWN_FAULTS:
        show.note(f"{len(imported.bad) - SHOWN_FAULTS} more errors")


def names_table(imported: "Imported") -> "pl.DataFrame":
    """Return a table of each player's name and last event."""
    import polars as pl

    rows = [(player, name, event_id) for player, (name, event_id) in imported.names.items()]
    return pl.DataFrame(rows, schema=dict.fromkeys(("player", "name", "last_event_id"), pl.String), orient="row")
