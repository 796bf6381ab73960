"""Recalculate a pool's ratings from the first affected event on, and compare them with the previous ratings."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import polars as pl

from podium.engine.heats import encode_small, entries_of
from podium.engine.replay import NEVER, Replayed, by_columns, replay_updates
from podium.errors import NotFiniteError
from podium.log.content import holds_player_numbers
from podium.pool.batches import (
    NOT_FINITE,
    PLAYER_TWICE,
    Batch,
    joined,
    of_events,
    players_twice,
    rate_batch,
    reasons_of,
    rows_of_season,
)  # fmt: skip
from podium.pool.columns import NONE, numbers_of, slot_of, slots_of
from podium.pool.fold import Draft
from podium.pool.roster import Roster, entering_states
from podium.pool.snapshot import RATED, ROW_TYPES, SEASON, UNRATED, Snapshot, are_counting, without_ratings
from podium.support.arrays import Array

SPAN_EVENTS = 5_000  # number of events in the first span; other threads can run between spans
SPAN_ROWS = 50_000  # after a span with fewer events and ledger rows, the next span has twice as many events
ENDS = 2  # bounds of the only span in a pool without seasons
MAX_SINGLE_ROWS = 64  # a larger event is rated as a batch


@dataclass
class Ratings:
    """The ledger rows of the recalculated events, in the order of rating."""

    position: int  # position of the first of these events in the order of rating
    first_row: int  # the events' first row in the ledger
    # columns of `ROW_TYPES` without `previous`, and `state`
    parts: list[dict[str, Array]] = field(default_factory=list)
    lengths: list[Array] = field(default_factory=list)  # number of rows of each event
    fields: list[Array] = field(default_factory=list)  # number of rated entrants in each event
    learnt: list[Array] = field(default_factory=list)  # state of the pool after each event
    # status and reason of the events whose status or reason has changed, by uid
    statuses: dict[int, tuple[int, int]] = field(default_factory=dict)
    errors: dict[int, NotFiniteError] = field(default_factory=dict)  # errors of events that cannot be rated, by uid
    twice: dict[int, int] = field(default_factory=dict)  # number of the player who appears twice in an event, by uid


def rate(draft: Draft) -> tuple[Snapshot, Ratings]:
    """Return the snapshot that results from a draft, and the ratings that had to be calculated for it."""
    base, events = draft.base, draft.events()
    if draft.pool.system != base.pool.system:
        base = without_ratings(base, draft.pool)
    position = draft.position
    first_row = base.row_at(position)
    after = replace(
        base, pool=draft.pool, seq=draft.seq, events=events, contents=draft.contents,
        direct_merges=draft.direct_merges, merged=draft.merged,
        direct_starts=extended(base.direct_starts, draft.new_starts),
        details=extended(base.details, draft.new_details), carried=base.carry(first_row),
    )  # fmt: skip
    if position == events.size == base.events.size:
        return after, Ratings(position, base.rows.size)
    ratings = Ratings(position, first_row)
    # new starting ratings count for players without earlier events
    rater = Rater(replace(base, merged=after.merged, direct_starts=after.direct_starts), after, ratings)
    uids = draft.uids_from(position, events.columns)
    first, count = 0, SPAN_EVENTS
    while first < uids.size:
        rater.rate_span(uids[first : first + count])
        first += count
        if ratings.lengths[-1].sum() < SPAN_ROWS > count:
            count *= 2
    return assembled(base, after, ratings, uids), ratings


Fact = TypeVar("Fact")


def extended(known: Mapping[int, Fact], new: Mapping[int, Fact]) -> Mapping[int, Fact]:
    """Return the known facts with new ones. Without new ones, snapshots share the mapping."""
    return {**known, **new} if new else known


class Rater:
    """Rates events one span at a time, and keeps the states of all players from one span to the next."""

    def __init__(self, base: Snapshot, after: Snapshot, ratings: Ratings) -> None:
        self.base, self.after, self.first_row, self.ratings = base, after, ratings.first_row, ratings
        self.system = after.pool.system
        self.pool_state = base.pool_state(ratings.position)
        is_long = after.events.size - ratings.position > SPAN_EVENTS
        self.everyone = None
        if is_long:
            numbers = np.concatenate([after.contents.numbers(), [*after.merged.values()]]).astype(np.int64)
            self.everyone = roster_before(base, ratings.position, np.union1d(slots_of(numbers), base.slots))

    def rate_span(self, uids: Array) -> None:
        """Rate consecutive events and seasons."""
        if self.everyone is None and uids.size == 1 and self.rate_single(int(uids[0])):
            return
        columns, system = self.after.events.columns, self.system
        status = columns.at("status", uids)
        is_season = status == SEASON
        counting = are_counting(status)
        table = results_of(self.after, uids[counting], pl.String if system.kinds else pl.Int64)
        twice = players_twice(table) if table.height else {}
        if twice:
            table = table.filter(~pl.col("uid").is_in([*twice]))
        roster = self.everyone
        if roster is None:
            slots = slots_of(np.unique(numbers_in(table)))
            slots = np.union1d(slots, self.base.slots) if is_season.any() else slots
            roster = roster_before(self.base, self.ratings.position, slots)
        roster.pool = self.pool_state
        batch = Batch()
        bounds = [0, *(np.flatnonzero(is_season) + 1).tolist(), uids.size]
        for first, last in pairwise(bounds):
            part = table if len(bounds) == ENDS else of_events(table, uids[first:last])
            if part.height:
                rate_batch(self.after.pool, roster, part, batch)
            if last > first and is_season[last - 1]:
                uid = int(uids[last - 1])
                batch.rows.append(rows_of_season(uid, roster, self.after.events.seasons[uid]))
        before, self.pool_state = self.pool_state[0], roster.pool
        rows = joined(batch.rows, len(system.state_type._fields))
        starts = np.flatnonzero(np.diff(rows["event"], prepend=-1))
        where = positions_of(rows["event"][starts], uids)
        lengths, fields = np.zeros(uids.size, np.int64), np.zeros(uids.size, np.int64)
        lengths[where], fields[where] = np.diff(starts, append=rows["event"].size), rows.pop("field")[starts]
        self.ratings.parts.append(rows)
        self.ratings.lengths.append(lengths)
        self.ratings.fields.append(fields)
        self.note_statuses(uids[counting], lengths[counting] > 0, table, twice, batch.errors)
        if system.pool_fields:
            states = np.empty((uids.size, system.pool_fields))
            for place, uid in enumerate(uids.tolist()):
                before = states[place] = batch.learnt.get(uid, before)
            self.ratings.learnt.append(states)

    def note_statuses(
        self, uids: Array, rated: Array, table: pl.DataFrame, twice: Mapping[int, int], errors: Mapping[int, Any]
    ) -> None:
        """Record each status that has changed."""
        columns = self.after.events.columns
        was_unrated = columns.at("status", uids) == UNRATED
        self.ratings.statuses |= dict.fromkeys(uids[was_unrated & rated].tolist(), (RATED, 0))
        without = uids[~rated]
        if not without.size:
            return
        why = reasons_of(self.after.pool, table, without.tolist())
        why = {**why, **dict.fromkeys(errors, NOT_FINITE), **dict.fromkeys(twice, PLAYER_TWICE)}
        was = zip(columns.at("status", without).tolist(), columns.at("reason", without).tolist(), strict=True)
        for uid, old in zip(without.tolist(), was, strict=True):
            if old != (UNRATED, why[uid]):
                self.ratings.statuses[uid] = UNRATED, why[uid]
        self.ratings.errors |= errors
        self.ratings.twice |= twice

    def rate_single(self, uid: int) -> bool:
        """Rate an event by a faster method if it is the only event in all spans.

        Return False if the event must be rated in a batch.
        """
        columns, pool = self.after.events.columns, self.after.pool
        if columns.value("status", uid) not in (RATED, UNRATED):
            return False
        rows = self.after.contents.rows(int(columns.value("content", uid)))
        if (
            rows is None
            or len(rows) > MAX_SINGLE_ROWS
            or any(holds_player_numbers(name) for row in rows for name in row.keys() - {"player"})
        ):
            return False
        for row in rows:
            row["player"] = self.after.merged.get(row["player"], row["player"])
        entries = entries_of(rows, self.system) if len({row["player"] for row in rows}) == len(rows) else None
        if entries is None:
            return False
        slots = np.array([slot_of(row["player"]) for row in entries])
        newest = self.base.newest_rows(self.first_row, slots)
        known = newest >= 0
        states = entering_states(self.system, numbers_of(slots), self.base.starts)
        states[known] = self.base.rows.at("state", newest[known])
        started_at = int(columns.value("started_at", uid))
        seen = self.base.played_at(newest)
        seen[seen == NEVER] = started_at
        encoded = encode_small(rows, entries, self.system, pool.name, None if pool.is_undated else started_at, seen)
        history = np.empty((1, self.pool_state.shape[1]))
        replayed = Replayed(
            states, np.empty(slots.size), by_columns(*states.shape), None, self.pool_state.copy(), history
        )
        try:
            replay_updates(self.system, encoded, 0, 1, replayed)
        except NotFiniteError:
            return False
        rank = encoded.rank if encoded.rank.size else encoded.place
        size = slots.size
        self.ratings.parts.append({
            "event": np.full(size, uid), "slot": slots, "rank": rank.astype(np.int32),
            "place": np.arange(1, size + 1), "before": replayed.before, "state": replayed.after,
        })  # fmt: skip
        self.ratings.lengths.append(np.array([size]))
        self.ratings.fields.append(np.array([size]))
        if history.size:
            self.ratings.learnt.append(history)
        if columns.value("status", uid) == UNRATED:
            self.ratings.statuses[uid] = RATED, 0
        return True


def results_of(snapshot: Snapshot, uids: Array, players: Any = pl.String) -> pl.DataFrame:
    """Return the results of events after resolving merged accounts. `event_id` contains the uid.

    Args:
        snapshot: the pool.
        uids: the events.
        players: the type of players and of `event_id`. Numbers are faster, but names of equipment need strings.
    """
    table = sent_results_of(snapshot, uids, players)
    if not snapshot.merged or table.is_empty():
        return table
    ends = (pl.Series([*numbers]).cast(players) for numbers in (snapshot.merged.keys(), snapshot.merged.values()))
    return table.with_columns(pl.col([*filter(holds_player_numbers, table.columns)]).replace(*ends))


def sent_results_of(snapshot: Snapshot, uids: Array, players: Any = pl.String) -> pl.DataFrame:
    """Return the results of events as `results_of` does, but as they were sent, without resolving merges."""
    columns, ids = snapshot.events.columns, pl.Series(uids)
    return snapshot.contents.table(
        columns.at("content", uids), players, event_id=ids.cast(players), started_at=columns.at("started_at", uids),
        uid=ids,
    )  # fmt: skip


def roster_before(snapshot: Snapshot, position: int, slots: Array) -> Roster:
    """Return the states of these players and equipment, and the state of their pool, before a position."""
    numbers = np.sort(numbers_of(slots))
    roster = Roster.of_newcomers(snapshot.pool.system, numbers, snapshot.starts)
    rows = snapshot.rows_before(position, slots_of(numbers))
    known = rows >= 0
    roster.states[known] = snapshot.rows.at("state", rows[known])
    roster.played_at, roster.pool = snapshot.played_at(rows), snapshot.pool_state(position)
    return roster


def positions_of(values: Array, among: Array) -> Array:
    """Return the position of each value in an array of distinct values."""
    order = np.argsort(among)
    found: Array = order[np.searchsorted(among[order], values)]
    return found


def numbers_in(table: pl.DataFrame) -> Array:
    """Return the numbers of the players and equipment that appear in a table's rows."""
    columns = [
        table[name].drop_nulls().cast(pl.Int64).to_numpy() for name in table.columns if holds_player_numbers(name)
    ]
    return np.concatenate([np.empty(0, np.int64), *columns])


def assembled(base: Snapshot, after: Snapshot, ratings: Ratings, uids: Array) -> Snapshot:
    """Return the snapshot with the new ledger rows, which belong to these events, after the rows that stay."""
    position, first_row = ratings.position, ratings.first_row
    names = [*(name for name in ROW_TYPES if name != "previous"), "state"]
    columns = {name: np.concatenate([part[name] for part in ratings.parts]) for name in names}
    slots = columns["slot"].astype(np.int64)
    rows = np.arange(first_row, first_row + slots.size)
    columns["previous"] = previous_rows(base, slots, first_row)
    lengths = np.concatenate(ratings.lengths)
    order = {
        "uid": uids, "stop": first_row + np.cumsum(lengths),
        "field": np.concatenate(ratings.fields),
    }  # fmt: skip
    newest = base.newest
    if first_row < base.rows.size:
        before = base.newest_rows(first_row)
        newest = newest.replaced_from(0, {"row": before}) if before.size else newest
    if slots.size:
        newest = newest.filled_to(int(slots.max()) + 1, {"row": NONE}).updated(slots, {"row": rows})
    events = replace(after.events, order=after.events.order.replaced_from(position, order))
    if ratings.statuses:
        uids, codes = np.array([*ratings.statuses]), np.array([*ratings.statuses.values()])
        cells = {"status": codes[:, 0], "reason": codes[:, 1]}
        events = replace(events, columns=events.columns.updated(uids, cells))
    learnt = base.learnt.replaced_from(position, ratings.learnt) if ratings.learnt else base.learnt
    return replace(after, events=events, rows=base.rows.replaced_from(first_row, columns), newest=newest, learnt=learnt)


def previous_rows(base: Snapshot, slots: Array, first_row: int) -> Array:
    """Return, for each new row, the previous row of the same slot, or -1 if there is no such row."""
    previous = np.full(slots.size, NONE, np.int64)
    if not slots.size:
        return previous
    keys = np.sort(slots << 32 | np.arange(slots.size))  # faster than a stable argsort
    order, ordered = keys & 0xFFFFFFFF, keys >> 32
    same = ordered[1:] == ordered[:-1]
    previous[order[1:][same]] = order[:-1][same] + first_row
    firsts = order[np.concatenate([[True], ~same])]
    previous[firsts] = base.newest_rows(first_row, slots[firsts])
    return previous
