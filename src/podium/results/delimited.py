"""CSV: read by Polars, and where it is not well formed, the row that is to be mended."""

import csv
import io
from collections.abc import Iterator

import numpy as np
import polars as pl

from podium.errors import Fault, ResultsError

COMMA, QUOTE = ord(","), ord('"')


def from_csv(content: bytes, table_name: str) -> pl.DataFrame:
    """A table of CSV in UTF-8, every column as text, without spaces around.

    Raises:
        ResultsError: it is not well formed; the rows are named.
    """
    columns = header(content, table_name)
    try:
        frame = pl.read_csv(io.BytesIO(content), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        reason = str(error).splitlines()[0]
        fallback = Fault(None, None, None, f"is not well-formed CSV ({reason})")
        raise ResultsError(
            table_name, [*malformed_rows(content, len(columns))] or [*stray_quotes(content)] or [fallback]
        ) from None
    if frame.width > 1 and frame.to_series(frame.width - 1).null_count() and not even(content, frame):
        faults = list(malformed_rows(content, len(columns)))
        if faults:
            raise ResultsError(table_name, faults)
    frame.columns = columns
    return frame.with_columns(pl.all().str.strip_chars())


def rows_of(content: bytes, *, strict: bool = False) -> Iterator[list[str]]:
    """The rows as Python reads them, the header first; decoded as they are read."""
    text = io.TextIOWrapper(io.BytesIO(content.lstrip(b"\n\r")), "utf-8", newline="")
    return csv.reader(text, strict=strict)


def header(content: bytes, table_name: str) -> list[str]:
    """The names of the columns, without spaces around.

    Raises:
        ResultsError: a name appears twice.
    """
    columns = [name.strip() for name in next(rows_of(content))]
    twice = [name for name in dict.fromkeys(columns) if columns.count(name) > 1]
    if twice:
        raise ResultsError(table_name, (Fault(None, name, None, "appears twice in the header") for name in twice))
    return columns


def even(content: bytes, frame: pl.DataFrame) -> bool:
    """Whether every row has a cell for each column, by the number of commas in all: no row has more of them."""
    codes = np.frombuffer(content, np.uint8)
    commas = codes == COMMA
    if b'"' in content:
        commas &= (np.cumsum(codes == QUOTE, dtype=np.uint32) & 1) == 0  # a quote within a cell is written twice
    return int(np.count_nonzero(commas)) == (frame.width - 1) * (frame.height + 1)


def malformed_rows(content: bytes, columns: int) -> Iterator[Fault]:
    """A fault for each row whose cells run together, or are more or fewer than the header's."""
    reader, row = rows_of(content, strict=True), 0
    try:
        next(reader)
        for row, cells in enumerate(reader, start=1):
            if cells and len(cells) != columns:
                yield Fault(row, None, None, uneven(len(cells), columns))
    except csv.Error:
        yield Fault(row + 1, None, None, "has a quotation mark that is not closed at the end of its cell; close it")


def stray_quotes(content: bytes) -> Iterator[Fault]:
    """A fault for the first row with a quotation mark in the middle of a cell, which the csv module lets pass."""
    lines = content.lstrip(b"\n\r").split(b"\n")
    row = next((row for row, line in enumerate(lines) if line.count(b'"') % 2), None)
    if row:
        yield Fault(row, None, None, "has a quotation mark in the middle of a cell; write it twice, within quotes")


def uneven(cells: int, columns: int) -> str:
    """What is wrong with a row of too many cells or too few."""
    count = f"has {cells} cell{'s' * (cells != 1)}, and the header {columns}"
    return f"{count}; put a text with a comma in it in quotes" if cells > columns else f"{count}; leave none out"
