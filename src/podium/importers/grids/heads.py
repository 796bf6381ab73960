"""Where the head of a table is among its first lines: below titles, in one line or in two."""

import re
from collections.abc import Collection, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import polars as pl

from podium.importers.dates import IN_A_LINE
from podium.results.headings import is_heading

LINES = 40  # of a table that its head is looked for in
VALUE = re.compile(r"[\W_]*\d[\d\W]*")  # a number, a date, a score
TWO = 2


class Head(NamedTuple):
    """The lines of a head among the first rows, what its columns are called, and the lines above it."""

    lines: tuple[int, ...]  # from 0
    header: Any  # the number or numbers of its lines, from 1; None where it is the first
    names: list[str]
    titles: str


def find_head(rows: Sequence[Sequence[str]], starts: Sequence[int], header: Any, wanted: Collection[str]) -> Head:
    """The head of a table: where a map says, or the first with the most known headings.

    Args:
        rows: the first that are not empty.
        starts: the line of each, from 0.
        header: the map's: a line, two lines, or a cell of the head.
        wanted: columns, in place of headings that are known.
    """
    below = [number for number, start in enumerate(starts) if isinstance(header, int) and start >= header - 1]
    lines = tuple(below[:1]) or best_lines(rows, header if isinstance(header, str) else None, wanted)
    if isinstance(header, tuple):
        lines = tuple(number for number, start in enumerate(starts) if start + 1 in header) or lines
    numbers = tuple(starts[line] + 1 for line in lines)
    titles = (" ".join(dict.fromkeys(filter(None, row))) for row in rows[: lines[0]])
    shown = None if lines == (0,) else numbers if len(numbers) > 1 else numbers[0]
    return Head(lines, header or shown, joined([rows[line] for line in lines]), " ".join(filter(None, titles)))


def best_lines(rows: Sequence[Sequence[str]], cell: str | None, wanted: Collection[str]) -> tuple[int, ...]:
    if cell is not None:
        return (next((number for number, row in enumerate(rows) if cell in row), 0),)
    if any(set(wanted) & set(row) for row in rows):
        return (max(range(len(rows)), key=lambda number: (len(set(wanted) & set(rows[number])), -number)),)
    counts = [len({each for each in row if each and is_heading(each)}) for row in rows[:LINES]]
    best = max(range(len(counts)), key=lambda number: (counts[number], -number))
    if counts[best] < TWO:
        best = next((number for number, row in enumerate(rows) if len(set(filter(None, row))) >= TWO), 0)
    for upper in (best - 1, best):
        if 0 <= upper < len(counts) - 1 and are_one_head(rows[upper], rows[upper + 1], counts[upper : upper + 2]):
            return upper, upper + 1
    return (best,)


def are_one_head(upper: Sequence[str], lower: Sequence[str], known: Sequence[int]) -> bool:
    """Whether two lines are one head: of words, or of words and dates, where neither names every column by itself."""
    pairs = list(zip_longest(upper, lower, fillvalue=""))
    dated = [low for _, low in pairs if low]
    if (
        known[0]
        and len(dated) >= TWO
        and pl.Series(dated).str.contains(rf"^(?:{IN_A_LINE})$").all()
        and all(up for up, low in pairs if low)
    ):
        return True
    words = not any(VALUE.fullmatch(each) for each in (*upper, *lower) if each and not is_heading(each))
    below = [low for up, low in pairs if low and low != up]
    parted = any(low and low != up and (not up or upper.count(up) > 1) for up, low in pairs)
    alone = len(set(below)) < len(below) or any(up and low in ("", up) for up, low in pairs)
    over = len(set(filter(None, upper))) >= (TWO if known[0] else 1) and len(below) < len(pairs) + (not known[0])
    return known[1] > 0 and words and parted and alone and over


def joined(lines: Sequence[Sequence[str]]) -> list[str]:
    """The names of columns, a heading above several before each of theirs."""
    if len(lines) == 1:
        return list(lines[0])
    names, above = [], ""
    upper, lower = lines
    for column in range(max(map(len, lines))):
        up, low = (line[column] if column < len(line) else "" for line in (upper, lower))
        above = up or (above if low else "")
        name = " ".join(dict.fromkeys(filter(None, (above, low))))
        names.append(low if name in names else name)
    return names
