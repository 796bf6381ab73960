"""Tables as they are written: delimited text, JSON, workbooks, databases and Parquet."""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

import polars as pl

from podium.errors import Fault, FormatError, ResultsError
from podium.importers.sources import UTF16_MARKS, Source, decode, refuse_file, strict_json
from podium.importers.tables.model import SourceRule
from podium.importers.tables.stored import from_database, from_spreadsheet
from podium.results.columns import refuse_wide
from podium.results.plain_rows import DELIMITERS, counted_from, from_csv, malformed_rows, rows_of

TWO_ROWS = 1 << 17  # characters that surely have the header and a row


def from_text(
    text: str, name: str, rule: SourceRule, *, skip_bad: bool = False
) -> tuple[pl.DataFrame, int, str, list[Fault]]:
    """A table of delimited text, every cell as text without spaces around it."""
    skipped = max((rule.header or 1) - 1, 0)
    for _ in range(skipped):
        text = text.partition("\n")[2]
    blank = len(text) - len(text.lstrip("\r\n"))
    skipped += text.count("\n", 0, blank)
    text = text[blank:]
    if not text.strip():
        raise ResultsError(name, [Fault(None, None, None, "is empty; it needs a header with event_id and player")])
    delimiter = rule.delimiter or find_delimiter(text, name)
    first_row = skipped + 2
    if rule.header == 0:
        width = len(next(csv.reader(io.StringIO(text[:TWO_ROWS], newline=""), delimiter=delimiter)))
        text, first_row = delimiter.join(f"c{number}" for number in range(1, width + 1)) + "\n" + text, 1
    content, faults = text.encode(), list[Fault]()
    if skip_bad:
        width = len(next(csv.reader(io.StringIO(text[:TWO_ROWS], newline=""), delimiter=delimiter)))
        faults = list(malformed_rows(content, width, delimiter))
        bad = {fault.row for fault in faults}
        if faults:
            rows = [row for number, row in enumerate(rows_of(content, delimiter)) if number not in bad]
            kept = io.StringIO()
            csv.writer(kept, delimiter=delimiter).writerows(rows)
            content = kept.getvalue().encode()
    return from_csv(content, name, delimiter, first_row - 1), first_row, delimiter, counted_from(faults, first_row - 1)


def find_delimiter(text: str, name: str) -> str:
    """The mark that parts the header and the next row into as many cells, and more than one."""
    counts = {}
    start = text[:TWO_ROWS]
    for mark in DELIMITERS:
        try:
            rows = list(islice(csv.reader(io.StringIO(start, newline=""), delimiter=mark), 2))
        except csv.Error:
            continue
        counts[mark] = [len(row) for row in rows]
    even = [mark for mark, cells in counts.items() if cells[0] > 1 and len(set(cells)) == 1]
    if len(even) > 1:
        words = " or a ".join(DELIMITERS[mark] for mark in even)
        remedy = f'a {words} may part its cells: say which in a map, as [source] delimiter = "{even[0]}"'
        raise ResultsError(name, [Fault(None, None, None, remedy)])
    if even:
        return even[0]
    return max(counts, key=lambda mark: counts[mark][0], default=",")  # the rows are uneven, and will be named


STEP = re.compile(r"([^.\[\]]*)((?:\[\])?)")
Chain = tuple[dict[str, Any], ...]  # the object, then what it stands in, the nearest first


def from_json(text: str, name: str, records: str | None, *, lines: bool) -> tuple[pl.DataFrame, list[str]]:
    """The rows of JSON, every value as the text that it is written as."""
    documents: Iterator[tuple[str, Any]]
    if lines:
        parts = enumerate(text.split("\n"), start=1)
        documents = ((f"line {number}", read_line(part, name, number)) for number, part in parts if part.strip())
        steps = records or ""
    else:
        whole = strict_json(text, name, literal_numbers=True)
        documents = iter([("", whole)])
        steps = records if records is not None else "[]" if isinstance(whole, list) else ""
    rows: list[dict[str, str | None]] = []
    labels: list[str] = []
    for label, document in documents:
        for place, chain in walk(document, parse_path(steps, name), (), ""):
            where = " ".join(part for part in (label, place.removeprefix(".")) if part) or "the document"
            if not chain or not isinstance(chain[0], dict):
                raise FormatError(name, [Fault(None, None, None, "is no object with the columns as names", where)])
            rows.append(fields_of(chain))
            labels.append(where)
    names = dict.fromkeys(key for row in rows for key in row)
    refuse_wide(names, name)
    if not rows and records is not None:
        refuse_file(name, f"has no rows at {records}")
    return pl.DataFrame({key: [row.get(key) for row in rows] for key in names}, dict.fromkeys(names, pl.String)), labels


def read_line(text: str, name: str, number: int) -> Any:
    try:
        return strict_json(text, name, literal_numbers=True)
    except FormatError as error:
        raise FormatError(name, [fault._replace(place=f"line {number}") for fault in error.faults]) from None


def parse_path(path: str, name: str) -> list[str]:
    """The steps of a path: keys, and [] for each item of an array."""
    steps: list[str] = []
    for piece in path.split(".") if path else []:
        match = STEP.fullmatch(piece)
        if match is None or not piece:
            refuse_file(name, f"{path!r} is no path to records; write it as races[].results[]")
        steps += [part for part in match.groups() if part]
    return steps


def walk(value: Any, steps: list[str], above: Chain, place: str) -> Iterator[tuple[str, Chain]]:
    """The values at the end of a path, each with the objects around it."""
    if not steps:
        yield place, (value, *above)
    elif steps[0] == "[]":
        for number, each in enumerate(value if isinstance(value, list) else []):
            yield from walk(each, steps[1:], above, f"{place}[{number}]")
    elif isinstance(value, dict) and steps[0] in value:
        yield from walk(value[steps[0]], steps[1:], (value, *above), f"{place}.{steps[0]}")


def fields_of(chain: Chain) -> dict[str, str | None]:
    """The fields of a row and of what it stands in, by name; those within objects as `goal.name`."""
    fields: dict[str, str | None] = {}
    for level, each in enumerate(chain):
        for key, value in leaves(each, with_lists=level == 0):
            fields["^" * level + key] = value
    return fields


def leaves(value: dict[str, Any], *, with_lists: bool) -> Iterator[tuple[str, str | None]]:
    """The values within an object that are none themselves, each under its path; lists as they are written."""
    for key, each in value.items():
        if isinstance(each, dict):
            for below, leaf in leaves(each, with_lists=with_lists):
                yield f"{key}.{below}", leaf
        elif isinstance(each, list):
            if with_lists:
                yield key, json.dumps(each, ensure_ascii=False)
        else:
            yield key, None if each is None else str(each).lower() if isinstance(each, bool) else str(each)


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
    """Read a table; `skip_bad` leaves out rows of text with too many cells or too few."""
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
    """The table of a Parquet file."""
    try:
        refuse_wide(pl.read_parquet_schema(io.BytesIO(content)), name)
        return pl.read_parquet(content)
    except pl.exceptions.PolarsError as error:
        reason = (str(error).splitlines() or [""])[0]
        raise ResultsError(name, [Fault(None, None, None, f"is not a Parquet file ({reason})")]) from None
