"""Results into the log: each event once, rated in the transaction that is open, and what became of it."""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.errors import Fault, NotFiniteError, ResultsError, UnknownError
from podium.results.lookalikes import warning
from podium.results.reading import Results
from podium.store.derive.events import SELECT_EVENTS, Change, changes_of, get_event
from podium.store.derive.rerating import SUPERSEDED, UPDATE_STATUS, VOIDED, Rerated, rerate
from podium.store.derive.standings import Ledger
from podium.store.log.content import Content, checked, contents_of, difference
from podium.store.log.log import AMEND, RESTORE, SUBMIT, VOID, Entry, append, entry
from podium.store.log.players import (
    exact_numbers,
    known_numbers,
    lookalikes_of,
    names_of,
    numbers_and_newcomers,
    numbers_of,
)
from podium.store.log.pools import Key, Pool
from podium.store.sql.among import values
from podium.store.sql.database import StoreError
from podium.store.sql.schema import event, log
from podium.store.write import registrations

SELECT_CONTENTS = (
    sa.select(log.c.seq, log.c.body, log.c.digest)
    .where(log.c.seq.in_([sa.bindparam("first"), sa.bindparam("newest")]))
    .order_by(log.c.seq)
)
INSERT_EVENTS = sa.insert(event)
SAME_EVENT = sa.and_(event.c.pool_id == sa.bindparam("pool"), event.c.event_id == sa.bindparam("event"))
UPDATE_CONTENT = sa.update(event).where(SAME_EVENT).values(
    content_seq=sa.bindparam("newest"), started_at=sa.bindparam("start"), present=sa.bindparam("entrants")
)  # fmt: skip


class ConflictError(StoreError):
    """The event is there already, with other content."""


class Effect(NamedTuple):
    """What becomes of a change of another event; None where there was, or is to be, none."""

    event_id: str | None  # None: a season began
    player: str
    rating_was: float | None
    rating: float | None


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of an event that was sent."""

    event_id: str
    seq: int  # of its submission
    status: str  # rated, unrated, voided, superseded
    reason: str  # why it is not rated; empty where it is
    duplicate: bool  # it was known, with this very content
    changes: tuple[Change, ...]  # of this event
    rerated: int  # ledger rows of other events that changed with it
    effects: tuple[Effect, ...] = ()  # those rows, where nothing was to be stored
    warnings: tuple[str, ...] = ()  # of new players whose names look like others in the pool


class SentEvent(NamedTuple):
    """An event that was sent."""

    content: Content
    actor: str
    match_id: str | None


Submission = tuple[Any, str, Mapping[str, str]]  # rows, actor, and the match of each event that has one


def names_in_use(connection: sa.Connection, pool: Pool, column: str, names: list[str]) -> set[str]:
    """Of names that the rule refuses, those that the pool has had since before there was one."""
    if column == "player":
        return set(exact_numbers(connection, pool, names))
    if column == "event_id":
        return {row.event_id for row in connection.execute(SELECT_EVENTS, {"pool": pool.id, "among": values(names)})}
    return set()


def check_rows(connection: sa.Connection, rows: Any, pool: Pool) -> Results:
    """Results for a pool, checked.

    Raises:
        ResultsError: the rows are refused.
    """
    return checked(rows, pool.name, functools.partial(names_in_use, connection, pool))


def sent_events(
    connection: sa.Connection, rows: Any, pool: Pool, actor: str, match_ids: Mapping[str, str]
) -> dict[str, SentEvent]:
    """The events of rows, checked.

    Raises:
        ResultsError: the rows are refused.
        UnknownError: there is a match of an event that is not among them.
    """
    results = check_rows(connection, rows, pool)
    contents = contents_of(results)
    unknown = next((each for each in match_ids if each not in contents), None)
    if unknown is not None:
        raise UnknownError(f"there is no event {unknown!r} among the results, but a match is given for it")
    return {each: SentEvent(content, actor, match_ids.get(each)) for each, content in contents.items()}


def submit(
    connection: sa.Connection, pool: Pool, sent: Mapping[str, SentEvent]
) -> tuple[dict[str, Receipt], Rerated | None]:
    """Log and rate events, each once; their receipts, in the order they were sent.

    Raises:
        ResultsError: an event lacks what the system needs.
        NotFiniteError: an event, or a later one after it, would make a rating no finite number.
        ConflictError: an event is known with other content.
        UnknownError: a match that is not registered.
    """
    known = {row.event_id: row for row in connection.execute(SELECT_EVENTS, {"pool": pool.id, "among": values(sent)})}
    for row in known.values():
        refuse_other_content(connection, pool, row, sent[row.event_id].content)
    new_events = {event_id: each for event_id, each in sent.items() if event_id not in known}
    receipts, rerated = log_and_rate(connection, pool, new_events) if new_events else ({}, None)
    receipts |= {each: receipt(connection, pool, each, duplicate=True) for each in known}
    return {each: receipts[each] for each in sent}, rerated


def submit_together(connection: sa.Connection, pool: Pool, submissions: Sequence[Submission]) -> list[list[Receipt]]:
    """Log and rate what several sent, each the rows of other events; each one's receipts."""
    every = [row for rows, _, _ in submissions for row in rows]
    owner = {row["event_id"]: k for k, (rows, _, _) in enumerate(submissions) for row in rows}
    matched = {event_id: match for _, _, match_ids in submissions for event_id, match in match_ids.items()}
    sent = {
        event_id: each._replace(actor=submissions[owner[event_id]][1])
        for event_id, each in sent_events(connection, every, pool, "", matched).items()
    }
    receipts: list[list[Receipt]] = [[] for _ in submissions]
    for event_id, each in submit(connection, pool, sent)[0].items():
        receipts[owner[event_id]].append(each)
    return receipts


def refuse_other_content(connection: sa.Connection, pool: Pool, known: Any, content: Content) -> None:
    """Refuse content that is neither what an event was submitted with nor what it is now.

    Raises:
        ConflictError: it is neither.
    """
    rows = connection.execute(SELECT_CONTENTS, {"first": known.seq, "newest": known.content_seq}).all()
    if any(is_repeat(connection, pool, known, each, rows) for each in (content, content.sent) if each is not None):
        return
    body = rows[-1].body
    numbers = {json.loads(each)["player"] for each in body.decode().split("\n") if each}
    other = difference(body, names_of(connection, pool, numbers), content)
    raise ConflictError(f"event {known.event_id!r} is known with other content: {other}")


def is_repeat(connection: sa.Connection, pool: Pool, known: Any, content: Content, rows: Sequence[Any]) -> bool:
    """Whether an event was logged with this content: by the digest of what was sent, or by its players' numbers."""
    if content.digest() in [row.digest for row in rows]:
        return True
    numbers = known_numbers(connection, pool, sorted(set(content.players)))
    if not numbers.keys() >= set(content.players):
        return False
    _, absent = registrations.attendance(connection, pool, known.match_id, content, numbers, late=True)
    return content.body(numbers, absent) in [row.body for row in rows]


def log_and_rate(
    connection: sa.Connection, pool: Pool, new_events: Mapping[str, SentEvent]
) -> tuple[dict[str, Receipt], Rerated]:
    """Log and rate events that are new; their receipts."""
    names = (name for each in new_events.values() for name in each.content.players)
    numbers, newcomers = numbers_and_newcomers(connection, pool, names)
    logged: list[Entry] = []
    rows: list[dict[str, Any]] = []
    for event_id, (content, actor, match_id) in new_events.items():
        present, absent = registrations.attendance(connection, pool, match_id, content, numbers, late=False)
        logged.append(Entry(event_id, content.body(numbers, absent), content.digest(), actor, match_id, present))
        rows.append({"match_id": match_id, "present": present})
    seqs = append(connection, pool, SUBMIT, logged)
    keys = {each: Key(new_events[each].content.started_at, seq) for each, seq in zip(new_events, seqs, strict=True)}
    shared = {"pool_id": pool.id, "status": "", "reason": ""}
    for row, (event_id, key) in zip(rows, keys.items(), strict=True):
        row.update(shared, event_id=event_id, seq=key.seq, content_seq=key.seq, started_at=key.started_at)
    connection.execute(INSERT_EVENTS, rows)
    touched = [*keys.values()]
    for match_id in dict.fromkeys(row["match_id"] for row in rows):
        touched += registrations.choose_result(connection, pool, match_id)
    rerated = rerate(connection, pool, min(touched))
    refuse_not_finite(connection, pool, rerated)
    receipts = receipts_of(connection, pool, keys, rerated)
    return with_warnings(receipts, new_events, lookalikes_of(connection, pool, newcomers)), rerated


def with_warnings(
    receipts: dict[str, Receipt], new_events: Mapping[str, SentEvent], alike: dict[str, str]
) -> dict[str, Receipt]:
    """The receipts, each with a warning of the new players of its event whose names look like others."""
    for event_id, each in new_events.items() if alike else ():
        new = [name for name in each.content.players if name in alike]
        warnings = tuple(warning(name, alike.pop(name)) for name in dict.fromkeys(new))
        if warnings:
            receipts[event_id] = replace(receipts[event_id], warnings=warnings)
    return receipts


def refuse_not_finite(connection: sa.Connection, pool: Pool, rerated: Rerated) -> None:
    """Refuse what makes an event unrateable that was not so before.

    Raises:
        NotFiniteError: there is one; the first.
    """
    for error in rerated.not_finite:
        (name,) = names_of(connection, pool, [int(str(error.player))]).values()
        raise NotFiniteError(error.system, error.settlement, error.entrant, error.event_id, name)


def receipts_of(connection: sa.Connection, pool: Pool, keys: Mapping[str, Key], rerated: Rerated) -> dict[str, Receipt]:
    """What became of events that are new, from what was written."""
    ids = {tuple(key): event_id for event_id, key in keys.items()}
    own: dict[str, list[tuple[int, int, Any]]] = {event_id: [] for event_id in keys}
    for (at, seq, number), row in rerated.written.items():
        if (at, seq) in ids:
            own[ids[at, seq]].append((row.place, number, row))
    names = names_of(connection, pool, {number for rows in own.values() for _, number, _ in rows})
    others = len(rerated.written) - sum(map(len, own.values()))
    receipts = {}
    for event_id, key in keys.items():
        changes = tuple(
            Change(names[number], row.rating_before, row.rating, row.rating - row.rating_before)
            for _, number, row in sorted(own[event_id])
        )
        status, reason = rerated.marks.get(event_id, (SUPERSEDED, SUPERSEDED))
        receipts[event_id] = Receipt(event_id, key.seq, status, reason, False, changes, others)
    return receipts


def amend(connection: sa.Connection, pool: Pool, results: Results, actor: str) -> tuple[Receipt, Rerated]:
    """Log other content of an event, and rate again.

    Raises:
        UnknownError: there is no such event.
        ResultsError: the rows are not one event.
    """
    contents = contents_of(results)
    if len(contents) != 1:
        raise ResultsError(results.source, [Fault(None, "event_id", None, "an amendment is of one event")])
    ((event_id, content),) = contents.items()
    known = get_event(connection, pool, event_id)
    numbers = numbers_of(connection, pool, content.players)
    present, absent = registrations.attendance(connection, pool, known.match_id, content, numbers, late=True)
    body = content.body(numbers, absent)
    amendment = Entry(event_id, body, content.digest(), actor, known.match_id, present)
    (seq,) = append(connection, pool, AMEND, [amendment])
    params = {"pool": pool.id, "event": event_id, "newest": seq, "start": content.started_at, "entrants": present}
    connection.execute(UPDATE_CONTENT, params)
    touched = [Key(known.started_at, known.seq), Key(content.started_at, known.seq)]
    return rerate_correction(connection, pool, known, touched)


def mark(
    connection: sa.Connection, pool: Pool, event_id: str, actor: str, *, void: bool
) -> tuple[Receipt, Rerated | None]:
    """Let an event count for nothing, or again.

    Raises:
        UnknownError: there is no such event.
    """
    known = get_event(connection, pool, event_id)
    if (known.status == VOIDED) == void:
        return receipt(connection, pool, event_id, duplicate=True), None
    append(connection, pool, VOID if void else RESTORE, [entry(event_id, None, actor)])
    status = VOIDED if void else ""
    connection.execute(UPDATE_STATUS, {"pool": pool.id, "event": event_id, "status": status, "reason": status})
    return rerate_correction(connection, pool, known, [Key(known.started_at, known.seq)])


def rerate_correction(
    connection: sa.Connection, pool: Pool, known: Any, touched: Sequence[Key]
) -> tuple[Receipt, Rerated]:
    """Rate again from the first event that a correction touches."""
    rerated = rerate(connection, pool, min([*touched, *registrations.choose_result(connection, pool, known.match_id)]))
    refuse_not_finite(connection, pool, rerated)
    return receipt(connection, pool, known.event_id, rerated), rerated


def receipt(
    connection: sa.Connection, pool: Pool, event_id: str, rerated: Rerated | None = None, *, duplicate: bool = False
) -> Receipt:
    """What became of an event that was there."""
    row = get_event(connection, pool, event_id)
    key = (row.started_at, row.seq)
    others = sum((at, seq) != key for at, seq, _ in rerated.written) if rerated else 0
    changes = changes_of(connection, pool, Key(*key))
    return Receipt(event_id, row.seq, row.status, row.reason, duplicate, changes, others)


def effects(connection: sa.Connection, pool: Pool, rerated: Rerated) -> tuple[Effect, ...]:
    """Every change that is other than it was, in the order of rating."""
    keys = sorted([*rerated.written, *(rerated.old.keys() - rerated.new.keys())])
    first = keys[0][0] if keys else 0
    selected = sa.select(event.c.seq, event.c.event_id).where(event.c.pool_id == pool.id, event.c.started_at >= first)
    ids = {row.seq: row.event_id for row in connection.execute(selected)}
    names = names_of(connection, pool, {number for _, _, number in keys})
    return tuple(
        Effect(ids.get(key[1]), names[key[2]], rating_in(rerated.old, key), rating_in(rerated.new, key)) for key in keys
    )


def rating_in(ledger: Ledger, key: tuple[int, int, int]) -> float | None:
    """The rating of a row, where there is one."""
    return ledger[key].rating if key in ledger else None
