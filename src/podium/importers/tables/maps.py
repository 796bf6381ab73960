"""Maps from TOML: every key checked, unknown ones refused with the nearest name; and maps to TOML."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from podium.errors import ParameterError
from podium.importers.grid import SourceRule
from podium.importers.tables.model import LAPS, Condition, Join, Layout, Map, Rule, Scalar, template
from podium.importers.times import LocalTimes
from podium.importers.trees import as_text
from podium.results.columns import ALL, STATUSES
from podium.support.words import suggestion

FORMATS = ("csv", "xlsx", "xls", "xlsb", "ods", "json", "jsonl", "xml", "lines", "sqlite", "parquet")
LAYOUTS = ("long", "wide", "matrix", "crosstable", "swiss")
MAX_COLUMNS, MAX_WORDS = 64, 100
OF_SOURCE: dict[str, str | tuple[str, ...]] = {  # what each key is: a method that reads it, or the words that it may be
    "format": FORMATS, "decimal": (".", ",", ".,"), "thousands": (".", ",", " ", "'", "_", "\u00a0", "\u202f"),
    "header": "header", "width": "whole", "null": "texts", "fill": "texts", "aside": "texts", "pattern": "pattern",
    "names": "pattern", "timezone": "zone", "delimiter": "mark",
}  # fmt: skip
OF_RULE: dict[str, str | tuple[str, ...]] = {
    "value": "scalar", "from": "names", "first": "names", "regex": "rewriting", "map": "words", "null": "scalar",
    "default": "scalar", "equals": "text", "then": "scalar", "other": "scalar",
    "as": ("number", "place", "duration", "result", "text"), "else": ("bad", "null"), "gap": ("leader", "previous"),
    "lapped": "text", "scale": "number", "format": "text", "epoch": ("s", "ms", "excel"), "offset": "offset",
    "side": ("1", "2"), "split": "text", "count": "truth", "started": "names",
}  # fmt: skip
FIELDS = {"from": "columns", "map": "words", "as": "kind", "else": "otherwise"}  # of a rule that are called otherwise


def load_map(path: Path) -> Map:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ParameterError(f"{path}: is not TOML ({error})") from None
    return build_map(document, str(path))


def build_map(document: Mapping[str, Any], name: str = "map", *, is_partial: bool = False) -> Map:
    reader = Reader(name)
    top = reader.table(document, "", ("preset", "source", "join", "layout", "where", "columns"))
    joins = reader.table(top.get("join", {}), "join")
    where = reader.table(top.get("where", {}), "where", ("drop", "keep", "distinct", "once"))
    once = reader.names(where["once"], "where.once") if "once" in where else ()
    if len(once) == 1:
        reader.refuse(
            "where.once", f"{once[0]!r} must name the columns of a player and of the opponent, and those of when"
        )
    known_columns = reader.table(top.get("columns", {}), "columns")
    if is_partial:  # what refines a rule that the headings make waits for it
        known_columns = {name: rule for name, rule in known_columns.items() if not is_refinement(rule)}
    columns = reader.rules(known_columns, "columns")
    layout = reader.layout(top.get("layout", {}))
    every = {**columns, **{key: rule for side in layout.sides for key, rule in side.items()}}
    if not every and not is_partial:
        reader.refuse("columns", "is missing or empty: write [columns] with event_id, player and what else there is")
    return Map(
        name,
        reader.source(top.get("source", {})),
        {str(key): reader.join(value, f"join.{key}") for key, value in joins.items()},
        layout,
        tuple(reader.condition(each, "where.drop") for each in reader.items(where.get("drop", []), "where.drop")),
        tuple(reader.condition(each, "where.keep") for each in reader.items(where.get("keep", []), "where.keep")),
        reader.truth(where.get("distinct", False), "where.distinct"),
        once,
        columns,
        document,
        is_preset="preset" in top,
        needs=tuple(top.get("preset", {}).get("needs", ())),
    )


def is_refinement(rule: Any) -> bool:
    """Whether a rule says how, and not of what a column is made."""
    return isinstance(rule, Mapping) and not {"value", "from", "first"} & rule.keys()


class Reader:
    def __init__(self, name: str) -> None:
        self.name = name

    def refuse(self, place: str, remedy: str) -> None:
        raise ParameterError(f"{self.name}: {place}: {remedy}" if place else f"{self.name}: {remedy}")

    def choose(self, value: Any, place: str, allowed: Iterable[str]) -> str:
        words = list(allowed)
        if value not in words or not isinstance(value, str):
            self.refuse(place, f"{value!r} is not known{suggestion(str(value), words)} ({', '.join(words)})")
        return str(value)

    def table(self, value: Any, place: str, known: Iterable[str] | None = None) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            self.refuse(place, f"{value!r} must be a table of keys and values")
        for key in value:
            if known is not None:
                self.choose(key, place, known)
        return dict(value)

    def items(self, value: Any, place: str) -> list[Any]:
        if not isinstance(value, list | tuple):
            self.refuse(place, f"{value!r} must be a list, in square brackets")
        return list(value)

    def text(self, value: Any, place: str, *, may_be_empty: bool = False) -> str:
        if not isinstance(value, str) or not (value or may_be_empty):
            self.refuse(place, f"{value!r} must be a text")
        return str(value)

    def texts(self, value: Any, place: str) -> tuple[str, ...]:
        values = self.items(value, place) if isinstance(value, list | tuple) else [value]
        return tuple(self.text(each, place, may_be_empty=True) for each in values)

    def names(self, value: Any, place: str) -> tuple[str, ...]:
        found = self.texts(value, place)
        if not all(found) or not found:
            self.refuse(place, f"{value!r} must be the name of a column, or a list of names")
        return found

    def scalar(self, value: Any, place: str) -> Scalar:
        if not isinstance(value, str | int | float | bool):
            self.refuse(place, f"{value!r} must be a text, a number or a truth")
        return value  # type: ignore[no-any-return]

    def pattern(self, value: Any, place: str) -> str:
        """A regular expression, of those that take time in proportion to the text: no backreferences, no lookaround."""
        text = self.text(value, place)
        try:
            pl.Series([""]).str.contains(text)
        except pl.exceptions.PolarsError as error:
            reason = next((line for line in reversed(str(error).splitlines()) if line.startswith("error")), "")
            self.refuse(place, f"{text!r} is not a pattern ({reason.removeprefix('error: ') or 'see RE2'})")
        return text

    def source(self, value: Any) -> SourceRule:
        table = self.table(value, "source", SourceRule.__dataclass_fields__)
        rule = SourceRule(**{key: self.value(OF_SOURCE, key, each, "source") for key, each in table.items()})
        if rule.thousands == rule.decimal:
            self.refuse("source.thousands", f"{rule.thousands!r} is the decimal mark; the two must differ")
        return rule

    def value(self, known: Mapping[str, str | tuple[str, ...]], key: str, value: Any, place: str) -> Any:
        read = known.get(key, "text")
        if isinstance(read, tuple):
            return self.choose(str(value), f"{place}.{key}", read)
        return getattr(self, read)(value, f"{place}.{key}")

    def zone(self, value: Any, place: str) -> str:
        return LocalTimes(self.text(value, place)).name

    def whole(self, value: Any, place: str) -> int:
        return int(self.number(value, place))

    def truth(self, value: Any, place: str) -> bool:
        if not isinstance(value, bool):
            self.refuse(place, f"{value!r} must be true or false")
        return bool(value)

    def mark(self, value: Any, place: str) -> str:
        mark = self.text(value, place)
        if len(mark.encode()) != 1 or mark in '"\r\n':
            self.refuse(place, f"{value!r} must be one character of ASCII, as , or ;")
        return mark

    def header(self, value: Any, place: str) -> int | str | tuple[int, ...]:
        """The line of a head, its two lines, or a cell of it."""
        if isinstance(value, str):
            return self.text(value, place)
        lines = value if isinstance(value, list | tuple) and len(value) > 1 else [value]
        if not all(isinstance(line, int) and not isinstance(line, bool) and line >= 0 for line in lines):
            self.refuse(place, f"{value!r} must be the number of the header's line; 0 where there is none")
        return tuple(lines) if len(lines) > 1 else int(lines[0])

    def join(self, value: Any, place: str) -> Join:
        table = self.table(value, place, ("file", "on"))
        on = table.get("on")
        if isinstance(on, str):
            on = {"here": on, "there": on}
        ends = self.table(on, f"{place}.on", ("here", "there"))
        here, there = (self.text(ends.get(key), f"{place}.on.{key}") for key in ("here", "there"))
        return Join(self.text(table.get("file"), f"{place}.file"), here, there)

    def layout(self, value: Any) -> Layout:
        table = self.table(value, "layout", ("kind", "sides", "rows", "except", "empty", "number"))
        kind = self.choose(table.get("kind", "long"), "layout.kind", LAYOUTS)
        grid = {"rows", "except", "empty"}
        wanted = {"wide": {"sides"}, "matrix": grid, "crosstable": grid | {"number"}, "swiss": grid | {"number"}}
        for key in table:
            if key not in {"kind"} | wanted.get(kind, set()):
                self.refuse(f"layout.{key}", f"does not belong to a layout of kind {kind}")
        places = enumerate(self.items(table.get("sides", []), "layout.sides"), start=1)
        sides = tuple(self.rules(side, f"layout.sides[{number}]") for number, side in places)
        if kind == "wide" and len(sides) <= 1:
            self.refuse("layout.sides", 'write two sides or more, as [{ player = "winner", position = 1 }, …]')
        if kind in ("matrix", "crosstable", "swiss") and "rows" not in table:
            self.refuse("layout.rows", "is missing: the column with the name of each line")
        rows = self.text(table["rows"], "layout.rows", may_be_empty=True) if "rows" in table else None
        empty = self.choose(table.get("empty", "drop"), "layout.empty", ("drop", "keep"))
        number = self.text(table["number"], "layout.number", may_be_empty=True) if "number" in table else None
        return Layout(kind, sides, rows, self.texts(table.get("except", []), "layout.except"), empty, number)

    def condition(self, value: Any, place: str) -> Condition:
        table = self.table(value, place, ("column", "equals", "in", "matches", "null", "reason"))
        column = self.text(table.get("column"), f"{place}.column", may_be_empty=True)
        reason = self.text(table.get("reason"), f"{place}.reason")
        tests = [key for key in ("equals", "in", "matches", "null") if key in table]
        if len(tests) != 1:
            self.refuse(place, "give one of equals, in, matches and null")
        words = [self.scalar(table["equals"], f"{place}.equals")] if "equals" in table else table.get("in", [])
        return Condition(
            column,
            reason,
            tuple(map(as_text, self.items(words, place))),
            f"^(?:{self.pattern(table['matches'], place)})$" if "matches" in table else None,
            self.truth(table["null"], f"{place}.null") if "null" in table else None,
        )

    def rules(self, value: Any, place: str) -> dict[str, Rule]:
        table = self.table(value, place, (*ALL, LAPS))
        if len(table) > MAX_COLUMNS:
            self.refuse(place, f"has {len(table)} columns; a map has up to {MAX_COLUMNS}")
        return {key: self.rule(each, f"{place}.{key}", key) for key, each in table.items()}

    def rule(self, value: Any, place: str, column: str) -> Rule:
        if isinstance(value, str):
            return Rule(template=template(value)) if "{" in value else Rule(columns=(self.text(value, place),))
        if isinstance(value, int | float):
            return Rule(value=value)
        if isinstance(value, list | tuple):
            return Rule(columns=self.names(value, place))
        table = self.table(value, place, OF_RULE)
        if len(table.keys() & {"value", "from", "first"}) != 1:
            self.refuse(place, "give one of value, from and first")
        source = table.get("from")
        made: dict[str, Any] = {"template": template(source)} if isinstance(source, str) and "{" in source else {}
        keys = [key for key in table if key != "from" or not made]
        made |= {FIELDS.get(key, key): self.value(OF_RULE, key, table[key], place) for key in keys}
        rule = Rule(**made | {"side": int(made.get("side", 1))})
        self.check_rule(rule, table, place, column)
        return rule

    def check_rule(self, rule: Rule, table: Mapping[str, Any], place: str, column: str) -> None:
        if "default" in table and rule.words is None:
            self.refuse(f"{place}.default", "is for words that are not in map: write map, too")
        if rule.equals is None and ("then" in table or "other" in table):
            self.refuse(place, "then and other belong to equals: write the column to compare with")
        if rule.equals is not None and rule.then is None and rule.other is None:
            self.refuse(place, "equals needs then or other: what stands where the two are equal, and where not")
        if rule.gap is not None and column != "time_s":
            self.refuse(f"{place}.gap", "is for time_s: the time of the leader and a gap make a time")
        if (rule.format or rule.epoch) and column != "started_at":
            self.refuse(place, "format and epoch are for started_at")
        if rule.started and column != "status":
            self.refuse(f"{place}.started", "is for status: the columns that say who started")
        if column == "status":
            words = [*(rule.words or {}).values(), rule.null, rule.default, rule.value, rule.then, rule.other]
            for word in words:
                if word is not None:
                    self.choose(word, place, STATUSES)

    def words(self, value: Any, place: str) -> dict[str, Scalar]:
        table = self.table(value, place)
        if len(table) > MAX_WORDS:
            self.refuse(place, f"has {len(table)} entries; a map has up to {MAX_WORDS}")
        return {key: self.scalar(each, f"{place}.{key}") for key, each in table.items()}

    def rewriting(self, value: Any, place: str) -> tuple[str, str]:
        """A pattern and its replacement, in which $1 is the first group."""
        both = self.items(value, place)
        if [type(each) for each in both] != [str, str]:
            self.refuse(place, 'must be a pattern and what it becomes, as ["^C?(.*)$", "ZCT$1"]')
        return self.pattern(both[0], place), re.sub(r"\$(\d+)", r"${\1}", both[1])

    def offset(self, value: Any, place: str) -> float:
        return self.number(value, place, at_least=-1e9)

    def number(self, value: Any, place: str, *, at_least: float = 0) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not at_least < value < float("inf"):
            self.refuse(place, f"{value!r} must be a number above {at_least:g}")
        return float(value)


def write_map(document: Mapping[str, Any]) -> str:
    """The document of a map as TOML: tables of their own, whatever is within them in a line."""
    lines: list[str] = []

    def add(table: Mapping[str, Any], name: str) -> None:
        if name:
            lines.extend(["", f"[{name}]"] if lines else [f"[{name}]"])
        lines.extend(f"{toml_key(key)} = {toml_value(value)}" for key, value in table.items())

    for name, table in document.items():
        if name == "join":
            for key, each in table.items():
                add(each, f"join.{toml_key(key)}")
        elif table:
            add(table, name)
    return "\n".join(lines) + "\n"


def toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_value(key)


def toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        shown = re.sub(r"[\x00-\x1f\x7f]", lambda each: f"\\u{ord(each[0]):04X}", escaped)
        return f'"{shown}"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(key)} = {toml_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(each) for each in value) + "]"
    return repr(value)
