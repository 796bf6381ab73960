"""JSON whose shape is known: each value with the path to it, for those who have to mend it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from podium.errors import FormatError
from podium.importers.collecting import Collector
from podium.importers.sources import Source, strict_json, text
from podium.results.columns import EXACT


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON document and the path to it; what is not there is None."""

    value: Any
    place: str

    def get(self, name: str) -> "Node":
        """The value of a key, None where this is no object or has none."""
        return Node(self.value.get(name) if isinstance(self.value, dict) else None, f"{self.place}.{name}")

    def __iter__(self) -> Iterator["Node"]:
        """The values of a list; of anything else none."""
        for number, each in enumerate(self.value if isinstance(self.value, list) else ()):
            yield Node(each, f"{self.place}[{number}]")

    def is_list(self) -> bool:
        return isinstance(self.value, list)

    def is_object(self) -> bool:
        return isinstance(self.value, dict)

    def is_number(self) -> bool:
        """Whether it is a number that a double holds."""
        return isinstance(self.value, int | float) and not isinstance(self.value, bool) and abs(self.value) < EXACT

    def text(self) -> str | None:
        """A text, or a whole number as one; None where it is neither."""
        if isinstance(self.value, str):
            return self.value
        whole = isinstance(self.value, int) and not isinstance(self.value, bool)
        return str(self.value) if whole else None


def documents(source: Source, collector: Collector) -> Iterator[Node]:
    """The documents of a file: one, or one a line; a line that is no JSON is bad."""
    content = text(source)
    lines = content.split("\n")
    if not has_documents_on_lines(lines, source.name):
        yield Node(strict_json(content, source.name), "$")
        return
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            value = strict_json(line, source.name)
        except FormatError as error:
            collector.refuse([fault._replace(place=place, file=source.name) for fault in error.faults])
            continue
        yield Node(value, f"{place}, $")


def has_documents_on_lines(lines: list[str], name: str) -> bool:
    """Whether a file has a document on each line: the first is one, and others follow."""
    filled = [number for number, line in enumerate(lines) if line.strip()][:2]
    if name.lower().endswith((".jsonl", ".ndjson")):
        return True
    if len(filled) < 2 or lines[filled[0]].strip() in ("{", "["):  # noqa: PLR2004  (the first, and another)
        return False
    try:
        strict_json(lines[filled[0]], name)
    except FormatError:
        return False
    return True
