"""Common parts of tables and statements: column types, lists passed as one parameter, and bulk inserts and updates."""

import contextlib
import functools
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import BigInteger, ColumnElement, Integer, MetaData, Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class _Values(FunctionElement[Any]):
    """The values of a JSON array, as rows."""

    name = "json_values"
    inherit_cache = True


def among(column: "sa.ColumnElement[Any]", name: str = "among") -> "sa.ColumnElement[bool]":
    """Return the condition that a column's value is in the parameter `name`, a JSON array made with `values`."""
    rows = _Values(sa.bindparam(name, type_=sa.Text()), sa.type_coerce(sa.null(), column.type))
    return column.op("IN", is_comparison=True)(rows)


def values(items: Iterable[str | int]) -> str:
    """Return these values as a JSON array for the parameter of `among`."""
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


class Prepared(NamedTuple):
    text: str
    names: Sequence[str] | None  # parameters in order; None if the driver takes them by name
    fixed: Mapping[str, Any]  # fixed parameters of the statement

    def arguments(self, params: Mapping[str, Any]) -> Any:
        every = {**self.fixed, **params}
        return every if self.names is None else tuple(map(every.__getitem__, self.names))


PREPARED: dict[tuple[sa.Executable, str], Prepared] = {}  # by statement and driver


def run_prepared(connection: sa.Connection, statement: sa.Executable, params: Mapping[str, Any]) -> Sequence[Any]:
    """Return all rows of a statement as the driver returns them.

    The result is empty if the statement returns no rows.
    """
    prepared = prepare(connection, statement)
    return run_by_driver(connection, prepared.text, prepared.arguments(params))


def run_by_driver(connection: sa.Connection, text: str, arguments: Any, *, has_many: bool = False) -> Sequence[Any]:
    """Return all rows of a statement. In SQLite, use the driver directly, which is faster than SQLAlchemy."""
    if connection.dialect.name != "sqlite":
        with connection.exec_driver_sql(text, arguments) as found:
            return found.cursor.fetchall() if found.returns_rows else []
    if not connection.in_transaction():
        connection.begin()
    for hear in connection.dispatch.before_cursor_execute:
        hear(connection, None, text, arguments, None, has_many)
    with contextlib.closing(connection.connection.cursor()) as cursor:
        try:
            (cursor.executemany if has_many else cursor.execute)(text, arguments)
            return cursor.fetchall()
        except sqlite3.Error as error:
            dialect = connection.dialect
            raise sa.exc.DBAPIError.instance(text, arguments, error, sqlite3.Error, dialect=dialect) from error


def fetch_parts(
    connection: sa.Connection, statement: sa.Executable, params: Mapping[str, Any], count: int
) -> Iterator[Sequence[Any]]:
    """Yield all rows as the driver returns them, `count` at a time, so that only a few rows are in memory."""
    prepared = prepare(connection, statement)
    with contextlib.closing(connection.exec_driver_sql(prepared.text, prepared.arguments(params))) as found:
        while rows := found.cursor.fetchmany(count):
            yield rows


def prepare(connection: sa.Connection, statement: sa.Executable) -> Prepared:
    key = statement, connection.dialect.driver
    prepared = PREPARED.get(key)
    if prepared is None:
        compiled: Any = statement.compile(dialect=connection.dialect)  # type: ignore[attr-defined]
        fixed = {name: value for name, value in compiled.params.items() if value is not None}
        names = compiled.positiontup if compiled.positional else None
        prepared = PREPARED[key] = Prepared(str(compiled), names, fixed)
    return prepared


PLACEHOLDERS = {"sqlite": "?", "postgresql": "%s"}
# A failure ends the whole transaction, so SQLite need not save pages before each statement.
INSERT = {"sqlite": "INSERT OR FAIL INTO", "postgresql": "INSERT INTO"}
STATEMENT_ROWS = 100  # rows per statement in SQLite, which take three quarters of the time of single rows
Rows = Iterable[tuple[Any, ...]]  # one value per column, in the table's order


def insert(connection: sa.Connection, table: sa.Table, rows: Rows) -> None:
    execute_rows(connection, functools.partial(insert_statement, table), rows, len(table.columns))


def upsert(connection: sa.Connection, table: sa.Table, rows: Rows) -> None:
    """Insert rows, replacing existing rows with the same key."""
    execute_rows(connection, functools.partial(upsert_statement, table), rows, len(table.columns))


def execute_rows(connection: sa.Connection, statement: Callable[[str, int], str], rows: Rows, width: int) -> None:
    """Execute a statement with rows, in batches of the fastest size.

    The drivers for database servers form batches themselves.
    """
    database, cells = connection.dialect.name, [*chain.from_iterable(rows)]
    at_once = STATEMENT_ROWS if database == "sqlite" else 1
    whole = len(cells) - len(cells) % (at_once * width)
    for count, first, stop in ((at_once, 0, whole), (1, whole, len(cells))):
        size = count * width
        arguments = [tuple(cells[start : start + size]) for start in range(first, stop, size)]
        if arguments:
            run_by_driver(connection, statement(database, count), arguments, has_many=True)


@functools.cache
def insert_statement(table: sa.Table, database: str, rows: int) -> str:
    names = [column.name for column in table.columns]
    row = f"({', '.join([PLACEHOLDERS[database]] * len(names))})"
    return f"{INSERT[database]} {table.name} ({', '.join(names)}) VALUES {', '.join([row] * rows)}"


@functools.cache
def upsert_statement(table: sa.Table, database: str, rows: int) -> str:
    key = [column.name for column in table.primary_key]
    others = [column.name for column in table.columns if column.name not in key]
    assignments = ", ".join(f"{name} = excluded.{name}" for name in others)
    conflict = f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {assignments}"
    return f"{insert_statement(table, database, rows)} {conflict}"


EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
DAY_US = 86_400_000_000


def instant(microseconds: int) -> datetime:
    """Return the time this many microseconds after the start of 1970."""
    return EPOCH + timedelta(microseconds=microseconds)


def microseconds(moment: datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def now() -> int:
    """Return the current time in microseconds since 1970."""
    return microseconds(datetime.now(UTC))


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
Number = BigInteger().with_variant(Integer(), "sqlite")  # SQLite increments only INTEGER keys itself
FIRST_EQUIPMENT = 2**40  # numbers of equipment are above this, numbers of players below
Prefixed = Text().with_variant(Text(collation="C"), "postgresql")  # sorted by characters, which is SQLite's default


def is_equipment(number: int) -> bool:
    """Return True if a number, even a provisional one, belongs to equipment, and False if it belongs to a player."""
    return abs(number) >= FIRST_EQUIPMENT


def of_pool(table: sa.FromClause) -> ColumnElement[bool]:
    """Return the condition that a row belongs to the statement's pool."""
    return table.c.pool_id == sa.bindparam("pool")
