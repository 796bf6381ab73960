"""What can be done to a pool, looked at before it is done: it is done as it was seen, or not at all."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np

from podium.engine.system import System
from podium.engine.tables.things import kind_and_name
from podium.log.content import numbers_in
from podium.log.log import AMEND, admit_reason, bodies_of, newest_seq
from podium.log.players import Numbering, names_of, present_names, provisional_numbers
from podium.log.pools import Order, OrderKey, PoolView, When, refuse_unwritable
from podium.log.statements import is_thing
from podium.store.following import PoolReader
from podium.store.reading.boards.ranks import count_players
from podium.store.reading.events.events import find_event
from podium.store.reading.log import CorrectedLine, corrected_lines, lines_of
from podium.store.writing import accounts, administration, mending, ordering, sheets, submission
from podium.store.writing.execution import Done, Propose, plan_through, with_receipts
from podium.store.writing.rating.events import Proposal, Sheet, StaleError
from podium.store.writing.rating.facts import ranked
from podium.store.writing.rating.plan import Plan, Span
from podium.store.writing.rating.rerating import Totals, event_ids, moves

Act = Callable[[str, str], Propose]  # by whom, and why: what is then proposed


def submit(rows: Any, made_up: str = "", sheet: Sheet | None = None, order: Order | None = None) -> Act:
    """Take new events; each once. Why they come is not logged, but what was made up of them."""

    def act(actor: str, _reason: str) -> Propose:
        sent = submission.Submission(rows, actor, {}, reason=admit_reason(made_up), order=order)
        if sheet is None:
            return partial(submission.submit, submissions=[sent])
        return partial(sheets.submit_sheet, sent=sent, sheet=sheet)

    return act


def amend_sheet(
    rows: Any, sheet: Sheet, made_up: str = "", *, overrule: bool = False, order: Order | None = None
) -> Act:
    """Let a pool be as if a sheet that is sent again had always been as it is now."""
    return lambda actor, reason: partial(
        mending.amend_sheet, rows=rows, sheet=sheet, actor=actor, reason=admit_reason(reason or made_up),
        overrule=overrule, order=order,
    )  # fmt: skip


def amend(rows: Any) -> Act:
    """Let an event have other content."""
    return lambda actor, reason: partial(submission.amend, rows=rows, actor=actor, reason=admit_reason(reason))


def void(event_id: str) -> Act:
    """Let an event count for nothing."""
    return lambda actor, reason: partial(
        submission.set_voided, event_id=event_id, actor=actor, voided=True, reason=admit_reason(reason)
    )


def restore(event_id: str) -> Act:
    """Let a voided event count again."""
    return lambda actor, reason: partial(
        submission.set_voided, event_id=event_id, actor=actor, voided=False, reason=admit_reason(reason)
    )


def merge(name: str, into: str) -> Act:
    """Let one player's results be another's."""
    return lambda actor, reason: partial(accounts.merge, name=name, into=into, actor=actor, reason=admit_reason(reason))


def unmerge(name: str) -> Act:
    """Let a merged account be a player of its own again."""
    return lambda actor, reason: partial(accounts.unmerge, name=name, actor=actor, reason=admit_reason(reason))


def begin_season(name: str, starts: When, keep: float) -> Act:
    """Shrink every lead over a newcomer to a share of itself. Why is not logged."""
    return lambda actor, _reason: administration.new_season(name, starts, keep, actor)


def configure(system: System) -> Act:
    """Rate the pool with another system from its first event on. Why is not logged."""
    return lambda actor, _reason: partial(administration.configure, system=system, actor=actor)


def set_order(order: Order, start: datetime | None = None, every: str = "") -> Act:
    """Order the pool's events by dates or by numbers. Why is not logged."""
    return lambda actor, _reason: partial(ordering.set_order, order=order, actor=actor, start=start, every=every)


def propose_at(pool: PoolView, numbering: Numbering, *, propose: Propose, version: int) -> Proposal:
    """Propose, unless the log has another newest entry than it had.

    Raises:
        StaleError: it has.
    """
    if newest_seq(pool) != version:
        raise StaleError(f"something else was done to pool {pool.name!r} since; look at the new effect first")
    return propose(pool, numbering)


MAX_EVENTS = 100  # that are listed


@dataclass(frozen=True, slots=True)
class MovedRating:
    """A rating of today that would be another."""

    player: str
    before: float | None  # None of a newcomer
    after: float | None  # None of whoever would have no rating any more
    rank_before: int | None  # among the settled; None of whoever is not
    rank_after: int | None


@dataclass(frozen=True, slots=True)
class MovedEvent:
    """An event that would have another change of a rating."""

    event_id: str | None  # None where a season begins
    changes: int  # that would be new, other or gone


@dataclass(frozen=True, slots=True)
class Preview:
    version: int  # of the log that it was looked at with
    is_repeat: bool  # whether everything is so already, and nothing would be logged
    totals: Totals
    lines: tuple[CorrectedLine, ...]  # of an event that would be amended: what is another in it
    events: tuple[MovedEvent, ...]  # the first hundred, in the order of rating
    ratings: tuple[MovedRating, ...]  # every rating of today that would move, the largest move first
    rated: int  # players who have a rating today
    answer: Any  # as carrying it out would give, but for what is only known then
    notice: str = ""  # what moves with what the system has learnt of the pool; empty where nothing does


def preview(pool: PoolReader, act: Act) -> Preview:
    """Look at what an act would do; nothing is stored, and nobody waits.

    Args:
        act: of `podium.store.reading.previews`.

    Returns:
        What would be another, and the version of the log that it was looked at with.

    Raises:
        PodiumError: the act is refused, as it would be if it were carried out.
    """
    refuse_unwritable(pool)
    version, players = newest_seq(pool), count_players(pool)
    proposal = act("", "")(pool, provisional_numbers)
    moved: Counter[OrderKey] = Counter()

    def count(span: Span) -> None:
        moved.update(OrderKey(*key[:2]) for key, _, _ in moves(span))

    rerated, plan = plan_through(proposal, count)
    return Preview(
        version,
        not proposal.entries,
        rerated.totals,
        amended_lines(pool, proposal),
        moved_events(pool, proposal, moved),
        () if plan is None else moved_ratings(pool, proposal, plan),
        players,
        with_receipts(Done(proposal, rerated)).answer,
        rerated.notice,
    )


def amended_lines(pool: PoolReader, proposal: Proposal) -> tuple[CorrectedLine, ...]:
    """What would be another in the content of an event that is amended."""
    if proposal.kind != AMEND or not proposal.entries:
        return ()
    (entry,) = proposal.entries
    (body,) = bodies_of(pool, [find_event(pool, entry.subject).content_seq]).values()
    before, after = lines_of(body), lines_of(entry.body)
    numbers = {number for line in (*before, *after) for number in numbers_in(line)}
    names = present_names(pool, numbers - proposal.newcomers.keys()) | dict(proposal.newcomers)
    return tuple(corrected_lines(before, after, {each: kind_and_name(name)[1] for each, name in names.items()}))


def moved_events(pool: PoolView, proposal: Proposal, moved: Mapping[OrderKey, int]) -> tuple[MovedEvent, ...]:
    """The first events that have so many changes that moved, each by its position."""
    first = sorted(moved)[:MAX_EVENTS]
    ids = event_ids(pool, proposal, {key.started_at for key in first})
    return tuple(MovedEvent(ids.get(key), moved[key]) for key in first)


def moved_ratings(pool: PoolReader, proposal: Proposal, plan: Plan) -> tuple[MovedRating, ...]:
    """Every rating of today that would move, the largest move first; who is new or gone before all."""
    standings = pool.snapshot.standings
    columns = standings.numbers.tolist(), standings.ratings.tolist(), map(np.ndarray.tobytes, standings.states)
    before = {number: each for number, *each in zip(*columns, strict=True) if not is_thing(number)}
    met = {number for number in plan.stored.keys() | plan.standings.keys() if not is_thing(number)}
    after = {number: each for number, each in before.items() if number not in met}
    after |= {number: [each.rating, each.state] for number, each in plan.standings.items() if number in met}
    ratings_before, ratings_after = ({number: each[0] for number, each in one.items()} for one in (before, after))
    ranks_before, ranks_after = (
        {number: rank for number, _, rank in ranked(each_pool, {each: state for each, (_, state) in one.items()})}
        for each_pool, one in ((pool, before), (proposal.pool, after))
    )
    numbers = [each for each in met if ratings_before.get(each) != ratings_after.get(each)]
    if pool.system.ranking != proposal.pool.system.ranking:
        numbers += [each for each in met.difference(numbers) if ranks_before.get(each) != ranks_after.get(each)]
    names = names_of(pool, [each for each in numbers if each not in proposal.newcomers])
    names |= proposal.newcomers
    known = ratings_before, ratings_after, ranks_before, ranks_after
    moved = (MovedRating(names[each], *(some.get(each) for some in known)) for each in numbers)
    return tuple(sorted(moved, key=lambda each: (-size_of(each), each.player)))


def size_of(moved: MovedRating) -> float:
    """By how much a rating would move; infinite of whoever is new or gone."""
    return float("inf") if moved.before is None or moved.after is None else abs(moved.after - moved.before)
