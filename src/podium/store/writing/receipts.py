"""Receipts for submitted events, and the totals of a change."""

from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from podium.engine.tables.equipment import called
from podium.errors import ParameterError
from podium.log.log import SUBMIT, Head
from podium.log.players import names_of
from podium.pool.moves import Moves, Size
from podium.pool.rating import Ratings
from podium.pool.snapshot import REASONS, STATUSES, Snapshot
from podium.store.writing.proposals import FIRST_PLACEHOLDER, Proposal
from podium.support.answers import answer, changeable_answer, described
from podium.support.immutable import immutable
from podium.views.changes import Change, Changes
from podium.views.names import EVENT_STATUSES

MAX_EFFECTS = 1_000  # maximum number of effects in a response
NUMBERED = (
    "these are the pool's first events, so its events have numbers instead of dates; podium pool order changes that"
)


@answer
class Totals:
    """Totals for the recalculated changes, whether applied or only previewed.

    Attributes:
        events: Number of events and season starts in which a change was recalculated.
        players: Number of players for whom a change was recalculated.
        changes: Number of changes that are new, different or removed.
        largest: Largest difference in any rating, in points. 0 if no rating is different.
    """

    events: int
    players: int
    changes: int
    largest: float


NOTHING = Totals(0, 0, 0, 0.0)


@answer
class Effect:
    """The effect of a request on one rating change.

    Attributes:
        event_id: Event. Null for the start of a season.
        player: The player's current name.
        rating_was: Rating after the event without this request. Null for a new change.
        rating: Rating after the event with this request. Null for a removed change.
    """

    event_id: str | None
    player: str
    rating_was: float | None
    rating: float | None


@answer
class Rerated:
    """Number and size of the recalculated rating changes. A dry run only previews them.

    Attributes:
        rerated: Number of recalculated rating changes.
        totals: Totals for a dry run. Omitted otherwise.
        effects: Largest changes in a dry run. Omitted otherwise.
        next: Cursor for the next page of effects (`effects_after`). Omitted on the last page.
    """

    rerated: int
    totals: Totals | None = None
    effects: tuple[Effect, ...] | None = None
    next: str | None = None


@changeable_answer  # a batch has a thousand
class Receipt:
    """The response to the submission of an event.

    Attributes:
        event_id: The event.
        seq: Number of the log entry. 0 for a new event in a dry run.
        reason: Reason why the event is not rated. Empty if it is rated.
        duplicate: True if the same event has already been stored with identical content.
        changes: The rating changes in this event, in the order of its rows.
        rerated: Number of later rating changes that were recalculated.
        effects: The largest rating changes that the request would cause. Only in the first receipt of a dry run.
        totals: The totals of the changes that the request would cause. Only in the first receipt of a dry run.
        next: Cursor for the next page of effects (`effects_after`). Null on the last page.
        warnings: Warnings about names that are similar to existing ones, unused values, and details of players.
        head: Head of the log. Keep it, so that `podium verify --head` can detect removed entries. Null in a dry run.
        notice: Note on late results and corrections if the system learns from the pool. For the first events of a pool,
            a note if they have numbers instead of dates.
    """

    event_id: str
    seq: int
    status: str = described("Status.", enum=EVENT_STATUSES)
    reason: str
    duplicate: bool
    changes: tuple[Change, ...]
    rerated: int
    effects: tuple[Effect, ...]
    totals: Totals | None
    next: str | None
    warnings: tuple[str, ...]
    head: Head | None
    notice: str = ""


@immutable
class Done:
    """The outcome of a proposal, or of a dry run."""

    proposal: Proposal  # the recorded proposal
    snapshot: Snapshot  # the pool after the change
    moves: Moves | None = None  # None if nothing is logged
    head: Head | None = None  # head of the log; None for a dry run
    receipts: tuple[Receipt, ...] = ()  # in the order in which the events were sent

    @property
    def written(self) -> int:
        """The number of ledger rows that are new or have changed."""
        return 0 if self.moves is None else self.moves.written

    @property
    def totals(self) -> Totals:
        """The totals of all changes."""
        moves = self.moves
        return NOTHING if moves is None else Totals(moves.uids.size, moves.players, moves.changes, moves.largest)

    @property
    def notice(self) -> str:
        """A sentence about later ratings that move with the pool's state, or an empty string if there are none."""
        if self.moves is None or not self.snapshot.pool.system.pool_fields:
            return ""
        relearnt = self.moves.count_relearnt({self.snapshot.events.find(event_id) for event_id in self.proposal.sent})
        if not relearnt:
            return ""
        events = "1 later event is" if relearnt == 1 else f"all {relearnt:,} later events are"
        return f"The system has learnt different values from the pool than before, so {events} rated again."

    def by_sender(self, senders: int) -> list[list[Receipt]]:
        receipts: list[list[Receipt]] = [[] for _ in range(senders)]
        for receipt in self.receipts:
            receipts[self.proposal.sent[receipt.event_id]].append(receipt)
        return receipts

    @property
    def answer(self) -> Any:
        """Return the receipts for a submission, the receipt for a corrected event, or the number of moved ledger rows.

        For a sheet that was compared with its earlier version, return the changes.
        """
        if self.proposal.sheet is not None and self.proposal.sheet.changes is not None:
            return replace(self.proposal.sheet.changes, receipts=self.receipts, totals=self.totals)
        if self.proposal.kind == SUBMIT:
            return [*self.receipts]
        return self.receipts[0] if self.receipts else self.written


def list_effects(done: Done, after: Size | None) -> tuple[tuple[Effect, ...], str | None]:
    """Return the largest effects after a cursor, and the cursor of the next page."""
    if done.moves is None:
        return (), None
    found, following = done.moves.largest_effects(MAX_EFFECTS, after)
    names = names_with(done.proposal, {effect.size.number for effect in found})
    effects = tuple(
        Effect(
            done.snapshot.events.id_of(effect.uid), called(names[effect.size.number]), effect.rating_was, effect.rating
        )
        for effect in found
    )
    return effects, None if following is None else ",".join(map(repr, following))


def parse_cursor(text: str) -> Size:
    try:
        move, started_at, seq, player = text.split(",")
        return Size(float(move), int(started_at), int(seq), int(player))
    except ValueError:
        raise ParameterError(f"{text!r} is not the `next` value of a page of effects") from None


def names_with(proposal: Proposal, numbers: Collection[int]) -> dict[int, str]:
    """Return the names of players and equipment, including newcomers."""
    known = {**proposal.names, **proposal.newcomers}
    others = [number for number in numbers if number not in known]
    return known | names_of(proposal.pool, others) if others else known


def with_receipts(done: Done, listed: int | None = None) -> Done:
    """Return the outcome with a receipt for each submitted event, in the order of submission.

    Args:
        listed: number of receipts that list their rating changes. Default: all.
    """
    proposal, events = done.proposal, done.snapshot.events
    if not proposal.sent:
        return done
    numbered = NUMBERED if proposal.sets_order and proposal.pool.is_undated else ""
    added = done.moves.added if done.moves else {}
    uids = {event_id: added[event_id] if event_id in added else events.find(event_id) for event_id in proposal.sent}
    changes = changes_of(proposal, done.snapshot, [*uids.values()][:listed], done.moves.ratings if done.moves else None)
    own = [uid for event_id, uid in uids.items() if event_id not in proposal.known]
    others = done.moves.count_others(own) if done.moves else 0
    notice = done.notice or numbered
    numbers = np.array([*uids.values()])
    cells = (events.columns.at(name, numbers).tolist() for name in ("seq", "status", "reason"))
    answers = []
    for event_id, uid, seq, status, reason in zip(uids, uids.values(), *cells, strict=True):
        duplicate = event_id in proposal.known
        answers.append(
            Receipt(
                event_id=event_id,
                seq=seq if seq < FIRST_PLACEHOLDER else 0,
                status=STATUSES[status],
                reason=REASONS[reason],
                duplicate=duplicate,
                changes=changes.get(uid, ()),
                rerated=0 if duplicate else others,
                effects=(),
                totals=None,
                next=None,
                warnings=proposal.warnings.get(event_id, ()),
                head=done.head,
                notice="" if duplicate or done.moves is None else notice,
            )
        )
    return replace(done, receipts=tuple(answers))


def changes_of(
    proposal: Proposal, snapshot: Snapshot, uids: list[int], ratings: Ratings | None
) -> dict[int, tuple[Change, ...]]:
    """Return by uid the changes that events made to players' ratings, in the order of the ledger rows."""
    events = snapshot.events
    newest = events.order.size if ratings is None else ratings.position
    tail = events.order.part("uid", newest)
    places = np.flatnonzero(np.isin(tail, uids))
    rerated = dict(zip(tail[places].tolist(), (newest + places).tolist(), strict=True))
    positions = [rerated[uid] if uid in rerated else events.position(events.key(uid)) for uid in uids]
    found, event = Changes.by_events(snapshot, np.array(positions, np.int64))
    made = iter(found.answers(names_with(proposal, {*found.numbers.tolist()})))
    counts = np.bincount(event, minlength=len(uids)).tolist()
    return {uid: tuple(islice(made, count)) for uid, count in zip(uids, counts, strict=True)}
