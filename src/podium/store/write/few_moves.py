"""Many events are rated again, and few ratings move: planned beside the pool's other work, then written in place.

Most corrections reach only those who met the player since, and those who met these. One short transaction records the
proposal and writes the rows that move; what the pool took meanwhile is rated again in it.
"""

from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
import sqlalchemy as sa

from podium.store.derive import generations, rerating
from podium.store.derive.plan import Plan, Stretch
from podium.store.derive.rating import LongWorkError
from podium.store.derive.rerated import Rerated
from podium.store.log.pools import FOREVER, START, OrderKey, Pool, WriteObserver, locked_pool
from podium.store.rows.ledger import Ledger, LedgerKey, joined, write_changes
from podium.store.rows.pool_states import PoolStates, write_pool_states
from podium.store.rows.standings import newest_standings, refresh_standings, stored_standings
from podium.store.sql.database import read_transaction
from podium.store.write.execution import refuse_unrateable
from podium.store.write.planned import Planned, Recorded, answer_planned, part_start, record_planned
from podium.support.collector import paused_collection

T = TypeVar("T")
FEW_ROWS = 40_000  # that one transaction may write: about as long as the rating of `rerating.SHORT_EVENTS`


class Part(NamedTuple):
    """What moves in a stretch of the ledger."""

    first: OrderKey  # where the stretch begins
    removed: list[LedgerKey]
    added: Ledger
    replaced: Ledger
    old_pools: PoolStates  # the pool's states that are to be other, or gone; empty where the system's pools have none
    new_pools: PoolStates  # those that are new, or other
    statuses: list[tuple[str, tuple[str, str]]]  # by event
    rerated: Rerated

    @classmethod
    def of(cls, stretch: Stretch, rerated: Rerated) -> "Part":
        """What moves in a stretch."""
        old, new = stretch.old_pools, stretch.new_pools
        return cls(
            stretch.first,
            stretch.removed,
            stretch.added,
            stretch.replaced,
            {key: state for key, state in old.items() if new.get(key) != state},
            {key: state for key, state in new.items() if old.get(key) != state},
            [(row.event_id, status) for row, status in stretch.moved_statuses],
            rerated,
        )

    @property
    def rows(self) -> int:
        """How many rows are to be written."""
        changes = len(self.removed) + len(self.added) + len(self.replaced)
        return changes + len(self.old_pools.keys() | self.new_pools.keys()) + len(self.statuses)


def plan_moves(engine: sa.Engine, planned: Planned[T]) -> list[Part]:
    """What a proposal moves, in the order of rating, by reading alone.

    Raises:
        LongWorkError: it is more than one transaction may write.
        OvertakenError: another process stages the pool.
        ResultsError: an event lacks what the system needs, or would count with one player twice.
        NotFiniteError: a rating would be no finite number.
    """
    proposal, parts, rows = planned.proposal, list[Part](), 0
    if proposal.first == START:  # another system, or another version's: every standing is to be written
        raise LongWorkError
    plan = Plan(proposal.pool, proposal.first, proposal)
    while not plan.is_over:
        generations.keep_active(engine, planned.staged)
        with paused_collection(), read_transaction(engine) as connection:
            stretch = plan.stretch(connection, rerating.STRETCH_EVENTS)
            part = Part.of(stretch, planned.moved_in(stretch))
            refuse_unrateable(connection, proposal, part.rerated)
        parts.append(part)
        rows += part.rows
        if rows > FEW_ROWS:
            raise LongWorkError
    return parts


def write_moves(engine: sa.Engine, planned: Planned[T], parts: list[Part], observe: WriteObserver) -> T:
    """Record what was planned, write what it moves, and rate again what the pool took meanwhile.

    Raises:
        OvertakenError: the pool is not what was planned for any more.
        LongWorkError: the pool took so much meanwhile that this is not short any more.
    """
    with locked_pool(engine, planned.pool.name, observe) as (connection, pool):
        recorded = record_planned(connection, pool, planned)
        generations.discard(connection, planned.staged)
        rated = replace(recorded.proposal.pool, staging=None)
        end = FOREVER
        if recorded.touched is not None:
            start = part_start((part.first for part in parts), recorded.touched)
            parts = [part for part in parts if part.first < start]
            end = recorded.drawn_key(start)
        write_parts(connection, rated, parts, recorded, end)
        rerated = recorded.summary(Rerated.of_parts(planned.wanted, (part.rerated for part in parts)))
        if end != FOREVER:
            rerated.merge(rerating.rerate(connection, rated, end, rerated.wanted, refuse_long=True))
        return answer_planned(connection, pool, recorded, rerated)


def write_parts(connection: sa.Connection, pool: Pool, parts: list[Part], recorded: Recorded[T], end: OrderKey) -> None:
    """Write what moves: the ledger, the pool's states, the events' statuses, and the standings.

    Args:
        connection: with the pool's lock.
        pool: with the system that rates it.
        parts: what moves.
        recorded: the numbers that were drawn.
        end: that follows the parts; who stands there or later is rated again from there.
    """
    added, replaced = (
        joined(ledgers).with_numbers(recorded.seqs, recorded.players)
        for ledgers in ([part.added for part in parts], [part.replaced for part in parts])
    )
    removed = [key for part in parts for key in part.removed]
    write_changes(connection, pool, removed, added, replaced)
    for part in parts:
        write_pool_states(connection, pool, part.old_pools, recorded.with_drawn_keys(part.new_pools))
    rerating.update_statuses(connection, pool, [status for part in parts for status in part.statuses])
    gone = np.array([number for _, _, number in removed], np.int64)
    players = np.unique(np.concatenate([gone, added.player, replaced.player])).tolist()
    stored = stored_standings(connection, pool, players)
    later = {number for number, each in stored.items() if (each.started_at, each.seq) >= end}
    moved = [number for number in players if number not in later]
    old = {number: each for number, each in stored.items() if number not in later}
    refresh_standings(connection, pool, old, newest_standings(connection, pool, moved, end))
