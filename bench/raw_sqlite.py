"""The limit of a store in SQLite: the rows that a server has just written, written by hand into a copy of its database.

The copy has the server's tables, indexes, pragmas and rows. Nothing is parsed, checked, rated or hashed: one
transaction a batch, with the driver's own `executemany`.
"""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from podium.store.sql.database import PRAGMAS

NEWER = {  # the rows of a table that were written after an entry of the log; seq is rising
    "log": "seq > :seq",
    "event": "seq > :seq",
    "change": "generation_id = :generation AND started_at >= :started_at AND seq > :seq",
    "standing": "generation_id = :generation AND seq > :seq",
}
COUNTS = "rank_count"  # which no entry names: what differs is written
KEYS = {"standing": 2, COUNTS: 3}  # of the tables that are updated: how many columns their key has


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
            table: self._source.execute(f"SELECT * FROM {table} WHERE {condition}", since).fetchall()  # noqa: S608
            for table, condition in NEWER.items()
        }
        here, there = ({*each.execute(f"SELECT * FROM {COUNTS}")} for each in (self._copy, self._source))  # noqa: S608
        rows[COUNTS] = sorted(there - here)
        gone = sorted({each[: KEYS[COUNTS]] for each in here} - {each[: KEYS[COUNTS]] for each in there})
        statements = {table: self._statement(table) for table in rows}
        started = time.perf_counter()
        self._copy.execute("BEGIN IMMEDIATE")
        for table, some in rows.items():
            self._copy.executemany(statements[table], some)
        self._copy.executemany(f"DELETE FROM {COUNTS} WHERE generation_id = ? AND per_point = ? AND bucket = ?", gone)  # noqa: S608
        self._copy.execute("COMMIT")
        took = time.perf_counter() - started
        self._seq = self._newest()
        return took

    def differing(self) -> list[str]:
        """The tables in which the copy has other rows than the database."""
        tables = (*NEWER, COUNTS)
        every = ([{*each.execute(f"SELECT * FROM {table}")} for table in tables] for each in (self._source, self._copy))  # noqa: S608
        return [table for table, rows, others in zip(tables, *every, strict=True) if rows != others]

    def close(self) -> None:
        """Close both."""
        self._source.close()
        self._copy.close()

    def _newest(self) -> int:
        return self._source.execute("SELECT max(seq) FROM log").fetchone()[0]

    def _statement(self, table: str) -> str:
        """The statement that writes a row of a table."""
        names = [row[1] for row in self._copy.execute(f"PRAGMA table_info({table})")]
        statement = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608
        if table not in KEYS:
            return statement
        key, others = names[: KEYS[table]], names[KEYS[table] :]
        changes = ", ".join(f"{name} = excluded.{name}" for name in others)
        return f"{statement} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {changes}"
