"""Many rows at once, as tuples: the rows that an event writes most need no dict and no look at each value."""

import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

PLACEHOLDERS = {"sqlite": "?", "postgresql": "%s"}


def upsert(connection: sa.Connection, table: sa.Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write rows, each a value for every column in the table's order; a row with the same key is replaced."""
    if rows:
        connection.exec_driver_sql(upsert_statement(table, PLACEHOLDERS[connection.dialect.name]), list(rows))


@functools.cache
def upsert_statement(table: sa.Table, placeholder: str) -> str:
    """The statement, in the SQL that both databases know."""
    key = [column.name for column in table.primary_key]
    names = [column.name for column in table.columns]
    assignments = ", ".join(f"{name} = excluded.{name}" for name in names if name not in key)
    placeholders = ", ".join([placeholder] * len(names))
    return (
        f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({placeholders}) "  # noqa: S608  (names of our own tables)
        f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {assignments}"
    )
