"""Digests of ledgers, for comparing a pool's ratings with those of an earlier store."""

import hashlib
import sys
from pathlib import Path
from random import Random

import numpy as np

from podium.errors import PodiumError
from podium.pool.columns import numbers_of

sys.path.insert(0, str(Path(__file__).parents[1] / "store"))
import histories

HISTORIES, ACTS = 60, 36
SAMPLED = 6  # acts between two digests
COLUMNS = "started_at", "seq", "player", "place", "rank", "field", "before", "state"


def digest(columns):
    """Return the first digits of each column's SHA-256, for rows in order of event and player."""
    order = np.lexsort((columns["player"], columns["seq"], columns["started_at"]))
    found = {}
    for name in COLUMNS:
        column = np.asarray(columns[name])[order]
        exact = column.astype("<f8") if name in ("before", "state") else column.astype("<i8")
        found[name] = hashlib.sha256(np.ascontiguousarray(exact).tobytes()).hexdigest()[:16]
    return found


def ledger_of(snapshot):
    """Return the columns of a snapshot's ledger."""
    rows, events = snapshot.rows, snapshot.events
    uid = rows.part("event")
    columns = {name: rows.part(name) for name in ("place", "rank", "before", "state")}
    columns |= {name: events.columns.at(name, uid) for name in ("started_at", "seq")}
    columns["state"] = state_before_revision_12(columns["state"], snapshot.pool.system)
    columns["player"] = numbers_of(rows.part("slot"))
    columns["field"] = np.repeat(events.order.part("field"), np.diff(events.order.part("stop"), prepend=0))
    return columns


def state_before_revision_12(states, system):
    """Return states as earlier versions had them: `deviation` had the value that is now in `filtered`."""
    if "filtered" not in system.state_type._fields:
        return states
    states, filtered = states.copy(), system.column("filtered")
    states[:, system.column("deviation")] = states[:, filtered]
    return np.delete(states, filtered, axis=1)


def digests_of_history(path, seed, ledger):
    """Run a seed's acts on a new store, and return a digest after every few acts.

    Args:
        path: of the new database.
        seed: of the history.
        ledger: returns the columns of a store's ledger.
    """
    store, truth = histories.new_store(f"sqlite:///{path}", seed), histories.truth_of(seed)
    truth.widens = False  # the recorded seasons did not widen
    rng, found = Random(seed), []  # noqa: S311
    for number in range(ACTS):
        act = histories.next_act(rng, truth)
        try:
            act.run(store)
        except PodiumError:
            pass
        else:
            act.model(truth)
        if number % SAMPLED == SAMPLED - 1:
            found.append(digest(ledger(store)))
    store.close()
    return found
