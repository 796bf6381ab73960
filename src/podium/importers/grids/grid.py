"""A table before its map, how it was written, and what only its reader can know of it."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import polars as pl

from podium.errors import Fault, FormatError

SHEET, TITLE = (
    "\0sheet",
    "\0title",
)  # columns beside the table's own: the sheet and the lines above the head, of each row
SHOWN_ROWS = 3  # of those with one fault
EVERY = "*"  # sheet of a workbook


@dataclass(frozen=True)
class SourceRule:
    """How the table is written."""

    format: str | None = None  # by the name and content where None
    encoding: str | None = None  # UTF-8, or UTF-16, where None
    delimiter: str | None = None
    decimal: str = "."
    thousands: str | None = None
    header: int | str | tuple[int, ...] | None = None  # its lines, or a cell of it; 0: none, the columns are c1, c2, …
    fill: tuple[str, ...] = ()  # columns whose empty cells have the value above
    sheet: str | None = None  # * for every one
    table: str | None = None  # of a database; % is any text
    records: str | None = None  # where the rows of JSON or XML are, as `races[].results[]`
    pattern: str | None = None  # of lines that are rows; its named groups are columns
    width: int | None = None  # of the columns 1, 2, … in what follows the pattern
    names: str | None = None  # the pattern of a line whose end has more of the names of those columns
    null: tuple[str, ...] = ("",)
    timezone: str = "UTC"


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

    @property
    def headings(self) -> list[str]:
        """The columns that the table itself has."""
        return [name for name in self.frame.columns if not name.startswith("\0")]

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


class Choice(NamedTuple):
    """An answer: what it means, and the key of a map that says so, with its value."""

    meaning: str
    key: str
    value: str

    def __str__(self) -> str:
        return f"--set {shlex.quote(f'{self.key}={self.value}')} ({self.meaning})"


@dataclass(frozen=True)
class Question:
    """What a table leaves open, and the answers that there are."""

    text: str
    choices: tuple[Choice, ...]
    column: str | None = None  # that it is about

    def remedy(self, name: str) -> str:
        """The question with the command to type for a file."""
        typed = name if not Path(name).is_absolute() else Path(name).name
        command = f": type podium import {shlex.quote(typed)} {', or '.join(map(str, self.choices))}"
        return self.text + command * bool(self.choices)


class UndecidedError(FormatError):
    """A table is refused for what only its reader can know; `questions` ask for it."""

    def __init__(self, name: str, faults: Iterable[Fault], questions: Iterable[Question] = ()) -> None:
        self.questions = tuple(questions)
        super().__init__(name, faults)


def decide(name: str, text: str, *choices: Choice) -> UndecidedError:
    """The refusal of a table for one question."""
    question = Question(text, choices)
    return UndecidedError(name, [Fault(None, None, None, question.remedy(name))], [question])
