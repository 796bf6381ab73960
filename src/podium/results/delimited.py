"""CSV: read by Polars, and where it is not well formed, the row that is to be mended."""

import csv
import io
from collections.abc import Iterator

import numpy as np
import polars as pl

from podium.errors import Fault, ResultsError
from podium.results.bounds import refuse_repeated, refuse_wide

QUOTE = ord('"')
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def from_csv(content: bytes, table_name: str, delimiter: str = ",", header_row: int = 0) -> pl.DataFrame:
    """A table of CSV in UTF-8, every column as text, without spaces around.

    Args:
        delimiter: what parts its cells, one character of ASCII.
        header_row: the number of the header's row, where faults count rows from there.

    Raises:
        ResultsError: it is not well formed; the rows are named.
    """
    columns = header(content, table_name, delimiter)
    try:
        frame = pl.read_csv(io.BytesIO(content), infer_schema=False, separator=delimiter)
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        fallback = Fault(None, None, None, f"is not well-formed CSV ({reason})")
        faults = [*malformed_rows(content, len(columns), delimiter)] or [*stray_quotes(content)] or [fallback]
        raise ResultsError(table_name, counted_from(faults, header_row)) from None
    if frame.width > 1 and frame.to_series(frame.width - 1).null_count() and not even(content, frame, delimiter):
        faults = list(malformed_rows(content, len(columns), delimiter))
        if faults:
            raise ResultsError(table_name, counted_from(faults, header_row))
    if frame.width != len(columns):
        remedy = "has a header whose cells are not clear: is there a quotation mark or a line's end within one?"
        raise ResultsError(table_name, [Fault(None, None, None, remedy)])
    frame.columns = columns
    return frame.with_columns(pl.all().str.strip_chars())


def counted_from(faults: list[Fault], header_row: int) -> list[Fault]:
    """The faults with their rows counted from the header's."""
    return [fault if fault.row is None else fault._replace(row=fault.row + header_row) for fault in faults]


def rows_of(content: bytes, delimiter: str, *, strict: bool = False) -> Iterator[list[str]]:
    """The rows as Python reads them, the header first; decoded as they are read."""
    text = io.TextIOWrapper(io.BytesIO(content.lstrip(b"\n\r")), "utf-8", newline="")
    return csv.reader(text, delimiter=delimiter, strict=strict)


def header(content: bytes, table_name: str, delimiter: str) -> list[str]:
    """The names of the columns, without spaces around.

    Raises:
        ResultsError: a name appears twice, or there are too many.
    """
    columns = [name.strip() for name in next(rows_of(content, delimiter))]
    refuse_wide(columns, table_name)
    refuse_repeated(columns, table_name)
    return columns


def even(content: bytes, frame: pl.DataFrame, delimiter: str) -> bool:
    """Whether every row has a cell for each column, by the number of delimiters in all: no row has more of them."""
    codes = np.frombuffer(content, np.uint8)
    marks = codes == ord(delimiter)
    if b'"' in content:
        marks &= (np.cumsum(codes == QUOTE, dtype=np.uint32) & 1) == 0  # a quote within a cell is written twice
    return int(np.count_nonzero(marks)) == (frame.width - 1) * (frame.height + 1)


def malformed_rows(content: bytes, columns: int, delimiter: str) -> Iterator[Fault]:
    """A fault for each row whose cells run together, or are more or fewer than the header's."""
    reader, row = rows_of(content, delimiter, strict=True), 0
    try:
        next(reader)
        for row, cells in enumerate(reader, start=1):
            if cells and len(cells) != columns:
                yield Fault(row, None, None, uneven(len(cells), columns, delimiter))
    except csv.Error:
        yield Fault(row + 1, None, None, "has a quotation mark that is not closed at the end of its cell; close it")


def stray_quotes(content: bytes) -> Iterator[Fault]:
    """A fault for the first row with a quotation mark in the middle of a cell, which the csv module lets pass."""
    lines = content.lstrip(b"\n\r").split(b"\n")
    row = next((row for row, line in enumerate(lines) if line.count(b'"') % 2), None)
    if row:
        yield Fault(row, None, None, "has a quotation mark in the middle of a cell; write it twice, within quotes")


def uneven(cells: int, columns: int, delimiter: str) -> str:
    """What is wrong with a row of too many cells or too few."""
    count = f"has {cells} cell{'s' * (cells != 1)}, and the header {columns}"
    mark = "a comma" if delimiter == "," else repr(delimiter)
    return f"{count}; put a text with {mark} in it in quotes" if cells > columns else f"{count}; leave none out"
