"""Work that moves many ratings: staged as the pool's next generation, so that it does not hold the database for long.

The new ledger is planned over what is stored, and written in short transactions; nobody reads it. One short transaction
then records the proposal and lets the generation be the one that is read. What the pool took meanwhile is rated again
in the staged ledger, from the first event on that it affected. A kill leaves rows that are cleared later.
"""

import contextlib
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

import numpy as np
import sqlalchemy as sa

from podium.store.log.pools import FOREVER, OrderKey, Pool, WriteObserver, ignore_times, locked_pool
from podium.store.rating import generations, rerating
from podium.store.rating.events import FIRST_PLACEHOLDER
from podium.store.rating.generations import OvertakenError
from podium.store.rating.ledger_rows import (
    NO_ROWS,
    Ledger,
    Mask,
    PoolState,
    PoolStates,
    joined,
    newest_pool_state,
    write_changes,
    write_pool_states,
)
from podium.store.rating.plan import Plan, Span
from podium.store.rating.rating import LongWorkError
from podium.store.rating.rerating import Rerated
from podium.store.rating.standing_rows import Standing, newest_standings, refresh_standings, stored_standings
from podium.store.sql.database import UnavailableError, read_transaction
from podium.store.writing.execution import Prepare, execute, refuse_unrateable
from podium.store.writing.planned import (
    Planned,
    answer_planned,
    part_start,
    plan_moves,
    planning,
    record_planned,
    write_moves,
)
from podium.support.collector import paused_collection

T = TypeVar("T")


@dataclass(slots=True)
class Staging(Generic[T]):
    """What is staged of a proposal, but for what is in the database."""

    planned: Planned[T]
    held: Ledger = NO_ROWS  # rows whose numbers of entries or players are not drawn yet
    held_pools: PoolStates = field(default_factory=dict)  # so too
    statuses: dict[str, tuple[str, str]] = field(default_factory=dict)  # of the proposal's events
    parts: list[tuple[OrderKey, Rerated]] = field(default_factory=list)  # where each begins, and what it moved

    def take(self, span: Span) -> tuple[Ledger, PoolStates, list[tuple[OrderKey, tuple[str, str]]]]:
        """Take a span in; what of it can be written."""
        self.parts.append((span.first, self.planned.moved_in(span)))
        provisional = are_provisional(span.new)
        self.held = joined([self.held, span.new.only(provisional)])
        pools = dict(span.new_pools)
        self.held_pools |= {key: pools.pop(key) for key in span.new_pools if key.seq >= FIRST_PLACEHOLDER}
        theirs = self.planned.proposal.events
        self.statuses |= {row.event_id: status for row, status in span.statuses if row.event_id in theirs}
        statuses = [
            (OrderKey(row.started_at, row.seq), status)
            for row, status in span.moved_statuses
            if row.event_id not in theirs
        ]
        return span.new.only(~provisional), pools, statuses

    def go_back(self, key: OrderKey) -> OrderKey:
        """Forget what was planned from a key on; where to begin again, at the begin of a part or before all."""
        first = part_start((start for start, _ in self.parts), key)
        self.parts = [each for each in self.parts if each[0] < first]
        self.held = self.held.only(self.held.before_key(first))
        self.held_pools = {key: state for key, state in self.held_pools.items() if key < first}
        return first

    def rerated(self) -> Rerated:
        """What all of it moved."""
        return Rerated.of_parts(self.planned.wanted, (each for _, each in self.parts))


class StagedPlan(Plan):
    """A plan that begins from a staged ledger, and from the rows that are held."""

    def __init__(self, staging: Staging[T], first: OrderKey) -> None:
        """Plan what is to be staged from a key on."""
        proposal = staging.planned.proposal
        super().__init__(proposal.pool, first, proposal)
        self._staged, self._held, self._held_pools = staging.planned.staged, staging.held, staging.held_pools

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


def stage(engine: sa.Engine, planned: Planned[T], observe: WriteObserver) -> T:
    """Stage what is planned as the pool's next generation, and let that be the one that is read.

    Raises:
        OvertakenError: another staging took the place of this one, or the pool is not what was planned for any more.
    """
    staging, first = Staging(planned), planned.proposal.first_affected
    generations.copy_before(engine, planned.pool, planned.staged, first)
    while True:
        stage_from(engine, staging, first)
        try:
            return finish_staging(engine, staging, observe)
        except LongWorkError:
            first = staging.go_back(generations.take_first_affected(engine, planned.staged) or first)
            generations.delete_from(engine, planned.staged, first)


def stage_from(engine: sa.Engine, staging: Staging[T], first: OrderKey) -> None:
    """Stage the ledger from a key on, and the standings.

    Raises:
        NotFiniteError: a rating would be no finite number.
    """
    plan = StagedPlan(staging, first)
    while not plan.is_over:
        with paused_collection(), read_transaction(engine) as connection:
            span = plan.span(connection, rerating.SPAN_EVENTS)
            ledger, pools, statuses = staging.take(span)
            refuse_unrateable(connection, staging.planned.proposal, staging.parts[-1][1])
        generations.write_part(engine, staging.planned.staged, ledger, pools, statuses)
    generations.write_standings(engine, staging.planned.staged)


def finish_staging(engine: sa.Engine, staging: Staging[T], observe: WriteObserver) -> T:
    """Record what was staged, rate again in it what the pool took meanwhile, and let it be what is read.

    Raises:
        OvertakenError: the pool is not what was planned for any more.
        LongWorkError: the pool took so much meanwhile that more is to be staged first.
    """
    planned = staging.planned
    with locked_pool(engine, planned.pool.name, observe) as (connection, pool):
        recorded = record_planned(connection, pool, planned)
        staged = replace(recorded.proposal.pool, generation=planned.staged.generation, staging=None)
        write_held_rows(connection, staged, staging.held.with_numbers(recorded.seqs, recorded.players))
        write_pool_states(connection, staged, {}, recorded.with_drawn_keys(staging.held_pools))
        first_affected = recorded.first_affected
        generations.apply_statuses(connection, staged, first_affected or FOREVER)
        rerating.update_statuses(connection, pool, staging.statuses.items())
        rerated = recorded.summary(staging.rerated())
        if first_affected is not None:
            rerated.merge(rerating.rerate(connection, staged, first_affected, rerated.wanted, refuse_long=True))
        generations.adopt(connection, staged)
        return answer_planned(connection, pool, recorded, rerated)


def write_held_rows(connection: sa.Connection, staged: Pool, ledger: Ledger) -> None:
    """Write rows that were held into a staged generation, and what they make of its standings."""
    write_changes(connection, staged, (), ledger, NO_ROWS)
    stored = stored_standings(connection, staged, sorted(set(ledger.player.tolist())))
    standings = dict(stored)
    apply_held(standings, ledger)
    refresh_standings(connection, staged, stored, standings)


MAX_ATTEMPTS = 5  # at long work, where others overtake it
TURNS: defaultdict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)  # by database and pool


def run(
    engine: sa.Engine,
    pool_name: str,
    prepare: Prepare[T],
    admit: Callable[[Pool], None],
    observe: WriteObserver = ignore_times,
) -> T:
    """Do what is prepared: in one transaction, or planned first where that would take long.

    Raises:
        UnavailableError: the database cannot serve at the moment, or others go on overtaking it.
    """
    for _ in range(MAX_ATTEMPTS):
        with contextlib.suppress(LongWorkError), locked_pool(engine, pool_name, observe) as (connection, pool):
            admit(pool)
            return execute(connection, pool, prepare)
        with TURNS[str(engine.url), pool_name], contextlib.suppress(OvertakenError):
            return run_in_background(engine, pool_name, prepare, admit, observe)
    raise UnavailableError(f"pool {pool_name!r} is busy with other corrections; send it again")


def run_in_background(
    engine: sa.Engine, pool_name: str, prepare: Prepare[T], admit: Callable[[Pool], None], observe: WriteObserver
) -> T:
    """Write what moves where it is, if that is little; else stage the pool's next generation.

    Raises:
        OvertakenError: another took the place of this, or the pool is not what was planned for any more.
    """
    with contextlib.suppress(LongWorkError), planning(engine, pool_name, prepare, admit) as planned:
        return write_moves(engine, planned, plan_moves(engine, planned), observe)
    generations.clear_unread(engine)
    with planning(engine, pool_name, prepare, admit) as planned:
        return stage(engine, planned, observe)
