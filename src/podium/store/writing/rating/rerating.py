"""Everything that derives from the log, brought up to date from an event on, in the open transaction.

Only what changed is written. What would take long is refused: it is planned first (`podium.store.writing.staging`).
"""

import heapq
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
import sqlalchemy as sa

from podium.engine.tables.things import called
from podium.errors import NotFiniteError, ParameterError
from podium.log.players import names_of
from podium.log.pools import BOUND_KEY, START, OrderKey, PoolView
from podium.log.schema import correction, event, generation
from podium.log.statements import among, is_thing, of_pool
from podium.store.writing.rating import ledger_rows
from podium.store.writing.rating.events import MovedTo, Proposal
from podium.store.writing.rating.plan import Plan, Span
from podium.store.writing.rating.standing_rows import refresh_standings
from podium.support.answers import answer, described

MAX_EFFECTS = 1_000  # of an answer
SELECT_EVENT_IDS = sa.select(event.c.event_id, event.c.started_at, event.c.seq).where(
    of_pool(event), among(event.c.started_at)
)


@answer
class Totals:
    """How much moved, or would move."""

    events: int = described("Events with a change that moved; seasons are among them.")
    players: int = described("Players who have one.")
    changes: int = described("Changes that are new, other or gone.")
    largest: float = described("The most that the rating after any one change moved; or 0.")


NOTHING = Totals(0, 0, 0, 0.0)


@dataclass(slots=True)
class Rerated:
    """What a new rating moved, without the ledger."""

    wanted: Mapping[OrderKey, str]  # the events that are answered
    events: int = 0  # that were rated again
    written: int = 0  # rows of the ledger that are new or other
    removed: int = 0  # rows that are gone
    largest: float = 0.0
    moved_events: int = 0
    own_keys: set[tuple[int, int]] = field(default_factory=set)  # with changes, of the wanted events: old and new ones
    players: set[int] = field(default_factory=set)
    statuses: dict[str, tuple[str, str]] = field(default_factory=dict)  # of the wanted events that were rated again
    rows: dict[OrderKey, list[MovedTo]] = field(default_factory=dict)  # the changes of the wanted events, by place
    written_at: Counter[OrderKey] = field(default_factory=Counter)  # how many of each wanted event are new or other
    not_finite: list[NotFiniteError] = field(default_factory=list)  # of events that could be rated before
    duplicate_players: dict[OrderKey, tuple[str, int]] = field(default_factory=dict)  # event, who stands twice in it
    relearnt: int = 0  # events, but for the wanted ones, after which the pool has another state than before

    @classmethod
    def of_span(cls, wanted: Mapping[OrderKey, str], span: Span) -> Self:
        removed, written = span.removed, span.written
        moved = {(started_at, seq) for started_at, seq, _ in removed}
        starts = written.starts
        moved.update(zip(written.started_at[starts].tolist(), written.seq[starts].tolist(), strict=True))
        known = ((key, state) for key, state in span.old_pools.items() if key not in wanted)
        own_seqs = {key.seq for key in wanted}
        rerated = cls(
            wanted,
            events=len(span.statuses),
            written=len(written),
            removed=len(removed),
            largest=largest_move(span),
            moved_events=len(moved),
            own_keys={key for key in moved if key[1] in own_seqs},
            players={each for each in {*written.player.tolist(), *(who for *_, who in removed)} if not is_thing(each)},
            not_finite=[*span.not_finite],
            duplicate_players=dict(span.duplicate_players),
            relearnt=sum(span.new_pools.get(key, state) != state for key, state in known),
        )
        if wanted:
            statuses = ((row, status) for row, status in span.statuses if (row.started_at, row.seq) in wanted)
            rerated.statuses = {row.event_id: status for row, status in statuses}
            rerated.take_rows(span.new, span.is_written)
        return rerated

    @property
    def notice(self) -> str:
        """A sentence on what moves with the pool's state; empty where later events keep theirs, or have none."""
        if not self.relearnt:
            return ""
        events = "1 later event is" if self.relearnt == 1 else f"all {self.relearnt:,} later events are"
        return f"What the system has learnt of the pool is other than before, so {events} rated anew."

    @property
    def totals(self) -> Totals:
        at_both = len(self.own_keys) - len({seq for _, seq in self.own_keys})  # events that have another time now
        return Totals(self.moved_events - at_both, len(self.players), self.written + self.removed, self.largest)

    def take_rows(self, ledger: ledger_rows.Ledger, is_written: ledger_rows.Mask) -> None:
        """Take in the changes of the events that are answered."""
        columns = ledger.player, ledger.before, ledger.rating, ledger.state
        moved: list[MovedTo] = [*zip(*(column.tolist() for column in columns), strict=True)]
        if moved and ledger.seq[0] == ledger.seq[-1]:  # one event, as nearly always
            self.take_event(OrderKey(int(ledger.started_at[0]), int(ledger.seq[0])), moved, int(is_written.sum()))
            return
        starts = ledger.starts
        keys = zip(ledger.started_at[starts].tolist(), ledger.seq[starts].tolist(), strict=True)
        stops = [*starts.tolist(), len(ledger)][1:]
        counts = np.add.reduceat(is_written, starts, dtype=np.int64).tolist() if starts.size else []
        for key, start, stop, written in zip(keys, starts.tolist(), stops, counts, strict=True):
            self.take_event(OrderKey(*key), moved[start:stop], written)

    def take_event(self, key: OrderKey, moved: list[MovedTo], written: int) -> None:
        """Take in the changes of an event, if it is answered, of which so many are new or other."""
        if key in self.wanted:
            self.rows[key] = [each for each in moved if not is_thing(each[0])]
            self.written_at[key] = written

    def merge(self, later: Self) -> None:
        """Take in what was rated after it."""
        self.events += later.events
        self.written += later.written
        self.removed += later.removed
        self.moved_events += later.moved_events
        self.own_keys |= later.own_keys
        self.largest = max(self.largest, later.largest)
        self.players |= later.players
        self.statuses |= later.statuses
        self.rows |= later.rows
        self.written_at |= later.written_at
        self.not_finite += later.not_finite
        self.duplicate_players |= later.duplicate_players
        self.relearnt += later.relearnt


def largest_move(span: Span) -> float:
    """The most that the rating after any one change is off what it was; one that is new, or gone, moved by itself."""
    both = span.is_written & (span.counterparts >= 0)
    added = span.is_written & (span.counterparts < 0)
    new, old = span.new, span.old
    gone = old.unmatched(span.counterparts)
    moves = np.abs(
        np.concatenate(
            [
                new.rating[both] - old.rating[span.counterparts[both]],
                new.rating[added] - new.before[added],
                old.rating[gone] - old.before[gone],
            ]
        )
    )
    return float(moves[np.isfinite(moves)].max(initial=0.0))


@answer
class Effect:
    """How a change moves."""

    event_id: str | None = described("The event; null where a season began.")
    player: str = described("The player's name as it is now.")
    rating_was: float | None = described("The rating after the event until now; null if none.")
    rating: float | None = described("The rating after it from now on; null if none.")


class Size(NamedTuple):
    """How large an effect is, and which: the order of effects, the largest last."""

    move: float  # of the rating; infinite where there was, or is to be, no change
    key: ledger_rows.LedgerKey


class LargestEffects:
    """The largest effects of a new rating, so many at most, after a cursor."""

    def __init__(self, after: str | None = None) -> None:
        self._limit = None if after is None else parse_cursor(after)
        self._heap: list[tuple[Size, float | None, float | None]] = []
        self._has_more = False

    def add(self, span: Span) -> None:
        for key, was, now in moves(span):
            move = math.inf if was is None or now is None else abs(now - was)
            size = Size(math.inf if math.isnan(move) else move, key)
            if self._limit is not None and size >= self._limit:
                continue
            if len(self._heap) < MAX_EFFECTS:
                heapq.heappush(self._heap, (size, was, now))
            else:
                self._has_more = True
                if size > self._heap[0][0]:
                    heapq.heapreplace(self._heap, (size, was, now))

    @property
    def next(self) -> str | None:
        """The cursor of the page that follows; None where this is the last."""
        if not self._has_more:
            return None
        size = self._heap[0][0]
        return ",".join(map(repr, (size.move, *size.key)))

    def listed(self, pool: PoolView, proposal: Proposal) -> tuple[Effect, ...]:
        chosen = sorted(self._heap, key=lambda each: each[0].key)
        ids = event_ids(pool, proposal, {size.key[0] for size, _, _ in chosen})
        names = names_of(pool, {size.key[2] for size, _, _ in chosen}) | dict(proposal.newcomers)
        return tuple(Effect(ids.get(size.key[:2]), called(names[size.key[2]]), was, now) for size, was, now in chosen)


def event_ids(pool: PoolView, proposal: Proposal, starts: Collection[int]) -> dict[tuple[int, int], str]:
    """The ids of the events that start at these moments, and of those that are proposed, by start and sequence."""
    rows = pool.execute(SELECT_EVENT_IDS, among=starts).all() if starts else []
    stored = {(row.started_at, row.seq): row.event_id for row in rows}
    return stored | {(each.started_at, each.seq): each.event_id for each in proposal.events.values()}


def moves(span: Span) -> Iterator[tuple[ledger_rows.LedgerKey, float | None, float | None]]:
    """Each change that is new, other or gone, with the rating after it until now, and from now on."""
    old = span.old.rating.tolist()
    keys = zip(*(key.tolist() for key in span.new.keys), strict=True)
    columns = span.new.rating.tolist(), span.counterparts.tolist(), span.is_written.tolist()
    for key, now, counterpart, is_written in zip(keys, *columns, strict=True):
        if is_written:
            yield key, old[counterpart] if counterpart >= 0 else None, now
    ratings = dict(zip(zip(*(key.tolist() for key in span.old.keys), strict=True), old, strict=True))
    yield from ((key, ratings[key], None) for key in span.removed)


def parse_cursor(text: str) -> Size:
    try:
        move, started_at, seq, player = text.split(",")
        return Size(float(move), (int(started_at), int(seq), int(player)))
    except ValueError:
        raise ParameterError(f"{text!r} is not the `next` of a page of effects") from None


SHORT_EVENTS = 5_000  # that one transaction may rate again
SPAN_EVENTS = 1_000  # that are planned together otherwise: their ledger is in memory at once
UPDATE_STATUS = (
    sa.update(event)
    .where(of_pool(event), event.c.event_id == sa.bindparam("event"))
    .values(status=sa.bindparam("status"), reason=sa.bindparam("reason"))
)


FIRST_AFFECTED_KEY = sa.tuple_(generation.c.touched_at, generation.c.touched_seq)
UPDATE_FIRST_AFFECTED = (
    sa.update(generation)
    .where(
        generation.c.id == sa.bindparam("number"),
        sa.or_(generation.c.touched_at.is_(None), FIRST_AFFECTED_KEY > BOUND_KEY),
    )
    .values(touched_at=sa.bindparam("started_at"), touched_seq=sa.bindparam("seq"))
)


def rerate(
    pool: PoolView, first: OrderKey, wanted: Mapping[OrderKey, str] | None = None, *, refuse_long: bool = False
) -> Rerated:
    """Rate the events from `first` on, and write what changed; a LongWorkError where there are more than may be."""
    if pool.staging is not None:  # leave with the generation that is being staged from where on the pool is rated again
        pool.connection.execute(UPDATE_FIRST_AFFECTED, {"number": pool.staging} | first._asdict())
    plan, rerated = Plan(pool, first), Rerated(wanted or {})
    while not plan.is_over:
        span = plan.span(pool.connection, SHORT_EVENTS + 1, refuse_more=refuse_long)
        ledger_rows.write_changes(pool, span.removed, span.added, span.replaced)
        if pool.system.pool_fields:
            ledger_rows.write_pool_states(pool, span.old_pools, span.new_pools)
        update_statuses(pool, ((row.event_id, status) for row, status in span.moved_statuses))
        rerated.merge(Rerated.of_span(rerated.wanted, span))
    if first == START and not pool.system.pool_fields:  # the system before may have had states
        pool.connection.execute(ledger_rows.DELETE_STATES, {"generation": pool.generation})
    refresh_standings(pool, plan.stored, plan.standings, is_new_system=first == START)
    return rerated


def update_statuses(pool: PoolView, statuses: Iterable[tuple[str, tuple[str, str]]]) -> None:
    rows = [
        {"pool": pool.id, "event": event_id, "status": status, "reason": reason}
        for event_id, (status, reason) in statuses
    ]
    if rows:
        pool.connection.execute(UPDATE_STATUS, rows)


def record(pool: PoolView, seq: int, rerated: Rerated | None) -> None:
    moved = NOTHING if rerated is None else rerated.totals
    row = {"events": moved.events, "players": moved.players, "largest": moved.largest}
    pool.connection.execute(sa.insert(correction), {"pool_id": pool.id, "seq": seq} | row)
