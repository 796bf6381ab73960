"""Previews of changes to a pool. A change is made exactly as previewed, or not at all."""

from dataclasses import dataclass
from typing import Any

from podium.engine.tables.equipment import kind_and_name
from podium.log.content import numbers_in
from podium.log.log import AMEND, bodies_of, newest_seq
from podium.log.pools import refuse_unwritable
from podium.pool.moves import Moves
from podium.store.following import PoolReader
from podium.store.reading.log import CorrectedLine, corrected_lines, lines_of
from podium.store.writing.execution import plan
from podium.store.writing.proposals import Act, Proposal
from podium.store.writing.receipts import Totals, names_with, with_receipts
from podium.views.boards.board import ESTABLISHED, Board
from podium.views.names import find_event, present_names

MAX_EVENTS = 100  # that are listed


@dataclass(frozen=True, slots=True)
class MovedRating:
    """A rating of today that would be another."""

    player: str
    before: float | None  # None of a newcomer
    after: float | None  # None of whoever would have no rating any more
    rank_before: int | None  # among the established; None of whoever is not
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
        act: the change.

    Returns:
        What would be another, and the version of the log that it was looked at with.

    Raises:
        PodiumError: the act is refused, as it would be if it were carried out.
    """
    refuse_unwritable(pool)
    proposal = act(pool, "", "")
    done = plan(pool, proposal)
    return Preview(
        newest_seq(pool),
        not proposal.entries,
        done.totals,
        amended_lines(pool, proposal),
        () if done.moves is None else moved_events(done.moves),
        () if done.moves is None else moved_ratings(pool, done.moves, proposal),
        int(pool.snapshot.standings.best_first.size),
        with_receipts(done).answer,
        done.notice,
    )


def amended_lines(pool: PoolReader, proposal: Proposal) -> tuple[CorrectedLine, ...]:
    """Return the differences in the content of an event that is to be amended."""
    if proposal.kind != AMEND or not proposal.entries:
        return ()
    (entry,) = proposal.entries
    (body,) = bodies_of(pool, [find_event(pool, entry.subject).content_seq]).values()
    before, after = lines_of(body), lines_of(entry.body)
    numbers = {number for line in (*before, *after) for number in numbers_in(line)}
    names = present_names(pool, numbers - proposal.newcomers.keys()) | dict(proposal.newcomers)
    return tuple(corrected_lines(before, after, {each: kind_and_name(name)[1] for each, name in names.items()}))


def moved_events(moves: Moves) -> tuple[MovedEvent, ...]:
    """The first events that have so many changes that moved, each by its position."""
    counts = moves.count_by_event()[:MAX_EVENTS]
    return tuple(MovedEvent(moves.after.events.id_of(uid), count) for uid, count in counts)


def moved_ratings(pool: PoolReader, moves: Moves, proposal: Proposal) -> tuple[MovedRating, ...]:
    """Every rating of today that would move, the largest move first; who is new or gone before all."""
    before, after = (
        ratings_and_ranks(Board(pool, ESTABLISHED, each.standings)) for each in (moves.before, moves.after)
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
    return tuple(sorted(found, key=lambda each: (-size_of(each), each.player)))


def ratings_and_ranks(board: Board) -> dict[int, tuple[float, int | None]]:
    """The rating of each player, and the rank on a board, by number."""
    standings = board.standings
    ranks = dict(zip(standings.numbers[board.entries].tolist(), board.ranks(board.entries), strict=True))
    columns = (each[standings.is_player].tolist() for each in (standings.numbers, standings.ratings))
    return {number: (rating, ranks.get(number)) for number, rating in zip(*columns, strict=True)}


def size_of(moved: MovedRating) -> float:
    """Return the size of a rating change, which is infinite for added and removed ratings."""
    return float("inf") if moved.before is None or moved.after is None else abs(moved.after - moved.before)
