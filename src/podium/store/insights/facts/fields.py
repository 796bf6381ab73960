"""How strong the field of an event was, and how well each played in it."""

import sqlalchemy as sa

from podium.ledger.performance import performances
from podium.store.insights.fact_models import EventField, Performance
from podium.store.log.pools import Pool
from podium.store.read.events import standing_before


def event_field(connection: sa.Connection, pool: Pool, event_id: str) -> EventField:
    """The field of an event, by the ratings before it, and the performances in it.

    Raises:
        UnknownError: there is no such event, or it is not rated.
        StoreError: another revision of the arithmetic rated the pool.
    """
    live, results = standing_before(connection, pool, event_id)
    events, replayed = live.advance(results)  # of an event that the pool has rated
    rated = performances(pool.system, events, replayed, entrant=0)
    return EventField(
        len(rated),
        float(replayed.before.mean()),
        tuple(Performance(each.player, each.rating, each.bound) for each in rated),
    )
