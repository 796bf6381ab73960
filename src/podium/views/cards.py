"""An overview of a player: rating and rank, form, streaks, records and neighbours."""

import math
from itertools import islice

import numpy as np

from podium.engine.replay import States
from podium.engine.system import System
from podium.ledger import history
from podium.log.players import is_id
from podium.log.pools import When, time_of
from podium.pool.columns import slot_of
from podium.support.arrays import Array, Floats, Integers, Mask
from podium.support.words import shown_change
from podium.views import player_models
from podium.views.board import ESTABLISHED, Board, PlayerStanding, Position, earlier_ranks, standing_of
from podium.views.changes import Changes, career_of
from podium.views.details import details_of
from podium.views.events import encounters, titles_of
from podium.views.models import answer_from
from podium.views.names import names_had
from podium.views.reader import PoolAt, read_cursor

EVER = -(2**62)  # microseconds; earlier than any change


def form_lines(pool: PoolAt, career: Changes) -> tuple[player_models.FormLine, ...]:
    order, titles = career.snapshot.events.order, titles_of(pool, career.content_seqs)
    fields = order.at("field", career.positions)
    columns = career.started_at, career.gain, career.rating, career.rank, fields
    each_shown = zip(
        career.event_ids,
        career.content_seqs,
        map(float, career.shown),
        *(column.tolist() for column in columns),
        strict=True,
    )
    return tuple(
        player_models.FormLine(
            event_id, titles[seq].title, pool.moment(started_at), gain, points,
            rating, rank or None, field or None, sequence=pool.sequence(started_at),
        )
        for event_id, seq, points, started_at, gain, rating, rank, field in each_shown
    )  # fmt: skip


def changes_page(pool: PoolAt, name: str, *, before: str | None = None, top: int = 50) -> player_models.ChangesPage:
    """List a player's changes.

    Args:
        before: the `next` value of the previous page, or None for the first page.
        top: number of changes per page.

    Returns:
        The changes, newest first. Changes at the start of a season have no event.

    Raises:
        UnknownError: there is no such pool or player.
        ParameterError: `before` is not a cursor.
    """
    snapshot = pool.snapshot
    end = None if before is None else snapshot.row_at(snapshot.events.position(read_cursor(before, "a page", int, int)))
    rows = snapshot.career(slot_of(standing_of(pool, name).number), end, top + 1)[::-1]
    career = Changes(snapshot, rows[:top])
    following = "{},{}".format(*snapshot.events.key(int(career.uids[-1]))) if rows.size > top else None
    return player_models.ChangesPage(form_lines(pool, career), following)


RECORDS = 5  # number of best days, and of worst days
NEARBY = 2  # number of neighbours above, and number below


def player_card(pool: PoolAt, name: str, listing: player_models.Listing = ESTABLISHED) -> player_models.PlayerCard:
    """Return an overview of a player.

    Args:
        listing: the players who get ranks and can appear as neighbours. Default: all players with an established
            rating.

    Returns:
        The player's rating, form, streaks, records and neighbours, and the rank if the player is listed.

    Raises:
        UnknownError: there is no such pool or player.
    """
    stands, digits = standing_of(pool, name), pool.system.digits
    career = career_of(pool.snapshot, stands.number).without_seasons
    takes_no_rank = stands.provisional and history.can_be_provisional(pool.system)
    board = Board.of(pool, listing)
    place = board.position(stands.place)
    rank = place.above + 1 if place.through > place.before else None
    beside = nearby(board, stands, place, digits)
    first_five = career.at(slice(history.FINDING_EVENTS))
    judged = career.at(slice(max(history.FINDING_EVENTS, len(career) - history.FORM_EVENTS), None))
    newest = np.arange(len(career))[: -history.FORM_EVENTS - 1 : -1]
    shown = newest, record_days(career.gain), record_days(-career.gain)
    lines = iter(form_lines(pool, career.at(np.concatenate(shown))))
    form, best_days, worst_days = ((*islice(lines, rows.size),) for rows in shown)
    established = found_rows(pool.system, career.states)
    highest = career.at(peak_row(pool.system, career, established))
    earlier = earlier_ranks(board, [stands.number])
    moved = math.fsum(judged.gain.tolist())
    names = {name for name, _ in names_had(pool, stands.number) if not is_id(name)}
    return answer_from(
        player_models.PlayerCard,
        stands,
        rank=rank,
        would_be_rank=1 + place.above if takes_no_rank else None,
        listed=board.size,
        move=None if rank is None else earlier.move(stands.number, rank)[0],
        since=earlier.date,
        since_sequence=earlier.number,
        first_played_at=pool.moment(int(career.started_at[0])),
        first_sequence=pool.sequence(int(career.started_at[0])),
        peak=peak(pool, highest),
        last_ten=moved,
        last_ten_shown=judged.shown_sum,
        last_ten_events=len(judged),
        trend=history.trend(pool.system, moved, stands.deviation, established=not stands.provisional),
        chance=history.own_interval(pool.system, stands.deviation),
        is_highest=is_highest(career, established),
        streaks=player_models.Streaks(*runs(career.rank == 1), *runs(career.gain > 0.0)),
        form=form,
        best_days=best_days,
        worst_days=worst_days,
        finding=math.fsum(first_five.gain.tolist()),
        finding_shown=first_five.shown_sum,
        nearby=beside,
        encounters=encounters(pool, stands.number, career),
        former_names=tuple(sorted(names - {stands.player})),
        details=details_of(pool, stands.number, stands.player),
    )


def record_days(gain: Floats) -> Integers:
    """Return the rows with the largest gains, without events that establish the rating.

    In a tie, the older row counts.
    """
    found = history.FINDING_EVENTS + np.flatnonzero(gain[history.FINDING_EVENTS :] > 0.0)
    return found[np.argsort(-gain[found], kind="stable")][:RECORDS]


def found_rows(system: System, states: States) -> Array:
    """Return the rows of a player's events, without the first ones, which established the rating."""
    established = np.flatnonzero(history.are_established(system, states))
    return established[established >= history.FINDING_EVENTS]


def peak_row(system: System, career: Changes, established: Array) -> Array:
    """Return the row with the highest value of rating minus two deviations, among rows with an established rating."""
    surely = career.rating[established]
    if "deviation" in system.state_type._fields:
        surely = surely - history.SURE_DEVIATIONS * career.states[established, system.column("deviation")]
    return established[surely.argmax()][None] if established.size else established


def is_highest(career: Changes, established: Array) -> bool:
    """Return True if the current rating is the highest since it was established."""
    ratings = career.rating[established]
    return bool(ratings.size > 1 and ratings[-1] > ratings[:-1].max() and career.rating[-1] == ratings[-1])


def peak(pool: PoolAt, highest: Changes) -> player_models.Peak | None:
    if not len(highest):
        return None
    ((event_id,), (time,), (deviation,)) = highest.event_ids, highest.started_at.tolist(), highest.deviations
    moment, number = pool.moment(time), pool.sequence(time)
    return player_models.Peak(float(highest.rating[0]), deviation, event_id or "", moment, sequence=number)


def runs(flags: Mask) -> tuple[int, int]:
    """Return the length of the longest run of true flags, and the length of the last run."""
    breaks = np.flatnonzero(~np.concatenate([[False], flags, [False]]))
    lengths = np.diff(breaks) - 1
    return int(lengths.max()), int(lengths[-1])


def nearby(board: Board, stands: PlayerStanding, place: Position, digits: int) -> tuple[player_models.NearbyRow, ...]:
    rows: list[tuple[int | None, PlayerStanding]] = [*board.rows(place.before - NEARBY, place.through + NEARBY)]
    if place.through == place.before:  # the player is not listed
        rows.insert(min(NEARBY, place.before), (None, stands))
    return tuple(
        answer_from(
            player_models.NearbyRow,
            row,
            rank=rank,
            ahead=row.ranked_by - stands.ranked_by,
            ahead_shown=float(shown_change(stands.ranked_by, row.ranked_by, digits)),
        )
        for rank, row in rows
    )


def rating_curve(
    pool: PoolAt, name: str, since: When | None = None, *, most: int = 300
) -> tuple[player_models.CurvePoint, ...]:
    """Return a player's rating after each change, or fewer points that trace the same curve.

    Args:
        since: the time or event number at which to start, or None to start with the first change.
        most: maximum number of points to return, at least 4.

    Returns:
        The points, oldest first.

    Raises:
        UnknownError: there is no such pool or player.
    """
    whole = career_of(pool.snapshot, standing_of(pool, name).number)
    whole = whole.at(whole.started_at >= (EVER if since is None else time_of(since)))
    career = whole.at(history.thinned(whole.started_at, whole.rating, most))
    columns = (column.tolist() for column in (career.started_at, career.gain, career.rating))
    return tuple(
        player_models.CurvePoint(
            pool.moment(started_at), event_id, gain, points, rating, deviation, sequence=pool.sequence(started_at)
        )
        for event_id, points, deviation, started_at, gain, rating in zip(
            career.event_ids, map(float, career.shown), career.deviations, *columns, strict=True
        )
    )
