"""Which account was merged into which, as the log has it: a merge that is undone has never been."""

import json
from collections.abc import Mapping

import sqlalchemy as sa

from podium.store.log.log import MERGE, UNMERGE
from podium.store.log.pools import Pool
from podium.store.sql.schema import log

SELECT_MERGE_ENTRIES = (
    sa.select(log.c.kind, log.c.subject, log.c.body)
    .where(log.c.pool_id == sa.bindparam("pool"), log.c.kind.in_([MERGE, UNMERGE]))
    .order_by(log.c.seq)
)


def logged_merges(connection: sa.Connection, pool: Pool) -> dict[int, int | None]:
    """The account that each account was merged into, by number; None where that merge was undone."""
    direct: dict[int, int | None] = {}
    for row in connection.execute(SELECT_MERGE_ENTRIES, {"pool": pool.id}):
        follow_entry(direct, row.kind, row.subject, row.body)
    return direct


def follow_entry(direct: dict[int, int | None], kind: str, subject: str, body: bytes) -> None:
    """Bring `direct`, as `logged_merges` has it, up to date with a log entry of a merge, or of one undone."""
    direct[int(subject)] = json.loads(body)["into"] if kind == MERGE else None


def resolved(direct: Mapping[int, int | None]) -> dict[int, int]:
    """The account that each merged account plays on as, at the end of its chain of merges."""
    ends = {}
    for account, into in direct.items():
        end = into
        while end is not None:  # only accounts that were not merged away are merged, so that no chain is a circle
            ends[account] = end
            end = direct.get(end)
    return ends
