"""The limit of a store in SQLite: write a server's latest rows by hand into a copy of its database.

The copy has the server's tables, indexes, pragmas and rows. Nothing is parsed, checked, rated or hashed. Each batch is
one transaction with the driver's own `executemany`.
"""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from podium.log.database import PRAGMAS
from podium.log.schema import log
from podium.log.statements import insert_statement

TABLES = (log,)  # rows have the rising numbers of log entries
STATEMENTS = {table: insert_statement(table, "sqlite", 1) for table in TABLES}


class RawCopy:
    """A copy of a database that follows it."""

    def __init__(self, source: Path, copy: Path) -> None:
        """Copy the database in its present state."""
        self._source = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
        with closing(sqlite3.connect(copy)) as target:
            self._source.backup(target)
        self._copy = sqlite3.connect(copy, isolation_level=None)
        for pragma in PRAGMAS:
            self._copy.execute(f"PRAGMA {pragma}")
        self._seq = self._newest()

    def follow(self) -> float:
        """Write the rows that the copy lacks, and return the seconds of writing alone."""
        rows = {
            table: self._source.execute(f"{selection(table)} WHERE seq > ?", (self._seq,)).fetchall()
            for table in TABLES
        }
        started = time.perf_counter()
        self._copy.execute("BEGIN IMMEDIATE")
        for table, some in rows.items():
            self._copy.executemany(STATEMENTS[table], some)
        self._copy.execute("COMMIT")
        took = time.perf_counter() - started
        self._seq = self._newest()
        return took

    def differing(self) -> list[str]:
        """Return the tables whose rows differ between the copy and the database."""
        every = ([{*each.execute(selection(table))} for table in TABLES] for each in (self._source, self._copy))
        return [table.name for table, rows, others in zip(TABLES, *every, strict=True) if rows != others]

    def close(self) -> None:
        """Close both."""
        self._source.close()
        self._copy.close()

    def _newest(self) -> int:
        return self._source.execute("SELECT max(seq) FROM log").fetchone()[0]


def selection(table: sa.Table) -> str:
    """Return the statement that reads a table's rows in the order of `STATEMENTS`."""
    return f"SELECT {', '.join(table.columns.keys())} FROM {table.name}"  # noqa: S608  (our own names)
