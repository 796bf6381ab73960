"""A player at a glance: rating and rank, form, streaks, records and neighbours."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from podium.engine.replay import States
from podium.engine.system import System
from podium.ledger import history
from podium.log.players import SELECT_ALIASES, merges, names_of
from podium.log.pools import BOUND_KEY, FOREVER, Pool, When, key_of, newest_first, time_of
from podium.log.schema import change, event, log
from podium.log.statements import among, of_pool
from podium.store.following import PoolReader
from podium.store.reading import player_models
from podium.store.reading.boards.listings import Board, open_board
from podium.store.reading.boards.pages import earlier_ranks, place_of
from podium.store.reading.events.events import encounters
from podium.store.reading.events.headlines import read_cursor
from podium.store.reading.moments import Answers
from podium.store.writing.rating.ledger_rows import SELECT_ROWS, Integers, Ledger
from podium.store.writing.rating.standing_rows import get_standing, states_of
from podium.support.words import shown, shown_change

EVER = -(2**62)  # microseconds: no change is older
OF_PLAYER = SELECT_ROWS.where(change.c.player_id == sa.bindparam("who"))
SELECT_CHANGES = OF_PLAYER.where(change.c.started_at >= sa.bindparam("since")).order_by(
    change.c.started_at, change.c.seq
)
SELECT_CHANGES_BEFORE = (
    OF_PLAYER.where(key_of(change) < BOUND_KEY).order_by(*newest_first(change)).limit(sa.bindparam("top"))
)
SELECT_EVENT_NAMES = (  # by the numbers of their submissions, which are a key of the log
    sa.select(log.c.seq, event.c.event_id, event.c.title)
    .join(event, sa.and_(event.c.pool_id == log.c.pool_id, event.c.event_id == log.c.subject))
    .where(of_pool(log), among(log.c.seq))
)
EventNames = dict[int, tuple[str, str | None]]  # id and title by the number of the submission


class Career(Ledger):
    """Changes of one player in the order of rating."""

    __slots__ = ()

    @property
    def gain(self) -> npt.NDArray[np.float64]:
        return self.rating - self.before

    def shown_gains(self, digits: int) -> list[float]:
        """What each moved as people read it, to so many decimals."""
        pairs = zip(self.before.tolist(), self.rating.tolist(), strict=True)
        return [float(shown_change(before, after, digits)) for before, after in pairs]

    def states(self, pool: Pool) -> npt.NDArray[np.float64]:
        """The states after each, (rows, fields)."""
        return states_of(pool, self.state.tolist())

    def deviations(self, pool: Pool) -> list[float | None]:
        """How uncertain the rating was after each; None where the system has no such number."""
        if "deviation" not in pool.system.state_type._fields:
            return [None] * len(self)
        return list(self.states(pool)[:, pool.system.column("deviation")].tolist())


def career_of(pool: PoolReader, number: int, since: int = EVER) -> Career:
    return Career.of(pool.fetch(SELECT_CHANGES, who=number, since=since))


def event_names(pool: PoolReader, careers: Iterable[Career]) -> EventNames:
    """The ids and titles of the events in parts of careers; none of a season."""
    seqs = {seq for career in careers for seq in career.seq[career.place > 0].tolist()}
    return event_names_of(pool, sorted(seqs))


def event_names_of(pool: PoolReader, seqs: Sequence[int]) -> EventNames:
    """The ids and titles of events by the numbers of their submissions."""
    rows = pool.fetch(SELECT_EVENT_NAMES, among=seqs)
    return {row.seq: (row.event_id, row.title) for row in rows}


def form_lines(pool: Pool, career: Career, names: EventNames) -> tuple[player_models.FormLine, ...]:
    columns = (career.started_at, career.seq, career.gain, career.rating, career.rank, career.field)
    shown = career.shown_gains(pool.system.digits)
    lines = []
    for k, (started_at, seq, gain, rating, rank, field) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
        event_id, title = names.get(seq, (None, None))
        lines.append(
            player_models.FormLine(
                event_id, title, pool.moment(started_at), gain, shown[k], rating, rank or None, field or None,
                sequence=pool.sequence(started_at),
            )
        )  # fmt: skip
    return tuple(lines)


def changes_page(pool: PoolReader, name: str, *, before: str | None = None, top: int = 50) -> player_models.ChangesPage:
    """List a player's changes.

    Args:
        before: the `next` of the page before; the first page where None.
        top: changes of the page.

    Returns:
        The changes, newest first; those of seasons have no event.

    Raises:
        UnknownError: no such pool or player.
        ParameterError: `before` is no cursor.
    """
    key = FOREVER if before is None else read_cursor(before, "a page")
    number = get_standing(pool, name).player_id
    rows = pool.execute(SELECT_CHANGES_BEFORE, who=number, top=top + 1, **key._asdict()).all()
    following = f"{rows[top - 1].started_at},{rows[top - 1].seq}" if len(rows) > top else None
    career = Career.of(rows[:top])
    return player_models.ChangesPage(form_lines(pool, career, event_names(pool, [career])), following)


RECORDS = 5  # best and worst days each
NEARBY = 2  # players on either side
SETTLED = player_models.Listing()


def player_card(
    pool: PoolReader, answers: Answers, name: str, listing: player_models.Listing = SETTLED
) -> player_models.PlayerCard:
    """Show a player at a glance.

    Args:
        listing: among whom the rank is, and those who are near; all who are settled unless it says otherwise.

    Returns:
        Rating and rank, form, streaks, records and neighbours; no rank of whoever is not listed.

    Raises:
        UnknownError: no such pool or player.
    """
    stands = get_standing(pool, name)
    whole, digits = career_of(pool, stands.player_id), pool.system.digits
    career = whole.at(whole.place > 0)
    newest_change = whole.at(slice(-1, None))
    provisional = not history.are_settled(pool.system, newest_change.states(pool))[0]
    (deviation,) = newest_change.deviations(pool)
    takes_no_rank = provisional and history.can_be_unsettled(pool.system)
    board, place = open_board(pool, listing, answers), place_of(stands)
    rank = board.ranks_of([stands.player_id]).get(stands.player_id) if board.rows_of([stands.player_id]) else None
    beside = nearby(board, stands, rank, digits)
    newest, first_five = career.at(slice(-history.FORM_EVENTS, None)), career.at(slice(history.FINDING_EVENTS))
    judged = career.at(slice(max(history.FINDING_EVENTS, len(career) - history.FORM_EVENTS), None))
    best, worst = (career.at(record_days(sign * career.gain)) for sign in (1.0, -1.0))
    states = career.states(pool)
    settled = found_rows(pool.system, states)
    highest = career.at(peak_row(pool.system, career, states, settled))
    earlier = earlier_ranks(board, [stands.player_id])
    names = event_names(pool, (newest, best, worst, highest))
    form = form_lines(pool, newest, names)
    moved = math.fsum(judged.gain.tolist())
    return player_models.PlayerCard(
        player=stands.name,
        rating=stands.rating,
        deviation=deviation,
        provisional=provisional,
        rank=rank,
        would_be_rank=1 + board.position(place).above if takes_no_rank else None,
        listed=board.count(),
        move=None if rank is None else earlier.move(stands.player_id, rank)[0],
        since=earlier.date,
        since_sequence=earlier.number,
        events=stands.events,
        first_played_at=pool.moment(int(career.started_at[0])),
        first_sequence=pool.sequence(int(career.started_at[0])),
        last_played_at=pool.moment(stands.played_at),
        last_sequence=pool.sequence(stands.played_at),
        peak=peak(pool, highest, names),
        last_ten=moved,
        last_ten_shown=shown_sum(judged, digits),
        last_ten_events=len(judged),
        trend=history.trend(pool.system, moved, deviation, settled=not provisional),
        chance=history.own_interval(pool.system, deviation),
        is_highest=is_highest(career, settled),
        streaks=player_models.Streaks(*runs(career.rank == 1), *runs(career.gain > 0.0)),
        form=form[::-1],
        best_days=form_lines(pool, best, names),
        worst_days=form_lines(pool, worst, names),
        finding=math.fsum(first_five.gain.tolist()),
        finding_shown=shown_sum(first_five, digits),
        nearby=beside,
        encounters=encounters(pool, answers, stands.player_id, career.field[::-1].tolist()),
        former_names=former_names(pool, stands.player_id, stands.name),
    )


def shown_sum(career: Career, digits: int) -> float:
    return float(shown(math.fsum(career.shown_gains(digits)), digits))


def record_days(gain: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The rows of the largest gains, largest first and the older of equals; none of the events that find a rating."""
    found = history.FINDING_EVENTS + np.flatnonzero(gain[history.FINDING_EVENTS :] > 0.0)
    return found[np.argsort(-gain[found], kind="stable")][:RECORDS]


def found_rows(system: System, states: States) -> Integers:
    """The rows of a player's events, but for those that found the rating, after which it was settled."""
    settled = np.flatnonzero(history.are_settled(system, states))
    return settled[settled >= history.FINDING_EVENTS]


def peak_row(system: System, career: Career, states: States, settled: Integers) -> Integers:
    """The row of the settled rating that was surely highest, two deviations below; none of the events that find it."""
    surely = career.rating[settled]
    if "deviation" in system.state_type._fields:
        surely = surely - history.SURE_DEVIATIONS * states[settled, system.column("deviation")]
    return settled[surely.argmax()][None] if settled.size else settled


def is_highest(career: Career, settled: Integers) -> bool:
    """Whether a player's rating is above all that it was before, since it was found."""
    ratings = career.rating[settled]
    return bool(ratings.size > 1 and ratings[-1] > ratings[:-1].max() and career.rating[-1] == ratings[-1])


def peak(pool: Pool, highest: Career, names: EventNames) -> player_models.Peak | None:
    if not highest.seq.size:
        return None
    event_id, _ = names[int(highest.seq[0])]
    (time,) = highest.started_at.tolist()
    moment, number = pool.moment(time), pool.sequence(time)
    return player_models.Peak(float(highest.rating[0]), highest.deviations(pool)[0], event_id, moment, sequence=number)


def runs(flags: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """The longest run of what is true, and the run that the last ends."""
    breaks = np.flatnonzero(~np.concatenate([[False], flags, [False]]))
    lengths = np.diff(breaks) - 1
    return int(lengths.max()), int(lengths[-1])


def nearby(board: Board, stands: Any, rank: int | None, digits: int) -> tuple[player_models.NearbyRow, ...]:
    place = place_of(stands)
    above, below = board.rows_above(place, NEARBY), board.rows(place, NEARBY)
    rows = [*reversed(above), stands, *below]
    rank_of = board.ranks_of([row.player_id for row in (*above, *below)])
    return tuple(
        player_models.NearbyRow(
            rank=rank if row is stands else rank_of[row.player_id],
            player=row.name,
            rating=row.rating,
            ahead=row.score - stands.score,
            ahead_shown=float(shown_change(stands.score, row.score, digits)),
        )
        for row in rows
    )


def former_names(pool: PoolReader, number: int, present: str) -> tuple[str, ...]:
    """The other names that lead to a player: former ones, and those of accounts that play on as the player."""
    accounts = [account for account, into in merges(pool).items() if into == number]
    names = set(names_of(pool, accounts).values()) if accounts else set[str]()
    for account in (number, *accounts):
        names |= set(pool.execute(SELECT_ALIASES, player=account).scalars())
    return tuple(sorted(names - {present}))


def rating_curve(
    pool: PoolReader, name: str, since: When | None = None, *, most: int = 300
) -> tuple[player_models.CurvePoint, ...]:
    """Show a player's rating after each change, or as many of them as tell the same shape.

    Args:
        since: from when on, a moment or the number of an event; from the first change on where None.
        most: points to show, at least 4.

    Returns:
        The points, oldest first.

    Raises:
        UnknownError: no such pool or player.
    """
    number = get_standing(pool, name).player_id
    whole = career_of(pool, number, EVER if since is None else time_of(since))
    career = whole.at(history.thinned(whole.started_at, whole.rating, most))
    names = event_names(pool, [career])
    columns = (career.started_at, career.seq, career.gain, career.rating)
    return tuple(
        player_models.CurvePoint(
            pool.moment(started_at), names.get(seq, (None, None))[0], gain, shown, rating, deviation,
            sequence=pool.sequence(started_at),
        )
        for started_at, seq, gain, rating, shown, deviation in zip(
            *(column.tolist() for column in columns),
            career.shown_gains(pool.system.digits),
            career.deviations(pool),
            strict=True,
        )
    )  # fmt: skip
