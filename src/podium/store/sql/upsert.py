"""Many rows at once, as tuples: the rows that an event writes most need no dict and no look at each value."""

import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

PLACEHOLDERS = {"sqlite": "?", "postgresql": "%s"}
Rows = Sequence[tuple[Any, ...]]  # each a value for every column, in the table's order


def insert(connection: sa.Connection, table: sa.Table, rows: Rows) -> None:
    """Write rows that are new."""
    if rows:
        connection.exec_driver_sql(insert_statement(table, PLACEHOLDERS[connection.dialect.name]), [*rows])


def upsert(connection: sa.Connection, table: sa.Table, rows: Rows, added: tuple[str, ...] = ()) -> None:
    """Write rows; one with the same key is replaced, but that these columns are added to what they were."""
    if rows:
        connection.exec_driver_sql(upsert_statement(table, PLACEHOLDERS[connection.dialect.name], added), [*rows])


@functools.cache
def insert_statement(table: sa.Table, placeholder: str) -> str:
    """The statement, in the SQL that both databases know."""
    names = [column.name for column in table.columns]
    placeholders = ", ".join([placeholder] * len(names))
    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({placeholders})"  # noqa: S608  (names of our own tables)


@functools.cache
def upsert_statement(table: sa.Table, placeholder: str, added: tuple[str, ...] = ()) -> str:
    """The statement, in the SQL that both databases know."""
    key = [column.name for column in table.primary_key]
    others = [column.name for column in table.columns if column.name not in key]
    total = {name: f"{table.name}.{name} + excluded.{name}" for name in added}
    assignments = ", ".join(f"{name} = {total.get(name, f'excluded.{name}')}" for name in others)
    return f"{insert_statement(table, placeholder)} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {assignments}"
