"""A map gives the meaning of a table's columns. It is written in TOML, and checked before a table is read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from podium.importers import grid
from podium.importers.grid import SourceRule

Scalar = str | int | float | bool
Gap = Literal["leader", "previous"]
ROW, FILE = "row", "file"  # row number and file name in templates, unless columns have these names
BESIDE = {"sheet": grid.SHEET, "title": grid.TITLE}  # also the sheet, and the lines above the head
LAPS = "laps"  # a column only in maps, from which places are made
ROW_NAME, COLUMN, CELL, PAIR = "row_name", "column", "cell", "pair"  # parts of a grid of cells


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
    """Steps that make a results column from the table's columns, in the order of the fields."""

    value: Scalar | None = None  # a constant
    template: tuple[Part, ...] = ()
    columns: tuple[str, ...] = ()  # joined by a blank
    first: tuple[str, ...] = ()  # columns or templates: the first that is not null
    regex: tuple[str, str] | None = None  # a pattern and its replacement
    words: Mapping[str, Scalar] | None = None
    null: Scalar | None = None  # value for empty cells
    default: Scalar | None = None  # for other texts than `words`
    equals: str | None = None  # the column to compare with
    then: Scalar | None = None
    other: Scalar | None = None
    kind: str | None = None  # number, place, duration, result or text
    otherwise: str = "bad"  # or null: treatment of cells that do not fit the kind
    gap: Gap | None = None
    lapped: str | None = None
    scale: float = 1.0
    offset: float = 0.0  # added last
    side: int = 1  # of a cell with the result of both sides
    split: str | None = None  # mark between the members of a side, who get a row each
    count: bool = False  # True to number repeated texts
    started: tuple[str, ...] = ()  # columns whose numbers show that an entrant started
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
    matches: str | None = None  # pattern of a whole cell
    null: bool | None = None


@dataclass(frozen=True)
class Layout:
    kind: str = "long"  # wide, matrix, crosstable, swiss
    sides: tuple[Mapping[str, Rule], ...] = ()
    rows: str | None = None  # column with the names of the lines
    excluded: tuple[str, ...] = ()  # columns outside the grid
    empty: str = "drop"  # or keep: cells without a value
    number: str | None = None  # column with the line numbers in headings or cells; # for their order


@dataclass(frozen=True)
class Map:
    name: str = "map"  # name in messages
    source: SourceRule = field(default_factory=SourceRule)
    joins: Mapping[str, Join] = field(default_factory=dict)
    layout: Layout = field(default_factory=Layout)
    drop: tuple[Condition, ...] = ()
    keep: tuple[Condition, ...] = ()
    is_distinct: bool = False  # True to count equal rows once
    once: tuple[str, ...] = ()  # columns of player, opponent and date; one side's rows count
    columns: Mapping[str, Rule] = field(default_factory=dict)
    document: Mapping[str, Any] = field(default_factory=dict)  # as in TOML
    is_preset: bool = False  # True if columns may be missing, as in other versions of a program
    needs: tuple[str, ...] = ()  # texts or paths that a file of the preset has

    @property
    def round_of_made_ids(self) -> tuple[str, ...] | None:
        """The columns of the round or game number in event IDs that Podium makes. None if the sender chose the IDs."""
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
