"""Read JSON, XML and web pages: the rows at a path, the objects around each row, and values with their places."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from html import unescape
from typing import Any, NamedTuple
from xml.parsers import expat

import polars as pl

from podium.errors import Fault, FormatError
from podium.importers.sources import MAX_DEPTH, Source, decode, refuse_file, strict_json
from podium.results.columns import refuse_wide
from podium.results.headings import PAIRING, fold, is_heading, is_round, known_column, side_of

STEP = re.compile(r"([^.\[\]]*)((?:\[\]\??)?)")
A_NUMBER = re.compile(r"-?\d+(\.\d+)?")
COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
FROM_AROUND = re.compile(r"(\.\.|\^*)(.*)", re.DOTALL)
MAX_NAMES = 100_000  # maximum number of keys, in an object, that may be names of players or events
NUMBER, KEY = "#", "@"  # the number of a row in its list, from 1, and the key of the row or list
UNSEEN = re.compile(r"(?is)<!--.*?-->|<(script|style|tfoot)\b.*?</\1>|\s+")  # the invisible parts of a page
CELL, TAG = re.compile(r"(?i)<(?:t[dh]|caption)\b[^>]*>|^h[1-4][^>]*>|^caption[^>]*>"), re.compile(r"<[^>]*>")
END = re.compile(r"(?i)</(?:t[dhr]|table|h\d|caption)\b")
SPAN = re.compile(r"\b(row|col)span\s*=\s*[\"']?(\d{1,2})\b")
SPANNED_CHARACTERS = 10_000_000  # number of characters on a page after which cells span no rows
ENTITY_CHARACTERS = 64  # text in an XML document's own entity, whose value is not used


class Level(NamedTuple):
    value: Any
    key: str = ""
    number: int | None = None


Chain = tuple[Level, ...]  # the row, followed by the objects around it, from the inside out


def from_tree(
    text: str, name: str, kind: str, records: str | None, wanted: Collection[str]
) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows in JSON, in lines of JSON or in XML, and their places."""
    if kind == "jsonl":
        parts = lines_of(text)
        documents = ((place, strict_json(part, name, literal_numbers=True, place=place)) for place, part in parts)
        return rows_of_tree(documents, name, records or "", wanted)
    whole = xml_document(text, name) if kind == "xml" else json_document(text, name)
    keyed = listed(whole) if kind == "json" else whole
    if records is None or next(walk(Level(keyed), parse_path(records, name), (), ""), None) is not None:
        whole = keyed
    path = records if records is not None else "[]" if isinstance(whole, list) else ""
    return rows_of_tree([("", whole)], name, path, wanted)


def json_document(text: str, name: str) -> Any:
    """Parse a document, preserving the written form of numbers and ignoring comments."""
    if "//" in text or "/*" in text:
        text = COMMENT.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)
    return strict_json(text, name, literal_numbers=True)


def listed(value: Any) -> Any:
    """Convert objects whose keys are names of players or events to lists in which each name is a value."""
    value = in_objects(value)
    if isinstance(value, list):
        rows = [listed(item) for item in value]
        return named("match", map(str, range(1, len(rows) + 1)), rows) if rows and all(map(is_of_names, rows)) else rows
    if not isinstance(value, dict) or len(value) > MAX_NAMES:
        return value
    has_sides = not {"first", "winner"}.isdisjoint(map(side_of, value))
    is_side = any(known_column(key) in ("position", "score") and is_number(inside) for key, inside in value.items())
    parted = {} if has_sides or is_side else {key: inside for key, inside in value.items() if is_pair(inside)}
    inner = {key: listed(inside) for key, inside in value.items() if key not in parted}
    for key, inside in parted.items():
        name = "player" if fold(key) in PAIRING else key
        inner |= {f"{name} {number}": own for number, own in enumerate(inside, start=1)}
    rows = list(inner.values())
    if len(rows) < 2 or any(is_heading(key) and not is_round(key) for key in inner):
        return inner
    if all(isinstance(row, list) and row and isinstance(row[0], dict) for row in rows):
        return named("event", inner, [{"results": row} for row in rows])
    if not all(isinstance(row, dict) for row in rows):
        return inner
    common = set.intersection(*map(set, rows))
    has_name = (isinstance(own, list) or known_column(key) == "player" for key, own in rows[0].items())
    is_player = not any(has_name)
    if all(map(is_of_names, rows)):
        return named("event", inner, rows)
    return named("player" if is_player else "event", inner, rows) if common else inner


def in_objects(value: Any) -> Any:
    """Convert a list of lists with a head, or an object with a list per column, to a list of objects."""
    if isinstance(value, list) and len(value) > 1 and all(isinstance(inside, list) for inside in value):
        head, *rows = value
    elif isinstance(value, dict) and len(value) > 1 and all(isinstance(inside, list) for inside in value.values()):
        head, sizes = list(value), {*map(len, value.values())}
        rows = list(zip(*value.values(), strict=True)) if len(sizes) == 1 and sizes != {2} else []
    else:
        return value
    is_flat = not any(isinstance(cell, dict | list) for row in rows for cell in row)
    is_named = all(isinstance(heading, str) for heading in head) and any(map(is_heading, head))
    is_table = rows and is_flat and is_named and "" not in head and len({*head}) == len(head) >= max(map(len, rows))
    return [dict(zip(head, row, strict=False)) for row in rows] if is_table else value


def is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and not any(isinstance(item, dict | list) for item in value)


def named(what: str, names: Iterable[str], rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{what: name, **row} for name, row in zip(names, rows, strict=True)]


def is_of_names(value: Any) -> bool:
    """Return True if an object's keys are names, not known headings, and its values are numbers."""
    if not isinstance(value, dict) or len(value) < 2 or any(map(is_heading, value)):
        return False
    return all(map(is_number, value.values()))


def is_number(value: Any) -> bool:
    """Return True if a value is a number, which is read as text."""
    return isinstance(value, str) and A_NUMBER.fullmatch(value) is not None


def rows_of_tree(documents: Any, name: str, records: str, wanted: Collection[str]) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows at a path in each document, and their places."""
    rows, chains = list[dict[str, str | None]](), list[Chain]()
    labels, names = list[str](), dict[str, None]()
    steps = parse_path(records, name)
    for label, document in documents:
        for place, chain in walk(Level(document), steps, (), ""):
            where = " ".join(part for part in (label, place.removeprefix(".")) if part) or "the document"
            if not isinstance(chain[0].value, dict):
                refuse_file(name, "is not an object with the columns as keys", where)
            rows.append(fields_of(chain))
            chains.append(chain)
            labels.append(where)
            names |= dict.fromkeys(rows[-1])
            refuse_wide(names, name)
    if not rows and records:
        refuse_file(name, f"has no rows at {records}")
    columns = {name: [row.get(name) for row in rows] for name in names}
    others = {name: texts_at(chains, name) for name in wanted if name not in names}
    columns |= {name: texts for name, texts in others.items() if any(texts) or is_from_around(name)}
    return pl.DataFrame(columns, dict.fromkeys(columns, pl.String)), labels


def parse_path(path: str, name: str) -> list[str]:
    """Return the steps of a path: keys (* matches any part), [] for each item of a list, []? for an optional list."""
    steps: list[str] = []
    for piece in path.split(".") if path else []:
        match = STEP.fullmatch(piece)
        if match is None or not piece:
            refuse_file(name, f"{path!r} is not a path to records. Write it like races[].results[].")
        key, items = match.groups()
        steps += [f"{key}?"] if items == "[]?" else [part for part in (key, items) if part]
    return steps


def walk(level: Level, steps: list[str], above: Chain, place: str) -> Iterator[tuple[str, Chain]]:
    """Yield the values at the end of a path, each with the objects that surround it."""
    value, step = level.value, steps[0] if steps else None
    if step is None:
        yield place, (level, *above)
    elif step == "[]":
        items = value if isinstance(value, list) else [value] if isinstance(value, dict) and value else []
        for number, item in enumerate(items):
            yield from walk(Level(item, level.key, number + 1), steps[1:], above, f"{place}[{number}]")
    elif isinstance(value, dict) and step.endswith("?"):
        key = step.removesuffix("?")
        if value.get(key):
            yield from walk(level, [key, "[]", *steps[1:]], above, place)
        else:  # a single value counts as the only item, so that the levels around items stay the same
            yield from walk(level, steps[1:], (level, *above), place)
    elif isinstance(value, dict):
        for key in [step] if step in value else [key for key in value if fnmatchcase(key, step)]:
            yield from walk(Level(value[key], key), steps[1:], (level, *above), f"{place}.{key}")


def is_from_around(name: str) -> bool:
    """Return True if a name is more than a field's key."""
    return name.startswith("..") or name.endswith((NUMBER, KEY)) or re.search(r"\.\d+(\.|$)", name) is not None


def texts_at(chains: Sequence[Chain], name: str) -> list[str | None]:
    """Return the text for a name in each row.

    `^` goes one level out, `..` to the nearest level with the name, `a.0.b` through lists.
    """
    around, path = FROM_AROUND.fullmatch(name).groups()  # type: ignore[union-attr]
    out = len(around) if around != ".." else 0
    if path in (NUMBER, KEY):
        levels = (chain[out] if out < len(chain) else Level(None) for chain in chains)
        return [level.key if path == KEY else text_of(level.number) for level in levels]
    if around == "..":
        found = (texts_in([level.value for level in chain], path) for chain in chains)
        return [next((text for text in texts if text is not None), None) for texts in found]
    return texts_in([chain[out].value if out < len(chain) else None for chain in chains], path)


def texts_in(values: list[Any], path: str) -> list[str | None]:
    """Return the text at a path in each value."""
    for step in path.split("."):
        values = [value.get(step) if isinstance(value, dict) else item_of(value, step) for value in values]
    return [value if isinstance(value, str) else text_of(value) for value in values]


def text_of(value: Any) -> str | None:
    return None if value is None or isinstance(value, dict | list) else as_text(value)


def item_of(value: Any, step: str) -> Any:
    is_item = isinstance(value, list) and step.isdecimal() and int(step) < len(value)
    return value[int(step)] if is_item else None


def as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def fields_of(chain: Chain) -> dict[str, str | None]:
    fields: dict[str, str | None] = {}
    for number, level in enumerate(chain):
        for key, value in leaves(level.value, with_lists=number == 0):
            fields["^" * number + key] = value
    return fields


def leaves(value: dict[str, Any], *, with_lists: bool) -> Iterator[tuple[str, str | None]]:
    """Yield the values in an object that are not objects themselves, each with its path. Lists become JSON."""
    for key, inside in value.items():
        if isinstance(inside, dict):
            for below, leaf in leaves(inside, with_lists=with_lists):
                yield f"{key}.{below}", leaf
        elif isinstance(inside, list):
            if with_lists:
                yield key, json.dumps(inside, ensure_ascii=False)
        else:
            yield key, None if inside is None else as_text(inside)


def text_of_page(text: str, name: str) -> str:
    """Return the tables on a web page as lines of cells. Each heading on the page becomes a line with one cell."""
    rows = re.split(r"(?i)<tr\b[^>]*>|<(?=h[1-4]\b|caption\b)", UNSEEN.sub(" ", text))[1:]
    lines = ["\t".join(cells) for cells in spanned(rows)]
    if not any("\t" in line for line in lines):
        refuse_file(name, "is a web page without a table. Export its results as CSV or a workbook.")
    return "\n".join(filter(str.strip, lines))


def spanned(rows: Iterable[str]) -> Iterator[list[str]]:
    """Yield the cells of each row, with the text of each cell repeated in all the cells that it spans."""
    below: dict[int, list[str]] = {}  # the texts of cells that span the next rows, by column
    spare = SPANNED_CHARACTERS
    for row in rows:
        line: list[str] = []
        cells = [*zip(CELL.findall(row), CELL.split(row)[1:], strict=True)]
        for tag, cell in (*cells, ("", "")):
            while below.get(len(line)):
                line.append(below[len(line)].pop())
            text, spans = " ".join(unescape(TAG.sub(" ", END.split(cell)[0])).split()), dict(SPAN.findall(tag.lower()))
            width = int(spans.get("col", 1)) if len(cells) > 1 else len(cells)  # a title is not repeated
            for _ in range(width if tag else 0):
                below[len(line)] = [text] * (int(spans.get("row", 1)) - 1)
                line.append(text)
        yield line
        spare -= len("".join(line))
        if spare < 0 or "</table" in row.lower():
            below.clear()


def xml_document(text: str, name: str) -> dict[str, Any]:
    """Return an XML document as objects.

    Attributes and elements have their names as keys, and repeated elements are lists.
    """
    parser = expat.ParserCreate("utf-8")
    stack: list[tuple[str, dict[str, Any], list[str]]] = [("", {}, [])]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > MAX_DEPTH:
            refuse_file(name, f"has XML that is nested more than {MAX_DEPTH} levels deep")
        stack.append((tag, dict(attributes), []))

    def end(_tag: str) -> None:
        tag, fields, texts = stack.pop()
        text = "".join(texts).strip()
        value: Any = fields | ({"text": text} if text else {}) if fields else text or None
        outer = stack[-1][1]
        if isinstance(outer.get(tag), list):
            outer[tag].append(value)
        else:
            outer[tag] = [outer[tag], value] if tag in outer else value

    def refuse_entity(_name: str, _is_parameter: int, value: str | None, *_rest: Any) -> None:
        if value is None or len(value) > ENTITY_CHARACTERS or "&" in value or "%" in value:
            refuse_file(
                name, "declares an entity that is more than a word. Podium reads only XML without such entities."
            )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda text: stack[-1][2].append(text)  # noqa: PLW0108  (the last one at each time)
    parser.EntityDeclHandler = refuse_entity
    parser.DefaultHandler = lambda _text: None  # prevents the expansion of entities
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        refuse_file(name, f"is not XML ({expat.errors.messages[error.code]})", f"line {error.lineno}")
    return stack[0][1]


def documents(source: Source, refuse: Callable[[list[Fault]], None]) -> Iterator[tuple[str, Any]]:
    """Yield the documents in a file: a single document, or one per line. Invalid lines are reported."""
    name, content = source.name, decode(source.content(), source.name)
    lines = lines_of(content)
    if not has_documents_on_lines(lines, name):
        yield "$", strict_json(content, name)
        return
    for place, line in lines:
        try:
            yield f"{place}, $", strict_json(line, name, place=place)
        except FormatError as error:
            refuse([fault._replace(file=name) for fault in error.faults])


def lines_of(text: str) -> list[tuple[str, str]]:
    return [(f"line {number}", line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def has_documents_on_lines(lines: list[tuple[str, str]], name: str) -> bool:
    """Return True if a file has one document per line.

    Its first line is then a complete document, and more lines follow.
    """
    if name.lower().endswith((".jsonl", ".ndjson")):
        return True
    try:
        return len(lines) > 1 and strict_json(lines[0][1], name) is not None
    except FormatError:
        return False
