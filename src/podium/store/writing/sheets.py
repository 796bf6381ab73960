"""Sheets. The store records the events of each sheet, so that it can compare a resubmitted sheet with them.

A sheet is the source of its events. A corrected sheet adds new events, amends changed events and voids removed events
in one step, as if it had been submitted first. Corrections made in the pool itself are kept.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from podium.log.content import Content, head_begin, json_lines, row_set, start_in
from podium.log.log import admit_reason, bodies_of, contents_of
from podium.log.players import public_id, public_ids, sent_numbers
from podium.log.pools import DATED, Order, Pool
from podium.log.schema import brought, sheet
from podium.log.statements import among, instant, of_pool
from podium.pool.snapshot import Event
from podium.results.names import normalise
from podium.store.following import PoolReader
from podium.store.writing import submission
from podium.store.writing.proposals import (
    AGAIN,
    FIRST_PLACEHOLDER,
    SKIP,
    Act,
    BroughtEvent,
    Proposal,
    Sheet,
    SheetRecord,
)
from podium.support.words import counted
from podium.views.names import VOIDED, find_events

COUNT = re.compile(r" #[0-9]+$")  # appended to an ID that two events would otherwise share
MAX_SHOWN = 3  # maximum number of results named in a question
MAX_COMPARED = 20_000  # maximum number of events to search for under other IDs, by their contents
SELECT_BROUGHT = sa.select(brought).where(of_pool(brought))
SELECT_SHEETS = (
    sa.select(sheet.c.name, sheet.c.map, sa.func.count(brought.c.event_id).label("events"))
    .outerjoin(
        brought, sa.and_(brought.c.pool_id == sheet.c.pool_id, brought.c.sheet == sheet.c.name, ~brought.c.is_gone)
    )
    .where(of_pool(sheet))
    .group_by(sheet.c.name, sheet.c.map)
    .order_by(sheet.c.name)
)


class SheetError(submission.ConflictError):
    """A sheet cannot be accepted in its present form.

    The error states the problem, the command to type, and a prefix that would make all events new.
    """

    def __init__(self, what: str, ways: str, prefix: str = "") -> None:
        super().__init__(f"{what}{'' if what.endswith(('?', '.')) else '.'} {ways}")
        self.what, self.prefix = what, prefix

    question = ""  # question to the sender
    answers: Mapping[str, str] = MappingProxyType({})  # the option of `podium ingest` for each answer


class KnownResultsError(SheetError):
    """Some results in a sheet look like results that are already in the pool."""

    answers = MappingProxyType({"again": "again", "skip": "skip_known"})

    def __init__(self, sheet: Sheet, sent: Sequence["Sent"]) -> None:
        several = bool(sent[1:])
        looks = f"These {len(sent):,} look like results" if several else "This looks like a result"
        them = "them" if several else "it"
        self.question = f"{looks} you already sent. Add {them} again, or skip {them}?"
        what = f"{sheet.name and f'{sheet.name}: '}{looks} of the pool ({shown(sent)})."
        super().__init__(what, f"Add {them} with --again, or leave {them} out with --skip-known.")


class MissingResultsError(SheetError):
    """A sheet does not contain all of the results that it contained before."""

    answers = MappingProxyType({"corrected": "amend", "new": "again"})

    def __init__(self, sheet: Sheet, missing: Sequence["Stored"]) -> None:
        ids = ", ".join(event.event.event_id for event in missing[:MAX_SHOWN])
        lost = f"{counted(len(missing), 'result')} that it contained before ({ids})"
        self.question = (
            f"{sheet.name} does not contain {lost}. Is it a corrected version of the old sheet, or a new sheet?"
        )
        super().__init__(
            f"{sheet.name}: {lost} are missing from it."
            if missing[1:]
            else f"{sheet.name}: {lost} is missing from it.",
            "If it is a corrected version of the old sheet, use --amend. If it is a new sheet with the same name, use "
            "--again.",
        )


class KnownSheet(NamedTuple):
    """A sheet that the pool has already received."""

    name: str
    map: str
    events: int  # number of events that it currently has


@dataclass(slots=True, eq=False)
class Stored:
    """An event in the pool that may be in a sheet."""

    event: Event
    body: bytes  # its content
    digest: bytes
    keys: list["Key"]  # the content from this sheet, if it was corrected by hand, and the present content
    brought: BroughtEvent | None  # its record, if it came from this sheet
    others: int  # number of other sheets that contain it
    is_corrected: bool  # True if its content did not come from a sheet

    @property
    def lines(self) -> tuple[str, ...]:
        return self.keys[-1][1]

    @property
    def own_id(self) -> str:
        return self.event.event_id if self.brought is None else self.brought.own_id

    @property
    def is_voided_by_hand(self) -> bool:
        return self.event.status == VOIDED and not (self.brought and self.brought.is_gone)

    @property
    def is_live(self) -> bool:
        """Return True if the latest version of the sheet contains the event."""
        return self.brought is not None and not self.brought.is_gone


@dataclass(slots=True, eq=False)
class Sent:
    """An event in a submitted sheet."""

    own_id: str
    content: Content
    lines: tuple[str, ...]
    stored: Stored | None = None  # the same event in the pool
    is_same: bool = False  # True if the content is also the same
    is_kept: bool = False  # True if it was corrected in the pool by hand, and stays unchanged
    start: int = 0  # time that it will have, in microseconds since 1970
    moves: bool = False  # True if it comes after the existing events at its time

    @property
    def is_dated(self) -> bool:
        return self.content.order == DATED


def sheets(pool: PoolReader) -> tuple[KnownSheet, ...]:
    """List the sheets that a pool has received.

    Returns:
        The name, the map and the number of events of each sheet, sorted by name.
    """
    return tuple(KnownSheet(*row) for row in pool.execute(SELECT_SHEETS))


# A sheet that is sent


def submit(
    rows: Any,
    made_up: str = "",
    sheet: Sheet | None = None,
    order: Order | None = None,
    match_ids: Mapping[str, str] | None = None,
    received: int | None = None,
) -> Act:
    """Log and rate new events, each only once. No reason is logged except a note about filled-in values.

    Args:
        rows: the results.
        made_up: the note.
        sheet: the sheet that contains the events.
        order: the order to use for a pool without events, if the rows do not imply an order.
        match_ids: for each event that is the result of a registered match, the ID of that match.
        received: time at which events without a date were received, in microseconds since 1970.
    """
    note = admit_reason(made_up)

    def propose(pool: PoolReader, actor: str, _reason: str) -> Proposal:
        sent = submission.Submission(rows, actor, match_ids or {}, received, note, order)
        return submission.submit(pool, [sent]) if sheet is None else submit_sheet(pool, sent, sheet)

    return propose


def submit_sheet(pool: PoolReader, sent: submission.Submission, sheet: Sheet) -> Proposal:
    """Log and rate the events of a sheet, each only once, and record that they came from it.

    Raises:
        SheetError: an event is known with different content, or the sender must decide whether a result is already
            known.
    """
    sheet = sheet._replace(name=public_id(pool, sheet.name))
    contents = read_sheet(pool, sheet, sent.rows)
    known, sheet = brought_by(pool, sheet), sheet._replace(has_made_dates=bool(sent.reason))
    made = sent_events(pool, {own_id: content for own_id, content in contents.items() if own_id in sheet.made})
    lost = match_made(pool, sheet, made, known)
    name_made(pool, sheet, [one for one in made if one.stored is None])
    stored = {one.own_id: one.stored.event for one in made if one.stored is not None}
    called = {event.own_id: event.event_id for event in known.values() if not event.is_gone}
    called |= {one.own_id: one.content.event_id for one in made}
    called |= {own_id: event.event_id for own_id, event in stored.items()}
    own_ids = {called.get(own_id, content.event_id): own_id for own_id, content in contents.items()}
    named = {
        event_id: contents[own_id].renamed(event_id) for event_id, own_id in own_ids.items() if own_id not in stored
    }
    try:
        proposal = submission.submit_contents(pool, [named], [sent])
    except submission.ConflictError as error:
        prefix = suggested_prefix(sheet, contents.values())
        ways = (
            f"If {sheet.name} was corrected, send it with podium ingest {sheet.name} --amend. If these are different "
            f"events, use --prefix {prefix} for new IDs."
        )
        raise SheetError(str(error), ways, prefix) from None
    proposal = replace(
        proposal,
        sent=dict.fromkeys(own_ids, 0),
        known={*proposal.known, *(event.event_id for event in stored.values())},
    )
    seqs = {event.event_id: event.seq for event in find_events(pool, proposal.known)}
    seqs |= {event.event_id: event.content_seq for event in stored.values()}
    seqs |= {entry.subject: FIRST_PLACEHOLDER + k for k, entry in enumerate(proposal.entries)}
    events = lost + [
        BroughtEvent(event_id, event_id if own_ids[event_id] in sheet.made else own_ids[event_id], seqs[event_id])
        for event_id in proposal.sent
        if event_id not in known or known[event_id].is_gone
    ]
    return replace(proposal, sheet=SheetRecord(sheet.name, sheet.map, events) if sheet.name else None)


def read_sheet(pool: PoolReader, sheet: Sheet, rows: Any) -> dict[str, Content]:
    """Return the events of a sheet, with the IDs that the pool would give them, by the sheet's own IDs.

    An ID that contained a removed name is replaced in both.
    """
    contents = submission.check_rows(pool, rows, sheet.made)
    ids = {own_id: own_id if own_id in sheet.made else sheet.prefix + own_id for own_id in contents}
    public = public_ids(pool, [event_id for own_id, event_id in ids.items() if own_id not in sheet.made])
    return {
        public.get(ids[own_id], own_id): content.renamed(public.get(ids[own_id], ids[own_id]))
        for own_id, content in contents.items()
    }


def suggested_prefix(sheet: Sheet, contents: Iterable[Content]) -> str:
    """Return a prefix for the IDs of events from a different season: the year, or the sheet's name."""
    first = min((content.started_at for content in contents if content.order == DATED), default=None)
    return f"{PurePath(sheet.name).stem if first is None else instant(first).year}/"


def brought_by(pool: PoolReader, sheet: Sheet) -> dict[str, BroughtEvent]:
    rows = pool.execute(SELECT_BROUGHT.where(brought.c.sheet == sheet.name))
    return {row.event_id: BroughtEvent(*row[2:]) for row in rows}


def sent_events(pool: PoolReader, contents: Mapping[str, Content]) -> list[Sent]:
    """Return the events of a sheet, by the sheet's own IDs."""
    names = sorted({name for content in contents.values() for name in content.names})
    written = {name: repr(name) for name in names} | sent_numbers(pool, names)
    texts = json_lines(contents.values(), written.__getitem__, [""] * len(contents))
    return [
        Sent(own_id, content, row_set(text)) for (own_id, content), text in zip(contents.items(), texts, strict=True)
    ]


Key = tuple[int, tuple[str, ...]]  # time of an event, and the sorted rows of its content without ID and time


def key_of(pool: Pool, event_id: str, body: bytes, started_at: int) -> Key:
    """Return a key that is the same for equal contents in the log."""
    return started_at, row_set(body.decode().replace(head_begin(event_id, pool.order, started_at), ""))


def stored_events(
    pool: PoolReader, known: Mapping[str, BroughtEvent], sheet: Sheet, events: Sequence[Event]
) -> list[Stored]:
    """Return the events with their contents, and with the data that the store has recorded about their sheets."""
    newest, others = dict[str, int](), Counter[str]()
    for row in pool.execute(
        SELECT_BROUGHT.where(among(brought.c.event_id)), among=[event.event_id for event in events]
    ):
        newest[row.event_id] = max(newest.get(row.event_id, 0), row.content_seq)
        others[row.event_id] += row.sheet != sheet.name and not row.is_gone
    contents, stored = contents_of(pool, [event.content_seq for event in events]), list[Stored]()
    for event in events:
        body, digest = contents[event.content_seq]
        keys = [key_of(pool, event.event_id, body, event.started_at)]
        corrected = event.content_seq != newest.get(event.event_id, event.seq)
        own = known.get(event.event_id)
        stored.append(Stored(event, body, digest, keys, own, others[event.event_id], corrected))
    by_hand = {event.brought.content_seq: event for event in stored if event.is_corrected and event.brought is not None}
    for seq, body in bodies_of(pool, by_hand).items():
        start = start_in(json.loads(body.partition(b"\n")[0]))
        by_hand[seq].keys.insert(0, key_of(pool, by_hand[seq].event.event_id, body, start))
    return stored


# Results whose ids Podium made


def match_made(
    pool: PoolReader, sheet: Sheet, sent: Sequence[Sent], known: Mapping[str, BroughtEvent]
) -> list[BroughtEvent]:
    """Find the stored event for each result: the n-th equal event from this sheet, or an event from another source.

    Returns:
        The events that no longer belong to the sheet, because it is a new sheet with the same name.

    Raises:
        MissingResultsError: results that the sheet contained before are missing.
        KnownResultsError: some results look like results from another source.
    """
    if not sent:
        return []
    own = [event for event in stored_events(pool, known, sheet, find_events(pool, known)) if event.is_live]
    pair_equal(sent, own)
    taken = {one.stored for one in sent}
    missing = [event for event in own if event not in taken and event.event.status != VOIDED]
    lost = list[BroughtEvent]()
    if missing and sheet.answer == AGAIN:
        lost = [event.brought._replace(is_gone=True) for event in own if event.brought]
        for one in sent:
            one.stored = None
    elif missing:
        raise MissingResultsError(sheet, missing)
    match_elsewhere(pool, sheet, sent, known)
    return lost


def match_elsewhere(pool: PoolReader, sheet: Sheet, sent: Sequence[Sent], known: Mapping[str, BroughtEvent]) -> None:
    """Match results with events from other sources, by ID or by the answer that came with the sheet."""
    left = [one for one in sent if one.stored is None]
    if not left or pool.order is None or sheet.prefix or sheet.answer == AGAIN:
        return
    events = pool.snapshot.events
    if left[0].is_dated:
        uids = np.flatnonzero(np.isin(events.columns.part("started_at"), [one.content.started_at for one in left]))
    else:
        uids = np.argsort(-events.columns.part("seq"), kind="stable")[:MAX_COMPARED]
    others = events.of_uids([uid for uid in uids.tolist() if uid not in events.seasons])
    stored = stored_events(pool, {}, sheet, [other for other in others if other.event_id not in known])
    pair_equal(left, stored, apart=True)
    refuse_other_result(pool, sheet, left, stored)
    found = [one for one in left if one.stored is not None]
    sure = [one for one in found if one.stored and is_proven(sheet, one, one.stored)]
    if len(sure) < len(found) and sheet.answer != SKIP:
        raise KnownResultsError(sheet, [one for one in found if one not in sure])


def refuse_other_result(pool: PoolReader, sheet: Sheet, sent: Sequence[Sent], stored: Sequence[Stored]) -> None:
    """Reject a result if another source has sent a different one for the same players and the same time or round."""
    taken = {one.stored for one in sent}
    others = {(event.event.started_at, players_in(event.lines)): event for event in stored if event not in taken}
    for one in sent:
        other = others.get((one.content.started_at, players_in(one.lines)))
        if one.stored is None and other is not None and is_proven(sheet, one, other):
            content = one.content.renamed(other.event.event_id).at(pool.order or DATED, other.event.started_at)
            try:
                submission.refuse_other_content(pool, other.event, content)
            except submission.ConflictError as error:
                ways = "Correct it with podium amend, or add another event with podium ingest --again."
                raise SheetError(str(error), ways, suggested_prefix(sheet, [one.content])) from None


def players_in(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the players in an event's lines: numbers, or names for new players."""
    _, *rows = lines
    return tuple(sorted(row.rpartition('"player":')[2].partition(',"shared:')[0] for row in rows))


Pairs = Iterable[tuple[Sent, Stored]]


def pair(sent: Sequence[Sent], stored: Sequence[Stored], *finders: Callable[[list[Sent], list[Stored]], Pairs]) -> None:
    """Match events of a sheet with events in the pool. Each finder pairs events that the finders before it left."""
    for find in finders:
        taken = {one.stored for one in sent}
        left = [event for event in stored if event not in taken]
        for one, other in [*find([one for one in sent if one.stored is None], left)]:
            one.stored = other


def pair_equal(sent: Sequence[Sent], stored: Sequence[Stored], *, apart: bool = False) -> None:
    """Pair equal results, the n-th with the n-th. With `apart`, titles and addresses may differ."""
    is_placed = any(one.is_dated or (one.content.order is not None and not apart) for one in sent)
    pair(sent, stored, *(partial(equal_pairs, key=k, apart=apart, is_placed=is_placed) for k in range(2)))


def equal_pairs(
    sent: Sequence[Sent], stored: Sequence[Stored], *, key: int = -1, apart: bool = False, is_placed: bool
) -> Pairs:
    """Yield pairs of results and equal stored results: the n-th with the n-th, at equal times if `is_placed`.

    `key` is the position in their `keys` to compare. With `apart`, titles and addresses may differ.
    """
    waiting = defaultdict[Any, list[Stored]](list)
    for other in sorted(stored, key=lambda event: event.event.key, reverse=True):
        for start, lines in other.keys[key:][:1]:
            waiting[start if is_placed else 0, lines[apart:]].append(other)
    for one in sent:
        same = waiting[one.content.started_at if is_placed else 0, one.lines[apart:]]
        if same:
            yield one, same.pop()


def id_of_made(sheet: Sheet, one: Sent) -> tuple[str, bool]:
    """Return a result's ID without names and number, and True if this ID proves that two results are the same."""
    whole, content, round_ = COUNT.sub("", one.own_id), one.content, sheet.made[one.own_id]
    start = instant(content.started_at) if one.is_dated else None
    clock = (
        f"{start:%H:%M}" if start and not sheet.has_made_dates and (start.hour or start.minute or start.second) else ""
    )
    if any(normalise(name) in normalise(whole) for name in content.names):
        whole = " ".join(filter(None, [f"{start:%Y-%m-%d}" if start else "", clock, round_]))
    return sheet.prefix + whole, bool(clock or round_)


def is_proven(sheet: Sheet, one: Sent, other: Stored) -> bool:
    """Return True if the ID of an equal result proves that it is the same as a stored one."""
    base, proves = id_of_made(sheet, one)
    return proves and COUNT.sub("", other.event.event_id) in (base, COUNT.sub("", one.own_id))


def name_made(pool: PoolReader, sheet: Sheet, sent: Sequence[Sent]) -> None:
    """Set new results' IDs, which contain no names: the date, the round, and the next free number in the pool."""
    newest, find = dict[str, int](), pool.snapshot.events.find
    for one in sent:
        base, _ = id_of_made(sheet, one)
        if base not in newest:
            newest[base] = count_ids(pool, base)
        newest[base] += 1
        while newest[base] > 1 and find(numbered_id(base, newest[base])) >= 0:
            newest[base] += 1
        is_bare = base == sheet.prefix + COUNT.sub("", one.own_id) and newest[base] == 1
        one.content = one.content.renamed(base if is_bare else numbered_id(base, newest[base]))


def numbered_id(base: str, number: int) -> str:
    return f"{base} #{number}".lstrip()


def next_event_id(pool: PoolReader, base: str) -> str:
    """Choose the ID of an event that is entered by hand.

    Args:
        pool: the pool.
        base: the date of the event, or an empty string in a pool without dates.

    Returns:
        The date for the first event on that date, and the date with a number for later events. Without a date, the ID
        is only a number.
    """
    number = count_ids(pool, base) + 1
    while pool.snapshot.events.find(numbered_id(base, number)) >= 0:
        number += 1
    return base if base and number == 1 else numbered_id(base, number)


def count_ids(pool: PoolReader, base: str) -> int:
    """Return the largest number up to which IDs with this base exist without gaps.

    Return 1 if only the base itself exists.
    """
    find = pool.snapshot.events.find
    count, step = int(find(base) >= 0 or find(numbered_id(base, 1)) >= 0), 1
    while step:
        is_known = find(numbered_id(base, count + step)) >= 0
        count, step = (count + step, 2 * step) if is_known else (count, step // 2)
    return count


def shown(sent: Sequence[Sent]) -> str:
    more = len(sent) - MAX_SHOWN
    return ", ".join([*(one.own_id for one in sent[:MAX_SHOWN]), *([f"and {more:,} more"] if more > 0 else [])])
