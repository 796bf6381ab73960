"""The ranks of 00:00 UTC: of a day, and of a player day by day."""

import sqlalchemy as sa

from podium.errors import UnknownError
from podium.store.derive.snapshots import date_of, days, stored_ranks
from podium.store.log.players import names_of, number_of
from podium.store.log.pools import Pool
from podium.store.read.models import DailyRank, RankedPlayer
from podium.store.sql.schema import snapshot, snapshot_day


def ranks_on(connection: sa.Connection, pool: Pool, day: int) -> tuple[RankedPlayer, ...]:
    """The ranks of a day, best first.

    Raises:
        UnknownError: the day's ranks are not stored, or wait to be taken again.
    """
    if day not in days(connection, pool):
        raise UnknownError(f"there is no snapshot of {date_of(day)} in pool {pool.name!r}")
    ranks, names = stored_ranks(connection, pool, day), names_of(connection, pool)
    return tuple(RankedPlayer(each.rank, names[each.player_id], each.rating) for each in ranks)


def ranks_of_player(connection: sa.Connection, pool: Pool, name: str) -> tuple[DailyRank, ...]:
    """A player's rank day by day, oldest first.

    Raises:
        UnknownError: there is no such player.
    """
    number = number_of(connection, pool, name)
    rows = connection.execute(
        sa.select(snapshot.c.day, snapshot.c.rank, snapshot.c.rating)
        .join(snapshot_day, sa.and_(snapshot_day.c.pool_id == pool.id, snapshot_day.c.day == snapshot.c.day))
        .where(snapshot.c.pool_id == pool.id, snapshot.c.player_id == number, ~snapshot_day.c.stale)
        .order_by(snapshot.c.day)
    )
    return tuple(DailyRank(date_of(row.day), row.rank, row.rating) for row in rows)
