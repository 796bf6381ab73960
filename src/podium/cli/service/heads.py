"""Heads of logs as commands take them: in files with receipts or exports, or written as PLACE:HASH."""

import json
from pathlib import Path
from typing import Any

from podium.errors import ParameterError
from podium.store.log.chain import Head, parse_head


def read_heads(text: str) -> list[Head]:
    """The heads in a file of that name, or the one that the text is."""
    path = Path(text)
    if not path.is_file():
        return [parse_head(text)]
    try:
        content = path.read_text(encoding="utf-8")
        heads = list(heads_in(parse(content)))
    except (OSError, ValueError) as error:
        raise ParameterError(f"{path}: cannot be read ({error})") from None
    if not heads:
        raise ParameterError(f"{path}: has no receipt with a head")
    return heads


def parse(content: str) -> Any:
    """The JSON of a file, or of its first line where the others are lines of their own."""
    try:
        return json.loads(content)
    except ValueError:
        return json.loads(content.partition("\n")[0])


def heads_in(value: Any) -> list[Head]:
    """The heads of receipts, or of an export's first line."""
    if isinstance(value, list):
        return [head for each in value for head in heads_in(each)]
    if not isinstance(value, dict):
        return []
    if {"place", "hash"} <= value.keys():
        return [parse_head(f"{value['place']}:{value['hash']}")]
    return heads_in(value.get("head"))
