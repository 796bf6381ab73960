"""Events as they stand: their rows and versions, and the changes of ratings of each.

Whoever corrects an event may say which version the correction is of.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from podium.errors import UnknownError
from podium.ledger.history import is_provisional
from podium.store.derive.proposal import VOIDED
from podium.store.log.players import names_of
from podium.store.log.pools import OrderKey, Pool, key_params
from podium.store.rows.standings import state_columns
from podium.store.sql.among import among, values
from podium.store.sql.database import StoreError
from podium.store.sql.schema import change, event

SELECT_EVENTS = sa.select(event).where(event.c.pool_id == sa.bindparam("pool"), among(event.c.event_id))
SELECT_CHANGES = (
    sa.select(change.c.player_id, change.c.rating_before, change.c.rating, change.c.state)
    .where(
        change.c.generation_id == sa.bindparam("generation"),
        change.c.started_at == sa.bindparam("started_at"),
        change.c.seq == sa.bindparam("seq"),
    )
    .order_by(change.c.place)
)
MovedTo = tuple[int, float, float, bytes]  # a player, the rating before and after, and the state after


class StaleError(StoreError):
    """The event has changed since the version that a correction is of."""


@dataclass(slots=True)  # not frozen: a large batch has thousands, and each would take five times as long to make
class Change:
    """A change of a player's rating by an event."""

    player: str = field(metadata={"description": "The player's name as it is now."})
    rating_before: float = field(metadata={"description": "The rating before, in points."})
    rating: float = field(metadata={"description": "The rating after, in points."})
    delta: float = field(metadata={"description": "The change, in points."})
    deviation: float | None = field(
        metadata={"description": "How uncertain the rating is then, in points; null if the system does not say."}
    )
    provisional: bool = field(metadata={"description": "Whether the rating is not settled yet then."})


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
    return tuple(changes_from(pool, names, [tuple(row) for row in rows]))


def changes_from(pool: Pool, names: Mapping[int, str], moved: Sequence[MovedTo]) -> list[Change]:
    """Changes with what their states say of them."""
    columns = state_columns(pool, [state for *_, state in moved])
    return [
        Change(names[number], before, rating, rating - before, deviation, is_provisional(pool.system, by_rule, events))
        for (number, before, rating, _), deviation, by_rule, events in zip(
            moved, columns.deviation, columns.provisional, columns.events, strict=True
        )
    ]


def version_of(row: Any) -> str:
    """The version of an event's row: it changes with the content, and when the event is voided or restored."""
    return f"{row.content_seq}-voided" if row.status == VOIDED else f"{row.content_seq}"


def require_version(row: Any, versions: Collection[str] | None) -> None:
    """Refuse a correction of another version than the event has.

    Args:
        versions: those it may have; any where None.

    Raises:
        StaleError: it has none of them.
    """
    if versions is not None and version_of(row) not in versions:
        raise StaleError(f"event {row.event_id!r} has changed since; read it again, and then correct it")
