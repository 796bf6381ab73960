"""Logs of an earlier version, chained: each entry gets its place and its hash, and its digest a key."""

import sqlalchemy as sa

from podium.store.log.chain import CHUNK_ENTRIES, GENESIS, HASHED, Head, entry_hash, is_chained
from podium.store.log.chain_check import SELECT_NEWEST_CHAINED
from podium.store.log.log import WITH_CONTENT, with_key
from podium.store.log.pools import Pool
from podium.store.sql.database import StoreError
from podium.store.sql.schema import log

TURN_ENTRIES = 5_000  # that are chained in one transaction
IN_POOL = log.c.pool_id == sa.bindparam("pool")
SELECT_UNCHAINED = (
    sa.select(log.c.seq, log.c.digest, *(log.c[name] for name in HASHED if name != "place"))
    .where(IN_POOL, log.c.place.is_(None))
    .order_by(log.c.seq)
    .limit(CHUNK_ENTRIES)
)
UPDATE_LINK = (
    sa.update(log)
    .where(log.c.seq == sa.bindparam("entry"))
    .values(place=sa.bindparam("at"), hash=sa.bindparam("link"), digest=sa.bindparam("keyed"))
)


def is_due(connection: sa.Connection, pool: Pool) -> bool:
    """Whether the log waits to be chained."""
    return not is_chained(connection, pool)


def chain(connection: sa.Connection, pool: Pool, _actor: str) -> str:
    """Chain some thousand entries, the oldest that are not chained; nothing is added to the log.

    Returns:
        A sentence for the admin once the whole log is chained; empty before.

    Raises:
        StoreError: an entry between chained ones is not chained.
    """
    last = connection.execute(SELECT_NEWEST_CHAINED, {"pool": pool.id}).first()
    place, previous, seq = (0, GENESIS, 0) if last is None else (last.place, last.hash, last.seq)
    stop = place + TURN_ENTRIES
    while place < stop:
        rows = connection.execute(SELECT_UNCHAINED, {"pool": pool.id}).all()
        if rows and rows[0].seq < seq:
            raise StoreError(f"log entry {rows[0].seq} is not chained, and later ones are; take an earlier copy")
        links = []
        for row in rows:
            place, seq = place + 1, row.seq
            previous = entry_hash(previous, row._asdict() | {"place": place})
            digest = with_key(row.digest, pool.secret) if row.kind in WITH_CONTENT else b""
            links.append({"entry": seq, "at": place, "link": previous, "keyed": digest})
        if links:
            connection.execute(UPDATE_LINK, links)
        if len(rows) < CHUNK_ENTRIES:
            counted = f"{place} {'entry' if place == 1 else 'entries'}"
            return f"its log of {counted} is chained, with the head {Head(place, previous.hex())}"
    return ""
