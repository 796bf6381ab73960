"""The log rated anew, from nothing, against everything that is kept: bit for bit."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import sqlalchemy as sa

from podium.arithmetic import ARITHMETIC
from podium.live import Live
from podium.store.derive import snapshots
from podium.store.derive.facts import as_kept, from_log
from podium.store.derive.rerating import events_from, marks_of, rated_on
from podium.store.derive.standings import Ledger, LedgerRow, Standing, apply_ledger, buckets, kept_ledger
from podium.store.log.players import names_of
from podium.store.log.pools import FOREVER, START, Pool, other_arithmetic
from podium.store.sql.schema import rank_count, standing

MOST = 20  # differences that are told
AT_ONCE = 20_000  # events that are rated and compared before the next


def differences(connection: sa.Connection, pool: Pool) -> list[str]:
    """What differs, the first few, in words; nothing where all is well."""
    return [f"{pool.name}: {told}" for told in islice(found(connection, pool), MOST)]


def found(connection: sa.Connection, pool: Pool) -> Iterator[str]:
    """What differs; each step trusts what those before it compared."""
    if pool.arithmetic != ARITHMETIC:
        yield f"the pool {other_arithmetic(pool)}"
    facts = list(fact_differences(connection, pool))
    yield from facts
    if facts or pool.arithmetic != ARITHMETIC:
        return
    names, live, first = names_of(connection, pool), Live(pool.system), START
    newest: dict[int, Standing] = {}
    while first != FOREVER:
        stretches, end = events_from(connection, pool, first, AT_ONCE)
        outcome = rated_on(pool, live, stretches)
        yield from ledger_differences(names, kept_ledger(connection, pool, first, end), outcome.ledger)
        for row, mark in marks_of(pool, stretches, outcome):
            if mark != (row.status, row.reason):
                yield f"event {row.event_id!r} is {row.status} {row.reason}, and should be {' '.join(mark)}"
        apply_ledger(newest, outcome.ledger)
        first = end
    yield from standing_differences(connection, pool, names, newest)
    yield from snapshot_differences(connection, pool)


def fact_differences(connection: sa.Connection, pool: Pool) -> Iterator[str]:
    """Events, matches, seasons, accounts, and the pool's system."""
    kept, truth = as_kept(connection, pool), from_log(connection, pool)
    for key in sorted(kept.keys() | truth.keys(), key=str):
        if kept.get(key) != truth.get(key):
            yield f"{key[0]} {key[1]!r} is kept as {kept.get(key)}, and the log says {truth.get(key)}"


def ledger_differences(names: dict[int, str], kept: Ledger, truth: Ledger) -> Iterator[str]:
    """Rows of the ledger."""
    for key in sorted(kept.keys() | truth.keys()):
        was, is_ = kept.get(key), truth.get(key)
        if was is None or is_ is None or not same(was, is_):
            what = "is kept and should not be" if is_ is None else "is not kept" if was is None else "is another"
            yield f"the change of {names.get(key[2])!r} in the event of log entry {key[1]} {what}"


def same(one: LedgerRow, two: LedgerRow) -> bool:
    """Whether two rows have the same bits."""
    bits = [np.array([row.rating_before, row.rating]).tobytes() for row in (one, two)]
    return bits[0] == bits[1] and one.state == two.state and one.place == two.place


def standing_differences(
    connection: sa.Connection, pool: Pool, names: dict[int, str], newest: dict[int, Standing]
) -> Iterator[str]:
    """States, and counts of ranks."""
    rating, events = (pool.system.state_type._fields.index(name) for name in ("rating", "events"))
    kept: dict[int, Any] = {
        row.player_id: row for row in connection.execute(sa.select(standing).where(standing.c.pool_id == pool.id))
    }
    for number in sorted(newest.keys() | kept.keys()):
        if number not in newest:
            yield f"the state of {names.get(number)!r} is kept and should not be"
            continue
        last = newest[number]
        state = np.frombuffer(last.state, "<f8")
        told = (last.state, last.started_at, last.seq, last.played_at, float(state[rating]), int(state[events]))
        held = kept.get(number)
        if held is None or told != (held.state, held.started_at, held.seq, held.played_at, held.rating, held.events):
            yield f"the state of {names.get(number)!r} is not the last of the ledger"
    counted = sa.select(rank_count).where(rank_count.c.pool_id == pool.id)
    counts = buckets(each.rating for each in newest.values())
    kept_counts = {(row.per_point, row.bucket): row.players for row in connection.execute(counted)}
    for fine, at in sorted(counts.keys() | kept_counts.keys()):
        was, is_ = kept_counts.get((fine, at), 0), counts[fine, at]
        if was != is_:
            yield f"{was} players are counted from {at / fine} to {(at + 1) / fine}, and there are {is_}"


def snapshot_differences(connection: sa.Connection, pool: Pool) -> Iterator[str]:
    """Daily ranks, but for days that wait to be taken again."""
    for row in connection.execute(snapshots.DAYS, {"pool": pool.id}).all():
        if not row.stale and sorted(snapshots.kept(connection, pool, row.day)) != sorted(
            snapshots.ranked(connection, pool, row.day)
        ):
            yield f"the snapshot of {snapshots.date_of(row.day)} is not how the board stood"
