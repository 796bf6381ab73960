"""How ranks moved since the newest day whose ranks are stored and right."""

from collections.abc import Collection
from datetime import date
from typing import NamedTuple

import sqlalchemy as sa

from podium.store.derive.snapshots import date_of
from podium.store.log.pools import Pool
from podium.store.sql.among import among, values
from podium.store.sql.schema import snapshot, snapshot_day

IN_POOL = snapshot_day.c.pool_id == sa.bindparam("pool")
SELECT_NEWEST_DAY = (
    sa.select(snapshot_day.c.day).where(IN_POOL, ~snapshot_day.c.stale).order_by(snapshot_day.c.day.desc()).limit(1)
)
SELECT_RANKS = sa.select(snapshot.c.player_id, snapshot.c.rank, snapshot.c.settled_rank).where(
    snapshot.c.pool_id == sa.bindparam("pool"), snapshot.c.day == sa.bindparam("day"), among(snapshot.c.player_id)
)


class EarlierRanks(NamedTuple):
    """Ranks of a day, by player."""

    day: date | None  # None where no day has such ranks
    ranks: dict[int, int]

    def move(self, number: int, rank: int) -> tuple[int | None, bool]:
        """How many ranks a player has risen by, and whether the player is new on the board."""
        if self.day is None:
            return None, False
        earlier = self.ranks.get(number)
        return (None, True) if earlier is None else (earlier - rank, False)


NO_RANKS = EarlierRanks(None, {})


def earlier_ranks(connection: sa.Connection, pool: Pool, players: Collection[int], *, settled: bool) -> EarlierRanks:
    """The ranks that players had at 00:00 UTC of the newest day that no correction has spoilt.

    Args:
        settled: among the settled; else among all.
    """
    newest = connection.execute(SELECT_NEWEST_DAY, {"pool": pool.id}).first()
    if newest is None:
        return NO_RANKS
    rows = connection.execute(SELECT_RANKS, {"pool": pool.id, "day": newest.day, "among": values(players)})
    ranks = {row.player_id: row.settled_rank if settled else row.rank for row in rows}
    return EarlierRanks(date_of(newest.day), {number: rank for number, rank in ranks.items() if rank is not None})
