"""Differences between the ledgers of two snapshots."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from podium.log.statements import FIRST_EQUIPMENT
from podium.pool.batches import NOT_FINITE, PLAYER_TWICE
from podium.pool.columns import NONE, bisected, numbers_of
from podium.pool.rating import Ratings
from podium.pool.snapshot import SEASON, Snapshot
from podium.support.arrays import Array


class Size(NamedTuple):
    """The size of an effect and its position in the ledger. When sorted by this key, the largest effect comes last."""

    move: float  # change of the rating in points; infinite if there was no rating before, or is none after
    started_at: int
    seq: int
    number: int  # of the player or the piece of equipment


class Effect(NamedTuple):
    """A ledger row whose rating changes."""

    size: Size
    uid: int  # of its event
    rating_was: float | None  # None if there was no such row
    rating: float | None  # None if the row has been removed


@dataclass(frozen=True)
class Moves:
    """The ledger rows that differ between two snapshots of a pool."""

    before: Snapshot
    after: Snapshot
    ratings: Ratings
    added: Mapping[str, int] = field(default_factory=dict)  # uids of new events, by id
    changed: Collection[int] = ()  # uids of events that are new or were changed directly

    @cached_property
    def _old(self) -> "Rows":
        return Rows.of(self.before, self.ratings)

    @cached_property
    def _new(self) -> "Rows":
        return Rows.of(self.after, self.ratings)

    @cached_property
    def _counterparts(self) -> Array:
        """Return for each new row the old row of the same player in the same event at the same time, or -1."""
        old, new = self._old.keys, self._new.keys
        if not old.size or not new.size:
            return np.full(new.size, NONE)
        if old.size == new.size and np.array_equal(old, new):
            found = np.arange(old.size)
        else:
            order = np.argsort(old)
            places = np.minimum(np.searchsorted(old[order], new), old.size - 1)
            found = np.where(old[order][places] == new, order[places], NONE)
        rekeyed = self._rekeyed
        return np.where(np.isin(self._new.uids, rekeyed), NONE, found) if rekeyed.size else found

    @cached_property
    def _rekeyed(self) -> Array:
        """Return the events whose position in the order of rating has changed."""
        size = self.before.events.size
        uids = np.array([uid for uid in self.changed if uid < size], np.int64)
        differ = np.zeros(uids.size, np.bool_)
        for name in ("started_at", "seq"):
            old, new = (state.events.columns.at(name, uids) for state in (self.before, self.after))
            differ |= old != new
        return uids[differ]

    @cached_property
    def is_written(self) -> Array:
        """Return a mask of the new rows that did not exist before, or that differ from the old ones."""
        new, counterparts = self._new, self._counterparts
        written = counterparts < 0
        both = np.flatnonzero(~written)
        old = counterparts[both]
        if both.size:
            was, now = [*self._old.cells()], [*new.cells()]
            if len(was) != len(now):  # another system, whose states have other fields
                written[both] = True
            else:
                for old_cells, new_cells in zip(was, now, strict=True):
                    written[both] |= old_cells[old] != new_cells[both]
        return written

    @cached_property
    def gone(self) -> Array:
        """Return the positions of old rows that have been removed."""
        alone = np.ones(self._old.keys.size, np.bool_)
        counterparts = self._counterparts
        alone[counterparts[counterparts >= 0]] = False
        return np.flatnonzero(alone)

    @property
    def written(self) -> int:
        """The number of rows that are new or have changed."""
        return int(self.is_written.sum())

    @property
    def changes(self) -> int:
        """The number of rows that are new, have changed or have been removed."""
        return self.written + self.gone.size

    def count_others(self, uids: Sequence[int]) -> int:
        """Count the rows of other events than these that are new or have changed."""
        rated = self.after.events.order.part("uid", self.ratings.position)
        if rated.size <= len(uids) and {*rated.tolist()} <= {*uids}:
            return 0
        others = np.isin(self.after.rows.part("event", self.ratings.first_row), uids, invert=True)
        return int(self.is_written[others].sum()) if others.any() else 0

    @cached_property
    def _moved(self) -> dict[str, Array]:
        """The rows that moved: first the new and changed rows, and then the removed rows."""
        parts = (self._new, np.flatnonzero(self.is_written)), (self._old, self.gone)
        names = "started_at", "seq", "numbers", "uids"
        return {name: np.concatenate([getattr(rows, name)[chosen] for rows, chosen in parts]) for name in names}

    @cached_property
    def uids(self) -> Array:
        """The events and seasons with at least one moved row."""
        return np.unique(self._moved["uids"])

    def count_by_event(self) -> list[tuple[int, int]]:
        """Return the number of changed rows in each event, by uid.

        An event that has moved is listed at both positions.
        """
        moved = [self._moved[name] for name in ("started_at", "seq", "uids")]
        events, counts = np.unique(np.column_stack(moved), axis=0, return_counts=True)
        return list(zip(events[:, 2].tolist(), counts.tolist(), strict=True))

    @property
    def players(self) -> int:
        """The number of players with at least one moved row."""
        return int((np.unique(self._moved["numbers"]) < FIRST_EQUIPMENT).sum())

    @property
    def largest(self) -> float:
        """The largest change of any rating after any event, in points."""
        old, new, counterparts = self._old, self._new, self._counterparts
        added = self.is_written & (counterparts < 0)
        both = self.is_written & ~added
        moves = np.abs(
            np.concatenate([
                new.rating[both] - old.rating[counterparts[both]],
                new.rating[added] - new.before[added],
                old.rating[self.gone] - old.before[self.gone],
            ])
        )  # fmt: skip
        return float(moves[np.isfinite(moves)].max(initial=0.0))

    def largest_effects(self, most: int, after: Size | None = None) -> tuple[list[Effect], Size | None]:
        """Return the largest effects in the order of rating, and the cursor of the next page.

        Args:
            most: number of effects to return.
            after: the cursor of the previous page, or None to start with the largest effect.
        """
        counterparts = self._counterparts[self.is_written]
        was = np.full(counterparts.size, np.nan)
        was[counterparts >= 0] = self._old.rating[counterparts[counterparts >= 0]]
        was = np.concatenate([was, self._old.rating[self.gone]])
        now = np.concatenate([self._new.rating[self.is_written], np.full(self.gone.size, np.nan)])
        had_row = np.concatenate([counterparts >= 0, np.ones(self.gone.size, np.bool_)])
        has_row = np.arange(now.size) < counterparts.size
        move = np.abs(now - was)
        move[np.isnan(move)] = math.inf
        sizes = [move, *(self._moved[name] for name in ("started_at", "seq", "numbers"))]

        def size_of(k: int) -> Size:
            return Size(*(column[k].item() for column in sizes))

        order = np.lexsort(sizes[::-1])[::-1]  # largest first
        if after is not None:
            order = order[bisected(order.size, lambda place: size_of(order[place]) >= after) :]
        found = [
            Effect(
                size_of(k),
                int(self._moved["uids"][k]),
                float(was[k]) if had_row[k] else None,
                float(now[k]) if has_row[k] else None,
            )
            for k in order[:most].tolist()
        ]
        following = found[-1].size if order.size > most else None
        return sorted(found, key=lambda effect: effect.size[1:]), following

    def count_relearnt(self, without: set[int]) -> int:
        """Count the events after which the system's learnt values differ from the old snapshot's.

        Args:
            without: uids of events to leave out.
        """
        before, after = self.before, self.after
        if not before.pool.system.pool_fields or not after.pool.system.pool_fields:
            return 0
        old, new = (rated_positions(state, self.ratings) for state in (before, after))
        uids = [uid for uid in old if uid in new and uid not in without]
        if not uids:  # for example, for a new event after all others
            return 0
        rekeyed = {*self._rekeyed.tolist()}
        uids = [uid for uid in uids if uid not in rekeyed]
        was = before.learnt.at(np.array([old[uid] for uid in uids]))
        now = after.learnt.at(np.array([new[uid] for uid in uids]))
        if was.shape != now.shape:  # another system
            return len(uids)
        return int((was.view(np.int64) != now.view(np.int64)).any(axis=1).sum())

    @property
    def refused(self) -> list[int]:
        """The events that could be rated before, but cannot be rated now."""
        size = self.before.events.size
        unrateable = {*self.ratings.errors, *self.ratings.twice}
        columns = self.before.events.columns
        return [
            uid
            for uid in sorted(unrateable)
            if uid >= size or columns.value("reason", uid) not in (NOT_FINITE, PLAYER_TWICE)
        ]


@dataclass(frozen=True)
class Rows:
    """The ledger rows from a certain row on, with the keys for comparing them."""

    snapshot: Snapshot
    ratings: Ratings
    uids: Array
    numbers: Array  # of players and equipment
    keys: Array  # event and slot
    started_at: Array
    seq: Array
    before: Array
    rating: Array

    @classmethod
    def of(cls, snapshot: Snapshot, ratings: Ratings) -> "Rows":
        """Return the rows of a snapshot's ledger that were recalculated."""
        rows, events, first = snapshot.rows, snapshot.events, ratings.first_row
        uids, slots = rows.part("event", first).astype(np.int64), rows.part("slot", first).astype(np.int64)
        rating = rows.part("state", first)[:, snapshot.pool.system.column("rating")].copy()
        return cls(
            snapshot, ratings, uids, numbers_of(slots), uids << 32 | slots, events.columns.at("started_at", uids),
            events.columns.at("seq", uids), rows.part("before", first), rating,
        )  # fmt: skip

    def cells(self) -> Iterator[Array]:
        """Yield all values of the rows in columns of integers, so that a comparison is bitwise."""
        rows, order, first = self.snapshot.rows, self.snapshot.events.order, self.ratings.first_row
        lengths = np.diff(order.part("stop", self.ratings.position), prepend=first)
        yield np.repeat(order.part("field", self.ratings.position), lengths)
        yield from (rows.part(name, first) for name in ("place", "rank"))
        yield self.before.view(np.int64)
        yield from np.ascontiguousarray(rows.part("state", first)).view(np.int64).T


def rated_positions(snapshot: Snapshot, ratings: Ratings) -> dict[int, int]:
    """Return the positions of the rated events among the recalculated events, by uid."""
    order, first = snapshot.events.order, ratings.position
    uids = order.part("uid", first)
    lengths = np.diff(order.part("stop", first), prepend=ratings.first_row)
    rated = (lengths > 0) & (snapshot.events.columns.at("status", uids) != SEASON)
    return dict(zip(uids[rated].tolist(), (first + np.flatnonzero(rated)).tolist(), strict=True))
