"""Compare a resubmitted sheet with its earlier version, and change the pool accordingly."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial
from itertools import count, pairwise
from typing import Any, NamedTuple

from podium.log.content import difference, digests_of, head_begin, lines_of, numbers_in
from podium.log.database import StoreError
from podium.log.log import AMEND, MOVE, SUBMIT, UNVOID, VOID, LogEntry, admit_reason, json_entry
from podium.log.players import Numbered, names_of, provisional_numbers, public_id, sent_numbers
from podium.log.pools import DATED, NUMBER_US, Order, Pool, number_at
from podium.store.following import PoolReader
from podium.store.writing import submission
from podium.store.writing.proposals import FIRST_PLACEHOLDER, Act, BroughtEvent, Proposal, Sheet, SheetRecord
from podium.store.writing.receipts import NOTHING, Receipt, Totals
from podium.store.writing.sheets import (
    COUNT,
    Pairs,
    Sent,
    SheetError,
    Stored,
    brought_by,
    equal_pairs,
    match_elsewhere,
    name_made,
    pair,
    pair_equal,
    players_in,
    read_sheet,
    sent_events,
    sheets,
    stored_events,
    suggested_prefix,
)
from podium.support.immutable import immutable
from podium.views.names import VOIDED, find_events


class Other(NamedTuple):
    """An event of a sheet, with the data needed to compare it."""

    event_id: str
    sentence: str


@immutable
class SheetChanges:
    """The changes that a resubmitted sheet makes or, in a preview, would make."""

    sheet: str
    is_first: bool  # True if the sheet is new, so it cannot have lost events
    new: tuple[str, ...]  # IDs of events in the pool
    other: tuple[Other, ...]  # events that differ, with the differences
    gone: tuple[str, ...]
    kept: tuple[Other, ...]  # events that were corrected or voided in the pool by hand, which stay unchanged
    same: int
    receipts: tuple[Receipt, ...] = ()
    totals: Totals = NOTHING  # summary of the rating changes
    prefix: str = ""  # prefix that would make its events different ones

    def __str__(self) -> str:
        """Return the counts as text."""
        differ = "1 differs" if len(self.other) == 1 else f"{len(self.other):,} differ"
        by_hand = f", {len(self.kept):,} corrected by hand" if self.kept else ""
        return f"{len(self.new):,} new, {differ}, {len(self.gone):,} gone{by_hand}, {self.same:,} the same"


def amend_sheet(
    rows: Any, sheet: Sheet, made_up: str = "", *, overrule: bool = False, order: Order | None = None
) -> Act:
    """Change a pool as if a sheet had always had its present content.

    New events are added, changed events are amended and missing events are voided, all in one transaction. Corrections
    made in the pool itself are kept, unless `overrule` is set.

    Args:
        rows: the results of the sheet.
        sheet: the sheet.
        made_up: the reason for the log, unless there is another one.
        overrule: True if the sheet overrules corrections made in the pool by hand.
        order: the order of events, as in a submission.

    Returns:
        The act. Its answer is the numbers of unchanged, new, changed, removed and kept events.
    """
    return partial(propose, rows=rows, sheet=sheet, made_up=made_up, overrule=overrule, order=order)


def propose(
    pool: PoolReader,
    actor: str,
    reason: str,
    *,
    rows: Any,
    sheet: Sheet,
    made_up: str,
    overrule: bool,
    order: Order | None,
) -> Proposal:
    """Return the proposal for the changes that `amend_sheet` makes to a pool.

    Raises:
        SheetError: an event from another sheet has different content, or the sheet contains none of its earlier events.
    """
    reason = reason or admit_reason(made_up)
    contents = read_sheet(pool, sheet, rows)
    order, sets_order = submission.order_with(pool, contents.values(), order), pool.order is None
    pool = replace(pool, order=order)
    sent = sent_events(pool, contents)
    sheet, is_first = as_known(pool, sheet._replace(has_made_dates=bool(made_up)), sent)
    stored = events_of(pool, sheet, sent)
    match(pool, sheet, sent, stored)
    made = [one for one in sent if one.stored is None and one.own_id in sheet.made]
    match_elsewhere(pool, sheet, made, brought_by(pool, sheet))
    for one in made:
        one.is_same = one.stored is not None
    name_made(pool, sheet, [one for one in made if one.stored is None])
    prefix = suggested_prefix(sheet, contents.values())
    refuse_others(pool, sheet, sent, stored, prefix)
    for one in sent:
        other = one.stored
        by_hand = other is not None and (other.is_voided_by_hand or (other.is_corrected and not one.is_same))
        one.is_kept = by_hand and not overrule  # differs from the sheet because it was changed in the pool by hand
    place(pool, [one for one in sent if not one.is_kept])
    draft = Draft(pool, actor, reason or f"{sheet.name} was corrected")
    draft.take(sent, sheet, {event.event.event_id for event in stored})
    paired = {one.stored for one in sent}
    draft.void([event for event in stored if event.is_live and event not in paired], overrule=overrule)
    lists = tuple(draft.new), tuple(draft.other), tuple(draft.gone), tuple(draft.kept)
    changes = SheetChanges(sheet.name, is_first, *lists, same=draft.same, prefix=prefix)
    is_plain = all(entry.kind == SUBMIT for entry in draft.entries)
    return Proposal(
        pool, SUBMIT if is_plain else SHEET, tuple(draft.entries),
        dict.fromkeys((entry.subject for entry in draft.entries), 0),
        newcomers=draft.numbered.newcomers, names=draft.numbered.names,
        sets_order=sets_order and bool(draft.entries),
        sheet=SheetRecord(sheet.name, sheet.map, draft.brought, changes),
    )  # fmt: skip


def find_gone(pool: PoolReader, sheet: Sheet, sent: Mapping[str, bool]) -> tuple[str, ...]:
    """List the events that are missing from a resubmitted sheet, so that `amend_sheet` would void them.

    Args:
        pool: the pool.
        sheet: the sheet.
        sent: the IDs of its events, each with True if the event is known. If no event is known, this is a different
            sheet.

    Returns:
        The IDs of the missing events.
    """
    known = brought_by(pool, sheet)
    lost = known.keys() - sent.keys() if any(sent.values()) else ()
    stored = stored_events(pool, known, sheet, find_events(pool, lost))
    found = [event for event in stored if event.is_live and not event.others and not event.is_corrected]
    return tuple(event.event.event_id for event in found if event.event.status != VOIDED)


def as_known(pool: PoolReader, sheet: Sheet, sent: Sequence[Sent]) -> tuple[Sheet, bool]:
    """Return a sheet under its known name: its own, or the name of a sheet with the same map and mostly equal events.

    Returns:
        The sheet, and True if nothing is known about it.
    """
    sheet = sheet._replace(name=public_id(pool, sheet.name))
    known = {sheet_.name: sheet_ for sheet_ in sheets(pool)}
    if sheet.name in known:
        return sheet, False
    for stored_sheet in known.values():
        most = max(stored_sheet.events, len(sent))
        if stored_sheet.map == sheet.map and 2 * min(stored_sheet.events, len(sent)) > most:
            named = sheet._replace(name=stored_sheet.name)
            stored = events_of(pool, named, sent)
            found = by_content(sent, stored) if sheet.made else by_id(pool, sent, stored)
            if 2 * sum(other.is_live for _, other in found) > most:
                return named, False
    return sheet, True


def events_of(pool: PoolReader, sheet: Sheet, sent: Sequence[Sent]) -> list[Stored]:
    """Return the events in the pool that came from a sheet, and the events with the submitted IDs."""
    known = brought_by(pool, sheet)
    wanted = known.keys() | {event.content.event_id for event in sent if event.own_id not in sheet.made}
    return stored_events(pool, known, sheet, find_events(pool, wanted))


def refuse_others(pool: Pool, sheet: Sheet, sent: Sequence[Sent], stored: Sequence[Stored], prefix: str) -> None:
    """Raise an error if a sheet is apparently a different sheet with the same name."""
    for one in sent:
        other = one.stored
        if other is not None and other.brought is None and other.others and not one.is_same:
            raise SheetError(
                f"event {other.event.event_id!r} is in another sheet with different content",
                f"If {sheet.name} is that sheet, name it with --sheet. If not, use --prefix {prefix} for new IDs.",
                prefix,
            )
    live = sum(event.is_live for event in stored)
    paired = [(one, one.stored) for one in sent if one.stored is not None and one.stored.is_live]
    if live and not paired:
        raise SheetError(
            f"none of the {live:,} events that {sheet.name} added to pool {pool.name!r} are in it now",
            "Another sheet needs its own name. Give it with --sheet. Void events that never took place with `podium "
            "void`.",
            prefix,
        )
    dated = all(one.content.order == DATED for one, _ in paired)
    known = (
        one.is_same or one.lines == other.lines or one.content.started_at == other.event.started_at
        for one, other in paired
    )
    if paired and dated and not any(known):
        raise SheetError(
            f"every known event of {sheet.name} has a different date and a different result: is it from another "
            "season?",
            f"Use --prefix {prefix} to give its events new IDs.",
            prefix,
        )


def place(pool: PoolReader, sent: Sequence[Sent]) -> None:
    """Set the time of each event so that events at the same time, or without a time, are in the sheet's order."""
    if any(one.content.order is None for one in sent):
        number(pool, sent)
    else:
        for one in sent:
            one.start = one.content.started_at
    of_moment = defaultdict[int, list[Sent]](list)
    for one in sent:
        of_moment[one.start].append(one)
    for together in of_moment.values():
        last = 0
        for one in together:
            seq = FIRST_PLACEHOLDER if one.stored is None else one.stored.event.seq
            one.moves = one.stored is not None and seq < last
            last = FIRST_PLACEHOLDER if one.moves else seq


def number(pool: PoolReader, sent: Sequence[Sent]) -> None:
    """Number events without dates between their neighbours or after all others. As few numbers as possible change."""
    if not pool.is_undated and any(one.stored is None for one in sent):
        raise submission.other_order_error(pool, DATED)
    starts = [None if one.stored is None else one.stored.event.started_at for one in sent]
    if not pool.is_undated:
        for one, start in zip(sent, starts, strict=True):
            one.start = start or 0
        return
    newest = pool.snapshot.events.newest_start or 0
    fixed = longest_rise(starts)
    for k in fixed:
        sent[k].start = starts[k] or 0
    for before, after in pairwise([-1, *fixed, len(sent)]):
        between = sent[before + 1 : after]
        high = sent[after].start if after < len(sent) else None
        low = (
            newest // NUMBER_US * NUMBER_US if high is None else high - NUMBER_US if before < 0 else sent[before].start
        )
        step = NUMBER_US if high is None else (high - low) // (len(between) + 1) // STEP_US * STEP_US
        if between and not step:
            raise StoreError(
                f"There is no number left between {number_at(low):g} and {number_at(high or 0):g} for "
                f"{between[0].own_id!r}. Number the events in a column `sequence`."
            )
        for k, one in enumerate(between, start=1):
            one.start = low + k * step


def longest_rise(numbers: Sequence[int | None]) -> list[int]:
    """Return the positions of the longest ascending subsequence of numbers, which never includes None."""
    ends, places, before = list[int](), list[int](), dict[int, int | None]()
    for k, number in enumerate(numbers):
        if number is not None:
            length = bisect_left(ends, number)
            before[k] = places[length - 1] if length else None
            ends[length : length + 1], places[length : length + 1] = [number], [k]
    rise, last = list[int](), places[-1] if places else None
    while last is not None:
        rise.append(last)
        last = before[last]
    return rise[::-1]


SHEET = "sheet"  # the kind of a proposal with several kinds of entries
STEP_US = 10  # the smallest difference between two event numbers


class Draft:
    """The planned changes to a pool for a sheet, collected entry by entry."""

    def __init__(self, pool: PoolReader, actor: str, reason: str) -> None:
        self.pool, self.actor, self.reason = pool, actor, reason
        self.entries: list[LogEntry] = []
        self.brought: list[BroughtEvent] = []
        self.numbered = Numbered({}, {}, {})
        self.new: list[str] = []
        self.other: list[Other] = []
        self.gone: list[str] = []
        self.kept: list[Other] = []
        self.same = 0

    def take(self, sent: Sequence[Sent], sheet: Sheet, taken: set[str]) -> None:
        """Plan the new, changed and restored events in the sheet's order.

        `taken` contains the IDs of the pool's events.
        """
        logged = [one for one in sent if not one.is_same and not one.is_kept]
        self.numbered = provisional_numbers(self.pool, (name for one in logged for name in one.content.names))
        for one in sent:
            other = one.stored
            if other is None:
                if one.own_id not in sheet.made:
                    one.content = one.content.renamed(self.unused_id(one.content.event_id, taken))
                taken.add(one.content.event_id)
                self.new.append(one.content.event_id)
                seq = self.log(one, SUBMIT)
            else:
                one.content = one.content.renamed(other.event.event_id)
                seq = self.keep(one, other) if one.is_kept else self.correct(one, other)
            event_id = one.content.event_id
            record = BroughtEvent(event_id, event_id if one.own_id in sheet.made else one.own_id, seq)
            if other is None or other.brought != record:
                self.brought.append(record)
        contents = [one.content for one in logged]
        submission.refuse_player_twice(self.pool, contents, self.numbered.numbers)

    def unused_id(self, name: str, taken: set[str]) -> str:
        """Return the ID or, if an event has it, the first of `name #2`, `name #3` and so on that is not taken."""
        base = COUNT.sub("", name)
        if name not in taken:
            return name
        ids = (f"{base} #{k}" for k in count(2))
        return next(each for each in ids if each not in taken and self.pool.snapshot.events.find(each) < 0)

    def log(self, one: Sent, kind: str) -> int:
        """Add an entry with an event's content at its time, and return the placeholder for the entry's number."""
        content, other = one.content.at(self.pool.order or DATED, one.start), one.stored
        match_id, reason = (None, "") if other is None else (other.event.match_id, self.reason)
        if other is None or not one.is_same:
            sent = submission.SentEvent(content, self.actor, match_id, None, reason)
            (entry,) = submission.to_entries(self.pool, [sent], self.numbered.numbers, late=True)
        else:
            event = other.event
            was, begin = (head_begin(event.event_id, self.pool.order, start) for start in (event.started_at, one.start))
            # its players stay the same, even if their names have changed
            body = other.body.replace(was.encode(), begin.encode())
            entry = LogEntry(event.event_id, body, self.actor, other.digest, match_id, event.present, reason)
        self.entries.append(entry._replace(kind=kind))
        return FIRST_PLACEHOLDER + len(self.entries) - 1

    def set_voided(self, event_id: str, kind: str) -> None:
        """Add an entry that voids or unvoids an event."""
        self.entries.append(json_entry(event_id, None, self.actor, self.reason)._replace(kind=kind))

    def correct(self, one: Sent, other: Stored) -> int:
        """Plan new content or a new position for an event. If the event had been removed, let it count again."""
        event, number = other.event, other.event.content_seq
        is_corrected = not one.is_same or one.moves or one.start != event.started_at
        if is_corrected:
            number = self.log(one, MOVE if one.moves else AMEND)
        if event.status == VOIDED:
            self.set_voided(event.event_id, UNVOID)
            self.new.append(event.event_id)
        elif is_corrected:
            self.other.append(Other(event.event_id, self.sentence(one, other)))
        else:
            self.same += 1
        return number

    def keep(self, one: Sent, other: Stored) -> int:
        """Keep an event that was corrected by hand."""
        if other.is_voided_by_hand:
            sentence = "was voided by hand, and stays void"
        else:
            sentence = f"was corrected by hand, and stays as it is; in the sheet {self.sentence(one, other)}"
        self.kept.append(Other(other.event.event_id, sentence))
        return other.event.seq if other.brought is None else other.brought.content_seq

    def sentence(self, one: Sent, other: Stored) -> str:
        """Describe the differences between an event and the pool's version of it."""
        if one.is_same:
            return "it comes in a different position"
        body = other.body
        logged = numbers_in(lines_of(body))
        numbers = sent_numbers(self.pool, sorted(set(one.content.names)))
        names = names_of(self.pool, logged | {*numbers.values()})
        content = one.content.called({name: names[number] for name, number in numbers.items()})
        at = content.at(self.pool.order or DATED, one.start or other.event.started_at)
        return difference(body, names, at).partition(";")[0]

    def void(self, lost: Sequence[Stored], *, overrule: bool) -> None:
        """Void events that are no longer in the sheet, unless another sheet has them or they were corrected by hand."""
        for other in lost:
            event = other.event
            if event.status == VOIDED:
                continue
            if other.is_corrected and not overrule:
                self.kept.append(Other(event.event_id, "was corrected by hand, and stays; the sheet no longer has it"))
                continue
            self.brought.append(BroughtEvent(event.event_id, other.own_id, event.content_seq, is_gone=True))
            if not other.others:
                self.set_voided(event.event_id, VOID)
                self.gone.append(event.event_id)


def match(pool: PoolReader, sheet: Sheet, sent: Sequence[Sent], stored: Sequence[Stored]) -> None:
    """Match each event of a sheet with an event in the pool.

    Candidates are tried in this order: the same ID and content, IDs that differ only in their count, the same event
    with another ID, and the same event with another ID and date.
    """
    left = sorted(stored, key=lambda event: event.is_live, reverse=True)
    of_count, by_lines = partial(by_count, sheet), partial(by_content, dated=False)  # the latter ignores IDs and dates
    if sheet.made:
        pair_equal(sent, [event for event in left if event.is_live])
        pair(sent, left, of_count, by_lines)
    else:
        pair(sent, left, partial(by_id, pool), of_count, by_content, by_lines)
    for one in sent:
        one.is_same = one.stored is not None and has_content(pool, one, one.stored)


def by_id(pool: PoolReader, sent: Sequence[Sent], left: Sequence[Stored]) -> Pairs:
    """Yield pairs of events with the same ID and content."""
    known = {event.own_id: event for event in reversed(left)}
    for one in sent:
        other = known.get(one.own_id) or known.get(one.content.event_id)
        if other is not None and has_content(pool, one, other):
            yield one, other


def by_count(sheet: Sheet, sent: Sequence[Sent], left: Sequence[Stored]) -> Pairs:
    """Return pairs of events whose IDs differ only in their count: identical events, equal IDs, and then the rest.

    If Podium made the IDs from names, events with the same date and players are compared instead.
    """
    are_names = any(name in one.own_id for one in sent if one.own_id in sheet.made for name in one.content.names)
    groups = defaultdict[Any, tuple[list[Sent], list[Stored]]](lambda: ([], []))
    for one in sent:
        by_players = one.content.started_at, players_in(one.lines)
        groups[by_players if are_names else COUNT.sub("", one.own_id)][0].append(one)
    is_placed = any(one.content.order for one in sent)
    for other in sorted(left, key=lambda pair: pair.event.key):
        by_players = other.event.started_at if is_placed else 0, players_in(other.lines)
        groups[by_players if are_names else COUNT.sub("", other.own_id.removeprefix(sheet.prefix))][1].append(other)
    for ours, theirs in groups.values():
        keys = [event.lines for event in theirs], [event.lines for event in ours]
        for kind, a, end_a, b, end_b in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
            if kind == "equal":
                yield from zip(ours[b:end_b], theirs[a:end_a], strict=True)
            elif kind == "replace":
                known = {event.own_id: event for event in theirs[a:end_a]}
                rest = [event for event in ours[b:end_b] if event.own_id not in known]
                yield from ((event, known.pop(event.own_id)) for event in ours[b:end_b] if event.own_id in known)
                yield from zip(rest, known.values(), strict=False)


def by_content(sent: Sequence[Sent], left: Sequence[Stored], *, dated: bool = True) -> Pairs:
    """Return pairs of events that are equal except for their IDs, in order."""
    is_placed = dated and any(one.content.order for one in sent)
    return equal_pairs(sent, [event for event in left if event.is_live], is_placed=is_placed)


def has_content(pool: PoolReader, one: Sent, other: Stored) -> bool:
    """Return True if an event in the pool has the content of a sheet's event, under any name."""
    content = one.content.renamed(other.event.event_id)
    if content.order is not None and content.started_at != other.event.started_at:
        return False
    versions = [version for version in (content, content.sent) if version]
    if one.lines == other.lines or other.digest in digests_of(versions, pool.secret):
        return True
    at = content.at(pool.order or DATED, other.event.started_at)
    return other.event.match_id is not None and submission.has_content(pool, other.event, at)
