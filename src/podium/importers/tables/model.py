"""A map: what the columns of a table mean. Written in TOML, checked key by key before any table is read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from podium.importers import grid
from podium.importers.grid import SourceRule

Scalar = str | int | float | bool
Gap = Literal["leader", "previous"]
ROW, FILE = "row", "file"  # in templates: the row's number and the file's name, where no column is called so
BESIDE = {"sheet": grid.SHEET, "title": grid.TITLE}  # and its sheet, and the lines above its head
LAPS = "laps"  # a column of maps alone, by which places are made
ROW_NAME, COLUMN, CELL, PAIR = "row_name", "column", "cell", "pair"  # what a grid of cells calls its parts


@dataclass(frozen=True)
class Join:
    file: str
    here: str
    there: str


PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def template(text: str) -> tuple["Part", ...]:
    pieces = PLACEHOLDER.split(text)
    return tuple(Part(piece, is_column=bool(number % 2)) for number, piece in enumerate(pieces) if piece or number % 2)


@dataclass(frozen=True)
class Part:
    text: str
    is_column: bool


@dataclass(frozen=True)
class Rule:
    """How one results column is made of the table's. The steps come in the order of the fields."""

    value: Scalar | None = None  # a constant
    template: tuple[Part, ...] = ()
    columns: tuple[str, ...] = ()  # joined by a blank
    first: tuple[str, ...] = ()  # columns or templates: the first that is not null
    regex: tuple[str, str] | None = None  # a pattern, and what a cell that has it becomes
    words: Mapping[str, Scalar] | None = None
    null: Scalar | None = None  # what stands for no value
    default: Scalar | None = None  # for words that are not among `words`
    equals: str | None = None  # the column to compare with
    then: Scalar | None = None
    other: Scalar | None = None
    kind: str | None = None  # number, place, duration, result or text
    otherwise: str = "bad"  # or null: what a cell is that does not fit the kind
    gap: Gap | None = None
    lapped: str | None = None
    scale: float = 1.0
    offset: float = 0.0  # that is added last
    side: int = 1  # whose result it is, of a cell with that of both
    split: str | None = None  # what parts the members of a side, each of whom gets a row
    count: bool = False  # whether a text that stands again gets a number
    started: tuple[str, ...] = ()  # columns whose numbers say that who did not start did, and did not finish
    format: str | None = None  # of a date
    epoch: str | None = None  # s, ms or excel

    @property
    def names(self) -> tuple[str, ...]:
        in_template = tuple(part.text for part in self.template if part.is_column)
        first = (name for each in self.first for name in PLACEHOLDER.findall(each) or [each])
        return (*in_template, *self.columns, *first, *([self.equals] if self.equals else []), *self.started)

    @property
    def is_plain(self) -> bool:
        others = (each for each in fields(self) if each.name != "columns")
        return len(self.columns) == 1 and all(getattr(self, each.name) == each.default for each in others)


@dataclass(frozen=True)
class Condition:
    column: str
    reason: str
    among: tuple[str, ...] = ()
    matches: str | None = None  # a pattern of the whole cell
    null: bool | None = None


@dataclass(frozen=True)
class Layout:
    kind: str = "long"  # wide, matrix, crosstable, swiss
    sides: tuple[Mapping[str, Rule], ...] = ()
    rows: str | None = None  # the column with the names of the lines
    excluded: tuple[str, ...] = ()  # columns that are no cells
    empty: str = "drop"  # or keep: cells without a value
    number: str | None = None  # the column with the numbers of the lines, which heads or cells name; # for their order


@dataclass(frozen=True)
class Map:
    name: str = "map"  # what errors call it
    source: SourceRule = field(default_factory=SourceRule)
    joins: Mapping[str, Join] = field(default_factory=dict)
    layout: Layout = field(default_factory=Layout)
    drop: tuple[Condition, ...] = ()
    keep: tuple[Condition, ...] = ()
    is_distinct: bool = False  # whether rows of which the same is read count once
    once: tuple[str, ...] = ()  # who met whom, and when: of rows that tell it from both sides the first one's count
    columns: Mapping[str, Rule] = field(default_factory=dict)
    document: Mapping[str, Any] = field(default_factory=dict)  # as TOML has it
    is_preset: bool = False  # whether columns may lack: a program's other versions have others
    needs: tuple[str, ...] = ()  # what a file has that a preset is of

    @property
    def round_of_made_ids(self) -> tuple[str, ...] | None:
        """The columns of the round or game number in event ids that Podium makes; None if the sender chose the ids."""
        rule = self.columns.get("event_id")
        if rule is None or self.is_preset or rule.value is not None:
            return None
        sides = [side[name] for side in self.rules() for name in ("player", "team") if name in side]
        when = self.columns.get("started_at", Rule())
        others = {FILE, *BESIDE, *when.names, *(name for each in sides for name in each.names)}
        lines = {ROW_NAME: self.layout.rows or ROW_NAME}
        rounds = tuple(name for name in rule.names if not others & {name, lines.get(name, name)})
        return rounds if rule.count or not rounds else None

    @property
    def names(self) -> frozenset[str]:
        conditions = (each.column for each in (*self.drop, *self.keep))
        columns = (name for rules in self.rules() for each in rules.values() for name in each.names)
        return frozenset((*conditions, *columns, *self.once))

    def rules(self) -> list[Mapping[str, Rule]]:
        """Return the rules of each side: one mapping for tables that are not wide."""
        return [{**self.columns, **side} for side in self.layout.sides] or [self.columns]
