"""A pool as lines of JSON: its log with the chain, and its players' names; nothing that derives from them."""

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from podium.store.log.chain import GENESIS, chained_entries, newest_head
from podium.store.log.log import SELECT_HASHED_REASONS, Checked, describe, follow
from podium.store.log.players import names_of
from podium.store.log.pools import Pool, settings_of
from podium.store.rating.facts import SELECT_DAYS, date_of
from podium.store.sql.database import StoreError
from podium.store.sql.schema import alias
from podium.store.writing.pool_import import FORMAT
from podium.version import __version__

SELECT_FORMER_NAMES = (
    sa.select(alias.c.name, alias.c.player_id).where(alias.c.pool_id == sa.bindparam("pool")).order_by(alias.c.name)
)


def export_lines(connection: sa.Connection, pool: Pool) -> Iterator[str]:
    """A line that says what follows, then a line a player, then a line an entry of the log."""
    head, names = newest_head(connection, pool), names_of(connection, pool)
    former: dict[int, list[str]] = {}
    for row in connection.execute(SELECT_FORMER_NAMES, {"pool": pool.id}):
        former.setdefault(row.player_id, []).append(row.name)
    yield line(
        {
            "podium_pool": FORMAT,
            "version": __version__,
            "pool": pool.name,
            "system": pool.system.name,
            "parameters": settings_of(pool.system),
            "players": len(names),
            "entries": head.place,
            "head": {"place": head.place, "hash": head.hash},
            "days": [str(date_of(row.day)) for row in connection.execute(SELECT_DAYS, {"pool": pool.id})],
        }
    )
    for number in sorted(names):
        yield line({"player": number, "name": names[number], "former": former.get(number, [])})
    reasons = {row.seq: row for row in connection.execute(SELECT_HASHED_REASONS, {"pool": pool.id})}
    last = Checked(0, 0, (GENESIS,))
    for row in chained_entries(connection, pool):
        in_place = row.place == last.place + 1
        last, fits = follow(last, row)
        if not (in_place and fits):
            raise StoreError(f"pool {pool.name!r}: the chain is broken at log entry {row.place} ({describe(row)}); "
                             "podium verify says what is wrong")  # fmt: skip
        yield line(entry_fields(row, reasons.get(row.seq)))


def entry_fields(row: Any, reason: Any) -> dict[str, Any]:
    """An entry of the log as it is exported."""
    return {
        "place": row.place,
        "received_at": row.received_at,
        "kind": row.kind,
        "actor": row.actor,
        "subject": row.subject,
        "body": row.body.decode(),
        "match_id": row.match_id,
        "present": row.present,
        "reason_hash": None if row.reason_hash is None else row.reason_hash.hex(),
        "reason": None if reason is None else {"salt": reason.salt.hex(), "text": reason.text},
        "hash": row.hash.hex(),
    }


def line(fields: dict[str, Any]) -> str:
    """Fields as a line of JSON."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"
