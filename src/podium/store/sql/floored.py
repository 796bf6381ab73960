"""The whole part of a number that is not whole, the next below, as an expression of either database."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class floored(FunctionElement[int]):  # noqa: N801  (a function in statements)
    """The largest integer that is not above a number."""

    type = sa.BigInteger()
    inherit_cache = True


@compiles(floored, "sqlite")
def _for_sqlite(element: floored, compiler: Any, **options: Any) -> str:
    number = compiler.process(element.clauses, **options)
    return f"(CAST({number} AS INTEGER) - (({number}) < CAST({number} AS INTEGER)))"  # a cast goes towards 0


@compiles(floored, "postgresql")
def _for_postgresql(element: floored, compiler: Any, **options: Any) -> str:
    return f"CAST(floor({compiler.process(element.clauses, **options)}) AS BIGINT)"
