"""Statements that every event needs, compiled once: SQLAlchemy takes longer to look at one than SQLite to run it.

Values come and go as the driver has them: a truth is a number in SQLite.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa


class Prepared(NamedTuple):
    """A statement as a driver takes it."""

    text: str
    names: Sequence[str] | None  # of the parameters, in their order; None where the driver knows them by name
    fixed: Mapping[str, Any]  # parameters that the statement brings along

    def arguments(self, params: Mapping[str, Any]) -> Any:
        """The parameters as the driver takes them."""
        every = {**self.fixed, **params}
        return every if self.names is None else tuple(map(every.__getitem__, self.names))


PREPARED: dict[tuple[sa.Executable, str], Prepared] = {}  # by statement and driver


def execute_prepared(
    connection: sa.Connection, statement: sa.Executable, params: Mapping[str, Any]
) -> sa.CursorResult[Any]:
    """Execute a statement.

    Args:
        statement: a constant of a module, which is kept for good; no list of values is among its own parameters.
        params: the parameters that it has no values of.
    """
    prepared = prepare(connection, statement)
    return connection.exec_driver_sql(prepared.text, prepared.arguments(params))


def fetch_all(found: sa.CursorResult[Any]) -> Sequence[Any]:
    """All rows as the driver has them: many, each read once."""
    with contextlib.closing(found):
        return found.cursor.fetchall() if found.cursor else []


def fetch_parts(found: sa.CursorResult[Any], count: int) -> Iterator[Sequence[Any]]:
    """All rows as the driver has them, so many at a time: what becomes of few is done while they are at hand."""
    with contextlib.closing(found):
        while rows := found.cursor.fetchmany(count):
            yield rows


def execute_prepared_many(
    connection: sa.Connection, statement: sa.Executable, many: Sequence[Mapping[str, Any]]
) -> None:
    """Execute a statement, as `execute_prepared`, with each of several parameters; nothing where there are none."""
    if many:
        prepared = prepare(connection, statement)
        connection.exec_driver_sql(prepared.text, [*map(prepared.arguments, many)])


def prepare(connection: sa.Connection, statement: sa.Executable) -> Prepared:
    """The statement as the connection's driver takes it."""
    key = statement, connection.dialect.driver
    prepared = PREPARED.get(key)
    if prepared is None:
        compiled: Any = statement.compile(dialect=connection.dialect)  # type: ignore[attr-defined]
        fixed = {name: value for name, value in compiled.params.items() if value is not None}
        names = compiled.positiontup if compiled.positional else None
        prepared = PREPARED[key] = Prepared(str(compiled), names, fixed)
    return prepared
