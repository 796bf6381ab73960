"""The decorator of immutable records."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Record = TypeVar("Record")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def immutable(kind: type[Record]) -> type[Record]:
    """Make a class an immutable record: a frozen dataclass with slots."""
    return dataclass(frozen=True, slots=True)(kind)
