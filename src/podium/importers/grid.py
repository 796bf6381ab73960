"""A table before it has a map, with its head, its text lines, and the questions for its owner."""

import re
import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, count, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from podium.errors import Fault, FormatError
from podium.importers import times
from podium.results.headings import GOALS, SHORT, WEAK, fold, is_heading, known_column, side_of, sides

# Extra columns for each row: its sheet, the lines above the head, and its number in the source (from 0). No table has
# columns with these names.
# columns with these names.
SHEET, TITLE, ROW_NUMBER = "\0sheet", "\0title", "\0row"
MAX_CHOICES = 8  # maximum number of choices in one message
SHOWN_ROWS = 3  # number of rows to list for each error
EVERY = "*"  # means all sheets of a workbook


@dataclass(frozen=True)
class SourceRule:
    format: str | None = None  # None: inferred from name and content
    encoding: str | None = None  # None: UTF-8 or UTF-16
    delimiter: str | None = None
    decimal: str = "."  # the decimal mark: a point, a comma, or both
    thousands: str | None = None
    # the head's lines, or one of its cells; 0: no head, so columns are c1, c2, …
    header: int | str | tuple[int, ...] | None = None
    fill: tuple[str, ...] = ()  # columns in which an empty cell repeats the value above
    aside: tuple[str, ...] = ()  # columns to ignore
    sheet: str | None = None  # * means all sheets
    table: str | None = None  # name of a database table; % matches any text
    records: str | None = None  # path to the rows in JSON or XML, such as `races[].results[]`
    pattern: str | None = None  # pattern of lines that become rows; named groups become columns
    width: int | None = None  # width of the columns 1, 2, … that follow the pattern
    names: str | None = None  # pattern of a line that ends with the names of those columns
    null: tuple[str, ...] = ("",)
    timezone: str = "UTC"


@dataclass(frozen=True)
class Grid:
    """A table before it has a map. Its columns contain text or have their own types."""

    name: str  # the table's name in messages
    frame: pl.DataFrame
    first_row: int = 1  # number of the first row in a spreadsheet or editor
    labels: Sequence[str] | None = None  # places of rows, if they do not correspond to lines
    rule: SourceRule = field(default_factory=SourceRule)  # includes everything that has been inferred
    notes: tuple[str, ...] = ()
    bad: tuple[Fault, ...] = ()  # errors of rows that are left out
    folder: Path = Path()  # folder with its side tables

    @property
    def headings(self) -> list[str]:
        return [name for name in self.frame.columns if not name.startswith("\0")]

    @property
    def lists(self) -> list[str]:
        """The columns of JSON data that contain lists of objects."""
        return [heading for heading in self.headings if self.frame[heading].cast(pl.String).str.starts_with("[{").any()]

    def records_in(self, heading: str) -> str:
        """Return the path to the objects in a column's lists, in the same form as in `records`."""
        path = self.rule.records or ("[]" if self.labels and self.labels[0].startswith("[") else "")
        return f"{path}{'.' if path else ''}{heading}[]"

    def without_nulls(self) -> "Grid":
        """Return the table with null for all texts that mean an empty cell."""
        texts = [name for name in self.headings if self.frame[name].dtype == pl.String]
        return replace(self, frame=self.frame.with_columns(pl.col(texts).replace(dict.fromkeys(self.rule.null))))

    def only(self, rows: pl.Series) -> "Grid":
        """Return only the rows with these numbers. They keep their places in the source."""
        if rows.len() == self.frame.height:
            return self
        return replace(self, frame=self.frame[rows], labels=[self.place(row) for row in rows])

    def place(self, row: int) -> str:
        """Return the place in the file of a row, counted from 0."""
        return f"row {row + self.first_row}" if self.labels is None else self.labels[row]

    def places(self, rows: Sequence[int]) -> str:
        if len(rows) == 1:
            return self.place(rows[0])
        shown = [self.place(row).removeprefix("row ") for row in rows[:SHOWN_ROWS]]
        more = ", …" if len(rows) > SHOWN_ROWS else ""
        return f"{len(rows):,} rows ({', '.join(shown)}{more})"


class Choice(NamedTuple):
    """An answer to a question: its meaning, and the key and value that express it in a map."""

    meaning: str
    key: str
    value: str

    @property
    def answer(self) -> str:
        return f"{self.key}={self.value}"

    def __str__(self) -> str:
        return f"--set {shlex.quote(self.answer)} ({self.meaning})"


def ignoring(heading: str) -> Choice:
    return Choice(f"ignore {heading}", "source.aside", heading)


def shown(choices: Sequence[Choice]) -> Sequence[Choice]:
    return choices if len(choices) <= MAX_CHOICES else (*choices[: MAX_CHOICES - 1], choices[-1])


def question(
    name: str, text: str, choices: Iterable[Choice] = (), column: str | None = None, cell: str | None = None
) -> Fault:
    """Return an error that the owner of a table can answer. Its command chooses an answer in a terminal.

    Args:
        column: The column to which the question refers.
        cell: A cell in that column, which starts the question's text.
    """
    choices = tuple(choices)
    typed = name if not Path(name).is_absolute() else Path(name).name
    command = f"Type podium import {shlex.quote(typed)} {', or '.join(map(str, shown(choices)))}" if choices else ""
    return Fault(None, column, cell, text, command=command, choices=choices)


class UndecidedError(FormatError):
    """A table is unclear until its owner answers `questions`, which do not name rows."""

    def __init__(self, name: str, faults: Iterable[Fault], questions: Iterable[Fault] = ()) -> None:
        self.questions = tuple(fault._replace(row=None, place="") for fault in questions)
        super().__init__(name, faults)


def decide(name: str, text: str, *choices: Choice, row: int | None = None, cell: str | None = None) -> UndecidedError:
    doubt = question(Path(name).name, text, choices, cell=cell)._replace(row=row)
    return UndecidedError(name, [doubt], [doubt])


# digits of other scripts, such as Arabic, by the digit 0 to 9 that each means
DIGITS = {letter: str(int(letter)) for letter in map(chr, range(128, sys.maxunicode)) if letter.isdecimal()}
LINES = 40  # number of lines in which to search for the head
VALUE = re.compile(r"[\W_]*\d[\d\W]*")  # a number, a date, a score
MEMBER = re.compile(r"(.+?)(?:_?\d|_[a-h])")  # a member of a team, if each member has a column: driver_1


def is_headless(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if the first row is a result. It then has a word and, like the next row, a number, date or score."""
    rows = [row for row in rows if len([*filter(None, row)]) > 1]  # leaves out titles
    first, second = (*rows[:2], [], [])[:2]
    alike = [one for one, other in zip(first, second, strict=False) if VALUE.fullmatch(one) and VALUE.fullmatch(other)]
    is_numbered = [*map(str, range(1, len(alike) + 1))] == alike  # the head of a crosstable
    has_words = any(cell and not VALUE.fullmatch(cell) for cell in first)
    return bool(alike) and not is_numbered and has_words and not any(map(is_heading, chain.from_iterable(rows)))


class Head(NamedTuple):
    """A table's head: its line numbers among the first rows, the names of its columns, and the lines above it."""

    lines: tuple[int, ...]  # counted from 0
    header: Any  # number or numbers of its lines, from 1; None for the first line
    names: list[str]
    titles: str  # one title for each line


def find_head(rows: Sequence[Sequence[str]], starts: Sequence[int], header: Any, wanted: Collection[str]) -> Head:
    """Find the head of a table, with a map or by known headings.

    `starts` are the line numbers of the first rows. `header` comes from the map, and is a line, two lines, or a cell of
    the head. `wanted` columns are used instead of known headings.
    """
    if header == 0 or (header is None and not wanted and is_headless(rows)):
        return Head((), 0, [f"c{number}" for number in range(1, max(map(len, rows)) + 1)], "")
    below = [number for number, start in enumerate(starts) if isinstance(header, int) and start >= header - 1]
    lines = tuple(below[:1]) or best_lines(rows, header if isinstance(header, str) else None, wanted)
    if isinstance(header, tuple):
        lines = tuple(number for number, start in enumerate(starts) if start + 1 in header) or lines
    numbers = tuple(starts[line] + 1 for line in lines)
    titles = (" ".join(dict.fromkeys(filter(None, row))) for row in rows[: lines[0]])
    shown = None if lines == (0,) else numbers if len(numbers) > 1 else numbers[0]
    written = joined([rows[line] for line in lines])
    names = name_by_neighbours(number_repeats(written), written, rows[lines[-1] + 1 :])
    return Head(lines, header or shown, names, "\n".join(filter(None, titles)))


def best_lines(rows: Sequence[Sequence[str]], cell: str | None, wanted: Collection[str]) -> tuple[int, ...]:
    if cell is not None:
        return (next((number for number, row in enumerate(rows) if cell in row), 0),)
    if any(set(wanted) & set(row) for row in rows):
        return (max(range(len(rows)), key=lambda number: (len(set(wanted) & set(rows[number])), -number)),)
    counts = [0 if is_dated(row, rows) else len({*filter(is_heading, filter(None, row))}) for row in rows[:LINES]]
    most = max(counts)
    best = next(number for number, count in enumerate(counts) if count >= max(min(2, most), most - 1))
    if counts[best] < 2:
        wide = (number for number, row in enumerate(rows) if len({*filter(None, row)}) > 1 and not is_dated(row, rows))
        best = next(wide, 0)
    for upper in (best - 1, best):
        if 0 <= upper < len(counts) - 1 and are_one_head(rows[upper], rows[upper + 1], counts[upper : upper + 2]):
            return upper, upper + 1
    return (best,)


def are_one_head(upper: Sequence[str], lower: Sequence[str], known: Sequence[int]) -> bool:
    """Return True if two lines of words, or of words and dates, form one head.

    In that case, neither line names every column.
    """
    if len(upper) > 2 and len({*upper}) == 1:
        return False  # a title merged across all columns
    pairs = list(zip_longest(upper, lower, fillvalue=""))
    over_words = ["" if is_day else cell for cell, is_day in zip(upper, are_days(upper), strict=True)]
    if [column for column, word in enumerate(over_words) if word] == [0] and (pairs[0][1] or not is_heading(upper[0])):
        return False  # this is a title
    dated = [low for _, low in pairs if low]
    are_dates = len(dated) >= 2 and all(are_days(dated))
    if known[0] and are_dates and all(up for up, low in pairs if low):
        return True
    words = not any(VALUE.fullmatch(word) for word in (*over_words, *lower) if word and not is_heading(word))
    below = [low for up, low in pairs if low and low != up]
    often = Counter(upper)
    parted = any(low and low != up and (not up or often[up] > 1) for up, low in pairs)
    is_twice = len(set(below)) < len(below)
    alone = is_twice or any(up and low in ("", up) for up, low in pairs)
    names_all = len(below) == len(pairs) and known[0] and not is_twice
    over = len(set(filter(None, upper))) >= (2 if known[0] else 1) and not names_all
    return known[1] > 0 and words and parted and alone and over


def is_dated(row: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return True if a row is a separate line, with a word and a day, above a wider table."""
    cells = [*filter(None, row)]
    return len(cells) == 2 < max(map(len, rows)) and not VALUE.fullmatch(cells[0]) and are_days(cells)[1]


def are_days(cells: Sequence[str]) -> list[bool]:
    return pl.Series(cells, dtype=pl.String).str.contains(rf"^(?:{times.IN_A_LINE})$").to_list()


def number_repeats(names: list[str]) -> list[str]:
    """Number repeated names that have no known meaning or belong to two sides, such as Elo 1 and Elo 2."""
    counts = Counter(filter(None, names))
    twice = {heading for heading, often in counts.items() if often == 2}
    players = [heading for heading in counts if known_column(heading) == "player"]
    parts = {side_of(heading) for heading in counts}
    again = {heading for heading, often in counts.items() if often > 1 and not is_heading(heading)}
    if "first" in parts and parts & {"second", "opponent"}:
        again |= {
            heading
            for heading in twice
            if side_of(heading) in (None, "number", "total") and fold(heading) not in GOALS + SHORT
        }
    elif len(players) == 1:
        again |= twice.intersection(players)
    numbers = defaultdict[str, Iterator[int]](lambda: count(1))
    return [f"{name} {next(numbers[name])}" if name in again else name for name in names]


def name_by_neighbours(names: list[str], written: list[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Name number columns without a heading: after the side or result next to them, or as both sides' scores.

    If a score appears twice, and no other column is a result, the two columns belong to the two sides in order.
    """
    named, first = list(names), {name: place for place, name in reversed([*enumerate(names)])}
    twice = [heading for heading, often in Counter(written).items() if often == 2]
    for heading in (heading for heading in twice if fold(heading) in GOALS + SHORT or side_of(heading) == "result"):
        places = [place for place, name in enumerate(written) if name == heading]
        parts = [place_in_match(written[place - 1]) if place else None for place in places]
        others = [place_in_match(name) for name in written if name != heading]
        if not {"result", "score of first", "score of second"}.intersection(others):
            parts = [part for part in dict.fromkeys(others) if part in ("first", "second")]
        if {*parts} == {"first", "second"}:
            for place, part in zip(places, parts, strict=True):
                named[place] = "score 1" if part == "first" else "score 2"
            return named
    filled = accumulate((place if name else -1 for place, name in enumerate(names)), max)
    for place, (name, nearest) in enumerate(zip(names, filled, strict=True)):
        cells = [row[place] for row in rows if place < len(row) and row[place]]
        left = first[name] if name else nearest
        part = side_of(names[left]) if left >= 0 else None
        if (name and (left == place or part != "result")) or not cells or not all(map(str.isdecimal, cells)):
            continue
        if part == "result":
            named[left], named[place] = f"{names[left]} 1", f"{names[left]} 2"
        elif part in ("first", "second") and "result" not in map(side_of, names):
            again = f"{names[left]} score" in named and part == "first"  # both columns are between the sides
            second = next((heading for heading in names if side_of(heading) == "second"), names[left])
            named[place] = f"{second if again else names[left]} score"
    return named


def place_in_match(heading: str) -> str | None:
    """Return the part of a match that a heading means, where winners and players are first."""
    part = side_of(heading) or known_column(heading)
    return {"winner": "first", "player": "first", "loser": "second", "opponent": "second"}.get(part or "", part)


def joined(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of columns. A heading that spans several columns is put before each of their headings."""
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


def members_beside(grid: Grid) -> list[str]:
    """Return the columns with the members of teams, if teams have places.

    If they may be the sides of a match, return an empty list.
    """
    words = {heading: fold(heading) for heading in grid.headings}
    meant = {known_column(word) for word in words.values() if word not in WEAK}
    found = {heading: base[1] for heading, word in words.items() if (base := MEMBER.fullmatch(word))}
    members = [heading for heading, base in found.items() if known_column(base) == "player"]
    cells = grid.frame.select(heading for heading in words if side_of(heading) == "result").cast(pl.String)
    of_matches = {"winner", "loser", "opponent", "score of first"}.intersection(map(side_of, words))
    of_matches |= {cell.name for cell in cells if not cell.str.contains("^[0-9.,]+$").all()}
    is_of_teams = {"position", "team"} <= meant and len({found[member] for member in members}) == 1 and not of_matches
    return members if is_of_teams and len(members) > 1 else []


def name_parts(grid: Grid) -> list[str]:
    """Return the columns with given and family names.

    If one column has both, or if there are no such columns, return an empty list.
    """
    known = {sides().get(fold(heading)): heading for heading in reversed(grid.headings)}
    whole = next((heading for heading in grid.headings if known_column(heading) == "player"), None)
    if known.keys().isdisjoint({"given", "family"}):
        return []
    parts = [name for name in (known.get("given", whole), known.get("family", whole)) if name is not None]
    if len(parts) < 2 or parts[0] == parts[1]:
        return []
    if whole in parts:
        rows = grid.frame.select(pl.col(parts).cast(pl.String).fill_null("")).iter_rows()
        if all(given in family or family in given for given, family in rows):
            return []
    return parts
