"""Who moved most in the days up to a pool's newest event, and the surprise among the changes of these days."""

import math
from decimal import Decimal
from typing import Any

import sqlalchemy as sa

from podium.ledger.history import FINDING_EVENTS, can_be_unsettled
from podium.store.insights.board_models import Mover, Movers, Surprise
from podium.store.insights.events.event_list import newest_rated
from podium.store.log.players import names_of
from podium.store.log.pools import BOUND_KEY, Pool, key_of
from podium.store.read.boards import IS_SETTLED
from podium.store.sql.among import among, values
from podium.store.sql.schema import change, event, standing
from podium.store.sql.timestamps import DAY_US, instant
from podium.support.rounding import shown_change

DELTA = change.c.rating - change.c.rating_before
WITHIN = (
    change.c.generation_id == sa.bindparam("generation"),
    change.c.started_at >= sa.bindparam("since"),
    change.c.place > 0,
)
SUM = sa.func.sum(DELTA).label("change")
SUMS = (
    sa.select(change.c.player_id, sa.func.count().label("events"), SUM)
    .where(*WITHIN)
    .group_by(change.c.player_id + 0, change.c.player_id)  # by no index: that of players has all of their changes
    .limit(sa.bindparam("most"))
)
SELECT_GAINED = SUMS.having(SUM > 0.0).order_by(SUM.desc(), change.c.player_id)
SELECT_LOST = SUMS.having(SUM < 0.0).order_by(SUM, change.c.player_id)
SELECT_CHANGES_OF = sa.select(change.c.player_id, change.c.rating_before, change.c.rating).where(
    *WITHIN, among(change.c.player_id)
)
OF_EVENT: Any = {"partition_by": (change.c.started_at, change.c.seq)}
RANKED = (
    sa.select(
        *(change.c[name] for name in ("started_at", "seq", "player_id", "rating_before", "rating", "rank", "field")),
        change.c.place,
        DELTA.label("delta"),
        sa.func.max(change.c.rank).over(**OF_EVENT).label("last"),
    )
    .where(*WITHIN)
    .subquery()
)
WON_AND_LOST = sa.and_(RANKED.c.rank == 1, RANKED.c.last > 1, RANKED.c.delta < 0.0)
LAST_AND_GAINED = sa.and_(RANKED.c.rank == RANKED.c.last, RANKED.c.rank > 1, RANKED.c.delta > 0.0)
SETTLED = sa.case(
    (sa.bindparam("least_events") > 0, standing.c.events >= sa.bindparam("least_events")), else_=IS_SETTLED
)
SELECT_SURPRISE = (
    sa.select(RANKED, SETTLED.label("settled"))
    .join(
        standing,
        sa.and_(standing.c.generation_id == sa.bindparam("generation"), standing.c.player_id == RANKED.c.player_id),
    )
    .order_by(
        sa.case((SETTLED, 0), else_=1),
        sa.case((sa.or_(WON_AND_LOST, LAST_AND_GAINED), 0), else_=1),
        sa.func.abs(RANKED.c.delta).desc(),
        RANKED.c.started_at.desc(),
        RANKED.c.seq.desc(),
        RANKED.c.place,
    )
    .limit(1)
)
SPREAD_SUMS = sa.select(
    sa.func.count(), sa.func.avg(standing.c.rating), sa.func.avg(standing.c.rating * standing.c.rating)
).where(standing.c.generation_id == sa.bindparam("generation"))
SELECT_EVENT = sa.select(event.c.event_id, event.c.title).where(
    event.c.pool_id == sa.bindparam("pool"), key_of(event) == BOUND_KEY
)


def movers(connection: sa.Connection, pool: Pool, days: int, most: int) -> Movers:
    """Who moved most in so many days up to the newest rated event, and the surprise of these days."""
    newest = newest_rated(connection, pool)
    if newest is None:
        return Movers(None, (), (), None, 0.0)
    since = newest.started_at - days * DAY_US
    params = {"generation": pool.generation, "since": since, "most": most}
    gained, lost = (connection.execute(select, params).all() for select in (SELECT_GAINED, SELECT_LOST))
    numbers = [row.player_id for row in (*gained, *lost)]
    names = names_of(connection, pool, numbers)
    shown = shown_sums(connection, pool, params | {"among": values(numbers)})
    best, worst = (
        tuple(Mover(names[row.player_id], row.events, row.change, float(shown[row.player_id])) for row in rows)
        for rows in (gained, lost)
    )
    return Movers(instant(since), best, worst, surprise(connection, pool, params), spread(connection, pool))


def shown_sums(connection: sa.Connection, pool: Pool, params: dict[str, Any]) -> dict[int, Decimal]:
    """The sums of players' changes as each of them is shown."""
    sums, digits = dict[int, Decimal](), pool.system.digits
    for number, before, rating in connection.execute(SELECT_CHANGES_OF, params).all():
        sums[number] = sums.get(number, Decimal(0)) + shown_change(before, rating, digits)
    return sums


def surprise(connection: sa.Connection, pool: Pool, params: dict[str, Any]) -> Surprise | None:
    """The largest change of a settled player, against the result if there is one, or else of any; None without one."""
    least_events = 0 if can_be_unsettled(pool.system) else FINDING_EVENTS
    row = connection.execute(SELECT_SURPRISE, params | {"least_events": least_events}).first()
    if row is None:
        return None
    (name,) = names_of(connection, pool, [row.player_id]).values()
    (of,) = connection.execute(SELECT_EVENT, {"pool": pool.id, "started_at": row.started_at, "seq": row.seq}).all()
    points = float(shown_change(row.rating_before, row.rating, pool.system.digits))
    return Surprise(
        of.event_id, of.title, instant(row.started_at), name, row.delta, points, bool(row.settled), row.rank, row.field
    )


def spread(connection: sa.Connection, pool: Pool) -> float:
    """The standard deviation of a pool's ratings; 0 where there are fewer than two."""
    count, mean, mean_square = connection.execute(SPREAD_SUMS, {"generation": pool.generation}).one()
    return math.sqrt(max(0.0, mean_square - mean * mean)) if count > 1 else 0.0
