"""The append-only log: the only truth, from which everything else of a pool derives."""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.store.log.pools import Pool
from podium.store.sql.schema import log

SUBMIT, AMEND, VOID, RESTORE = "submit", "amend", "void", "restore"  # of an event
REGISTER = "register"  # a match that starts, with its entrants
MERGE, UNMERGE = "merge", "unmerge"  # of an account, by number
RENAME, PSEUDONYMISE = "rename", "pseudonymise"  # of a player, by number
SEASON, CONFIGURE, RERATE = "season", "configure", "rerate"  # of the pool; the last by a version of other arithmetic
INSERT_LOG = sa.insert(log)
SELECT_SEQUENCE = sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'log'")
DRAW_SEQUENCE = sa.text("SELECT nextval(pg_get_serial_sequence('log', 'seq')) FROM generate_series(1, :count)")


class LogEntry(NamedTuple):
    """An entry to be logged; its number, its pool and its time come as it is appended."""

    subject: str
    body: bytes
    digest: bytes
    actor: str
    match_id: str | None = None  # the registered match whose result an event is
    present: int | None = None  # how many of its entrants are in the result


def json_entry(subject: str, details: Any, actor: str) -> LogEntry:
    """An entry whose body is JSON; empty where `details` is None."""
    body = b"" if details is None else json.dumps(details, ensure_ascii=False).encode()
    return LogEntry(subject, body, digest(body), actor)


def digest(content: bytes) -> bytes:
    """The hash that tells equal content from other content."""
    return hashlib.blake2b(content, digest_size=16).digest()


def append(connection: sa.Connection, pool: Pool, kind: str, entries: Sequence[LogEntry]) -> list[int]:
    """Write log entries, and return their sequence numbers, rising in their order, drawn while the pool is locked."""
    if not entries:
        return []
    received_at = datetime.now(UTC).isoformat(timespec="microseconds")  # for people, never read by rating
    shared = {"pool_id": pool.id, "kind": kind, "received_at": received_at}
    numbers = draw_numbers(connection, len(entries))
    rows = [shared | {"seq": seq} | each._asdict() for seq, each in zip(numbers, entries, strict=True)]
    connection.execute(INSERT_LOG, rows)
    return numbers


def draw_numbers(connection: sa.Connection, count: int) -> list[int]:
    """Draw numbers that no entry ever had, rising; all at once, since one by one takes as long as the rating."""
    if connection.dialect.name == "postgresql":
        return list(connection.execute(DRAW_SEQUENCE, {"count": count}).scalars())
    last = connection.execute(SELECT_SEQUENCE).scalar() or 0  # the whole database is locked
    return list(range(last + 1, last + 1 + count))


SELECT_NEWEST_SEQ = sa.select(sa.func.max(log.c.seq)).where(log.c.pool_id == sa.bindparam("pool"))


def newest_seq(connection: sa.Connection, pool: Pool) -> int:
    """The number of the newest entry: as long as it is the same, so is everything that derives from the log."""
    return connection.execute(SELECT_NEWEST_SEQ, {"pool": pool.id}).scalar_one() or 0


def entries_after(connection: sa.Connection, pool: Pool, seq: int, limit: int) -> list[Any]:
    """Entries with numbers above `seq`, oldest first, `limit` at most, without their bodies."""
    select = (
        sa.select(log.c.seq, log.c.kind, log.c.subject, log.c.received_at, log.c.actor)
        .where(log.c.pool_id == pool.id, log.c.seq > seq)
        .order_by(log.c.seq)
        .limit(limit)
    )
    return list(connection.execute(select))
