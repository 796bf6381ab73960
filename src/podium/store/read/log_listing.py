"""The log as admins read it: who did what and when, why, and what it moved."""

from typing import Any

import sqlalchemy as sa

from podium.store.log.pools import Pool
from podium.store.sql.schema import correction, log, reason

SELECT_ENTRIES = (
    sa.select(
        *(log.c[name] for name in ("seq", "place", "hash", "kind", "subject", "received_at", "actor")),
        reason.c.text.label("reason"),
        *(correction.c[name] for name in ("events", "players", "largest")),
    )
    .outerjoin(reason, sa.and_(reason.c.pool_id == log.c.pool_id, reason.c.seq == log.c.seq))
    .outerjoin(correction, sa.and_(correction.c.pool_id == log.c.pool_id, correction.c.seq == log.c.seq))
    .where(log.c.pool_id == sa.bindparam("pool"), log.c.seq > sa.bindparam("after"))
    .order_by(log.c.seq)
    .limit(sa.bindparam("most"))
)


def listing(connection: sa.Connection, pool: Pool, after: int, most: int) -> list[dict[str, Any]]:
    """Entries with numbers above `after`: `seq, place, hash, kind, subject, received_at, actor, reason, moved`.

    `reason` is None where none was given or it is blanked; `moved` where nothing was corrected in this database.
    """
    entries = []
    for row in connection.execute(SELECT_ENTRIES, {"pool": pool.id, "after": after, "most": most}).mappings():
        entry = dict(row)
        moved = {name: entry.pop(name) for name in ("events", "players", "largest")}
        digits = None if entry["hash"] is None else entry["hash"].hex()
        entries.append(entry | {"hash": digits, "moved": None if moved["events"] is None else moved})
    return entries
