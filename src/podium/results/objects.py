"""Rows as objects: JSON and dicts, read to the letter, as columns."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl

from podium.errors import SHOWN_FAULTS, Fault, ResultsError
from podium.results.columns import ALL, NUMBERS, TEXTS, refuse_wide, text_of_number

NO_TEXT = (bool, np.bool_, list, tuple, dict, set, frozenset, bytes, bytearray, np.ndarray)
SURROGATE = "has half of a surrogate pair, which is no text"


class Repeating(dict[str, Any]):
    """An object that had a key twice."""

    key: str = ""


def repeated_key(pairs: list[tuple[str, Any]]) -> str | None:
    """The first key of an object that appears twice."""
    seen: set[str] = set()
    return next((key for key, _ in pairs if key in seen or seen.add(key)), None)  # type: ignore[func-returns-value]


def from_json(text: str, table_name: str, *, lines: bool) -> pl.DataFrame:
    repeating: list[Repeating] = []

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        whole = dict(pairs)
        if len(whole) == len(pairs):
            return whole
        marked = Repeating(whole)
        marked.key = repeated_key(pairs) or ""
        repeating.append(marked)
        return marked

    read = json.JSONDecoder(parse_constant=refused_constant, object_pairs_hook=make_object).decode
    rows: list[Any] = []
    try:
        if lines:
            rows.extend(read(line) for line in text.split("\n") if line.strip())
        else:
            rows = read(text)
    except (ValueError, RecursionError) as error:
        line = len(rows) + 1 if lines else None
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ResultsError(table_name, [Fault(line, None, None, f"is not JSON ({reason})")]) from None
    if not isinstance(rows, list):
        raise ResultsError(table_name, [Fault(None, None, None, "must be an array of objects, one a row")])
    if repeating:
        raise ResultsError(table_name, repeated_keys(rows))
    return from_records(rows, table_name)


def repeated_keys(rows: list[Any]) -> Iterator[Fault]:
    """A fault for each row with an object that has a key twice, in it or within it."""
    for number, row in enumerate(rows, start=1):
        for each in objects_within(row):
            if isinstance(each, Repeating):
                yield Fault(number, shown_name(each.key), None, "appears twice in one object")


def objects_within(value: Any) -> Iterator[Any]:
    """The objects of a JSON value, the outermost first."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


def refused_constant(word: str) -> float:
    """Refuse NaN and Infinity, which JSON does not have."""
    message = f"{word} is not a JSON number"
    raise ValueError(message)


def from_records(rows: list[Any], table_name: str) -> pl.DataFrame:
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise ResultsError(table_name, [Fault(number, None, None, "must be an object with the columns as names")])
    names = list(dict.fromkeys(name for row in rows for name in row))
    refuse_wide(names, table_name)
    unreadable = [name for name in names if not isinstance(name, str) or shown_name(name) != name]
    if unreadable:
        remedy = f"is not a column of a results table ({', '.join(ALL)})"
        raise ResultsError(table_name, (Fault(None, shown_name(name), None, remedy) for name in unreadable))
    return pl.DataFrame([column_of(name, [row.get(name) for row in rows], table_name) for name in names])


def shown_name(name: Any) -> str:
    """A column's name, as a message can show it."""
    return str(name).encode("utf-8", "backslashreplace").decode()


def column_of(name: str, values: list[Any], table_name: str) -> pl.Series:
    """A column of values; it keeps their type where they share one, else it is text, each as it was sent."""
    kinds = {type(value) for value in values} - {type(None)}
    if name in TEXTS and not kinds <= {str}:
        return texts(name, values, table_name)
    try:
        if name not in NUMBERS or bool not in kinds:
            return pl.Series(name, values, strict=True)
    except UnicodeEncodeError:
        raise ResultsError(table_name, half_pairs(name, values)) from None
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        pass  # of several types
    return pl.Series(name, [None if value is None else shown_name(value) for value in values], pl.String)


def half_pairs(name: str, values: Iterable[Any]) -> Iterator[Fault]:
    """A fault for each text that no encoding has."""
    for row, value in enumerate(values, start=1):
        if isinstance(value, str) and shown_name(value) != value:
            yield Fault(row, name, None, SURROGATE)


def texts(name: str, values: list[Any], table_name: str) -> pl.Series:
    """A column of names of which some came as numbers, each in its own form."""
    faults: list[Fault] = []
    written: list[str | None] = []
    for row, value in enumerate(values, start=1):
        nothing = value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124  (NaN: pandas' empty)
        if isinstance(value, NO_TEXT):
            faults.append(Fault(row, name, value, "is no text; give a text or a number"))
        elif isinstance(value, float) and not nothing:
            try:
                written.append(text_of_number(float(value)))
            except ValueError as error:
                faults.append(Fault(row, name, value, str(error)))
        else:
            written.append(None if nothing else str(value))
        if len(faults) > SHOWN_FAULTS:
            break
    faults += half_pairs(name, values)
    if faults:
        raise ResultsError(table_name, faults)
    return pl.Series(name, written, pl.String)
