"""A table as it is written: cells as text under its headings, and where each row stands."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

import polars as pl

from podium.errors import Fault, ResultsError
from podium.importers.sources import UTF16_MARKS, Source, decode
from podium.importers.tables.files.records import from_json
from podium.importers.tables.files.stored import from_database, from_spreadsheet
from podium.importers.tables.files.texts import from_text
from podium.importers.tables.model import SourceRule
from podium.results.columns import refuse_wide

SPREADSHEETS, DATABASES = ("xlsx", "xls", "xlsb", "ods"), ("sqlite", "db", "sqlite3")
WRAPPERS = (".gz", ".zst", ".zip")
STARTS = {b"PAR1": "parquet", b"SQLite format 3\0": "sqlite", b"PK\x03\x04": "xlsx", b"\xd0\xcf\x11\xe0": "xls"}
SHOWN_ROWS = 3  # of those with one fault
ENCODINGS = (
    'save it as CSV UTF-8, or name its encoding, in a map as [source] encoding = "cp1252" (Western Europe; cp1250 is '
    "Central Europe's, cp1251 Cyrillic)"
)


@dataclass(frozen=True)
class Grid:
    """A table before its map: columns by heading, of text or of their own types."""

    name: str  # what faults call it
    frame: pl.DataFrame
    first_row: int = 1  # the number of the first row, as a spreadsheet or editor shows it
    labels: Sequence[str] | None = None  # of rows that are in no lines
    rule: SourceRule = field(default_factory=SourceRule)  # how it is written, as far as it was found out
    notes: tuple[str, ...] = ()
    bad: tuple[Fault, ...] = ()  # rows that are left out
    folder: Path = Path()  # where its side tables are

    def place(self, row: int) -> str:
        """Where a row stands; `row` counts from 0."""
        return f"row {row + self.first_row}" if self.labels is None else self.labels[row]

    def places(self, rows: Sequence[int]) -> str:
        """Where rows stand, the first of them by number."""
        if len(rows) == 1:
            return self.place(rows[0])
        shown = [self.place(row).removeprefix("row ") for row in rows[:SHOWN_ROWS]]
        more = ", …" if len(rows) > SHOWN_ROWS else ""
        return f"{len(rows):,} rows ({', '.join(shown)}{more})"


def load(source: Source, rule: SourceRule, *, skip_bad: bool = False) -> Grid:
    """Read a table; `skip_bad` leaves out rows of text with too many cells or too few.

    Raises:
        ResultsError: it is not of its format.
    """
    return replace(read(source, rule, skip_bad=skip_bad), folder=Path(source.name).parent)


def read(source: Source, rule: SourceRule, *, skip_bad: bool = False) -> Grid:
    """Read a table, whichever format it has."""
    content = source.content()
    kind = rule.format or kind_of(content, source.name)
    rule = replace(rule, format=kind)
    if kind == "parquet":
        return Grid(source.name, from_parquet(content, source.name), rule=rule)
    if kind in SPREADSHEETS:
        frame, rows, sheet = from_spreadsheet(content, source.name, rule, is_ods=source.name.lower().endswith("ods"))
        notes = (f"sheet {sheet}",) if rule.sheet is None else ()
        labels = [f"row {row}" for row in rows]
        return Grid(source.name, frame, labels=labels, rule=replace(rule, sheet=sheet), notes=notes)
    if kind == "sqlite":
        return Grid(source.name, from_database(content, source.name, rule.table), rule=rule)
    text = decode(content, source.name, rule.encoding, advice=ENCODINGS)
    notes = ("UTF-16",) if content[:2] in UTF16_MARKS else ()
    if kind in ("json", "jsonl"):
        frame, labels = from_json(text, source.name, rule.records, lines=kind == "jsonl")
        return Grid(source.name, frame, labels=labels, rule=rule, notes=notes)
    frame, first, delimiter, faults = from_text(text, source.name, rule, skip_bad=skip_bad)
    gone = {fault.row for fault in faults}
    rows = [row for row in range(first, first + frame.height + len(gone)) if row not in gone] if gone else []
    numbered = [f"row {row}" for row in rows] or None
    grid = Grid(source.name, frame, first, numbered, replace(rule, delimiter=delimiter), notes, tuple(faults))
    return without_empty_rows(grid) if frame.width and frame.to_series(0).null_count() else grid


def without_empty_rows(grid: Grid) -> Grid:
    """The table without rows of empty cells alone; the others keep their numbers."""
    filled = grid.frame.select(pl.any_horizontal((pl.all() != "").fill_null(value=False))).to_series()
    rows = filled.arg_true()
    if rows.len() == grid.frame.height:
        return grid
    return replace(grid, frame=grid.frame[rows], labels=[grid.place(row) for row in rows])


def kind_of(content: bytes, name: str) -> str:
    """The format of a file, by how it begins and by its name."""
    path = PurePath(name.lower())
    suffix = (PurePath(path.stem) if path.suffix in WRAPPERS else path).suffix.removeprefix(".")
    found = next((kind for start, kind in STARTS.items() if content.startswith(start)), None)
    if found is not None:
        return suffix if found == "xlsx" and suffix in SPREADSHEETS else found
    if suffix in ("json", "jsonl"):
        return suffix
    if suffix == "ndjson":
        return "jsonl"
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    return {b"[": "json", b"{": "jsonl"}.get(start, "csv")


def from_parquet(content: bytes, name: str) -> pl.DataFrame:
    """The table of a Parquet file.

    Raises:
        ResultsError: it is none.
    """
    try:
        refuse_wide(pl.read_parquet_schema(io.BytesIO(content)), name)
        return pl.read_parquet(content)
    except pl.exceptions.PolarsError as error:
        reason = (str(error).splitlines() or [""])[0]
        raise ResultsError(name, [Fault(None, None, None, f"is not a Parquet file ({reason})")]) from None
