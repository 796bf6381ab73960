"""Events in the order of rating, which is that of (start, log sequence), and what rating them gives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import sqlalchemy as sa

from podium.engine.replay import Replayed
from podium.engine.tables.encoding import Events
from podium.engine.tables.things import kind_and_name
from podium.errors import NotFiniteError
from podium.ledger.history import changes
from podium.ledger.reasons.standings import event_ranks
from podium.log.content import SMALL_BODY_ROWS, is_numbered, read_bodies
from podium.log.players import merges, present_names
from podium.log.pools import BOUND_KEY, FOREVER, START, OrderKey, Pool, PoolView, key_of
from podium.log.schema import event, log, season
from podium.log.statements import of_pool
from podium.pool.roster import Roster, as_table, entrant_numbers
from podium.results.columns import FOR_PAGES
from podium.results.hashing import index_type, run_bounds, surely_distinct_within
from podium.results.reading import Results
from podium.store.writing.rating.events import RATED, SUPERSEDED, UNRATED, VOIDED, Proposal
from podium.store.writing.rating.ledger_rows import NO_RANK, Ledger, PoolStates, joined, packed_states

NOT_FINITE = "not_finite"  # why an event is not rated that would make a rating no finite number
PLAYER_TWICE = "player_twice"  # why an event is not rated that an older log holds with one player twice in a heat
UNRATEABLE = (NOT_FINITE, PLAYER_TWICE)
EVENTS_AFTER_FAILURE = 64  # that are tried together after one that cannot be rated
NO_LIMIT = 2**62  # events
IS_COUNTED = sa.and_(event.c.status != VOIDED, event.c.status != SUPERSEDED)
SELECT_EVENTS_FROM = (
    sa.select(event.c.event_id, event.c.started_at, event.c.seq, event.c.status, event.c.reason, log.c.body)
    .join(log, log.c.seq == event.c.content_seq)
    .where(of_pool(event), IS_COUNTED, key_of(event) >= BOUND_KEY)
    .order_by(event.c.started_at, event.c.seq)
    .limit(sa.bindparam("limit", NO_LIMIT))
)
SELECT_RATEABLE_EVENTS = SELECT_EVENTS_FROM.add_columns(*(event.c[name] for name in FOR_PAGES)).where(
    event.c.reason.not_in(UNRATEABLE)
)
SELECT_RESETS = (
    sa.select(season.c.started_at, season.c.seq, season.c.keep)
    .where(of_pool(season), key_of(season) >= BOUND_KEY)
    .order_by(season.c.started_at, season.c.seq)
)


class LongWorkError(Exception):
    """More events are to be rated than one transaction may take; never seen by callers of the store."""


@dataclass(frozen=True, slots=True)
class RatedBatch:
    parts: list[Ledger] = field(default_factory=list)  # in the order of rating
    pools: PoolStates = field(default_factory=dict)  # the pool's state after each event, where the system has one
    not_finite: dict[str, NotFiniteError] = field(default_factory=dict)  # by event, which changes nothing

    @property
    def ledger(self) -> Ledger:
        return joined(self.parts)


class StoredEvent(NamedTuple):
    """An event that counts, as it is stored: what `SELECT_EVENTS_FROM` selects, in its order."""

    event_id: str
    started_at: int  # microseconds since 1970, UTC
    seq: int
    status: str
    reason: str
    body: bytes


class Reset(NamedTuple):
    key: OrderKey
    keep: float  # the share


class EventBatch(NamedTuple):
    """Events that are to be rated, and what else it takes to rate them."""

    events: Sequence[Any]  # of `StoredEvent`, or of `EventRow` where a proposal has it
    resets: Sequence[Reset]
    merged: Mapping[int, int]  # the account that each merged one plays on as
    end: OrderKey  # that follows them


@dataclass(frozen=True, slots=True)
class SeasonSegment:
    """Events between two resets, and the reset at their end, if there is one."""

    events: Sequence[Any]
    table: pl.DataFrame  # the rows of the events, but for those in `duplicate_players`; `seq` is the event's
    reset: Reset | None
    duplicate_players: Mapping[str, int]  # by event, which cannot be rated, the player who stands twice in it


def events_from(pool: PoolView, first: OrderKey, limit: int = NO_LIMIT) -> tuple[list[SeasonSegment], OrderKey]:
    """The events from a key on that count, so many at most, with their rows; and the key that follows them."""
    batch = choose_events(pool, first, limit)
    return segments_of(batch), batch.end


def choose_events(
    pool: PoolView,
    first: OrderKey,
    limit: int = NO_LIMIT,
    proposal: Proposal | None = None,
    *,
    refuse_more: bool = False,
) -> EventBatch:
    """The events from a key on that count, in the order of rating; a LongWorkError where too many are refused."""
    found = pool.run(SELECT_EVENTS_FROM, **first._asdict(), limit=limit)
    events: Sequence[Any] = [*map(StoredEvent._make, found)]
    end = FOREVER if len(events) < limit else OrderKey(events[-1].started_at, events[-1].seq + 1)
    if refuse_more and end != FOREVER:
        raise LongWorkError
    every_reset = [Reset(OrderKey(*key), keep) for *key, keep in pool.run(SELECT_RESETS, **first._asdict())]
    merged = merges(pool)
    if proposal is not None:
        others = [row for row in events if row.event_id not in proposal.events]
        rows = [*others, *proposal.counting_events(pool, first, end)]
        events = sorted(rows, key=lambda row: (row.started_at, row.seq))
        season = proposal.season
        if season is not None:
            every_reset.append(Reset(OrderKey(season.started_at, season.seq), season.keep))
            every_reset.sort()
        merged = merged if proposal.merged is None else dict(proposal.merged)
    return EventBatch(events, [reset for reset in every_reset if first <= reset.key < end], merged, end)


def segments_of(batch: EventBatch) -> list[SeasonSegment]:
    """The rows of events, parted where seasons begin."""
    segments, start, events = list[SeasonSegment](), 0, batch.events
    for reset in [*batch.resets, None]:
        stop = start
        while stop < len(events) and (reset is None or OrderKey(events[stop].started_at, events[stop].seq) < reset.key):
            stop += 1
        chosen = events[start:stop]
        table = read_bodies(((row.body, row.started_at) for row in chosen), seq=[row.seq for row in chosen])
        if batch.merged and table.height:
            ends = {str(k): str(v) for k, v in batch.merged.items()}
            table = table.with_columns(pl.col([*filter(is_numbered, table.columns)]).replace(ends))
        duplicate_players = find_duplicate_players(table)
        if duplicate_players:
            table = table.filter(~pl.col("event_id").is_in(list(duplicate_players)))
        segments.append(SeasonSegment(chosen, table, reset, duplicate_players))
        start = stop
    return segments


def counting_results(pool: PoolView) -> Results:
    """Read the results that count, as they stand.

    Returns:
        A table that any replay rates to the same bits, but for seasons.
    """
    rows = pool.execute(SELECT_RATEABLE_EVENTS, **START._asdict()).all()
    table = with_names(pool, read_bodies((row.body, row.started_at) for row in rows))
    for name in FOR_PAGES:
        values = {row.event_id: value for row in rows if (value := getattr(row, name)) is not None}
        if values:
            named = pl.col("event_id").replace_strict(values, default=None, return_dtype=pl.String)
            table = table.with_columns(named.alias(name))
    return Results(as_table(pool, table), pool.name)


def with_names(pool: PoolView, table: pl.DataFrame) -> pl.DataFrame:
    """The table with players and things by their current names instead of numbers."""
    if table.is_empty():
        return table
    is_small, columns = table.height <= SMALL_BODY_ROWS, [*filter(is_numbered, table.columns)]
    named = [{*table[name].to_list()} if is_small else table[name].unique() for name in columns]
    numbers = {int(each) for some in named for each in some if each is not None}
    name_of = {str(number): kind_and_name(name)[1] for number, name in present_names(pool, numbers).items()}
    if is_small:  # without an expression, which takes ten times as long for one event
        renamed = {name: pl.Series(name, map(name_of.get, table[name].to_list()), pl.String) for name in columns}
        return pl.DataFrame([renamed.get(column.name, column) for column in table])
    return table.with_columns(pl.col(columns).replace_strict(name_of, return_dtype=pl.String))


def find_duplicate_players(table: pl.DataFrame) -> dict[str, int]:
    """By event, the first player who stands twice in a heat of it; no event where nobody does."""
    has_heats, seq = "heat" in table.columns, table["seq"].to_numpy()
    places = table["player"] + "\n" + table["heat"].fill_null("") if has_heats else table["player"]
    if surely_distinct_within(places, np.cumsum(run_bounds(seq)[:-1], dtype=index_type(seq.size))):
        return {}
    keys = ["event_id", "player", *(["heat"] if has_heats else [])]
    doubles = table.filter(table.select(keys).is_duplicated())
    return {event_id: int(number) for event_id, number in reversed(doubles.select("event_id", "player").rows())}


def rate_segments(pool: Pool, roster: Roster, segments: Sequence[SeasonSegment]) -> RatedBatch:
    rated = RatedBatch()
    for segment in segments:
        if segment.table.height:
            rate_segment(pool, roster, segment, rated)
        if segment.reset is not None:
            rated.parts.append(reset_ledger(roster, segment.reset))
    for part in rated.parts:
        roster.note(part)
    return rated


def rate_segment(pool: Pool, roster: Roster, segment: SeasonSegment, rated: RatedBatch) -> None:
    """Rate a segment's events, but for those that cannot be rated, and add their ledger to what is rated."""
    ids = [row.event_id for row in segment.events if row.event_id not in segment.duplicate_players]
    start, count = 0, len(ids)
    while start < len(ids):
        batch = ids[start : start + count]
        table = segment.table if len(batch) == len(ids) else segment.table.filter(pl.col("event_id").is_in(batch))
        try:
            rate_events(pool, roster, table, rated)
        except NotFiniteError as error:
            # Events before it are rated next; then those after it, more at a time as long as all goes well.
            failed = batch.index(str(error.event_id))
            if failed:
                before = segment.table.filter(pl.col("event_id").is_in(batch[:failed]))
                rate_events(pool, roster, before, rated)
            rated.not_finite[batch[failed]] = error
            start, count = start + failed + 1, EVENTS_AFTER_FAILURE
        else:
            start, count = start + len(batch), 2 * count


def rate_events(pool: Pool, roster: Roster, table: pl.DataFrame, rated: RatedBatch) -> None:
    """Rate events by the roster, which moves on, and add what that gives; where one cannot be rated, nothing moves."""
    events, replayed = roster.advance(Results(as_table(pool, table), pool.name), table["started_at"])
    before, after = changes(pool.system, events, replayed)
    row = events.ledger.row.array
    seq = table["seq"].to_numpy()[row]
    starts = np.flatnonzero(np.diff(seq, prepend=-1))  # of events, each with a number of its own
    place = np.arange(1, seq.size + 1) - np.repeat(starts, np.diff(starts, append=seq.size))
    ledger = Ledger(
        started_at=table["started_at"].to_physical().to_numpy()[row],
        seq=seq,
        player=table["player"].cast(pl.Int64).to_numpy()[row],
        place=place,
        before=np.ascontiguousarray(before),
        rating=np.ascontiguousarray(after[:, pool.system.column("rating")]),
        state=packed_states(after),
        **event_ranks(events)._asdict(),
    )
    rated.parts.append(with_things(pool, events, replayed, ledger) if events.columns.kind.size else ledger)
    if replayed.pool_history.size:
        keys = map(OrderKey, ledger.started_at[starts].tolist(), seq[starts].tolist())
        rated.pools.update(zip(keys, packed_states(replayed.pool_history).tolist(), strict=True))


def with_things(pool: Pool, events: Events, replayed: Replayed, ledger: Ledger) -> Ledger:
    where = np.flatnonzero(events.columns.kind)
    event = np.searchsorted(events.columns.entrants, where, "right") - 1  # each settles by itself
    starts = ledger.starts
    sizes = np.diff(starts, append=len(ledger))
    after = replayed.after[where]
    things = Ledger(
        started_at=ledger.started_at[starts[event]],
        seq=ledger.seq[starts[event]],
        player=entrant_numbers(events.player_names)[events.columns.player[where]],
        place=sizes[event] + 1,
        before=np.ascontiguousarray(replayed.before[where]),
        rating=np.ascontiguousarray(after[:, pool.system.column("rating")]),
        state=packed_states(after),
        rank=np.full(where.size, NO_RANK),
        field=ledger.field[starts[event]],
    )
    both = joined([ledger, things])
    return both.at(np.argsort(np.concatenate([np.repeat(np.arange(starts.size), sizes), event]), kind="stable"))


def reset_ledger(roster: Roster, reset: Reset) -> Ledger:
    """Reset the roster, and return the ledger of the reset: a row for every player who has a rating."""
    players, before, after = roster.reset(reset.keep)
    count, rating = players.size, roster.system.column("rating")
    none = np.zeros(count, np.int64)
    return Ledger(
        started_at=np.full(count, reset.key.started_at),
        seq=np.full(count, reset.key.seq),
        player=players,
        place=none,
        before=np.ascontiguousarray(before[:, rating]),
        rating=np.ascontiguousarray(after[:, rating]),
        state=packed_states(after),
        rank=none,
        field=none,
    )


def statuses_of(
    pool: Pool, segments: Sequence[SeasonSegment], rated: RatedBatch
) -> Iterator[tuple[Any, tuple[str, str]]]:
    """Each event's row, with its status and reason by what is rated."""
    in_ledger = set[int]().union(*(np.unique(part.seq).tolist() for part in rated.parts))
    for segment in segments:
        unrated = [row.event_id for row in segment.events if row.seq not in in_ledger]
        why: dict[str, str] = {}
        if unrated:
            why = reasons(pool, segment.table, unrated) | dict.fromkeys(rated.not_finite, NOT_FINITE)
            why |= dict.fromkeys(segment.duplicate_players, PLAYER_TWICE)
        for row in segment.events:
            yield row, (UNRATED, why[row.event_id]) if row.event_id in why else (RATED, "")


def reasons(pool: Pool, table: pl.DataFrame, unrated: list[str]) -> dict[str, str]:
    rows = table.filter(pl.col("event_id").is_in(unrated))
    ranked = pl.col("ranked").any() if "ranked" in table.columns else pl.lit(value=True)
    finished = (pl.col("status") == "finished").any()
    events = rows.group_by("event_id").agg(ranked.alias("ranked"), finished.alias("finished"))
    reason_of = {}
    for event_id, is_ranked, has_finisher in events.iter_rows():
        lacks_finisher = pool.system.needs_finisher and not has_finisher
        reason_of[event_id] = (
            "unranked" if not is_ranked else "nobody_finished" if lacks_finisher else "too_few_entrants"
        )
    return reason_of
