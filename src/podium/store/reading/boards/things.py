"""Things that entrants share and that a pool's system rates: a car, a club. They have points, and no ranks."""

from datetime import datetime

import sqlalchemy as sa

from podium.engine.tables.things import kind_and_name
from podium.store.log.pools import Pool
from podium.store.reading.models import LAST_PLAYED, LastPlayed
from podium.store.sql.schema import standing, thing
from podium.support.answers import answer, described

SELECT_RATED = (
    sa.select(thing.c.name, *(standing.c[name] for name in ("rating", "deviation", "events", "played_at")))
    .join(standing, sa.and_(standing.c.generation_id == sa.bindparam("generation"), standing.c.player_id == thing.c.id))
    .where(thing.c.pool_id == sa.bindparam("pool"))
)


@answer
class SharedThing(LastPlayed):
    """Something that entrants share, and what the results say of it whoever had it."""

    kind: str = described("What it is, as `car`.")
    name: str = described("Its name as it is now.")
    points: float = described("What it adds to the rating of whoever has it, in points.")
    deviation: float | None = described("How uncertain that is, in points.")
    events: int = described("Rated events in which somebody had it.")
    last_played_at: datetime | None = described(LAST_PLAYED)


def things(connection: sa.Connection, pool: Pool) -> tuple[SharedThing, ...]:
    """List what entrants share and the system rates; it has no rank among players.

    Returns:
        Everything that has been in a rated event: by kind as the system names them, most points first.
    """
    kinds, usual = pool.system.kinds, pool.system.newcomer().rating
    rows = connection.execute(SELECT_RATED, {"pool": pool.id, "generation": pool.generation}).all() if kinds else ()
    found = [
        SharedThing(
            *kind_and_name(row.name),
            row.rating - usual,
            row.deviation,
            row.events,
            pool.moment(row.played_at),
            last_sequence=pool.sequence(row.played_at),
        )
        for row in rows
    ]
    return tuple(sorted(found, key=lambda each: (kinds.index(each.kind), -each.points, each.name)))
