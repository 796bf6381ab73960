"""The limit of a store in SQLite: the rows that a server has just written, written by hand into a copy of its database.

The copy has the server's tables, indexes, pragmas and rows. Nothing is parsed, checked, rated or hashed: one
transaction a batch, with the driver's own `executemany`.
"""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from podium.log.database import PRAGMAS
from podium.log.schema import change, event, log, standing
from podium.log.statements import insert_statement, upsert_statement

NEWER = {  # the rows of a table that were written after an entry of the log; seq is rising
    log: "seq > :seq",
    event: "seq > :seq",
    change: "generation_id = :generation AND started_at >= :started_at AND seq > :seq",
    standing: "generation_id = :generation AND seq > :seq",
}
STATEMENTS = {table: insert_statement(table, "sqlite", 1) for table in (log, event, change)} | {
    standing: upsert_statement(standing, "sqlite", 1)
}


class RawCopy:
    """A copy of a database that follows it."""

    def __init__(self, source: Path, copy: Path) -> None:
        """Copy the database as it is."""
        self._source = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
        with closing(sqlite3.connect(copy)) as target:
            self._source.backup(target)
        self._copy = sqlite3.connect(copy, isolation_level=None)
        for pragma in PRAGMAS:
            self._copy.execute(f"PRAGMA {pragma}")
        self._seq = self._newest()

    def follow(self) -> float:
        """Write what the database has and the copy lacks; how many seconds the writing alone took."""
        generation = self._source.execute("SELECT max(generation_id) FROM standing").fetchone()[0]
        first = self._source.execute("SELECT min(started_at) FROM event WHERE seq > ?", (self._seq,)).fetchone()[0]
        since = {"seq": self._seq, "generation": generation, "started_at": first}
        rows = {
            table: self._source.execute(f"{selection(table)} WHERE {condition}", since).fetchall()
            for table, condition in NEWER.items()
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
        """The tables in which the copy has other rows than the database."""
        every = ([{*each.execute(selection(table))} for table in NEWER] for each in (self._source, self._copy))
        return [table.name for table, rows, others in zip(NEWER, *every, strict=True) if rows != others]

    def close(self) -> None:
        """Close both."""
        self._source.close()
        self._copy.close()

    def _newest(self) -> int:
        return self._source.execute("SELECT max(seq) FROM log").fetchone()[0]


def selection(table: sa.Table) -> str:
    """The statement that reads a table's rows as `STATEMENTS` writes them."""
    return f"SELECT {', '.join(table.columns.keys())} FROM {table.name}"  # noqa: S608  (our own names)
