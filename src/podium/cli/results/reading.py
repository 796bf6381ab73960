"""Read results for commands: a results file, another format, or a table with a map or with options for its columns."""

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer
from typer import Argument

from podium.cli.terminal.app import FILE_NAME, Made, find_settings, flag, option
from podium.cli.terminal.options import one_of
from podium.cli.terminal.show import Format, note
from podium.errors import ParameterError
from podium.importers import FORMATS
from podium.support.words import suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from podium.results.reading import Results


TABLES = "csv"
PLAYER = "id"


def column(words: str, metavar: str = "COLUMN") -> Any:
    return option(f"For tables (csv): {words}", metavar=metavar)


def switch(name: str, words: str) -> Any:
    return flag(name, f"For tables (csv): {words}")


@dataclass(frozen=True)
class TableFlags:
    """The options for the meaning of a table's columns."""

    event: str | None = column(
        "the column that identifies the event, or several that identify it together.", "COLUMN,…"
    )
    position: str | None = column("the column that holds the places, such as 1, 1st or T2.")
    time: str | None = column("the column that holds the times, such as 61.2, 1:01.2 or 1:33:56.736.")
    gap_to_winner: bool = switch("--gap-to-winner", "treat a time with a plus sign as a gap to the winner.")
    score: str | None = column("the column that holds the scores; higher is better.")
    team: str | None = column("the column that holds the teams.")
    status: str | None = column("the column that holds the statuses.")
    pool: str | None = column("the column that holds the pools.")
    date: str | None = column("the column that holds the dates.", "COLUMN,…")
    date_format: str | None = column("the format of the dates, such as %d.%m.%Y.", "FORMAT")
    winner: str | None = column(
        "the column that holds the winners, if each row is a match; for teams, one column per member.", "COLUMN,…"
    )
    loser: str | None = column("the column that holds the losers.", "COLUMN,…")
    sides: str | None = column("the two columns that hold the players, if each row is a match.", "COLUMN,…")
    result: str | None = column("the column that holds the first side's result (1-0, 0-1 or 1/2-1/2; or 1, 0 or 0.5).")
    scores: str | None = column("the two columns that hold the sides' scores.", "COLUMN,…")
    grid: bool = switch("--grid", "the table has one row per player, one column per event, and places in the cells.")
    sheet: str | None = column("the sheet of a workbook to read.", "NAME")
    records: str | None = column("the path to the rows in JSON, such as races[].results[].", "PATH")
    encoding: str | None = column("the encoding of text that is not UTF-8, such as cp1252.", "NAME")
    delimiter: str | None = column("the separator between cells.", "MARK")
    decimal: str | None = column("the decimal separator.", "MARK")
    thousands: str | None = column("the thousands separator.", "MARK")

    def are_given(self) -> bool:
        return any(value not in (None, False) for value in vars(self).values())

    def document(self, player: str | None) -> dict[str, Any] | None:
        """Return the map for these options, in the form of a TOML document, or None if no options are set."""
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
            if not (self.winner and self.loser):
                raise ParameterError("--winner and --loser must be used together. Give both.")
            values = [{"position": {"value": place}} for place in (1, 2)]
            return self.matches(self.winner, self.loser, values, columns)
        if self.event:
            several = split(self.event)
            name = {"from": several} if len(several) == 1 else "-".join(f"{{{column}}}" for column in several)
            columns["event_id"] = name
        if self.sides:
            return self.two_sides(columns)
        if self.grid:
            if player is None:
                raise ParameterError("--grid also needs --player COLUMN, the column with the players' names.")
            columns = {"event_id": "{column}", "position": {"from": "cell", "as": "place"}} | columns
            if self.score is not None:
                del columns["position"]
            return {"layout": {"kind": "matrix", "rows": player}, "columns": columns}
        if player is not None:
            columns["player"] = {"from": [player]}
        return {"columns": columns} if columns else {}

    def columns(self) -> dict[str, Any]:
        """Return the rules for columns that can be in every layout."""
        named = {"score": self.score, "team": self.team, "status": self.status, "pool": self.pool}
        rules: dict[str, Any] = {name: {"from": [column]} for name, column in named.items() if column is not None}
        if self.position is not None:
            rules["position"] = {"from": [self.position], "as": "place"}
        if self.time is not None:
            rules["time_s"] = {"from": [self.time], "as": "duration"} | (
                {"gap": "leader"} if self.gap_to_winner else {}
            )
        elif self.gap_to_winner:
            raise ParameterError("--gap-to-winner also needs --time COLUMN, the column with times and gaps.")
        return rules

    def two_sides(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Return the map for one match per row, with the first side's result or with both scores."""
        from podium.importers.tables.open_table import sides_of

        players, scores = split(self.sides or ""), split(self.scores or "")
        if len(players) != 2 or bool(self.result) == bool(scores) or len(scores) not in (0, 2):
            raise ParameterError(
                "--sides A,B also needs the result: --result COLUMN (of the first side) or --scores A,B."
            )
        return self.matches(players[0], players[1], sides_of(scores, self.result), columns)

    def matches(self, first: str, second: str, values: list[dict[str, Any]], columns: dict[str, Any]) -> dict[str, Any]:
        """Return the map for one match per row."""
        from podium.importers.tables.open_table import matches_map

        event = split(self.event) if self.event else None
        return matches_map(split(first), split(second), values, event, None, columns)


TABLE_FLAGS: Any = Made(TableFlags)


def split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


EXPORTED = b'{"podium_pool":'  # first bytes of an exported pool
SHAPES = tuple(form.value for form in Format)
NAMES = ", ".join(name for name in FORMATS if name not in SHAPES)
READS = "Results as CSV, Parquet, JSON Lines or a workbook, or their https address; for other formats, see --format"
NAMED_FILE = Argument(metavar="FILE", help=f"{READS}; - reads stdin.")
FILE = Argument(None, metavar="FILE", help=f"{READS}; - reads stdin [default: the file in podium.toml].")
OPTIONAL_FILE = Argument(None, metavar="FILE", help=f"{READS}.")
SHAPES_AND_FORMATS = option(
    f"Output: {', '.join(SHAPES)}. Or the format of FILE: {NAMES}. Can be repeated.",
    "--format",
    "-f",
    metavar="FORMAT",
    autocompletion=one_of(*SHAPES, *FORMATS),
)
FILE_FORMAT = option(
    f"Format of FILE: {', '.join(FORMATS)}.", "--format", "-f", metavar="FORMAT", autocompletion=one_of(*FORMATS)
)
MAP_FILE = option("Map of FILE's columns (see podium import).", "--map", metavar="TOML")
STRICT = flag("--strict", "Accept only the exact column names listed by podium columns.")


@dataclass(frozen=True)
class Input:
    """A file of results, and the options for reading it."""

    path: str
    format: str | None = None
    map: "Path | Mapping[str, Any] | None" = None
    strict: bool = False

    def __str__(self) -> str:
        return self.path

    def events_of(self, pool: str) -> "str | Results | pl.DataFrame":
        """Return the events for a pool in a store. If the format has pools, return only this pool's events.

        If only the store can resolve a file's names, return the file's path.
        """
        import polars as pl

        from podium.errors import ResultsError
        from podium.results.columns import DEFAULTS

        if self.is_exported():
            raise ParameterError(
                f"{self.path}: is an exported pool. Create a pool from it with podium pool import {self.path}, or add "
                f"its results to a pool with podium ingest {self.path} --as {pool}."
            )
        try:
            results = self.read()
        except ResultsError:
            if self.format is None and self.map is None and self.is_plain():
                return self.path
            raise
        if self.format is None or (results.frame["pool"] == DEFAULTS["pool"]).all():
            return results
        own = results.frame.filter(pl.col("pool") == pool)
        events = results.frame.group_by("pool", maintain_order=True).agg(pl.col("event_id").n_unique())
        others = [f"{count} of {name}" for name, count in events.iter_rows() if name != pool]
        if own.is_empty() and others:
            raise ParameterError(f"{self.path}: has no events of pool {pool}, only {', '.join(others)}")
        if others:
            note(f"{self.path}: ignored events of other pools: {', '.join(others)}")
        return replace(results, frame=own, sent=None)

    def events_as(self, pool: str | None) -> "Results | pl.DataFrame":
        """Return one pool's events for use in another pool.

        For an exported pool, return valid events with current names.
        """
        import polars as pl

        if self.is_exported():
            from podium.store import Store

            with TemporaryDirectory() as folder, closing(Store(f"{folder}/exported.db")) as store:
                with Path(self.path).open(encoding="utf-8", newline="\n") as lines:
                    exported = store.import_pool(lines, source=self.path).pool
                return store.results(exported).frame.drop("pool")
        from podium.results.columns import DEFAULTS

        results = self.read()
        frame = results.frame
        pools = frame["pool"].unique(maintain_order=True).to_list()
        if pool is None and len(pools) > 1:
            raise ParameterError(f"{self.path}: has events of {', '.join(pools)}. Name one with --pool.")
        own = frame if pool is None else frame.filter(pl.col("pool") == pool)
        if own.is_empty():
            raise ParameterError(f"{self.path}: has no events of pool {pool}, only of {', '.join(pools)}")
        return replace(results, frame=own.with_columns(pl.lit(DEFAULTS["pool"]).alias("pool")), sent=None)

    def is_exported(self) -> bool:
        """Return True if the file comes from `podium pool export`."""
        path = Path(self.path)
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(EXPORTED)) == EXPORTED

    def is_plain(self) -> bool:
        """Return True if the file has only the headings of a results table."""
        from podium.errors import ResultsError
        from podium.results.reading import header_faults, load_path

        try:
            return Path(self.path).is_file() and not header_faults(load_path(self.path, None)[0])
        except ResultsError:
            return False

    def read(self) -> "Results":
        """Read and check the results. If the file has another layout, print on stderr how it was read."""
        import podium

        if self.format is not None and self.format != "csv":
            from podium.importers import Options, read_format

            imported = read_format(self.format, [self.path], Options(map=self.map))
            results = replace(podium.read_results(imported.table, name=self.path), made=imported.made)
        elif self.map is not None:
            results = podium.read_results(self.path, map=self.map)
        else:
            results = podium.read_results(self.path, lenient=not self.strict)
        for line in results.notes:
            typer.echo(f"{results.source}: {line}", err=True)
        return results


def input_option(*, named: bool = False, optional: bool = False, prints: bool = True) -> Any:
    """Return the default for a parameter of type `Input`, which is made from FILE, `--format`, `--map` and `--strict`.

    Args:
        named: True if FILE is required. Otherwise, it may come from the settings.
        optional: True if the command also works without FILE.
        prints: True if the command prints a table. Then `--format` can also name the output format, and the command's
            `form` parameter has the default `PRINTED`.
    """
    argument = NAMED_FILE if named else OPTIONAL_FILE if optional else FILE

    def make(
        file: str | None = argument,
        formats: str | None = FILE_FORMAT,
        map_file: Path | None = MAP_FILE,
        strict: bool = STRICT,
    ) -> Input | None:
        if file is None and optional:
            if formats or map_file:
                raise ParameterError("--format and --map need a FILE. Add the file name.")
            return None
        return with_settings(file, formats, map_file, strict=strict)

    def make_and_print(
        file: str | None = argument,
        formats: list[str] | None = SHAPES_AND_FORMATS,
        map_file: Path | None = MAP_FILE,
        strict: bool = STRICT,
    ) -> Input | None:
        return make(file, format_of_file(formats or []), map_file, strict)

    return Made(make_and_print if prints else make, last=True)


def with_settings(path: str | None, file_format: str | None, map_file: Path | None, *, strict: bool = False) -> Input:
    """Return the file from the options or the settings.

    The format and map in the settings apply to the file in the settings or, if there is none, to every file.
    """
    settings = find_settings()
    own = settings.path_of("file")
    if path is None and own is None:
        raise ParameterError(f"FILE is missing. Name a file of results, or save one in {FILE_NAME} with podium init.")
    if file_format is None and map_file is None and (path is None or own is None):
        file_format, map_file = settings.get("format"), settings.path_of("map")
    return Input(str(own) if path is None else path, file_format, map_file, strict)


def format_of_file(formats: list[str]) -> str | None:
    """Return the format of FILE from the values of `--format`. Other values name the output format."""
    others = [name for name in formats if name not in SHAPES]
    unknown = next((name for name in others if name not in FORMATS), None)
    if unknown is not None:
        hint = suggestion(unknown, [*FORMATS, *SHAPES])
        raise ParameterError(
            f"--format {unknown}: is neither an output ({', '.join(SHAPES)}) nor a format ({NAMES}){hint}"
        )
    if len(others) > 1:
        raise ParameterError(f"--format {others[0]} and {others[1]}: FILE has only one format. Name one.")
    return others[0] if others else None


def printed_form(formats: list[str] | None = SHAPES_AND_FORMATS) -> Format:
    shapes = [form for form in formats or [] if form in SHAPES]
    return Format(shapes[-1]) if shapes else Format.table


PRINTED: Any = Made(printed_form)
