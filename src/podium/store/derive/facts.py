"""What the log makes of events, matches, seasons and accounts: read from the log alone, and as it is kept."""

import json
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from podium.store.derive.rerating import SUPERSEDED, VOIDED
from podium.store.log.log import AMEND, CONFIGURE, MERGE, REGISTER, RESTORE, SEASON, SUBMIT, VOID
from podium.store.log.pools import Pool
from podium.store.sql.schema import event, log, merged, pools, registration, season
from podium.store.sql.timestamps import microseconds

Facts = dict[tuple[str, Any], Any]  # what is told of ("event", its id), ("season", its name), …
ENTRIES = (
    sa.select(log.c.seq, log.c.kind, log.c.subject, log.c.body, log.c.match_id, log.c.present)
    .where(log.c.pool_id == sa.bindparam("pool"))
    .order_by(log.c.seq)
)


def from_log(connection: sa.Connection, pool: Pool) -> Facts:
    """What the log says."""
    told: Facts = {}
    events: dict[str, dict[str, Any]] = {}
    for row in connection.execute(ENTRIES, {"pool": pool.id}):
        if row.kind in (SUBMIT, AMEND):
            first = json.loads(row.body[: row.body.index(b"\n")])
            started_at = microseconds(datetime.fromisoformat(first["started_at"]))
            was = events.get(row.subject, {"seq": row.seq, "voided": False})
            now = {"content_seq": row.seq, "started_at": started_at, "match": row.match_id, "present": row.present}
            events[row.subject] = was | now
        elif row.kind in (VOID, RESTORE):
            events[row.subject]["voided"] = row.kind == VOID
        elif row.kind == REGISTER:
            told["match", row.subject] = row.seq, json.loads(row.body)["expires_at"]
        elif row.kind == SEASON:
            body = json.loads(row.body)
            told["season", row.subject] = row.seq, body["started_at"], body["keep"]
        elif row.kind == CONFIGURE:
            body = json.loads(row.body)
            told["pool", ""] = body["system"], body["parameters"]
        elif row.kind == MERGE:
            gone, stays = int(row.subject), json.loads(row.body)["into"]
            ends = {key: stays if end == gone else end for key, end in told.items() if key[0] == "account"}
            told |= ends | {("account", gone): stays}
    stands = standing_results(events)
    for event_id, one in events.items():
        overtaken = one["match"] is not None and stands.get(one["match"]) != event_id
        state = VOIDED if one["voided"] else SUPERSEDED if overtaken else ""
        told["event", event_id] = one["seq"], one["content_seq"], one["started_at"], one["match"], one["present"], state
    return told


def standing_results(events: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The result of each match that stands: with most of its entrants, the first of equals."""
    told: dict[str, str] = {}
    for event_id, one in sorted(events.items(), key=lambda item: item[1]["seq"]):
        if one["match"] is None or one["voided"]:
            continue
        best = told.get(one["match"])
        if best is None or one["present"] > events[best]["present"]:
            told[one["match"]] = event_id
    return told


def as_kept(connection: sa.Connection, pool: Pool) -> Facts:
    """What the tables say."""
    told: Facts = {}
    for row in connection.execute(sa.select(event).where(event.c.pool_id == pool.id)):
        state = row.status if row.status in (VOIDED, SUPERSEDED) else ""
        told["event", row.event_id] = row.seq, row.content_seq, row.started_at, row.match_id, row.present, state
    for row in connection.execute(sa.select(registration).where(registration.c.pool_id == pool.id)):
        told["match", row.match_id] = row.seq, row.expires_at
    for row in connection.execute(sa.select(season).where(season.c.pool_id == pool.id)):
        told["season", row.name] = row.seq, row.started_at, row.keep
    for row in connection.execute(sa.select(merged).where(merged.c.pool_id == pool.id)):
        told["account", row.player_id] = row.into_id
    for row in connection.execute(sa.select(pools).where(pools.c.id == pool.id)):
        told["pool", ""] = row.system, json.loads(row.parameters)
    return told
