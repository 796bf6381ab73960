"""Leaderboard pages and ranks. Ranks come from the counts per whole rating and one of them."""

import math
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import sqlalchemy as sa

from podium.errors import ParameterError, UnknownError
from podium.ledger import leaderboard
from podium.ledger.leaderboard import Eligibility
from podium.log.log import newest_seq
from podium.log.players import known_numbers, names_of, unrated_error
from podium.log.pools import (
    DAY,
    NUMBER_US,
    START,
    Order,
    OrderKey,
    PoolView,
    When,
    newest_first,
    season_time,
    settings_of,
    time_of,
)
from podium.log.schema import event, rank_count, season, standing
from podium.log.statements import DAY_US, among, floored, instant, is_thing, of_generation, of_players, of_pool
from podium.pool.columns import Array
from podium.pool.slots import numbers_of, slot_of
from podium.results.columns import UTC
from podium.results.names import normalise
from podium.store.following import PoolReader
from podium.store.reading.models import PlayerRank, PoolSummary, RatingCount, Season
from podium.store.writing.rating.events import RATED
from podium.store.writing.rating.standing_rows import FINE_PER_POINT, bucket, get_standing, newest_among, states_of

IN_POOL = sa.and_(of_generation(standing), of_players(standing))
BOARD_ORDER = sa.tuple_(standing.c.score, standing.c.player_id)
BOARD_CURSOR = sa.tuple_(sa.bindparam("score"), sa.bindparam("number"))
IS_SETTLED = standing.c.provisional.is_(sa.false())
COUNTED = {False: rank_count.c.players, True: rank_count.c.settled}  # of a bucket, by whether only the settled count
COUNT_PLAYERS = {
    settled: sa.select(sa.func.coalesce(sa.func.sum(column), 0)).where(
        of_generation(rank_count), rank_count.c.per_point == 1
    )
    for settled, column in COUNTED.items()
}


def count_above(score: Any, point: Any, part: Any, *, settled: bool) -> sa.ColumnElement[int]:
    """How many stand above a score: by points, by parts of the same point, and one by one within the same part."""
    counted = sa.select(sa.func.coalesce(sa.func.sum(COUNTED[settled]), 0)).where(of_generation(rank_count))
    above = counted.where(rank_count.c.per_point == 1, rank_count.c.bucket > point)
    beside = counted.where(rank_count.c.per_point == FINE_PER_POINT).where(
        rank_count.c.bucket > part, rank_count.c.bucket < (point + 1) * FINE_PER_POINT
    )
    inside = (
        sa.select(sa.func.count())
        .select_from(standing)
        .where(IN_POOL, standing.c.score > score, standing.c.score < (part + 1) * (1.0 / FINE_PER_POINT))
        .where(*([IS_SETTLED] if settled else []))
    )
    coarse, fine, rest = (each.correlate(WHO).scalar_subquery() for each in (above, beside, inside))
    return coarse + fine + rest


WHO = standing.alias("who")
SCORE: sa.BindParameter[float] = sa.bindparam("score", type_=sa.Double())
POINT, PART = (sa.bindparam(name, type_=sa.BigInteger()) for name in ("point", "part"))
SELECT_BETTER = {settled: sa.select(count_above(SCORE, POINT, PART, settled=settled)) for settled in COUNTED}
SELECT_RANKS = {
    settled: sa.select(
        WHO.c.player_id,
        count_above(WHO.c.score, floored(WHO.c.score), floored(WHO.c.score * FINE_PER_POINT), settled=settled) + 1,
    ).where(of_generation(WHO), among(WHO.c.player_id))
    for settled in COUNTED
}
SELECT_RANK_COUNTS = (
    sa.select(rank_count.c.bucket, rank_count.c.players)
    .where(of_generation(rank_count), rank_count.c.per_point == 1)
    .order_by(rank_count.c.bucket)
)
SELECT_WHOLE_RATINGS = (
    sa.select(floored(standing.c.rating).label("bucket"), sa.func.count().label("players"))
    .where(IN_POOL)
    .group_by(sa.text("bucket"))
    .order_by(sa.text("bucket"))
)
SELECT_STATES = sa.select(standing.c.player_id, standing.c.played_at, standing.c.state).where(IN_POOL)
MAX_CURSOR_SCORE = 1e300  # what a database holds
MAX_CURSOR_NUMBER = 2**63
Place = tuple[float, int]  # a score, and the player's number


class PlayerStanding(NamedTuple):
    """How a player stands now."""

    player_id: int
    name: str
    rating: float
    events: int
    played_at: int  # microseconds since 1970
    provisional: bool
    deviation: float | None  # None if the system has no such number
    score: float  # what ranks follow


def number_now(pool: PoolReader, name: str) -> int:
    """Return a player's number; for a merged account, that of the account that it was merged into.

    Raises:
        UnknownError: no such player.
    """
    number = known_numbers(pool, [name]).get(name)
    if number is None:
        raise unrated_error(pool, name)
    return pool.snapshot.merged.get(number, number)


def standing_of(pool: PoolReader, name: str) -> PlayerStanding:
    """Return how a player stands now.

    Raises:
        UnknownError: no such player, or one without a rating.
    """
    number = number_now(pool, name)
    found = [] if is_thing(number) else standings_of(pool, np.array([slot_of(number)]))
    if not found:
        raise unrated_error(pool, name)
    return found[0]


def standings_of(pool: PoolReader, slots: Array) -> list[PlayerStanding]:
    """Return how these players stand now, in their order, without those who have no rating."""
    system, snapshot = pool.system, pool.snapshot
    newest = snapshot.newest_rows(snapshot.rows.size, slots)
    rows, numbers = newest[newest >= 0], numbers_of(slots[newest >= 0]).tolist()
    states, names = snapshot.rows.at("state", rows), names_of(pool, numbers)
    deviation = system.column("deviation") if "deviation" in system.state_type._fields else None
    columns = (
        states[:, system.column("rating")],
        states[:, system.column("events")].astype(np.int64),
        snapshot.played_at(rows),
        system.unsettled(states),
        np.full(rows.size, None) if deviation is None else states[:, deviation],
        system.scores(states),
    )
    every = zip(numbers, map(names.__getitem__, numbers), *(column.tolist() for column in columns), strict=True)
    return [*map(PlayerStanding._make, every)]


def cursor_of(row: Any) -> str:
    return f"{row.score!r},{row.player_id}"


def parse_cursor(cursor: str) -> Place:
    score, _, number = cursor.partition(",")
    try:
        place = float(score), int(number)
    except ValueError:
        place = math.inf, 0
    if not abs(place[0]) < MAX_CURSOR_SCORE or abs(place[1]) >= MAX_CURSOR_NUMBER:
        raise ParameterError("the cursor is not the `next` of a page")
    return place


def count_better(pool: PoolView, score: float, *, settled: bool = False) -> int:
    """How many stand above a score."""
    point, part = bucket(score), bucket(score, FINE_PER_POINT)
    return int(pool.execute(SELECT_BETTER[settled], score=score, point=point, part=part).scalar_one())


def ranks_of(pool: PoolView, players: Iterable[int], *, settled: bool = False) -> dict[int, int]:
    """The ranks of players, by number, among all or among the settled; none of a player without a rating."""
    rows = pool.execute(SELECT_RANKS[settled], among=players).all()
    return {number: int(rank) for number, rank in rows}


def count_players(pool: PoolView, *, settled: bool = False) -> int:
    return int(pool.execute(COUNT_PLAYERS[settled]).scalar_one())


def rank(pool: PoolView, name: str) -> PlayerRank:
    """Show a player's rank.

    Returns:
        The rank, and the share of players who are not rated above.

    Raises:
        UnknownError: no such pool or player.
    """
    row = get_standing(pool, name)
    players = count_players(pool)
    above = count_better(pool, row.score)
    percentile = 100.0 * (players - above) / players
    last, number = pool.moment(row.played_at), pool.sequence(row.played_at)
    return PlayerRank(row.name, above + 1, players, percentile, row.rating, row.events, last, last_sequence=number)


def distribution(pool: PoolView) -> tuple[RatingCount, ...]:
    """Count the players of each whole rating.

    Returns:
        A count for each whole rating that somebody has, lowest first.
    """
    rows = pool.execute(SELECT_WHOLE_RATINGS if pool.system.ranking else SELECT_RANK_COUNTS)
    return tuple(RatingCount(row.bucket, row.players) for row in rows)


def board(pool: PoolView, rules: Eligibility, at: When | None = None) -> pl.DataFrame:
    """Show the board of those whom the rules list, as of a moment.

    Args:
        rules: who is listed.
        at: the moment, or the number of an event in a counted pool; now where None.

    Returns:
        A row a player, as `Rated.leaderboard` has it; `last_sequence` beside it in a counted pool.

    Raises:
        ParameterError: a rule that the system cannot serve.
    """
    return board_before(pool, rules, None if at is None else OrderKey(time_of(at), 2**62))


SELECT_RATED_START = (
    sa.select(event.c.started_at)
    .where(of_pool(event), event.c.status == RATED, event.c.started_at <= sa.bindparam("until"))
    .order_by(*newest_first(event))
    .offset(sa.bindparam("above"))
    .limit(1)
)


def span_begins(pool: PoolView, span: timedelta, until: int) -> int:
    """Return when a span up to a time begins: in a counted pool with the first of its last events, one for each day."""
    if not pool.is_counted:
        return until - round(span / DAY * DAY_US)
    above = max(1, round(span / DAY)) - 1
    begins: int | None = pool.execute(SELECT_RATED_START, until=until, above=above).scalar()
    return START.started_at if begins is None else begins


def board_before(pool: PoolView, rules: Eligibility, key: OrderKey | None) -> pl.DataFrame:
    """`rank, player, rating`, the state's other fields, `events, last_played_at, provisional` of those listed."""
    if key is None:
        rows = [(row.player_id, row.played_at, row.state) for row in pool.execute(SELECT_STATES)]
    else:
        rows = [(who, each.played_at, each.state) for who, each in newest_among(pool, None, key).items()]
    states = states_of(pool, [state for _, _, state in rows])
    names = names_of(pool)
    shown = {name: pl.Series(values) for name, values in pool.system.shown(states).items()}
    players = pl.DataFrame(
        {
            "pool": pl.repeat(pool.name, len(rows), dtype=pl.String, eager=True),
            "player": pl.Series([names[who] for who, _, _ in rows], dtype=pl.String),
            "last_played_at": pl.Series([moment for _, moment, _ in rows], dtype=pl.Int64).cast(UTC),
        }
    )
    until = max((moment for _, moment, _ in rows), default=0) if key is None else key.started_at
    if rules.active_within is not None:
        active = until - span_begins(pool, rules.active_within, until)
        rules = replace(rules, active_within=timedelta(microseconds=active))
    at = None if key is None else instant(key.started_at)
    listed = leaderboard.listed(pool.system, leaderboard.as_board(pool.system, players, shown, states), rules, at).drop(
        "pool"
    )
    if not pool.is_counted:
        return listed
    last = pl.col("last_played_at")
    return listed.with_columns(pl.lit(None, UTC).alias("last_played_at"), last_sequence=last.dt.epoch("us") / NUMBER_US)


def pool_order(pool: PoolView) -> Order | None:
    """Say what orders a pool's events: `dated` or `sequence`.

    Returns:
        The order; None before the first event of a pool that was created without one.
    """
    return pool.order


def pool_summary(pool: PoolView) -> PoolSummary:
    """Show a pool as `pool_summaries` has it.

    Returns:
        Its summary.
    """
    notice = limit_notice(pool)
    version, says = newest_seq(pool), asdict(pool.description)
    of_system = pool.system.name, settings_of(pool.system), notice
    return PoolSummary(pool.name, *of_system, **says, version=version, order=pool.order)


def limit_notice(pool: PoolView) -> str | None:
    """Warn of players at a limit of the pool's system.

    Returns:
        How many there are, and what suits such results; None where none is.
    """
    if not pool.system.limits:
        return None
    rows = pool.execute(SELECT_STATES)
    return pool.system.limit_notice(states_of(pool, [row.state for row in rows]))


def seasons(pool: PoolView) -> tuple[Season, ...]:
    """List the seasons.

    Returns:
        The seasons, oldest first.
    """
    selected = sa.select(season).where(season.c.pool_id == pool.id).order_by(season.c.started_at, season.c.seq)
    return tuple(
        Season(row.name, pool.moment(row.started_at), row.keep, sequence=pool.sequence(row.started_at))
        for row in pool.execute(selected)
    )


def season_board(pool: PoolView, name: str) -> pl.DataFrame:
    """Show how the board stood when a season ended, or as it stands where it is not over.

    Returns:
        A row a player, best first.

    Raises:
        UnknownError: no such pool or season.
    """
    listed = seasons(pool)
    names = [each.name for each in listed]
    position = next((names.index(each) for each in (name, normalise(name)) if each in names), None)
    if position is None:
        raise UnknownError(f"there is no season {name!r} in pool {pool.name!r}")
    after = OrderKey(season_time(listed[position + 1].when), 0) if position + 1 < len(listed) else None
    return board_before(pool, Eligibility(), after)
