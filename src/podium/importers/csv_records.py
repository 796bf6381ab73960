"""The records of a CSV file whose header is known: RFC 4180, each with the line on which it begins."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from podium.errors import Fault, FormatError
from podium.importers.sources import Source, refuse_file, text


class Record(NamedTuple):
    """A row: where it begins, its cells by column, and what is wrong with their number, if anything."""

    line: int
    cells: dict[str, str]
    uneven: str

    @property
    def place(self) -> str:
        """Where it begins, as faults say it."""
        return f"line {self.line}"


def csv_records(source: Source, required: Sequence[str]) -> Iterator[Record]:
    """Read a file of comma-separated values.

    Args:
        required: the columns that its header must have, among others.

    Yields:
        Its rows; a row of too few cells lacks the last columns.

    Raises:
        FormatError: its header is another one, or it is not well-formed CSV.
    """
    reader = csv.reader(io.StringIO(text(source), newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        missing = [name for name in required if name not in header]
        if missing:
            refuse_file(source.name, f"has no column {missing[0]} in its first line; it needs {', '.join(required)}")
        line = reader.line_num + 1
        for cells in reader:
            if cells:
                uneven = "" if len(cells) == len(header) else f"has {len(cells)} cells, and the header {len(header)}"
                yield Record(line, dict(zip(header, cells, strict=False)), uneven)
            line = reader.line_num + 1
    except csv.Error as error:
        remedy = f"is not well-formed CSV ({error})"
        raise FormatError(source.name, [Fault(None, None, None, remedy, f"line {reader.line_num}")]) from None
