"""Corrections of any length. What would hold the database for long is staged as the pool's next generation.

The new ledger is planned over what is stored, and written in short transactions; nobody reads it. One short transaction
then records the proposal and lets the generation be the one that is read. What the pool took meanwhile is rated again
in the staged ledger, from the first event on that it touched. A kill leaves rows that are cleared later.
"""

import contextlib
import re
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import sqlalchemy as sa

from podium.collector import paused_collection
from podium.store.derive import generations, rerating, snapshots
from podium.store.derive.generations import OvertakenError
from podium.store.derive.plan import Plan, Stretch
from podium.store.derive.proposal import FIRST_PLACEHOLDER, Proposal
from podium.store.derive.rating import LongWorkError
from podium.store.derive.rerated import Rerated
from podium.store.log.players import numbers_and_newcomers, provisional_numbers
from podium.store.log.pools import FOREVER, OrderKey, Pool, WriteObserver, ignore_times, locked_pool
from podium.store.rows.ledger import NO_ROWS, Ledger, joined, write_changes
from podium.store.rows.pool_states import PoolState, PoolStates, newest_pool_state, write_pool_states
from podium.store.rows.standings import (
    Standing,
    newest_standings,
    refresh_standings,
    stored_standings,
)
from podium.store.rows.states import Mask
from podium.store.sql.database import UnavailableError, read_transaction
from podium.store.write.execution import Done, Prepare, Prepared, execute, record, record_moved, refuse_unrateable

T = TypeVar("T")
MAX_ATTEMPTS = 5  # at staging, where others overtake it
TURNS: defaultdict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)  # by database and pool
PROVISIONAL_PLAYER = re.compile(rb'"player":(-\d+)\}\n')  # at the end of a row; in no text, where quotes are escaped


@dataclass(slots=True)
class Work:
    """What is staged of a proposal, but for what is in the database."""

    pool: Pool  # as it was when the staging began
    staged: Pool  # with the generation that is staged
    prepared: Prepared[Any]
    proposal: Proposal
    held: Ledger = NO_ROWS  # rows whose numbers of entries or players are not drawn yet
    held_pools: PoolStates = field(default_factory=dict)  # so too
    statuses: dict[str, tuple[str, str]] = field(default_factory=dict)  # of the proposal's events
    parts: list[tuple[OrderKey, Rerated]] = field(default_factory=list)  # where each begins, and what it moved

    def take(self, stretch: Stretch) -> tuple[Ledger, PoolStates, list[tuple[OrderKey, tuple[str, str]]]]:
        """Take a stretch in; what of it can be written."""
        rerated = Rerated(self.prepared.wanted(self.proposal))
        rerated.add(stretch)
        self.parts.append((stretch.first, rerated))
        provisional = are_provisional(stretch.new)
        self.held = joined([self.held, stretch.new.only(provisional)])
        pools = dict(stretch.new_pools)
        self.held_pools |= {key: pools.pop(key) for key in stretch.new_pools if key.seq >= FIRST_PLACEHOLDER}
        theirs = self.proposal.events
        self.statuses |= {row.event_id: status for row, status in stretch.statuses if row.event_id in theirs}
        statuses = [
            (OrderKey(row.started_at, row.seq), status)
            for row, status in stretch.moved_statuses
            if row.event_id not in theirs
        ]
        return stretch.new.only(~provisional), pools, statuses

    def go_back(self, key: OrderKey) -> OrderKey:
        """Forget what was planned from a key on; where to begin again, at the begin of a part or before all."""
        first = max((start for start, _ in self.parts if start <= key), default=key)
        self.parts = [each for each in self.parts if each[0] < first]
        self.held = self.held.only(self.held.before_key(first))
        self.held_pools = {key: state for key, state in self.held_pools.items() if key < first}
        return first

    def rerated(self) -> Rerated:
        """What all of it moved."""
        total = Rerated(self.prepared.wanted(self.proposal))
        for _, each in self.parts:
            total.merge(each)
        return total


class StagedPlan(Plan):
    """A plan that begins from a staged ledger, and from the rows that are held."""

    def __init__(self, work: Work, first: OrderKey) -> None:
        """Plan what is to be staged from a key on."""
        super().__init__(work.proposal.pool, first, work.proposal)
        self._staged, self._held, self._held_pools = work.staged, work.held, work.held_pools

    def meet(self, connection: sa.Connection, players: set[int]) -> None:
        """Look up where players stood before the plan's start."""
        if players:
            found = newest_standings(connection, self._staged, sorted(players), self.start)
            apply_held(found, self._held.only(np.isin(self._held.player, [*players])))
            self.standings |= found
            self._met |= players

    def meet_pool(self, connection: sa.Connection) -> PoolState | None:
        """Look up the pool's state before the plan's start."""
        held = (PoolState(key, state) for key, state in self._held_pools.items() if key < self.start)
        stored = newest_pool_state(connection, self._staged, self.start)
        return max((*held, *([] if stored is None else [stored])), default=None)

    def meet_all(self, connection: sa.Connection) -> None:
        """Look up every player who had a rating before the plan's start."""
        found = newest_standings(connection, self._staged, None, self.start)
        apply_held(found, self._held)
        self.standings = found | self.standings
        self._met |= found.keys()


def are_provisional(ledger: Ledger) -> Mask:
    """Of which rows the number of the entry or of the player is not drawn yet."""
    return (ledger.seq >= FIRST_PLACEHOLDER) | (ledger.player < 0)


def apply_held(standings: dict[int, Standing], ledger: Ledger) -> None:
    """Bring standings, in place, up to date with rows that may be older than they are."""
    for row in ledger.in_order().rows():
        standing = standings.get(row.player)
        if standing is None or (standing.started_at, standing.seq) < (row.started_at, row.seq):
            played_at = row.started_at if row.place else standings[row.player].played_at
            standings[row.player] = Standing(row.rating, row.started_at, row.seq, played_at, row.state)
        elif row.place and standing.played_at < row.started_at:  # only a season has begun since
            standings[row.player] = standing._replace(played_at=row.started_at)


def carry_out(
    engine: sa.Engine,
    pool_name: str,
    prepare: Prepare[T],
    admit: Callable[[Pool], None],
    observe: WriteObserver = ignore_times,
) -> T:
    """Do what is prepared: in one transaction, or staged where that would take long.

    Args:
        engine: of the database.
        pool_name: of the pool.
        prepare: what is to be done.
        admit: refuses a pool that may not be changed so, as one that is closed.
        observe: gets how long each transaction waited for the pool, and had it.

    Raises:
        StoreError: the pool is refused.
        UnavailableError: the database cannot serve at the moment, or others go on overtaking it.
    """
    for _ in range(MAX_ATTEMPTS):
        with contextlib.suppress(LongWorkError), locked_pool(engine, pool_name, observe) as (connection, pool):
            admit(pool)
            return execute(connection, pool, prepare)
        with TURNS[str(engine.url), pool_name], contextlib.suppress(OvertakenError):
            generations.clear_unread(engine)
            return stage(engine, pool_name, prepare, admit, observe)
    raise UnavailableError(f"pool {pool_name!r} is busy with other corrections; send it again")


def stage(
    engine: sa.Engine, pool_name: str, prepare: Prepare[T], admit: Callable[[Pool], None], observe: WriteObserver
) -> T:
    """Stage what is prepared as the pool's next generation, and let that be the one that is read.

    Raises:
        OvertakenError: another staging took the place of this one, or the pool is not what was planned for any more.
    """
    pool = generations.begin(engine, pool_name)
    try:
        work = begun_work(engine, pool, prepare)
        first = work.proposal.first
        generations.copy_before(engine, pool, work.staged, first)
        while True:
            stage_from(engine, work, first)
            try:
                return finish_staging(engine, work, prepare, admit, observe)
            except LongWorkError:
                first = work.go_back(generations.take_touched(engine, work.staged) or first)
                generations.delete_from(engine, work.staged, first)
    except BaseException:
        with contextlib.suppress(UnavailableError):  # it is cleared in any case, later
            generations.abandon(engine, pool.staging or 0)
        raise


def begun_work(engine: sa.Engine, pool: Pool, prepare: Prepare[T]) -> Work:
    """What is prepared, of which nothing is staged yet.

    Raises:
        OvertakenError: nothing is to be rated any more; the next attempt answers.
    """
    with read_transaction(engine) as connection:
        prepared = prepare(connection, pool, provisional_numbers)
    proposal = prepared.proposal
    if proposal is None or not proposal.touched:
        raise OvertakenError
    return Work(pool, replace(proposal.pool, generation=pool.staging or 0, staging=None), prepared, proposal)


def stage_from(engine: sa.Engine, work: Work, first: OrderKey) -> None:
    """Stage the ledger from a key on, and the standings.

    Raises:
        ResultsError: an event lacks what the system needs, or would count with one player twice.
        NotFiniteError: a rating would be no finite number.
    """
    plan = StagedPlan(work, first)
    while not plan.is_over:
        with paused_collection(), read_transaction(engine) as connection:
            stretch = plan.stretch(connection, rerating.STRETCH_EVENTS)
            ledger, pools, statuses = work.take(stretch)
            refuse_unrateable(connection, work.proposal, work.parts[-1][1])
        generations.write_part(engine, work.staged, ledger, pools, statuses)
    generations.write_standings(engine, work.staged)


def finish_staging(
    engine: sa.Engine, work: Work, prepare: Prepare[T], admit: Callable[[Pool], None], observe: WriteObserver
) -> T:
    """Record what was staged, rate again in it what the pool took meanwhile, and let it be what is read.

    Raises:
        OvertakenError: the pool is not what was planned for any more.
        LongWorkError: the pool took so much meanwhile that more is to be staged first.
    """
    with locked_pool(engine, work.pool.name, observe) as (connection, pool):
        if (pool.generation, pool.staging) != (work.pool.generation, work.staged.generation):
            raise OvertakenError
        admit(pool)
        prepared = prepare(connection, pool, numbers_and_newcomers)
        proposal = prepared.proposal
        players = drawn_numbers(work.proposal, proposal)
        if proposal is None or not is_same(work.proposal, proposal, players):
            raise OvertakenError
        recorded, logged = record(connection, proposal)
        seqs = drawn_seqs(proposal, recorded)
        staged = replace(recorded.pool, generation=work.staged.generation, staging=None)
        write_held_rows(connection, staged, work.held.with_numbers(seqs, players))
        drawn_pools = {OrderKey(at, seqs.get(seq, seq)): state for (at, seq), state in work.held_pools.items()}
        write_pool_states(connection, staged, {}, drawn_pools)
        touched = generations.touched(connection, staged.generation)
        generations.apply_statuses(connection, staged, touched or FOREVER)
        statuses = [
            {"pool": pool.id, "event": event_id, "status": status, "reason": reason}
            for event_id, (status, reason) in work.statuses.items()
        ]
        if statuses:
            connection.execute(rerating.UPDATE_STATUS, statuses)
        rerated = drawn_summary(work.rerated(), prepared.wanted(recorded), seqs, players)
        if touched is not None:
            rerated.merge(rerating.rerate(connection, staged, touched, rerated.wanted, refuse_long=True))
        refuse_unrateable(connection, recorded, rerated)
        if rerated.earliest is not None:
            snapshots.mark_stale(connection, pool, rerated.earliest)
        generations.adopt(connection, staged)
        record_moved(connection, recorded, logged, rerated)
        return prepared.answer(connection, Done(recorded, rerated, logged.head))


def write_held_rows(connection: sa.Connection, staged: Pool, ledger: Ledger) -> None:
    """Write rows that were held into a staged generation, and what they make of its standings."""
    write_changes(connection, staged, (), ledger, NO_ROWS)
    stored = stored_standings(connection, staged, sorted(set(ledger.player.tolist())))
    standings = dict(stored)
    apply_held(standings, ledger)
    refresh_standings(connection, staged, stored, standings)


def drawn_numbers(planned: Proposal, proposal: Proposal | None) -> dict[int, int]:
    """The numbers of newcomers by their provisional ones, as far as they are newcomers still."""
    drawn = {} if proposal is None else {name: number for number, name in proposal.newcomers.items()}
    return {number: drawn[name] for number, name in planned.newcomers.items() if name in drawn}


def drawn_seqs(proposal: Proposal, recorded: Proposal) -> dict[int, int]:
    """The numbers of log entries by their placeholders."""
    seqs = {each.seq: recorded.events[each.event_id].seq for each in proposal.events.values()}
    if proposal.season is not None and recorded.season is not None:
        seqs[proposal.season.seq] = recorded.season.seq
    return seqs


def drawn_summary(
    rerated: Rerated, wanted: dict[OrderKey, str], seqs: dict[int, int], players: dict[int, int]
) -> Rerated:
    """What was moved, with the numbers that were drawn."""

    def drawn(key: OrderKey) -> OrderKey:
        return OrderKey(key.started_at, seqs.get(key.seq, key.seq))

    return replace(
        rerated,
        wanted=wanted,
        players={players.get(number, number) for number in rerated.players},
        rows={
            drawn(key): [(players.get(number, number), before, rating) for number, before, rating in moved]
            for key, moved in rerated.rows.items()
        },
        written_at=type(rerated.written_at)({drawn(key): count for key, count in rerated.written_at.items()}),
        doubled={drawn(key): each for key, each in rerated.doubled.items()},
    )


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
        return PROVISIONAL_PLAYER.sub(lambda match: b'"player":%d}\n' % players[int(match[1])], body)

    return (
        proposal.kind,
        proposal.pool.system,
        [(each.subject, with_players(each.body), each.match_id, each.present) for each in proposal.entries],
        proposal.touched,
        {event_id: each._replace(body=with_players(each.body)) for event_id, each in proposal.events.items()},
        proposal.merged,
        proposal.season,
        proposal.columns,
    )
