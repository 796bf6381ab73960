"""The chain of a pool's log: each entry has the hash of itself and of the one before it; and who hears of new entries.

Hashed is what means the same in any database: the entry's place in the chain instead of its number, and neither the
pool's number nor the digest, which another database has its own of. Reasons and titles are hashed by themselves, with a
salt, so that their texts can be blanked without breaking the chain.
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

GENESIS = hashlib.sha256(b"the log of a Podium pool, chain 1").digest()  # stands before the first entry
HASHED = ("place", "received_at", "kind", "actor", "subject", "body", "match_id", "present", "reason_hash")
CHUNK_ENTRIES = 200  # that are read at once; a body may have thousands of lines
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
    """The newest entry of a pool's log: it stands for every entry up to it."""

    place: int = described("The number of entries up to it.")  # 0 where there is none
    hash: str = described("SHA-256, in hexadecimal digits.")

    def __str__(self) -> str:
        """The head, as `podium verify --head` takes it."""
        return f"{self.place}:{self.hash}"


def entry_hash(previous: bytes, values: Iterable[Any]) -> bytes:
    """The hash of an entry whose columns have these values, in the order of `HASHED`.

    Returns:
        SHA-256 of `previous` and of every value: a byte 0 for nothing; else a byte 1, the length in 8 bytes,
        big-endian, and the bytes: text in UTF-8, numbers in decimal digits.
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
    """Return the hash of a reason or a title; its salt keeps the text from being guessed."""
    return hashlib.sha256(salt + text.encode()).digest()


def newest_head(pool: PoolView) -> Head:
    rows = pool.run(SELECT_NEWEST_LINK)
    if not rows:
        return Head(0, GENESIS.hex())
    ((place, digest),) = rows
    if digest is None:
        raise StoreError(f"pool {pool.name!r} has a log without a chain, as earlier versions had; {CARRY_OVER}")
    return Head(place, digest.hex())


def chained_entries(pool: PoolView) -> Iterator[Any]:
    """The rows of a pool's log by their places in the chain, a few in memory at a time."""
    after = -(2**62)
    while rows := pool.fetch(SELECT_ENTRIES, after=after):
        yield from rows
        after = rows[-1].place


def parse_head(text: str) -> Head:
    """Read a head that is written as PLACE:HASH."""
    place, _, digits = text.strip().partition(":")
    try:
        head = Head(int(place), bytes.fromhex(digits).hex())
    except ValueError:
        head = Head(0, "")
    if head.place < 1 or len(head.hash) != len(GENESIS.hex()):
        raise ParameterError(f"{text!r} is no file, and not a head: write it as PLACE:HASH, as podium verify shows it")
    return head


CHANNEL = "podium_log"
NOTIFY = sa.text(f"SELECT pg_notify('{CHANNEL}', :payload)")
SELECT_NEWEST = sa.select(
    pools.c.name, sa.select(sa.func.max(log.c.seq)).where(log.c.pool_id == pools.c.id).scalar_subquery().label("seq")
)


class Announcement(NamedTuple):
    """What is announced of a pool: that its log goes up to an entry."""

    seq: int  # the number of its newest entry; 0 in a probe
    pool: str  # its name; the text of a probe


def announce(pool: PoolView, seq: int) -> None:
    """Let every process know, once this transaction is committed, that a pool's log goes up to an entry."""
    if pool.connection.dialect.name == "postgresql":
        pool.execute(NOTIFY, payload=f"{seq} {pool.name}")


def announce_probe(engine: sa.Engine, text: str) -> None:
    """Say something through another session, so that whoever listens knows that it hears."""
    with write_transaction(engine) as connection:
        connection.execute(NOTIFY, {"payload": f"0 {text}"})


def newest_entries(connection: sa.Connection) -> dict[str, int]:
    """The number of each pool's newest log entry, 0 before the first: a look into an index for each pool."""
    return {row.name: row.seq or 0 for row in connection.execute(SELECT_NEWEST)}


class Subscription:
    """A session of PostgreSQL's that hears announcements."""

    def __init__(self, engine: sa.Engine) -> None:
        pooled = engine.raw_connection()
        session: Any = pooled.driver_connection  # Psycopg's
        pooled.detach()  # it is the pool's no more, which has as many as before
        self._session = session
        try:
            session.autocommit = True
            session.execute(f"LISTEN {CHANNEL}")
        except BaseException:
            self.close()
            raise
        self.descriptor: int = self._session.fileno()  # can be read when something was announced

    @classmethod
    def open(cls, engine: sa.Engine) -> Self | None:
        """Open a session; None where there is no such thing as to hear, in SQLite and with other drivers."""
        return cls(engine) if engine.dialect.name == "postgresql" and engine.driver == "psycopg" else None

    def receive(self) -> list[Announcement]:
        """What was announced since the last time; it does not wait."""
        announcements = []
        for notify in self._session.notifies(timeout=0):
            seq, _, pool = notify.payload.partition(" ")
            if seq.isdecimal():
                announcements.append(Announcement(int(seq), pool))
        return announcements

    def close(self) -> None:
        self._session.close()
