"""The log rated anew, from nothing, against everything that is stored: bit for bit."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import sqlalchemy as sa

from podium.arithmetic import ARITHMETIC
from podium.collector import paused_collection
from podium.live import Live
from podium.store.derive import snapshots
from podium.store.derive.facts import Facts, PlainEvents, facts_from_log, stored_facts
from podium.store.derive.rating import events_from, rate_segments, statuses_of
from podium.store.log.players import names_of
from podium.store.log.pools import FOREVER, START, Pool
from podium.store.rows.ledger import Ledger, is_other, stored_ledger
from podium.store.rows.pool_states import PoolStates, stored_pool_states
from podium.store.rows.standings import Standing, apply_ledger, player_counts, state_columns
from podium.store.sql.schema import rank_count, standing

MAX_DIFFERENCES = 20  # that are reported
BATCH_EVENTS = 5_000  # that are rated and compared before the next


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
        with paused_collection():
            segments, end = events_from(connection, pool, first, BATCH_EVENTS)
            outcome = rate_segments(pool, live, segments)
            ledger = outcome.ledger
            apply_ledger(standings, ledger)
            compared["changes"] += len(ledger)
            compared["events"] += sum(len(segment.events) for segment in segments)
            found = [
                *islice(ledger_differences(names, stored_ledger(connection, pool, first, end), ledger), MAX_DIFFERENCES)
            ]
            found += pool_differences(stored_pool_states(connection, pool, first, end), outcome.pools)
            found += status_differences(statuses_of(pool, segments, outcome))
        yield from found
        first = end
    yield from standing_differences(connection, pool, names, standings)
    yield from snapshot_differences(connection, pool)


def fact_differences(connection: sa.Connection, pool: Pool) -> Iterator[str]:
    """Differences of events, matches, seasons, accounts, and the pool's system."""
    logged, stored = (PlainEvents.of(connection, pool) for _ in range(2))
    found = differing_facts(facts_from_log(connection, pool, logged), stored_facts(connection, pool, stored))
    if logged != stored:  # which of them differ, only all of the facts tell
        found = differing_facts(facts_from_log(connection, pool), stored_facts(connection, pool))
    for (what, name), fact, by_log in sorted(found, key=lambda each: str(each[0])):
        yield f"{what} {name!r} is stored as {fact}, and the log says {by_log}"


def differing_facts(expected: Facts, stored: Iterable[tuple[tuple[str, Any], Any]]) -> list[tuple[Any, Any, Any]]:
    """The facts that are not as expected: the key, as it is stored, and as it should be."""
    pairs = ((key, fact, expected.pop(key, None)) for key, fact in stored)
    found = [each for each in pairs if each[1] != each[2]]
    return found + [(key, None, fact) for key, fact in expected.items()]


def ledger_differences(names: dict[int, str], stored: Ledger, expected: Ledger) -> Iterator[str]:
    """Differences of two ledgers' rows, in the order of rating."""
    counterparts = expected.counterparts(stored)
    is_extra = np.ones(len(stored), np.bool_)
    is_extra[counterparts[counterparts >= 0]] = False
    is_missing = counterparts < 0
    differing = is_other(expected, stored, counterparts) & ~is_missing
    found = (
        ("is stored and should not be", stored, is_extra),
        ("is missing", expected, is_missing),
        ("differs", expected, differing),
    )
    faults = (
        (key, what)
        for what, ledger, chosen in found
        for key in zip(*(column[chosen].tolist() for column in ledger.keys), strict=True)
    )
    for (_, seq, number), what in sorted(faults):
        yield f"the change of {names.get(number)!r} in the event of log entry {seq} {what}"


def status_differences(statuses: Iterable[tuple[Any, tuple[str, str]]]) -> Iterator[str]:
    """Events that are not stored with the status and reason that they have."""
    for row, status in statuses:
        if status != (row.status, row.reason):
            yield f"event {row.event_id!r} is {row.status} {row.reason}, and should be {' '.join(status)}"


def pool_differences(stored: PoolStates, expected: PoolStates) -> Iterator[str]:
    """Differences of the pool's states after events."""
    for key in sorted(stored.keys() | expected.keys()):
        if stored.get(key) != expected.get(key):
            what = "is missing" if key not in stored else "should not be" if key not in expected else "differs"
            yield f"the state of the pool after the event of log entry {key.seq} {what}"


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
    counts = {(each.per_point, each.bucket): each for each in player_counts(pool, expected.values())}
    stored_counts = {(row.per_point, row.bucket): (row.players, row.settled) for row in connection.execute(select)}
    for key in sorted(counts.keys() | stored_counts.keys()):
        low, high = (end / key[0] for end in (key[1], key[1] + 1))
        players, settled = stored_counts.get(key, (0, 0))
        _, _, expected_players, expected_settled = counts.get(key, (*key, 0, 0))
        if players != expected_players:
            yield f"{players} players are counted from {low} to {high}, and there are {expected_players}"
        elif settled not in (None, expected_settled):
            yield f"{settled} settled players are counted from {low} to {high}, and there are {expected_settled}"


def snapshot_differences(connection: sa.Connection, pool: Pool) -> Iterator[str]:
    """Differences of daily ranks, but for days that wait to be taken again."""
    for row in connection.execute(snapshots.SELECT_DAYS, {"pool": pool.id}).all():
        stored = [] if row.stale else snapshots.stored_ranks(connection, pool, row.day)
        expected = [] if row.stale else snapshots.ranks_at(connection, pool, row.day)
        if row.settled is None:  # taken by a version that knew no ranks among the settled
            expected = [each._replace(settled_rank=None) for each in expected]
        if sorted(stored) != sorted(expected):
            yield f"the snapshot of {snapshots.date_of(row.day)} is not the board of that moment"
