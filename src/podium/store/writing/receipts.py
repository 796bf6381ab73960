"""What became of what was sent or corrected, as it is answered."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import sqlalchemy as sa

from podium.store.log.chain import Head
from podium.store.log.log import SUBMIT
from podium.store.log.players import names_of
from podium.store.log.pools import OrderKey
from podium.store.rating.events import (
    EVENT_STATUSES,
    FIRST_PLACEHOLDER,
    Change,
    Proposal,
    changes_from,
    changes_of,
    get_event,
)
from podium.store.rating.rerating import NOTHING, Effect, Rerated, Totals
from podium.support.answers import answer, described


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
        "Where a system learns from its pool: what a late result or a correction moves.", default=""
    )


@dataclass(frozen=True, slots=True)
class Effects:
    """What a dry run found: how much would move, and the largest effects."""

    totals: Totals
    listed: tuple[Effect, ...]  # in the order of rating
    next: str | None  # the cursor of the effects that follow by size; None where there are none


@dataclass(frozen=True, slots=True)
class Done:
    """What was done, or would be."""

    proposal: Proposal  # as it was recorded
    rerated: Rerated | None = None  # None where nothing had to be rated again
    head: Head | None = None  # of the log; None of a dry run
    effects: Effects | None = None  # of a dry run
    receipts: tuple[Receipt, ...] = ()  # in the order in which events were sent

    @property
    def written(self) -> int:
        """How many rows of the ledger are new or other."""
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


def with_receipts(connection: sa.Connection, done: Done) -> Done:
    """What was done, with a receipt for each event that was sent, in their order; effects stand in the first."""
    proposal, rerated, keys = done.proposal, done.rerated, done.proposal.keys
    statuses = rerated.statuses if rerated else {}
    changes = changes_among(connection, done, [keys[each] for each in keys if each in statuses])
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
            row = get_event(connection, proposal.pool, event_id)
            status, reason, event_changes = row.status, row.reason, changes_of(connection, proposal.pool, key)
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
                notice="" if duplicate or rerated is None else rerated.notice,
            )
        )
    if done.effects is not None and answers:
        effects = done.effects
        answers[0] = replace(answers[0], effects=effects.listed, totals=effects.totals, next=effects.next)
    return replace(done, receipts=tuple(answers))


def changes_among(
    connection: sa.Connection, done: Done, keys: Iterable[OrderKey]
) -> dict[OrderKey, tuple[Change, ...]]:
    """The changes of events that were rated just now, in the order of their rows; no statement reads them again."""
    if done.rerated is None:
        return {}
    rows = {key: done.rerated.rows.get(key, ()) for key in keys}
    numbers = {number for moved in rows.values() for number, *_ in moved}
    pool, names = done.proposal.pool, dict(done.proposal.names)
    if numbers - names.keys():
        names |= names_of(connection, pool, numbers - names.keys())
    made = iter(changes_from(pool, names, [each for moved in rows.values() for each in moved]))
    return {key: tuple(islice(made, len(moved))) for key, moved in rows.items()}
