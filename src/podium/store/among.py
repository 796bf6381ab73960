"""`column IN (many values)` with the values as one parameter: any number of them, and one prepared statement."""

import json
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class _Among(FunctionElement[bool]):
    """Whether a column's value is among those of a parameter."""

    name = "among"
    type = sa.Boolean()
    inherit_cache = True


def among(column: "sa.ColumnElement[Any]", name: str = "among") -> _Among:
    """Whether a column's value is among those of the parameter of that name, which `values` makes."""
    return _Among(column, sa.bindparam(name, type_=sa.Text()))


def values(some: Iterable[str | int]) -> str:
    """The parameter for these values."""
    return json.dumps(list(some))


@compiles(_Among, "sqlite")
def _for_sqlite(element: _Among, compiler: Any, **words: Any) -> str:
    column, parameter = (compiler.process(part, **words) for part in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({parameter}))"  # noqa: S608  (compiled parts)


@compiles(_Among, "postgresql")
def _for_postgresql(element: _Among, compiler: Any, **words: Any) -> str:
    column, parameter = (compiler.process(part, **words) for part in element.clauses)
    kind = next(iter(element.clauses)).type.compile(compiler.dialect)
    return f"{column} IN (SELECT CAST(value AS {kind}) FROM json_array_elements_text(CAST({parameter} AS json)))"  # noqa: S608
