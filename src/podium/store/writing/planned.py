"""A proposal whose rating was planned before it is recorded: then it is proposed again, and must be the same.

Its numbers of log entries and of newcomers are drawn only then; what was planned has placeholders for them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from podium.log.database import UnavailableError, read_transaction
from podium.log.log import Logged
from podium.log.players import merges, numbers_and_newcomers, provisional_numbers
from podium.log.pools import FOREVER, START, OrderKey, Pool, PoolView, WriteObserver, locked_pool
from podium.store.writing.execution import Done, Propose, finish, plan_spans, record, refuse_unrateable
from podium.store.writing.rating import generations, ledger_rows, rerating
from podium.store.writing.rating.events import Proposal
from podium.store.writing.rating.generations import OvertakenError
from podium.store.writing.rating.plan import Plan, Span
from podium.store.writing.rating.rating import LongWorkError
from podium.store.writing.rating.rerating import Rerated
from podium.store.writing.rating.standing_rows import newest_standings, refresh_standings, stored_standings
from podium.support.collector import paused_collection

# Of a player or a thing at the end of a row; in no text, where quotes are escaped.
PROVISIONAL_NUMBER = re.compile(rb'("(?:player|shared:[^"\\]+)":)(-\d+)(?=[,}])')


@dataclass(frozen=True, slots=True)
class Planned:
    """A proposal that is planned, and the pool as it was when the planning began."""

    pool: Pool  # that notes what is rated again meanwhile
    propose: Propose
    admit: Callable[[Pool], None]  # refuses a pool that may not be changed so, as one that is closed
    proposal: Proposal
    merged: Mapping[int, int]  # the account that each merged one plays on as, by what is stored

    @property
    def staged(self) -> Pool:
        """The pool as it is to be, with the generation that is staged, or only notes what is rated again meanwhile."""
        return replace(self.proposal.pool, generation=self.pool.staging or 0, staging=None)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A planned proposal that is recorded now, and the numbers that were drawn."""

    proposal: Proposal
    logged: Logged
    seqs: dict[int, int]  # of log entries, by their placeholders
    players: dict[int, int]  # of newcomers, by their provisional numbers
    first_affected: OrderKey | None  # from where on the pool was rated again meanwhile

    def drawn_key(self, key: OrderKey) -> OrderKey:
        """A position in the order of rating, with the number that was drawn."""
        return OrderKey(key.started_at, self.seqs.get(key.seq, key.seq))

    def with_drawn_keys(self, pools: ledger_rows.PoolStates) -> ledger_rows.PoolStates:
        return {self.drawn_key(key): state for key, state in pools.items()}

    def summary(self, parts: Iterable[Rerated]) -> Rerated:
        """What all parts moved, in the order of rating, with the numbers that were drawn."""
        rerated, drawn = Rerated({}), self.drawn_key
        for part in parts:
            rerated.merge(part)
        return replace(
            rerated,
            wanted=self.proposal.wanted,
            players={self.players.get(number, number) for number in rerated.players},
            rows={
                drawn(key): [(self.players.get(each[0], each[0]), *each[1:]) for each in moved]
                for key, moved in rerated.rows.items()
            },
            written_at=type(rerated.written_at)({drawn(key): count for key, count in rerated.written_at.items()}),
            duplicate_players={drawn(key): each for key, each in rerated.duplicate_players.items()},
        )


@contextmanager
def planning(engine: sa.Engine, pool_name: str, propose: Propose, admit: Callable[[Pool], None]) -> Iterator[Planned]:
    """Propose, by reading alone; while it is planned, all that rates the pool again leaves where it did so."""
    pool = generations.begin(engine, pool_name)
    try:
        yield plan(engine, pool, propose, admit)
    except BaseException:
        with suppress(UnavailableError):  # it is cleared in any case, later
            generations.abandon(engine, pool.staging or 0)
        raise


def plan(engine: sa.Engine, pool: Pool, propose: Propose, admit: Callable[[Pool], None]) -> Planned:
    """Propose, by reading alone."""
    with read_transaction(engine) as connection:
        seen = pool.within(connection)
        proposal = propose(seen, provisional_numbers)
        if not proposal.affected:
            raise OvertakenError
        return Planned(pool, propose, admit, proposal, merges(seen))


@contextmanager
def planning_transaction(engine: sa.Engine) -> Iterator[sa.Connection]:
    with paused_collection(), read_transaction(engine) as connection:
        yield connection


def record_planned(pool: PoolView, planned: Planned) -> Recorded:
    """Propose again, and record it; an OvertakenError where the pool is not what was planned for any more."""
    if (pool.generation, pool.staging) != (planned.pool.generation, planned.pool.staging):
        raise OvertakenError
    if merges(pool) != planned.merged:  # who plays in the proposal's own events may be another
        raise OvertakenError
    planned.admit(pool)
    proposal = planned.propose(pool, numbers_and_newcomers)
    drawn = {name: number for number, name in proposal.newcomers.items()}
    players = {number: drawn[name] for number, name in planned.proposal.newcomers.items() if name in drawn}
    if not is_same(planned.proposal, proposal, players):
        raise OvertakenError
    recorded, logged = record(proposal)
    seqs = {each.seq: recorded.events[each.event_id].seq for each in proposal.events.values()}
    if proposal.season is not None and recorded.season is not None:
        seqs[proposal.season.seq] = recorded.season.seq
    first_affected = generations.first_affected(pool.connection, planned.staged.generation)
    return Recorded(recorded, logged, seqs, players, first_affected)


def finish_planned(pool: PoolView, recorded: Recorded, rerated: Rerated) -> Done:
    refuse_unrateable(pool, recorded.proposal, rerated)
    return finish(recorded.proposal, recorded.logged, rerated)


def part_start(starts: Iterable[OrderKey], key: OrderKey) -> OrderKey:
    """Where the part begins that holds a key; the key itself, if it stands before all parts."""
    return max((start for start in starts if start <= key), default=key)


def is_same(planned: Proposal, proposal: Proposal, players: dict[int, int]) -> bool:
    """Whether a proposal is what was planned, but for the numbers of newcomers."""
    return len(players) == len(planned.newcomers) == len(proposal.newcomers) and comparable(
        planned, players
    ) == comparable(proposal, {})


def comparable(proposal: Proposal, players: dict[int, int]) -> tuple[Any, ...]:
    """What of a proposal matters to the ledger."""

    def with_players(body: bytes | None) -> bytes | None:
        if body is None or not players:
            return body
        return PROVISIONAL_NUMBER.sub(lambda match: b"%s%d" % (match[1], players[int(match[2])]), body)

    return (
        proposal.kind,
        proposal.pool.system,
        [(each.subject, with_players(each.body), each.match_id, each.present) for each in proposal.entries],
        proposal.affected,
        {event_id: each._replace(body=with_players(each.body)) for event_id, each in proposal.events.items()},
        proposal.merged,
        proposal.season,
        proposal.columns,
    )


SMALL_CORRECTION_ROWS = 40_000  # that one transaction may write: about as long as the rating of `rerating.SHORT_EVENTS`


class Part(NamedTuple):
    first: OrderKey  # where the span begins
    removed: list[ledger_rows.LedgerKey]
    added: ledger_rows.Ledger
    replaced: ledger_rows.Ledger
    old_pools: ledger_rows.PoolStates  # that are to be other, or gone; empty where the system's pools have none
    new_pools: ledger_rows.PoolStates  # those that are new, or other
    statuses: list[tuple[str, tuple[str, str]]]  # by event
    rerated: Rerated

    @classmethod
    def of(cls, span: Span, rerated: Rerated) -> "Part":
        old, new = span.old_pools, span.new_pools
        return cls(
            span.first,
            span.removed,
            span.added,
            span.replaced,
            {key: state for key, state in old.items() if new.get(key) != state},
            {key: state for key, state in new.items() if old.get(key) != state},
            [(row.event_id, status) for row, status in span.moved_statuses],
            rerated,
        )

    @property
    def rows(self) -> int:
        """How many rows are to be written."""
        changes = len(self.removed) + len(self.added) + len(self.replaced)
        return changes + len(self.old_pools.keys() | self.new_pools.keys()) + len(self.statuses)


def plan_moves(engine: sa.Engine, planned: Planned) -> list[Part]:
    """What a proposal moves, in the order of rating, by reading alone.

    Raises:
        LongWorkError: it is more than one transaction may write.
        OvertakenError: another process stages the pool.
        NotFiniteError: a rating would be no finite number.
    """
    proposal, parts, rows = planned.proposal, list[Part](), 0
    if proposal.first_affected == START:  # another system, or another version's: every standing is to be written
        raise LongWorkError

    def active_transaction() -> AbstractContextManager[sa.Connection]:
        generations.keep_active(engine, planned.staged)
        return planning_transaction(engine)

    plan = Plan(proposal.pool, proposal.first_affected, proposal)
    for span, rerated in plan_spans(plan, proposal, active_transaction):
        parts.append(Part.of(span, rerated))
        rows += parts[-1].rows
        if rows > SMALL_CORRECTION_ROWS:
            raise LongWorkError
    return parts


def write_moves(engine: sa.Engine, planned: Planned, parts: list[Part], observe: WriteObserver) -> Done:
    """Record what was planned, write what it moves, and rate again what the pool took meanwhile.

    Raises:
        OvertakenError: the pool is not what was planned for any more.
        LongWorkError: the pool took so much meanwhile that this is not short any more.
    """
    with locked_pool(engine, planned.pool.name, observe) as pool:
        recorded = record_planned(pool, planned)
        generations.discard(pool.connection, planned.staged)
        rated = replace(recorded.proposal.pool, staging=None)
        end = FOREVER
        if recorded.first_affected is not None:
            start = part_start((part.first for part in parts), recorded.first_affected)
            parts = [part for part in parts if part.first < start]
            end = recorded.drawn_key(start)
        write_parts(rated, parts, recorded, end)
        rerated = recorded.summary(part.rerated for part in parts)
        if end != FOREVER:
            rerated.merge(rerating.rerate(rated, end, rerated.wanted, refuse_long=True))
        return finish_planned(pool, recorded, rerated)


def write_parts(pool: PoolView, parts: list[Part], recorded: Recorded, end: OrderKey) -> None:
    added, replaced = (
        ledger_rows.joined(ledgers).with_numbers(recorded.seqs, recorded.players)
        for ledgers in ([part.added for part in parts], [part.replaced for part in parts])
    )
    removed = [key for part in parts for key in part.removed]
    ledger_rows.write_changes(pool, removed, added, replaced)
    for part in parts:
        ledger_rows.write_pool_states(pool, part.old_pools, recorded.with_drawn_keys(part.new_pools))
    rerating.update_statuses(pool, [status for part in parts for status in part.statuses])
    gone = np.array([number for _, _, number in removed], np.int64)
    players = np.unique(np.concatenate([gone, added.player, replaced.player])).tolist()
    stored = stored_standings(pool, players)
    later = {number for number, each in stored.items() if (each.started_at, each.seq) >= end}
    moved = [number for number in players if number not in later]
    old = {number: each for number, each in stored.items() if number not in later}
    refresh_standings(pool, old, newest_standings(pool, moved, end))
