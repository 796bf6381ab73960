"""Snapshots that follow a store's log, compared with the tables of that store."""

import numpy as np
import sqlalchemy as sa

from podium.log.pools import START, Pool
from podium.log.schema import event, merged, season
from podium.pool.slots import numbers_of
from podium.pool.snapshot import EVENT_TYPES, REASONS, SEASON, STATUSES, empty
from podium.pool.standings import BY_ENTRY
from podium.store import following
from podium.store.writing.rating.ledger_rows import packed_states, stored_ledger, stored_pool_states


def begin(store, name):
    """Return a pool before its first entry, with the system that it was created with."""
    with store.reading(name) as pool:
        return empty(Pool(*pool.cells()))


def follow(store, name, snapshot):
    """Return a snapshot brought up to date with the log."""
    with store.reading(name) as pool:
        return following.follow(pool, snapshot)


def rows_of(pool, table, names):
    """Return some columns of a pool's rows."""
    select = sa.select(*(table.c[name] for name in names)).where(table.c.pool_id == pool.id)
    return [tuple(row) for row in pool.connection.execute(select)]


def differences(store, name, snapshot):
    """Return what a snapshot and the tables say differently, in words."""
    with store.reading(name) as pool:
        old = stored_ledger(pool, START)
        columns = "event_id", "seq", "content_seq", "started_at", "status", "reason", "match_id", "present"
        events = {*rows_of(pool, event, columns)}
        seasons = {*rows_of(pool, season, ("name", "seq", "started_at", "keep"))}
        merges = dict(rows_of(pool, merged, ("player_id", "into_id")))
        states = stored_pool_states(pool, START)
        system, order = pool.system, pool.order
    found = []
    if snapshot.pool.system != system:
        found.append("system")
    if snapshot.pool.order != order:
        found.append(f"order {snapshot.pool.order} for {order}")
    if snapshot.merged != merges:
        found.append("merged")
    if folded_events(snapshot) != events:
        found.append(f"events {sorted(folded_events(snapshot) ^ events, key=str)[:4]}")
    if folded_seasons(snapshot) != seasons:
        found.append("seasons")
    found += [name for name, same in ledger_agrees(snapshot, old) if not same]
    order = snapshot.events.order.part("uid").tolist()
    for position, uid in enumerate(order):
        stored_state = states.get(snapshot.events.key(uid))
        if stored_state is None:
            continue
        if snapshot.learnt.value("state", position).astype("<f8").tobytes() != stored_state:
            found.append(f"pool state at {position}")
    return [*found, *chain_faults(snapshot), *standings_faults(snapshot)]


def folded_events(snapshot):
    events, found = snapshot.events, set()
    for uid in range(events.size):
        cells = {name: int(events.columns.value(name, uid)) for name in EVENT_TYPES}
        if cells["status"] == SEASON:
            continue
        match = None if cells["match"] < 0 else events.matches[cells["match"]]
        present = None if match is None else cells["present"]
        found.add((
            events.ids[uid], cells["seq"], cells["content_seq"], cells["started_at"], STATUSES[cells["status"]],
            REASONS[cells["reason"]], match, present,
        ))  # fmt: skip
    return found


def folded_seasons(snapshot):
    events = snapshot.events
    return {(each.name, *reversed(events.key(uid)), each.keep) for uid, each in events.seasons.items()}


def ledger_agrees(snapshot, old):
    """Yield each column of the ledger, and whether it has the same bits in the table."""
    rows, events = snapshot.rows, snapshot.events
    if rows.size != len(old):
        yield f"{rows.size} rows for {len(old)}", False
        return
    uid = rows.part("event")
    fields = np.repeat(events.order.part("field"), np.diff(events.order.part("stop"), prepend=0))
    new = {
        "started_at": events.columns.at("started_at", uid), "seq": events.columns.at("seq", uid),
        "player": numbers_of(rows.part("slot")), "place": rows.part("place"), "rank": rows.part("rank"),
        "field": fields, "before": rows.part("before").view(np.int64), "state": packed_states(rows.part("state")),
    }  # fmt: skip
    order = np.lexsort((new["player"], new["seq"], new["started_at"]))
    other = np.lexsort((old.player, old.seq, old.started_at))
    for name, column in new.items():
        stored = old.before.view(np.int64) if name == "before" else getattr(old, name)
        yield name, column[order].tobytes() == stored[other].astype(column.dtype).tobytes()


def chain_faults(snapshot):
    """Return rows whose `previous` is not the newest row of their slot before them."""
    newest, found = {}, []
    slots, previous = snapshot.rows.part("slot").tolist(), snapshot.rows.part("previous").tolist()
    for row, (slot, before) in enumerate(zip(slots, previous, strict=True)):
        if newest.get(slot, -1) != before:
            found.append(f"previous of row {row}")
        newest[slot] = row
    stored = {slot: row for slot, row in enumerate(snapshot.newest.part("row").tolist()) if row >= 0}
    return found if stored == newest else [*found, "newest"]


def standings_faults(snapshot):
    """Return columns in which standings that followed the log differ from those of all ledger rows."""
    pairs = [("standings", snapshot.standings, snapshot.events.order.size)]
    if snapshot.day_start is not None:
        day = snapshot.events.newest_rated.started_at // snapshot.pool.unit_us * snapshot.pool.unit_us
        pairs.append(("day_start", snapshot.day_start, snapshot.events.position((day, 0))))
    return [
        (what, name)
        for what, followed, position in pairs
        for name in ("slots", *BY_ENTRY)
        if getattr(followed, name).tobytes() != getattr(snapshot.standings_at(position), name).tobytes()
    ]
