"""Moments and days on their way: ISO 8601 in JSON, `datetime` and `date` in Python."""

import json
import types
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

Conversion = Callable[[Any], Any]
Moment = datetime | str  # one without an offset is in UTC; a text is ISO 8601


def moment_text(moment: date | str) -> str:
    """Return a moment or a day as ISO 8601; a moment without an offset is in UTC."""
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()
    return moment.isoformat() if isinstance(moment, date) else moment


def encode(body: Any) -> bytes:
    """Return a body as JSON, moments and days as ISO 8601."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=json_value).encode()


def json_value(value: Any) -> Any:
    """Return what JSON has for a value that it does not have.

    Raises:
        TypeError: it has nothing for it.
    """
    if isinstance(value, date):
        return moment_text(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} cannot be sent as JSON")


@cache
def conversion(kind: Any) -> Conversion | None:
    """Return what turns the texts in a value of JSON into the moments and days of a type; None where there are none."""
    if kind in (datetime, date):
        parse: Conversion = kind.fromisoformat
        return parse
    if is_typeddict(kind):
        return fields_conversion({name: conversion(each) for name, each in get_type_hints(kind).items()})
    arguments = get_args(kind)
    if get_origin(kind) in (Union, types.UnionType):
        inner = next(filter(None, map(conversion, arguments)), None)
        return None if inner is None else lambda value: None if value is None else inner(value)
    if get_origin(kind) is list:
        item = conversion(arguments[0])
        return None if item is None else lambda rows: [item(row) for row in rows]
    return None


def fields_conversion(conversions: Mapping[str, Conversion | None]) -> Conversion | None:
    """Return what converts those fields of an object that need it; None where none does."""
    needed = {name: each for name, each in conversions.items() if each is not None}
    if not needed:
        return None
    return lambda row: row | {name: each(row[name]) for name, each in needed.items() if name in row}
