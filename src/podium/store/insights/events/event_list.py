"""Events by key, newest first, each with a headline; and the events beside one."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from podium.errors import ParameterError
from podium.store.derive.events import get_event
from podium.store.derive.proposal import RATED, SUPERSEDED, VOIDED
from podium.store.insights.board_models import AdjacentEvents, EventListPage, EventName
from podium.store.insights.events.headlines import headlines
from podium.store.log.pools import BOUND_KEY, FOREVER, OrderKey, Pool, key_of
from podium.store.sql.schema import event
from podium.store.sql.timestamps import instant

MAX_NUMBER = 2**62  # below it are all starts and numbers of log entries
IN_POOL = event.c.pool_id == sa.bindparam("pool")
NEWEST_FIRST = event.c.started_at.desc(), event.c.seq.desc()
SELECT_EVENTS = (
    sa.select(event)
    .where(IN_POOL, event.c.status != SUPERSEDED, key_of(event) < BOUND_KEY)
    .order_by(*NEWEST_FIRST)
    .limit(sa.bindparam("top"))
)
SELECT_NEWEST_RATED = sa.select(event).where(IN_POOL, event.c.status == RATED).order_by(*NEWEST_FIRST).limit(1)
COUNT_EVENTS = sa.select(sa.func.count()).select_from(event).where(IN_POOL)
COUNTING = sa.select(event).where(IN_POOL, event.c.status.not_in([VOIDED, SUPERSEDED])).limit(1)
SELECT_PREVIOUS = COUNTING.where(key_of(event) < BOUND_KEY).order_by(*NEWEST_FIRST)
SELECT_NEXT = COUNTING.where(key_of(event) > BOUND_KEY).order_by(event.c.started_at, event.c.seq)


def newest_rated(connection: sa.Connection, pool: Pool) -> Any:
    """The row of the newest rated event; None where there is none."""
    return connection.execute(SELECT_NEWEST_RATED, {"pool": pool.id}).first()


def count_events(connection: sa.Connection, pool: Pool) -> int:
    """How many events there are, whatever became of them: counted in an index, without their rows."""
    return int(connection.execute(COUNT_EVENTS, {"pool": pool.id}).scalar_one())


def event_list(connection: sa.Connection, pool: Pool, before: str | None, top: int) -> EventListPage:
    """So many events from a cursor on, but for results that another result of their match stands for.

    Raises:
        ParameterError: `before` is no cursor.
    """
    found = rows_before(connection, pool, parse_key(before) if before else FOREVER, top + 1)
    rows = found[:top]
    following = f"{rows[-1].started_at},{rows[-1].seq}" if len(found) > top else None
    return EventListPage(headlines(connection, pool, rows), following)


def rows_before(connection: sa.Connection, pool: Pool, key: OrderKey, top: int) -> Sequence[Any]:
    """The rows of so many events before a key, newest first."""
    return connection.execute(SELECT_EVENTS, {"pool": pool.id, "top": top} | key._asdict()).all()


def parse_key(cursor: str) -> OrderKey:
    """Read the key of the last event of a page from its cursor.

    Raises:
        ParameterError: it is none.
    """
    started_at, _, seq = cursor.partition(",")
    try:
        key = OrderKey(int(started_at), int(seq))
    except ValueError:
        key = FOREVER
    if max(map(abs, key)) >= MAX_NUMBER:
        raise ParameterError(f"{cursor!r} is not the `next` of a page of events")
    return key


def adjacent_events(connection: sa.Connection, pool: Pool, event_id: str) -> AdjacentEvents:
    """The events that count before and after an event.

    Raises:
        UnknownError: there is no such event.
    """
    row = get_event(connection, pool, event_id)
    params = {"pool": pool.id, "started_at": row.started_at, "seq": row.seq}
    beside = (connection.execute(select, params).first() for select in (SELECT_PREVIOUS, SELECT_NEXT))
    return AdjacentEvents(*(None if each is None else event_name(each) for each in beside))


def event_name(row: Any) -> EventName:
    """An event's row as a link."""
    return EventName(row.event_id, row.title, instant(row.started_at))
