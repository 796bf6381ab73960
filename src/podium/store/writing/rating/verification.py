"""All that can be checked of a database: its file, its logs, and what derives from them against the log rated anew."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import numpy as np
import sqlalchemy as sa

from podium.engine.tables.things import called
from podium.errors import UnknownError
from podium.log import log
from podium.log.chain import Head
from podium.log.database import UnavailableError, read_transaction, reading_once
from podium.log.files import integrity_faults
from podium.log.heads import lost_heads
from podium.log.players import names_of
from podium.log.pools import FOREVER, START, Pool, PoolView, every_pool, get_pool, other_arithmetic
from podium.log.schema import player, standing
from podium.log.statements import of_generation, of_pool
from podium.pool.roster import Roster
from podium.results.reading import first_line
from podium.store.keys import key_faults
from podium.store.writing.rating.facts import Facts, PlainEvents, facts_from_log, stored_facts
from podium.store.writing.rating.ledger_rows import (
    Ledger,
    PoolStates,
    is_other,
    packed_states,
    stored_ledger,
    stored_pool_states,
)
from podium.store.writing.rating.rating import events_from, rate_segments, statuses_of
from podium.store.writing.rating.standing_rows import Standing, standing_rows
from podium.support.collector import paused_collection
from podium.support.words import counted
from podium.version import ARITHMETIC

MAX_DIFFERENCES = 20  # of a kind, that are reported
BATCH_EVENTS = 5_000  # that are rated and compared before the next
CHUNK_ROWS = 10_000  # of a table that are read at once
SELECT_PLAYERS = sa.select(player.c.id).where(of_pool(player)).order_by(player.c.id)
SELECT_STANDINGS = sa.select(standing).where(of_generation(standing)).order_by(standing.c.player_id)


@dataclass(frozen=True, slots=True)
class Verification:
    """What was compared of a database, and what was found."""

    pools: int
    events: int
    changes: int  # rows of the ledger
    differences: tuple[str, ...]  # a sentence each: of the database itself, then of each pool the first few
    waits: tuple[str, ...]  # a sentence on each pool that another version's arithmetic rated
    heads: tuple[str, ...] = ()  # a sentence on the head of each pool's log

    @property
    def findings(self) -> list[str]:
        return [*self.waits, *self.differences]

    def __str__(self) -> str:
        return ", ".join([counted(self.pools, "pool"), counted(self.events, "event"), counted(self.changes, "change")])


def differences(pool: PoolView, compared: Counter[str]) -> Iterator[str]:
    """Every difference, a sentence each; each step relies on what those before it compared."""
    wrong_facts = list(fact_differences(pool))
    yield from wrong_facts
    if wrong_facts or pool.arithmetic != ARITHMETIC:
        return
    players = pool.execute(SELECT_PLAYERS).scalars().all()
    roster, first = Roster.of_newcomers(pool.system, np.array(players, np.int64)), START
    while first != FOREVER:
        with paused_collection():
            segments, end = events_from(pool, first, BATCH_EVENTS)
            rated = rate_segments(pool, roster, segments)
            ledger = rated.ledger
            compared["changes"] += len(ledger)
            compared["events"] += sum(len(segment.events) for segment in segments)
            found = ledger_differences(pool, stored_ledger(pool, first, end), ledger)
            found += pool_differences(stored_pool_states(pool, first, end), rated.pools)
            found += status_differences(statuses_of(pool, segments, rated))
        yield from found
        first = end
    roster = roster.rated()
    yield from standing_differences(pool, roster)


def fact_differences(pool: PoolView) -> Iterator[str]:
    logged = PlainEvents.of(pool)
    stored = PlainEvents(logged.revised)
    found = differing_facts(facts_from_log(pool, logged), stored_facts(pool, stored))
    if logged != stored:  # which of them differ, only all of the facts tell
        found = differing_facts(facts_from_log(pool), stored_facts(pool))
    for (what, name), fact, by_log in sorted(found, key=lambda each: str(each[0])):
        yield f"{what} {name!r} is stored as {fact}, and the log says {by_log}"


def differing_facts(expected: Facts, stored: Iterable[tuple[tuple[str, Any], Any]]) -> list[tuple[Any, Any, Any]]:
    pairs = ((key, fact, expected.pop(key, None)) for key, fact in stored)
    found = [each for each in pairs if each[1] != each[2]]
    return found + [(key, None, fact) for key, fact in expected.items()]


def ledger_differences(pool: PoolView, stored: Ledger, expected: Ledger) -> list[str]:
    """The first few differences of two ledgers' rows, in the order of rating."""
    counterparts = expected.counterparts(stored)
    is_missing = counterparts < 0
    differing = is_other(expected, stored, counterparts) & ~is_missing
    found = (
        ("is stored and should not be", stored, stored.unmatched(counterparts)),
        ("is missing", expected, is_missing),
        ("differs", expected, differing),
    )
    faults = sorted(
        (key, what)
        for what, ledger, chosen in found
        if chosen.any()
        for key in zip(*(column[chosen].tolist() for column in ledger.keys), strict=True)
    )[:MAX_DIFFERENCES]
    names = names_of(pool, {number for (_, _, number), _ in faults}) if faults else {}
    return [
        f"the change of {called(names.get(number, '?'))!r} in the event of log entry {seq} {what}"
        for (_, seq, number), what in faults
    ]


def status_differences(statuses: Iterable[tuple[Any, tuple[str, str]]]) -> Iterator[str]:
    for row, status in statuses:
        if status != (row.status, row.reason):
            yield f"event {row.event_id!r} is {row.status} {row.reason}, and should be {' '.join(status)}"


def pool_differences(stored: PoolStates, expected: PoolStates) -> Iterator[str]:
    for key in sorted(stored.keys() | expected.keys()):
        if stored.get(key) != expected.get(key):
            what = "is missing" if key not in stored else "should not be" if key not in expected else "differs"
            yield f"the state of the pool after the event of log entry {key.seq} {what}"


def standing_differences(pool: PoolView, expected: Roster) -> Iterator[str]:
    found, stop = pool.execute(SELECT_STANDINGS), 0
    with contextlib.closing(found):
        for stored in chain(found.partitions(CHUNK_ROWS), [()]):  # who follows the last who is stored comes at the end
            size = expected.numbers.size
            start, stop = stop, np.searchsorted(expected.numbers, stored[-1].player_id, "right") if stored else size
            rows = expected_standings(pool, expected, slice(start, stop))
            if [*map(tuple, stored)] != rows:
                yield from named_differences(pool, stored, rows)


def expected_standings(pool: Pool, expected: Roster, chosen: slice) -> list[tuple[Any, ...]]:
    """The rows of the standings' table that players should have, in the order of their numbers."""
    states = expected.states[chosen]
    times = (column[chosen] for column in (expected.started_at, expected.seq, expected.played_at))
    columns = (each.tolist() for each in (states[:, pool.system.column("rating")], *times, packed_states(states)))
    stands = map(Standing._make, zip(*columns, strict=True))
    return standing_rows(pool, dict(zip(expected.numbers[chosen].tolist(), stands, strict=True)))


def named_differences(pool: PoolView, stored: Iterable[Any], expected: Iterable[tuple[Any, ...]]) -> Iterator[str]:
    """A sentence on each player whose row is not as it should be."""
    by_number = {row.player_id: row for row in stored}
    wanted = {row[1]: row for row in expected}
    names = {who: called(name) for who, name in names_of(pool, by_number.keys() | wanted.keys()).items()}
    for number in sorted(by_number.keys() | wanted.keys()):
        row = by_number.get(number)
        if number not in wanted:
            yield f"the state of {names.get(number)!r} is stored and should not be"
            continue
        *values, provisional, deviation, score = wanted[number]
        if row is None or values != [*row][: len(values)]:
            yield f"the state of {names.get(number)!r} is not the last of the ledger"
        elif (row.provisional, row.deviation, row.score) != (provisional, deviation, score):
            yield f"{names.get(number)!r} is not as settled, or does not rank, as the state says"


def verify_database(engine: sa.Engine, pool_name: str | None = None, heads: Sequence[Head] = ()) -> Verification:
    """Let a database check itself, check the chains of its logs, and compare what is kept with the logs rated anew.

    It takes, returns and raises what `Store.verification` does.
    """
    with ThreadPoolExecutor(1) as thread:  # which is waited for, whatever comes of the comparison
        lost: list[str] = []
        integrity_check = thread.submit(integrity_faults, engine)
        compared = compare_pools(engine, pool_name, heads)
        with contextlib.suppress(sa.exc.DatabaseError):  # of a damaged database: its own check says so
            lost = [*lost_heads(engine, pool_name), *key_faults(engine)]
        faults = [f"the database is damaged: {each}" for each in integrity_check.result()]
    return replace(compared, differences=(*faults, *lost, *compared.differences))


def compare_pools(engine: sa.Engine, pool_name: str | None, heads: Sequence[Head]) -> Verification:
    """Check the chains of logs, and compare what is kept with the logs rated anew, as `verify_database` does."""
    found, waits, notes = list[str](), list[str](), list[str]()
    compared: Counter[str] = Counter()
    head_faults: dict[str, dict[Head, str]] = {}  # by pool, why its log is not one that had a head
    try:
        names = pool_names(engine) if pool_name is None else [pool_name]
    except sa.exc.DatabaseError as error:
        names = []
        found.append(f"the pools cannot be read ({error.orig})")
    for name in names:
        try:
            with read_transaction(engine) as connection, reading_once(connection):
                pool = get_pool(connection, name)
                reason = other_arithmetic(pool)
                if reason:
                    waits.append(f"{name}: the pool {reason}")
                head_faults[name] = {head: log.head_fault(pool, head) for head in heads}
                notes.append(log.head_note(pool))
                for faults in (log.chain_faults(pool), differences(pool, compared)):
                    found.extend(f"{name}: {each}" for each in islice(faults, MAX_DIFFERENCES))
        except (UnavailableError, UnknownError):
            raise
        except Exception as error:
            cause = getattr(error, "orig", None) or error
            found.append(f"{name}: cannot be verified further ({type(error).__name__}: {first_line(cause)})")
    for head in heads:
        reasons = [f"{name}: {each[head]}" if each[head] else "" for name, each in head_faults.items()]
        if all(reasons):
            found.append(reasons[0] if len(reasons) == 1 else f"no pool's log has the head {head}")
    counts = len(names), compared["events"], compared["changes"]
    return Verification(*counts, tuple(found), tuple(waits), tuple(notes))


def pool_names(engine: sa.Engine) -> list[str]:
    with read_transaction(engine) as connection:
        return [each.name for each in every_pool(connection)]
