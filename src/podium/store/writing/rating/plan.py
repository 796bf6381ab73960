"""A new rating of a pool from a key on, as a plan that yields spans of the ledger; nothing of it is written here.

It starts from each player's state before the first event, which the ledger holds. A plan over what is stored, and a
proposal of what is to be other, has the same bits as one over the tables once the proposal is stored.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import sqlalchemy as sa

from podium.engine.heats import encode_small, entries_of
from podium.engine.pool_state import new_pools
from podium.engine.replay import Replayed, by_columns, replay_settlements
from podium.errors import NotFiniteError
from podium.log.content import is_numbered
from podium.log.pools import FOREVER, OrderKey, Pool, PoolView
from podium.pool.roster import Roster
from podium.store.writing.rating import ledger_rows, rating, standing_rows
from podium.store.writing.rating.events import RATED, Proposal

MOST_ROWS = 64  # from about as many on, Polars is as quick


class OneEvent(NamedTuple):
    """An event whose rows are read, without any other beside it."""

    row: Any  # of the event
    rows: Sequence[Mapping[str, Any]]  # of its results; `player` is the number of the account that plays on
    players: frozenset[int]


def only_event(batch: rating.EventBatch) -> OneEvent | None:
    """The event, where just one is to be rated, with few rows, no player twice and nothing shared; else None."""
    if len(batch.events) != 1 or batch.resets or batch.events[0].body.count(b"\n") > MOST_ROWS:
        return None
    row = batch.events[0]
    if b'"shared:' in row.body:
        return None
    rows = json.loads(b"[" + row.body[:-1].replace(b"\n", b",") + b"]")  # no line has a newline within
    for each in rows:
        each["player"] = batch.merged.get(each["player"], each["player"])
    players = frozenset(each["player"] for each in rows)
    return OneEvent(row, rows, players) if len(players) == len(rows) else None


def met_in(table: pl.DataFrame) -> set[int]:
    """The numbers of the players and things of rows."""
    columns = (table[name].cast(pl.Int64).to_list() for name in filter(is_numbered, table.columns))
    return set[int]().union(*columns) - {None}


def rate_one(
    pool: Pool, one: OneEvent, standings: Mapping[int, standing_rows.Standing], newest: ledger_rows.PoolState | None
) -> rating.RatedBatch | None:
    """Rate an event; None where it takes the way of all others, as where it is not rated at all."""
    system, started_at, seq = pool.system, one.row.started_at, one.row.seq
    entries = entries_of(one.rows, system)
    if entries is None:
        return None
    players = [each["player"] for each in entries]
    placements = [standings.get(number) for number in players]
    newcomer = np.array(system.newcomer(), "<f8").tobytes()
    packed = b"".join(newcomer if each is None else each.state for each in placements)
    states = np.frombuffer(packed, "<f8").astype(np.float64).reshape(len(players), -1)
    seen = np.array([started_at if each is None else each.played_at for each in placements], np.int64)
    moment = None if pool.is_counted else started_at
    columns = encode_small(one.rows, entries, system, pool.name, moment, seen)
    pools = new_pools(system, 1) if newest is None else np.frombuffer(newest.state, "<f8").astype(np.float64)[None]
    history = np.empty((1, pools.shape[1]))
    replayed = Replayed(states, np.empty(len(players)), by_columns(*states.shape), None, pools, history)
    try:
        replay_settlements(system, columns, 0, 1, replayed)
    except NotFiniteError:
        return None
    size = len(players)
    ledger = ledger_rows.Ledger(
        started_at=np.full(size, started_at),
        seq=np.full(size, seq),
        player=np.array(players, np.int64),
        place=np.arange(1, size + 1),
        before=replayed.before,
        rating=np.ascontiguousarray(replayed.after[:, system.column("rating")]),
        state=ledger_rows.packed_states(replayed.after),
        rank=(columns.rank if columns.rank.size else columns.place).astype(np.int64),
        field=np.full(size, size),
    )
    learnt = {OrderKey(started_at, seq): history.astype("<f8").tobytes()} if history.size else {}
    return rating.RatedBatch([ledger], learnt)


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a ledger as it is stored and as it is to be, and what became of its events."""

    first: OrderKey
    old: ledger_rows.Ledger
    new: ledger_rows.Ledger
    counterparts: ledger_rows.Integers  # the row of `old` for each of `new`, or -1
    is_written: ledger_rows.Mask  # which rows of `new` are new or other
    old_pools: ledger_rows.PoolStates  # empty where the system's pools have no state; so are the new ones
    new_pools: ledger_rows.PoolStates
    statuses: list[tuple[Any, tuple[str, str]]]  # each event's row, with its status and reason
    not_finite: tuple[NotFiniteError, ...]  # of events that cannot be rated, and were not marked so before
    duplicate_players: dict[OrderKey, tuple[str, int]]  # event, and who stands twice in it, if not marked so before

    @property
    def written(self) -> ledger_rows.Ledger:
        return self.new.only(self.is_written)

    @property
    def added(self) -> ledger_rows.Ledger:
        return self.new.only(self.counterparts < 0)

    @property
    def replaced(self) -> ledger_rows.Ledger:
        """The rows that are other than those of their keys."""
        return self.new.only(self.is_written & (self.counterparts >= 0)) if len(self.old) else ledger_rows.NO_ROWS

    @property
    def removed(self) -> list[ledger_rows.LedgerKey]:
        if not len(self.old):
            return []
        is_gone = self.old.unmatched(self.counterparts)
        return [*zip(*(key[is_gone].tolist() for key in self.old.keys), strict=True)]

    @property
    def moved_statuses(self) -> list[tuple[Any, tuple[str, str]]]:
        return [(row, status) for row, status in self.statuses if status != (row.status, row.reason)]


class Plan:
    """A new rating from a key on, span by span in the order of rating."""

    def __init__(self, pool: PoolView, first: OrderKey, proposal: Proposal | None = None) -> None:
        self.pool, self.proposal = pool, proposal
        self.begin_at(first)

    def begin_at(self, first: OrderKey) -> None:
        """Forget all that was met, and begin at a key."""
        self.next = self.start = first
        self.standings: dict[int, standing_rows.Standing] = {}  # before `next`, of the players who were met
        self.stored: dict[int, standing_rows.Standing] = {}  # of those players, as they are stored
        self.pool_state: ledger_rows.PoolState | None = None  # before `next`, where the system's pools have one
        self._met: set[int] = set()

    @property
    def is_over(self) -> bool:
        return self.next == FOREVER

    def span(self, connection: sa.Connection, limit: int, *, refuse_more: bool = False) -> Span:
        """Rate so many stored events at most; a LongWorkError where there are so many, and `refuse_more` is set."""
        self.pool, first = self.pool.within(connection), self.next
        batch = rating.choose_events(self.pool, first, limit, self.proposal, refuse_more=refuse_more)
        end, one = batch.end, only_event(batch)
        segments = rating.segments_of(batch) if one is None else []
        old = ledger_rows.stored_ledger(self.pool, first, end)
        players = set(old.player.tolist()) | (set() if one is None else one.players)
        for segment in segments:
            players.update(met_in(segment.table))
        if any(segment.reset for segment in segments):
            self.meet_all()
            players = self._met | players
        self.meet(players - self._met)
        begun = {number: self.standings[number] for number in players if number in self.standings}
        old_pools: ledger_rows.PoolStates = {}
        if self.pool.system.pool_fields:
            old_pools = ledger_rows.stored_pool_states(self.pool, first, end)
            if first == self.start:
                self.pool_state = self.meet_pool()
        rated = None if one is None else rate_one(self.pool, one, begun, self.pool_state)
        statuses: list[tuple[Any, tuple[str, str]]] = [(row, (RATED, "")) for row in batch.events]
        if rated is None:
            segments = segments or rating.segments_of(batch)
            roster = Roster.resumed(self.pool.system, begun, self.pool_state)
            rated = rating.rate_segments(self.pool, roster, segments)
            statuses = list(rating.statuses_of(self.pool, segments, rated))
        new = rated.ledger
        if rated.pools:
            self.pool_state = ledger_rows.PoolState(*next(reversed(rated.pools.items())))
        standing_rows.apply_ledger(self.standings, new)
        self.next = end
        counterparts = new.counterparts(old)
        marked = {row.event_id for row in batch.events if row.reason in rating.UNRATEABLE}
        return Span(
            first,
            old,
            new,
            counterparts,
            ledger_rows.is_other(new, old, counterparts),
            old_pools,
            rated.pools,
            statuses,
            tuple(error for event_id, error in rated.not_finite.items() if event_id not in marked),
            {
                OrderKey(row.started_at, row.seq): (row.event_id, segment.duplicate_players[row.event_id])
                for segment in segments
                for row in (segment.events if segment.duplicate_players else ())
                if row.event_id in segment.duplicate_players and row.event_id not in marked
            },
        )

    def meet(self, players: set[int]) -> None:
        """Look up where players stood before the plan's start."""
        if players:
            stored = standing_rows.stored_standings(self.pool, sorted(players))
            self.stored |= stored
            self.standings |= standing_rows.standings_before(self.pool, stored, self.start)
            self._met |= players

    def meet_pool(self) -> ledger_rows.PoolState | None:
        """Look up the pool's state before the plan's start; None where it is a new pool's."""
        return ledger_rows.newest_pool_state(self.pool, self.start)

    def meet_all(self) -> None:
        rated = self.pool.execute(standing_rows.SELECT_RATED_PLAYERS).scalars()
        self.meet(set(rated) - self._met)
