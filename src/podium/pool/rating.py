"""The ratings of a pool from the first affected event on, by the engine, and what differs from before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.engine.heats import encode_small, entries_of
from podium.engine.replay import NEVER, Replayed, by_columns, newcomers, replay_settlements
from podium.errors import NotFiniteError
from podium.pool.columns import Array
from podium.pool.fold import Draft
from podium.pool.snapshot import (
    NONE,
    RATED,
    REASONS,
    ROW_TYPES,
    SEASON,
    SUPERSEDED,
    UNRATED,
    VOIDED,
    Snapshot,
    numbers_of,
    slot_of,
    slots_of,
    without_ratings,
)  # fmt: skip
from podium.store.log.content import is_numbered
from podium.store.writing.rating.events import Roster
from podium.store.writing.rating.rating import (
    NOT_FINITE,
    PLAYER_TWICE,
    Reset,
    SeasonSegment,
    find_duplicate_players,
    rate_segments,
    reasons,
)  # fmt: skip

SPAN_EVENTS = 5_000  # that are rated between two chances for other threads
MAX_SINGLE_ROWS = 64  # an event with more is rated like a batch


class Identified(NamedTuple):
    """An event in a batch, found by its id."""

    event_id: str
    uid: int


@dataclass
class Ratings:
    """Ledger rows of the events that are rated again, in the order of rating."""

    parts: list[dict[str, Array]] = field(default_factory=list)  # `ROW_TYPES` without `previous`, and `state`
    lengths: list[Array] = field(default_factory=list)  # rows of each event
    fields: list[Array] = field(default_factory=list)  # rated entrants of each event
    learnt: list[Array] = field(default_factory=list)  # state of the pool after each event
    statuses: dict[int, tuple[int, int]] = field(default_factory=dict)  # status and reason by uid, of changed ones
    not_finite: list[NotFiniteError] = field(default_factory=list)
    twice: list[tuple[str, int]] = field(default_factory=list)  # an event, and the player who is in it twice


def rate(draft: Draft) -> tuple[Snapshot, Ratings]:
    """Return the snapshot that a draft leads to, and the ratings that it took."""
    base, events = draft.base, draft.events()
    contents = base.contents.appended(draft.bodies) if draft.bodies else base.contents
    if draft.pool.system != base.pool.system:
        base = without_ratings(base, draft.pool)
    position = draft.position
    first_row = base.row_at(position)
    after = replace(
        base, pool=draft.pool, seq=draft.seq, events=events, contents=contents,
        direct_merges=draft.direct_merges, merged=draft.merged,
    )  # fmt: skip
    if position == events.size == base.events.size:
        return after, Ratings()
    ratings = Ratings()
    rater = Rater(base, after, position, first_row, ratings)
    for first in range(position, events.size, SPAN_EVENTS):
        rater.rate_span(events.order.part("uid", first, min(first + SPAN_EVENTS, events.size)))
    return assembled(base, after, position, first_row, ratings), ratings


class Rater:
    """Rates events span by span, and holds where everyone stands in between."""

    def __init__(self, base: Snapshot, after: Snapshot, position: int, first_row: int, ratings: Ratings) -> None:
        self.base, self.after, self.first_row, self.ratings = base, after, first_row, ratings
        self.system = after.pool.system
        self.pool_state = base.pool_state(position)
        is_long = after.events.size - position > SPAN_EVENTS
        self.everyone = self.roster(base.slots) if is_long else None

    def rate_span(self, uids: Array) -> None:
        """Rate consecutive events and seasons."""
        columns = self.after.events.columns
        status = columns.at("status", uids)
        counting = uids[(status != VOIDED) & (status != SUPERSEDED) & (status != SEASON)]
        if uids.size == 1 and counting.size == 1 and self.rate_single(int(uids[0])):
            return
        resets = [
            Reset(self.after.events.key(uid), self.after.events.seasons[uid].keep)
            for uid in uids[status == SEASON].tolist()
        ]
        segments = [*self.segments(counting, resets)]
        roster = self.everyone
        if roster is None:
            met = np.unique(np.concatenate([numbers_in(segment.table) for segment in segments]))
            roster = self.roster(self.base.slots if resets else slots_of(met))
        roster.pool = self.pool_state
        rated = rate_segments(self.after.pool, roster, segments)
        self.pool_state = roster.pool
        ledger = rated.ledger
        seq = columns.at("seq", uids)
        starts = ledger.starts if len(ledger) else np.empty(0, np.int64)
        by_seq = np.argsort(seq, kind="stable")
        where = by_seq[np.searchsorted(seq[by_seq], ledger.seq[starts])]  # positions in the span
        lengths, field = np.zeros(uids.size, np.int64), np.zeros(uids.size, np.int64)
        lengths[where], field[where] = np.diff(starts, append=len(ledger)), ledger.field[starts]
        width = len(self.system.state_type._fields)
        self.ratings.parts.append({
            "event": np.repeat(uids[where], lengths[where]), "slot": slots_of(ledger.player), "rank": ledger.rank,
            "place": ledger.place, "before": ledger.before,
            "state": ledger.state.view("<f8").reshape(-1, width) if len(ledger) else np.empty((0, width)),
        })  # fmt: skip
        self.ratings.lengths.append(lengths)
        self.ratings.fields.append(field)
        self.ratings.not_finite += rated.not_finite.values()
        self.note_statuses(uids, counting, segments, lengths, rated.not_finite)
        if self.system.pool_fields:
            self.ratings.learnt.append(self.learnt_after(uids, rated.pools))

    def learnt_after(self, uids: Array, pools: Any) -> Array:
        """Return the pool's state after each event of a span; one that is not rated leaves it as it was."""
        states = np.empty((uids.size, self.system.pool_fields))
        state = self.before_span
        for place, uid in enumerate(uids.tolist()):
            packed = pools.get(self.after.events.key(uid))
            state = state if packed is None else np.frombuffer(packed, "<f8")
            states[place] = state
        return states

    def segments(self, counting: Array, resets: Sequence[Reset]) -> Iterator[SeasonSegment]:
        """Yield the events between seasons, with their results."""
        self.before_span = self.pool_state[0].copy()
        events, columns = self.after.events, self.after.events.columns
        started_at, seq = columns.at("started_at", counting), columns.at("seq", counting)
        content, begin = columns.at("content", counting), 0
        ends = {str(number): str(into) for number, into in self.after.merged.items()}
        for reset in [*resets, None]:
            end = counting.size
            if reset is not None:
                is_before = (started_at < reset.key.started_at) | (
                    (started_at == reset.key.started_at) & (seq < reset.key.seq)
                )
                end = int(np.count_nonzero(is_before))
            part = slice(begin, end)
            ids = [events.ids[uid] for uid in counting[part].tolist()]
            table = self.after.contents.table(content[part], event_id=ids, started_at=started_at[part], seq=seq[part])
            if ends and table.height:
                table = table.with_columns(pl.col([*filter(is_numbered, table.columns)]).replace(ends))
            twice = find_duplicate_players(table) if table.height else {}
            if twice:
                table = table.filter(~pl.col("event_id").is_in([*twice]))
            chosen = [Identified(event_id, uid) for event_id, uid in zip(ids, counting[part].tolist(), strict=True)]
            yield SeasonSegment(chosen, table, reset, twice)
            begin = end

    def note_statuses(
        self, uids: Array, counting: Array, segments: Sequence[SeasonSegment], lengths: Array, not_finite: Any
    ) -> None:
        """Note the status of each event that has another than before."""
        columns = self.after.events.columns
        unrated = {*uids[lengths == 0].tolist()}
        status = columns.at("status", counting)
        for uid in counting[status == UNRATED].tolist():
            if uid not in unrated:
                self.ratings.statuses[uid] = RATED, 0
        for segment in segments:
            without = [each for each in segment.events if each.uid in unrated]
            if not without:
                continue
            why = reasons(self.after.pool, segment.table, [each.event_id for each in without])
            why |= dict.fromkeys(not_finite, NOT_FINITE) | dict.fromkeys(segment.duplicate_players, PLAYER_TWICE)
            for each in without:
                code = UNRATED, REASONS.index(why[each.event_id])
                if code != (columns.value("status", each.uid), columns.value("reason", each.uid)):
                    self.ratings.statuses[each.uid] = code
            self.ratings.twice += segment.duplicate_players.items()

    def roster(self, slots: Array) -> Roster:
        """Return where these players stand before the first event that is rated."""
        numbers = np.sort(numbers_of(slots))
        roster = Roster.of_newcomers(self.system, numbers)
        rows = self.base.newest_rows(self.first_row, slots_of(numbers))
        known = rows >= 0
        roster.states[known] = self.base.rows.at("state", rows[known])
        roster.played_at = self.base.played_at(rows)
        return roster

    def rate_single(self, uid: int) -> bool:
        """Rate the only event of a span the short way; return False if only a batch can rate it."""
        columns, pool = self.after.events.columns, self.after.pool
        rows = self.after.contents.rows(int(columns.value("content", uid)))
        if (
            rows is None
            or len(rows) > MAX_SINGLE_ROWS
            or any(is_numbered(name) for row in rows for name in row.keys() - {"player"})
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
        states = newcomers(self.system, slots.size)
        states[known] = self.base.rows.at("state", newest[known])
        started_at = int(columns.value("started_at", uid))
        seen = self.base.played_at(newest)
        seen[seen == NEVER] = started_at
        encoded = encode_small(rows, entries, self.system, pool.name, None if pool.is_counted else started_at, seen)
        history = np.empty((1, self.pool_state.shape[1]))
        replayed = Replayed(
            states, np.empty(slots.size), by_columns(*states.shape), None, self.pool_state.copy(), history
        )
        try:
            replay_settlements(self.system, encoded, 0, 1, replayed)
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


def numbers_in(table: pl.DataFrame) -> Array:
    """Return the numbers of the players and the equipment in a table's rows."""
    columns = [table[name].drop_nulls().cast(pl.Int64).to_numpy() for name in table.columns if is_numbered(name)]
    return np.concatenate([np.empty(0, np.int64), *columns])


def assembled(base: Snapshot, after: Snapshot, position: int, first_row: int, ratings: Ratings) -> Snapshot:
    """Return the snapshot with new ledger rows behind those that stay."""
    names = [*(name for name in ROW_TYPES if name != "previous"), "state"]
    columns = {name: np.concatenate([part[name] for part in ratings.parts]) for name in names}
    slots = columns["slot"].astype(np.int64)
    rows = np.arange(first_row, first_row + slots.size)
    columns["previous"] = previous_rows(base, slots, first_row)
    lengths = np.concatenate(ratings.lengths)
    order = {
        "uid": after.events.order.part("uid", position), "stop": first_row + np.cumsum(lengths),
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
    learnt = base.learnt
    if after.pool.system.pool_fields:
        learnt = learnt.replaced_from(position, {"state": np.concatenate(ratings.learnt)})
    return replace(after, events=events, rows=base.rows.replaced_from(first_row, columns), newest=newest, learnt=learnt)


def previous_rows(base: Snapshot, slots: Array, first_row: int) -> Array:
    """Return for each new row the newest row of its slot before it, or -1."""
    previous = np.full(slots.size, NONE, np.int64)
    if not slots.size:
        return previous
    order = np.argsort(slots, kind="stable")
    same = slots[order][1:] == slots[order][:-1]
    previous[order[1:][same]] = order[:-1][same] + first_row
    firsts = order[np.concatenate([[True], ~same])]
    previous[firsts] = base.newest_rows(first_row, slots[firsts])
    return previous
