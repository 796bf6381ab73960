"""Read tables in all their file formats: delimited text, JSON, XML, workbooks, databases and Parquet."""

import csv
import io
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePath

import polars as pl

from podium.errors import Fault, ResultsError
from podium.importers import blocks
from podium.importers.grid import DIGITS, LINES, TITLE, VALUE, Choice, Grid, SourceRule, decide, find_head, question
from podium.importers.sources import UTF16_MARKS, Source, decode, refuse_file, unmarked_codec
from podium.importers.stored import from_database, from_spreadsheet, quoted
from podium.importers.trees import from_tree, text_of_page
from podium.results.headings import HEADS, encoding_of, has_foreign_heading, is_heading
from podium.results.plain_rows import DELIMITERS, LONG_CELL, counted_from, from_csv, malformed_rows, rows_of
from podium.results.reading import parse_parquet

MARKDOWN_LINE = re.compile(r"(?m)^[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?[ \t]*$")  # below a head
MARKDOWN_EDGES = re.compile(r"(?m)^[ \t]*(?:\||#+ )|\|[ \t]*$")
DELIMITER_LINE = re.compile(r"\s*\"?sep=(.)\"?(?=[\r\n])")  # of Excel, at the start of a file
MARKED = re.compile(r"[;\t|]|,.*,")  # text with delimiters between cells
# letters of a different alphabet from their neighbours'
LONELY = re.compile(r"(?<![a-zA-Z])[^\0-\x7f](?![a-zA-Z])|[\x80-\x9f]|[^\0-\xff]")
CHESS_TITLES = HEADS["titles"]
BLANK = "\1"  # precedes the number of a column without a heading
CELL_ENDS = r"[,;\t|\r\n]"
HEAD_BYTES = 1 << 12  # number of bytes that usually contain the header
START_CHARACTERS = 1 << 17  # number of characters that certainly contain the header and one row


def from_text(text: str, name: str, rule: SourceRule, wanted: Collection[str], *, skip_bad: bool = False) -> Grid:
    """Read a table from delimited text. Every cell is text without leading or trailing spaces."""
    if not text.strip('," \r\n'):
        raise ResultsError.whole(name, "is empty. Write a header with event_id and player.")
    # these lines may have different delimiters
    above = rule.header - 1 if isinstance(rule.header, int) and rule.header else 0
    delimiter = rule.delimiter or find_delimiter(text.split("\n", above)[-1].lstrip("\r\n"), name)
    text = with_whole_quotes(text, delimiter)
    starts, ends, rows = first_rows(text, delimiter, above + LINES)
    head = find_head(rows, starts, rule.header, wanted)
    names = [heading or (f"{BLANK}{number}" if number else "") for number, heading in enumerate(head.names)]
    first_row, text = 1, text if head.lines else text.lstrip("\r\n")
    if head.lines:
        first_row, text = starts[head.lines[-1]] + 2, text.split("\n", ends[head.lines[-1]])[-1]
    content, faults = (delimiter.join(map(quoted, names)) + "\n" + text).encode(), list[Fault]()
    try:
        frame = from_csv(content, name, delimiter, first_row - 1)
    except ResultsError as error:
        faults = [*malformed_rows(content, len(names), delimiter)] if skip_bad else []
        bad = {fault.row for fault in faults}
        rows = [row for number, row in enumerate(rows_of(content, delimiter)) if number not in bad]
        whole = rows if bad else with_padded_rows(rows, is_mapped=bool(wanted))
        if whole is None:
            command = f"To leave the row out, type podium import {shlex.quote(PurePath(name).name)} --skip-bad"
            raise ResultsError(
                name, [fault._replace(command=command) if fault.row else fault for fault in error.faults]
            ) from None
        frame = from_csv(written(whole, delimiter), name, delimiter, first_row - 1)
    blanks = [heading for heading in frame.columns if heading.startswith(BLANK)]
    for blank in blanks:
        called = f"column {int(blank.removeprefix(BLANK)) + 1}"
        cells = frame[blank].str.to_lowercase().replace(CHESS_TITLES, "")
        filled = cells.str.contains(r"[^\s:\u2013-]").fill_null(value=False)  # more than punctuation
        numbers = [str(number) for number in range(1, frame.height + 1)]
        is_of_lines = frame[blank].to_list() == numbers and {*numbers} <= {*names}  # like the headings of a crosstable
        if filled.any() and called not in rule.aside and not is_of_lines:
            choice, row = Choice(f"ignore {called}", "source.aside", called), filled.arg_max() or 0
            text = "is in a column without a heading"
            raise decide(name, text, choice, row=first_row + row, cell=frame[blank][row])
    frame = frame.drop(blanks)
    if head.titles:
        frame = frame.with_columns(pl.lit(head.titles).alias(TITLE))
    rule = replace(rule, header=head.header, delimiter=delimiter)
    faults = counted_from(faults, first_row - 1)
    gone = {fault.row for fault in faults}
    kept = (row for row in range(first_row, first_row + frame.height + len(gone)) if row not in gone)
    return Grid(name, frame, first_row, [f"row {row}" for row in kept] if gone else None, rule, bad=tuple(faults))


def plain_lines(text: str) -> str:
    """Return the text with normalized line endings, and without the marks of Markdown tables and titles."""
    text = text if "\n" in text else text.replace("\r", "\n")  # from old Macintosh programs
    return MARKDOWN_EDGES.sub("", MARKDOWN_LINE.sub("", text)) if MARKDOWN_LINE.search(text) else text


def with_whole_quotes(text: str, delimiter: str) -> str:
    """Quote whole cells if quotation marks appear only within cells, such as in 1'23"456."""
    mark = re.escape(delimiter)
    if '"' not in text or re.search(rf'(?m)(?:^|{mark})\s*"', text):
        return text
    return re.sub(rf'[^{mark}\r\n]*"[^{mark}\r\n]*', lambda cell: quoted(cell[0]), text)


def written(rows: Iterable[list[str]], delimiter: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode()


def with_padded_rows(rows: list[list[str]], *, is_mapped: bool) -> list[list[str]] | None:
    """Extend titles, notes and rows that lack their last cells to the width of the head.

    Return None if any row does not fit.
    """
    width = len(rows[0])
    whole = [row for row in rows[1:] if len(row) == width]
    is_trimmed = whole and all(row[-1].strip() for row in rows if row) and not is_mapped
    kinds = [{kind(cell) for cell in cells} for cells in zip(*whole, strict=True)] if whole else [set()] * width
    for row in (cells for cells in rows if cells and len(cells) != width):
        fits = all(not cell or kind(cell) in kind_of for cell, kind_of in zip(row, kinds, strict=False))
        count = len([*filter(None, row)])
        if len(row) > width or not (is_trimmed if fits and count > 1 else count <= (1 if is_mapped else 2)):
            return None
        row.extend([""] * (width - len(row)))
    return rows


def kind(cell: str) -> str:
    """Return the kind of content in a cell: a whole number, another number or a word."""
    return "whole" if cell.strip().isdecimal() else "number" if VALUE.fullmatch(cell) else "word"


def first_rows(text: str, delimiter: str, count: int) -> tuple[list[int], list[int], list[list[str]]]:
    """Return the first rows that are not empty, with the numbers of lines (from 0) before and after each row."""
    starts, ends, rows, line = [], [], [], 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for cells in islice(reader, count):
            if any(cells):
                starts.append(line)
                ends.append(reader.line_num)
                rows.append([cell.strip() for cell in cells])
            line = reader.line_num
    except csv.Error:
        raise ResultsError.whole("the table", LONG_CELL) from None
    return starts, ends, rows


def find_delimiter(text: str, name: str) -> str:
    """Return the delimiter that divides the header and the next row into the same number of cells: at least two.

    If there is no such delimiter, return the one that gives the most rows of equal length.
    """
    counts: dict[str, list[int]] = {}
    start = text[:START_CHARACTERS]
    for mark in DELIMITERS:
        try:
            rows = list(islice(csv.reader(io.StringIO(start, newline=""), delimiter=mark), LINES))
        except csv.Error:
            continue
        counts[mark] = [len(row) for row in rows if row]
    even = [mark for mark, cells in counts.items() if cells[0] > 1 and len(set(cells[:2])) == 1]
    if len(even) > 1:
        words = " or a ".join(DELIMITERS[mark] for mark in even)
        choices = [Choice(DELIMITERS[mark], "source.delimiter", mark) for mark in even]
        raise decide(name, f"cells may be separated by a {words}", *choices)
    if even:
        return even[0]
    common = {mark: Counter(size for size in cells if size > 1).most_common(1) for mark, cells in counts.items()}
    sizes = {mark: (found[0][1], found[0][0]) for mark, found in common.items() if found}
    return max(sizes, key=lambda mark: sizes[mark], default=",")  # uneven rows are reported later


SPREADSHEETS = ("xlsx", "xls", "xlsb", "ods")
WRAPPERS = (".gz", ".zst", ".zip")
STARTS = {b"PAR1": "parquet", b"SQLite format 3\0": "sqlite", b"PK\x03\x04": "xlsx", b"\xd0\xcf\x11\xe0": "xls"}
PICTURES = {
    b"\x89PNG": "a picture (PNG)", b"\xff\xd8\xff": "a picture (JPEG)", b"GIF8": "a picture (GIF)", b"%PDF": "a PDF"
}  # fmt: skip
WEB_PAGE = re.compile(rb"<(?:(?:!doctype )?html|body|div|h[1-4]|p|table)\b", re.IGNORECASE)
CONTROLS = re.compile(rb"[\0-\x08\x0E-\x1F]")  # do not occur in any text
SHOWN_START = 256  # number of bytes that reveal the format of a file
ALPHABETS = {
    "cp1252": "Western Europe", "cp1250": "Central Europe", "cp1251": "Cyrillic", "cp1253": "Greek",
    "cp1254": "Turkish", "cp1256": "Arabic", "gb18030": "Chinese", "big5": "Chinese, traditional",
    "shift_jis": "Japanese", "euc_kr": "Korean",
}  # fmt: skip
ENCODINGS = tuple(Choice(own, "source.encoding", code) for code, own in ALPHABETS.items())


def load(source: Source, rule: SourceRule, wanted: Collection[str] = (), *, skip_bad: bool = False) -> Grid:
    """Read a table that has the `wanted` columns. With `skip_bad`, leave out rows with too many or too few cells."""
    grid = replace(read(source, rule, wanted, skip_bad=skip_bad), folder=Path(source.name).parent)
    frame = grid.frame.drop(rule.aside, strict=False)
    filled: list[pl.Expr | pl.Series] = [
        pl.col(name).replace("", None).forward_fill() for name in rule.fill if name in frame.columns
    ]
    filled += [column.replace("E", "0") for column in frame.select(pl.col(pl.String)) if is_to_par(column)]
    grid = blocks.game_by_game(replace(grid, frame=frame.with_columns(filled)))
    grid = blocks.in_blocks(blocks.below_each_other(grid))
    if TITLE in grid.frame.columns and not grid.rule.pattern:
        grid = replace(grid, frame=grid.frame.with_columns(pl.col(TITLE).str.replace_all("\n", " ")))
    return grid.without_nulls()


def is_to_par(cells: pl.Series) -> bool:
    """Return True if cells are golf scores relative to par, such as -3, E and +2, where E means even."""
    are_signed = cells.str.contains(r"^[+-]\d+$")
    return bool((cells == "E").any() and are_signed.any() and (are_signed | cells.is_in(["E", "0", ""])).all())


def read(source: Source, rule: SourceRule, wanted: Collection[str], *, skip_bad: bool = False) -> Grid:
    content = source.content()
    kind = rule.format or kind_of(content, source.name)
    rule = replace(rule, format=kind)
    if kind == "parquet":
        return Grid(source.name, parse_parquet(content, source.name), rule=rule)
    if kind in SPREADSHEETS:
        is_ods = source.name.lower().endswith("ods")
        return from_spreadsheet(content, source.name, rule, wanted, is_ods=is_ods)
    if kind == "sqlite":
        return Grid(source.name, from_database(content, source.name, rule.table), rule=rule)
    if kind == "csv" and rule.encoding is None:
        rule = replace(rule, encoding=language_encoding(content, is_bare=not wanted))
    unclear = question(PurePath(source.name).name, "Save it as CSV UTF-8, or name its encoding", ENCODINGS)
    encoding = rule.encoding or ("xml" if kind == "xml" else None)
    text = decode(content, source.name, encoding, advice=unclear.remedy, command=unclear.command)
    is_utf16 = content[:2] in UTF16_MARKS or unmarked_codec(content[:SHOWN_START]) != "utf-8"
    notes: tuple[str, ...] = ("UTF-16",) if is_utf16 else ()
    notes += (rule.encoding,) if rule.encoding else ()
    if kind in ("xml", "json", "jsonl"):
        frame, labels = from_tree(text, source.name, kind, rule.records, wanted)
        return Grid(source.name, frame, labels=labels, rule=rule, notes=notes)
    text = text.translate(str.maketrans("".join(DIGITS), "".join(DIGITS.values())))
    if kind in ("csv", "html"):
        marked = DELIMITER_LINE.match(text)
        if marked:
            text, rule = text[marked.end() :], replace(rule, delimiter=rule.delimiter or marked[1])
        text, kind, rule = in_cells(text, source.name, kind, rule, wanted)
    if kind == "lines":
        return replace(blocks.from_lines(text, source.name, rule), rule=rule, notes=notes)
    grid = replace(from_text(text, source.name, rule, wanted, skip_bad=skip_bad), notes=notes)
    return without_empty_rows(grid) if grid.frame.width and grid.frame.to_series(0).null_count() else grid


def in_cells(text: str, name: str, kind: str, rule: SourceRule, wanted: Collection[str]) -> tuple[str, str, SourceRule]:
    """Convert text with tags, spaces or words between cells to delimited text, or find the pattern of the lines."""
    text = plain_lines(text if kind == "csv" else text_of_page(text, name))
    text = blocks.split_lists(blocks.messages(text)) if kind == "csv" and len(text) < START_CHARACTERS else text
    if (
        rule.pattern is None
        and rule.delimiter in (None, "\t")
        and kind == "csv"
        and not MARKED.search(text[:START_CHARACTERS])
    ):
        aligned = blocks.with_tabs(text)
        has_head = any(map(is_heading, next((line for line in aligned.splitlines() if "\t" in line), "").split("\t")))
        pattern = None if has_head or wanted or rule.delimiter or rule.header else blocks.pattern_of(text)
        text, rule = text if pattern else aligned, replace(rule, pattern=pattern)
    return text, "lines" if rule.pattern else "csv", replace(rule, format="csv")


def language_encoding(content: bytes, *, is_bare: bool = False) -> str | None:
    """Return the encoding of text that is not UTF-8 if its headings or letters reveal it, otherwise None."""
    with suppress(UnicodeDecodeError):
        if content.isascii() or content.decode():
            return None
    if b"\0" in content[:SHOWN_START]:
        return None
    western, central = (content[:START_CHARACTERS].decode(codec, "replace") for codec in ("cp1252", "cp1250"))
    is_either = is_bare and western == central and not LONELY.search(western)
    found = encoding_of(re.split(CELL_ENDS, western))
    heads = ((codec, re.split(CELL_ENDS, content[:HEAD_BYTES].decode(codec, "replace"))) for codec in ALPHABETS)
    found = found or next((codec for codec, head in heads if has_foreign_heading(head)), None)
    return found or ("cp1252" if is_either else None)


def without_empty_rows(grid: Grid) -> Grid:
    """Remove rows in which all cells are empty. The other rows keep their numbers."""
    filled = grid.frame.select(pl.any_horizontal((pl.col(grid.headings) != "").fill_null(value=False))).to_series()
    return grid.only(filled.arg_true())


def kind_of(content: bytes, name: str) -> str:
    """Return the format of a file, based on its first bytes and its name."""
    path = PurePath(name.lower())
    suffix = (PurePath(path.stem) if path.suffix in WRAPPERS else path).suffix.removeprefix(".")
    found = next((kind for start, kind in (STARTS | PICTURES).items() if content.startswith(start)), None)
    if found in PICTURES.values():
        refuse_file(name, f"is {found}, not a table. Export its results as CSV or a workbook.")
    if found is not None:
        return suffix if found == "xlsx" and suffix in SPREADSHEETS else found
    start = content[:SHOWN_START].lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0").replace(b"\0", b"")
    if WEB_PAGE.match(start):
        return "html"
    if suffix in SPREADSHEETS and CONTROLS.search(start) and content[:2] not in UTF16_MARKS:
        refuse_file(name, "is not a workbook, although its name says so. It may be damaged; save it again.")
    named = {"json": "json", "jsonl": "jsonl", "ndjson": "jsonl"}.get(suffix)
    if re.match(rb"\[\d+[./-]\d+[./-]\d", start):  # a message in a chat
        return "csv"
    if named or start.startswith((b"//", b"/*")):
        return named or "json"
    if start.startswith((b"012 ", b"001 ")) and re.search(rb"(?:^|[\r\n])001 ", content):
        return "lines"
    of_braces = "json" if start[:1] == b"{" and start.splitlines()[0].strip() == b"{" else "jsonl"
    return {b"[": "json", b"{": of_braces, b"<": "xml"}.get(start[:1], "csv")
