"""Everything that derives from the log, brought up to date from an event on, in the open transaction.

Only what changed is written. What would take long is refused: it is planned first (`podium.store.write.long_work`).
"""

from collections.abc import Iterable, Mapping

import sqlalchemy as sa

from podium.store.derive import snapshots
from podium.store.derive.generations import mark_touched
from podium.store.derive.plan import Plan
from podium.store.derive.rerated import Rerated
from podium.store.log.pools import START, OrderKey, Pool
from podium.store.rows.ledger import write_changes
from podium.store.rows.pool_states import delete_pool_states, write_pool_states
from podium.store.rows.standings import refresh_standings
from podium.store.sql.schema import event

SHORT_EVENTS = 5_000  # that one transaction may rate again
STRETCH_EVENTS = 1_000  # that are planned together otherwise: their ledger is in memory at once
UPDATE_STATUS = (
    sa.update(event)
    .where(event.c.pool_id == sa.bindparam("pool"), event.c.event_id == sa.bindparam("event"))
    .values(status=sa.bindparam("status"), reason=sa.bindparam("reason"))
)


def rerate(
    connection: sa.Connection,
    pool: Pool,
    first: OrderKey,
    wanted: Mapping[OrderKey, str] | None = None,
    *,
    refuse_long: bool = False,
) -> Rerated:
    """Rate the events from `first` on, and write what changed.

    Args:
        connection: with the pool's lock.
        pool: with the system that rates it.
        first: where to begin.
        wanted: the events that are answered, by position.
        refuse_long: whether to refuse more events than one transaction may take.

    Raises:
        ResultsError: an event lacks what the system needs.
        LongWorkError: there are more events, and they are refused.
    """
    mark_touched(connection, pool, first)
    plan, rerated = Plan(pool, first), Rerated(wanted or {})
    while not plan.is_over:
        stretch = plan.stretch(connection, SHORT_EVENTS + 1, refuse_more=refuse_long)
        write_changes(connection, pool, stretch.removed, stretch.added, stretch.replaced)
        if pool.system.pool_fields:
            write_pool_states(connection, pool, stretch.old_pools, stretch.new_pools)
        update_statuses(connection, pool, ((row.event_id, status) for row, status in stretch.moved_statuses))
        rerated.add(stretch)
    if first == START and not pool.system.pool_fields:  # the system before may have had states
        delete_pool_states(connection, pool)
    refresh_standings(connection, pool, plan.stored, plan.standings, is_new_system=first == START)
    if rerated.earliest is not None:
        snapshots.mark_stale(connection, pool, rerated.earliest)
    return rerated


def update_statuses(connection: sa.Connection, pool: Pool, statuses: Iterable[tuple[str, tuple[str, str]]]) -> None:
    """Write whether each of these events is rated, and why not."""
    rows = [
        {"pool": pool.id, "event": event_id, "status": status, "reason": reason}
        for event_id, (status, reason) in statuses
    ]
    if rows:
        connection.execute(UPDATE_STATUS, rows)
