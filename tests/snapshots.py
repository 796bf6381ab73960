"""Snapshots of a store's pools as plain rows with names, to compare stores with different player numbers."""

from dataclasses import replace

import numpy as np

from podium.log.players import names_of
from podium.pool.columns import numbers_of
from podium.pool.snapshot import REASONS, SEASON, STATUSES
from podium.store.following import SELECT_NEWEST, LogPlace


def snapshot_of(store, pool="main"):
    """Return a pool as its newest transaction left it."""
    with store.reading(pool) as known:
        return known.snapshot


def names_in(store, snapshot):
    """Return the names of all rated players, and of equipment with its kind, by number."""
    with store.reading(snapshot.pool.name) as known:
        return names_of(known, set(numbers_of(snapshot.rows.part("slot")).tolist()))


def ledger(store, pool="main"):
    """Return every row of the ledger in rating order, with all its columns and the exact states."""
    snapshot = snapshot_of(store, pool)
    names = names_in(store, snapshot)
    events, rows = snapshot.events, snapshot.rows
    fields = np.repeat(events.order.part("field"), np.diff(events.order.part("stop"), prepend=0))
    columns = (
        rows.part("event").tolist(), numbers_of(rows.part("slot")).tolist(), rows.part("place").tolist(),
        rows.part("rank").tolist(), fields.tolist(), rows.part("before").tolist(), [*rows.part("state")],
    )  # fmt: skip
    return [
        (events.ids[uid], names[number], *others, state.tobytes())
        for uid, number, *others, state in zip(*columns, strict=True)
    ]


def learnt(store, pool="main"):
    """Return the pool state after each rated event, in rating order."""
    snapshot = snapshot_of(store, pool)
    if not snapshot.pool.system.pool_fields:
        return []
    rated = np.flatnonzero(np.diff(snapshot.events.order.part("stop"), prepend=0) > 0)
    is_season = snapshot.events.columns.at("status", snapshot.events.order.at("uid", rated)) == SEASON
    return [each.astype("<f8").tobytes() for each in snapshot.learnt.at(rated[~is_season])]


def statuses(store, pool="main"):
    """Return the status and the reason of each event, by its id."""
    events = snapshot_of(store, pool).events
    codes = zip(*(events.columns.part(name).tolist() for name in ("status", "reason")), strict=True)
    return {events.ids[uid]: (STATUSES[status], REASONS[reason]) for uid, (status, reason) in enumerate(codes)}


def rated_players(store, pool="main"):
    """Return the rating of every rated player, by name."""
    snapshot = snapshot_of(store, pool)
    names, standings = names_in(store, snapshot), snapshot.standings
    rated = zip(numbers_of(standings.slots).tolist(), standings.ratings.tolist(), strict=True)
    return {names[number]: rating for number, rating in rated}


def hold(store, change, pool="main"):
    """Make a store hold another snapshot of a pool, namely a function's change of the true one."""
    with store.reading(pool) as known:
        ((seq, digest),) = known.run(SELECT_NEWEST)
        store.snapshots.keep(known, LogPlace(seq, digest), change(known.snapshot))


def with_cells(snapshot, row, **cells):
    """Return a snapshot with other ledger cells in one row."""
    rows = snapshot.rows.updated(np.array([row]), {name: np.array([value]) for name, value in cells.items()})
    return replace(snapshot, rows=rows)


def row_of(snapshot, event_id, number):
    """Return the row of a player, by number, in an event."""
    events, rows = snapshot.events, snapshot.rows
    is_player = numbers_of(rows.part("slot")) == number
    (row,) = np.flatnonzero(is_player & (rows.part("event") == events.find(event_id)))
    return int(row)
