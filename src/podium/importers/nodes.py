"""Values of a file with their places, in JSON documents and CSV rows."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from podium.errors import Fault, FormatError
from podium.importers.sources import Source, decode, refuse_file, strict_json
from podium.results.columns import EXACT

NULL = "\\N"  # in dumps of MySQL


@dataclass(frozen=True, slots=True)
class Node:
    """A value, its place and its file. The value is None if it is missing."""

    value: Any
    place: str
    file: str

    def __getitem__(self, path: str) -> "Node":
        """Return the value at a path of keys, such as `goal.name`."""
        value = self.value
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return Node(value, f"{self.place}.{path}", self.file)

    def __iter__(self) -> Iterator["Node"]:
        """Yield the items of a list, or nothing for other values."""
        for number, value in enumerate(self.value if self.is_list else ()):
            yield Node(value, f"{self.place}[{number}]", self.file)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, list)

    @property
    def is_object(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, int | float) and not isinstance(self.value, bool) and abs(self.value) < EXACT

    @property
    def text(self) -> str | None:
        return str(self.value) if isinstance(self.value, str | int) and not isinstance(self.value, bool) else None

    @property
    def cell(self) -> str:
        """The value as a table would hold it. Empty for null, objects and lists."""
        return "" if self.value in (None, NULL) or self.is_object or self.is_list else str(self.value).strip()


def documents(source: Source, refuse: Callable[[list[Fault]], None]) -> Iterator[Node]:
    """Yield the documents of a file: the single one, or one per line. Lines that are not JSON are reported."""
    name, content = source.name, decode(source.content(), source.name)
    lines = lines_of(content)
    if not has_documents_on_lines(lines, name):
        yield Node(strict_json(content, name), "$", name)
        return
    for place, line in lines:
        try:
            yield Node(strict_json(line, name, place=place), f"{place}, $", name)
        except FormatError as error:
            refuse([fault._replace(file=name) for fault in error.faults])


def records(files: Sequence[Source], refuse: Callable[[list[Fault]], None]) -> Iterator[Node]:
    """Yield the documents of files. A document that is a list yields its items."""
    for source in files:
        for root in documents(source, refuse):
            yield from root if root.is_list else [root]


def lines_of(text: str) -> list[tuple[str, str]]:
    return [(f"line {number}", line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]


def has_documents_on_lines(lines: list[tuple[str, str]], name: str) -> bool:
    """Return True if a file has one document per line: the first line is one, and others follow."""
    if name.lower().endswith((".jsonl", ".ndjson")):
        return True
    try:
        return len(lines) > 1 and strict_json(lines[0][1], name) is not None
    except FormatError:
        return False


def csv_rows(source: Source, required: Sequence[str]) -> Iterator[tuple[Node, str]]:
    """Yield the rows of a table. The text is empty, or says that the number of cells is wrong."""
    reader = csv.reader(io.StringIO(decode(source.content(), source.name), newline=""), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        missing = [name for name in required if name not in header]
        if missing:
            refuse_file(source.name, f"has no column {missing[0]} in its first line. It needs {', '.join(required)}")
        line = reader.line_num + 1
        for cells in reader:
            if cells:
                uneven = "" if len(cells) == len(header) else f"has {len(cells)} cells, but the header {len(header)}"
                yield Node(dict(zip(header, cells, strict=False)), f"line {line}", source.name), uneven
            line = reader.line_num + 1
    except csv.Error as error:
        refuse_file(source.name, f"is not well-formed CSV ({error})", f"line {reader.line_num}")
