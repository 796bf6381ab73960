"""The log as admins read it: who did what and when, why, and what it moved."""

import json
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from podium.store.log.log import MERGE, PSEUDONYMISE, RENAME, UNMERGE
from podium.store.log.players import names_of
from podium.store.log.pools import Pool
from podium.store.read.models import LogRecord, Moved
from podium.store.sql.schema import correction, log, reason

SELECT_RECORDS = (
    sa.select(
        *(log.c[name] for name in ("seq", "place", "hash", "kind", "subject", "received_at", "actor")),
        sa.case((log.c.kind == MERGE, log.c.body)).label("merge"),
        reason.c.text.label("reason"),
        *(correction.c[name] for name in ("events", "players", "largest")),
    )
    .outerjoin(reason, sa.and_(reason.c.pool_id == log.c.pool_id, reason.c.seq == log.c.seq))
    .outerjoin(correction, sa.and_(correction.c.pool_id == log.c.pool_id, correction.c.seq == log.c.seq))
    .where(log.c.pool_id == sa.bindparam("pool"))
)
SELECT_ENTRIES = SELECT_RECORDS.where(log.c.seq > sa.bindparam("after")).order_by(log.c.seq).limit(sa.bindparam("most"))

SELECT_NEWEST_ENTRIES = (
    SELECT_RECORDS.where(log.c.seq < sa.bindparam("before")).order_by(log.c.seq.desc()).limit(sa.bindparam("most"))
)
OF_PLAYERS = (MERGE, UNMERGE, RENAME, PSEUDONYMISE)
NO_END = 2**62


def listing(connection: sa.Connection, pool: Pool, after: int, most: int) -> tuple[LogRecord, ...]:
    """Entries with numbers above `after`, oldest first."""
    return records(connection, pool, SELECT_ENTRIES, {"pool": pool.id, "after": after, "most": most})


def newest_listing(connection: sa.Connection, pool: Pool, before: int | None, most: int) -> tuple[LogRecord, ...]:
    """Entries with numbers below `before`, newest first; all where None."""
    end = NO_END if before is None else before
    return records(connection, pool, SELECT_NEWEST_ENTRIES, {"pool": pool.id, "before": end, "most": most})


def records(
    connection: sa.Connection, pool: Pool, select: sa.Select[Any], params: dict[str, int]
) -> tuple[LogRecord, ...]:
    """What a statement selects, as records."""
    rows = connection.execute(select, params).all()
    into = {row.seq: int(json.loads(row.merge)["into"]) for row in rows if row.merge is not None}
    players = {row.seq: int(row.subject) for row in rows if row.kind in OF_PLAYERS}
    names = names_of(connection, pool, {*into.values(), *players.values()}) if players else {}
    return tuple(
        LogRecord(
            seq=row.seq,
            place=row.place,
            hash=None if row.hash is None else row.hash.hex(),
            kind=row.kind,
            subject=row.subject,
            player=names.get(players.get(row.seq, 0)),
            into=names.get(into.get(row.seq, 0)),
            received_at=datetime.fromisoformat(row.received_at),
            actor=row.actor,
            reason=row.reason,
            moved=None if row.events is None else Moved(row.events, row.players, row.largest),
        )
        for row in rows
    )
