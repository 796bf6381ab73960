"""Tables of spreadsheets and databases, every cell as text; dates and times in the forms of ISO 8601."""

import io
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl

from podium.importers.sources import MAX_EXPANSION, is_database, refuse_file
from podium.importers.tables.model import SourceRule
from podium.results.columns import FREE_CELLS, MAX_BOX, refuse_repeated, refuse_wide

LONG_TIME = re.compile(rb'office:time-value="-?PT(?:2[4-9]|[3-9][0-9]|[0-9]{3,})H')  # what calamine leaves out
ROW_OR_CELL = re.compile(rb"<(?:\w+:)?(row|c)(?=[\s/>])([^>]*)")  # of a sheet of .xlsx
PLACE = re.compile(rb"""\br=["']([A-Z]{0,3})([0-9]{1,7})["']""")
FAR_AWAY = 10**8
SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
OLD_DATE = r"^(1899-12-3[01]|1900-0[12]-\d\d)[ T]"  # a time alone, as a date of Excel's first days
BUSY_S = 5
ARCHIVE = b"PK\x03\x04"


def from_spreadsheet(
    content: bytes, name: str, rule: SourceRule, *, is_ods: bool
) -> tuple[pl.DataFrame, list[int], str]:
    """A sheet of a workbook, without its empty rows."""
    import fastexcel  # noqa: PLC0415  (only where a workbook comes)

    check_archive(content, name, is_ods=is_ods)
    try:
        book = fastexcel.read_excel(content)
        sheet = choose_sheet(book, name, rule.sheet)
        texts, times = (
            book.load_sheet(sheet, header_row=None, skip_rows=0, dtypes=kind).to_polars()
            for kind in ("string", "duration")
        )
    except fastexcel.FastExcelError as error:
        refuse_file(name, f"is not a workbook that can be read ({str(error).splitlines()[0]})")
    texts = texts.with_columns(with_times(texts[each], times[each]) for each in texts.columns)
    filled = texts.select(pl.any_horizontal(pl.all().is_not_null())).to_series() if texts.width else pl.Series([])
    rows: list[int] = filled.arg_true().to_list()
    if not rows:
        refuse_file(name, f"sheet {sheet} is empty; it needs a header with event_id and player")
    header = rows[0] if rule.header is None else rule.header - 1
    names = [f"c{number}" for number in range(1, texts.width + 1)]
    if header >= 0:
        cells = texts.row(header) if header < texts.height else ()
        named = [(column, (cell or "").strip()) for column, cell in zip(texts.columns, cells, strict=False)]
        texts = texts.select(column for column, cell in named if cell)
        names = [cell for _, cell in named if cell]
    refuse_wide(names, name)
    refuse_repeated(names, name)
    numbers = [row for row in rows if row > header]
    texts = texts[numbers]
    texts.columns = names
    return texts.with_columns(pl.all().str.strip_chars()), [row + 1 for row in numbers], sheet


def choose_sheet(book: Any, name: str, sheet: str | None) -> str:
    """The sheet of that name, or the only one with cells."""
    names: list[str] = book.sheet_names
    if sheet is not None:
        if sheet not in names:
            refuse_file(name, f"has no sheet {sheet!r} ({', '.join(names)})")
        return sheet
    filled = [each for each in names if book.load_sheet(each, header_row=None, skip_rows=0, dtypes="string").height]
    if len(filled) > 1:
        refuse_file(name, f"has {len(filled)} sheets ({', '.join(filled)}); name one: in a map as [source] sheet = …")
    if not names:
        refuse_file(name, "has no sheet")
    return (filled or names)[0]


def check_archive(content: bytes, name: str, *, is_ods: bool) -> None:
    """Refuse a workbook that would become too large, or lose something without a word."""
    if not content.startswith(ARCHIVE):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(info.file_size for info in archive.infolist())
            document = archive.read("content.xml") if is_ods and size <= MAX_EXPANSION * len(content) else b""
            boxes = sheet_boxes(archive, is_ods=is_ods) if size <= MAX_EXPANSION * len(content) else []
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        EOFError,
        ValueError,
        RuntimeError,
        ET.ParseError,
    ) as error:
        refuse_file(name, f"is not a workbook that can be read ({error})")
    if size > MAX_EXPANSION * len(content):
        refuse_file(name, f"expands to more than {MAX_EXPANSION} times its size; save it as CSV")
    for spanned, filled in boxes:
        if spanned > max(FREE_CELLS, MAX_BOX * filled):
            refuse_file(name, f"has a sheet that spans {spanned:,} cells and fills {filled:,}; save it as CSV")
    if LONG_TIME.search(document):
        refuse_file(name, "has times of 24 hours and more, which cannot be read from .ods; save it as .xlsx or CSV")


def with_times(texts: pl.Series, times: pl.Series) -> pl.Series:
    """A column of texts with its times of day and durations as H:MM:SS.f."""
    alone = times.is_not_null() & (texts.is_null() | texts.str.contains(OLD_DATE))
    if not alone.any():
        return texts
    millis = times.dt.total_milliseconds()
    hours, minutes, seconds = millis // 3_600_000, millis // 60_000 % 60, millis % 60_000
    clock = pl.DataFrame(
        {"text": texts, "alone": alone, "h": hours, "m": minutes, "s": seconds // 1000, "f": seconds % 1000}
    )
    written = pl.concat_str(
        pl.col("h").cast(pl.String), pl.lit(":"), pl.col("m").cast(pl.String).str.zfill(2), pl.lit(":"),
        pl.col("s").cast(pl.String).str.zfill(2), pl.lit("."), pl.col("f").cast(pl.String).str.zfill(3),
    )  # fmt: skip
    return clock.select(pl.when("alone").then(written).otherwise("text").alias(texts.name)).to_series()


def sheet_boxes(archive: zipfile.ZipFile, *, is_ods: bool) -> list[tuple[int, int]]:
    """Of each sheet, how many cells it spans, all of which would be laid out, and how many it fills."""
    if is_ods:
        return list(ods_boxes(archive.read("content.xml")))
    return [xlsx_box(archive.read(info)) for info in archive.infolist() if SHEET.fullmatch(info.filename)]


def xlsx_box(document: bytes) -> tuple[int, int]:
    """How many cells a sheet spans, and how many it fills."""
    filled = row = column = 0
    first_row, last_row, first_column, last_column = FAR_AWAY, 0, FAR_AWAY, 0
    for tag, attributes in ROW_OR_CELL.findall(document):
        place = PLACE.search(attributes)
        if tag == b"row":
            row, column = int(place[2]) if place else row + 1, 0
            continue
        column = column_number(place[1]) if place and place[1] else column + 1
        row = int(place[2]) if place else row
        filled += 1
        first_row, last_row = min(first_row, row), max(last_row, row)
        first_column, last_column = min(first_column, column), max(last_column, column)
    return (1 + last_row - first_row) * (1 + last_column - first_column) if filled else 0, filled


def column_number(letters: bytes) -> int:
    """The number of a column, A being 1."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def ods_boxes(document: bytes) -> Iterator[tuple[int, int]]:
    """Of each sheet, how many cells it spans with its repetitions written out, and how many are written."""
    height = width = filled = row = column = repeated = 0
    for event, element in ET.iterparse(io.BytesIO(document), ("start", "end")):  # noqa: S314  (expat limits entities)
        tag = element.tag.rpartition("}")[2]
        if event == "start" and tag == "table":
            height = width = filled = row = 0
        elif event == "start" and tag == "table-row":
            row, column, repeated = row + 1, 0, repetitions(element, "rows")
        elif event == "end" and tag == "table-cell":
            column += repetitions(element, "columns")
            if len(element) or any(key.endswith("value-type") for key in element.attrib):
                filled, height, width = filled + 1, row + repeated - 1, max(width, column)
        elif event == "end" and tag == "table-row":
            row += repeated - 1
            element.clear()
        elif event == "end" and tag == "table":
            yield height * width, filled


def repetitions(element: ET.Element, what: str) -> int:
    """How often a row or a cell of .ods stands there."""
    return next((int(value) for key, value in element.items() if key.endswith(f"number-{what}-repeated")), 1)


def from_database(content: bytes, name: str, table: str | None) -> pl.DataFrame:
    """The rows of the tables of an SQLite database whose names fit a pattern, table by table."""
    try:
        with connect(content, name) as connection:
            select = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ? AND name NOT LIKE 'sqlite_%'"
            tables = [each for (each,) in connection.execute(f"{select} ORDER BY name", [table or "%"])]
            if not tables:
                refuse_file(name, f"has no table {table or 'at all'}")
            if table is None and len(tables) > 1:
                refuse_file(name, f"has {len(tables)} tables ({', '.join(tables)}); name one: [source] table = …")
            return pl.concat([rows_of(connection, each) for each in tables], how="diagonal")
    except sqlite3.Error as error:
        refuse_file(name, f"cannot be read as an SQLite database ({error})")


@contextmanager
def connect(content: bytes, name: str) -> Iterator[sqlite3.Connection]:
    """The database, for reading alone: the file itself, so that what a server has just written counts, or its bytes."""
    path = Path(name)
    is_file = is_database(path)
    address = f"{path.resolve().as_uri()}?mode=ro" if is_file else ":memory:"
    with closing(sqlite3.connect(address, uri=True, timeout=BUSY_S)) as connection:
        if not is_file:
            connection.deserialize(content)
        yield connection


def rows_of(connection: sqlite3.Connection, table: str) -> pl.DataFrame:
    """The rows of a table as they were written, as text."""
    quoted = '"' + table.replace('"', '""') + '"'
    try:
        cursor = connection.execute(f"SELECT * FROM {quoted} ORDER BY rowid")  # noqa: S608  (a name that is in the database)
    except sqlite3.OperationalError:  # a table without row ids
        cursor = connection.execute(f"SELECT * FROM {quoted}")  # noqa: S608
    names = [each[0] for each in cursor.description]
    rows = [[None if each is None else str(each) for each in row] for row in cursor]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
