"""A player at a glance: rating and rank, form, streaks, records and neighbours."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from podium.engine.system import System
from podium.ledger.history import (
    FINDING_EVENTS,
    FORM_EVENTS,
    SURE_DEVIATIONS,
    are_settled,
    can_be_unsettled,
    own_interval,
    trend,
)
from podium.store.insights.board_models import Listing
from podium.store.insights.boards.listings import Board, open_board
from podium.store.insights.boards.moves import NO_RANKS, earlier_ranks
from podium.store.insights.careers.changes import Career, EventNames, career_of, event_names, form_lines
from podium.store.insights.player_models import NearbyRow, Peak, PlayerCard, Streaks
from podium.store.insights.version_cache import VersionCache
from podium.store.log.players import SELECT_ALIASES, merges, names_of
from podium.store.log.pools import Pool
from podium.store.rows.standings import get_standing
from podium.store.sql.timestamps import instant
from podium.support.rounding import shown, shown_change

RECORDS = 5  # best and worst days each
NEARBY = 2  # players on either side


def player_card(connection: sa.Connection, pool: Pool, name: str, listing: Listing, cache: VersionCache) -> PlayerCard:
    """A player at a glance, with rank and neighbours among those who are listed.

    Raises:
        UnknownError: the player has no rating here.
    """
    stands = get_standing(connection, pool, name)
    whole, digits = career_of(connection, pool, stands.player_id), pool.system.digits
    career = whole.of_events()
    provisional, deviation = not are_settled(pool.system, whole.states[-1:])[0], whole.deviations(pool)[-1]
    takes_no_rank = provisional and can_be_unsettled(pool.system)
    board, place = open_board(connection, pool, listing, cache), (stands.rating, stands.player_id)
    rank = board.ranks_of([stands.player_id]).get(stands.player_id) if board.rows_of([stands.player_id]) else None
    beside = nearby(board, stands, rank, digits)
    newest, first_five = career.part(slice(-FORM_EVENTS, None)), career.part(slice(FINDING_EVENTS))
    judged = career.part(slice(max(FINDING_EVENTS, len(career.gain) - FORM_EVENTS), None))
    best, worst = (career.part(record_days(sign * career.gain)) for sign in (1.0, -1.0))
    highest = career.part(peak_row(pool.system, career))
    earlier = NO_RANKS
    if not board.is_filtered:
        earlier = earlier_ranks(connection, pool, [stands.player_id], settled=board.only_settled)
    names = event_names(connection, pool, (newest, best, worst, highest))
    form = form_lines(newest, names, digits)
    moved = math.fsum(judged.gain.tolist())
    return PlayerCard(
        player=stands.name,
        rating=stands.rating,
        deviation=deviation,
        provisional=provisional,
        rank=rank,
        would_be_rank=1 + board.position(place).above if takes_no_rank else None,
        listed=board.count(),
        move=None if rank is None else earlier.move(stands.player_id, rank)[0],
        since=earlier.day,
        events=stands.events,
        first_played_at=instant(int(career.started_at[0])),
        last_played_at=instant(stands.played_at),
        peak=peak(pool, highest, names),
        last_ten=moved,
        last_ten_shown=shown_sum(judged, digits),
        last_ten_events=len(judged.gain),
        trend=trend(pool.system, moved, deviation, settled=not provisional),
        chance=own_interval(pool.system, deviation),
        is_highest=is_highest(pool.system, career),
        streaks=streaks(career),
        form=form[::-1],
        best_days=form_lines(best, names, digits),
        worst_days=form_lines(worst, names, digits),
        finding=math.fsum(first_five.gain.tolist()),
        finding_shown=shown_sum(first_five, digits),
        nearby=beside,
        former_names=former_names(connection, pool, stands.player_id, stands.name),
    )


def shown_sum(career: Career, digits: int) -> float:
    """The sum of changes as each of them is shown."""
    return float(shown(math.fsum(career.shown_gains(digits)), digits))


def record_days(gain: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The rows of the largest gains, largest first and the older of equals; none of the events that find a rating."""
    found = FINDING_EVENTS + np.flatnonzero(gain[FINDING_EVENTS:] > 0.0)
    return found[np.argsort(-gain[found], kind="stable")][:RECORDS]


def peak_row(system: System, career: Career) -> npt.NDArray[np.int64]:
    """The row of the settled rating that was surely highest, two deviations below; none of the events that find it."""
    settled = found_rows(system, career)
    surely = career.after[settled]
    if "deviation" in system.state_type._fields:
        surely = surely - SURE_DEVIATIONS * career.states[settled, system.column("deviation")]
    return settled[surely.argmax()][None] if settled.size else settled


def found_rows(system: System, career: Career) -> npt.NDArray[np.int64]:
    """The rows of a player's events, but for those that found the rating, after which it was settled."""
    settled = np.flatnonzero(are_settled(system, career.states))
    return settled[settled >= FINDING_EVENTS]


def is_highest(system: System, career: Career) -> bool:
    """Whether a player's rating is above all that it was before, since it was found."""
    ratings = career.after[found_rows(system, career)]
    return bool(ratings.size > 1 and ratings[-1] > ratings[:-1].max() and career.after[-1] == ratings[-1])


def peak(pool: Pool, highest: Career, names: EventNames) -> Peak | None:
    """The peak by its row, if there is one."""
    if not highest.seq.size:
        return None
    event_id, _ = names[int(highest.seq[0])]
    return Peak(float(highest.after[0]), highest.deviations(pool)[0], event_id, instant(int(highest.started_at[0])))


def streaks(career: Career) -> Streaks:
    """The longest runs and those that last, over a player's events."""
    return Streaks(*runs(career.rank == 1), *runs(career.gain > 0.0))


def runs(flags: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """The longest run of what is true, and the run that the last ends."""
    breaks = np.flatnonzero(~np.concatenate([[False], flags, [False]]))
    lengths = np.diff(breaks) - 1
    return int(lengths.max()), int(lengths[-1])


def nearby(board: Board, stands: Any, rank: int | None, digits: int) -> tuple[NearbyRow, ...]:
    """A player among the listed who are rated next, best first."""
    place = stands.rating, stands.player_id
    above, below = board.rows_above(place, NEARBY), board.rows(place, NEARBY)
    rows = [*reversed(above), stands, *below]
    rank_of = board.ranks_of([row.player_id for row in (*above, *below)])
    return tuple(
        NearbyRow(
            rank=rank if row is stands else rank_of[row.player_id],
            player=row.name,
            rating=row.rating,
            ahead=row.rating - stands.rating,
            ahead_shown=float(shown_change(stands.rating, row.rating, digits)),
        )
        for row in rows
    )


def former_names(connection: sa.Connection, pool: Pool, number: int, present: str) -> tuple[str, ...]:
    """The other names that lead to a player: former ones, and those of accounts that play on as the player."""
    accounts = [account for account, into in merges(connection, pool).items() if into == number]
    names = set(names_of(connection, pool, accounts).values()) if accounts else set[str]()
    for account in (number, *accounts):
        names |= set(connection.execute(SELECT_ALIASES, {"pool": pool.id, "player": account}).scalars())
    return tuple(sorted(names - {present}))
