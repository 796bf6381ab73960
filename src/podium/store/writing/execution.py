"""How submissions and corrections are done: proposed by reading alone, stored and rated or only rated, and answered.

A proposal has all that is to be different. In one transaction it is recorded, and what derives from it is brought up
to date; a dry run plans the new rating on a connection that only reads, so that nobody waits for it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

import sqlalchemy as sa

from podium.errors import MeetingError, NotFiniteError
from podium.log.chain import Head, newest_head
from podium.log.log import SUBMIT, Logged, append
from podium.log.players import Numbering, names_of, numbers_and_newcomers, provisional_numbers
from podium.log.pools import OrderKey, Pool, PoolView
from podium.log.schema import brought, event, merged, pools, season, sheet
from podium.log.statements import insert, of_pool, upsert
from podium.store.writing.rating import rerating
from podium.store.writing.rating.events import (
    EVENT_STATUSES,
    FIRST_PLACEHOLDER,
    Change,
    EventRow,
    Proposal,
    changes_from,
    changes_of,
    get_event,
)
from podium.store.writing.rating.plan import Plan, Span
from podium.store.writing.rating.rating import LongWorkError
from podium.store.writing.rating.rerating import NOTHING, Effect, LargestEffects, Rerated, Totals
from podium.store.writing.rating.standing_rows import states_of
from podium.support.answers import answer, described

LARGE_EVENT_ROWS = 2_000
NUMBERED = "these are the pool's first events, so its events have numbers and no dates; podium pool order changes that"
CORRECTED = ("seq", "content_seq", "started_at", "status", "reason", "present", "title", "url")  # of an event's row
FOLLOW_EVENT = (  # what sheets brought stays what they brought, in another order
    sa.update(brought)
    .where(
        of_pool(brought),
        brought.c.event_id == sa.bindparam("event"),
        brought.c.content_seq
        == sa.select(event.c.content_seq)
        .where(of_pool(event), event.c.event_id == sa.bindparam("event"))
        .scalar_subquery(),
    )
    .values(content_seq=sa.bindparam("new_content_seq"))
)
UPDATE_EVENT = (
    sa.update(event)
    .where(of_pool(event), event.c.event_id == sa.bindparam("event"))
    .values({name: sa.bindparam(f"new_{name}") for name in CORRECTED})
)


@answer
class Receipt:
    """What became of an event that was sent."""

    event_id: str = described("The event.")
    seq: int = described("The number of its submission in the log; 0 in a dry run of a new one.")
    status: str = described("What became of it.", enum=EVENT_STATUSES)
    reason: str = described("Why it is not rated; empty where it is.")
    duplicate: bool = described("Whether it was known, with this very content.")
    changes: tuple[Change, ...] = described("Its own changes of ratings, in the order of its rows.")
    rerated: int = described("How many changes of other events it moved.")
    effects: tuple[Effect, ...] = described("Of a dry run, on its first receipt: the largest changes that would move.")
    totals: Totals | None = described("Of a dry run, on its first receipt: how much would move.")
    next: str | None = described("For `effects_after`; null where no effect follows.")
    warnings: tuple[str, ...] = described("Which new players have names like those of others.")
    head: Head | None = described("Keep it: `podium verify --head` finds what was removed since. Null in a dry run.")
    notice: str = described(
        "If the system learns from its pool: what a late result or a correction moves. Of a pool's first events: that "
        "they have numbers and no dates.",
        default="",
    )


@dataclass(frozen=True, slots=True)
class Done:
    """What was done, or would be."""

    proposal: Proposal  # as it was recorded
    rerated: Rerated | None = None  # None where nothing had to be rated again
    head: Head | None = None  # of the log; None of a dry run
    receipts: tuple[Receipt, ...] = ()  # in the order in which events were sent

    @property
    def written(self) -> int:
        return 0 if self.rerated is None else self.rerated.written

    def by_sender(self, senders: int) -> list[list[Receipt]]:
        receipts: list[list[Receipt]] = [[] for _ in range(senders)]
        for each in self.receipts:
            receipts[self.proposal.sent[each.event_id]].append(each)
        return receipts

    @property
    def answer(self) -> Any:
        """The receipts of a submission, the receipt of a corrected event, or else how many rows of the ledger moved.

        Of a sheet that was compared as a whole it is what became of it.
        """
        if self.proposal.sheet is not None and self.proposal.sheet.changes is not None:
            totals = NOTHING if self.rerated is None else self.rerated.totals
            return replace(self.proposal.sheet.changes, receipts=self.receipts, totals=totals)
        if self.proposal.kind == SUBMIT:
            return [*self.receipts]
        return self.receipts[0] if self.receipts else self.written


Propose = Callable[[PoolView, Numbering], Proposal]  # checks, and reads, but writes nothing


def execute(pool: PoolView, propose: Propose, *, refuse_long: bool = True) -> Done:
    """Propose, record, rate and answer, in a transaction that has the pool's lock.

    Raises:
        LongWorkError: too many events would be rated again for one transaction, or a large one would be rated, and
            `refuse_long` is set. A bulk of new events is rated whatever comes after them: their entries alone need a
            transaction as long.
    """
    proposal = propose(pool, numbers_and_newcomers)
    if not proposal.entries:
        keep_sheet(proposal)
        return with_receipts(Done(proposal, head=newest_head(pool)))
    if refuse_long and proposal.affected and is_large(proposal) and not proposal.changes_order:
        raise LongWorkError
    recorded, logged = record(proposal)
    refuse_long, rerated = refuse_long and not recorded.changes_order, None
    if recorded.affected:
        refuse_long = refuse_long and len(recorded.entries) <= rerating.SHORT_EVENTS
        first, wanted = recorded.first_affected, recorded.wanted
        rerated = rerating.rerate(recorded.pool, first, wanted, refuse_long=refuse_long)
        refuse_unrateable(recorded.pool, recorded, rerated)
    return finish(recorded, logged, rerated)


def finish(recorded: Proposal, logged: Logged, rerated: Rerated | None) -> Done:
    """What was done, once all is rated; what a correction moved is stored, of a submission it stands in receipts."""
    if recorded.kind != SUBMIT:
        rerating.record(recorded.pool, logged.seqs[0], rerated)
    return with_receipts(Done(recorded, rerated, logged.head))


def is_large(proposal: Proposal) -> bool:
    """Whether one of the events has so many rows, with pairs by the square, that it is rated while nobody waits."""
    return any(row.body is not None and row.body.count(b"\n") > LARGE_EVENT_ROWS for row in proposal.events.values())


def dry_run(pool: PoolView, propose: Propose, after: str | None) -> Done:
    """What would be done; how much would move, and the largest effects after a cursor, stand in the first receipt."""
    largest = LargestEffects(after)
    proposal = propose(pool, provisional_numbers)
    rerated, _ = plan_through(proposal, largest.add)
    done = with_receipts(Done(proposal, rerated))
    listed, totals = largest.listed(pool, proposal), rerated.totals
    first = [replace(each, effects=listed, totals=totals, next=largest.next) for each in done.receipts[:1]]
    return replace(done, receipts=(*first, *done.receipts[1:]))


def plan_through(proposal: Proposal, add: Callable[[Span], None]) -> tuple[Rerated, Plan | None]:
    total = Rerated(proposal.wanted)
    if not proposal.affected:
        return total, None
    plan = Plan(proposal.pool, proposal.first_affected, proposal)
    for span, rerated in plan_spans(plan, proposal, lambda: nullcontext(proposal.pool.connection)):
        add(span)
        total.merge(rerated)
    return total, plan


def plan_spans(
    plan: Plan, proposal: Proposal, transaction: Callable[[], AbstractContextManager[sa.Connection]]
) -> Iterator[tuple[Span, Rerated]]:
    """Plan the rating that a proposal comes to, span by span, each in a transaction that reads; and what each moves."""
    while not plan.is_over:
        with transaction() as connection:
            span = plan.span(connection, rerating.SPAN_EVENTS)
            rerated = Rerated.of_span(proposal.wanted, span)
            refuse_unrateable(plan.pool, proposal, rerated)
        yield span, rerated


def record(proposal: Proposal) -> tuple[Proposal, Logged]:
    """Log what is proposed, and bring the tables up to date but for what rating gives."""
    pool, connection = proposal.pool, proposal.pool.connection
    logged = append(pool, proposal.kind, proposal.entries)
    numbers = {FIRST_PLACEHOLDER + k: seq for k, seq in enumerate(logged.seqs)}
    recorded = with_numbers(proposal, numbers)
    submitted = {each.subject for each in proposal.entries if (each.kind or proposal.kind) == SUBMIT}
    new = [each for event_id, each in recorded.events.items() if event_id in submitted]
    other = [each for event_id, each in recorded.events.items() if event_id not in submitted]
    if new:
        insert(connection, event, [(pool.id, *each[:-1]) for each in new])
    if other and recorded.changes_order:
        connection.execute(FOLLOW_EVENT, [event_changes(pool, each) for each in other])
    if other:
        connection.execute(UPDATE_EVENT, [event_changes(pool, each) for each in other])
    if recorded.merged is not None:
        connection.execute(sa.delete(merged).where(merged.c.pool_id == pool.id))
        rows = [{"pool_id": pool.id, "player_id": each, "into_id": end} for each, end in recorded.merged.items()]
        if rows:
            connection.execute(sa.insert(merged), rows)
    if recorded.season is not None:
        connection.execute(sa.insert(season), {"pool_id": pool.id} | recorded.season._asdict())
    if recorded.columns:
        connection.execute(sa.update(pools).where(pools.c.id == pool.id).values(dict(recorded.columns)))
    keep_sheet(recorded)
    return recorded, logged


def keep_sheet(proposal: Proposal) -> None:
    pool, kept = proposal.pool, proposal.sheet
    if kept is not None:
        upsert(pool.connection, sheet, [(pool.id, kept.name, kept.map)])
        upsert(pool.connection, brought, [(pool.id, kept.name, *each) for each in kept.events])


def with_numbers(proposal: Proposal, numbers: Mapping[int, int]) -> Proposal:
    events = {
        event_id: each._replace(
            seq=numbers.get(each.seq, each.seq), content_seq=numbers.get(each.content_seq, each.content_seq), body=None
        )
        for event_id, each in proposal.events.items()
    }
    affected = tuple(OrderKey(key.started_at, numbers.get(key.seq, key.seq)) for key in proposal.affected)
    kept = proposal.sheet
    if kept is not None:
        brought_now = [
            each._replace(content_seq=numbers.get(each.content_seq, each.content_seq)) for each in kept.events
        ]
        kept = kept._replace(events=brought_now)
    season_ = proposal.season
    begun = None if season_ is None else season_._replace(seq=numbers.get(season_.seq, season_.seq))
    return replace(proposal, events=events, affected=affected, season=begun, sheet=kept)


def event_changes(pool: Pool, each: EventRow) -> dict[str, object]:
    return {"pool": pool.id, "event": each.event_id} | {f"new_{name}": getattr(each, name) for name in CORRECTED}


def refuse_unrateable(pool: PoolView, proposal: Proposal, rerated: Rerated) -> None:
    """Refuse what makes an event unrateable that was not so before, unless such events are to be marked."""
    if not proposal.refuses_unrateable:
        return
    for error in rerated.not_finite:
        name = name_of(pool, proposal, int(str(error.player)))
        raise NotFiniteError(error.system, error.settlement, error.entrant, error.event_id, name)
    for key in proposal.affected:
        if key in rerated.duplicate_players:
            event_id, number = rerated.duplicate_players[key]
            remedy = " of two accounts that are one now; amend the event, or unmerge one"
            raise MeetingError(name_of(pool, proposal, number), event_id, remedy)


def name_of(pool: PoolView, proposal: Proposal, number: int) -> str:
    if number in proposal.newcomers:
        return proposal.newcomers[number]
    return names_of(pool, [number])[number]


def with_receipts(done: Done) -> Done:
    """What was done, with a receipt for each event that was sent, in their order."""
    proposal, rerated, keys = done.proposal, done.rerated, done.proposal.keys
    numbered = NUMBERED if proposal.settles_order and proposal.pool.is_counted else ""
    statuses = rerated.statuses if rerated else {}
    changes = changes_among(done, [keys[each] for each in keys if each in statuses])
    own = [key for event_id, key in keys.items() if event_id not in proposal.known]
    others = rerated.written - sum(rerated.written_at[key] for key in own) if rerated else 0
    answers = []
    for event_id, key in keys.items():
        duplicate = event_id in proposal.known
        if event_id in statuses:
            (status, reason), event_changes = statuses[event_id], changes[key]
        elif event_id in proposal.events and not proposal.events[event_id].counts:  # it is voided or superseded now
            row, event_changes = proposal.events[event_id], ()
            status, reason = row.status, row.reason
        else:  # rating did not look at it: a duplicate from before the first that moved, or only its title is new
            row = get_event(proposal.pool, event_id)
            status, reason, event_changes = row.status, row.reason, changes_of(proposal.pool, key)
        answers.append(
            Receipt(
                event_id=event_id,
                seq=key.seq if key.seq < FIRST_PLACEHOLDER else 0,
                status=status,
                reason=reason,
                duplicate=duplicate,
                changes=event_changes,
                rerated=0 if duplicate else others,
                effects=(),
                totals=None,
                next=None,
                warnings=proposal.warnings.get(event_id, ()),
                head=done.head,
                notice="" if duplicate or rerated is None else rerated.notice or numbered,
            )
        )
    return replace(done, receipts=tuple(answers))


def changes_among(done: Done, keys: Iterable[OrderKey]) -> dict[OrderKey, tuple[Change, ...]]:
    """The changes of events that were rated just now, in the order of their rows; no statement reads them again."""
    if done.rerated is None:
        return {}
    rows = {key: done.rerated.rows.get(key, ()) for key in keys}
    numbers = {number for moved in rows.values() for number, _, _, _ in moved}
    pool, names = done.proposal.pool, dict(done.proposal.names)
    if numbers - names.keys():
        names |= names_of(pool, numbers - names.keys())
    columns: Any = [*zip(*chain.from_iterable(rows.values()), strict=True)] or [()] * 4
    owners, before, _, packed = columns
    made = iter(changes_from(pool, names, owners, before, states_of(pool, packed)))
    return {key: tuple(islice(made, len(moved))) for key, moved in rows.items()}
