"""A pool at one point in time: its events, its rating changes, and the values that its system has learnt."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from podium.engine.pool_state import new_pools
from podium.engine.replay import NEVER
from podium.engine.system import System
from podium.log.pools import OrderKey, Pool
from podium.pool.columns import NONE, Columns, Part, bisected
from podium.pool.contents import Contents
from podium.pool.standings import Standings
from podium.pool.states import States
from podium.pool.texts import Texts
from podium.support.arrays import Array

FEW_EVENTS = 32  # up to this many positions are looked up one by one
RATED, UNRATED, VOIDED, SUPERSEDED, SEASON = range(5)  # codes of `STATUSES`
STATUSES = ("rated", "unrated", "voided", "superseded", "season")
REASONS = (
    "", "unranked", "nobody_finished", "too_few_entrants", "not_finite", "player_twice", "voided", "superseded",
)  # fmt: skip

EVENT_TYPES = {
    "seq": np.int64,  # number of the log entry that submitted it; orders events with the same start
    "content_seq": np.int64,  # of the log entry with its current content
    "content": np.int32,  # number of that content in `Contents`
    "started_at": np.int64,  # microseconds since 1970, UTC
    "status": np.int8,
    "reason": np.int8,
    "match": np.int32,  # number of the registered match of which it is the result
    "present": np.int32,  # number of the match's entrants who are in the result as sent
    "earlier_result": np.int32,  # uid of an earlier result of the same match
}
POSITION_TYPES = {
    "uid": np.int32,  # of the event or season at this position in the order of rating
    "stop": np.int64,  # the ledger row after its last one
    "field": np.int32,  # its rated entrants; 0 for a season
}
ROW_TYPES = {
    "event": np.int32,  # uid
    "slot": np.int32,  # of the player or equipment
    "previous": np.int32,  # row of the same slot before this one
    "rank": np.int32,  # rank in the overall result; 0 if there is none
    "place": np.int32,  # position of the row within its event, from 1; 0 for a season
    "before": np.float64,  # the rating before
}  # and `state`, (fields): the state after
MATCH_TYPES = {
    "seq": np.int64,  # of the log entry that registered it, or `NONE`
    "expires_at": np.int64,  # microseconds since 1970, UTC
    "result": np.int32,  # uid of its newest result, or `NONE`
}
FIXTURE_TYPES = {
    "seq": np.int64,  # of the newest log entry that planned it
    "starts_at": np.int64,  # microseconds since 1970, UTC
    "is_cancelled": np.bool_,
}


class Season(NamedTuple):
    """A season of a pool."""

    name: str
    keep: float  # share of each lead over a newcomer that is kept
    widens: bool = False  # True if ratings became less certain by as many points as the season moved them


Start = Mapping[str, float]  # starting rating of a player, and the deviation if the system has one


class Event(NamedTuple):
    """The current version of an event."""

    position: int  # position in the order of rating
    event_id: str
    seq: int
    content_seq: int
    started_at: int
    status: str
    reason: str
    match_id: str | None
    present: int | None  # number of the match's entrants who are in the result as sent

    @property
    def key(self) -> OrderKey:
        """Return the event's sort key."""
        return OrderKey(self.started_at, self.seq)


@dataclass(frozen=True)
class IdTable:
    """The IDs of matches or fixtures by number, with additional columns."""

    ids: Texts
    columns: Columns

    def find(self, text: str) -> int:
        """Return the number of the match or fixture with this ID, or -1."""
        return self.ids.find(text)


@dataclass(frozen=True)
class Events:
    """The events and seasons by uid, and the order in which they are rated.

    Uids number the events and seasons in the order of arrival.
    """

    ids: Texts  # by uid; a season's begins with a null character
    columns: Columns  # by uid: `EVENT_TYPES`
    order: Columns  # by position in the order of rating: `POSITION_TYPES`
    seasons: Mapping[int, Season]  # by uid
    matches: IdTable  # registered matches: `MATCH_TYPES`
    fixtures: IdTable  # upcoming races: `FIXTURE_TYPES`

    @property
    def size(self) -> int:
        """Return the number of events and seasons."""
        return self.columns.size

    def find(self, event_id: str) -> int:
        """Return the uid of the event with this ID, or -1."""
        return self.ids.find(event_id)

    def key(self, uid: int) -> OrderKey:
        """Return the event's sort key."""
        return OrderKey(int(self.columns.value("started_at", uid)), int(self.columns.value("seq", uid)))

    def position(self, key: tuple[int, int]) -> int:
        """Return the number of events and seasons that come before a key in the order of rating."""
        size = self.order.size
        if not size or self.key(int(self.order.value("uid", size - 1))) < key:
            return size
        return bisected(size, lambda position: self.key(int(self.order.value("uid", position))) < key)

    def at(self, positions: Array) -> list[Event]:
        """Return the events at these positions in the order of rating."""
        return self._events(positions, self.order.at("uid", positions))

    def of_uids(self, uids: Sequence[int]) -> list[Event]:
        """Return the events with these uids, in the order of `uids`."""
        if len(uids) <= FEW_EVENTS:
            positions = np.array([self.position(self.key(uid)) for uid in uids], np.int64)
        else:
            places = np.empty(self.size, np.int64)
            places[self.order.part("uid")] = np.arange(self.size)
            positions = places[np.array(uids)]
        return self._events(positions, np.array(uids, np.int64))

    def _events(self, positions: Array, uids: Array) -> list[Event]:
        names = "seq", "content_seq", "started_at", "status", "reason", "match", "present"
        columns = (column.tolist() for column in (positions, uids, *(self.columns.at(name, uids) for name in names)))
        return [
            Event(
                position, self.ids[uid], seq, content_seq, started_at, STATUSES[status], REASONS[reason],
                *((None, None) if match < 0 else (self.matches.ids[match], present)),
            )
            for position, uid, seq, content_seq, started_at, status, reason, match, present in zip(
                *columns, strict=True
            )
        ]  # fmt: skip

    def event_of(self, uid: int) -> Event:
        """Return the event with this uid."""
        return self.of_uids([uid])[0]

    @property
    def newest_start(self) -> int | None:
        """Return the start of the last event in the order of rating, in microseconds since 1970.

        The result is None if there are no events.
        """
        for position in reversed(range(self.order.size)):
            uid = int(self.order.value("uid", position))
            if uid not in self.seasons:
                return int(self.columns.value("started_at", uid))
        return None

    def results_of(self, match: int) -> list[int]:
        """Return the uids of all results of a registered match, newest first."""
        uid, found = int(self.matches.columns.value("result", match)), list[int]()
        while uid >= 0:
            found.append(uid)
            uid = int(self.columns.value("earlier_result", uid))
        return found

    def id_of(self, uid: int) -> str | None:
        """Return the ID of an event, or None for a season."""
        return None if uid in self.seasons else self.ids[uid]

    def first(self, positions: range, most: int, *statuses: int) -> list[Event]:
        """Return up to `most` events at these positions, in order, that have one of these statuses."""
        is_wanted = np.zeros(len(STATUSES), np.bool_)
        is_wanted[[*statuses]] = True
        found, start, count = np.empty(0, np.int64), 0, 2 * most
        while start < len(positions) and found.size < most:
            block = positions[start : start + count]
            some = np.arange(block.start, block.stop, block.step)
            wanted = is_wanted[self.columns.at("status", self.order.at("uid", some))]
            found = np.concatenate([found, some[wanted]])
            start, count = start + count, 2 * count
        return self.at(found[:most])

    @cached_property
    def newest_rated(self) -> Event | None:
        """Return the newest rated event, or None."""
        return next(iter(self.first(range(self.order.size)[::-1], 1, RATED)), None)


class Carried(NamedTuple):
    """Values that an earlier snapshot has calculated and a later snapshot can reuse."""

    standings: Standings | None = None
    day_start: Standings | None = None


CARRIED_NOTHING = Carried()


@dataclass(frozen=True)
class Snapshot:
    """A pool after one entry of its log. A snapshot and everything reachable from it are immutable."""

    pool: Pool
    seq: int  # of that entry
    events: Events
    contents: Contents
    rows: Columns  # the ledger, in the order of rating: `ROW_TYPES` and `state`
    newest: Columns  # by slot: `row`, the newest of the slot
    learnt: States  # the pool's learnt values after each event
    direct_merges: Mapping[int, int | None] = field(default_factory=dict)  # as they were logged, by number
    merged: Mapping[int, int] = field(default_factory=dict)  # for each merged account, its final account
    # starting ratings as they were logged, by number, each after the name of the system for which it was given
    direct_starts: Mapping[int, tuple[str, Start]] = field(default_factory=dict)
    details: Mapping[int, int] = field(default_factory=dict)  # log entries with the accounts' newest details, by number
    carried: Carried = CARRIED_NOTHING

    def memory(self) -> dict[int, int]:
        """Return the size of all arrays in bytes, by the `id` of their owner. Snapshots of a pool share most arrays."""
        events, found = self.events, dict[int, int]()
        for part in (self.rows, self.newest, self.learnt, self.contents, events.columns, events.order, events.ids):
            found |= part.memory()
        return found | {id(array): array.nbytes for array in self.carry(self.rows.size) if array is not None}

    def row_at(self, position: int) -> int:
        """Return the first ledger row of the event or season at a position."""
        return int(self.events.order.value("stop", position - 1)) if position else 0

    def span(self, position: int) -> tuple[int, int]:
        """Return the first ledger row of the event or season at a position, and the row after its last one."""
        return self.row_at(position), self.row_at(position + 1)

    def spans(self, positions: Array) -> tuple[Array, Array]:
        """Return the first ledger row and the number of rows for each position."""
        stops, before = (
            self.events.order.at("stop", np.maximum(position, 0)) for position in (positions, positions - 1)
        )
        begins = np.where(positions > 0, before, 0)
        return begins, stops - begins

    def positions(self, rows: Array) -> Array:
        """Return, for each ledger row, the position of its event or season in the order of rating."""
        return self.events.order.search("stop", rows)

    def pool_state(self, position: int) -> Array:
        """Return the values that the system had learnt before a position: an array of shape (1, fields)."""
        if not position or not self.pool.system.pool_fields:
            return new_pools(self.pool.system, 1)
        return self.learnt.part(position - 1, position)

    def system_at(self, position: int) -> System:
        """Return the system with the values that it had learnt from the pool before a position."""
        return self.pool.system.within(self.pool_state(position)[0])

    def newest_rows(self, row: int, slots: Array | None = None) -> Array:
        """Return the last row before `row` for each of these slots, or -1. If `slots` is None, include all slots."""
        if row >= self.rows.size and slots is not None:
            found = np.full(slots.size, NONE, np.int32)
            known = slots < self.newest.size
            found[known] = self.newest.at("row", slots[known])
            return found
        newest = self.newest.part("row").copy()
        if row < self.rows.size:  # in reverse order, so that the earliest of the later rows is assigned last
            newest[self.rows.part("slot", row)[::-1]] = self.rows.part("previous", row)[::-1]
        if slots is None:
            return newest
        newest = np.append(newest, np.int32(NONE))
        return newest[np.minimum(slots, newest.size - 1)]

    def rows_before(self, position: int, slots: Array) -> Array:
        """Return the last row of each of these slots before a position, or -1.

        If `slots` is None, include all slots.
        """
        first = self.row_at(position)
        if first >= self.rows.size:
            return self.newest_rows(first, slots)
        stop = self.row_at(position + 1)
        columns = (self.rows.part(name, first, stop).tolist() for name in ("slot", "previous"))
        previous = dict(zip(*columns, strict=True))
        if previous.keys() >= {*slots.tolist()}:
            return np.array([previous[slot] for slot in slots.tolist()], np.int64)
        return self.newest_rows(first, slots)

    def career(self, slot: int, end: int | None = None, most: int | None = None) -> Array:
        """Return up to `most` of a player's latest rows before the row `end`, in the order of rating."""
        row, found = int(self.newest.value("row", slot)) if slot < self.newest.size else NONE, list[int]()
        while row >= 0 and len(found) != most:
            if end is None or row < end:
                found.append(row)
            row = int(self.rows.value("previous", row))
        return np.array(found[::-1], np.int64)

    def played_at(self, rows: Array) -> Array:
        """Return the times of these rows in microseconds since 1970, with `NEVER` for the row -1."""
        columns, at = self.events.columns, rows.astype(np.int64)
        while self.events.seasons:
            begun = np.flatnonzero(at >= 0)
            begun = begun[columns.at("status", self.rows.at("event", at[begun])) == SEASON]
            if not begun.size:
                break
            at[begun] = self.rows.at("previous", at[begun])
        played = np.full(at.size, NEVER)
        known = at >= 0
        played[known] = columns.at("started_at", self.rows.at("event", at[known]))
        return played

    @cached_property
    def starts(self) -> Mapping[int, Start]:
        """The starting ratings that count, by number.

        The one of a merged account counts for the player, unless the player has one too.
        """
        found = {}
        for number in sorted(self.direct_starts, key=lambda number: number not in self.merged):
            system, start = self.direct_starts[number]
            if system == self.pool.system.name:
                found[self.merged.get(number, number)] = start
        return found

    @cached_property
    def slots(self) -> Array:
        """The slots of all players and equipment that have a rating."""
        return np.flatnonzero(self.newest.part("row") >= 0)

    @cached_property
    def standings(self) -> Standings:
        """Return the current standings."""
        earlier = self.carried.standings
        if earlier is None:
            return self.standings_at(self.events.order.size)
        slots = np.unique(self.rows.part("slot", earlier.stop))
        return earlier.updated(self._standings(slots, self.newest.at("row", slots), self.rows.size))

    @cached_property
    def day_start(self) -> Standings | None:
        """Return the standings at the start of the day of the latest rated event.

        In a pool without dates, return the standings before that event.
        """
        newest, unit = self.events.newest_rated, self.pool.unit_us
        if newest is None:
            return None
        position, known = self.events.position((newest.started_at // unit * unit, 0)), self.carried.day_start
        return known if known is not None and known.stop == self.row_at(position) else self.standings_at(position)

    def carry(self, row: int) -> Carried:
        """Return the values that a later snapshot can reuse if the ledger rows before `row` stay the same."""
        known = (self.__dict__.get(name) or getattr(self.carried, name) for name in Carried._fields)
        return Carried(*(cache if cache is not None and cache.stop <= row else None for cache in known))

    def standings_at(self, position: int) -> Standings:
        """Return the standings before a position in the order of rating."""
        row = self.row_at(position)
        newest = self.newest_rows(row)
        slots = np.flatnonzero(newest >= 0).astype(np.int32)
        return self._standings(slots, newest[slots], row)

    def _standings(self, slots: Array, rows: Array, stop: int) -> Standings:
        system, states = self.pool.system, self.rows.at("state", rows)
        ratings, events = states[:, system.column("rating")], states[:, system.column("events")].astype(np.int64)
        known = self.played_at(rows), ratings, events, system.scores(states), ~system.is_provisional(states)
        return Standings(system, self.rows, stop, slots, rows, *known)


def are_counting(statuses: Array) -> Array:
    """Return a mask of the statuses that count. Voided events, superseded events and seasons do not count."""
    counting: Array = (statuses != VOIDED) & (statuses != SUPERSEDED) & (statuses != SEASON)
    return counting


def count_counting(snapshot: Snapshot) -> int:
    """Return the number of events that count."""
    return int(are_counting(snapshot.events.columns.part("status")).sum())


def empty(pool: Pool) -> Snapshot:
    """Return a pool before the first entry of its log."""
    matches, fixtures = (IdTable(Texts(), Columns(types)) for types in (MATCH_TYPES, FIXTURE_TYPES))
    events = Events(Texts(), Columns(EVENT_TYPES), Columns(POSITION_TYPES), {}, matches, fixtures)
    blank = Snapshot(
        pool, 0, events, Contents(), Columns({}), Columns({"row": np.int32}), States(0),
    )  # fmt: skip
    return without_ratings(blank, pool)


def without_ratings(snapshot: Snapshot, pool: Pool) -> Snapshot:
    """Return a snapshot with an empty ledger and the columns that the pool's system needs."""
    system = pool.system
    rows = Columns({**ROW_TYPES, "state": (np.float64, (len(system.state_type._fields),))})
    newest, learnt = Columns({"row": np.int32}), States(system.pool_fields)
    return replace(snapshot, pool=pool, rows=rows, newest=newest, learnt=learnt, carried=CARRIED_NOTHING)


Table = Columns | States | Texts | Contents


def tables_of(item: Any, path: str = "") -> Iterator[tuple[str, Table]]:
    """Yield the tables of a snapshot, or of a part of one, each with its path."""
    for attribute in fields(item):
        value = getattr(item, attribute.name)
        if isinstance(value, Table):
            yield path + attribute.name, value
        elif is_dataclass(value) and not isinstance(value, Pool):
            yield from tables_of(value, f"{path}{attribute.name}.")


def with_tables(item: Any, parts_of: Callable[[str], Iterable[Part]], path: str = "") -> Any:
    """Return a snapshot, or a part of one, with the tables that `parts_of` returns for their paths."""
    found: dict[str, Any] = {}
    for attribute in fields(item):
        value = getattr(item, attribute.name)
        if isinstance(value, Table):
            found[attribute.name] = value.of_parts(parts_of(path + attribute.name))
        elif is_dataclass(value) and not isinstance(value, Pool):
            found[attribute.name] = with_tables(value, parts_of, f"{path}{attribute.name}.")
    return replace(item, **found)


def facts_of(snapshot: Snapshot) -> dict[str, Any]:
    """Return everything in a snapshot except its tables as JSON values."""
    return {
        "seq": snapshot.seq,
        "order": snapshot.pool.order,
        "seasons": [[uid, *season] for uid, season in snapshot.events.seasons.items()],
        "direct_merges": [*snapshot.direct_merges.items()],
        "merged": [*snapshot.merged.items()],
        "starts": [*snapshot.direct_starts.items()],
        "details": [*snapshot.details.items()],
    }


def restored(pool: Pool, facts: Mapping[str, Any], parts_of: Callable[[str], Iterable[Part]]) -> Snapshot:
    """Return the snapshot that was stored as `facts` and as the parts of its tables.

    Args:
        pool: the pool, with the system that it had when the snapshot was stored.
        facts: the JSON values from `facts_of`.
        parts_of: function that returns the stored parts of the table at a path.
    """
    found: Snapshot = with_tables(empty(replace(pool, order=facts["order"])), parts_of)
    seasons = {uid: Season(*season) for uid, *season in facts["seasons"]}
    return replace(
        found, seq=facts["seq"], events=replace(found.events, seasons=seasons),
        direct_merges=dict(facts["direct_merges"]), merged=dict(facts["merged"]),
        direct_starts={number: (system, start) for number, (system, start) in facts.get("starts", ())},
        details=dict(facts.get("details", ())),
    )  # fmt: skip
