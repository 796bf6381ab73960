"""Tables of text: which delimiter parts the cells, which line is the header, then as any CSV."""

import csv
import io
from itertools import islice

import polars as pl

from podium.errors import Fault, ResultsError
from podium.importers.tables.model import SourceRule
from podium.results.plain_rows import DELIMITERS, counted_from, from_csv, malformed_rows, rows_of

TWO_ROWS = 1 << 17  # characters that surely have the header and a row


def from_text(
    text: str, name: str, rule: SourceRule, *, skip_bad: bool = False
) -> tuple[pl.DataFrame, int, str, list[Fault]]:
    """A table of delimited text, every cell as text without spaces around it.

    Args:
        skip_bad: leave out rows that have more cells than the header, or fewer.

    Returns:
        The table, the number of its first row as a spreadsheet has it, its delimiter, and the rows that are left out.

    Raises:
        ResultsError: it is empty, not well formed, or two delimiters would part it.
    """
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
    """The mark that parts the header and the next row into as many cells, and more than one.

    Raises:
        ResultsError: two do.
    """
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
