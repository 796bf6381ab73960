"""Events as they stand: their rows, and the changes of ratings of each."""

from typing import Any, NamedTuple

import sqlalchemy as sa

from podium.errors import UnknownError
from podium.store.log.players import names_of
from podium.store.log.pools import OrderKey, Pool, key_params
from podium.store.sql.among import among, values
from podium.store.sql.schema import change, event

SELECT_EVENTS = sa.select(event).where(event.c.pool_id == sa.bindparam("pool"), among(event.c.event_id))
SELECT_CHANGES = (
    sa.select(change.c.player_id, change.c.rating_before, change.c.rating)
    .where(
        change.c.generation_id == sa.bindparam("generation"),
        change.c.started_at == sa.bindparam("started_at"),
        change.c.seq == sa.bindparam("seq"),
    )
    .order_by(change.c.place)
)


class Change(NamedTuple):
    """A change of a player's rating by an event."""

    player: str
    rating_before: float
    rating: float
    delta: float


def get_event(connection: sa.Connection, pool: Pool, event_id: str) -> Any:
    """An event's row.

    Raises:
        UnknownError: there is no event of that id.
    """
    row = connection.execute(SELECT_EVENTS, {"pool": pool.id, "among": values([event_id])}).first()
    if row is None:
        raise UnknownError(f"there is no event {event_id!r} in pool {pool.name!r}")
    return row


def changes_of(connection: sa.Connection, pool: Pool, key: OrderKey) -> tuple[Change, ...]:
    """The changes of ratings by an event, in the order of its rows."""
    rows = connection.execute(SELECT_CHANGES, key_params(pool, key)).all()
    names = names_of(connection, pool, {row.player_id for row in rows}) if rows else {}
    return tuple(
        Change(names[row.player_id], row.rating_before, row.rating, row.rating - row.rating_before) for row in rows
    )
