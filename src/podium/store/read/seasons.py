"""Seasons, and the boards at their ends."""

import polars as pl
import sqlalchemy as sa

from podium.errors import UnknownError
from podium.ledger.leaderboard import Eligibility
from podium.results.names import normalise
from podium.store.log.pools import Pool
from podium.store.read.boards import eligible_board
from podium.store.read.models import Season
from podium.store.sql.schema import season
from podium.store.sql.timestamps import instant


def seasons(connection: sa.Connection, pool: Pool) -> tuple[Season, ...]:
    """The seasons, oldest first."""
    selected = sa.select(season).where(season.c.pool_id == pool.id).order_by(season.c.started_at, season.c.seq)
    return tuple(Season(row.name, instant(row.started_at), row.keep) for row in connection.execute(selected))


def season_board(connection: sa.Connection, pool: Pool, name: str) -> pl.DataFrame:
    """How the board stood when a season ended, just before the next; as it stands where none came after it.

    Raises:
        UnknownError: there is none of that name.
    """
    listed = seasons(connection, pool)
    names = [each.name for each in listed]
    position = next((names.index(each) for each in (name, normalise(name)) if each in names), None)
    if position is None:
        raise UnknownError(f"there is no season {name!r} in pool {pool.name!r}")
    after = listed[position + 1].starts_at if position + 1 < len(listed) else None
    return eligible_board(connection, pool, Eligibility(), after, before=True)
