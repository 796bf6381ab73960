"""Leaderboard pages and ranks. Ranks come from the counts per whole rating and one of them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import polars as pl
import sqlalchemy as sa

from podium.ledger import leaderboard
from podium.ledger.leaderboard import shared_ranks
from podium.store.derive.standings import (
    BOARD_COLUMNS,
    FINE_PER_POINT,
    HAS_STANDING,
    bucket,
    get_standing,
    newest_standings,
)
from podium.store.log.content import UTC_DATETIME
from podium.store.log.players import names_of
from podium.store.log.pools import OrderKey, Pool
from podium.store.read.models import BoardPage, BoardRow, PlayerRank, RatingCount
from podium.store.read.states import states_of
from podium.store.sql.schema import player, rank_count, standing
from podium.store.sql.timestamps import instant, microseconds

IN_POOL = standing.c.generation_id == sa.bindparam("generation")
BOARD_ORDER = sa.tuple_(standing.c.rating, standing.c.player_id)
BOARD_CURSOR = sa.tuple_(sa.bindparam("rating"), sa.bindparam("number"))
SELECT_BOARD = (
    sa.select(*BOARD_COLUMNS)
    .join(player, HAS_STANDING)
    .where(IN_POOL)
    .order_by(standing.c.rating.desc(), standing.c.player_id.desc())
    .limit(sa.bindparam("top"))
)
SELECT_BOARD_AFTER = SELECT_BOARD.where(BOARD_ORDER < BOARD_CURSOR)
SELECT_BOARD_BEFORE = (
    SELECT_BOARD.where(BOARD_ORDER > BOARD_CURSOR).order_by(None).order_by(standing.c.rating, standing.c.player_id)
)
COUNT_PLAYERS = sa.select(sa.func.coalesce(sa.func.sum(rank_count.c.players), 0)).where(
    rank_count.c.generation_id == sa.bindparam("generation"), rank_count.c.per_point == sa.bindparam("fine")
)
COUNT_PLAYERS_ABOVE = COUNT_PLAYERS.where(
    rank_count.c.bucket > sa.bindparam("above"), rank_count.c.bucket < sa.bindparam("end")
)
COUNT_ABOVE_WITHIN = (
    sa.select(sa.func.count())
    .select_from(standing)
    .where(IN_POOL, standing.c.rating > sa.bindparam("rating"), standing.c.rating < sa.bindparam("limit"))
)
COUNT_TIED_ABOVE = (
    sa.select(sa.func.count())
    .select_from(standing)
    .where(IN_POOL, standing.c.rating == sa.bindparam("rating"), standing.c.player_id > sa.bindparam("number"))
)
SELECT_RANK_COUNTS = (
    sa.select(rank_count.c.bucket, rank_count.c.players)
    .where(rank_count.c.generation_id == sa.bindparam("generation"), rank_count.c.per_point == 1)
    .order_by(rank_count.c.bucket)
)
SELECT_STATES = sa.select(standing.c.player_id, standing.c.played_at, standing.c.state).where(IN_POOL)
END_OF_BUCKETS = 2**62
Place = tuple[float, int]  # a rating, and the player's number


def page(connection: sa.Connection, pool: Pool, top: int, after: Place | None) -> BoardPage:
    """So many players from a cursor on.

    Args:
        after: rating and number of the last player of the page before, as its `next` says.
    """
    params: dict[str, Any] = {"pool": pool.id, "generation": pool.generation, "top": top}
    if after is None:
        rows = connection.execute(SELECT_BOARD, params).all()
    else:
        rows = connection.execute(SELECT_BOARD_AFTER, params | {"rating": after[0], "number": after[1]}).all()
    following = f"{rows[-1].rating!r},{rows[-1].player_id}" if len(rows) == top else None
    return BoardPage(with_ranks(connection, pool, rows), following)


def with_ranks(connection: sa.Connection, pool: Pool, rows: Sequence[Any]) -> tuple[BoardRow, ...]:
    """Rows of a page, which stand best first, with their ranks: equal ratings share the best."""
    if not rows:
        return ()
    first = 1 + count_better(connection, pool, rows[0].rating)
    params = {"pool": pool.id, "generation": pool.generation, "rating": rows[0].rating, "number": rows[0].player_id}
    tied = connection.execute(COUNT_TIED_ABOVE, params).scalar_one()  # who stand on the page before
    ranks = shared_ranks([row.rating for row in rows])
    return tuple(
        BoardRow(first if rank == 1 else first + tied + rank - 1, name, rating, events, instant(played_at))
        for rank, (_, name, rating, events, played_at) in zip(ranks, rows, strict=True)
    )


def count_better(connection: sa.Connection, pool: Pool, rating: float) -> int:
    """How many are rated above: by points, by parts of the same point, and one by one within the same part."""
    point, part = bucket(rating), bucket(rating, FINE_PER_POINT)
    above = connection.execute(
        COUNT_PLAYERS_ABOVE,
        {"pool": pool.id, "generation": pool.generation, "fine": 1, "above": point, "end": END_OF_BUCKETS},
    )
    beside = {
        "pool": pool.id,
        "generation": pool.generation,
        "fine": FINE_PER_POINT,
        "above": part,
        "end": (point + 1) * FINE_PER_POINT,
    }
    inside = {"pool": pool.id, "generation": pool.generation, "rating": rating, "limit": (part + 1) / FINE_PER_POINT}
    counts = above, connection.execute(COUNT_PLAYERS_ABOVE, beside), connection.execute(COUNT_ABOVE_WITHIN, inside)
    return sum(int(each.scalar_one()) for each in counts)


def rank(connection: sa.Connection, pool: Pool, name: str) -> PlayerRank:
    """A player's rank, and the share who are not rated above.

    Raises:
        UnknownError: the player has no rating here.
    """
    row = get_standing(connection, pool, name)
    players = int(
        connection.execute(COUNT_PLAYERS, {"pool": pool.id, "generation": pool.generation, "fine": 1}).scalar_one()
    )
    above = count_better(connection, pool, row.rating)
    percentile = 100.0 * (players - above) / players
    return PlayerRank(row.name, above + 1, players, percentile, row.rating, row.events, instant(row.played_at))


def neighbours(connection: sa.Connection, pool: Pool, name: str, each: int) -> tuple[BoardRow, ...]:
    """A player among so many on either side, as a page has them.

    Raises:
        UnknownError: the player has no rating here.
    """
    row = get_standing(connection, pool, name)
    params = {
        "pool": pool.id,
        "generation": pool.generation,
        "top": each,
        "rating": row.rating,
        "number": row.player_id,
    }
    above = connection.execute(SELECT_BOARD_BEFORE, params).all()
    below = connection.execute(SELECT_BOARD_AFTER, params).all()
    return with_ranks(connection, pool, [*reversed(above), row, *below])


def distribution(connection: sa.Connection, pool: Pool) -> tuple[RatingCount, ...]:
    """Players per whole rating, lowest first."""
    params = {"pool": pool.id, "generation": pool.generation}
    return tuple(RatingCount(row.bucket, row.players) for row in connection.execute(SELECT_RANK_COUNTS, params))


def eligible_board(
    connection: sa.Connection,
    pool: Pool,
    rules: leaderboard.Eligibility,
    at: datetime | None = None,
    *,
    before: bool = False,
) -> pl.DataFrame:
    """`rank, player, rating`, the state's other fields, `events, last_played_at, provisional` of those who are listed.

    Args:
        at: as it stood then, events up to that moment counted.
        before: events and seasons that start at the moment itself are not.
    """
    if at is None:
        rows = [
            (row.player_id, row.played_at, row.state)
            for row in connection.execute(SELECT_STATES, {"pool": pool.id, "generation": pool.generation})
        ]
    else:
        key = OrderKey(microseconds(at), 0 if before else 2**62)
        rows = [
            (who, each.played_at, each.state) for who, each in newest_standings(connection, pool, None, key).items()
        ]
    states = states_of(pool, [state for _, _, state in rows])
    names = names_of(connection, pool)
    shown = {name: pl.Series(values) for name, values in pool.system.shown(states).items()}
    players = pl.DataFrame(
        {
            "pool": pl.repeat(pool.name, len(rows), dtype=pl.String, eager=True),
            "player": pl.Series([names[who] for who, _, _ in rows], dtype=pl.String),
            "last_played_at": pl.Series([moment for _, moment, _ in rows], dtype=pl.Int64).cast(UTC_DATETIME),
        }
    )
    return leaderboard.listed(leaderboard.as_board(pool.system, players, shown, states), rules, at).drop("pool")


def limit_notice(connection: sa.Connection, pool: Pool) -> str | None:
    """How many of a pool's players are at a limit of its system, and what suits; None where none is."""
    if not pool.system.limits:
        return None
    rows = connection.execute(SELECT_STATES, {"pool": pool.id, "generation": pool.generation})
    return pool.system.limit_notice(states_of(pool, [row.state for row in rows]))
