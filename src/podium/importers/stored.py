"""Read tables in spreadsheets and databases. Every cell becomes text, with dates and times in ISO 8601."""

import io
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import polars as pl

from podium.importers.grid import DIGITS, EVERY, LINES, SHEET, TITLE, Choice, Grid, SourceRule, decide, find_head
from podium.importers.sources import MAX_EXPANSION, is_database, refuse_file
from podium.results.columns import FREE_CELLS, MAX_BOX, refuse_repeated, refuse_wide
from podium.results.headings import is_heading, is_total, known_column

# formats of durations that calamine leaves out
LONG_TIME = re.compile(rb'office:time-value="-?PT(?:2[4-9]|[3-9][0-9]|[0-9]{3,})H')
ROW_OR_CELL = re.compile(rb"<(?:\w+:)?(row|c)(?=[\s/>])([^>]*)")  # part of a sheet in an .xlsx file
PLACE = re.compile(rb"""\br=["']([A-Z]{0,3})([0-9]{1,7})["']""")
MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
WRITTEN_CELL = re.compile(rb'<(?:\w+:)?c\s[^>]*?\br="([A-Z]{1,3})\d+"[^>]*(?<!/)>')
BEYOND_ALL_CELLS = 10**8
SHEET_FILE = re.compile(r"xl/worksheets/[^/]+\.xml")
# a time without a date, which Excel stores as one of its first days
OLD_DATE = r"^(1899-12-3[01]|1900-0[12]-\d\d)[ T]"
BUSY_S = 5
SUM, COUNT = "\0sum", "\0count"  # suffixes to the name of a column
ARCHIVE = b"PK\x03\x04"


Merged = dict[str, tuple[list["Box"], int]]
SheetTable = tuple[pl.DataFrame, list[int], Any]  # rows, their numbers, and the lines of the head
Box = tuple[int, int, int, int]  # merged cells: the first row and column, and the row and column after the last, from 0


def from_spreadsheet(content: bytes, name: str, rule: SourceRule, wanted: Collection[str], *, is_ods: bool) -> Grid:
    """Read a workbook's sheets that contain results, leaving out empty rows."""
    import fastexcel  # noqa: PLC0415  (needed only for workbooks)

    boxes = check_archive(content, name, is_ods=is_ods)
    try:
        book = fastexcel.read_excel(content)
        if rule.sheet not in (None, EVERY, *book.sheet_names):
            refuse_file(name, f"has no sheet {rule.sheet!r} ({', '.join(book.sheet_names)})")
        names = book.sheet_names if rule.sheet in (None, EVERY) else [rule.sheet]
        texts = {tab: sheet_texts(book, tab) for tab in names}
    except fastexcel.FastExcelError as error:
        refuse_file(name, f"is not a readable workbook ({str(error).splitlines()[0]})")
    filled = {tab: frame for tab, frame in texts.items() if any(column.count() for column in frame)}
    if not filled:
        what = f"sheet {names[0]} is empty. Write a header with event_id and player." if names else "has no sheet"
        refuse_file(name, what)
    tables = {tab: sheet_table(frame, boxes.get(tab, ([], 0)), rule, name, wanted) for tab, frame in filled.items()}
    if len(tables) > 1:
        tables = alike(tables, name)
    sheet = next(iter(tables)) if len(tables) == 1 else EVERY
    before = "{}, row {}" if sheet == EVERY else "row {1}"
    labels = [before.format(tab, row) for tab, (_, rows, _) in tables.items() for row in rows]
    frames = [frame.with_columns(pl.lit(tab).alias(SHEET)) for tab, (frame, _, _) in tables.items()]
    headers = {table[2] for table in tables.values()}
    header = headers.pop() if len(headers) == 1 else rule.header
    notes = () if rule.sheet else (f"sheet{'s' * (len(tables) > 1)} {', '.join(tables)}",)
    whole = pl.concat(frames, how="diagonal")
    return Grid(name, whole, labels=labels, rule=replace(rule, sheet=sheet, header=header), notes=notes)


def sheet_texts(book: Any, sheet: str) -> pl.DataFrame:
    texts, times = (
        book.load_sheet(sheet, header_row=None, skip_rows=0, dtypes=kind).to_polars() for kind in ("string", "duration")
    )
    cells = (with_times(texts[column], times[column]).str.strip_chars() for column in texts.columns)
    return texts.with_columns(column.str.replace_many(DIGITS) for column in cells)  # type: ignore[no-any-return]


def alike(tables: dict[str, SheetTable], name: str) -> dict[str, SheetTable]:
    """Return the sheets that form one table: all of them, or all except totals of the others."""
    parts = {sheet: table for sheet, table in tables.items() if is_results(table[0]) and not is_total(sheet)}
    if len({tuple(table[0].columns) for table in parts.values()}) == 1:
        for whole in (next(reversed(parts)), next(iter(parts))):
            others = {sheet: table for sheet, table in parts.items() if sheet != whole}
            if sums_up(parts[whole][0], [sheet for sheet, _, _ in others.values()]):
                return others
        return parts
    choices = [Choice(f"sheet {sheet}", "source.sheet", sheet) for sheet in tables]
    raise decide(name, f"has {len(tables)} sheets with different headings. Which one has the results?", *choices)


def sums_up(table: pl.DataFrame, others: list[pl.DataFrame]) -> bool:
    """Return True if a column contains each player's sum over the other sheets, and most sums have several terms."""
    name = next((heading for heading in table.columns if known_column(heading) in ("player", "team")), None)
    if name is None or len(others) <= 1 or table.height == 1:
        return False
    numbers = pl.all().exclude(name, TITLE).cast(pl.Float64, strict=False)
    own = table.select(name, numbers)
    sums, counts = pl.all().sum().round(6), (pl.all() != 0).sum().name.suffix(COUNT)
    parts = pl.concat(others).select(name, numbers).group_by(name).agg(sums, counts)
    both = own.join(parts, on=name, how="left", suffix=SUM)
    whole = [column for column in own.columns if column != name and own[column].null_count() == 0]
    is_sum = (both[column].round(6).eq_missing(both[column + SUM]).all() for column in whole)
    return any(all_are and both[column + COUNT].median() > 1 for column, all_are in zip(whole, is_sum, strict=True))  # type: ignore[operator]


def is_results(table: pl.DataFrame) -> bool:
    """Return True if a sheet may contain results, because it has known headings and at least two columns."""
    names = [heading for heading in table.columns if heading != TITLE]
    return any(map(is_heading, names)) and len(names) > 1 and table.height > 0


def sheet_table(
    texts: pl.DataFrame, merged: tuple[list[Box], int], rule: SourceRule, name: str, wanted: Collection[str]
) -> SheetTable:
    """Return the rows below a sheet's head, their numbers, and the lines of the head if it is not at the top."""
    texts = with_merged(texts, *merged)
    is_filled = texts.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
    rows: list[int] = is_filled.arg_true().to_list()
    count = LINES + rule.header if isinstance(rule.header, int) else LINES
    first = [[cell or "" for cell in texts.row(row)] for row in rows[:count]]
    head = find_head(first, rows[:count], rule.header, wanted)
    names, header = head.names, rows[head.lines[-1]] if head.lines else -1
    if head.lines:
        has_first = texts.to_series()[header + 1 :].count()  # as in a crosstable, whose first column has no heading
        kept = [place for place, cell in enumerate(head.names) if cell or (place == 0 and has_first)]
        texts, names = texts[:, kept], [head.names[place] for place in kept]
    refuse_wide(names, name)
    refuse_repeated(names, name)
    numbers = [row for row in rows if row > header]
    texts = texts[numbers]
    texts.columns = names
    texts = texts.with_columns(pl.lit(head.titles or None, pl.String).alias(TITLE))
    return texts, [row + 1 for row in numbers], head.header


def with_merged(texts: pl.DataFrame, boxes: list[Box], offset: int) -> pl.DataFrame:
    """Return the cells of a sheet, with the value of each merged cell repeated in all the cells that it spans."""
    columns: dict[int, list[str | None]] = {}
    for top, left, bottom, right in boxes:
        first = left - offset
        if top < texts.height and 0 <= first < texts.width:
            value = texts[top, first]
            for column in range(first, min(right - offset, texts.width)):
                cells = columns.setdefault(column, texts.to_series(column).to_list())
                cells[top:bottom] = [value] * len(cells[top:bottom])
    changed = (pl.Series(texts.columns[column], cells, pl.String) for column, cells in columns.items())
    return texts.with_columns(changed)


class Extent(NamedTuple):
    name: str
    spanned: int  # number of cells, including repeated ones
    filled: int
    merged: list[Box]
    first: int  # first column with a value


def check_archive(content: bytes, name: str, *, is_ods: bool) -> Merged:
    """Reject a workbook that would become too large, or silently lose data. Return the merged cells of each sheet."""
    if not content.startswith(ARCHIVE):
        return {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            is_large = sum(info.file_size for info in archive.infolist()) > MAX_EXPANSION * len(content)
            document = archive.read("content.xml") if is_ods and not is_large else b""
            sheets = [] if is_large else list(ods_sheets(document) if is_ods else xlsx_sheets(archive))
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, ValueError, RuntimeError, ET.ParseError) as error:
        refuse_file(name, f"is not a readable workbook ({error})")
    if is_large:
        refuse_file(name, f"expands to more than {MAX_EXPANSION} times its size. Save it as CSV.")
    for sheet in sheets:
        if sheet.spanned > max(FREE_CELLS, MAX_BOX * sheet.filled):
            shown = f"spans {sheet.spanned:,} cells but fills only {sheet.filled:,}"
            refuse_file(name, f"has a sheet that {shown}. Save it as CSV.")
    if LONG_TIME.search(document):
        refuse_file(name, "has times of 24 hours or more, which cannot be read from .ods. Save it as .xlsx or CSV.")
    return {sheet.name: (sheet.merged, sheet.first) for sheet in sheets}


def with_times(texts: pl.Series, times: pl.Series) -> pl.Series:
    """Convert times of day and durations in a column of strings to the form H:MM:SS.f."""
    alone = times.is_not_null() & (texts.is_null() | texts.str.contains(OLD_DATE))
    if not alone.any():
        return texts
    millis = times.dt.total_milliseconds()
    hours, rest = millis // 3_600_000, millis.cast(pl.Datetime("ms")).dt.to_string(":%M:%S%.3f")
    return (hours.cast(pl.String) + rest).zip_with(alone, texts).alias(texts.name)


def xlsx_sheets(archive: zipfile.ZipFile) -> Iterator[Extent]:
    """Yield the size of each sheet in an .xlsx file.

    A sheet without a name in the workbook gets the name of its file.
    """
    names = archive.namelist()
    called = {}
    if "xl/workbook.xml" in names:
        links = ET.fromstring(archive.read("xl/_rels/workbook.xml.rels"))  # noqa: S314  (expat limits entities)
        targets = {link.get("Id"): f"xl/{link.get('Target', '')}".replace("xl//xl/", "xl/") for link in links}
        for sheet in ET.fromstring(archive.read("xl/workbook.xml")).iter():  # noqa: S314
            link = next((value for key, value in sheet.items() if key.endswith("}id")), None)
            if sheet.tag.endswith("}sheet"):
                called[targets.get(link)] = sheet.get("name", "")
    for name in names:
        if name in called or SHEET_FILE.fullmatch(name):
            document = archive.read(name)
            yield Extent(called.get(name, name), *xlsx_box(document), *xlsx_merged(document))


def xlsx_merged(document: bytes) -> tuple[list[Box], int]:
    places = MERGED.findall(document)
    boxes = [(int(top) - 1, column_number(one) - 1, int(end), column_number(other)) for one, top, other, end in places]
    if not boxes:
        return [], 0
    return boxes, min((column_number(letters) - 1 for letters in WRITTEN_CELL.findall(document)), default=0)


def xlsx_box(document: bytes) -> tuple[int, int]:
    """Return the number of cells that a sheet spans, and the number of filled ones."""
    filled = row = column = 0
    first_row, last_row, first_column, last_column = BEYOND_ALL_CELLS, 0, BEYOND_ALL_CELLS, 0
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
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number


def ods_sheets(document: bytes) -> Iterator[Extent]:
    """Yield the size of each sheet in an .ods file, including repetitions."""
    nothing = 0, 0, 0, 0, BEYOND_ALL_CELLS
    boxes, (height, width, filled, row, first) = list[Box](), nothing
    for _, element in ET.iterparse(io.BytesIO(document)):  # noqa: S314  (expat limits entities)
        tag = element.tag.rpartition("}")[2]
        if tag == "table-row":
            column, repeated = 0, repetitions(element, "rows")
            for cell in element:
                down, right = (repetitions(cell, what, "spanned") for what in ("rows", "columns"))
                boxes += [(row, column, row + down, column + right)] if max(down, right) > 1 else []
                before, column = column, column + repetitions(cell, "columns")
                if len(cell) or any(key.endswith("value-type") for key in cell.attrib):
                    filled, height, width, first = filled + 1, row + repeated, max(width, column), min(first, before)
            row += repeated
            element.clear()
        elif tag == "table":
            name = next((value for key, value in element.items() if key.endswith("}name")), "")
            yield Extent(name, height * width, filled, boxes, first)
            boxes, (height, width, filled, row, first) = [], nothing


def repetitions(element: ET.Element, what: str, how: str = "repeated") -> int:
    """Return how often a row or cell of an .ods file is repeated, or how many rows or columns it spans."""
    return next((int(value) for key, value in element.items() if key.endswith(f"number-{what}-{how}")), 1)


def from_database(content: bytes, name: str, table: str | None) -> pl.DataFrame:
    """Return the rows of all tables in an SQLite database whose names match a pattern."""
    try:
        with connect(content, name) as connection:
            select = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE ? AND name NOT LIKE 'sqlite_%'"
            tables = [found for (found,) in connection.execute(f"{select} ORDER BY name", [table or "%"])]
            if not tables:
                refuse_file(name, f"has no table {table or 'at all'}")
            if table is None and len(tables) > 1:
                refuse_file(
                    name, f"has {len(tables)} tables ({', '.join(tables)}); name one in a map: [source] table = …"
                )
            return pl.concat([rows_of(connection, found) for found in tables], how="diagonal")
    except sqlite3.Error as error:
        refuse_file(name, f"cannot be read as an SQLite database ({error})")


@contextmanager
def connect(content: bytes, name: str) -> Iterator[sqlite3.Connection]:
    """Open a database for reading.

    If possible, use the file itself, to see the latest data of a server, or else its bytes.
    """
    path = Path(name)
    is_file = is_database(path)
    address = f"{path.resolve().as_uri()}?mode=ro" if is_file else ":memory:"
    with closing(sqlite3.connect(address, uri=True, timeout=BUSY_S)) as connection:
        if not is_file and content:
            connection.deserialize(content)
        yield connection


def quoted(name: str) -> str:
    """Quote a name for use in SQL, or a cell for use in CSV."""
    return '"' + name.replace('"', '""') + '"'


def rows_of(connection: sqlite3.Connection, table: str) -> pl.DataFrame:
    select = f"SELECT * FROM {quoted(table)}"  # noqa: S608  (a name from the database)
    try:
        cursor = connection.execute(f"{select} ORDER BY rowid")
    except sqlite3.OperationalError:  # the table has no rowid
        cursor = connection.execute(select)
    names = [column[0] for column in cursor.description]
    rows = [[None if cell is None else str(cell) for cell in row] for row in cursor]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
