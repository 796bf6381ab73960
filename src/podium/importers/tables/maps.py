"""Maps give the meaning of a table's columns. They are written in TOML, and checked before a table is read."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from podium.errors import ParameterError
from podium.importers import grid
from podium.importers.grid import SourceRule
from podium.importers.times import LocalTimes
from podium.importers.trees import as_text
from podium.results.columns import ALL, STATUSES
from podium.support.words import suggestion

Scalar = str | int | float | bool
Gap = Literal["leader", "previous"]
ROW, FILE = "row", "file"  # row number and file name in templates, unless these are names of columns
BESIDE = {"sheet": grid.SHEET, "title": grid.TITLE}  # also the sheet, and the lines above the head
LAPS = "laps"  # a column that only maps have, to make places from it
ROW_NAME, COLUMN, CELL, PAIR = "row_name", "column", "cell", "pair"  # parts of a grid of cells


@dataclass(frozen=True)
class Join:
    file: str
    here: str
    there: str


PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Rule:
    """The steps that make a results column from the table's columns, in the order of the fields."""

    value: Scalar | None = None  # a constant
    columns: tuple[str, ...] = ()  # joined by a blank
    first: tuple[str, ...] = ()  # columns or templates, of which the first that is not null counts
    regex: tuple[str, str] | None = None  # a pattern and its replacement
    words: Mapping[str, Scalar] | None = None
    null: Scalar | None = None  # value for empty cells
    default: Scalar | None = None  # for texts that are not in `words`
    equals: str | None = None  # the column with which to compare
    then: Scalar | None = None
    other: Scalar | None = None
    kind: str | None = None  # number, place, duration, result, sets or text
    otherwise: str = "bad"  # or null: treatment of cells that do not fit the kind
    gap: Gap | None = None
    lapped: str | None = None
    scale: float = 1.0
    offset: float = 0.0  # added last
    side: int = 1  # side, for a cell with the result of both sides
    split: str | None = None  # mark between the members of a side, who each get a row
    count: bool = False  # True to number repeated texts
    started: tuple[str, ...] = ()  # columns in which a number shows that an entrant started
    format: str | None = None  # format of a date
    epoch: str | None = None  # s, ms or excel

    @property
    def names(self) -> tuple[str, ...]:
        first = (name for part in self.first for name in PLACEHOLDER.findall(part) or [part])
        return (*self.columns, *first, *([self.equals] if self.equals else []), *self.started)

    @property
    def is_plain(self) -> bool:
        return len(self.columns) == 1 and self == Rule(columns=self.columns)


@dataclass(frozen=True)
class Condition:
    """A test of the cells in a column. An empty cell passes only the test `null`."""

    column: str
    reason: str
    is_unless: bool = False  # True if the condition is met by rows that do not pass the test
    among: tuple[str, ...] = ()
    matches: str | None = None  # pattern for whole cells
    null: bool | None = None
    same: str = ""  # a column with the same cell
    below: str = ""  # a column with a higher number
    when: "Condition | None" = None  # another condition that must also be met

    @property
    def names(self) -> tuple[str, ...]:
        return self.column, *filter(None, (self.same, self.below)), *(self.when.names if self.when else ())


@dataclass(frozen=True)
class Layout:
    kind: str = "long"  # wide, matrix, crosstable, swiss
    sides: tuple[Mapping[str, Rule], ...] = ()
    rows: str | None = None  # column with the names of the lines
    excluded: tuple[str, ...] = ()  # columns outside the grid
    empty: str = "drop"  # or keep: treatment of cells without a value
    number: str | None = None  # column with the line numbers that headings or cells use; # for their order


@dataclass(frozen=True)
class Map:
    name: str = "map"  # name in messages
    source: SourceRule = field(default_factory=SourceRule)
    join: Mapping[str, Join] = field(default_factory=dict)
    layout: Layout = field(default_factory=Layout)
    drop: tuple[Condition, ...] = ()
    distinct: bool = False  # True to count equal rows once
    once: tuple[str, ...] = ()  # columns of player, opponent and date; only one side's rows count
    columns: Mapping[str, Rule] = field(default_factory=dict)
    document: Mapping[str, Any] = field(default_factory=dict)  # as in TOML
    is_preset: bool = False  # True if columns may be missing, as in some versions of a program
    needs: tuple[str, ...] = ()  # texts or paths that are in every file of the preset

    @property
    def round_of_made_ids(self) -> tuple[str, ...] | None:
        """The columns with the round or game number for IDs that Podium makes, or None if the sender chose the IDs."""
        rule = self.columns.get("event_id")
        if rule is None or self.is_preset or rule.value is not None:
            return None
        sides = [side[name] for side in self.rules() for name in ("player", "team") if name in side]
        when = self.columns.get("started_at", Rule())
        others = {FILE, *BESIDE, *when.names, *(name for side in sides for name in side.names)}
        lines = {ROW_NAME: self.layout.rows or ROW_NAME}
        rounds = tuple(name for name in rule.names if not others & {name, lines.get(name, name)})
        return rounds if rule.count or not rounds else None

    @property
    def names(self) -> frozenset[str]:
        conditions = (name for condition in self.drop for name in condition.names)
        columns = (name for rules in self.rules() for rule in rules.values() for name in rule.names)
        return frozenset((*conditions, *columns, *self.once))

    def rules(self) -> list[Mapping[str, Rule]]:
        """Return each side's rules, or a single mapping for tables that are not wide."""
        return [{**self.columns, **side} for side in self.layout.sides] or [self.columns]


FORMATS = ("csv", "xlsx", "xls", "xlsb", "ods", "json", "jsonl", "xml", "lines", "sqlite", "parquet")
GRID = {"kind", "rows", "except", "empty"}
LAYOUTS = {  # keys of each kind
    "long": {"kind"}, "wide": {"kind", "sides"}, "matrix": GRID, "crosstable": GRID | {"number"},
    "swiss": GRID | {"number"},
}  # fmt: skip
MAX_COLUMNS, MAX_WORDS = 64, 100
FIELDS = {"from": "columns", "map": "words", "as": "kind", "else": "otherwise", "except": "excluded"}  # by other keys
STATED = {"value", "from", "first"}  # keys of a rule that state a column's source
Reader = Callable[[Any, str], Any]


class UnfitError(ParameterError):
    """A key of a map is invalid."""

    def __init__(self, place: str, remedy: str) -> None:
        super().__init__(f"{place}: {remedy}" if place else remedy)


def load_map(path: Path) -> Map:
    """Read a map from a TOML file."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ParameterError(f"{path}: is not TOML ({error})") from None
    return build_map(document, str(path))


def build_map(document: Mapping[str, Any], name: str = "map", *, is_partial: bool = False) -> Map:
    """Build a map from its TOML document, rejecting unknown keys and values.

    A partial map may lack columns, and its rules may state only how to read a column.
    """
    known, read = document.get("columns", {}), document
    if is_partial and isinstance(known, Mapping):  # refinements wait for rules from headings
        read = {**document, "columns": {key: rule for key, rule in known.items() if not is_refinement(rule)}}
    try:
        whole = read_table(read, "", OF_MAP)
        check_layout(whole.get("layout", Layout()), whole.get("columns", {}), is_partial=is_partial)
    except UnfitError as error:
        raise ParameterError(f"{name}: {error}") from None
    needs = tuple(whole.pop("preset", {}).get("needs", ()))
    return Map(name, **whole.pop("where", {}), **whole, document=document, is_preset="preset" in document, needs=needs)


def check_layout(layout: Layout, columns: Mapping[str, Rule], *, is_partial: bool) -> None:
    has_names = layout.kind == "matrix" and "player" in columns and columns["player"].columns == (CELL,)
    if "rows" in LAYOUTS[layout.kind] and layout.rows is None and not has_names:
        raise UnfitError("layout.rows", "is missing. Name the column that contains the names of the lines.")
    if not columns and not any(layout.sides) and not is_partial:
        remedy = "is missing or empty. Write [columns] with event_id, player and the other columns."
        raise UnfitError("columns", remedy)


def is_refinement(rule: Any) -> bool:
    """Return True if a rule states how to read a column, but not which column to read."""
    return isinstance(rule, Mapping) and not STATED & rule.keys()


def read_word(value: Any, place: str, allowed: Iterable[str]) -> str:
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        raise UnfitError(place, f"{value!r} is not known{suggestion(str(value), words)} (known: {', '.join(words)})")
    return value


def read_table(value: Any, place: str, readers: Mapping[str, Reader]) -> dict[str, Any]:
    """Read a table with known keys, each of which has a reader. Keys are renamed to the names of fields."""
    table = as_table(value, place)
    for key in table:
        read_word(key, place, readers)
    return {FIELDS.get(key, key): readers[key](own, join(place, key)) for key, own in table.items()}


def join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def must_be(what: str, fits: Callable[[Any], object]) -> Reader:
    """Return a reader that rejects all values that do not fit."""

    def read(value: Any, place: str) -> Any:
        if not fits(value):
            raise UnfitError(place, f"{value!r} must be {what}")
        return value

    return read


def number_above(least: float) -> Reader:
    numbers = int, float  # not bool
    return must_be(f"a number above {least:g}", lambda value: type(value) in numbers and least < value < float("inf"))


as_table = must_be("a table of keys and values", lambda value: isinstance(value, Mapping))
as_list = must_be("a list, in square brackets", lambda value: isinstance(value, list | tuple))
read_any_text = must_be("text", lambda value: isinstance(value, str))
read_text = must_be("text", lambda value: isinstance(value, str) and value)
read_scalar = must_be("text, a number, true or false", lambda value: isinstance(value, str | int | float | bool))
read_truth = must_be("true or false", lambda value: isinstance(value, bool))
read_mark = must_be(
    "a single ASCII character, such as , or ;",
    lambda value: isinstance(value, str) and len(value.encode()) == 1 and value not in '"\r\n',
)


def list_of(read: Reader) -> Reader:
    return lambda value, place: tuple(read(item, place) for item in as_list(value, place))


def table_of(read: Reader) -> Reader:
    return lambda value, place: {key: read(own, join(place, key)) for key, own in as_table(value, place).items()}


def one_of(*words: str) -> Reader:
    return lambda value, place: read_word(str(value), place, words)


def read_texts(value: Any, place: str) -> tuple[str, ...]:
    return tuple(read_any_text(item, place) for item in (value if isinstance(value, list | tuple) else [value]))


def read_names(value: Any, place: str) -> tuple[str, ...]:
    found = read_texts(value, place)
    if not all(found) or not found:
        raise UnfitError(place, f"{value!r} must be the name of a column, or a list of names")
    return found


def read_once(value: Any, place: str) -> tuple[str, ...]:
    names = read_names(value, place)
    if len(names) == 1:
        remedy = f"{names[0]!r} must name the columns of the player and the opponent, then those of the date"
        raise UnfitError(place, remedy)
    return names


def read_pattern(value: Any, place: str) -> str:
    """Read a regular expression without backreferences or lookaround, so that it runs in linear time."""
    text: str = read_text(value, place)
    try:
        pl.Series([""]).str.contains(text)
    except pl.exceptions.PolarsError as error:
        reason = next((line for line in reversed(str(error).splitlines()) if line.startswith("error")), "")
        remedy = f"{text!r} is not a pattern ({reason.removeprefix('error: ') or 'see RE2'})"
        raise UnfitError(place, remedy) from None
    return text


def read_header(value: Any, place: str) -> int | str | tuple[int, ...]:
    """Read the line number of a head, its two line numbers, or the text of one of its cells."""
    if isinstance(value, str):
        return str(read_text(value, place))
    lines = value if isinstance(value, list | tuple) and len(value) > 1 else [value]
    if not all(isinstance(line, int) and not isinstance(line, bool) and line >= 0 for line in lines):
        raise UnfitError(place, f"{value!r} must be the line number of the header, or 0 if there is none")
    return tuple(lines) if len(lines) > 1 else int(lines[0])


def read_words(value: Any, place: str) -> dict[str, Scalar]:
    table = table_of(read_scalar)(value, place)
    if len(table) > MAX_WORDS:
        raise UnfitError(place, f"has {len(table)} entries; a map can have up to {MAX_WORDS}")
    return table  # type: ignore[no-any-return]


def read_rewriting(value: Any, place: str) -> tuple[str, str]:
    """Read a pattern and its replacement, in which $1 is the first group."""
    both = as_list(value, place)
    if [type(item) for item in both] != [str, str]:
        raise UnfitError(place, 'must be a pattern and its replacement, such as ["^C?(.*)$", "ZCT$1"]')
    return read_pattern(both[0], place), re.sub(r"\$(\d+)", r"${\1}", both[1])


def read_source(value: Any, place: str) -> SourceRule:
    rule = SourceRule(**read_table(value, place, OF_SOURCE))
    if rule.thousands == rule.decimal:
        raise UnfitError("source.thousands", f"{rule.thousands!r} is also the decimal mark. Use another mark.")
    return rule


def read_join(value: Any, place: str) -> Join:
    table = read_table(value, place, {"file": read_text, "on": lambda on, _place: on})
    on, both = table.get("on"), {"here": read_text, "there": read_text}
    ends = read_table({"here": on, "there": on} if isinstance(on, str) else on, f"{place}.on", both)
    here, there = (read_text(ends.get(key), f"{place}.on.{key}") for key in both)
    return Join(read_text(table.get("file"), f"{place}.file"), here, there)


def read_layout(value: Any, place: str) -> Layout:
    layout = Layout(**read_table(value, place, OF_LAYOUT))
    for key in value:
        if key not in LAYOUTS[layout.kind]:
            raise UnfitError(f"layout.{key}", f"is not a key of the layout {layout.kind}")
    if layout.kind == "wide" and len(layout.sides) <= 1:
        raise UnfitError("layout.sides", 'write at least two sides, such as [{ player = "winner", position = 1 }, …]')
    return layout


def read_sides(value: Any, place: str) -> tuple[dict[str, Rule], ...]:
    return tuple(read_rules(side, f"{place}[{number}]") for number, side in enumerate(as_list(value, place), start=1))


def read_condition(value: Any, place: str) -> Condition:
    table = read_table(value, place, OF_CONDITION)
    is_unless = "unless" in table
    keys = ("unless" if is_unless else "column", read_any_text), ("reason", read_text)
    column, reason = (read(table.pop(key, None), f"{place}.{key}") for key, read in keys)
    when = table.pop("when", None)
    if len(table) != 1:
        raise UnfitError(place, "give one of equals, in, matches and null")
    words = [table.pop("equals")] if "equals" in table else table.pop("in", [])
    return Condition(column, reason, is_unless, tuple(map(as_text, words)), **table, when=when)


def read_where(value: Any, place: str) -> dict[str, Any]:
    """Read conditions and rules for whole rows. To keep rows that meet a condition is to drop those that do not."""
    where = read_table(value, place, OF_WHERE)
    kept = (replace(condition, is_unless=not condition.is_unless) for condition in where.pop("keep", ()))
    return {**where, "drop": (*where.get("drop", ()), *kept)}


def read_rules(value: Any, place: str) -> dict[str, Rule]:
    table = as_table(value, place)
    if len(table) > MAX_COLUMNS:
        raise UnfitError(place, f"has {len(table)} columns; a map can have up to {MAX_COLUMNS}")
    return {key: read_rule(rule, f"{place}.{read_word(key, place, (*ALL, LAPS))}", key) for key, rule in table.items()}


def read_rule(value: Any, place: str, column: str) -> Rule:
    if isinstance(value, str):
        return Rule(first=(value,)) if "{" in value else Rule(columns=(read_text(value, place),))
    if isinstance(value, int | float):
        return Rule(value=value)
    if isinstance(value, list | tuple):
        return Rule(columns=read_names(value, place))
    made = read_table(value, place, OF_RULE)
    if len(value.keys() & STATED) != 1:
        raise UnfitError(place, "give one of value, from and first")
    origin = value.get("from")
    if isinstance(origin, str) and "{" in origin:
        made |= {"columns": (), "first": (origin,)}
    rule = Rule(**made)
    check_rule(rule, place, column)
    return rule


def check_rule(rule: Rule, place: str, column: str) -> None:
    """Reject keys of a rule that need another key or apply to another results column."""
    has_outcome = rule.then is not None or rule.other is not None
    if rule.default is not None and rule.words is None:
        raise UnfitError(f"{place}.default", "applies to words that are not in map. Add map as well.")
    if rule.equals is None and has_outcome:
        raise UnfitError(place, "then and other need equals. Write the column to compare with.")
    if rule.equals is not None and not has_outcome:
        raise UnfitError(
            place, "equals needs then or other: the values to use if the two are equal, and if they differ"
        )
    if rule.gap is not None and column != "time_s":
        raise UnfitError(f"{place}.gap", "is only for time_s. It adds a gap to the leader's time.")
    if (rule.format or rule.epoch) and column != "started_at":
        raise UnfitError(place, "format and epoch are only for started_at")
    if column == "status":
        words = (*(rule.words or {}).values(), rule.null, rule.default, rule.value, rule.then, rule.other)
        for word in (word for word in words if word is not None):
            read_word(word, place, STATUSES)
    elif rule.started:
        raise UnfitError(f"{place}.started", "is only for status. It names columns that show who started.")


OF_SOURCE: dict[str, Reader] = dict.fromkeys(SourceRule.__dataclass_fields__, read_text) | {
    "format": one_of(*FORMATS), "decimal": one_of(".", ",", ".,"),
    "thousands": one_of(".", ",", " ", "'", "_", "\u00a0", "\u202f"), "header": read_header,
    "width": lambda value, place: int(number_above(0)(value, place)), "null": read_texts, "fill": read_texts,
    "aside": read_texts, "pattern": read_pattern, "names": read_pattern, "delimiter": read_mark,
    "timezone": lambda value, place: LocalTimes(read_text(value, place)).name,
}  # fmt: skip
OF_RULE: dict[str, Reader] = {
    "value": read_scalar, "from": read_names, "first": read_names, "regex": read_rewriting, "map": read_words,
    "null": read_scalar, "default": read_scalar, "then": read_scalar, "other": read_scalar,
    "as": one_of("number", "place", "duration", "result", "sets", "text"), "else": one_of("bad", "null"),
    "gap": one_of("leader", "previous"), "lapped": read_text, "scale": number_above(0), "format": read_text,
    "epoch": one_of("s", "ms", "excel"), "offset": number_above(-1e9),
    "side": lambda value, place: int(one_of("1", "2")(value, place)), "split": read_text, "count": read_truth,
    "started": read_names, "equals": read_text,
}  # fmt: skip
OF_LAYOUT: dict[str, Reader] = {
    "kind": one_of(*LAYOUTS), "sides": read_sides, "rows": read_any_text, "except": read_texts,
    "empty": one_of("drop", "keep"), "number": read_any_text,
}  # fmt: skip
OF_CONDITION: dict[str, Reader] = {
    "column": read_any_text, "unless": read_any_text, "equals": read_scalar, "in": as_list, "null": read_truth,
    "matches": lambda value, place: f"^(?:{read_pattern(value, place)})$", "same": read_text, "below": read_text,
    "when": lambda value, place: read_condition({"reason": "when", **as_table(value, place)}, place),
    "reason": read_text,
}  # fmt: skip
CONDITIONS = list_of(read_condition)
OF_WHERE: dict[str, Reader] = {"drop": CONDITIONS, "keep": CONDITIONS, "distinct": read_truth, "once": read_once}
OF_MAP: dict[str, Reader] = {
    "preset": as_table, "source": read_source, "join": table_of(read_join), "layout": read_layout,
    "where": read_where, "columns": read_rules,
}  # fmt: skip


def write_map(document: Mapping[str, Any]) -> str:
    """Return the document of a map as TOML. Only top-level tables have headings."""
    lines: list[str] = []

    def add(table: Mapping[str, Any], name: str) -> None:
        if name:
            lines.extend(["", f"[{name}]"] if lines else [f"[{name}]"])
        lines.extend(f"{toml_key(key)} = {toml_value(value)}" for key, value in table.items())

    for name, table in document.items():
        if name == "join":
            for key, join in table.items():
                add(join, f"join.{toml_key(key)}")
        elif table:
            add(table, name)
    return "\n".join(lines) + "\n"


def toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_value(key)


def toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(key)} = {toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, str | bool):  # the same as in JSON, which may also contain the character 127
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return repr(value)
