"""The newest ratings of a few players, for the small curves beside their names."""

from collections.abc import Iterable

import sqlalchemy as sa

from podium.store.log.pools import START, Pool
from podium.store.rows.ledger import GENERATION
from podium.store.rows.standings import POOL
from podium.store.sql.among import among, values
from podium.store.sql.schema import change, player

MOST_POINTS = 16


NEWER = change.alias("newer")
OLDEST_SHOWN = (
    sa.select(NEWER.c.started_at)
    .where(NEWER.c.generation_id == GENERATION, NEWER.c.player_id == player.c.id)
    .order_by(NEWER.c.started_at.desc())
    .limit(1)
    .offset(MOST_POINTS - 1)
    .correlate(player)
    .scalar_subquery()
)
SELECT_SPARKS = (  # two walks of the index for each player
    sa.select(change.c.player_id, change.c.rating)
    .select_from(player)
    .join(
        change,
        sa.and_(
            change.c.generation_id == GENERATION,
            change.c.player_id == player.c.id,
            change.c.started_at >= sa.func.coalesce(OLDEST_SHOWN, START.started_at),  # of whoever has fewer
        ),
    )
    .where(player.c.pool_id == POOL, among(player.c.id))
    .order_by(change.c.player_id, change.c.started_at, change.c.seq)
)


def sparks(connection: sa.Connection, pool: Pool, players: Iterable[int]) -> dict[int, tuple[float, ...]]:
    """The ratings after the newest 16 changes at most of each player, oldest first, by number."""
    params = {"pool": pool.id, "generation": pool.generation, "among": values(players)}
    curves: dict[int, list[float]] = {}
    for number, rating in connection.execute(SELECT_SPARKS, params).all():
        curves.setdefault(number, []).append(rating)
    return {number: tuple(ratings[-MOST_POINTS:]) for number, ratings in curves.items()}
