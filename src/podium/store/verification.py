"""Verify a database: check its file and logs, and compare the derived data with a complete recalculation."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

import numpy as np
import sqlalchemy as sa

from podium.engine.tables.equipment import called
from podium.errors import UnknownError
from podium.log import chain
from podium.log.chain import lost_heads
from podium.log.database import UnavailableError, read_transaction, reading_once
from podium.log.files import integrity_faults
from podium.log.log import Head
from podium.log.players import names_of
from podium.log.pools import PoolView, every_pool, get_pool, other_arithmetic
from podium.log.schema import witness
from podium.log.statements import of_pool
from podium.pool.moves import Moves
from podium.pool.rating import Ratings
from podium.pool.snapshot import EVENT_TYPES, Snapshot, count_counting
from podium.results.reading import first_line
from podium.store.following import PoolReader, Snapshots, replay
from podium.store.keys import key_faults
from podium.store.writing.pool_files import settings_columns
from podium.store.writing.proposals import PART_ROWS, digests
from podium.support.collector import paused_collection
from podium.support.immutable import immutable
from podium.support.words import counted
from podium.version import ARITHMETIC

MAX_DIFFERENCES = 20  # maximum number of differences of each kind to report
SELECT_WITNESS = sa.select(witness.c.part, witness.c.digest).where(of_pool(witness))


@immutable
class Verification:
    """The number of items compared in a database, and the findings."""

    pools: int
    events: int
    changes: int  # rows of the ledger
    differences: tuple[str, ...]  # one sentence each: first about the database itself, then about each pool
    waits: tuple[str, ...]  # one sentence for each pool that another version's arithmetic rated
    heads: tuple[str, ...] = ()  # one sentence about the head of each pool's log

    @property
    def findings(self) -> list[str]:
        """Return one sentence per finding."""
        return [*self.waits, *self.differences]

    def __str__(self) -> str:
        return ", ".join([counted(self.pools, "pool"), counted(self.events, "event"), counted(self.changes, "change")])


def differences(pool: PoolReader, compared: Counter[str]) -> Iterator[str]:
    """Yield a sentence about each difference. Each step relies on data that earlier steps have compared."""
    if pool.arithmetic != ARITHMETIC:
        return
    with paused_collection():
        replayed = replay(pool)
    wrong_settings = list(setting_differences(pool, replayed))
    yield from wrong_settings
    if wrong_settings:
        return
    compared["changes"] += replayed.rows.size
    compared["events"] += count_counting(replayed)
    yield from witness_differences(pool, replayed)
    held = pool.snapshots.find(pool, pool.place)
    if held is not None:
        yield from event_differences(held, replayed)
        yield from ledger_differences(pool, held, replayed)


def setting_differences(pool: PoolView, replayed: Snapshot) -> Iterator[str]:
    """Yield a sentence about each setting of a pool whose stored value differs from the log."""
    stored, logged = settings_columns(pool), settings_columns(replayed.pool)
    for name in stored:
        if stored[name] != logged[name]:
            yield f"the pool's {name} is stored as {stored[name]!r}, but the log says {logged[name]!r}"


def witness_differences(pool: PoolView, replayed: Snapshot) -> Iterator[str]:
    """Yield a sentence about each part of the ledger that differs between a replay and the served data.

    If a version without digests rated the pool, and nothing has been written since, there is nothing to compare.
    """
    stored = dict(pool.execute(SELECT_WITNESS).all())
    if not stored:
        return
    expected = dict(enumerate(digests(replayed)))
    for part in sorted(stored.keys() | expected.keys()):
        if stored.get(part) != expected.get(part):
            first = part * PART_ROWS
            yield (
                f"a replay gives different changes from the stored ones, among rows {first:,} to"
                f" {first + PART_ROWS - 1:,}"
            )


def event_differences(held: Snapshot, replayed: Snapshot) -> Iterator[str]:
    """Yield a sentence about each value of an event that differs between a replay and the served data."""
    old, new = held.events, replayed.events
    if old.size != new.size:
        yield f"{old.size:,} events and seasons are stored, but a replay gives {new.size:,}"
        return
    # contents are numbered in the order in which they were folded
    compared = [name for name in EVENT_TYPES if name != "content"]
    for name in compared:
        differing = np.flatnonzero(old.columns.part(name) != new.columns.part(name))
        yield from (f"event {new.ids[uid]!r} has a different {name}" for uid in differing[:MAX_DIFFERENCES].tolist())


def ledger_differences(pool: PoolView, held: Snapshot, replayed: Snapshot) -> list[str]:
    """Yield the first few differences between the served ledger and a replay, in rating order."""
    moves = Moves(held, replayed, Ratings(0, 0), changed=range(held.events.size))
    effects, _ = moves.largest_effects(MAX_DIFFERENCES)
    names = names_of(pool, {effect.size.number for effect in effects}) if effects else {}
    found = [
        f"the change of {called(names.get(effect.size.number, '?'))!r} in the event of log entry {effect.size.seq} "
        + ("is missing" if effect.rating_was is None else "should not be" if effect.rating is None else "differs")
        for effect in effects
    ]
    if not found and held.pool.system.pool_fields and moves.count_relearnt(set()):
        found.append("the values that the system has learnt from the pool differ")
    return found


def verify_database(
    engine: sa.Engine, snapshots: Snapshots, pool_name: str | None = None, heads: Sequence[Head] = ()
) -> Verification:
    """Let the database check itself, verify the chains of its logs, and compare stored data with a recalculation.

    The arguments, results and errors are the same as for `Store.verification`.
    """
    with ThreadPoolExecutor(1) as thread:  # wait for this even if the comparison fails
        lost: list[str] = []
        integrity_check = thread.submit(integrity_faults, engine)
        compared = compare_pools(engine, snapshots, pool_name, heads)
        with contextlib.suppress(sa.exc.DatabaseError):  # the database's own check reports damage
            lost = [*lost_heads(engine, pool_name), *key_faults(engine)]
        faults = [f"the database is damaged: {fault}" for fault in integrity_check.result()]
    return replace(compared, differences=(*faults, *lost, *compared.differences))


def compare_pools(
    engine: sa.Engine, snapshots: Snapshots, pool_name: str | None, heads: Sequence[Head]
) -> Verification:
    """Verify the chains of logs, and compare stored data with a recalculation, as `verify_database` does."""
    found, waits, notes = list[str](), list[str](), list[str]()
    compared: Counter[str] = Counter()
    head_faults: dict[str, dict[Head, str]] = {}  # by pool, the reason why its log never had a head
    try:
        names = pool_names(engine) if pool_name is None else [pool_name]
    except sa.exc.DatabaseError as error:
        names = []
        found.append(f"the pools cannot be read ({error.orig})")
    for name in names:
        try:
            with read_transaction(engine) as connection, reading_once(connection):
                pool = PoolReader.of(get_pool(connection, name), snapshots)
                reason = other_arithmetic(pool)
                if reason:
                    waits.append(f"{name}: the pool {reason}")
                head_faults[name] = {head: chain.head_fault(pool, head) for head in heads}
                notes.append(chain.head_note(pool))
                for faults in (chain.chain_faults(pool), differences(pool, compared)):
                    found.extend(f"{name}: {fault}" for fault in islice(faults, MAX_DIFFERENCES))
        except (UnavailableError, UnknownError):
            raise
        except Exception as error:
            cause = getattr(error, "orig", None) or error
            found.append(f"{name}: cannot be verified further ({type(error).__name__}: {first_line(cause)})")
    for head in heads:
        reasons = [f"{name}: {faults[head]}" if faults[head] else "" for name, faults in head_faults.items()]
        if all(reasons):
            found.append(reasons[0] if len(reasons) == 1 else f"no pool's log has the head {head}")
    counts = len(names), compared["events"], compared["changes"]
    return Verification(*counts, tuple(found), tuple(waits), tuple(notes))


def pool_names(engine: sa.Engine) -> list[str]:
    """Return the names of all pools."""
    with read_transaction(engine) as connection:
        return [pool.name for pool in every_pool(connection)]
