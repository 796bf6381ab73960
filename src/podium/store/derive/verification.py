"""The log rated anew, from nothing, against everything that is stored: bit for bit."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import sqlalchemy as sa

from podium.arithmetic import ARITHMETIC
from podium.live import Live
from podium.store.derive import snapshots
from podium.store.derive.facts import facts_from_log, stored_facts
from podium.store.derive.rating import events_from, rate_segments, statuses_of
from podium.store.derive.standings import (
    Ledger,
    LedgerRow,
    Standing,
    apply_ledger,
    bucket_counts,
    state_columns,
    stored_ledger,
)
from podium.store.log.players import names_of
from podium.store.log.pools import FOREVER, START, Pool
from podium.store.sql.schema import rank_count, standing

MAX_DIFFERENCES = 20  # that are reported
BATCH_EVENTS = 20_000  # that are rated and compared before the next


@dataclass(frozen=True, slots=True)
class Verification:
    """What was compared of a database, and what was found."""

    pools: int
    events: int
    changes: int  # rows of the ledger
    differences: tuple[str, ...]  # a sentence each: of the database itself, then of each pool the first few
    waits: tuple[str, ...]  # a sentence on each pool that another version left
    heads: tuple[str, ...] = ()  # a sentence on the head of each pool's log

    @property
    def findings(self) -> list[str]:
        """A sentence for everything that is not well."""
        return [*self.waits, *self.differences]

    def __str__(self) -> str:
        """What was compared, in words."""
        counts = {"pool": self.pools, "event": self.events, "change": self.changes}
        return ", ".join(f"{count:,} {name}{'' if count == 1 else 's'}" for name, count in counts.items())


def differences(connection: sa.Connection, pool: Pool, compared: Counter[str]) -> Iterator[str]:
    """The first few differences, a sentence each; nothing where all is well.

    Args:
        connection: that sees one moment.
        pool: that is compared.
        compared: takes how many events and changes were.
    """
    return (f"{pool.name}: {each}" for each in islice(all_differences(connection, pool, compared), MAX_DIFFERENCES))


def all_differences(connection: sa.Connection, pool: Pool, compared: Counter[str]) -> Iterator[str]:
    """Every difference, a sentence each; each step relies on what those before it compared."""
    wrong_facts = list(fact_differences(connection, pool))
    yield from wrong_facts
    if wrong_facts or pool.arithmetic != ARITHMETIC:
        return
    names, live, first = names_of(connection, pool), Live(pool.system), START
    standings: dict[int, Standing] = {}
    while first != FOREVER:
        segments, end = events_from(connection, pool, first, BATCH_EVENTS)
        outcome = rate_segments(pool, live, segments)
        compared["changes"] += len(outcome.ledger)
        yield from ledger_differences(names, stored_ledger(connection, pool, first, end), outcome.ledger)
        for row, status in statuses_of(pool, segments, outcome):
            compared["events"] += 1
            if status != (row.status, row.reason):
                yield f"event {row.event_id!r} is {row.status} {row.reason}, and should be {' '.join(status)}"
        apply_ledger(standings, outcome.ledger)
        first = end
    yield from standing_differences(connection, pool, names, standings)
    yield from snapshot_differences(connection, pool)


def fact_differences(connection: sa.Connection, pool: Pool) -> Iterator[str]:
    """Differences of events, matches, seasons, accounts, and the pool's system."""
    stored, expected = stored_facts(connection, pool), facts_from_log(connection, pool)
    for key in sorted(stored.keys() | expected.keys(), key=str):
        if stored.get(key) != expected.get(key):
            yield f"{key[0]} {key[1]!r} is stored as {stored.get(key)}, and the log says {expected.get(key)}"


def ledger_differences(names: dict[int, str], stored: Ledger, expected: Ledger) -> Iterator[str]:
    """Differences of two ledgers' rows."""
    for key in sorted(stored.keys() | expected.keys()):
        row, expected_row = stored.get(key), expected.get(key)
        change = f"the change of {names.get(key[2])!r} in the event of log entry {key[1]}"
        if expected_row is None:
            yield f"{change} is stored and should not be"
        elif row is None:
            yield f"{change} is missing"
        elif not have_equal_bits(row, expected_row):
            yield f"{change} differs"


def have_equal_bits(row: LedgerRow, other: LedgerRow) -> bool:
    """Whether two rows have the same bits."""
    bits = [np.array([each.rating_before, each.rating]).tobytes() for each in (row, other)]
    ranks = [(each.rank, each.field) for each in (row, other)]
    are_ranked_alike = row.field is None or ranks[0] == ranks[1]  # else they wait to be filled in
    return bits[0] == bits[1] and row.state == other.state and row.place == other.place and are_ranked_alike


def standing_differences(
    connection: sa.Connection, pool: Pool, names: dict[int, str], expected: dict[int, Standing]
) -> Iterator[str]:
    """Differences of standings, and of the counts of players by rating."""
    rating, events = (pool.system.state_type._fields.index(name) for name in ("rating", "events"))
    stored: dict[int, Any] = {
        row.player_id: row
        for row in connection.execute(sa.select(standing).where(standing.c.generation_id == pool.generation))
    }
    columns = state_columns(pool, [each.state for each in expected.values()])
    unsettled = dict(zip(expected, zip(columns.provisional, columns.deviation, strict=True), strict=True))
    for number in sorted(expected.keys() | stored.keys()):
        if number not in expected:
            yield f"the state of {names.get(number)!r} is stored and should not be"
            continue
        last, row = expected[number], stored.get(number)
        state = np.frombuffer(last.state, "<f8")
        values = (last.state, last.started_at, last.seq, last.played_at, float(state[rating]), int(state[events]))
        if row is None or values != (row.state, row.started_at, row.seq, row.played_at, row.rating, row.events):
            yield f"the state of {names.get(number)!r} is not the last of the ledger"
        elif row.provisional is not None and (row.provisional, row.deviation) != unsettled[number]:
            yield f"{names.get(number)!r} is not as settled as the state says"
    select = sa.select(rank_count).where(rank_count.c.generation_id == pool.generation)
    counts = bucket_counts(pool, expected.values())
    stored_counts = {(row.per_point, row.bucket): (row.players, row.settled) for row in connection.execute(select)}
    for key in sorted(counts.players.keys() | stored_counts.keys()):
        low, high = (end / key[0] for end in (key[1], key[1] + 1))
        players, settled = stored_counts.get(key, (0, 0))
        if players != counts.players[key]:
            yield f"{players} players are counted from {low} to {high}, and there are {counts.players[key]}"
        elif settled not in (None, counts.settled[key]):
            yield f"{settled} settled players are counted from {low} to {high}, and there are {counts.settled[key]}"


def snapshot_differences(connection: sa.Connection, pool: Pool) -> Iterator[str]:
    """Differences of daily ranks, but for days that wait to be taken again."""
    for row in connection.execute(snapshots.SELECT_DAYS, {"pool": pool.id}).all():
        stored = [] if row.stale else snapshots.stored_ranks(connection, pool, row.day)
        expected = [] if row.stale else snapshots.ranks_at(connection, pool, row.day)
        if row.settled is None:  # taken by a version that knew no ranks among the settled
            expected = [each._replace(settled_rank=None) for each in expected]
        if sorted(stored) != sorted(expected):
            yield f"the snapshot of {snapshots.date_of(row.day)} is not the board of that moment"
