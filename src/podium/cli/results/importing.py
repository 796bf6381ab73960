"""Commands that turn files into a results table, and into a dataset: import and dataset."""

import shlex
import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument, Option

from podium.cli.results.reading import Input, input_option
from podium.cli.terminal import show
from podium.cli.terminal.helping import App, Made, examples
from podium.cli.terminal.options import as_written, check_output, one_of, write_table, write_text
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
RESULTS = {"1-0": 1, "0-1": 2, "1/2-1/2": 1, "½-½": 1, "0.5-0.5": 1, "1": 1, "0": 2, "0.5": 1, "½": 1}
MIRRORED = {"1-0": 2, "0-1": 1, "1/2-1/2": 1, "½-½": 1, "0.5-0.5": 1, "1": 2, "0": 1, "0.5": 1, "½": 1}
TWO = 2  # sides of a match
COMPARED = frozenset({"position", "score", "time_s", "team_score"})


def column(words: str, metavar: str = "COLUMN") -> Any:
    return Option(None, help=f"csv: {words}", metavar=metavar)


def switch(name: str, words: str) -> Any:
    return Option(False, name, help=f"csv: {words}")


@dataclass(frozen=True)
class TableFlags:
    """What the columns of a table mean, as options say it."""

    event: str | None = column("the column that names the event; several, parted by commas, do together.", "COLUMN,…")
    position: str | None = column("the column of places, as 1, 1st or T2.")
    time: str | None = column("the column of times, as 61.2, 1:01.2 or 1:33:56.736.")
    gap_to_winner: bool = switch("--gap-to-winner", "a time with a plus sign is a gap to the winner's.")
    score: str | None = column("the column of scores; higher is better.")
    team: str | None = column("the column of teams.")
    status: str | None = column("the column of statuses.")
    pool: str | None = column("the column of pools.")
    date: str | None = column("the column of dates.", "COLUMN,…")
    date_format: str | None = column("how dates are written, as %d.%m.%Y.", "FORMAT")
    winner: str | None = column(
        "the column of winners, where a row is a match; several for the members of a team.", "COLUMN,…"
    )
    loser: str | None = column("the column of losers.", "COLUMN,…")
    sides: str | None = column("the two columns of players, where a row is a match.", "COLUMN,…")
    result: str | None = column("the column of the first side's result: 1-0, 0-1, 1/2-1/2, or 1, 0, 0.5.")
    scores: str | None = column("the two columns of the sides' scores.", "COLUMN,…")
    grid: bool = switch("--grid", "a line a player, a column an event; cells are places.")
    sheet: str | None = column("the sheet of a workbook.", "NAME")
    records: str | None = column("where the rows of JSON are, as races[].results[].", "PATH")
    encoding: str | None = column("the encoding of text that is not UTF-8, as cp1252.", "NAME")
    delimiter: str | None = column("what parts cells.", "MARK")
    decimal: str | None = column("the decimal mark.", "MARK")
    thousands: str | None = column("what parts the thousands of numbers.", "MARK")

    def are_given(self) -> bool:
        return any(each not in (None, False) for each in vars(self).values())

    def document(self, player: str | None) -> dict[str, Any] | None:
        """The map that the options say, as TOML has it; None where they say nothing."""
        keys = ("sheet", "records", "encoding", "delimiter", "decimal", "thousands")
        source = {key: getattr(self, key) for key in keys if getattr(self, key) is not None}
        if self.thousands == ".":
            source.setdefault("decimal", ",")
        body = self.body(player)
        if not source and not body:
            return None
        return ({"source": source} if source else {}) | (body or {"columns": {}})

    def body(self, player: str | None) -> dict[str, Any]:
        columns = self.columns()
        if self.date is not None:
            columns["started_at"] = {"from": split(self.date)} | (
                {"format": self.date_format} if self.date_format else {}
            )
        if self.winner or self.loser:
            from podium.importers.tables.open_table import matches_map

            if not (self.winner and self.loser):
                raise ParameterError("--winner and --loser belong together")
            event = split(self.event) if self.event else None
            return matches_map(split(self.winner), split(self.loser), event, None, columns)
        columns |= {"event_id": joined(self.event)} if self.event else {}
        if self.sides:
            return self.two_sides(columns)
        if self.grid:
            if player is None:
                raise ParameterError("--grid needs --player, the column with the name of each line")
            columns = {"event_id": "{column}", "position": {"from": "cell", "as": "place"}} | columns
            if self.score is not None:
                del columns["position"]
            return {"layout": {"kind": "matrix", "rows": player}, "columns": columns}
        if player is not None:
            columns["player"] = {"from": [player]}
        return {"columns": columns} if columns else {}

    def columns(self) -> dict[str, Any]:
        """The rules of columns that every layout may have."""
        rules: dict[str, Any] = {}
        for name, value in (("score", self.score), ("team", self.team), ("status", self.status), ("pool", self.pool)):
            if value is not None:
                rules[name] = {"from": [value]}
        if self.position is not None:
            rules["position"] = {"from": [self.position], "as": "place"}
        if self.time is not None:
            rules["time_s"] = {"from": [self.time], "as": "duration"} | (
                {"gap": "leader"} if self.gap_to_winner else {}
            )
        elif self.gap_to_winner:
            raise ParameterError("--gap-to-winner needs --time, the column with times and gaps")
        return rules

    def two_sides(self, columns: dict[str, Any]) -> dict[str, Any]:
        """A match a row, with the result of the first side or the scores of both."""
        players, scores = split(self.sides or ""), split(self.scores or "")
        if len(players) != TWO or bool(self.result) == bool(scores) or len(scores) not in (0, TWO):
            raise ParameterError("--sides A,B needs --result COLUMN, of the first side, or --scores A,B")
        values: list[dict[str, Any]] = [{"score": {"from": [score]}} for score in scores]
        if self.result:
            values = [{"position": {"from": [self.result], "map": words}} for words in (RESULTS, MIRRORED)]
        sides = [{"player": {"from": [each]}, **value} for each, value in zip(players, values, strict=True)]
        from podium.importers.tables.open_table import match_id

        columns = {"event_id": match_id(players[:1], players[1:], columns)} | columns
        return {"layout": {"kind": "wide", "sides": sides}, "columns": columns}


TABLE_FLAGS: Any = Made(TableFlags)


def split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def joined(names: str) -> Any:
    """A column, or the template of several."""
    several = split(names)
    return {"from": several} if len(several) == 1 else "-".join(f"{{{name}}}" for name in several)


class Forfeits(StrEnum):
    """What becomes of who left."""

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
        help=f"{', '.join(FORMATS)}. Without one, the map that FILE says is shown and written beside it.",
        autocompletion=one_of(*FORMATS),
    ),
    files: list[str] | None = Argument(
        None, metavar="FILE...", help="Files or folders, in the order of their events; - reads stdin."
    ),
    out: Path | None = Option(
        None, "--out", "-o", help="Write the results here: .csv, .parquet, .json, .jsonl; - is stdout, as CSV."
    ),
    skip_bad: bool = Option(False, "--skip-bad", help="Leave out events that break the format's rules, each whole."),
    timezone: str = Option("UTC", metavar="ZONE", help="The zone of local times, as Europe/Berlin."),
    player: str = Option(
        PLAYER, metavar="NAME", help="What to call players by: id, name or fide. csv: the column of players."
    ),
    names: Path | None = Option(
        None, help="Write what each player is called here, where the format has ids and names."
    ),
    forfeits: Forfeits = Option(Forfeits.keep, help="Keep who left as quit, or drop them."),
    map_file: Path | None = Option(None, "--map", metavar="TOML", help="What the columns of a csv mean."),
    dry_run: bool = Option(False, "--dry-run", help="Show the counts and the first rows, and write nothing."),
    guess: bool = Option(
        False, "--guess", help="csv: show the map that the headings say and the first rows, write neither."
    ),
    save: Path | None = Option(None, "--save", metavar="TOML", help="csv: write the map that was understood here."),
    settings: list[str] | None = Option(
        None, "--set", metavar="KEY=VALUE", help="csv: a key of the map that the table does not say. May repeat."
    ),
    no_input: bool = Option(False, "--no-input", help="csv: refuse what is not certain, where a terminal would ask."),
    flags: TableFlags = TABLE_FLAGS,
) -> None:
    """Turn files of a foreign format into a results table; nothing is written where one breaks the format's rules."""
    from podium.importers import Options, read_format

    named = form in FORMATS or (files and not Path(form).exists() and form != STDOUT)
    form, files = (form, files or []) if named else (TABLES, [form, *(files or [])])
    if not named and not (out or dry_run or guess or save):
        guess, save = True, map_beside(files[0])
    if out is None and not (dry_run or guess or save):
        raise ParameterError("say where the results go with --out FILE, or see them with --dry-run")
    check_outputs([path for path in (out, names) if path is not None and str(path) != STDOUT], files)
    options = Options(skip_bad, timezone, player, forfeits.value, map_file)
    options = read_options(
        form, files, options, flags, settings or [], writes_map=bool(guess or save), asks=not no_input
    )
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


def map_beside(file: str) -> Path:
    """Where the map of a file goes: beside it, under its name."""
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
    """The options of an import; those of tables with all that their flags and a reader in a terminal say."""
    if form != TABLES:
        if flags.are_given() or writes_map:
            raise ParameterError(f"options that name columns are for tables (csv); {form} needs none")
        if settings:
            raise ParameterError(f"--set is for tables (csv); {form} needs none")
        return options
    options = table_options(options, flags, settings)
    return with_answers(files, options) if asks and sys.stdin.isatty() and sys.stdout.isatty() else options


def table_options(options: "Options", flags: TableFlags, settings: list[str]) -> "Options":
    """The options of tables: a map from a file, or of the flags, with what the headings say of all that those lack."""
    from podium.importers.tables.csv import answer

    document = flags.document(None if options.player == PLAYER else options.player)
    options = replace(options, player=PLAYER)
    for setting in settings:
        key, _, value = setting.partition("=")
        if key.count(".") not in (1, TWO) or not value:
            raise ParameterError(f"--set {setting}: write a key of a map and its value, as source.sheet=Standings")
        document = answer(key, value, document)
    if document is None:
        return options
    if options.map is not None:
        raise ParameterError("--map says all of a table: leave out the options that name columns")
    columns = document["columns"]
    whole = "layout" in document or ({"event_id", "player"} <= columns.keys() and columns.keys() & COMPARED)
    return replace(options, map=document, guess=not whole)


def with_answers(files: list[str], options: "Options") -> "Options":
    """The options, with the answers to all that a table leaves open: one question at a time, below the first rows."""
    from podium.importers.tables.csv import answer, first_rows, questions

    shown = False
    while (found := questions(files, options)) and found[0].choices:
        if not shown:
            show.show(first_rows(files, options), Format.table)
            shown = True
        typer.echo(f"\n{f'column {found[0].column} ' if found[0].column else ''}{found[0].text}:")
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
    from podium.importers.tables.csv import understand
    from podium.importers.tables.maps import write_map

    text = write_map(understand(files, options).document)
    if show_it:
        typer.echo(f"\n{text}")
    if save is not None:
        write_text(text, save)
        typer.echo(f"the map is in {save}: podium rate {shlex.quote(files[0])} --map {shlex.quote(str(save))}")


def check_outputs(outputs: list[Path], files: list[str]) -> None:
    """Check that the files can be written, and are none of those that are read, nor one another."""
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
    table = imported.table
    events, players = (table[name].n_unique() for name in ("event_id", "player"))
    lines = [f"imported: {counted(table.height, 'row')}, {counted(events, 'event')}, {counted(players, 'player')}"]
    if imported.dropped:
        lines.append(f"dropped: {', '.join(f'{count:,} {reason}' for reason, count in imported.dropped.items())}")
    if imported.skipped:
        lines.append(f"skipped: {counted(imported.skipped, 'bad event')}")
    return [*lines, *imported.notes]


def names_table(imported: "Imported") -> "pl.DataFrame":
    """What each player is called, and in which event last."""
    import polars as pl

    rows = [(player, name, event_id) for player, (name, event_id) in imported.names.items()]
    return pl.DataFrame(rows, schema=dict.fromkeys(("player", "name", "last_event_id"), pl.String), orient="row")


dataset = App(help="Write results as a dataset, for many pools or more than memory holds, and check it.")


@dataset.command(
    "write",
    "podium dataset write results.csv league",
    "podium dataset write exported/ s3://bucket/league",
    short_help="Write FILE as a dataset.",
)
def write(
    file: Input = input_option(named=True, prints=False),
    folder: str = Argument(metavar="DIR", help="A new folder, or an address such as s3://bucket/league."),
    overwrite: bool = Option(False, "--overwrite", help="Replace the dataset that is there."),
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


@dataset.command("check", "podium dataset check league", short_help="Check that a dataset is as it was written.")
def check(folder: str = Argument(metavar="DIR", help="A dataset.")) -> None:
    """Check that every file of a dataset is there and as it was written: digests, rows, events."""
    from podium.dataset import check

    with show.progress("checking"):
        checked = check(folder)
    tell(checked, "all good")


def tell(written: "Dataset", verdict: str) -> None:
    sizes = counted(written.rows, "row"), counted(written.events, "event"), counted(len(written.pools), "pool")
    typer.echo(f"{written.uri}: {', '.join(sizes)}, digest {written.digest}: {verdict}")
