"""Results into the log, in the transaction that is open: each event is checked, numbered, logged, rated and answered.

A verb for each thing that can be done to events comes first; below them are the five steps, in their order.
"""

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.errors import Fault, NotFiniteError, ResultsError, UnknownError
from podium.results.lookalikes import warning
from podium.results.reading import Results
from podium.store.derive.corrections import record
from podium.store.derive.events import SELECT_EVENTS, get_event
from podium.store.derive.rerating import UPDATE_STATUS, VOIDED, Rerated, rerate
from podium.store.log.chain import Head, newest_head
from podium.store.log.content import Content, check_results, contents_of, difference
from podium.store.log.log import AMEND, RESTORE, SUBMIT, VOID, LogEntry, append, json_entry
from podium.store.log.players import (
    exact_numbers,
    known_numbers,
    lookalikes_of,
    names_of,
    numbers_and_newcomers,
    numbers_of,
)
from podium.store.log.pools import OrderKey, Pool
from podium.store.sql.among import values
from podium.store.sql.database import StoreError
from podium.store.sql.schema import event, log
from podium.store.write import registrations
from podium.store.write.one_player import refuse_player_twice
from podium.store.write.receipts import Receipt, receipts

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


class SentEvent(NamedTuple):
    """An event that was sent, and checked."""

    content: Content
    actor: str
    match_id: str | None


Submission = tuple[Any, str, Mapping[str, str]]  # rows, actor, and the match of each event that has one


# What can be done


def submit(
    connection: sa.Connection,
    pool: Pool,
    rows: Any,
    actor: str,
    match_ids: Mapping[str, str],
    *,
    dry_run: bool = False,
) -> list[Receipt]:
    """Log and rate events, each once; their receipts, in the order they were sent.

    Raises:
        ResultsError: the rows are refused, or an event lacks what the system needs.
        NotFiniteError: an event, or a later one after it, would make a rating no finite number.
        ConflictError: an event is known with other content.
        UnknownError: a match that is not registered, or of an event that is not among the rows.
    """
    return take(connection, pool, check_events(connection, pool, rows, actor, match_ids), dry_run=dry_run)


def submit_together(connection: sa.Connection, pool: Pool, submissions: Sequence[Submission]) -> list[list[Receipt]]:
    """Log and rate what several sent, each the rows of other events; each one's receipts."""
    every = [row for rows, _, _ in submissions for row in rows]
    owner = {row["event_id"]: k for k, (rows, _, _) in enumerate(submissions) for row in rows}
    matched = {event_id: match for _, _, match_ids in submissions for event_id, match in match_ids.items()}
    sent = {
        event_id: each._replace(actor=submissions[owner[event_id]][1])
        for event_id, each in check_events(connection, pool, every, "", matched).items()
    }
    by_submission: list[list[Receipt]] = [[] for _ in submissions]
    for receipt in take(connection, pool, sent):
        by_submission[owner[receipt.event_id]].append(receipt)
    return by_submission


def amend(
    connection: sa.Connection, pool: Pool, rows: Any, actor: str, *, reason: str = "", dry_run: bool = False
) -> Receipt:
    """Log other content of an event, and rate again.

    Raises:
        UnknownError: there is no such event.
        ResultsError: the rows are refused, or are not one event.
    """
    results = check_rows(connection, pool, rows)
    contents = contents_of(results)
    if len(contents) != 1:
        raise ResultsError(results.source, [Fault(None, "event_id", None, "an amendment is of one event")])
    ((event_id, content),) = contents.items()
    known = get_event(connection, pool, event_id)
    numbers = numbers_of(connection, pool, content.players)
    refuse_player_twice(connection, pool, [content], numbers)
    amendment = as_entry(connection, pool, SentEvent(content, actor, known.match_id), numbers, late=True)
    (seq,), head = append(connection, pool, AMEND, [amendment._replace(reason=reason)])
    params = {"pool": pool.id, "event": event_id, "newest": seq}
    connection.execute(UPDATE_CONTENT, params | {"start": content.started_at, "entrants": amendment.present})
    key = OrderKey(content.started_at, known.seq)
    rerated = rate_from(connection, pool, [OrderKey(known.started_at, known.seq), key], [known.match_id])
    record(connection, pool, seq, rerated)
    (receipt,) = receipts(connection, pool, {event_id: key}, rerated, head, dry_run=dry_run)
    return receipt


def set_voided(
    connection: sa.Connection,
    pool: Pool,
    event_id: str,
    actor: str,
    *,
    voided: bool,
    reason: str = "",
    dry_run: bool = False,
) -> Receipt:
    """Let an event count for nothing, or again; a duplicate where it does so already.

    Raises:
        UnknownError: there is no such event.
    """
    known = get_event(connection, pool, event_id)
    key = OrderKey(known.started_at, known.seq)
    if (known.status == VOIDED) == voided:
        head = newest_head(connection, pool)
        (receipt,) = receipts(connection, pool, {event_id: key}, None, head, duplicates={event_id}, dry_run=dry_run)
        return receipt
    entry = json_entry(event_id, None, actor, reason)
    (seq,), head = append(connection, pool, VOID if voided else RESTORE, [entry])
    status = VOIDED if voided else ""
    connection.execute(UPDATE_STATUS, {"pool": pool.id, "event": event_id, "status": status, "reason": status})
    rerated = rate_from(connection, pool, [key], [known.match_id])
    record(connection, pool, seq, rerated)
    (receipt,) = receipts(connection, pool, {event_id: key}, rerated, head, dry_run=dry_run)
    return receipt


def take(
    connection: sa.Connection, pool: Pool, sent: Mapping[str, SentEvent], *, dry_run: bool = False
) -> list[Receipt]:
    """Number, log, rate and answer events that are checked; those that are known already are only answered.

    Raises:
        ResultsError: one player stands twice in an event, by two names.
    """
    known = known_keys(connection, pool, sent)
    new_events = {event_id: each for event_id, each in sent.items() if event_id not in known}
    keys, rerated, warnings = dict[str, OrderKey](), None, dict[str, tuple[str, ...]]()
    if not new_events:
        head = newest_head(connection, pool)
    else:
        names = (name for each in new_events.values() for name in each.content.players)
        numbers, newcomers = numbers_and_newcomers(connection, pool, names)
        refuse_player_twice(connection, pool, (each.content for each in new_events.values()), numbers)
        keys, head = log_events(connection, pool, new_events, numbers)
        rerated = rate_from(connection, pool, keys.values(), [each.match_id for each in new_events.values()])
        warnings = lookalike_warnings(new_events, lookalikes_of(connection, pool, newcomers))
    keys = {event_id: known[event_id] if event_id in known else keys[event_id] for event_id in sent}
    return receipts(connection, pool, keys, rerated, head, duplicates=known.keys(), warnings=warnings, dry_run=dry_run)


# Check


def check_events(
    connection: sa.Connection, pool: Pool, rows: Any, actor: str, match_ids: Mapping[str, str]
) -> dict[str, SentEvent]:
    """Check rows; their events, in the order they were sent.

    Raises:
        ResultsError: the rows are refused.
        UnknownError: there is a match of an event that is not among them.
    """
    contents = contents_of(check_rows(connection, pool, rows))
    unknown = next((each for each in match_ids if each not in contents), None)
    if unknown is not None:
        raise UnknownError(f"there is no event {unknown!r} among the results, but a match is given for it")
    return {each: SentEvent(content, actor, match_ids.get(each)) for each, content in contents.items()}


def check_rows(connection: sa.Connection, pool: Pool, rows: Any) -> Results:
    """Check rows against the rules for results; the results.

    Raises:
        ResultsError: the rows are refused.
    """
    return check_results(rows, pool.name, functools.partial(names_in_use, connection, pool))


def names_in_use(connection: sa.Connection, pool: Pool, column: str, names: list[str]) -> set[str]:
    """Of names that the rule refuses, those that the pool has had since before there was one."""
    if column == "player":
        return set(exact_numbers(connection, pool, names))
    if column == "event_id":
        return {row.event_id for row in connection.execute(SELECT_EVENTS, {"pool": pool.id, "among": values(names)})}
    return set()


def known_keys(connection: sa.Connection, pool: Pool, sent: Mapping[str, SentEvent]) -> dict[str, OrderKey]:
    """Which of the events are in the log already, with this very content, and where they are in the order of rating.

    Raises:
        ConflictError: one is there with other content.
    """
    known = connection.execute(SELECT_EVENTS, {"pool": pool.id, "among": values(sent)}).all()
    for row in known:
        refuse_other_content(connection, pool, row, sent[row.event_id].content)
    return {row.event_id: OrderKey(row.started_at, row.seq) for row in known}


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
    if content.digest(pool.secret) in [row.digest for row in rows]:
        return True
    numbers = known_numbers(connection, pool, sorted(set(content.players)))
    if not numbers.keys() >= set(content.players):
        return False
    _, absent = registrations.attendance(connection, pool, known.match_id, content, numbers, late=True)
    return content.body(numbers, absent) in [row.body for row in rows]


# Number and log


def as_entry(
    connection: sa.Connection, pool: Pool, sent: SentEvent, numbers: Mapping[str, int], *, late: bool
) -> LogEntry:
    """The log entry of an event, its players by number, with those of its match's entrants who are missing.

    Args:
        late: whether the event is taken after its match expired.
    """
    content, actor, match_id = sent
    present, absent = registrations.attendance(connection, pool, match_id, content, numbers, late=late)
    body, digest = content.body(numbers, absent), content.digest(pool.secret)
    return LogEntry(content.event_id, body, actor, digest, match_id, present)


def log_events(
    connection: sa.Connection, pool: Pool, new_events: Mapping[str, SentEvent], numbers: Mapping[str, int]
) -> tuple[dict[str, OrderKey], Head]:
    """Log events that are new, and enter them in the table of events; their keys in their order, and the log's head."""
    entries = [as_entry(connection, pool, each, numbers, late=False) for each in new_events.values()]
    keys: dict[str, OrderKey] = {}
    rows: list[dict[str, Any]] = []
    seqs, head = append(connection, pool, SUBMIT, entries)
    for entry, seq in zip(entries, seqs, strict=True):
        key = OrderKey(new_events[entry.subject].content.started_at, seq)
        keys[entry.subject] = key
        rows.append(
            {
                "pool_id": pool.id,
                "event_id": entry.subject,
                "seq": seq,
                "content_seq": seq,
                "started_at": key.started_at,
                "status": "",
                "reason": "",
                "match_id": entry.match_id,
                "present": entry.present,
            }
        )
    connection.execute(INSERT_EVENTS, rows)
    return keys, head


# Rate


def rate_from(
    connection: sa.Connection, pool: Pool, touched: Iterable[OrderKey], match_ids: Iterable[str | None]
) -> Rerated:
    """Rate from the first event on that is touched, or whose match now has another result.

    Raises:
        ResultsError: an event lacks what the system needs, or would count with one player twice.
        NotFiniteError: a rating would be no finite number.
    """
    keys = [*touched]
    for match_id in dict.fromkeys(match_ids):
        keys += registrations.choose_result(connection, pool, match_id)
    rerated = rerate(connection, pool, min(keys))
    refuse_not_finite(connection, pool, rerated)
    refuse_doubled(connection, pool, rerated, keys)
    return rerated


def refuse_not_finite(connection: sa.Connection, pool: Pool, rerated: Rerated) -> None:
    """Refuse what makes an event unrateable that was not so before.

    Raises:
        NotFiniteError: there is one; the first.
    """
    for error in rerated.not_finite:
        (name,) = names_of(connection, pool, [int(str(error.player))]).values()
        raise NotFiniteError(error.system, error.settlement, error.entrant, error.event_id, name)


def refuse_doubled(connection: sa.Connection, pool: Pool, rerated: Rerated, touched: Iterable[OrderKey]) -> None:
    """Refuse to let an event count, where it did not before, in which a player now stands twice.

    Raises:
        ResultsError: there is one; the first.
    """
    for key in touched:
        if key in rerated.doubled:
            event_id, number = rerated.doubled[key]
            (name,) = names_of(connection, pool, [number]).values()
            remedy = (
                f"took part in {event_id} as both of two accounts that are one now; amend the event, or unmerge one"
            )
            raise ResultsError("merge", [Fault(None, "player", name, remedy)])


# Answer


def lookalike_warnings(
    new_events: Mapping[str, SentEvent], lookalikes: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """A warning of each new player whose name looks like another's, at the first event that has the player."""
    warnings: dict[str, tuple[str, ...]] = {}
    unreported = dict(lookalikes)
    for event_id, each in new_events.items() if lookalikes else ():
        new = [name for name in dict.fromkeys(each.content.players) if name in unreported]
        if new:
            warnings[event_id] = tuple(warning(name, unreported.pop(name)) for name in new)
    return warnings
