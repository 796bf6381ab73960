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
    """Whether a column's value is among those of the parameter of that name, a JSON array by `values`."""
    rows = _Values(sa.bindparam(name, type_=sa.Text()), sa.type_coerce(sa.null(), column.type))
    return column.op("IN", is_comparison=True)(rows)


def values(items: Iterable[str | int]) -> str:
    """The parameter of `among` for these values: a JSON array."""
    return json.dumps(list(items))


@compiles(_Values, "sqlite")
def _for_sqlite(element: _Values, compiler: Any, **options: Any) -> str:
    parameter, _ = element.clauses
    return f"(SELECT value FROM json_each({compiler.process(parameter, **options)}))"  # noqa: S608  (compiled parts)


@compiles(_Values, "postgresql")
def _for_postgresql(element: _Values, compiler: Any, **options: Any) -> str:
    parameter, typed_null = element.clauses
    sql_type, array = typed_null.type.compile(compiler.dialect), compiler.process(parameter, **options)
    return f"(SELECT CAST(value AS {sql_type}) FROM json_array_elements_text(CAST({array} AS json)))"  # noqa: S608
