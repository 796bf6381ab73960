"""The hash chain of a pool's log, and announcements of new entries.

Each entry stores a hash of itself and of the previous entry. Only values that mean the same in every database are
hashed. These include the place in the chain instead of the entry's number. The pool's number and the digest are
excluded. Reasons and titles have separate salted hashes, so their texts can be blanked without breaking the chain.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Self

import sqlalchemy as sa

from podium.errors import ParameterError
from podium.log.database import CARRY_OVER, StoreError, write_transaction
from podium.log.pools import PoolView
from podium.log.schema import log, pools, title
from podium.log.statements import of_pool
from podium.support.answers import answer, described

GENESIS = hashlib.sha256(b"the log of a Podium pool, chain 1").digest()  # comes before the first entry
HASHED = ("place", "received_at", "kind", "actor", "subject", "body", "match_id", "present", "reason_hash")
CHUNK_ENTRIES = 200  # number of entries read at once; a body can have thousands of lines
SELECT_NEWEST_LINK = sa.select(log.c.place, log.c.hash).where(of_pool(log)).order_by(log.c.seq.desc()).limit(1)
SELECT_LINK = sa.select(log.c.hash).where(of_pool(log), log.c.place == sa.bindparam("place"))
SELECT_ENTRIES = (
    sa.select(log.c.seq, log.c.hash, *(log.c[name] for name in HASHED))
    .add_columns(title.c.salt.label("title_salt"), title.c.text.label("title"), title.c.at.label("title_at"))
    .outerjoin(title, sa.and_(title.c.pool_id == log.c.pool_id, title.c.seq == log.c.seq))
    .where(of_pool(log), log.c.place > sa.bindparam("after"))
    .order_by(log.c.place)
    .limit(CHUNK_ENTRIES)
)


@answer
class Head:
    """The newest entry in a pool's log. Its hash also covers all earlier entries."""

    place: int = described("Number of entries up to and including this one.")  # 0 if there are no entries
    hash: str = described("SHA-256 hash, in hexadecimal digits.")

    def __str__(self) -> str:
        """Return the head in the form that `podium verify --head` expects."""
        return f"{self.place}:{self.hash}"


def entry_hash(previous: bytes, values: Iterable[Any]) -> bytes:
    """Return the hash of an entry, given its column values in the order of `HASHED`.

    Returns:
        SHA-256 of `previous` and every value. A value is a byte 0 for None, or else a byte 1, the length in 8
        big-endian bytes, and the bytes of the value (text in UTF-8, numbers in decimal digits).
    """
    parts = [previous]
    for value in values:
        if value is None:
            parts.append(b"\0")
        else:
            content = value if isinstance(value, bytes) else str(value).encode()
            parts += (b"\1", len(content).to_bytes(8, "big"), content)
    return hashlib.sha256(b"".join(parts)).digest()


def reason_hash(salt: bytes, text: str) -> bytes:
    """Return the hash of a reason or a title. The salt prevents others from guessing the text."""
    return hashlib.sha256(salt + text.encode()).digest()


def newest_head(pool: PoolView) -> Head:
    rows = pool.run(SELECT_NEWEST_LINK)
    if not rows:
        return Head(0, GENESIS.hex())
    ((place, digest),) = rows
    if digest is None:
        raise StoreError(f"pool {pool.name!r} has a log without a chain, as in earlier versions; {CARRY_OVER}")
    return Head(place, digest.hex())


def chained_entries(pool: PoolView) -> Iterator[Any]:
    """Yield the rows of a pool's log in the order of the chain, a few at a time."""
    after = -(2**62)
    while rows := pool.execute(SELECT_ENTRIES, after=after).all():
        yield from rows
        after = rows[-1].place


def parse_head(text: str) -> Head:
    """Parse a head in the form PLACE:HASH."""
    place, _, digits = text.strip().partition(":")
    try:
        head = Head(int(place), bytes.fromhex(digits).hex())
    except ValueError:
        head = Head(0, "")
    if head.place < 1 or len(head.hash) != len(GENESIS.hex()):
        raise ParameterError(f"{text!r} is neither a file nor a head. Write a head as PLACE:HASH (see podium verify).")
    return head


CHANNEL = "podium_log"
NOTIFY = sa.text(f"SELECT pg_notify('{CHANNEL}', :payload)")
SELECT_NEWEST = sa.select(
    pools.c.name, sa.select(sa.func.max(log.c.seq)).where(log.c.pool_id == pools.c.id).scalar_subquery().label("seq")
)


class Announcement(NamedTuple):
    """An announcement that a pool's log now extends to this entry."""

    seq: int  # number of the newest entry; 0 in a probe
    pool: str  # name of the pool, or a probe's text


def announce(pool: PoolView, seq: int) -> None:
    """Announce to all processes, once this transaction is committed, that a pool's log now extends to an entry."""
    if pool.connection.dialect.name == "postgresql":
        pool.execute(NOTIFY, payload=f"{seq} {pool.name}")


def announce_probe(engine: sa.Engine, text: str) -> None:
    """Send a probe from another session, so that a listener can check whether it receives announcements."""
    with write_transaction(engine) as connection:
        connection.execute(NOTIFY, {"payload": f"0 {text}"})


def newest_entries(connection: sa.Connection) -> dict[str, int]:
    """Return the number of each pool's newest log entry, or 0 if it has none. This takes one index lookup per pool."""
    return {row.name: row.seq or 0 for row in connection.execute(SELECT_NEWEST)}


class Subscription:
    """A PostgreSQL session that receives announcements."""

    def __init__(self, engine: sa.Engine) -> None:
        pooled = engine.raw_connection()
        session: Any = pooled.driver_connection  # Psycopg's connection
        pooled.detach()  # the connection pool no longer counts it
        self._session = session
        try:
            session.autocommit = True
            session.execute(f"LISTEN {CHANNEL}")
        except BaseException:
            self.close()
            raise
        self.descriptor: int = self._session.fileno()  # readable when there is an announcement

    @classmethod
    def open(cls, engine: sa.Engine) -> Self | None:
        """Open a session for announcements.

        Return None for databases without announcements: SQLite, and PostgreSQL with other drivers.
        """
        return cls(engine) if engine.dialect.name == "postgresql" and engine.driver == "psycopg" else None

    def receive(self) -> list[Announcement]:
        """Return the announcements since the last call, without waiting."""
        announcements = []
        for notify in self._session.notifies(timeout=0):
            seq, _, pool = notify.payload.partition(" ")
            if seq.isdecimal():
                announcements.append(Announcement(int(seq), pool))
        return announcements

    def close(self) -> None:
        self._session.close()
