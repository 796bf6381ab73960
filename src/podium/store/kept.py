"""Caches that can be deleted at any time: a pool's snapshot, its headline, and the results of nightly calculations.

A cache belongs to one entry of the log. Its stamp names that entry, the revisions that made the cache, and a digest of
the cache. A cache is ignored if its stamp is not the one that belongs to the pool's log and this version.
"""

import hashlib
import json
import logging
import math
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import sqlalchemy as sa

from podium.errors import UnknownError
from podium.log.log import REDACT
from podium.log.pools import Pool, PoolView, locked_pool, settings_of, system_of
from podium.log.schema import correction, kept, log
from podium.log.statements import insert, of_pool, upsert
from podium.pool.columns import Part
from podium.pool.snapshot import Snapshot, facts_of, restored, tables_of
from podium.support.arrays import Array
from podium.systems import package_version
from podium.version import ARITHMETIC

LOGGER = logging.getLogger(__name__)
LAYOUT = 6  # increased whenever the same bytes get a different meaning
HEAD = 0  # the part of a cache that contains its stamp; other parts of a snapshot have only digests
SNAPSHOT, HEADLINE, FACTS, HINDSIGHT = "snapshot", "headline", "facts", "hindsight"
WITH_TEXTS = SNAPSHOT, HEADLINE  # caches that may mention names
ENTRIES = 20_000  # maximum number of log entries, or of corrected events, to read at a start without a cache
NIGHTLY_ENTRIES = 1_000
DIGEST_BYTES = 16
ZSTD_LEVEL = 1
HEAD_SIZE = 4  # number of bytes for the size of the head, at the start of packed arrays
OF_CACHE = of_pool(kept), kept.c.name == sa.bindparam("cache")
SELECT_PART = sa.select(kept.c.stamp, kept.c.body).where(*OF_CACHE, kept.c.part == sa.bindparam("part"))
SELECT_STAMPS = sa.select(kept.c.part, kept.c.stamp).where(*OF_CACHE)
DELETE_PART = sa.delete(kept).where(*OF_CACHE, kept.c.part == sa.bindparam("part"))
DELETE_PARTS = sa.delete(kept).where(*OF_CACHE, kept.c.part != HEAD)
DELETE_WITH_TEXTS = sa.delete(kept).where(of_pool(kept), kept.c.name.in_(WITH_TEXTS))
LATER = of_pool(log), log.c.seq > sa.bindparam("after")
SELECT_HASH = sa.select(log.c.hash).where(of_pool(log), log.c.seq == sa.bindparam("seq"))
SELECT_REDACTED = sa.select(log.c.seq).where(*LATER, log.c.kind == REDACT).limit(1)
COUNT_LATER = sa.select(sa.func.count()).select_from(
    sa.select(log.c.seq).where(*LATER).limit(sa.bindparam("most")).subquery()
)
SUM_CORRECTED = sa.select(sa.func.coalesce(sa.func.sum(correction.c.events), 0)).where(
    of_pool(correction), correction.c.seq > sa.bindparam("after")
)


class OvertakenError(Exception):
    """The pool was deleted, restored or anonymized while its cache was being written."""


class Cache(NamedTuple):
    """A cache of a pool that agrees with the pool's log."""

    seq: int  # number of the log entry to which it belongs
    body: bytes


def digest_of(pool: Pool, body: bytes) -> str:
    """Return the digest of stored bytes, which differs between pools."""
    return hashlib.blake2b(body, digest_size=DIGEST_BYTES, key=pool.secret or b"").hexdigest()


def stamp_of(pool: Pool, seq: int, entry_hash: bytes, body: bytes) -> str:
    """Return the stamp of a cache that belongs to this log entry."""
    made_by = ARITHMETIC, LAYOUT, package_version(pool.system.name)
    return json.dumps([seq, entry_hash.hex(), pool.id, *made_by, digest_of(pool, body)])


def read(pool: PoolView, name: str, part: int = HEAD) -> Cache | None:
    """Read a cache of a pool.

    Args:
        name: the name of the cache.
        part: the number of the part.

    Returns:
        The cache, or None if there is no cache that agrees with the log.

    Raises:
        UnknownError: the pool does not exist.
    """
    for stamp, body in pool.run(SELECT_PART, cache=name, part=part):
        try:
            seq = int(json.loads(stamp)[0])
        except (ValueError, LookupError, TypeError):
            continue
        for (entry_hash,) in pool.run(SELECT_HASH, seq=seq):
            if entry_hash is not None and stamp == stamp_of(pool, seq, entry_hash, body):
                return Cache(seq, bytes(body))
    return None


def write(pool: PoolView, name: str, seq: int, parts: Mapping[int, bytes]) -> None:
    """Store parts of a cache that belong to a log entry. The transaction must hold the pool's lock."""
    for (entry_hash,) in pool.run(SELECT_HASH, seq=seq):
        rows = ((part, stamp_of(pool, seq, entry_hash, body), body) for part, body in parts.items())
        upsert(pool.connection, kept, ((pool.id, name, *row) for row in rows))


def clear(pool: PoolView, name: str) -> None:
    """Delete all parts of a cache except its head."""
    pool.run(DELETE_PARTS, cache=name)


def forget_texts(pool: PoolView) -> None:
    """Delete the caches that may contain a text that this transaction removes."""
    pool.execute(DELETE_WITH_TEXTS)


def is_due(pool: PoolView, most: int) -> bool:
    """Return True if loading would read more than `most` log entries, or rate more than `most` corrected events again.

    A pool that another revision of the arithmetic rated is never due, because it cannot be read.
    """
    if pool.arithmetic != ARITHMETIC:
        return False
    found = read(pool, SNAPSHOT)
    after = found.seq if found else 0
    ((entries,),), ((events,),) = (
        pool.run(COUNT_LATER, after=after, most=most + 1),
        pool.run(SUM_CORRECTED, after=after),
    )
    return bool(max(entries, events) > most)


def load(pool: PoolView) -> Snapshot | None:
    """Return the stored snapshot of a pool, or None if there is no snapshot that can be trusted."""
    found = read(pool, SNAPSHOT)
    if found is None:
        return None
    try:
        facts = json.loads(found.body)
        parts = facts.pop("parts")
        system = system_of(facts["system"], facts["parameters"])
        then = replace(Pool(*pool.cells()), system=system)
        return restored(then, facts, lambda path: read_parts(pool, parts[path]))
    except Exception:
        LOGGER.warning("pool %s: the kept snapshot cannot be read, so the log is read", pool.name, exc_info=True)
        return None


def read_parts(pool: PoolView, parts: list[tuple[int, str]]) -> Iterator[Part]:
    """Yield the parts of a snapshot with these numbers, after comparing each with its digest."""
    for number, digest in parts:
        ((_, body),) = pool.run(SELECT_PART, cache=SNAPSHOT, part=number)
        if digest_of(pool, body) != digest:
            raise ValueError(f"part {number} is damaged")
        yield unpacked(body)


def write_snapshot(engine: sa.Engine, pool: PoolView, entry_hash: bytes, snapshot: Snapshot) -> bool:
    """Store a snapshot, one part per transaction. Readers see either the old snapshot or the new one.

    Args:
        engine: the engine of the database.
        pool: the pool, from the transaction that read the snapshot.
        entry_hash: the hash of the snapshot's log entry.
        snapshot: the snapshot to store.

    Returns:
        False if the snapshot was not stored because the pool has changed in the meantime.
    """
    place = snapshot.seq, entry_hash
    try:
        with locked(engine, pool, *place) as now:
            known = {digest: number for number, digest in now.run(SELECT_STAMPS, cache=SNAPSHOT)}
        number, parts = secrets.randbits(40), dict[str, list[tuple[int, str]]]()
        for path, table in tables_of(snapshot):
            parts[path] = []
            for part in table.parts():
                body = packed(part)
                digest = digest_of(pool, body)
                if digest not in known:
                    known[digest] = number = number + 1
                    with locked(engine, pool, *place) as now:
                        insert(now.connection, kept, [(now.id, SNAPSHOT, number, digest, body)])
                parts[path].append((known[digest], digest))
        system, used = snapshot.pool.system, dict(part for some in parts.values() for part in some)
        then = {"system": system.name, "parameters": json.dumps(settings_of(system)), "parts": parts}
        body = json.dumps(facts_of(snapshot) | then).encode()
        used[HEAD] = publish(engine, pool, place, body, used)
        delete_others(engine, pool, place, used)
    except (OvertakenError, UnknownError):
        return False
    return True


@contextmanager
def locked(engine: sa.Engine, pool: Pool, seq: int, entry_hash: bytes) -> Iterator[PoolView]:
    """Open a transaction for writing a cache that belongs to a log entry.

    Raises:
        OvertakenError: the log no longer contains the entry, or a name has been removed since then.
        UnknownError: the pool was deleted.
    """
    with locked_pool(engine, pool.name) as now:
        is_there = now.secret == pool.secret and now.run(SELECT_HASH, seq=seq) == [(entry_hash,)]
        if not is_there or now.run(SELECT_REDACTED, after=seq):
            raise OvertakenError
        yield now


def publish(engine: sa.Engine, pool: Pool, place: tuple[int, bytes], body: bytes, parts: Mapping[int, str]) -> str:
    """Store the head of a snapshot, after all of its parts, and return its stamp."""
    with locked(engine, pool, *place) as now:
        stored = dict(now.run(SELECT_STAMPS, cache=SNAPSHOT))
        if any(stored.get(number) != digest for number, digest in parts.items()):
            raise OvertakenError
        stamp = stamp_of(now, *place, body)
        upsert(now.connection, kept, [(now.id, SNAPSHOT, HEAD, stamp, body)])
    return stamp


def delete_others(engine: sa.Engine, pool: Pool, place: tuple[int, bytes], used: Mapping[int, str]) -> None:
    """Delete the parts of earlier snapshots, one per transaction, while this head is still the newest."""
    numbers = {HEAD}
    while numbers:
        with locked(engine, pool, *place) as now:
            stored = dict(now.run(SELECT_STAMPS, cache=SNAPSHOT))
            numbers = stored.keys() - used.keys() if stored.get(HEAD) == used[HEAD] else set()
            for number in sorted(numbers)[:1]:
                now.run(DELETE_PART, cache=SNAPSHOT, part=number)


def packed(part: Part) -> bytes:
    """Return arrays as their names, types and shapes, followed by compressed bytes.

    The first bytes of all numbers are stored together, then the second bytes, and so on. This needs a third of the
    space.
    """
    import zstandard  # noqa: PLC0415  (only where a snapshot is kept)

    head = json.dumps([(name, array.dtype.str, array.shape) for name, array in part.items()]).encode()
    pieces = [len(head).to_bytes(HEAD_SIZE, "little"), head]
    for array in part.values():
        rows = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(len(array) or 1, -1)
        pieces += [rows[:, k].tobytes() for k in range(rows.shape[1])]
    return zstandard.ZstdCompressor(ZSTD_LEVEL).compress(b"".join(pieces))


def unpacked(body: bytes) -> Part:
    """Restore the arrays that `packed` compressed. They are read-only."""
    import zstandard  # noqa: PLC0415  (only where a snapshot is kept)

    content = zstandard.ZstdDecompressor().decompress(body)
    begin = HEAD_SIZE + int.from_bytes(content[:HEAD_SIZE], "little")
    found = dict[str, Array]()
    for name, kind, shape in json.loads(content[HEAD_SIZE:begin]):
        rows = np.empty((shape[0] or 1, math.prod(shape) * np.dtype(kind).itemsize // (shape[0] or 1)), np.uint8)
        for k in range(rows.shape[1]):
            rows[:, k] = np.frombuffer(content, np.uint8, rows.shape[0], begin)
            begin += rows.shape[0]
        found[name] = rows.reshape(-1).view(kind).reshape(shape)
        found[name].flags.writeable = False
    return found
