"""What was altered, removed, added or moved in a log, as its chain shows it: each fault is named."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.store.log.chain import GENESIS, SELECT_LINK, Head, chained_entries, hash_after, reason_hash
from podium.store.log.log import BLANK
from podium.store.log.pools import Pool
from podium.store.sql.schema import log, reason

MAX_FAULTS = 20  # that are reported
IN_POOL = log.c.pool_id == sa.bindparam("pool")
SELECT_REASONS = sa.select(reason.c.seq, reason.c.salt, reason.c.text).where(reason.c.pool_id == sa.bindparam("pool"))
SELECT_NEWEST_CHAINED = (
    sa.select(log.c.seq, log.c.place, log.c.hash)
    .where(IN_POOL, log.c.place.is_not(None))
    .order_by(log.c.place.desc())
    .limit(1)
)
SELECT_ADDED = sa.select(log.c.seq, log.c.kind, log.c.subject).where(IN_POOL, log.c.place.is_(None)).order_by(log.c.seq)
COUNT_REASONS_GIVEN = sa.select(sa.func.count()).where(IN_POOL, log.c.reason_hash.is_not(None))
COUNT_REASONS = sa.select(sa.func.count()).select_from(reason).where(reason.c.pool_id == sa.bindparam("pool"))


class Checked(NamedTuple):
    """The entry that was checked last."""

    place: int
    seq: int
    hashes: tuple[bytes, ...]  # as it is stored; and as it should be, where that is another


def chain_faults(connection: sa.Connection, pool: Pool) -> Iterator[str]:
    """The first few faults of a log's chain, a sentence each; nothing where all is well."""
    return islice(all_faults(connection, pool), MAX_FAULTS)


def all_faults(connection: sa.Connection, pool: Pool) -> Iterator[str]:
    """Every fault of a log's chain, a sentence each."""
    reasons = {row.seq: row for row in connection.execute(SELECT_REASONS, {"pool": pool.id})}
    last, without_reason, blanked = Checked(0, 0, (GENESIS,)), dict[int, str](), set[str]()
    for row in chained_entries(connection, pool):
        seq, _, place, _, kind, _, subject, *_, given_hash = row  # by position: half as long as by name
        if place > last.place + 1:
            yield f"{missing(last.place + 1, place - 1)} removed before {named(row)}"
        elif place != last.place + 1:
            yield f"{named(row)} has the place of another"
        if seq <= last.seq:
            yield f"{named(row)} was moved: it stands before entry {last.place}, which has the number {last.seq}"
        last, fits = follow(last, row)
        if not fits:
            yield f"{named(row)} was altered, or the entry before it: its hash is not that of what they hold"
        if kind == BLANK:
            blanked.add(subject)
        given = reasons.pop(seq, None)
        if given_hash is not None and given is None:
            without_reason[place] = named(row)
        elif given is not None and given_hash != reason_hash(given.salt, given.text):
            yield f"the reason of {named(row)} was altered"
    yield from (
        f"the reason of {entry} was removed, and no entry of the log says that it was blanked"
        for place, entry in without_reason.items()
        if str(place) not in blanked
    )
    yield from (f"a reason is stored for log entry number {seq}, which has none" for seq in reasons)
    for row in connection.execute(SELECT_ADDED, {"pool": pool.id}):
        yield f"a log entry ({describe(row)}) was added: it is not in the chain"


def named(row: Any) -> str:
    """What an entry is called in a sentence."""
    return f"log entry {row.place} ({describe(row)})"


def describe(row: Any) -> str:
    """An entry's number, kind and subject."""
    return f"number {row.seq}, {row.kind}{f' of {row.subject!r}' if row.subject else ''}"


def missing(first: int, last: int) -> str:
    """The places of entries that are not there, as the begin of a sentence."""
    return f"log entry {first} was" if first == last else f"log entries {first} to {last} were"


def follow(last: Checked, row: Any) -> tuple[Checked, bool]:
    """The next entry, and whether its hash is that of its columns after the entry before it."""
    seq, stored_hash, *hashed = row
    place = hashed[0]
    if place != last.place + 1:
        return Checked(place, seq, (stored_hash or b"",)), True  # without the entry before it, nobody can say
    expected = [hash_after(each, hashed) for each in last.hashes]
    fits = stored_hash in expected
    hashes = (stored_hash,) if fits else (stored_hash or b"", *expected)
    return Checked(place, seq, hashes), fits


def stored_head(connection: sa.Connection, pool: Pool) -> Head:
    """The newest entry of a log that is in the chain, as it is stored."""
    row = connection.execute(SELECT_NEWEST_CHAINED, {"pool": pool.id}).first()
    return Head(0, GENESIS.hex()) if row is None else Head(row.place, (row.hash or b"").hex())


def head_fault(connection: sa.Connection, pool: Pool, head: Head) -> str:
    """Why a log is not one that had this head once, in words; empty where it is."""
    link = connection.execute(SELECT_LINK, {"pool": pool.id, "place": head.place}).first()
    if link is None:
        newest = stored_head(connection, pool)
        return f"{missing(newest.place + 1, head.place)} removed: the log ends before the head {head}"
    if link.hash is None or link.hash.hex() != head.hash:
        return f"log entry {head.place} is not that of the head {head}: it was altered, or one before it"
    return ""


def blanked_reasons(connection: sa.Connection, pool: Pool) -> int:
    """How many reasons of a log are not stored any more."""
    given, stored = (
        connection.execute(each, {"pool": pool.id}).scalar_one() for each in (COUNT_REASONS_GIVEN, COUNT_REASONS)
    )
    return int(given - stored)


def head_note(connection: sa.Connection, pool: Pool) -> str:
    """The head of a log, and how many of its reasons are blanked, in words."""
    blanked = blanked_reasons(connection, pool)
    note = f"; {blanked} {'reason is' if blanked == 1 else 'reasons are'} blanked" if blanked else ""
    return f"{pool.name}: head {stored_head(connection, pool)}{note}"
