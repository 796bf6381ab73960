"""Events that are to count for nothing, or again."""

from collections.abc import Collection

import sqlalchemy as sa

from podium.store.derive.events import get_event
from podium.store.derive.rerating import UPDATE_STATUS, VOIDED
from podium.store.log.log import RESTORE, VOID, append, json_entry
from podium.store.log.pools import OrderKey, Pool
from podium.store.write.receipts import Receipt, receipts
from podium.store.write.submission import rate_from
from podium.store.write.versions import require_version


def void(
    connection: sa.Connection,
    pool: Pool,
    event_id: str,
    actor: str,
    *,
    versions: Collection[str] | None = None,
    dry_run: bool = False,
) -> Receipt:
    """Let an event count for nothing.

    Raises:
        UnknownError: there is no such event.
        StaleError: the event has none of the versions.
    """
    return set_voided(connection, pool, event_id, actor, voided=True, versions=versions, dry_run=dry_run)


def restore(
    connection: sa.Connection,
    pool: Pool,
    event_id: str,
    actor: str,
    *,
    versions: Collection[str] | None = None,
    dry_run: bool = False,
) -> Receipt:
    """Let a voided event count again.

    Raises:
        UnknownError: there is no such event.
        StaleError: the event has none of the versions.
    """
    return set_voided(connection, pool, event_id, actor, voided=False, versions=versions, dry_run=dry_run)


def set_voided(
    connection: sa.Connection,
    pool: Pool,
    event_id: str,
    actor: str,
    *,
    voided: bool,
    versions: Collection[str] | None,
    dry_run: bool,
) -> Receipt:
    """Let an event count for nothing, or again; a duplicate where it does so already."""
    known = get_event(connection, pool, event_id)
    key, rerated = OrderKey(known.started_at, known.seq), None
    is_duplicate = (known.status == VOIDED) == voided
    if not is_duplicate:
        require_version(known, versions)
        append(connection, pool, VOID if voided else RESTORE, [json_entry(event_id, None, actor)])
        status = VOIDED if voided else ""
        connection.execute(UPDATE_STATUS, {"pool": pool.id, "event": event_id, "status": status, "reason": status})
        rerated = rate_from(connection, pool, [key], [known.match_id])
    duplicates = {event_id} if is_duplicate else frozenset[str]()
    (receipt,) = receipts(connection, pool, {event_id: key}, rerated, duplicates=duplicates, dry_run=dry_run)
    return receipt
