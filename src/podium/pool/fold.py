"""Apply entries of the log to a pool's events, before anything is rated."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count, groupby, islice
from typing import Any, NamedTuple

import numpy as np

from podium.log import log as kinds
from podium.log.pools import DATED, START, UNDATED, OrderKey, Pool, PoolDescription, system_of, time_of
from podium.log.statements import microseconds
from podium.pool.columns import NONE, Columns, slot_of
from podium.pool.contents import Contents
from podium.pool.snapshot import (
    EVENT_TYPES,
    RATED,
    REASONS,
    SEASON,
    SUPERSEDED,
    UNRATED,
    VOIDED,
    Events,
    IdTable,
    Season,
    Snapshot,
    Start,
)
from podium.pool.texts import Texts
from podium.support.arrays import Array
from podium.version import ARITHMETIC

# The beginning of an event's first line, with its number or date before all other columns.
HEAD = re.compile(rb'\{(?:"sequence":([^,]+),)?"event_id":"(?:[^"\\]|\\.)*"(?:,"started_at":"([^"]+)")?').match
DATES = "%Y-%m-%dT%H:%M:%S%.f%z"  # the format of `started_at` in the log
PART_ENTRIES = 4_096  # number of log entries whose events are added at once
NOTHING: Mapping[int, str] = {}
FEW_EVENTS = 512  # up to this many contents are applied one by one
NEW_EVENT = dict.fromkeys(EVENT_TYPES, 0) | {"content": NONE, "match": NONE, "present": NONE, "earlier_result": NONE}
VOIDED_REASON, SUPERSEDED_REASON = REASONS.index("voided"), REASONS.index("superseded")


class Entry(NamedTuple):
    """An entry of the log, in the form that a fold reads."""

    seq: int
    kind: str
    subject: str
    body: bytes
    match_id: str | None = None
    present: int | None = None


@dataclass
class TableDraft:
    """The events, matches or fixtures that changed between two snapshots, as rows that can be found by ID."""

    ids: Texts
    columns: Columns
    blank: Mapping[str, int]  # values of a new row
    added: dict[str, int] = field(default_factory=dict)  # numbers of new rows, by id
    changed: dict[int, dict[str, int]] = field(default_factory=dict)  # changed values, by the row's number

    @property
    def size(self) -> int:
        """Return the number of rows."""
        return self.ids.size + len(self.added)

    def add(self, text: str, **cells: int) -> int:
        """Add a row, and return its number."""
        number = self.added[text] = self.size
        self.changed[number] = {**self.blank, **cells}
        return number

    def number(self, text: str) -> int:
        """Return the number for an ID, which is the next number if the ID is new."""
        found = self.added.get(text, NONE)
        found = self.ids.find(text) if found < 0 else found
        return self.add(text) if found < 0 else found

    def value(self, name: str, number: int) -> int:
        """Return the value in one row of a column."""
        changed = self.changed.get(number)
        return changed[name] if changed and name in changed else int(self.columns.value(name, number))

    def change(self, number: int, **cells: int) -> None:
        """Change values in a row."""
        self.changed.setdefault(number, {}).update(cells)

    def extend(self, texts: Sequence[str], columns: Mapping[str, Any]) -> None:
        """Add many rows at once. Columns that are not given have the values of a new row."""
        if self.added:
            self.ids, self.columns = self.finished()
            self.added, self.changed = {}, {}
        blank = {name: np.full(len(texts), value) for name, value in self.blank.items()}
        self.ids, self.columns = self.ids.appended(texts), self.columns.appended({**blank, **columns})

    def finished(self) -> tuple[Texts, Columns]:
        """Return the IDs and the columns after all entries have been applied."""
        if not self.changed:
            return self.ids, self.columns
        columns, size = self.columns, self.columns.size
        old = {number: cells for number, cells in self.changed.items() if number < size}
        for name in {name for cells in old.values() for name in cells}:
            values = {number: cells[name] for number, cells in old.items() if name in cells}
            columns = columns.updated(np.array([*values]), {name: np.array([*values.values()])})
        new = [self.changed[number] for number in range(size, self.size)]
        if new:
            columns = columns.appended({name: np.array([cells[name] for cells in new]) for name in self.blank})
        return self.ids.appended([*self.added]), columns


@dataclass
class Draft:
    """A pool between two snapshots: its events, and the position from which ratings may change."""

    base: Snapshot
    pool: Pool
    direct_merges: Mapping[int, int | None]
    merged: Mapping[int, int]
    seasons: Mapping[int, Season]
    contents: Contents
    table: TableDraft  # events and seasons, by uid
    matches: TableDraft
    fixtures: TableDraft
    new_starts: dict[int, tuple[str, Start]] = field(default_factory=dict)  # like `direct_starts` of a snapshot
    new_details: dict[int, int] = field(default_factory=dict)  # like `details` of a snapshot
    known: dict[str, int] = field(default_factory=dict)  # uids that were looked up together, or -1, by id
    first: OrderKey | None = None  # key of the first event from which ratings may change
    seq: int = 0  # number of the newest entry
    is_rewritten: bool = False  # True if an entry replaced texts of earlier entries, so that the whole log must be read

    @classmethod
    def of(cls, base: Snapshot) -> "Draft":
        """Return a draft that does not yet differ from a snapshot."""
        events = base.events
        tables = (
            TableDraft(events.ids, events.columns, NEW_EVENT),
            TableDraft(events.matches.ids, events.matches.columns, {"seq": NONE, "expires_at": 0, "result": NONE}),
            TableDraft(events.fixtures.ids, events.fixtures.columns, {"seq": NONE, "starts_at": 0, "is_cancelled": 0}),
        )
        facts = base.pool, base.direct_merges, base.merged, events.seasons, base.contents
        return cls(base, *facts, *tables, seq=base.seq)

    def find(self, event_id: str) -> int:
        """Return the uid of the event with this ID, or -1."""
        uid = self.table.added.get(event_id, self.known.get(event_id))
        return self.table.ids.find(event_id) if uid is None else uid

    def key(self, uid: int) -> OrderKey:
        """Return the key that determines an event's place in the order."""
        return OrderKey(self.table.value("started_at", uid), self.table.value("seq", uid))

    def affect(self, key: OrderKey) -> None:
        """Record that ratings may change from the event with this key onwards."""
        if self.first is None or key < self.first:
            self.first = key

    def add_event(self, event_id: str, seq: int, started_at: int, **cells: int) -> int:
        """Add an event or a season, and return its uid."""
        self.affect(OrderKey(started_at, seq))
        return self.table.add(event_id, seq=seq, content_seq=seq, started_at=started_at, **cells)

    def read(self, entries: Iterable[Entry]) -> None:
        """Apply entries of the log as `follow` does, but add new events together."""
        every = iter(entries)
        while part := [*islice(every, PART_ENTRIES)]:
            for has_order, run in groupby(part, lambda entry: entry.kind in (kinds.SEASON, kinds.CONFIGURE)):
                some = [*run]
                is_long = not has_order and sum(entry.kind in kinds.WITH_CONTENT for entry in some) > FEW_EVENTS
                (self._read_run if is_long else self.follow)(some)

    def _read_run(self, entries: Sequence[Entry]) -> None:
        """Apply entries among which the order of the pool's events stays the same."""
        sent = self._look_up(entries)
        first, self.contents, starts = self.contents.size, *self._parsed([entry.body for entry in sent])
        new, added = {subject for subject, uid in self.known.items() if uid < 0}, dict[int, str]()
        for k, entry in enumerate(sent) if new else ():
            if entry.subject in new:
                new.remove(entry.subject)
                added[k] = entry.subject
        if added:
            seqs, times = (np.array([values[k] for k in added]) for values in ([entry.seq for entry in sent], starts))
            earliest = int(times.argmin())
            self.affect(OrderKey(int(times[earliest]), int(seqs[earliest])))
            self.known |= zip(added.values(), range(self.table.size, self.table.size + len(added)), strict=True)
            contents = first + np.array([*added])
            cells = {"seq": seqs, "content_seq": seqs, "started_at": times, "content": contents}
            self.table.extend([*added.values()], cells)
        self._apply(entries, first, starts, added)

    def _parsed(self, bodies: Sequence[bytes]) -> tuple[Contents, list[int]]:
        """Return the contents with new ones, and the starts of their events."""
        contents, dates = self.contents.extended(bodies)
        times = dates.str.to_datetime(DATES, time_unit="us", strict=False)
        if times.null_count():  # for example, because the events have numbers
            return contents, [*map(self._start_of, bodies)]
        self._start_of(bodies[0])  # decides the order of a new pool
        return contents, times.to_physical().to_list()

    def follow(self, entries: Iterable[Entry]) -> None:
        """Apply entries of the log to the draft, in order."""
        every = [*entries]
        bodies = [entry.body for entry in self._look_up(every)]
        first, self.contents = self.contents.size, self.contents.appended(bodies)
        self._apply(every, first, [*map(self._start_of, bodies)])

    def _apply(
        self, entries: Sequence[Entry], first: int, starts: Sequence[int], added: Mapping[int, str] = NOTHING
    ) -> None:
        """Apply entries whose contents have been numbered from `first` on, and whose new events may have been added."""
        places = count()
        for entry in entries:
            if entry.kind not in kinds.WITH_CONTENT:
                self._follow_act(entry)
            elif (k := next(places)) not in added:
                self._follow_content(entry, first + k, starts[k])
            elif entry.match_id is not None:
                self._follow_result(self.known[entry.subject], entry.match_id, entry.present or 0)
            self.seq = entry.seq

    def _look_up(self, entries: Sequence[Entry]) -> list[Entry]:
        """Find the events of all entries at once, which is faster than one by one. Return entries with contents."""
        sent = [entry for entry in entries if entry.kind in kinds.WITH_CONTENT]
        subjects = [entry.subject for entry in sent if entry.subject not in self.table.added]
        self.known = dict(zip(subjects, self.table.ids.find_all(subjects), strict=True)) | self.table.added
        return sent

    def _follow_act(self, entry: Entry) -> None:
        match entry.kind:
            case kinds.VOID | kinds.UNVOID:
                self._follow_void(entry)
            case kinds.MERGE | kinds.UNMERGE:
                self._follow_merge(entry)
            case kinds.SEASON:
                season = json.loads(entry.body)
                uid = self.add_event("\0" + entry.subject, entry.seq, season["started_at"], status=SEASON)
                self.seasons = {
                    **self.seasons,
                    uid: Season(entry.subject, season["keep"], season.get("widens", False)),
                }
            case kinds.REGISTER:
                expires_at = json.loads(entry.body)["expires_at"]
                self.matches.change(self.matches.number(entry.subject), seq=entry.seq, expires_at=expires_at)
            case kinds.PLAN:
                starts_at = json.loads(entry.body)["starts_at"]
                cells = {"seq": entry.seq, "starts_at": starts_at, "is_cancelled": 0}
                self.fixtures.change(self.fixtures.number(entry.subject), **cells)
            case kinds.CANCEL:
                self.fixtures.change(self.fixtures.number(entry.subject), is_cancelled=1)
            case kinds.REDACT:
                self.is_rewritten = self.base.seq > 0
            case _:
                self._follow_setting(entry)

    def _follow_setting(self, entry: Entry) -> None:
        match entry.kind:
            case kinds.CONFIGURE:
                setting = json.loads(entry.body)
                system = system_of(setting["system"], json.dumps(setting["parameters"]))
                order = setting.get("order", self.pool.order)
                self.pool = replace(self.pool, system=system, order=order, arithmetic=ARITHMETIC)
                self.affect(START)
            case kinds.START:
                number, start = int(entry.subject), json.loads(entry.body)
                self.new_starts[number] = self.pool.system.name, start
                self._affect_player(self.merged.get(number, number))
            case kinds.DETAIL:
                self.new_details[int(entry.subject)] = entry.seq
            case kinds.BLANK:
                self.new_details[0] = entry.seq  # nobody's; ends the use of answers with a text that is deleted
            case kinds.RERATE:
                self.pool = replace(self.pool, arithmetic=ARITHMETIC)
                self.affect(START)
            case kinds.CLOSE | kinds.REOPEN:
                self.pool = replace(self.pool, closed=entry.kind == kinds.CLOSE)
            case kinds.DESCRIBE:
                description = PoolDescription(**json.loads(entry.body))
                self.pool = replace(self.pool, description=description)

    def _follow_content(self, entry: Entry, content: int, started_at: int) -> None:
        uid = self.find(entry.subject)
        if uid < 0:
            uid = self.add_event(entry.subject, entry.seq, started_at, content=content)
        else:
            moves = entry.kind == kinds.MOVE or started_at != self.table.value("started_at", uid)
            if moves or not self._has_results(uid, entry.body):  # a changed title does not affect ratings
                self.affect(self.key(uid))
            moved = {"seq": entry.seq} if entry.kind == kinds.MOVE else {}
            self.table.change(uid, content_seq=entry.seq, content=content, started_at=started_at, **moved)
            if moves:
                self.affect(self.key(uid))
        if entry.match_id is not None:
            self._follow_result(uid, entry.match_id, entry.present or 0)

    def _has_results(self, uid: int, body: bytes) -> bool:
        """Return True if an event has exactly the results in a body.

        Return False if the log is read from the start.
        """
        return self.base.seq > 0 and self.contents.equals(self.table.value("content", uid), body)

    def _start_of(self, body: bytes) -> int:
        head = HEAD(body)
        if head is None:
            raise ValueError("an entry starts with neither an event number nor a date")
        if self.pool.order is None:
            self.pool = replace(self.pool, order=DATED if head[1] is None else UNDATED)
        if head[1] is None:
            return microseconds(datetime.fromisoformat(head[2].decode()))
        return time_of(float(head[1]))

    def _follow_void(self, entry: Entry) -> None:
        uid = self.find(entry.subject)
        voided = entry.kind == kinds.VOID
        self.table.change(uid, status=VOIDED if voided else RATED, reason=VOIDED_REASON if voided else 0)
        self.affect(self.key(uid))
        match = self.table.value("match", uid)
        if match >= 0:
            self._choose_result(match)

    def _follow_merge(self, entry: Entry) -> None:
        number = int(entry.subject)
        before = self.merged.get(number, number)
        into = json.loads(entry.body)["into"] if entry.kind == kinds.MERGE else None
        self.direct_merges = {**self.direct_merges, number: into}
        self.merged = resolved(self.direct_merges)
        self._affect_player(before if entry.kind == kinds.UNMERGE else number)
        if self.new_starts or self.base.direct_starts:  # the one of a merged account may count now
            self._affect_player(self.merged.get(number, number))

    def _affect_player(self, number: int) -> None:
        """Record that ratings may change from a player's first event onwards."""
        for key in self._keys_of(number):
            self.affect(key)

    def _keys_of(self, number: int) -> list[OrderKey]:
        """Return the keys of the earliest events in which a player may take part."""
        base = self.base
        if self.table.changed:
            return [START]
        order, columns = base.events.order.part("uid"), base.events.columns
        unrated = order[np.flatnonzero(columns.at("status", order) == UNRATED)[:1]]  # the account may be in it
        career = base.career(slot_of(number))[:1]
        return [base.events.key(uid) for uid in (*base.rows.at("event", career).tolist(), *unrated.tolist())]

    def _follow_result(self, uid: int, match_id: str, present: int) -> None:
        match = self.matches.number(match_id)
        if self.table.value("match", uid) != match:
            self.table.change(uid, match=match, earlier_result=self.matches.value("result", match))
            self.matches.change(match, result=uid)
        self.table.change(uid, present=present)
        self._choose_result(match)

    def _results_of(self, match: int) -> Iterator[int]:
        uid = self.matches.value("result", match)
        while uid >= 0:
            yield uid
            uid = self.table.value("earlier_result", uid)

    def _choose_result(self, match: int) -> None:
        """Choose the result that counts for a match: the one with the most entrants.

        In a tie, choose the first one.
        """
        results = [uid for uid in self._results_of(match) if self.table.value("status", uid) != VOIDED]
        results.sort(key=lambda uid: (-self.table.value("present", uid), self.table.value("seq", uid)))
        for place, uid in enumerate(results):
            if (place > 0) != (self.table.value("status", uid) == SUPERSEDED):
                status, reason = (SUPERSEDED, SUPERSEDED_REASON) if place else (RATED, 0)
                self.table.change(uid, status=status, reason=reason)
                self.affect(self.key(uid))

    def events(self) -> Events:
        """Return the events after all entries have been applied, still in their old order of rating."""
        ids, columns = self.table.finished()
        matches, fixtures = IdTable(*self.matches.finished()), IdTable(*self.fixtures.finished())
        return Events(ids, columns, self.base.events.order, self.seasons, matches, fixtures)

    def uids_from(self, position: int, columns: Columns) -> Array:
        """Return the events from this position on, in their new order of rating.

        Args:
            columns: the columns of the events after all entries have been applied.
        """
        old = self.base.events
        uids = np.concatenate([old.order.part("uid", position), np.arange(old.size, columns.size)])
        return uids[in_order(columns, uids)]

    @property
    def position(self) -> int:
        """The first position in the order of rating at which ratings may change."""
        events = self.base.events
        return events.order.size if self.first is None else events.position(self.first)


def in_order(columns: Any, uids: Array) -> Array:
    """Return the indices that sort these events into the order in which they are rated."""
    if uids.size == 1:
        return np.zeros(1, np.int64)
    started_at, seq = columns.at("started_at", uids), columns.at("seq", uids)
    falls = (started_at[1:] < started_at[:-1]) | ((started_at[1:] == started_at[:-1]) & (seq[1:] < seq[:-1]))
    return np.lexsort((seq, started_at)) if falls.any() else np.arange(uids.size)


def resolved(direct: Mapping[int, int | None]) -> dict[int, int]:
    """Return for each merged account the account at the end of its chain of merges."""
    ends = {}
    for account, into in direct.items():
        end = into
        # only accounts that have not been merged away can be merged, so a chain is never circular
        while end is not None:
            ends[account] = end
            end = direct.get(end)
    return ends
