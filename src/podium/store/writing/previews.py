"""Previews of changes to a pool. A change is made exactly as previewed, or not at all."""

from typing import Any

from podium.engine.tables.equipment import kind_and_name
from podium.log.content import lines_of, numbers_in
from podium.log.log import AMEND, bodies_of
from podium.log.pools import refuse_unwritable
from podium.pool.moves import Moves
from podium.store.following import PoolReader
from podium.store.writing.execution import plan
from podium.store.writing.proposals import Act, Proposal
from podium.store.writing.receipts import Totals, names_with, with_receipts
from podium.support.immutable import immutable
from podium.views.board import ESTABLISHED, Board
from podium.views.events import titles_of
from podium.views.names import find_event, find_events, present_names
from podium.views.races.records import CorrectedLine, corrected_lines

MAX_EVENTS = 100  # maximum number of events in a preview


@immutable
class MovedRating:
    """A current rating that would change."""

    player: str
    before: float | None  # None for a newcomer
    after: float | None  # None for a player who would no longer have a rating
    rank_before: int | None  # rank among established players; None if the rating is not established
    rank_after: int | None


@immutable
class MovedEvent:
    """An event in which a rating change would be different."""

    event_id: str | None  # None for the start of a season
    title: str | None  # before the change
    changes: int  # number of changes that would be added, altered or removed


@immutable
class Preview:
    version: int  # version of the log to which the preview applies
    is_repeat: bool  # True if nothing would be logged, because everything is already as requested
    totals: Totals
    lines: tuple[CorrectedLine, ...]  # differences in the event that would be amended
    events: tuple[MovedEvent, ...]  # the first hundred events, in the order of rating
    ratings: tuple[MovedRating, ...]  # every current rating that would change, largest change first
    rated: int  # number of players who currently have a rating
    # response that the change would have, except for values that are known only afterwards; only its first hundred
    # receipts list rating changes
    answer: Any
    notice: str = ""  # note on the effect of values that the system has learnt from the pool, or an empty string


def preview(pool: PoolReader, act: Act) -> Preview:
    """Preview a change. Nothing is stored, and no other writer has to wait.

    Args:
        act: the change.

    Returns:
        The differences that the change would make, and the version of the log to which they apply.

    Raises:
        PodiumError: the change is invalid, and would also be rejected if it were actually made.
    """
    refuse_unwritable(pool)
    proposal = act(pool, "", "")
    done = plan(pool, proposal)
    return Preview(
        pool.version(),
        not proposal.entries,
        done.totals,
        amended_lines(pool, proposal),
        () if done.moves is None else moved_events(pool, done.moves),
        () if done.moves is None else moved_ratings(pool, done.moves, proposal),
        len(pool.snapshot.standings.order.entries),
        with_receipts(done, MAX_EVENTS).answer,
        done.notice,
    )


def amended_lines(pool: PoolReader, proposal: Proposal) -> tuple[CorrectedLine, ...]:
    """Return the differences in the content of the event that a proposal would amend."""
    if proposal.kind != AMEND or not proposal.entries:
        return ()
    (entry,) = proposal.entries
    (body,) = bodies_of(pool, [find_event(pool, entry.subject).content_seq]).values()
    before, after = lines_of(body), lines_of(entry.body)
    numbers = numbers_in([*before, *after])
    names = present_names(pool, numbers - proposal.newcomers.keys()) | dict(proposal.newcomers)
    return tuple(corrected_lines(before, after, {number: kind_and_name(name)[1] for number, name in names.items()}))


def moved_events(pool: PoolReader, moves: Moves) -> tuple[MovedEvent, ...]:
    """Return the first events whose rating changes would differ, in the order of rating."""
    counts = [(moves.after.events.id_of(uid), count) for uid, count in moves.count_by_event()[:MAX_EVENTS]]
    events = find_events(pool, [event_id for event_id, _ in counts if event_id is not None])
    stored = titles_of(pool, [event.content_seq for event in events])
    titles = {event.event_id: stored[event.content_seq].title for event in events}
    return tuple(MovedEvent(event_id, titles.get(event_id or ""), count) for event_id, count in counts)


def moved_ratings(pool: PoolReader, moves: Moves, proposal: Proposal) -> tuple[MovedRating, ...]:
    """Return every current rating that would change, largest change first.

    Added and removed ratings come before all others.
    """
    before, after = (
        ratings_and_ranks(Board(pool, ESTABLISHED, state.standings)) for state in (moves.before, moves.after)
    )
    by_rank = moves.before.pool.system.ranking != moves.after.pool.system.ranking
    nothing = None, None
    moved = {}
    for number in before.keys() | after.keys():
        (rating, rank), (new_rating, new_rank) = before.get(number, nothing), after.get(number, nothing)
        if rating != new_rating or (by_rank and rank != new_rank):
            moved[number] = rating, new_rating, rank, new_rank
    names = names_with(proposal, moved)
    found = (MovedRating(names[number], *cells) for number, cells in moved.items())
    return tuple(sorted(found, key=lambda effect: (-size_of(effect), effect.player)))


def ratings_and_ranks(board: Board) -> dict[int, tuple[float, int | None]]:
    """Return each player's rating and rank on a board, by the player's number."""
    standings = board.standings
    ranks = dict(zip(standings.numbers[board.entries].tolist(), board.ranks(board.entries), strict=True))
    columns = (column[standings.is_player].tolist() for column in (standings.numbers, standings.ratings))
    return {number: (rating, ranks.get(number)) for number, rating in zip(*columns, strict=True)}


def size_of(moved: MovedRating) -> float:
    """Return the size of a rating change, which is infinite if the rating is added or removed."""
    return float("inf") if moved.before is None or moved.after is None else abs(moved.after - moved.before)
