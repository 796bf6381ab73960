"""Responses: records with described fields, for readers of the code and of the API documentation."""

import json
import re
from collections.abc import Sequence
from dataclasses import MISSING, asdict, dataclass, field, is_dataclass
from datetime import date
from inspect import cleandoc
from itertools import repeat
from types import NoneType
from typing import Any, TypeVar, cast, dataclass_transform, get_args, get_origin, get_type_hints

Record = TypeVar("Record")
ATTRIBUTE = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)  # in a docstring


def described(text: str, *, default: Any = MISSING, kw_only: bool = False, enum: Sequence[str] = ()) -> Any:
    """Declare a field and its description for the OpenAPI document.

    If the default is None, the field is omitted from responses in which it is None.

    Args:
        text: The description.
        enum: All possible values.
    """
    metadata: dict[str, Any] = {"description": text}
    if default is None:

        def drop_null(schema: dict[str, Any]) -> None:  # leaves only the value's schema
            (value,) = (option for option in schema.pop("anyOf") if option != {"type": "null"})
            del schema["default"]
            schema.update(value | ({"enum": [*enum]} if enum else {}))

        metadata |= {"exclude_if": lambda value: value is None, "json_schema_extra": drop_null}
    elif enum:
        metadata["json_schema_extra"] = {"enum": [*enum]}
    return field(default=default, kw_only=kw_only, metadata=metadata)


def take_meanings(kind: type) -> dict[str, str]:
    """Remove the section `Attributes:` from the docstring of a class, and return its texts by attribute."""
    kind.__doc__, _, attributes = cleandoc(kind.__doc__ or "").partition("\n\nAttributes:\n")
    return {name: " ".join(text.split()) for name, text in ATTRIBUTE.findall(attributes)}


def with_meanings(kind: type[Record]) -> type[Record]:
    """Describe the fields of a dataclass with the texts in its docstring, which `python -OO` removes."""
    given = kind.__dict__
    omitted = {name: "" for name in given.get("__annotations__", {}) if given.get(name, MISSING) is None}
    for name, text in (omitted | take_meanings(kind)).items():
        setattr(kind, name, described(text, default=given.get(name, MISSING)))
    return kind


@dataclass_transform(frozen_default=True, field_specifiers=(described, field))
def answer(kind: type[Record]) -> type[Record]:
    """Make a class a frozen dataclass with slots, whose docstring describes its fields."""
    return dataclass(frozen=True, slots=True)(with_meanings(kind))


@dataclass_transform(field_specifiers=(described, field))
def changeable_answer(kind: type[Record]) -> type[Record]:
    """Make a class a dataclass with slots that is not frozen: creating a frozen one takes five times as long."""
    return dataclass(slots=True)(with_meanings(kind))


@dataclass_transform(frozen_default=True, field_specifiers=(described, field))
def answer_part(kind: type[Record]) -> type[Record]:
    """Make a class a base class of responses. It has no slots, so that a response can have several base classes."""
    return dataclass(frozen=True)(with_meanings(kind))


def as_json(record: Any) -> bytes:
    """Convert a dataclass to JSON that `from_json` can read back."""
    return json.dumps(asdict(record), default=as_text).encode()


def as_text(value: Any) -> str:
    """Convert a date or a decimal number to text."""
    return value.isoformat() if isinstance(value, date) else str(value)


def from_json(kind: type[Record], body: bytes) -> Record:
    """Restore a dataclass from the JSON that `as_json` wrote."""
    found: Record = of_type(kind, json.loads(body))
    return found


def of_type(kind: Any, value: Any) -> Any:
    """Convert a JSON value to a dataclass, tuple, date, number or string of a type."""
    if value is None:
        return None
    if is_dataclass(kind):
        kinds, construct = get_type_hints(kind), cast("Any", kind)
        return construct(**{name: of_type(kinds[name], item) for name, item in value.items()})
    several = get_args(kind)
    if NoneType in several:
        return of_type(next(option for option in several if option is not NoneType), value)
    if get_origin(kind) is tuple:
        return tuple(map(of_type, repeat(several[0]) if several[-1] is Ellipsis else several, value))
    if isinstance(kind, type) and issubclass(kind, date):
        return kind.fromisoformat(value)
    return value if several else kind(value)
