"""Log entries of a proposal, and what is stored beside the log."""

import hashlib
from collections.abc import Sequence

import numpy as np
import sqlalchemy as sa

from podium.log.log import CONFIGURE, Logged, append
from podium.log.pools import PoolView
from podium.log.schema import brought, pools, sheet, witness
from podium.log.statements import insert, of_pool, upsert
from podium.pool.snapshot import ROW_TYPES, Snapshot
from podium.store.writing.proposals import FIRST_PLACEHOLDER, Proposal

FOLLOW_EVENT = (  # what sheets brought stays what they brought, in another order
    sa.update(brought)
    .where(
        of_pool(brought), brought.c.event_id == sa.bindparam("event"), brought.c.content_seq == sa.bindparam("former")
    )
    .values(content_seq=sa.bindparam("present"))
)
COUNT_WITNESS = sa.select(sa.func.count()).where(of_pool(witness), witness.c.part < sa.bindparam("first"))
DELETE_WITNESS = sa.delete(witness).where(of_pool(witness), witness.c.part >= sa.bindparam("first"))


def record(proposal: Proposal) -> Logged:
    """Log what is proposed, and store what is beside the log."""
    pool, connection = proposal.pool, proposal.pool.connection
    former = contents_before(proposal) if proposal.kind == CONFIGURE and proposal.settles_order else {}
    logged = append(pool, proposal.kind, proposal.entries)
    for entry, seq in zip(proposal.entries, logged.seqs, strict=True):
        if entry.subject in former:
            pool.run(FOLLOW_EVENT, event=entry.subject, former=former[entry.subject], present=seq)
    if proposal.columns:
        connection.execute(sa.update(pools).where(pools.c.id == pool.id).values(dict(proposal.columns)))
    keep_sheet(proposal, logged.seqs)
    return logged


def contents_before(proposal: Proposal) -> dict[str, int]:
    """Return the log entries with the contents of events that get new ones, by id."""
    events = proposal.pool.snapshot.events
    uids = {entry.subject: events.find(entry.subject) for entry in proposal.entries}
    return {event_id: int(events.columns.value("content_seq", uid)) for event_id, uid in uids.items() if uid >= 0}


def keep_sheet(proposal: Proposal, seqs: Sequence[int] = ()) -> None:
    """Store which events a sheet brought."""
    pool, kept = proposal.pool, proposal.sheet
    if kept is None:
        return
    upsert(pool.connection, sheet, [(pool.id, kept.name, kept.map)])
    rows = []
    for each in kept.events:
        new = each.content_seq - FIRST_PLACEHOLDER
        rows.append((pool.id, kept.name, *(each if new < 0 else each._replace(content_seq=seqs[new]))))
    upsert(pool.connection, brought, rows)


def store_witness(pool: PoolView, snapshot: Snapshot, first_row: int = 0) -> None:
    """Store the digests of the ledger from a row on, or of all rows if earlier digests are missing."""
    first = part_of(first_row)
    ((known,),) = pool.run(COUNT_WITNESS, first=first)
    first = first if known == first else 0
    pool.run(DELETE_WITNESS, first=first)
    insert(pool.connection, witness, [(pool.id, first + k, each) for k, each in enumerate(digests(snapshot, first))])


PART_ROWS = 1_024  # a write replaces the digest of the last part, and those behind the first row that it changes


def part_of(row: int) -> int:
    """Return the number of the part that holds a ledger row."""
    return row // PART_ROWS


def digests(snapshot: Snapshot, first_part: int = 0) -> list[bytes]:
    """Return the SHA-256 of each part of the ledger from one on.

    Returns:
        A digest of each part's columns, one after the other: `ROW_TYPES` and `state`, little-endian.
    """
    rows = snapshot.rows
    found = []
    for first in range(first_part * PART_ROWS, rows.size, PART_ROWS):
        digest = hashlib.sha256()
        for name in (*ROW_TYPES, "state"):
            column = rows.part(name, first, min(first + PART_ROWS, rows.size))
            digest.update(np.ascontiguousarray(column, column.dtype.newbyteorder("<")).tobytes())
        found.append(digest.digest())
    return found
