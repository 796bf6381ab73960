"""Many rows at once, as tuples: what an event writes most is written without a dict and a look at each value."""

import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

MARKS = {"sqlite": "?", "postgresql": "%s"}


def upsert(connection: sa.Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write rows, each a value for every column in the table's order, in the place of those with the same key."""
    if rows:
        connection.exec_driver_sql(statement(table, MARKS[connection.dialect.name]), list(rows))


@functools.cache
def statement(table: sa.Table, mark: str) -> str:
    """The statement in the words that both databases know."""
    key = [column.name for column in table.primary_key]
    names = [column.name for column in table.columns]
    told = ", ".join(f"{name} = excluded.{name}" for name in names if name not in key)
    marks = ", ".join([mark] * len(names))
    return (
        f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks}) "  # noqa: S608  (names of our own tables)
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {told}"
    )
