"""A player's rating over time, thinned to what a screen can show."""

from datetime import datetime

import sqlalchemy as sa

from podium.ledger.history import thinned
from podium.store.insights.careers.changes import EVER, career_of, event_names
from podium.store.insights.player_models import CurvePoint
from podium.store.log.pools import Pool
from podium.store.rows.standings import get_standing
from podium.store.sql.timestamps import instant, microseconds


def rating_curve(
    connection: sa.Connection, pool: Pool, name: str, since: datetime | None, most: int
) -> tuple[CurvePoint, ...]:
    """A player's rating after every change since a moment, or as many of them as tell the same shape.

    Raises:
        UnknownError: the player has no rating here.
    """
    number = get_standing(connection, pool, name).player_id
    whole = career_of(connection, pool, number, EVER if since is None else microseconds(since))
    career = whole.part(thinned(whole.started_at, whole.after, most))
    names = event_names(connection, pool, [career])
    columns = (career.started_at, career.seq, career.gain, career.after)
    return tuple(
        CurvePoint(instant(started_at), names.get(seq, (None, None))[0], gain, shown, rating, deviation)
        for started_at, seq, gain, rating, shown, deviation in zip(
            *(column.tolist() for column in columns),
            career.shown_gains(pool.system.digits),
            career.deviations(pool),
            strict=True,
        )
    )
