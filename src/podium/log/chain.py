"""Verify the hash chain of a log, and the newest heads of all logs, which are in a file next to an SQLite database.

If a `-wal` file is truncated or damaged, SQLite silently drops the last transactions in it. The log then ends before
its saved head.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.errors import ParameterError, PodiumError
from podium.log.database import StoreError, read_transaction
from podium.log.files import file_of, heads_beside
from podium.log.log import (
    BLANK,
    GENESIS,
    REDACT,
    SEAL,
    ChainedEntry,
    Head,
    chained_entries,
    entry_hash,
    newest_head,
    reason_hash,
    seal,
)
from podium.log.pools import PoolView, every_pool
from podium.log.schema import log, reason, title
from podium.log.statements import of_pool
from podium.support.part_files import part_file
from podium.support.words import counted

SELECT_HASHED_REASONS = sa.select(reason.c.seq, reason.c.salt, reason.c.text).where(of_pool(reason))
SELECT_NEWEST_CHAINED = (
    sa.select(log.c.seq, log.c.place, log.c.hash)
    .where(of_pool(log), log.c.place.is_not(None))
    .order_by(log.c.place.desc())
    .limit(1)
)
SELECT_LINK = sa.select(log.c.hash).where(of_pool(log), log.c.place == sa.bindparam("place"))
SELECT_ADDED = (
    sa.select(log.c.seq, log.c.kind, log.c.subject).where(of_pool(log), log.c.place.is_(None)).order_by(log.c.seq)
)
COUNT_REASONS_GIVEN = sa.select(sa.func.count()).where(of_pool(log), log.c.reason_hash.is_not(None))
COUNT_REASONS = sa.select(sa.func.count()).select_from(reason).where(of_pool(reason))
COUNT_BLANKED_TITLES = sa.select(sa.func.count()).where(of_pool(title), title.c.text == b"")


SELECT_REDACTIONS = sa.select(log.c.body).where(of_pool(log), log.c.kind == REDACT).order_by(log.c.seq)
Redactions = dict[int, bytes]  # by place: the hash of a redacted entry's present content; the entry's own hash stays


def redactions(pool: PoolView) -> Redactions:
    return {place: digest for body in pool.execute(SELECT_REDACTIONS).scalars() for place, digest in redacted(body)}


def redacted(body: bytes) -> list[tuple[int, bytes]]:
    """Return the places and hashes in the body of a redaction."""
    return [(int(place), bytes.fromhex(digest)) for place, digest in json.loads(body)["hashes"].items()]


class Checked(NamedTuple):
    """The most recently verified entry."""

    place: int
    seq: int
    hashes: tuple[bytes, ...]  # as stored, and as it should be if it differs


def chain_faults(pool: PoolView) -> Iterator[str]:
    reasons = {row.seq: row for row in pool.execute(SELECT_HASHED_REASONS)}
    changed = redactions(pool)
    last, removed, blanked = Checked(0, 0, (GENESIS,)), list[tuple[int, str]](), set[str]()
    for row in chained_entries(pool):
        seq, place = row.seq, row.place
        if place > last.place + 1:
            yield f"{missing(last.place + 1, place - 1)} removed before {named(row)}"
        elif place != last.place + 1:
            yield f"{named(row)} has the place of another entry"
        if seq <= last.seq:
            yield f"{named(row)} was moved: it comes before entry {last.place}, which has the number {last.seq}"
        last, fits = follow(last, row, changed)
        if not fits:
            yield f"{named(row)} was altered, or the entry before it: its hash does not match their content"
        if row.kind == BLANK:
            blanked.add(row.subject)
        for text, is_there in text_faults(row, reasons.pop(seq, None)).items():
            if is_there:
                yield f"{text} was altered"
            else:
                removed.append((place, text))
    yield from (
        f"{text} was removed, but no entry of the log says that it was blanked"
        for place, text in removed
        if str(place) not in blanked
    )
    yield from (f"a reason is stored for log entry number {seq}, which has no reason" for seq in reasons)
    for row in pool.execute(SELECT_ADDED):
        yield f"a log entry ({describe(row)}) was added: it is not in the chain"


def text_faults(row: ChainedEntry, given: Any) -> dict[str, bool]:
    """Return each reason or title that does not match its hash, together with False if the text was removed."""
    found = {}
    if given is None and row.reason_hash is not None:
        found[f"the reason of {named(row)}"] = False
    elif given is not None and row.reason_hash != reason_hash(given.salt, given.text):
        found[f"the reason of {named(row)}"] = True
    if not row.title and SEAL in row.body:
        found[f"the title of {named(row)}"] = False
    elif row.title and not row.body.startswith(seal(row.title_salt, row.title), row.title_at):
        found[f"the title of {named(row)}"] = True
    return found


def named(row: Any) -> str:
    return f"log entry {row.place} ({describe(row)})"


def describe(row: Any) -> str:
    return f"number {row.seq}, {row.kind}{f' of {row.subject!r}' if row.subject else ''}"


def missing(first: int, last: int) -> str:
    return f"log entry {first} was" if first == last else f"log entries {first} to {last} were"


def follow(last: Checked, row: ChainedEntry, changed: Redactions) -> tuple[Checked, bool]:
    """Verify the next entry. Return it, and True if its hash matches its columns and the previous entry.

    The hash of a redacted entry's columns is stored in the entry that records the redaction.
    """
    place, stored = row.place, row.hash or b""
    if place != last.place + 1:
        return Checked(place, row.seq, (stored,)), True  # cannot be verified without the previous entry
    expected = [entry_hash(previous, row.hashed) for previous in last.hashes]
    fits = stored in expected or changed.get(place) in expected
    return Checked(place, row.seq, (stored,) if fits else (stored, *expected)), fits


def stored_head(pool: PoolView) -> Head:
    row = pool.execute(SELECT_NEWEST_CHAINED).first()
    return Head(0, GENESIS.hex()) if row is None else Head(row.place, (row.hash or b"").hex())


def head_fault(pool: PoolView, head: Head) -> str:
    """Return the reason why a log never had this head, or an empty string if it did."""
    link = pool.execute(SELECT_LINK, place=head.place).first()
    if link is None:
        newest = stored_head(pool)
        return f"{missing(newest.place + 1, head.place)} removed: the log ends before the head {head}"
    if link.hash is None or link.hash.hex() != head.hash:
        return f"log entry {head.place} does not match the head {head}: it was altered, or an earlier entry"
    return ""


def head_note(pool: PoolView) -> str:
    """Return a sentence with a log's head, and the number of blanked texts and redacted entries."""
    counts = COUNT_REASONS_GIVEN, COUNT_REASONS, COUNT_BLANKED_TITLES
    given, stored, titles = (pool.execute(query).scalar_one() for query in counts)
    found = (
        (given - stored, "reason", "blanked"),
        (titles, "title", "blanked"),
        (len(redactions(pool)), "entry", "redacted"),
    )
    notes = (f"; {counted(n, what)} {'is' if n == 1 else 'are'} {done}" for n, what, done in found if n)
    return f"{pool.name}: head {stored_head(pool)}{''.join(notes)}"


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


def kept_heads(engine: sa.Engine) -> dict[str, str]:
    """Return the saved head of each pool in the form PLACE:HASH. The result is empty if no heads have been saved."""
    database = file_of(engine.url)
    if database is None or not heads_beside(database).exists():
        return {}
    path = heads_beside(database)
    try:
        heads = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): str(parse_head(head)) for name, head in heads.items()}
    except (OSError, ValueError, AttributeError, PodiumError) as error:
        raise StoreError(f"{path}: cannot be read ({error}). Delete it; podium serve writes it again.") from None


def lost_heads(engine: sa.Engine, pool_name: str | None = None) -> list[str]:
    """Return a sentence about each pool whose log no longer contains the saved head."""
    try:
        heads = kept_heads(engine)
    except StoreError as error:
        return [str(error)]
    with read_transaction(engine) as connection:
        pools = {pool.name: pool for pool in every_pool(connection)} if heads else {}
        faults = {
            name: head_fault(pools[name], parse_head(head)) if name in pools else "there is no such pool any more"
            for name, head in heads.items()
            if pool_name in (None, name)
        }
    beside = f"{engine.url.database}-heads"
    return [
        f"{name}: {fault}; {beside} has the head {heads[name]}. Restore a backup, or delete {beside} to accept it."
        for name, fault in faults.items()
        if fault
    ]


def keep_heads(engine: sa.Engine) -> None:
    """Save the newest head of each log next to the database, unless the log no longer contains its saved head."""
    database = file_of(engine.url)
    if database is None or not database.exists():
        return
    lost = lost_heads(engine)
    if lost:
        raise StoreError("\n".join(lost))
    with read_transaction(engine) as connection:
        write_heads(engine, {pool.name: str(newest_head(pool)) for pool in every_pool(connection)})


def forget_head(engine: sa.Engine, pool_name: str) -> None:
    """Remove the saved head of a deleted pool."""
    with suppress(StoreError):  # `podium verify` reports a file that cannot be read
        write_heads(engine, {name: head for name, head in kept_heads(engine).items() if name != pool_name})


def write_heads(engine: sa.Engine, heads: dict[str, str]) -> None:
    database = file_of(engine.url)
    chained = {name: head for name, head in heads.items() if not head.startswith("0:")}
    if database is not None and chained != kept_heads(engine):
        with part_file(heads_beside(database), StoreError, private=True) as part:
            part.write_text(json.dumps(chained), encoding="utf-8")
