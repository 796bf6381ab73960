"""Snapshots that follow a store's log, compared with a replay of the whole log."""

from dataclasses import fields, is_dataclass

import numpy as np
from digests import COLUMNS, ledger_of

from podium.log.pools import Pool
from podium.pool.columns import Columns
from podium.pool.contents import Contents
from podium.pool.snapshot import EVENT_TYPES, FIXTURE_TYPES, MATCH_TYPES, REASONS, SEASON, STATUSES, empty
from podium.pool.standings import BY_ENTRY
from podium.pool.states import States
from podium.pool.texts import Texts
from podium.store import following, kept


def begin(store, name):
    """Return a pool before its first entry, with its original system."""
    with store.reading(name) as pool:
        return empty(Pool(*pool.cells()))


def follow(store, name, snapshot):
    """Return a snapshot brought up to date with the log."""
    with store.reading(name) as pool:
        return following.rate(following.drafted(pool, snapshot))[0]


def differences(store, name, snapshot):
    """Return descriptions of how a snapshot differs from a replay of the whole log."""
    replayed = follow(store, name, begin(store, name))
    with store.reading(name) as pool:
        system, order = pool.system, pool.order
    found = []
    if snapshot.pool.system != system:
        found.append("system")
    if snapshot.pool.order != order:
        found.append(f"order {snapshot.pool.order} for {order}")
    for what, describe in FACTS.items():
        if describe(snapshot) != describe(replayed):
            found.append(what)
    expected, ledger = ledger_of(replayed), ledger_of(snapshot)
    found += [name for name in COLUMNS if np.asarray(ledger[name]).tobytes() != np.asarray(expected[name]).tobytes()]
    if snapshot.learnt.part().tobytes() != replayed.learnt.part().tobytes():
        found.append("what the system has learnt of the pool")
    return [*found, *chain_faults(snapshot), *standings_faults(snapshot)]


def folded_events(snapshot):
    events, found = snapshot.events, set()
    for uid in range(events.size):
        cells = {name: int(events.columns.value(name, uid)) for name in EVENT_TYPES}
        if cells["status"] == SEASON:
            continue
        match = None if cells["match"] < 0 else events.matches.ids[cells["match"]]
        present = None if match is None else cells["present"]
        found.add((
            events.ids[uid], cells["seq"], cells["content_seq"], cells["started_at"], STATUSES[cells["status"]],
            REASONS[cells["reason"]], match, present,
        ))  # fmt: skip
    return found


def folded_seasons(snapshot):
    events = snapshot.events
    return {(each.name, *reversed(events.key(uid)), each.keep) for uid, each in events.seasons.items()}


def named(known, names):
    """Return matches or fixtures by id."""
    columns = [known.columns.part(name).tolist() for name in names]
    return {known.ids[number]: cells for number, cells in enumerate(zip(*columns, strict=True))}


FACTS = {
    "merged": lambda snapshot: (snapshot.merged, snapshot.direct_merges),
    "events": folded_events,
    "seasons": folded_seasons,
    "matches": lambda snapshot: named(snapshot.events.matches, MATCH_TYPES),
    "fixtures": lambda snapshot: named(snapshot.events.fixtures, FIXTURE_TYPES),
}


def chain_faults(snapshot):
    """Return the rows whose `previous` is not their slot's newest earlier row."""
    newest, found = {}, []
    slots, previous = snapshot.rows.part("slot").tolist(), snapshot.rows.part("previous").tolist()
    for row, (slot, before) in enumerate(zip(slots, previous, strict=True)):
        if newest.get(slot, -1) != before:
            found.append(f"previous of row {row}")
        newest[slot] = row
    stored = {slot: row for slot, row in enumerate(snapshot.newest.part("row").tolist()) if row >= 0}
    return found if stored == newest else [*found, "newest"]


def standings_faults(snapshot):
    """Return the columns and orders in which the standings differ from those of all ledger rows."""
    pairs = [("standings", snapshot.standings, snapshot.events.order.size)]
    if snapshot.day_start is not None:
        day = snapshot.events.newest_rated.started_at // snapshot.pool.unit_us * snapshot.pool.unit_us
        pairs.append(("day_start", snapshot.day_start, snapshot.events.position((day, 0))))
    found = []
    for what, followed, position in pairs:
        complete = snapshot.standings_at(position)
        columns = [(name, *(getattr(each, name) for each in (followed, complete))) for name in ("slots", *BY_ENTRY)]
        for name in ("order", "established"):
            columns += zip(2 * [name], *(getattr(each, name) for each in (followed, complete)), strict=True)
        found += [(what, name) for name, one, other in columns if one.tobytes() != other.tobytes()]
    return found


def keep(store, name, snapshot):
    """Store a snapshot of a pool's newest entry in the database."""
    with store.reading(name) as pool:
        place = following.newest_place(pool)
        assert place.seq == snapshot.seq
        assert place.hash
    assert kept.write_snapshot(store.engine, pool, place.hash, snapshot)


def load(store, name):
    """Return the stored snapshot of a pool, or None."""
    with store.reading(name) as pool:
        return kept.load(pool)


def contents_of(item):
    """Return everything that a snapshot refers to, except values computed from the rest, for comparisons."""
    if isinstance(item, Columns):
        columns = {name: item.part(name) for name in item._types}
        return {name: (each.dtype, each.shape, each.tobytes()) for name, each in columns.items()}
    if isinstance(item, States):
        return item.part().shape, item.part().tobytes()
    if isinstance(item, Texts):
        return [(item[number], item.find(item[number])) for number in range(item.size)]
    if isinstance(item, Contents):
        numbers = np.arange(item.size)
        table = item.table(numbers, event_id=numbers.astype(str), started_at=np.zeros(item.size, np.int64))
        return table.schema, table.rows()
    if is_dataclass(item):
        return {each.name: contents_of(getattr(item, each.name)) for each in fields(item) if each.name != "carried"}
    return item
