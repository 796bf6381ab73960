"""Tables within JSON: rows by a path to their arrays; the fields of what they stand in as ^field, ^^field."""

import json
import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from podium.errors import Fault, FormatError
from podium.importers.sources import refuse_file, strict_json
from podium.results.columns import refuse_wide

STEP = re.compile(r"([^.\[\]]*)((?:\[\])?)")
Chain = tuple[dict[str, Any], ...]  # the object, then what it stands in, the nearest first


def from_json(text: str, name: str, records: str | None, *, lines: bool) -> tuple[pl.DataFrame, list[str]]:
    """The rows of JSON, every value as the text that it is written as.

    Args:
        records: where the rows are, as `races[].results[]`; an array at the top, or the objects of lines, where None.
        lines: whether each line is JSON of its own.

    Returns:
        A table and the place of each row.

    Raises:
        FormatError: it is no JSON, or has no rows there.
    """
    documents: Iterator[tuple[str, Any]]
    if lines:
        parts = enumerate(text.split("\n"), start=1)
        documents = ((f"line {number}", read_line(part, name, number)) for number, part in parts if part.strip())
        steps = records or ""
    else:
        whole = strict_json(text, name, literal_numbers=True)
        documents = iter([("", whole)])
        steps = records if records is not None else "[]" if isinstance(whole, list) else ""
    rows: list[dict[str, str | None]] = []
    labels: list[str] = []
    for label, document in documents:
        for place, chain in walk(document, parse_path(steps, name), (), ""):
            where = " ".join(part for part in (label, place.removeprefix(".")) if part) or "the document"
            if not chain or not isinstance(chain[0], dict):
                raise FormatError(name, [Fault(None, None, None, "is no object with the columns as names", where)])
            rows.append(fields_of(chain))
            labels.append(where)
    names = dict.fromkeys(key for row in rows for key in row)
    refuse_wide(names, name)
    if not rows and records is not None:
        refuse_file(name, f"has no rows at {records}")
    return pl.DataFrame({key: [row.get(key) for row in rows] for key in names}, dict.fromkeys(names, pl.String)), labels


def read_line(text: str, name: str, number: int) -> Any:
    """The JSON of a line.

    Raises:
        FormatError: it is none.
    """
    try:
        return strict_json(text, name, literal_numbers=True)
    except FormatError as error:
        raise FormatError(name, [fault._replace(place=f"line {number}") for fault in error.faults]) from None


def parse_path(path: str, name: str) -> list[str]:
    """The steps of a path: keys, and [] for each item of an array.

    Raises:
        FormatError: it is no path.
    """
    steps: list[str] = []
    for piece in path.split(".") if path else []:
        match = STEP.fullmatch(piece)
        if match is None or not piece:
            refuse_file(name, f"{path!r} is no path to records; write it as races[].results[]")
        steps += [part for part in match.groups() if part]
    return steps


def walk(value: Any, steps: list[str], above: Chain, place: str) -> Iterator[tuple[str, Chain]]:
    """The values at the end of a path, each with the objects around it."""
    if not steps:
        yield place, (value, *above)
    elif steps[0] == "[]":
        for number, each in enumerate(value if isinstance(value, list) else []):
            yield from walk(each, steps[1:], above, f"{place}[{number}]")
    elif isinstance(value, dict) and steps[0] in value:
        yield from walk(value[steps[0]], steps[1:], (value, *above), f"{place}.{steps[0]}")


def fields_of(chain: Chain) -> dict[str, str | None]:
    """The fields of a row and of what it stands in, by name; those within objects as `goal.name`."""
    fields: dict[str, str | None] = {}
    for level, each in enumerate(chain):
        for key, value in leaves(each, with_lists=level == 0):
            fields["^" * level + key] = value
    return fields


def leaves(value: dict[str, Any], *, with_lists: bool) -> Iterator[tuple[str, str | None]]:
    """The values within an object that are none themselves, each under its path; lists as they are written."""
    for key, each in value.items():
        if isinstance(each, dict):
            for below, leaf in leaves(each, with_lists=with_lists):
                yield f"{key}.{below}", leaf
        elif isinstance(each, list):
            if with_lists:
                yield key, json.dumps(each, ensure_ascii=False)
        else:
            yield key, None if each is None else str(each).lower() if isinstance(each, bool) else str(each)
