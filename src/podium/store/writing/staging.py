"""Work that moves many ratings: staged as the pool's next generation, so that it does not hold the database for long.

The new ledger is planned over what is stored, and written in short transactions; nobody reads it. One short transaction
then records the proposal and lets the generation be the one that is read. What the pool took meanwhile is rated again
in the staged ledger, from the first event on that it affected. A kill leaves rows that are cleared later.
"""

import contextlib
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import sqlalchemy as sa

from podium.log.database import UnavailableError
from podium.log.pools import FOREVER, OrderKey, Pool, WriteObserver, ignore_times, locked_pool
from podium.store.writing.execution import Done, Propose, execute, plan_spans
from podium.store.writing.planned import (
    Planned,
    finish_planned,
    part_start,
    plan_moves,
    planning,
    planning_transaction,
    record_planned,
    write_moves,
)
from podium.store.writing.rating import generations, ledger_rows, rerating
from podium.store.writing.rating.events import FIRST_PLACEHOLDER
from podium.store.writing.rating.generations import OvertakenError
from podium.store.writing.rating.plan import Plan, Span
from podium.store.writing.rating.rating import LongWorkError
from podium.store.writing.rating.rerating import Rerated
from podium.store.writing.rating.standing_rows import apply_rows, newest_standings, refresh_standings, stored_standings


class Staging(Plan):
    """A plan of which the rows are staged, but for those that are held; it begins from both."""

    def __init__(self, planned: Planned) -> None:
        super().__init__(planned.proposal.pool, planned.proposal.first_affected, planned.proposal)
        self.planned = planned
        self.held = ledger_rows.NO_ROWS  # rows whose numbers of entries or players are not drawn yet
        self.held_pools: ledger_rows.PoolStates = {}  # so too
        self.held_statuses: dict[str, tuple[str, str]] = {}  # of the proposal's events
        self.parts = list[tuple[OrderKey, Rerated]]()  # where each begins, and what it moved

    def hold(
        self, span: Span
    ) -> tuple[ledger_rows.Ledger, ledger_rows.PoolStates, list[tuple[OrderKey, tuple[str, str]]]]:
        """Hold the rows of a span whose numbers are not drawn yet, and return those that can be written."""
        provisional = (span.new.seq >= FIRST_PLACEHOLDER) | (span.new.player < 0)
        self.held = ledger_rows.joined([self.held, span.new.only(provisional)])
        pools = dict(span.new_pools)
        self.held_pools |= {key: pools.pop(key) for key in span.new_pools if key.seq >= FIRST_PLACEHOLDER}
        theirs = self.planned.proposal.events
        self.held_statuses |= {row.event_id: status for row, status in span.statuses if row.event_id in theirs}
        statuses = [
            (OrderKey(row.started_at, row.seq), status)
            for row, status in span.moved_statuses
            if row.event_id not in theirs
        ]
        return span.new.only(~provisional), pools, statuses

    def go_back(self, key: OrderKey) -> None:
        """Forget what was planned from a key on, and begin again at the begin of its part, or before all."""
        first = part_start((start for start, _ in self.parts), key)
        self.parts = [each for each in self.parts if each[0] < first]
        self.held = self.held.only(self.held.before_key(first))
        self.held_pools = {key: state for key, state in self.held_pools.items() if key < first}
        self.begin_at(first)

    def meet(self, players: set[int]) -> None:
        if players:
            found = newest_standings(self.planned.staged.within(self.pool.connection), sorted(players), self.start)
            before = self.held.before_key(self.start)
            apply_rows(found, self.held.only(before & np.isin(self.held.player, [*players])).in_order())
            self.standings |= found
            self._met |= players

    def meet_pool(self) -> ledger_rows.PoolState | None:
        held = (ledger_rows.PoolState(key, state) for key, state in self.held_pools.items() if key < self.start)
        stored = ledger_rows.newest_pool_state(self.planned.staged.within(self.pool.connection), self.start)
        return max((*held, *([] if stored is None else [stored])), default=None)

    def meet_all(self) -> None:
        found = newest_standings(self.planned.staged.within(self.pool.connection), None, self.start)
        apply_rows(found, self.held.only(self.held.before_key(self.start)).in_order())
        self.standings = found | self.standings
        self._met |= found.keys()


def stage(engine: sa.Engine, planned: Planned, observe: WriteObserver) -> Done:
    """Stage what is planned as the pool's next generation, and let that be the one that is read.

    Raises:
        OvertakenError: another staging took the place of this one, or the pool is not what was planned for any more.
        NotFiniteError: a rating would be no finite number.
    """
    staging = Staging(planned)
    generations.copy_before(engine, planned.pool, planned.staged, staging.start)
    while True:
        for span, rerated in plan_spans(staging, planned.proposal, lambda: planning_transaction(engine)):
            staging.parts.append((span.first, rerated))
            generations.write_part(engine, planned.staged, *staging.hold(span))
        generations.write_standings(engine, planned.staged)
        try:
            return finish_staging(engine, staging, observe)
        except LongWorkError:
            staging.go_back(generations.take_first_affected(engine, planned.staged) or staging.start)
            generations.delete_from(engine, planned.staged, staging.start)


def finish_staging(engine: sa.Engine, staging: Staging, observe: WriteObserver) -> Done:
    """Record what was staged, rate again in it what the pool took meanwhile, and let it be what is read.

    Raises:
        OvertakenError: the pool is not what was planned for any more.
        LongWorkError: the pool took so much meanwhile that more is to be staged first.
    """
    planned = staging.planned
    with locked_pool(engine, planned.pool.name, observe) as pool:
        recorded = record_planned(pool, planned)
        staged = replace(recorded.proposal.pool, generation=planned.staged.generation, staging=None)
        held = staging.held.with_numbers(recorded.seqs, recorded.players)
        ledger_rows.write_changes(staged, (), held, ledger_rows.NO_ROWS)
        stored = stored_standings(staged, sorted(set(held.player.tolist())))
        standings = dict(stored)
        apply_rows(standings, held.in_order())
        refresh_standings(staged, stored, standings)
        ledger_rows.write_pool_states(staged, {}, recorded.with_drawn_keys(staging.held_pools))
        first_affected = recorded.first_affected
        generations.apply_statuses(staged, first_affected or FOREVER)
        rerating.update_statuses(pool, staging.held_statuses.items())
        rerated = recorded.summary(rerated for _, rerated in staging.parts)
        if first_affected is not None:
            rerated.merge(rerating.rerate(staged, first_affected, rerated.wanted, refuse_long=True))
        generations.adopt(staged)
        return finish_planned(pool, recorded, rerated)


MAX_ATTEMPTS = 5  # at long work, where others overtake it
TURNS: defaultdict[tuple[str, str], threading.Lock] = defaultdict(threading.Lock)  # by database and pool


def run(
    engine: sa.Engine,
    pool_name: str,
    propose: Propose,
    admit: Callable[[Pool], None],
    observe: WriteObserver = ignore_times,
) -> Done:
    """Do what is proposed: in one transaction, or planned first where that would take long.

    Raises:
        UnavailableError: the database cannot serve at the moment, or others go on overtaking it.
    """
    for _ in range(MAX_ATTEMPTS):
        with contextlib.suppress(LongWorkError), locked_pool(engine, pool_name, observe) as pool:
            admit(pool)
            return execute(pool, propose)
        with TURNS[str(engine.url), pool_name], contextlib.suppress(OvertakenError):
            return run_in_background(engine, pool_name, propose, admit, observe)
    raise UnavailableError(f"pool {pool_name!r} is busy with other corrections; send it again")


def run_in_background(
    engine: sa.Engine, pool_name: str, propose: Propose, admit: Callable[[Pool], None], observe: WriteObserver
) -> Done:
    """Write what moves where it is, if that is little; else stage the pool's next generation."""
    with contextlib.suppress(LongWorkError), planning(engine, pool_name, propose, admit) as planned:
        return write_moves(engine, planned, plan_moves(engine, planned), observe)
    generations.clear_unread(engine)
    with planning(engine, pool_name, propose, admit) as planned:
        return stage(engine, planned, observe)
