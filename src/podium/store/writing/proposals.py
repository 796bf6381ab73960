"""Proposals: the log entries for a change, the data to store next to the log, and functions that record both."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from podium.log.database import StoreError
from podium.log.log import CONFIGURE, LogEntry, Logged, append
from podium.log.players import insert_players
from podium.log.pools import PoolView
from podium.log.schema import brought, sheet, witness
from podium.log.statements import insert, of_pool, upsert
from podium.pool.snapshot import ROW_TYPES, Event, Snapshot
from podium.store.following import PoolReader
from podium.support.immutable import immutable
from podium.views.names import version_of

# placeholders for numbers of log entries that have not been drawn yet; larger than all existing numbers
FIRST_PLACEHOLDER = 2**61


AGAIN, SKIP = "again", "skip_known"  # store results that look like known ones, or leave them out


class BroughtEvent(NamedTuple):
    event_id: str
    own_id: str  # the sheet's name for the event
    content_seq: int  # log entry with the sheet's latest content
    is_gone: bool = False  # True if the sheet no longer has the event


class Sheet(NamedTuple):
    name: str
    map: str = ""  # meaning of its columns in TOML; empty if the headings suffice
    prefix: str = ""  # prefix for the IDs of its new events, if other events already use the sheet's IDs
    made: Mapping[str, str] = {}  # IDs that Podium made, as in `podium.Results`
    has_made_dates: bool = False  # True if its dates were filled in, so that they prove nothing
    answer: str = ""  # AGAIN or SKIP, for results that look like known ones


class SheetRecord(NamedTuple):
    name: str
    map: str  # meaning of its columns in TOML; empty if the headings suffice
    events: Sequence[BroughtEvent]  # events for which to store new data
    changes: Any = None  # all changes from the sheet, if it was compared


@immutable
class Proposal:
    """Log entries to append, and the data to store with them. New entries have placeholders instead of numbers."""

    pool: PoolReader  # the pool, with the system that it will have
    kind: str
    entries: tuple[LogEntry, ...] = ()  # empty if nothing changes
    sent: Mapping[str, int] = field(default_factory=dict)  # events to report back, each with the number of its sender
    known: Collection[str] = ()  # events that contain nothing new
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by event
    newcomers: Mapping[int, str] = field(default_factory=dict)  # names of new players, by the numbers that they get
    names: Mapping[int, str] = field(default_factory=dict)  # the current names of known players
    columns: Mapping[str, Any] = field(default_factory=dict)  # new values of the pool's row
    sets_order: bool = False  # True if these are the pool's first events, or if the order of all events changes
    sheet: SheetRecord | None = None  # the sheet from which the events come
    # True to reject a proposal after which an event can no longer be rated
    refuses_unrateable: bool = True


Propose = Callable[[PoolReader], Proposal]  # checks, and reads, but writes nothing
Act = Callable[[PoolReader, str, str], Proposal]  # proposes a change, given the actor and the reason for the log


class StaleError(StoreError):
    """The event has changed since the version to which a correction refers."""


def require_version(event: Event, versions: Collection[str] | None) -> None:
    """Raise an error if an event does not have one of these versions."""
    if versions is not None and version_of(event) not in versions:
        raise StaleError(
            f"event {event.event_id!r} has changed since you read it. Read it again, and correct that version."
        )


FOLLOW_EVENT = (  # the data from sheets stays the same when events get another order
    sa.update(brought)
    .where(
        of_pool(brought), brought.c.event_id == sa.bindparam("event"), brought.c.content_seq == sa.bindparam("former")
    )
    .values(content_seq=sa.bindparam("present"))
)
SELECT_WITNESS_PART = sa.select(witness.c.part).where(of_pool(witness), witness.c.part == sa.bindparam("part"))
DELETE_WITNESS = sa.delete(witness).where(of_pool(witness), witness.c.part >= sa.bindparam("first"))


def record(proposal: Proposal) -> Logged:
    """Log a proposal, and store the data that belongs to it."""
    pool = proposal.pool
    former = contents_before(proposal) if proposal.kind == CONFIGURE and proposal.sets_order else {}
    insert_players(pool, proposal.newcomers.items())
    logged = append(pool, proposal.kind, proposal.entries)
    for entry, seq in zip(proposal.entries, logged.seqs, strict=True) if former else ():
        if entry.subject in former:
            pool.run(FOLLOW_EVENT, event=entry.subject, former=former[entry.subject], present=seq)
    if proposal.columns:
        pool.update(**proposal.columns)
    keep_sheet(proposal, logged.seqs)
    return logged


def contents_before(proposal: Proposal) -> dict[str, int]:
    """Return, by event ID, the log entries with the present contents of the events that get new contents."""
    events = proposal.pool.snapshot.events
    uids = {entry.subject: events.find(entry.subject) for entry in proposal.entries}
    return {event_id: int(events.columns.value("content_seq", uid)) for event_id, uid in uids.items() if uid >= 0}


def keep_sheet(proposal: Proposal, seqs: Sequence[int] = ()) -> None:
    """Record the events that came from a sheet."""
    pool, kept = proposal.pool, proposal.sheet
    if kept is None:
        return
    upsert(pool.connection, sheet, [(pool.id, kept.name, kept.map)])
    rows = []
    for event in kept.events:
        new = event.content_seq - FIRST_PLACEHOLDER
        rows.append((pool.id, kept.name, *(event if new < 0 else event._replace(content_seq=seqs[new]))))
    upsert(pool.connection, brought, rows)


def store_witness(pool: PoolView, snapshot: Snapshot, first_row: int = 0) -> None:
    """Store the ledger's digests from a row on. If the digest before it is missing, store all digests."""
    first = part_of(first_row)
    if first and not pool.run(SELECT_WITNESS_PART, part=first - 1):
        first = 0
    pool.run(DELETE_WITNESS, first=first)
    insert(
        pool.connection, witness, [(pool.id, first + k, digest) for k, digest in enumerate(digests(snapshot, first))]
    )


PART_ROWS = 1_024  # a write replaces the digests of the last part and of all parts from the first changed row on


def part_of(row: int) -> int:
    """Return the number of the part that contains a ledger row."""
    return row // PART_ROWS


def digests(snapshot: Snapshot, first_part: int = 0) -> list[bytes]:
    """Return the SHA-256 digest of each part of the ledger, from a given part on.

    Returns:
        One digest per part, calculated over its columns (`ROW_TYPES` and `state`) in order, as little-endian bytes.
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
