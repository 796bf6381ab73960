"""Read maps from TOML and write them. Every key is checked; a similar name is suggested for an unknown one."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from podium.errors import ParameterError
from podium.importers.grid import SourceRule
from podium.importers.tables.model import CELL, LAPS, Condition, Join, Layout, Map, Rule, Scalar, template
from podium.importers.times import LocalTimes
from podium.importers.trees import as_text
from podium.results.columns import ALL, STATUSES
from podium.support.words import suggestion

FORMATS = ("csv", "xlsx", "xls", "xlsb", "ods", "json", "jsonl", "xml", "lines", "sqlite", "parquet")
GRID = {"rows", "except", "empty"}
LAYOUTS = {  # keys of each kind
    "long": set[str](), "wide": {"sides"}, "matrix": GRID, "crosstable": GRID | {"number"}, "swiss": GRID | {"number"},
}  # fmt: skip
MAX_COLUMNS, MAX_WORDS = 64, 100
FIELDS = {
    "from": "columns",
    "map": "words",
    "as": "kind",
    "else": "otherwise",
}  # fields of rules by other keys
STATED = {"value", "from", "first"}  # keys of a rule for the source of a column


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
    """Build a map from its TOML document. Unknown keys and values are rejected.

    A partial map may lack columns, and its rules may say only how to read a column.
    """
    try:
        return read_document(document, name, is_partial=is_partial)
    except UnfitError as error:
        raise ParameterError(f"{name}: {error}") from None


def read_document(document: Mapping[str, Any], name: str, *, is_partial: bool) -> Map:
    top = read_table(document, "", ("preset", "source", "join", "layout", "where", "columns"))
    joins = read_table(top.get("join", {}), "join")
    where = read_table(top.get("where", {}), "where", ("drop", "keep", "distinct", "once"))
    once = read_names(where["once"], "where.once") if "once" in where else ()
    if len(once) == 1:
        remedy = f"{once[0]!r} must name the columns of the player and the opponent, then those of the date"
        raise UnfitError("where.once", remedy)
    known = read_table(top.get("columns", {}), "columns")
    if is_partial:  # refinements wait for the rules that headings make
        known = {column: rule for column, rule in known.items() if not is_refinement(rule)}
    columns = read_rules(known, "columns")
    layout = read_layout(top.get("layout", {}))
    has_names = layout.kind == "matrix" and "player" in columns and columns["player"].columns == (CELL,)
    if "rows" in LAYOUTS[layout.kind] and layout.rows is None and not has_names:
        raise UnfitError("layout.rows", "is missing. Name the column with the names of the lines.")
    if not columns and not any(layout.sides) and not is_partial:
        raise UnfitError("columns", "is missing or empty. Write [columns] with event_id, player and the other columns.")
    drop, keep = (
        tuple(read_condition(each, f"where.{way}") for each in read_list(where.get(way, []), f"where.{way}"))
        for way in ("drop", "keep")
    )
    return Map(
        name,
        read_source(top.get("source", {})),
        {key: read_join(join, f"join.{key}") for key, join in joins.items()},
        layout,
        drop,
        keep,
        read_truth(where.get("distinct", False), "where.distinct"),
        once,
        columns,
        document,
        is_preset="preset" in top,
        needs=tuple(top.get("preset", {}).get("needs", ())),
    )


def is_refinement(rule: Any) -> bool:
    """Return True if a rule says how to read a column, but not which."""
    return isinstance(rule, Mapping) and not STATED & rule.keys()


def read_word(value: Any, place: str, allowed: Iterable[str]) -> str:
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        raise UnfitError(place, f"{value!r} is not known{suggestion(str(value), words)} (known: {', '.join(words)})")
    return value


def read_table(value: Any, place: str, known: Iterable[str] | None = None) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise UnfitError(place, f"{value!r} must be a table of keys and values")
    for key in value if known is not None else ():
        read_word(key, place, known or ())
    return dict(value)


def read_list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise UnfitError(place, f"{value!r} must be a list, in square brackets")
    return list(value)


def read_text(value: Any, place: str, *, may_be_empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or may_be_empty):
        raise UnfitError(place, f"{value!r} must be text")
    return value


def read_texts(value: Any, place: str) -> tuple[str, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(read_text(each, place, may_be_empty=True) for each in values)


def read_names(value: Any, place: str) -> tuple[str, ...]:
    found = read_texts(value, place)
    if not all(found) or not found:
        raise UnfitError(place, f"{value!r} must be the name of a column, or a list of names")
    return found


def read_scalar(value: Any, place: str) -> Scalar:
    if not isinstance(value, str | int | float | bool):
        raise UnfitError(place, f"{value!r} must be text, a number, true or false")
    return value


def read_pattern(value: Any, place: str) -> str:
    """Read a regular expression without backreferences and lookaround, so that it takes time linear in the text."""
    text = read_text(value, place)
    try:
        pl.Series([""]).str.contains(text)
    except pl.exceptions.PolarsError as error:
        reason = next((line for line in reversed(str(error).splitlines()) if line.startswith("error")), "")
        remedy = f"{text!r} is not a pattern ({reason.removeprefix('error: ') or 'see RE2'})"
        raise UnfitError(place, remedy) from None
    return text


def read_zone(value: Any, place: str) -> str:
    return LocalTimes(read_text(value, place)).name


def read_truth(value: Any, place: str) -> bool:
    if not isinstance(value, bool):
        raise UnfitError(place, f"{value!r} must be true or false")
    return value


def read_mark(value: Any, place: str) -> str:
    mark = read_text(value, place)
    if len(mark.encode()) != 1 or mark in '"\r\n':
        raise UnfitError(place, f"{value!r} must be a single ASCII character, such as , or ;")
    return mark


def read_header(value: Any, place: str) -> int | str | tuple[int, ...]:
    """Read the line of a head, its two lines, or one of its cells."""
    if isinstance(value, str):
        return read_text(value, place)
    lines = value if isinstance(value, list | tuple) and len(value) > 1 else [value]
    if not all(isinstance(line, int) and not isinstance(line, bool) and line >= 0 for line in lines):
        raise UnfitError(place, f"{value!r} must be the line number of the header, or 0 if there is none")
    return tuple(lines) if len(lines) > 1 else int(lines[0])


def read_number(value: Any, place: str, *, at_least: float = 0) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not at_least < value < float("inf"):
        raise UnfitError(place, f"{value!r} must be a number above {at_least:g}")
    return float(value)


def read_offset(value: Any, place: str) -> float:
    return read_number(value, place, at_least=-1e9)


def read_width(value: Any, place: str) -> int:
    return int(read_number(value, place))


def read_words(value: Any, place: str) -> dict[str, Scalar]:
    table = read_table(value, place)
    if len(table) > MAX_WORDS:
        raise UnfitError(place, f"has {len(table)} entries; a map has up to {MAX_WORDS}")
    return {key: read_scalar(each, f"{place}.{key}") for key, each in table.items()}


def read_rewriting(value: Any, place: str) -> tuple[str, str]:
    """Read a pattern and its replacement, in which $1 is the first group."""
    both = read_list(value, place)
    if [type(each) for each in both] != [str, str]:
        raise UnfitError(place, 'must be a pattern and its replacement, such as ["^C?(.*)$", "ZCT$1"]')
    return read_pattern(both[0], place), re.sub(r"\$(\d+)", r"${\1}", both[1])


Reader = Callable[[Any, str], Any]


def one_of(*words: str) -> Reader:
    return lambda value, place: read_word(str(value), place, words)


OF_SOURCE: dict[str, Reader] = {
    "format": one_of(*FORMATS), "decimal": one_of(".", ",", ".,"),
    "thousands": one_of(".", ",", " ", "'", "_", "\u00a0", "\u202f"), "header": read_header, "width": read_width,
    "null": read_texts, "fill": read_texts, "aside": read_texts, "pattern": read_pattern, "names": read_pattern,
    "timezone": read_zone, "delimiter": read_mark,
}  # fmt: skip
OF_RULE: dict[str, Reader] = {
    "value": read_scalar, "from": read_names, "first": read_names, "regex": read_rewriting, "map": read_words,
    "null": read_scalar, "default": read_scalar, "then": read_scalar, "other": read_scalar,
    "as": one_of("number", "place", "duration", "result", "text"), "else": one_of("bad", "null"),
    "gap": one_of("leader", "previous"), "lapped": read_text, "scale": read_number, "format": read_text,
    "epoch": one_of("s", "ms", "excel"), "offset": read_offset, "side": one_of("1", "2"), "split": read_text,
    "count": read_truth, "started": read_names, "equals": read_text,
}  # fmt: skip


def read_value(readers: Mapping[str, Reader], key: str, value: Any, place: str) -> Any:
    reader: Reader = readers.get(key, read_text)
    return reader(value, f"{place}.{key}")


def read_source(value: Any) -> SourceRule:
    table = read_table(value, "source", SourceRule.__dataclass_fields__)
    rule = SourceRule(**{key: read_value(OF_SOURCE, key, each, "source") for key, each in table.items()})
    if rule.thousands == rule.decimal:
        raise UnfitError("source.thousands", f"{rule.thousands!r} is also the decimal mark. Use another mark.")
    return rule


def read_join(value: Any, place: str) -> Join:
    table = read_table(value, place, ("file", "on"))
    on = table.get("on")
    ends = read_table({"here": on, "there": on} if isinstance(on, str) else on, f"{place}.on", ("here", "there"))
    here, there = (read_text(ends.get(key), f"{place}.on.{key}") for key in ("here", "there"))
    return Join(read_text(table.get("file"), f"{place}.file"), here, there)


def read_layout(value: Any) -> Layout:
    table = read_table(value, "layout", ("kind", "sides", "rows", "except", "empty", "number"))
    kind = read_word(table.get("kind", "long"), "layout.kind", LAYOUTS)
    for key in table:
        if key not in {"kind", *LAYOUTS[kind]}:
            raise UnfitError(f"layout.{key}", f"is not a key of the layout {kind}")
    places = enumerate(read_list(table.get("sides", []), "layout.sides"), start=1)
    sides = tuple(read_rules(side, f"layout.sides[{number}]") for number, side in places)
    if kind == "wide" and len(sides) <= 1:
        raise UnfitError("layout.sides", 'write at least two sides, such as [{ player = "winner", position = 1 }, …]')
    names = {
        key: read_text(table[key], f"layout.{key}", may_be_empty=True) for key in ("rows", "number") if key in table
    }
    empty = read_word(table.get("empty", "drop"), "layout.empty", ("drop", "keep"))
    return Layout(kind, sides, excluded=read_texts(table.get("except", []), "layout.except"), empty=empty, **names)


def read_condition(value: Any, place: str) -> Condition:
    tests = ("equals", "in", "matches", "null")
    table = read_table(value, place, ("column", *tests, "reason"))
    column = read_text(table.get("column"), f"{place}.column", may_be_empty=True)
    reason = read_text(table.get("reason"), f"{place}.reason")
    if sum(key in table for key in tests) != 1:
        raise UnfitError(place, "give one of equals, in, matches and null")
    words = [read_scalar(table["equals"], f"{place}.equals")] if "equals" in table else table.get("in", [])
    return Condition(
        column,
        reason,
        tuple(map(as_text, read_list(words, place))),
        f"^(?:{read_pattern(table['matches'], place)})$" if "matches" in table else None,
        read_truth(table["null"], f"{place}.null") if "null" in table else None,
    )


def read_rules(value: Any, place: str) -> dict[str, Rule]:
    table = read_table(value, place, (*ALL, LAPS))
    if len(table) > MAX_COLUMNS:
        raise UnfitError(place, f"has {len(table)} columns; a map has up to {MAX_COLUMNS}")
    return {key: read_rule(each, f"{place}.{key}", key) for key, each in table.items()}


def read_rule(value: Any, place: str, column: str) -> Rule:
    if isinstance(value, str):
        return Rule(template=template(value)) if "{" in value else Rule(columns=(read_text(value, place),))
    if isinstance(value, int | float):
        return Rule(value=value)
    if isinstance(value, list | tuple):
        return Rule(columns=read_names(value, place))
    table = read_table(value, place, OF_RULE)
    if len(table.keys() & STATED) != 1:
        raise UnfitError(place, "give one of value, from and first")
    origin = table.get("from")
    made: dict[str, Any] = {}
    if isinstance(origin, str) and "{" in origin:
        made["template"] = template(table.pop("from"))
    made |= {FIELDS.get(key, key): read_value(OF_RULE, key, each, place) for key, each in table.items()}
    rule = Rule(**made | {"side": int(made.get("side", 1))})
    check_rule(rule, place, column)
    return rule


def check_rule(rule: Rule, place: str, column: str) -> None:
    """Reject keys of a rule that need another key, or apply to another results column."""
    has_outcome = rule.then is not None or rule.other is not None
    if rule.default is not None and rule.words is None:
        raise UnfitError(f"{place}.default", "is for words that are not in map. Write map as well.")
    if rule.equals is None and has_outcome:
        raise UnfitError(place, "then and other need equals. Write the column to compare with.")
    if rule.equals is not None and not has_outcome:
        raise UnfitError(place, "equals needs then or other, the values if the two are equal and if they differ")
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


def write_map(document: Mapping[str, Any]) -> str:
    """Return the document of a map as TOML. Only top-level tables have their own lines."""
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
