"""Sheets: what each brought is kept, and one that is sent again is compared with that as a whole.

A sheet is the source of its events. Of one that was mended the pool takes what is new, what is other and what is gone
at once, so that it is as if the mended sheet had been sent first. What people corrected in the pool itself stays.
"""

import hashlib
import re
import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.errors import UnknownError
from podium.store.log.content import Content, head_begin, row_set
from podium.store.log.database import read_transaction, write_transaction
from podium.store.log.players import Numbering, sent_numbers
from podium.store.log.pools import DATED, PoolView
from podium.store.log.schema import brought, event, log, sheet, waiting
from podium.store.log.statements import among, instant, now, of_pool
from podium.store.writing import submission
from podium.store.writing.rating.events import VOIDED, BroughtEvent, EventRow, Proposal, Sheet, SheetRecord

COUNT = re.compile(r" #[0-9]+$")  # after what else would be the id of two events
MOST_COMPARED = 20_000  # events whose contents are looked for under other ids
SELECT_STORED = (
    sa.select(event, log.c.body, log.c.digest).join(log, log.c.seq == event.c.content_seq).where(of_pool(event))
)
SELECT_BY_ID = SELECT_STORED.where(among(event.c.event_id))
SELECT_BY_START = SELECT_STORED.where(among(event.c.started_at))
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
    """A sheet is not taken as it was sent: what is wrong, what to type, and what would make its events others."""

    def __init__(self, what: str, ways: str, prefix: str = "") -> None:
        super().__init__(f"{what}{'' if what.endswith('?') else ';'} {ways}")
        self.what, self.prefix = what, prefix


class KnownSheet(NamedTuple):
    """A sheet that a pool has had."""

    name: str
    map: str
    events: int  # that it has now


@dataclass(slots=True, eq=False)
class Stored:
    """An event of the pool that a sheet may have."""

    row: EventRow  # with its content
    digest: bytes
    lines: tuple[str, ...]  # of its content, in no order, without id and date or number
    brought: BroughtEvent | None  # by this sheet
    others: int  # sheets that have it, too
    is_corrected: bool  # its content is not what a sheet brought

    @property
    def own_id(self) -> str:
        return self.row.event_id if self.brought is None else self.brought.own_id

    @property
    def is_voided_by_hand(self) -> bool:
        return self.row.status == VOIDED and not (self.brought and self.brought.is_gone)

    @property
    def is_live(self) -> bool:
        """Whether the sheet had it when it was sent last."""
        return self.brought is not None and not self.brought.is_gone


@dataclass(slots=True, eq=False)
class Sent:
    """An event of a sheet that was sent."""

    own_id: str
    content: Content
    lines: tuple[str, ...]
    stored: Stored | None = None  # the same event in the pool
    is_same: bool = False  # with the same content, too
    is_kept: bool = False  # as people corrected it in the pool
    start: int = 0  # when it is to be, microseconds since 1970
    moves: bool = False  # whether it is to follow those that are at its moment already


def sheets(pool: PoolView) -> tuple[KnownSheet, ...]:
    """List the sheets that a pool has had.

    Returns:
        Their names and maps, and how many events each has, by name.
    """
    return tuple(KnownSheet(*row) for row in pool.execute(SELECT_SHEETS))


def find_gone(pool: PoolView, sheet: Sheet, sent: Mapping[str, bool]) -> tuple[str, ...]:
    """List what a sheet that was sent again has no more, and `amend_sheet` would void.

    Args:
        sent: the ids of its events, with whether each was known; where none was, it is another sheet.

    Returns:
        The ids of those events.
    """
    known = brought_by(pool, sheet)
    lost = known.keys() - sent.keys() if any(sent.values()) else ()
    rows = pool.execute(SELECT_BY_ID, among=lost).all()
    found = [each for each in stored_events(pool, known, sheet, rows) if each.is_live and not each.others]
    return tuple(each.row.event_id for each in found if each.row.status != VOIDED and not each.is_corrected)


# A sheet that is sent


def submit_sheet(pool: PoolView, numbering: Numbering, *, sent: submission.Submission, sheet: Sheet) -> Proposal:
    """Log and rate the events of a sheet, each once, and keep which it brought.

    Raises:
        SheetError: an event is known with other content, or more than half of them are there under other ids.
    """
    contents = submission.check_rows(pool, sent.rows)
    known = brought_by(pool, sheet)
    called = {each.own_id: each.event_id for each in known.values() if not each.is_gone}
    own_ids = {called.get(each, sheet.prefix + each): each for each in contents}
    named = {event_id: contents[each].renamed(event_id) for event_id, each in own_ids.items()}
    try:
        proposal = submission.submit_contents(pool, numbering, [named], [sent])
    except submission.ConflictError as error:
        prefix = suggested_prefix(sheet, contents.values())
        ways = (
            f"if {sheet.name} was mended, podium ingest {sheet.name} --amend takes all of it as it is now; if these "
            f"are other events, --prefix {prefix} gives them ids of their own"
        )
        raise SheetError(str(error), ways, prefix) from None
    new = {own_ids[each.subject]: named[each.subject] for each in proposal.entries}
    found = under_other_ids(pool, sheet, sent_events(pool, new), len(named))
    if found:
        one = next(iter(found))
        raise SheetError(
            f"{len(found):,} of the {len(named):,} events of {sheet.name} are in pool {pool.name!r} under other ids, "
            f"as {found[one].row.event_id!r} for {one.own_id!r}",
            f"read it by the map that they came by, or type podium ingest {sheet.name} --amend, which keeps the ids "
            "that they have",
        )
    keys = proposal.keys.items()
    events = [BroughtEvent(each, own_ids[each], key.seq) for each, key in keys if each not in known]
    return replace(proposal, sheet=SheetRecord(sheet.name, sheet.map, events))


def suggested_prefix(sheet: Sheet, contents: Iterable[Content]) -> str:
    """What may stand before the ids of another season's events: its year, else the sheet's name."""
    first = min((each.started_at for each in contents if each.order == DATED), default=None)
    return f"{PurePath(sheet.name).stem if first is None else instant(first).year}/"


def brought_by(pool: PoolView, sheet: Sheet) -> dict[str, BroughtEvent]:
    rows = pool.execute(SELECT_BROUGHT.where(brought.c.sheet == sheet.name))
    return {row.event_id: BroughtEvent(*row[2:]) for row in rows}


def sent_events(pool: PoolView, contents: Mapping[str, Content]) -> list[Sent]:
    """The events of a sheet, by what it calls them."""
    numbers = sent_numbers(pool, sorted({name for each in contents.values() for name in each.names}))

    def numbered(content: Content) -> str:
        return content.lines(content.rests, lambda names: (str(numbers.get(name, repr(name))) for name in names))

    return [Sent(own_id, content, row_set(numbered(content))) for own_id, content in contents.items()]


def stored_events(pool: PoolView, known: Mapping[str, BroughtEvent], sheet: Sheet, rows: Sequence[Any]) -> list[Stored]:
    newest, others = dict[str, int](), defaultdict[str, int](int)
    for row in pool.execute(SELECT_BROUGHT.where(among(brought.c.event_id)), among=[row.event_id for row in rows]):
        newest[row.event_id] = max(newest.get(row.event_id, 0), row.content_seq)
        others[row.event_id] += row.sheet != sheet.name and not row.is_gone
    stored = []
    for row in rows:
        lines = row_set(row.body.decode().replace(head_begin(row.event_id, pool.order, row.started_at), ""))
        one = EventRow.from_row(row)._replace(body=row.body)
        corrected = row.content_seq != newest.get(row.event_id, row.seq)
        stored.append(Stored(one, row.digest, lines, known.get(row.event_id), others[row.event_id], corrected))
    return stored


def under_other_ids(pool: PoolView, sheet: Sheet, sent: Sequence[Sent], count: int) -> dict[Sent, Stored]:
    """The events of the pool that are those of a sheet but for their ids, in their order; none unless most are."""
    if pool.order is None or 2 * len(sent) <= count or len(sent) > MOST_COMPARED:
        return {}
    starts = {each.content.started_at for each in sent}
    is_undated = sent[0].content.order is None
    rows = pool.execute(SELECT_STORED if is_undated else SELECT_BY_START, among=starts).all()
    if 2 * len(rows) <= count or len(rows) > MOST_COMPARED:
        return {}
    stored = sorted(stored_events(pool, {}, sheet, rows), key=lambda each: each.row.key)
    ordered = sorted(sent, key=lambda each: each.content.started_at)  # all alike where none has a date
    one = [(0 if is_undated else each.row.started_at, each.lines) for each in stored]
    other = [(each.content.started_at, each.lines) for each in ordered]
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    found = {ordered[b + k]: stored[a + k] for a, b, size in blocks for k in range(size)}
    return found if 2 * len(found) > count else {}


# Which event of the pool is which of a sheet


def pair(pool: PoolView, sheet: Sheet, sent: Sequence[Sent], stored: Sequence[Stored]) -> None:
    """Find the event of the pool that each of a sheet is.

    That of its id, where the content is the same; else among those whose ids differ in their count alone, in their
    order; else one that is the same but for its id; else one that is the same but for its id and its date.
    """
    left = sorted(stored, key=lambda each: each.is_live, reverse=True)
    for find in (by_id, by_count, by_content, by_lines):
        alone = [one for one in sent if one.stored is None]
        for one, other in [*find(pool, sheet, alone, left)]:
            one.stored, one.is_same = other, has_content(pool, one, other)
        paired = {one.stored for one in sent}
        left = [each for each in left if each not in paired]


Pairs = Iterable[tuple[Sent, Stored]]


def by_id(pool: PoolView, sheet: Sheet, sent: Sequence[Sent], left: list[Stored]) -> Pairs:
    """Events of one id and content."""
    known = {each.own_id: each for each in reversed(left)}
    for one in sent:
        other = known.get(one.own_id) or known.get(sheet.prefix + one.own_id)
        if other is not None and has_content(pool, one, other):
            yield one, other


def by_count(pool: PoolView, sheet: Sheet, sent: list[Sent], left: list[Stored]) -> Pairs:
    """Events whose ids differ in their count alone: those that are the same, then those of one id, then the others."""
    groups = defaultdict[str, tuple[list[Sent], list[Stored]]](lambda: ([], []))
    for one in sent:
        groups[COUNT.sub("", one.own_id)][0].append(one)
    for other in sorted(left, key=lambda each: each.row.key):
        groups[COUNT.sub("", other.own_id.removeprefix(sheet.prefix))][1].append(other)
    for ours, theirs in groups.values():
        keys = [each.lines for each in theirs], [each.lines for each in ours]
        for kind, a, end_a, b, end_b in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
            if kind == "equal":
                yield from zip(ours[b:end_b], theirs[a:end_a], strict=True)
            elif kind == "replace":
                known = {each.own_id: each for each in theirs[a:end_a]}
                rest = [each for each in ours[b:end_b] if each.own_id not in known]
                yield from ((each, known.pop(each.own_id)) for each in ours[b:end_b] if each.own_id in known)
                yield from zip(rest, known.values(), strict=False)


def by_content(pool: PoolView, _sheet: Sheet, sent: list[Sent], left: list[Stored], *, dated: bool = True) -> Pairs:
    """Events that are the same but for their ids, in their order."""
    waiting = defaultdict[Any, list[Stored]](list)
    dated = dated and any(one.content.order for one in sent)
    for other in sorted((each for each in left if each.is_live), key=lambda each: each.row.key, reverse=True):
        waiting[other.row.started_at if dated else 0, other.lines].append(other)
    for one in sent:
        same = waiting[one.content.started_at if dated else 0, one.lines]
        if same:
            yield one, same.pop()


by_lines = partial(by_content, dated=False)  # but for their ids and dates


def has_content(pool: PoolView, one: Sent, other: Stored) -> bool:
    """Whether an event has the content that a sheet has, whatever it is called there."""
    content = one.content.renamed(other.row.event_id)
    if content.order is not None and content.started_at != other.row.started_at:
        return False
    if one.lines == other.lines or other.digest in [
        each.digest(pool.secret) for each in (content, content.sent) if each
    ]:
        return True
    at = content.at(pool.order or DATED, other.row.started_at)
    return other.row.match_id is not None and submission.has_content(pool, other.row, at)


WAITS_US = 3_600_000_000
MOST_BYTES = 32_000_000  # of a session's files: the oldest go first
ID_BYTES = 16
GONE = "the file does not wait here any more; send it again"
IS_EXPIRED = waiting.c.expires_at <= sa.bindparam("now")
SELECT_FILE = sa.select(waiting.c.name, waiting.c.content).where(
    waiting.c.id == sa.bindparam("id"), waiting.c.session == sa.bindparam("session"), ~IS_EXPIRED
)
SELECT_SIZES = (
    sa.select(waiting.c.id, sa.func.length(waiting.c.content))
    .where(waiting.c.session == sa.bindparam("session"))
    .order_by(waiting.c.expires_at.desc(), waiting.c.id)
)


class WaitingFile(NamedTuple):
    name: str  # empty of a text that was pasted
    content: bytes


def keep_waiting(engine: sa.Engine, session: str, file: WaitingFile) -> str:
    """Keep a file for an hour.

    Args:
        session: what its forms send; nobody else reads the file.

    Returns:
        The file's id, which no one can guess.
    """
    forget_waiting(engine)
    number, owner = secrets.token_urlsafe(ID_BYTES), digest(session)
    row = {"id": number, "session": owner, "expires_at": now() + WAITS_US, **file._asdict()}
    with write_transaction(engine) as connection:
        connection.execute(sa.insert(waiting), row)
        total = 0
        for each, size in connection.execute(SELECT_SIZES, {"session": owner}).all():
            total += size
            if total > MOST_BYTES:
                connection.execute(sa.delete(waiting).where(waiting.c.id == each))
    return number


def waiting_file(engine: sa.Engine, session: str, number: str) -> WaitingFile:
    """Return a file of a session that has not waited for an hour yet."""
    forget_waiting(engine)
    with read_transaction(engine) as connection:
        row = connection.execute(SELECT_FILE, {"id": number, "session": digest(session), "now": now()}).first()
    if row is None:
        raise UnknownError(GONE)
    return WaitingFile(*row)


def forget_waiting(engine: sa.Engine) -> None:
    """Delete the files that have waited for an hour."""
    with write_transaction(engine) as connection:
        connection.execute(sa.delete(waiting).where(IS_EXPIRED), {"now": now()})


def digest(session: str) -> bytes:
    """What is stored of a session in its stead."""
    return hashlib.blake2b(session.encode(), digest_size=16).digest()
