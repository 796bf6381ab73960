"""Submitted and corrected results. Each event is checked, numbered, proposed and answered.

The operations on events come first, followed by their steps. `podium.store.writing.execution` carries them out.
"""

import functools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from podium.errors import Fault, ResultsError, UnknownError
from podium.log.content import (
    Absent,
    Content,
    difference,
    digests_of,
    json_lines,
    lines_of,
    numbers_in,
    plain_contents,
    read_contents,
    row_set,
)
from podium.log.database import StoreError
from podium.log.log import AMEND, SUBMIT, UNVOID, VOID, LogEntry, bodies_of, contents_of, json_entry
from podium.log.players import (
    confusables_of,
    exact_numbers,
    has_removed,
    mentions_removed,
    names_of,
    provisional_numbers,
    public_id,
    public_ids,
    sent_numbers,
)
from podium.log.pools import DATED, NUMBER_US, UNDATED, Order, Pool
from podium.log.statements import now
from podium.pool.snapshot import Event
from podium.results.names import warning
from podium.store.following import PoolReader
from podium.store.writing.proposals import Act, Proposal, require_version
from podium.views.names import VOIDED, find_event, find_events

OTHER_ORDER: Mapping[Order | None, str] = {  # the problem with `started_at` in pools of each order
    DATED: "is missing, and the events of pool {pool!r} have dates. Give the date of the first event, for example"
    " --started-at 2026-01-31, and with --every 1w the time between events",
    UNDATED: "is given, but the events of pool {pool!r} have numbers instead of dates. Leave it out, or give them dates"
    " with podium pool order {pool} dated",
    None: "is missing, and pool {pool!r} has no events yet. Give the date of the first event, for example --started-at "
    "2026-01-31, or number the events with --order sequence",
}
MIXED = "is given for some events, but others have numbers. Give all events dates, or all of them numbers"


class ConflictError(StoreError):
    """An event with this ID already exists, and its content is different."""


class UndatedError(ResultsError):
    """Events have neither dates nor numbers, and the pool has no order yet."""


class Submission(NamedTuple):
    rows: Any
    actor: str
    match_ids: Mapping[str, str]  # IDs of registered matches, for each event that is the result of one
    # time of receipt for events without a date, in microseconds since 1970; if None, such events are rejected
    received: int | None = None
    reason: str = ""  # note for the log about values that were filled in
    order: Order | None = None  # order of the pool, if neither its events nor these determine it


class SentEvent(NamedTuple):
    content: Content
    actor: str
    match_id: str | None
    received: int | None = None  # from its submission, like the reason
    reason: str = ""


# The operations


def submit(pool: PoolReader, submissions: Sequence[Submission | tuple[Any, ...]]) -> Proposal:
    """Log and rate events, each only once. Known events are only reported."""
    sent_by = [Submission(*submission) for submission in submissions]
    return submit_contents(pool, check_contents(pool, sent_by), sent_by)


def submit_contents(
    pool: PoolReader, contents: Sequence[Mapping[str, Content]], sent_by: Sequence[Submission]
) -> Proposal:
    """Log and rate the contents that were sent. `sent_by` contains each sender's events, by ID."""
    sent = {
        event_id: event
        for checked, submission in zip(contents, sent_by, strict=True)
        for event_id, event in to_sent_events(pool, checked, submission).items()
    }
    received = any(sender.received is not None for sender in sent_by)
    order = order_with(pool, (event.content for event in sent.values()), DATED if received else sent_by[0].order)
    senders = {event_id: sender for sender, checked in enumerate(contents) for event_id in checked}
    known = known_events(pool, sent)
    new_events = {event_id: event for event_id, event in sent.items() if event_id not in known}
    if not new_events:
        return Proposal(pool, SUBMIT, sent=senders, known=known)
    sets_order = pool.order is None
    pool = replace(pool, order=order) if sets_order else pool
    new_events = with_starts(pool, new_events)
    sent_names = (name for event in new_events.values() for name in event.content.names)
    numbers, newcomers, names = provisional_numbers(pool, sent_names)
    refuse_player_twice(pool, (event.content for event in new_events.values()), numbers)
    entries = to_entries(pool, [*new_events.values()], numbers, late=False)
    warnings = warnings_about(new_events, confusables_of(pool, list(newcomers.values())))
    return Proposal(pool, SUBMIT, entries, senders, known, warnings, newcomers, names, sets_order=sets_order)


def amend(rows: Any, versions: Collection[str] | None = None) -> Act:
    """Log new content for an event, and rate the event again. Identical content is reported as a duplicate.

    Args:
        rows: the corrected event.
        versions: the versions of the event that may be corrected. Default: any version.

    Returns:
        The act. Its answer is a receipt.

    Raises:
        UnknownError: the event does not exist.
        ResultsError: the rows are invalid, or do not form a single event.
        StaleError: the event has another version.
    """

    def propose(pool: PoolReader, actor: str, reason: str) -> Proposal:
        contents = check_rows(pool, rows)
        if len(contents) != 1:
            raise ResultsError(
                "results", [Fault(None, "event_id", None, "an amendment must contain exactly one event")]
            )
        ((event_id, content),) = contents.items()
        event = find_event(pool, event_id)
        require_version(event, versions)
        content = content.at(order_with(pool, [content]), event.started_at)  # it stays in its position
        if has_content(pool, event, content):
            return Proposal(pool, AMEND, sent={event_id: 0}, known={event_id})
        numbers, newcomers, names = provisional_numbers(pool, content.names)
        refuse_player_twice(pool, [content], numbers)
        entries = to_entries(pool, [SentEvent(content, actor, event.match_id, None, reason)], numbers, late=True)
        return Proposal(pool, AMEND, entries, {event_id: 0}, newcomers=newcomers, names=names)

    return propose


def void(event_id: str, versions: Collection[str] | None = None) -> Act:
    """Void an event, if its version is one of these. If it is already void, report a duplicate.

    Returns:
        The act. Its answer is a receipt.
    """
    return functools.partial(set_voided, event_id=event_id, voided=True, versions=versions)


def unvoid(event_id: str, versions: Collection[str] | None = None) -> Act:
    """Count a voided event again, if its version is one of these. If it already counts, report a duplicate.

    Returns:
        The act. Its answer is a receipt.
    """
    return functools.partial(set_voided, event_id=event_id, voided=False, versions=versions)


def set_voided(
    pool: PoolReader, actor: str, reason: str, *, event_id: str, voided: bool, versions: Collection[str] | None
) -> Proposal:
    event = find_event(pool, event_id)
    require_version(event, versions)
    kind, sent = VOID if voided else UNVOID, {event.event_id: 0}
    if (event.status == VOIDED) == voided:
        return Proposal(pool, kind, sent=sent, known=set(sent))
    return Proposal(pool, kind, (json_entry(event.event_id, None, actor, reason),), sent)


# Check


def check_contents(pool: PoolReader, submissions: Sequence[Submission]) -> list[dict[str, Content]]:
    """Check submissions, which must contain different events. Return the events of each, in the order sent."""
    if len(submissions) == 1:
        return [check_rows(pool, submissions[0].rows)]
    contents = [plain_contents(submission.rows, pool.name) for submission in submissions]
    others = [k for k, content in enumerate(contents) if content is None]
    if others:  # a single table of all submissions takes hardly longer than a table of one
        owner = {row["event_id"]: k for k in others for row in submissions[k].rows}
        by_sender: dict[int, dict[str, Content]] = {k: {} for k in others}
        rows = [row for k in others for row in submissions[k].rows]
        for event_id, content in read_rows(pool, rows).items():
            by_sender[owner[event_id]][event_id] = content
        contents = [by_sender[k] if content is None else content for k, content in enumerate(contents)]
    return [with_public_ids(pool, content or {}, ()) for content in contents]


def with_public_ids(pool: PoolReader, contents: Mapping[str, Content], made: Collection[str]) -> dict[str, Content]:
    """Return contents by the events' current IDs, without titles that mention a removed name. IDs in `made` stay."""
    if not has_removed(pool):
        return dict(contents)
    public, found = public_ids(pool, {*contents} - {*made}), dict[str, Content]()
    for event_id, sent in contents.items():
        content = sent.without_texts() if mentions_removed(pool, sent.title, sent.url) else sent
        content = content.renamed(public.get(event_id, event_id))
        found[content.event_id] = content if content is sent else content._replace(sent=sent)
    return found


def to_sent_events(pool: PoolReader, contents: Mapping[str, Content], submission: Submission) -> dict[str, SentEvent]:
    _, actor, sent_ids, received, reason, _ = submission
    public = public_ids(pool, [*sent_ids, *sent_ids.values()])
    match_ids = {
        public.get(event_id, event_id): public.get(match_id, match_id) for event_id, match_id in sent_ids.items()
    }
    unknown = next((match_id for match_id in match_ids if match_id not in contents), None)
    if unknown is not None:
        raise UnknownError(
            f"The results have no event {unknown!r}, but a match is given for it. Remove the match, or correct the ID."
        )
    return {
        event_id: SentEvent(content, actor, match_ids.get(event_id), received, reason)
        for event_id, content in contents.items()
    }


def check_rows(pool: PoolReader, rows: Any, made: Collection[str] = ()) -> dict[str, Content]:
    return with_public_ids(pool, read_rows(pool, rows), made)


def read_rows(pool: PoolReader, rows: Any) -> dict[str, Content]:
    return read_contents(rows, pool.name, functools.partial(names_in_use, pool))


def names_in_use(pool: PoolReader, column: str, names: list[str]) -> set[str]:
    """Return the invalid names that have been in the pool since before the rule for names existed."""
    if pool.connection.dialect.name == "postgresql":
        names = [name for name in names if "\0" not in name]  # PostgreSQL's text type cannot hold these
    if column == "player":
        return set(exact_numbers(pool, names))
    if column == "event_id":
        return {name for name in names if pool.snapshot.events.find(name) >= 0}
    return set()


def known_events(pool: PoolReader, sent: Mapping[str, SentEvent]) -> set[str]:
    """Return the events that are already in the log with exactly this content."""
    known = find_events(pool, sent)
    for event in known:  # an event sent without a date or number stays in its position
        content, is_made_up = sent[event.event_id].content, bool(sent[event.event_id].reason)
        content = (content.undated() if is_made_up else content).at(pool.order or DATED, event.started_at)
        refuse_other_content(pool, event, content)
    return {event.event_id for event in known}


def order_with(pool: PoolReader, contents: Iterable[Content], undated: Order | None = None) -> Order:
    """Return the order of a pool's events after these contents are added.

    Args:
        undated: the order to use if neither the pool nor an event determines it.
    """
    orders = {content.order for content in contents} - {None}
    order = pool.order
    if order is None and pool.snapshot.events.seasons:
        order = DATED  # like its seasons
    if order is None and len(orders) > 1:
        raise ResultsError("results", [Fault(None, "started_at", None, MIXED)])
    if order is None:
        order = next(iter(orders), undated)
    if order is None or orders - {order}:
        raise other_order_error(pool, order)
    return order


def other_order_error(pool: Pool, order: Order | None) -> ResultsError:
    error = ResultsError if order == UNDATED else UndatedError
    return error("results", [Fault(None, "started_at", None, OTHER_ORDER[order].format(pool=pool.name))])


def with_starts(pool: PoolReader, new_events: Mapping[str, SentEvent]) -> dict[str, SentEvent]:
    """Return the new events, all with a date or a number.

    Events without either come after all existing events and after the previous new ones.
    """
    newest = pool.snapshot.events.newest_start
    placed = {}
    for event_id, event in new_events.items():
        content = event.content
        if content.order is None:
            content = content.at(pool.order or DATED, following(pool, newest, event.received))
        newest = content.started_at if newest is None else max(newest, content.started_at)
        placed[event_id] = event if content is event.content else event._replace(content=content)
    return placed


def following(pool: Pool, newest: int | None, received: int | None) -> int:
    """Return the time, in microseconds since 1970, for an event without one. It is after the newest event.

    In a numbered pool, the event gets the next whole number. In a dated pool, it gets the time of receipt if that is
    not before the newest event.
    """
    if pool.is_undated:
        return NUMBER_US if newest is None else (newest // NUMBER_US + 1) * NUMBER_US
    if received is None:
        raise other_order_error(pool, DATED)
    return received if newest is None else max(newest, received)


def refuse_other_content(pool: PoolReader, known: Event, content: Content) -> None:
    """Reject content for an existing event, unless the event was submitted with this content or has it now."""
    logged = contents_of(pool, [known.seq, known.content_seq])
    if any(
        is_repeat(pool, known, version, logged.values()) for version in (content, content.sent) if version is not None
    ):
        return
    body, _ = logged[known.content_seq]
    numbers = numbers_in(lines_of(body))
    other = difference(body, names_of(pool, numbers), content)
    raise ConflictError(f"event {known.event_id!r} is known with different content: {other}")


def has_content(pool: PoolReader, known: Event, content: Content) -> bool:
    """Return True if an event already has exactly this content, including the players missing from its match."""
    if content.started_at != known.started_at:
        return False
    logged = contents_of(pool, [known.content_seq]).values()
    if known.match_id is not None:  # the missing players may have changed since this was logged
        body = present_body(pool, known, content)
        if body is not None:
            return is_logged(body, logged)
    return is_repeat(pool, known, content, logged)


Logged = Collection[tuple[bytes, bytes]]  # bodies with their digests


def is_repeat(pool: PoolReader, known: Event, content: Content, logged: Logged) -> bool:
    """Return True if an event was logged with this content, based on the digest or on player numbers."""
    if digests_of([content], pool.secret)[0] in [digest for _, digest in logged]:
        return True
    return is_logged(present_body(pool, known, content), logged)


def is_logged(body: bytes | None, logged: Logged) -> bool:
    """Return True if these rows were logged as an event's content, in any order."""
    return body is not None and row_set(body.decode()) in [row_set(body.decode()) for body, _ in logged]


def present_body(pool: PoolReader, known: Event, content: Content) -> bytes | None:
    """Return the lines that the log would have for an event with this content, or None if it has a new player."""
    names = set(content.names)
    numbers = sent_numbers(pool, sorted(names))
    if not numbers.keys() >= names:
        return None
    _, absent = attendance(pool, known.match_id, content, numbers, late=True)
    return (json_lines([content], numbers.__getitem__)[0] + content.quit_lines(absent)).encode()


# Propose


def to_entries(
    pool: PoolReader, sent: Sequence[SentEvent], numbers: Mapping[str, int], *, late: bool
) -> tuple[LogEntry, ...]:
    """Return the events' log entries, with player numbers, and with the missing entrants of their matches."""
    contents = [event.content for event in sent]
    texts, digests = json_lines(contents, numbers.__getitem__), digests_of(contents, pool.secret)
    entries = []
    for (content, actor, match_id, _, reason), text, digest in zip(sent, texts, digests, strict=True):
        present, absent = attendance(pool, match_id, content, numbers, late=late)
        body = (text + content.quit_lines(absent)).encode()
        entries.append(LogEntry(content.event_id, body, actor, digest, match_id, present, reason))
    return tuple(entries)


def refuse_player_twice(pool: PoolReader, contents: Iterable[Content], numbers: Mapping[str, int]) -> None:
    """Raise an error for events in which the same player has two entries in a heat under different names."""
    merged = pool.snapshot.merged
    if len(set(ends_of([*numbers], numbers, merged))) == len(numbers):
        return  # every name is a different player, and names that appear twice in a heat have already been rejected
    faults = []
    for content in contents:
        names, ends = content.players, ends_of(content.players, numbers, merged)
        if len(set(ends)) == len(set(names)):
            continue  # so it is in this event
        heats = [content.row(number).get("heat") for number in range(len(names))]
        for one, two in repeats(list(zip(heats, ends, strict=True))):
            where = f"rows {one + 1} and {two + 1} of event {content.event_id}"
            why = cause(pool, (names[one], names[two]), where, numbers, ends[one])
            faults.append(Fault(None, "player", None, f"{why}; send the player once"))
    if faults:
        raise ResultsError("results", faults)


def refuse_entrant_twice(pool: PoolReader, match_id: str, names: Sequence[str], numbers: Mapping[str, int]) -> None:
    ends = ends_of(names, numbers, pool.snapshot.merged)
    faults = []
    for one, two in repeats(ends):
        why = cause(pool, (names[one], names[two]), f"entrants {one + 1} and {two + 1}", numbers, ends[one])
        faults.append(Fault(None, "entrants", None, f"{why}; register the player only once"))
    if faults:
        raise ResultsError(f"match {match_id}", faults)


def ends_of(names: Sequence[str], numbers: Mapping[str, int], merged: Mapping[int, int]) -> list[int]:
    return [merged.get(numbers[name], numbers[name]) for name in names]


def repeats(values: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Return the position of each repeated value, paired with the position of its first appearance."""
    first: dict[Any, int] = {}
    for place, value in enumerate(values):
        if first.setdefault(value, place) != place:
            yield first[value], place


def cause(pool: PoolReader, names: tuple[str, str], where: str, numbers: Mapping[str, int], end: int) -> str:
    """Describe the rename or merge that made two names belong to the same player."""
    current = names_of(pool, [end])[end]
    if numbers[names[0]] == numbers[names[1]]:
        others, act = [name for name in names if name != current], "renamed to"
    else:
        others, act = [name for name in names if numbers[name] != end], "merged into"
    subject = repr(others[0]) if len(others) == 1 else "both"
    was = "was" if len(others) == 1 else "were"
    return f"{names[0]!r} and {names[1]!r} ({where}) are the same player since {subject} {was} {act} {current!r}"


class Registration(NamedTuple):
    """The data of a registered match."""

    number: int  # number of the match in the pool
    entrants: list[dict[str, Any]]  # `player`, by number, and `team`
    expires_at: int  # microseconds since 1970, UTC


def find_registration(pool: PoolReader, match_id: str) -> Registration | None:
    """Return a registered match, or None if it does not exist."""
    matches = pool.snapshot.events.matches
    number = matches.find(public_id(pool, match_id))
    if number < 0 or (seq := int(matches.columns.value("seq", number))) < 0:
        return None
    (body,) = bodies_of(pool, [seq]).values()
    return Registration(number, json.loads(body)["entrants"], int(matches.columns.value("expires_at", number)))


def get_registration(pool: PoolReader, match_id: str) -> Registration:
    """Return a registered match, or raise UnknownError."""
    found = find_registration(pool, match_id)
    if found is None:
        raise UnknownError(f"Pool {pool.name!r} has no registered match {match_id!r}. Check the ID.")
    return found


def attendance(
    pool: PoolReader, match_id: str | None, content: Content, numbers: Mapping[str, int], *, late: bool
) -> tuple[int | None, list[Absent]]:
    """Return how many of a match's entrants are in a result, and the entrants who are missing.

    Without a match, return None and no entrants.
    """
    if match_id is None:
        return None, []
    registered = get_registration(pool, match_id)
    if registered.expires_at < now() and not late:
        raise StoreError(f"Match {match_id!r} has expired. If the result should count, submit it without match_id.")
    merged = pool.snapshot.merged
    players_present = {merged.get(numbers[name], numbers[name]) for name in content.players}
    entrants = {merged.get(entrant["player"], entrant["player"]): entrant for entrant in registered.entrants}
    absent = [
        Absent(entrant["player"], entrant["team"])
        for number, entrant in entrants.items()
        if number not in players_present
    ]
    return len(entrants) - len(absent), absent


UNUSED_TIME = "played_s has no effect without duration_s, the length of the event"


def warnings_about(new_events: Mapping[str, SentEvent], confusables: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return warnings by event: about names that look like another player's, and about times that have no effect.

    The warning about a name appears at the player's first event.
    """
    warnings: dict[str, tuple[str, ...]] = {}
    unreported = dict(confusables)
    for event_id, event in new_events.items():
        new = [name for name in dict.fromkeys(event.content.players) if name in unreported] if unreported else []
        found = [warning(name, unreported.pop(name)) for name in new]
        if any('"played_s":' in row and '"duration_s":' not in row for row in event.content.fields):
            found.append(UNUSED_TIME)
        if found:
            warnings[event_id] = tuple(found)
    return warnings
