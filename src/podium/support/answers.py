"""Answers: records whose fields say what they are, to who reads the code and to who reads the API's document alike."""

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field
from typing import Any, TypeVar, dataclass_transform

Record = TypeVar("Record")


def described(text: str, *, default: Any = MISSING, kw_only: bool = False, enum: Sequence[str] = ()) -> Any:
    """A field with what pydantic puts into the OpenAPI document of it.

    Where the default is None, the field is left out of an answer in which it is None.

    Args:
        enum: every value that it may have.
    """
    metadata: dict[str, Any] = {"description": text}
    if default is None:

        def drop_null(schema: dict[str, Any]) -> None:  # the schema is that of the value alone
            (value,) = (each for each in schema.pop("anyOf") if each != {"type": "null"})
            del schema["default"]
            schema.update(value | ({"enum": [*enum]} if enum else {}))

        metadata |= {"exclude_if": lambda value: value is None, "json_schema_extra": drop_null}
    elif enum:
        metadata["json_schema_extra"] = {"enum": [*enum]}
    return field(default=default, kw_only=kw_only, metadata=metadata)


@dataclass_transform(frozen_default=True, field_specifiers=(described, field))
def answer(kind: type[Record]) -> type[Record]:
    """A frozen dataclass, of which many may be made."""
    return dataclass(frozen=True, slots=True)(kind)


@dataclass_transform(frozen_default=True, field_specifiers=(described, field))
def answer_part(kind: type[Record]) -> type[Record]:
    """A base of answers, which declares no slots, so that an answer may have several such bases."""
    return dataclass(frozen=True)(kind)
