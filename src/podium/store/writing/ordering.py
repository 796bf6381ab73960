"""Change the order of a pool: replace the date of each event by a number, or the number by a date."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
import polars as pl
import sqlalchemy as sa

from podium.log.content import head_begin, start_in
from podium.log.database import StoreError
from podium.log.log import AMEND, CONFIGURE, WITH_CONTENT, LogEntry, contents_of
from podium.log.pools import DATED, NUMBER_US, START, UNDATED, UNDATED_BODY, Order, OrderKey
from podium.log.schema import log
from podium.log.statements import microseconds, of_pool
from podium.pool.snapshot import SEASON, STATUSES, Event
from podium.results.derived_heats import made_up, with_made_dates
from podium.store.following import PoolReader
from podium.store.writing.administration import system_entry
from podium.store.writing.proposals import Act, Proposal

MAX_EVENTS = 50  # the order of a pool with this many events cannot be changed
SELECT_ALL_CONTENTS = (
    sa.select(log.c.subject, log.c.body, log.c.received_at)
    .where(of_pool(log), log.c.kind.in_(WITH_CONTENT))
    .order_by(log.c.seq)
)


def set_order(order: Order, start: datetime | None = None, every: str = "") -> Act:
    """Order a pool's events by dates or by numbers, with one amendment per event. No reason is logged.

    Args:
        order: `dated` or `sequence`.
        start: the date of the first event. If None, each event gets the date that it had earlier, or else the date on
            which it was received.
        every: the time between consecutive events, such as 1w, or an empty string if all took place on one day.

    Returns:
        The act. Its answer is the number of changed rows of the ledger.

    Raises:
        StoreError: the pool has 50 events or more, or a season.
    """

    def propose(pool: PoolReader, actor: str, _reason: str) -> Proposal:
        if order == pool.order:
            return Proposal(pool, CONFIGURE)
        rows = events_to_order(pool, order)
        if order == UNDATED:
            starts, why = [NUMBER_US * number for number in range(1, len(rows) + 1)], "numbered, without dates"
        elif start is None:
            starts, why = in_order(rows, dates_in_log(pool)), "dated as before, or as it was received"
        else:
            ids = pl.DataFrame({"event_id": [row.event_id for row in rows]}, {"event_id": pl.String})
            made = with_made_dates(ids, start, every)["started_at"].to_physical()
            starts, why = in_order(rows, dict(zip(ids["event_id"], made, strict=True))), made_up(start, every)
        contents = contents_of(pool, [row.content_seq for row in rows])
        entries = [system_entry(pool.system, actor, order)]
        for row, at in zip(rows, starts, strict=True):
            was, begin = head_begin(row.event_id, pool.order, row.started_at), head_begin(row.event_id, order, at)
            body, digest = contents[row.content_seq]
            moved = body.replace(was.encode(), begin.encode())
            reason = f"order of the pool: {why}"
            entries.append(LogEntry(row.event_id, moved, actor, digest, row.match_id, row.present, reason, AMEND))
        return Proposal(replace(pool, order=order), CONFIGURE, tuple(entries), sets_order=True)

    return propose


def events_to_order(pool: PoolReader, order: Order) -> list[Event]:
    """Return the events of a pool whose order can be changed.

    Raises:
        StoreError: the pool has 50 events or more, or a season.
    """
    if order != (pool.order or DATED) and pool.snapshot.events.seasons:
        raise StoreError(
            f"pool {pool.name!r} has a season, so its order cannot change. Send its events to a new pool with the "
            f"order {order}"
        )
    events = pool.snapshot.events
    found = events.at(np.arange(min(events.size, MAX_EVENTS + len(events.seasons))))
    rows = [event for event in found if event.status != STATUSES[SEASON]][:MAX_EVENTS]
    if len(rows) == MAX_EVENTS:
        raise StoreError(
            f"pool {pool.name!r} has {MAX_EVENTS} events or more, so its order cannot change. Send them to a new pool "
            f"with the order {order}"
        )
    return rows


def dates_in_log(pool: PoolReader) -> dict[str, int]:
    """Return each event's newest date in the log, or else its time of receipt, in microseconds since 1970."""
    dates: dict[str, int] = {}
    for subject, body, received_at in pool.execute(SELECT_ALL_CONTENTS):
        if body.startswith(UNDATED_BODY):
            dates.setdefault(subject, microseconds(datetime.fromisoformat(received_at)))
        else:
            dates[subject] = start_in(json.loads(body.partition(b"\n")[0]))
    return dates


def in_order(rows: Sequence[Event], dates: Mapping[str, int]) -> list[int]:
    """Return dates that keep events in their order.

    Each event keeps its own date, or gets the earliest date that is late enough.
    """
    last = OrderKey(START.started_at, 0)
    starts = []
    for row in rows:
        at = max(dates[row.event_id], last.started_at + (row.seq < last.seq))
        last = OrderKey(at, row.seq)
        starts.append(at)
    return starts
