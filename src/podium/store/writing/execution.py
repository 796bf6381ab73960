"""Carry out submissions and corrections. Each is proposed, rated in memory, logged and answered.

If a change affects the ratings of many events, they are calculated before the pool is locked. While holding the lock,
Podium only compares, logs and commits.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
import sqlalchemy as sa

from podium.errors import MeetingError, NotFiniteError
from podium.log.chain import head_fault
from podium.log.log import SUBMIT, Head, newest_head
from podium.log.schema import correction
from podium.pool.fold import Draft, Entry
from podium.pool.moves import Moves
from podium.pool.rating import rate
from podium.pool.snapshot import Snapshot
from podium.store.following import SHORT_EVENTS, BehindError, LogPlace, PoolReader, entries_after
from podium.store.writing.proposals import FIRST_PLACEHOLDER, Proposal, Propose, keep_sheet, record, store_witness
from podium.store.writing.receipts import Done, Rerated, list_effects, names_with, parse_cursor, with_receipts
from podium.support.immutable import immutable

LARGE_EVENT_ROWS = 2_000
ATTEMPTS = 2  # number of attempts to rate before locking the pool


class LongWorkError(Exception):
    """Too many events must be rated for a short transaction. This error never leaves the store."""


Opening = Callable[[], AbstractContextManager[PoolReader]]  # begins a transaction
Look = Callable[[PoolReader], tuple[Proposal, Snapshot, Head]]


@immutable
class Prepared:
    """A proposal that was rated before the pool is locked."""

    entries: tuple[Any, ...]
    head: Head  # head of the log for which it was rated
    moves: Moves


def run(
    read: Callable[[Look], tuple[Proposal, Snapshot, Head]],
    lock: Opening,
    propose: Propose,
    *,
    listed: int | None = None,
) -> Done:
    """Carry out a proposal. If rating takes a long time, rate before locking the pool.

    Args:
        read: function that calls another function with the pool in a read-only transaction, and returns its result.
        lock: function that opens a transaction that holds the pool's lock.
        propose: function that returns the log entries to append, or raises an error.
        listed: number of receipts that list their rating changes. Default: all.

    Raises:
        UnavailableError: the database is currently unavailable.
    """

    def look(pool: PoolReader) -> tuple[Proposal, Snapshot, Head]:
        return propose(pool), pool.folded, newest_head(pool)

    prepared: Prepared | None = None
    for attempt in range(ATTEMPTS + 1):
        with suppress(LongWorkError), lock() as pool:
            return execute(pool, propose, prepared, refuse_long=attempt < ATTEMPTS, listed=listed)
        proposal, base, head = read(look)
        prepared = Prepared(proposal.entries, head, rate_entries(base, entries_of(proposal)))
    raise AssertionError("the last attempt refuses nothing")


def execute(
    pool: PoolReader,
    propose: Propose,
    prepared: Prepared | None = None,
    *,
    refuse_long: bool = True,
    listed: int | None = None,
) -> Done:
    """Propose, log, rate and answer a change, in a transaction that holds the pool's lock.

    Raises:
        LongWorkError: `refuse_long` is set, and a large event or more than `SHORT_EVENTS` events would have to be rated
            again. The same applies if others have written so much that catching up would take as long. A large number
            of new events is never rejected, because writing their entries takes that long anyway.
    """
    try:
        base = pool.snapshots.at(pool, refuse_long=refuse_long)
    except BehindError:
        raise LongWorkError from None
    proposal = propose(pool)
    if not proposal.entries:
        keep_sheet(proposal)
        return with_receipts(Done(proposal, base, head=newest_head(pool)), listed)
    ready = None if prepared is None or prepared.entries != proposal.entries else rebased(pool, base, prepared)
    draft = Draft.of(base)
    if ready is None:
        draft.follow(entries_of(proposal))
        if refuse_long and is_long(draft, proposal):
            raise LongWorkError
    logged = record(proposal)
    if ready is None:
        number(draft, logged.seqs)
        moves = rated_draft(draft)
    else:
        moves = replace(ready, before=base, after=numbered(ready, logged.seqs))
    refuse_unrateable(proposal, moves)
    store_witness(pool, moves.after, moves.ratings.first_row)
    pool.publish(LogPlace(logged.seqs[-1], bytes.fromhex(logged.head.hash)), moves.after)
    done = Done(proposal, moves.after, moves, logged.head)
    if proposal.kind != SUBMIT:
        totals = done.totals
        row = {"events": totals.events, "players": totals.players, "largest": totals.largest}
        pool.connection.execute(sa.insert(correction), {"pool_id": pool.id, "seq": logged.seqs[0]} | row)
    return with_receipts(done, listed)


def is_long(draft: Draft, proposal: Proposal) -> bool:
    """Return True if rating a draft takes too long for a short transaction."""
    if draft.first is None:
        return False
    if any(entry.body.count(b"\n") > LARGE_EVENT_ROWS for entry in proposal.entries):
        return True  # the number of pairs grows with the square of the number of entrants
    after = draft.base.events.order.size - draft.position
    return after > SHORT_EVENTS and len(proposal.entries) <= SHORT_EVENTS


def entries_of(proposal: Proposal) -> list[Entry]:
    """Return the entries of a proposal in the form that a fold expects, with placeholders for their numbers."""
    return [
        Entry(seq, entry.kind or proposal.kind, entry.subject, entry.body, entry.match_id, entry.present)
        for seq, entry in enumerate(proposal.entries, start=FIRST_PLACEHOLDER)
    ]


def rate_entries(base: Snapshot, entries: Iterable[Entry]) -> Moves:
    """Return the effect that log entries would have on a pool, without storing anything."""
    draft = Draft.of(base)
    draft.follow(entries)
    return rated_draft(draft)


def rated_draft(draft: Draft) -> Moves:
    """Return the effect that a draft would have on its pool."""
    after, ratings = rate(draft)
    table = draft.table
    return Moves(draft.base, after, ratings, table.added, table.changed.keys())


def rebased(pool: PoolReader, base: Snapshot, prepared: Prepared) -> Moves | None:
    """Apply prepared moves after the events that arrived in the meantime. Return None if that is impossible."""
    moves = prepared.moves
    if base is moves.before:
        return moves
    if head_fault(pool, prepared.head):  # the database was restored to an earlier state
        return None
    others = [*entries_after(pool, moves.before.seq)]
    if moves.after.events.size > moves.before.events.size or not are_new_events(moves.before, base, others):
        return None
    later = rate_entries(moves.after, others)
    ratings = moves.ratings
    statuses = {**ratings.statuses, **later.ratings.statuses}
    errors, twice = {**ratings.errors, **later.ratings.errors}, {**ratings.twice, **later.ratings.twice}
    known = replace(ratings, statuses=statuses, errors=errors, twice=twice)
    return replace(moves, before=base, after=replace(later.after, seq=moves.after.seq), ratings=known)


def are_new_events(before: Snapshot, after: Snapshot, entries: Collection[Entry]) -> bool:
    """Return True if log entries only add events that come after all others."""
    size, added = before.events.order.size, after.events.order.size - before.events.order.size
    are_plain = all(entry.kind == SUBMIT and entry.match_id is None for entry in entries)
    return are_plain and added == len(entries) and int(after.events.order.part("uid", size).min(initial=size)) >= size


def number(draft: Draft, seqs: list[int]) -> None:
    """Replace the placeholders in a draft that has not been rated yet by the numbers of log entries."""
    draft.seq = seqs[-1]
    for cells in draft.table.changed.values():
        for name in ("seq", "content_seq"):
            if cells.get(name, 0) >= FIRST_PLACEHOLDER:
                cells[name] = seqs[cells[name] - FIRST_PLACEHOLDER]


def numbered(moves: Moves, seqs: list[int]) -> Snapshot:
    """Replace the placeholders in the snapshot of moves by the numbers of log entries."""
    after, uids = moves.after, np.array([*moves.changed], np.int64)
    events = after.events
    cells = {}
    for name in ("seq", "content_seq"):
        cells[name] = events.columns.at(name, uids)
        waits = cells[name] >= FIRST_PLACEHOLDER
        cells[name][waits] = np.array(seqs)[cells[name][waits] - FIRST_PLACEHOLDER]
    columns = events.columns.updated(uids, cells) if uids.size else events.columns
    return replace(after, seq=seqs[-1], events=replace(events, columns=columns))


def dry_run(pool: PoolReader, propose: Propose, after: str | None) -> Any:
    """Return the answer that a change would have, with its totals and its largest effects, without storing anything.

    The first receipt contains the totals and the effects. A change without receipts has its own answer for them.
    """
    done = with_receipts(plan(pool, propose(pool)))
    listed, following = list_effects(done, None if after is None else parse_cursor(after))
    first = [replace(receipt, effects=listed, totals=done.totals, next=following) for receipt in done.receipts[:1]]
    answer = replace(done, receipts=(*first, *done.receipts[1:])).answer
    return Rerated(answer, done.totals, listed, following) if isinstance(answer, int) else answer


def plan(pool: PoolReader, proposal: Proposal) -> Done:
    """Rate a proposal without storing anything, and without receipts."""
    base = pool.folded
    if not proposal.entries:
        return Done(proposal, base)
    moves = rate_entries(base, entries_of(proposal))
    refuse_unrateable(proposal, moves)
    return Done(proposal, moves.after, moves)


def refuse_unrateable(proposal: Proposal, moves: Moves) -> None:
    """Reject a proposal after which an event can no longer be rated, unless such events are to be marked."""
    if not proposal.refuses_unrateable:
        return
    events, ratings = moves.after.events, moves.ratings
    for uid in moves.refused:
        event_id = events.ids[uid]
        error = ratings.errors.get(uid)
        if error is not None:
            number = int(str(error.player))
            name = names_with(proposal, [number])[number]
            raise NotFiniteError(error.system, error.update, error.entrant, event_id, name)
        if uid in moves.changed:
            name = names_with(proposal, [ratings.twice[uid]])[ratings.twice[uid]]
            remedy = " of two accounts that are now one; amend the event, or unmerge one"
            raise MeetingError(name, event_id, remedy)
