"""The append-only log: the only truth, from which everything else of a pool derives."""

import hashlib
import hmac
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.store.log.announcements import announce
from podium.store.log.chain import Head, hash_after, newest_head, seal
from podium.store.log.pools import Pool
from podium.store.sql.schema import log, reason
from podium.store.sql.upsert import insert

SUBMIT, AMEND, VOID, RESTORE = "submit", "amend", "void", "restore"  # of an event
REGISTER = "register"  # a match that starts, with its entrants
MERGE, UNMERGE = "merge", "unmerge"  # of an account, by number
RENAME, PSEUDONYMISE = "rename", "pseudonymise"  # of a player, by number
SEASON, CONFIGURE, RERATE = "season", "configure", "rerate"  # of the pool; the last by a version of other arithmetic
CLOSE, REOPEN = "close", "reopen"  # of the pool
DESCRIBE = "describe"  # of the pool: all that it says of itself from now on
BLANK = "blank"  # of the reason of an entry, by the entry's place in the chain
KINDS = (
    SUBMIT, AMEND, VOID, RESTORE, REGISTER, MERGE, UNMERGE, RENAME, PSEUDONYMISE, SEASON, CONFIGURE, RERATE, CLOSE,
    REOPEN, DESCRIBE, BLANK,
)  # fmt: skip
WITH_CONTENT = (SUBMIT, AMEND)  # whose body is an event's content, and whose digest tells a repeat
DIGEST_BYTES = 16
INSERT_REASON = sa.insert(reason)
SELECT_SEQUENCE = sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'log'")
DRAW_SEQUENCE = sa.text("SELECT nextval(pg_get_serial_sequence('log', 'seq')) FROM generate_series(1, :count)")


class LogEntry(NamedTuple):
    """An entry to be logged; its number, its place, its pool and its time come as it is appended."""

    subject: str
    body: bytes
    actor: str
    digest: bytes = b""  # of an event's content
    match_id: str | None = None  # the registered match whose result an event is
    present: int | None = None  # how many of its entrants are in the result
    reason: str = ""  # why it was done, in the actor's words


class Logged(NamedTuple):
    """What became of entries that were appended."""

    seqs: list[int]  # their numbers, rising in their order
    head: Head  # of the log with them


def json_entry(subject: str, details: Any, actor: str, reason: str = "") -> LogEntry:
    """An entry whose body is JSON; empty where `details` is None."""
    body = b"" if details is None else json.dumps(details, ensure_ascii=False).encode()
    return LogEntry(subject, body, actor, reason=reason)


def keyed_digest(content: bytes, secret: bytes) -> bytes:
    """The digest that tells equal content from other content, and tells nothing to whoever lacks the secret."""
    digest = hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()
    return hmac.digest(secret, digest, "sha256")[:DIGEST_BYTES]  # RFC 2104


def append(connection: sa.Connection, pool: Pool, kind: str, entries: Sequence[LogEntry]) -> Logged:
    """Write log entries, chained to those before them; their numbers are drawn while the pool is locked.

    Raises:
        StoreError: the log is not chained.
    """
    head = newest_head(connection, pool)
    if not entries:
        return Logged([], head)
    received_at = datetime.now(UTC).isoformat(timespec="microseconds")  # for people, never read by rating
    seqs = draw_numbers(connection, len(entries))
    previous, rows, reasons = bytes.fromhex(head.hash), list[tuple[Any, ...]](), list[dict[str, Any]]()
    for place, (seq, entry) in enumerate(zip(seqs, entries, strict=True), start=head.place + 1):
        subject, body, actor, digest, match_id, present, text = entry
        reason_hash = None
        if text:
            sealed = seal(text)
            reason_hash = sealed.hash
            reasons.append({"pool_id": pool.id, "seq": seq, "salt": sealed.salt, "text": sealed.text})
        # as `HASHED` names them
        hashed = place, received_at, kind, actor, subject, body, match_id, present, reason_hash
        previous = hash_after(previous, hashed)
        logged = subject, body, digest, match_id, present, received_at, actor
        rows.append((seq, pool.id, kind, *logged, place, previous, reason_hash))  # in the table's order
    insert(connection, log, rows)
    if reasons:
        connection.execute(INSERT_REASON, reasons)
    announce(connection, pool, seqs[-1])
    return Logged(seqs, Head(head.place + len(rows), previous.hex()))


def insert_entries(connection: sa.Connection, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write whole rows of the log, each a value for every column."""
    insert(connection, log, [*map(itemgetter(*log.columns.keys()), rows)])


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
