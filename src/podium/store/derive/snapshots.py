"""Daily ranks: the board as of 00:00 UTC, taken once a day, and taken again after a correction of the past."""

from datetime import UTC, date, datetime
from typing import NamedTuple

import sqlalchemy as sa

from podium.errors import ParameterError
from podium.ledger.leaderboard import shared_ranks
from podium.store.log.pools import OrderKey, Pool
from podium.store.rows.standings import newest_standings, state_columns
from podium.store.sql.prepared import execute_prepared
from podium.store.sql.schema import pools, snapshot, snapshot_day
from podium.store.sql.timestamps import DAY_US, instant

IN_POOL = snapshot_day.c.pool_id == sa.bindparam("pool")
UPDATE_STALE = (
    sa.update(snapshot_day).where(IN_POOL, snapshot_day.c.day > sa.bindparam("changed_day")).values(stale=True)
)
SELECT_DAYS = sa.select(snapshot_day.c.day, snapshot_day.c.stale).where(IN_POOL).order_by(snapshot_day.c.day)


class DayRank(NamedTuple):
    """A player's rank at a day's 00:00 UTC."""

    player_id: int
    rank: int
    rating: float
    settled_rank: int | None  # among the settled; None of whoever is not


def day_of(moment: date) -> int:
    """A day's number: days since 1970."""
    return (moment - instant(0).date()).days


def today() -> int:
    """The number of the current day in UTC."""
    return day_of(datetime.now(UTC).date())


def parse_day(text: str) -> int:
    """Read a day that is written like 2026-01-31, as its number.

    Raises:
        ParameterError: the text is not a day.
    """
    try:
        return day_of(date.fromisoformat(text))
    except ValueError:
        raise ParameterError(f"{text!r} is not a day; write it like 2026-01-31") from None


def date_of(day: int) -> date:
    """The day of that number."""
    return instant(day * DAY_US).date()


def mark_stale(connection: sa.Connection, pool: Pool, started_at: int) -> None:
    """Mark the snapshots after a moment to be taken again: ratings before them have changed."""
    execute_prepared(connection, UPDATE_STALE, {"pool": pool.id, "changed_day": started_at // DAY_US})


def due_days(connection: sa.Connection, pool: Pool, day: int | None) -> list[int]:
    """The days to take: those that are stale, and `day`, or today, if it is missing.

    Raises:
        ParameterError: the day is in the future.
    """
    current = today()
    day = current if day is None else day
    if day > current:
        raise ParameterError(f"{date_of(day)} is in the future; a snapshot is of a day's 00:00 UTC")
    stale_by_day = {row.day: row.stale for row in connection.execute(SELECT_DAYS, {"pool": pool.id})}
    return sorted({each for each, stale in stale_by_day.items() if stale} | ({day} - stale_by_day.keys()))


def take(connection: sa.Connection, pool: Pool, day: int) -> int:
    """Store the ranks as of one day's 00:00 UTC instead of any that were stored, and return how many there are."""
    ranks = ranks_at(connection, pool, day)
    for table in (snapshot, snapshot_day):
        connection.execute(sa.delete(table).where(table.c.pool_id == pool.id, table.c.day == day))
    shared = {"pool_id": pool.id, "day": day}
    settled = sum(each.settled_rank is not None for each in ranks)
    connection.execute(sa.insert(snapshot_day), shared | {"stale": False, "settled": settled})
    if ranks:
        connection.execute(sa.insert(snapshot), [shared | each._asdict() for each in ranks])
    return len(ranks)


def stale_days(connection: sa.Connection, pool: Pool) -> list[int]:
    """The days whose ranks a correction has spoilt, oldest first."""
    return [row.day for row in connection.execute(SELECT_DAYS, {"pool": pool.id}) if row.stale]


def ranks_at(connection: sa.Connection, pool: Pool, day: int) -> list[DayRank]:
    """The ranks as of a day's 00:00 UTC, best first; equal ratings share the best rank."""
    standings = newest_standings(connection, pool, None, OrderKey(day * DAY_US, 0))
    best_first = sorted(((each.rating, number) for number, each in standings.items()), reverse=True)
    ratings = [rating for rating, _ in best_first]
    provisional = state_columns(pool, [standings[number].state for _, number in best_first]).provisional
    settled = [number for (_, number), early in zip(best_first, provisional, strict=True) if not early]
    settled_ranks = dict(zip(settled, shared_ranks([standings[number].rating for number in settled]), strict=True))
    return [
        DayRank(number, rank, rating, settled_ranks.get(number))
        for rank, (rating, number) in zip(shared_ranks(ratings), best_first, strict=True)
    ]


def stored_ranks(connection: sa.Connection, pool: Pool, day: int) -> list[DayRank]:
    """The ranks as they were taken of a day, best first."""
    select = (
        sa.select(*(snapshot.c[name] for name in DayRank._fields))
        .where(snapshot.c.pool_id == pool.id, snapshot.c.day == day)
        .order_by(snapshot.c.rank, snapshot.c.player_id.desc())
    )
    return [DayRank(*row) for row in connection.execute(select)]


def days(connection: sa.Connection, pool: Pool) -> list[int]:
    """The days whose ranks are stored, oldest first; none that waits to be taken again."""
    return [row.day for row in connection.execute(SELECT_DAYS, {"pool": pool.id}) if not row.stale]


def newest_days(connection: sa.Connection) -> dict[str, int]:
    """The newest day whose ranks are stored, of each pool that has one, by name."""
    select = (
        sa.select(pools.c.name, sa.func.max(snapshot_day.c.day).label("day"))
        .join(pools, pools.c.id == snapshot_day.c.pool_id)
        .where(~snapshot_day.c.stale)
        .group_by(pools.c.name)
    )
    return {row.name: row.day for row in connection.execute(select)}
