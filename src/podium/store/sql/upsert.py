"""Many rows at once, as tuples: the rows that an event writes most need no dict and no look at each value."""

import functools
from collections.abc import Callable, Iterable
from itertools import chain, islice
from typing import Any

import sqlalchemy as sa

PLACEHOLDERS = {"sqlite": "?", "postgresql": "%s"}
# Whatever fails ends its transaction, so that SQLite need not keep what the pages were before each statement.
INSERT = {"sqlite": "INSERT OR FAIL INTO", "postgresql": "INSERT INTO"}
STATEMENT_ROWS = 100  # that a statement of SQLite's takes, in three quarters of the time that they take one by one
Rows = Iterable[tuple[Any, ...]]  # each a value for every column, in the table's order


def insert(connection: sa.Connection, table: sa.Table, rows: Rows) -> None:
    """Write rows that are new."""
    execute_rows(connection, functools.partial(insert_statement, table), rows, len(table.columns))


def upsert(connection: sa.Connection, table: sa.Table, rows: Rows, added: tuple[str, ...] = ()) -> None:
    """Write rows; one with the same key is replaced, but that these columns are added to what they were."""
    execute_rows(connection, functools.partial(upsert_statement, table, added), rows, len(table.columns))


def execute_rows(connection: sa.Connection, statement: Callable[[str, int], str], rows: Rows, width: int) -> None:
    """Execute a statement with rows, as many at once as is quickest; drivers of servers send them together anyway.

    Args:
        connection: that writes.
        statement: its text, for a database and so many rows.
        rows: that are written.
        width: how many values each has.
    """
    database, left = connection.dialect.name, iter(rows)
    one_by_one = [*islice(left, STATEMENT_ROWS)]
    if database == "sqlite" and len(one_by_one) == STATEMENT_ROWS:
        cells = chain.from_iterable(chain(one_by_one, left))
        several = [*iter(lambda: tuple(islice(cells, STATEMENT_ROWS * width)), ())]
        last = several.pop() if len(several[-1]) < STATEMENT_ROWS * width else ()
        connection.exec_driver_sql(statement(database, STATEMENT_ROWS), several)
        one_by_one = [last[start : start + width] for start in range(0, len(last), width)]
    one_by_one += left
    if one_by_one:
        connection.exec_driver_sql(statement(database, 1), one_by_one)


@functools.cache
def insert_statement(table: sa.Table, database: str, rows: int) -> str:
    """The statement for so many rows."""
    names = [column.name for column in table.columns]
    row = f"({', '.join([PLACEHOLDERS[database]] * len(names))})"
    return f"{INSERT[database]} {table.name} ({', '.join(names)}) VALUES {', '.join([row] * rows)}"


@functools.cache
def upsert_statement(table: sa.Table, added: tuple[str, ...], database: str, rows: int) -> str:
    """The statement for so many rows."""
    key = [column.name for column in table.primary_key]
    others = [column.name for column in table.columns if column.name not in key]
    total = {name: f"{table.name}.{name} + excluded.{name}" for name in added}
    assignments = ", ".join(f"{name} = {total.get(name, f'excluded.{name}')}" for name in others)
    conflict = f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {assignments}"
    return f"{insert_statement(table, database, rows)} {conflict}"
