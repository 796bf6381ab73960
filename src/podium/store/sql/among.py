"""`column IN (many values)` with the values as one parameter: any number of them, and one prepared statement."""

import json
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class _Values(FunctionElement[Any]):
    """The values of a JSON array, as rows."""

    name = "json_values"
    inherit_cache = True


def among(column: "sa.ColumnElement[Any]", name: str = "among") -> "sa.ColumnElement[bool]":
    """Whether a column's value is among those of the parameter of that name, which `values` makes."""
    rows = _Values(sa.bindparam(name, type_=sa.Text()), sa.type_coerce(sa.null(), column.type))
    return column.op("IN", is_comparison=True)(rows)


def values(some: Iterable[str | int]) -> str:
    """The parameter for these values."""
    return json.dumps(list(some))


@compiles(_Values, "sqlite")
def _for_sqlite(element: _Values, compiler: Any, **words: Any) -> str:
    parameter, _ = element.clauses
    return f"(SELECT value FROM json_each({compiler.process(parameter, **words)}))"  # noqa: S608  (compiled parts)


@compiles(_Values, "postgresql")
def _for_postgresql(element: _Values, compiler: Any, **words: Any) -> str:
    parameter, like = element.clauses
    kind, array = like.type.compile(compiler.dialect), compiler.process(parameter, **words)
    return f"(SELECT CAST(value AS {kind}) FROM json_array_elements_text(CAST({array} AS json)))"  # noqa: S608
