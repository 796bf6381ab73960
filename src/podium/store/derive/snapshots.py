"""Daily ranks: how the board stood at 00:00 UTC, taken once a day, and taken again after a correction of the past."""

from datetime import UTC, date, datetime
from typing import Any

import sqlalchemy as sa

from podium.errors import ParameterError, UnknownError
from podium.store.derive.standings import newest
from podium.store.log.players import names_of, number_of
from podium.store.log.pools import Key, Pool
from podium.store.sql.schema import snapshot, snapshot_day
from podium.store.sql.timestamps import DAY_US, instant

HERE = snapshot_day.c.pool_id == sa.bindparam("pool")
SPOILED = sa.update(snapshot_day).where(HERE, snapshot_day.c.day > sa.bindparam("day_it_was")).values(stale=True)
DAYS = sa.select(snapshot_day.c.day, snapshot_day.c.stale).where(HERE).order_by(snapshot_day.c.day)


def day_of(moment: date) -> int:
    """A day's number."""
    return (moment - instant(0).date()).days


def today() -> int:
    """The number of the day that it is in UTC."""
    return day_of(datetime.now(UTC).date())


def day_told(text: str) -> int:
    """The number of a day that is written like 2026-01-31.

    Raises:
        ParameterError: there is no such day.
    """
    try:
        return day_of(date.fromisoformat(text))
    except ValueError:
        raise ParameterError(f"{text!r} is not a day; write it like 2026-01-31") from None


def date_of(day: int) -> date:
    """The day of that number."""
    return instant(day * DAY_US).date()


def spoil(connection: sa.Connection, pool: Pool, started_at: int) -> None:
    """Mark the snapshots after a moment: what was before them has changed."""
    connection.execute(SPOILED, {"pool": pool.id, "day_it_was": started_at // DAY_US})


def due(connection: sa.Connection, pool: Pool, day: int | None) -> list[int]:
    """The days to take: those that are stale, and `day`, or today, if it is missing.

    Raises:
        ParameterError: the day is to come.
    """
    newest = today()
    day = newest if day is None else day
    if day > newest:
        raise ParameterError(f"{date_of(day)} is to come; a snapshot is of a day's 00:00 UTC")
    kept = {row.day: row.stale for row in connection.execute(DAYS, {"pool": pool.id})}
    return sorted({each for each, stale in kept.items() if stale} | ({day} - kept.keys()))


def take(connection: sa.Connection, pool: Pool, day: int) -> int:
    """Keep the ranks of one day's 00:00 UTC, instead of what was kept of it; how many players had one."""
    rows = ranked(connection, pool, day)
    for table in (snapshot, snapshot_day):
        connection.execute(sa.delete(table).where(table.c.pool_id == pool.id, table.c.day == day))
    connection.execute(sa.insert(snapshot_day), {"pool_id": pool.id, "day": day, "stale": False})
    if rows:
        shared = {"pool_id": pool.id, "day": day}
        kept = [shared | {"player_id": who, "rank": rank, "rating": rating} for who, rank, rating in rows]
        connection.execute(sa.insert(snapshot), kept)
    return len(rows)


def retake(connection: sa.Connection, pool: Pool) -> int:
    """Keep the ranks of every day that was spoiled, as they are by now; how many days."""
    stale = [row.day for row in connection.execute(DAYS, {"pool": pool.id}) if row.stale]
    for day in stale:
        take(connection, pool, day)
    return len(stale)


def ranked(connection: sa.Connection, pool: Pool, day: int) -> list[tuple[int, int, float]]:
    """Player, rank and rating at a day's 00:00 UTC; equal ratings share the best rank."""
    told: list[tuple[int, int, float]] = []
    found = newest(connection, pool, None, Key(day * DAY_US, 0))
    best_first = sorted(((each.rating, who) for who, each in found.items()), reverse=True)
    for k, (rating, who) in enumerate(best_first, start=1):
        rank = told[-1][1] if told and told[-1][2] == rating else k
        told.append((who, rank, rating))
    return told


def kept(connection: sa.Connection, pool: Pool, day: int) -> list[tuple[int, int, float]]:
    """What was taken of a day."""
    told = (
        sa.select(snapshot.c.player_id, snapshot.c.rank, snapshot.c.rating)
        .where(snapshot.c.pool_id == pool.id, snapshot.c.day == day)
        .order_by(snapshot.c.rank, snapshot.c.player_id.desc())
    )
    return [(row.player_id, row.rank, row.rating) for row in connection.execute(told)]


def days(connection: sa.Connection, pool: Pool) -> list[int]:
    """The days that are kept, oldest first; none that waits to be taken again."""
    return [row.day for row in connection.execute(DAYS, {"pool": pool.id}) if not row.stale]


def told(connection: sa.Connection, pool: Pool, day: int) -> list[dict[str, Any]]:
    """The ranks of a day, best first: `rank, player, rating`.

    Raises:
        UnknownError: the day was not kept, or waits to be taken again.
    """
    if day not in days(connection, pool):
        raise UnknownError(f"there is no snapshot of {date_of(day)} in pool {pool.name!r}")
    rows, names = kept(connection, pool, day), names_of(connection, pool)
    return [{"rank": rank, "player": names[who], "rating": rating} for who, rank, rating in rows]


def of_player(connection: sa.Connection, pool: Pool, name: str) -> list[dict[str, Any]]:
    """A player's rank day by day: `day, rank, rating`.

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
    return [{"day": date_of(row.day), "rank": row.rank, "rating": row.rating} for row in rows]
