"""Maps of programs' files, shipped as data: which of them a file fits."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from podium.errors import PodiumError
from podium.importers.grids.files import kind_of, language_encoding
from podium.importers.grids.trees import Level, json_document, parse_path, walk, xml_document
from podium.importers.registry import PRESETS
from podium.importers.sources import Source, decode
from podium.importers.tables.maps import load_map
from podium.importers.tables.model import Map

START_BYTES = 1 << 13  # in which the head of a table is


@cache
def presets() -> dict[str, Map]:
    """The maps, by the name of their format."""
    return {path.stem: load_map(path) for path in sorted(PRESETS.glob("*.toml"))}


def preset_of(source: Source) -> Map | None:
    """The map that a file fits, if any does."""
    content = source.content()
    kind = kind_of(content, source.name).replace("jsonl", "json")
    fitting = [each for each in presets().values() if each.source.format == kind]
    if not fitting:
        return None
    try:
        if kind == "csv":
            start = content[:START_BYTES].decode(language_encoding(content[:START_BYTES]) or "utf-8", "replace")
            return next((each for each in fitting if has_cells(start, needs(each))), None)
        text = decode(content, source.name, "xml" if kind == "xml" else None)
        if kind == "lines":
            return fitting[0]
        document = (json_document if kind == "json" else xml_document)(text, source.name)
    except PodiumError:
        return None  # which its reader refuses by name
    return next((each for each in fitting if all(has(document, path) for path in needs(each))), None)


def needs(preset: Map) -> Sequence[str]:
    """What a file has that the preset is of."""
    return tuple(preset.document["preset"]["needs"])


def has_cells(text: str, cells: Sequence[str]) -> bool:
    return any(all(cell in line for cell in cells) for line in text.splitlines())


def has(document: Any, path: str) -> bool:
    found: Iterator[Any] = walk(Level(document), parse_path(path, "map"), (), "")
    return next(found, None) is not None
