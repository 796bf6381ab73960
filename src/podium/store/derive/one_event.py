"""One event rated from its rows alone, as nearly every submission is one: the bits are those of a table of it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from podium.engine.fast.heats import encode_small, entries_of
from podium.engine.pool_state import new_pools
from podium.engine.replay import Replayed, by_columns, replay_settlements
from podium.errors import NotFiniteError
from podium.store.derive.rating import Chosen, Outcome
from podium.store.log.pools import OrderKey, Pool
from podium.store.rows.ledger import Ledger
from podium.store.rows.pool_states import PoolState
from podium.store.rows.standings import Standing
from podium.store.rows.states import packed_states

MOST_ROWS = 64  # from about as many on, Polars is as quick


class OneEvent(NamedTuple):
    """An event whose rows are read, without any other beside it."""

    row: Any  # of the event
    rows: Sequence[Mapping[str, Any]]  # of its results; `player` is the number of the account that plays on
    players: frozenset[int]


def only_event(chosen: Chosen) -> OneEvent | None:
    """The event, where just one is to be rated, with few rows and no player twice; else None."""
    if len(chosen.events) != 1 or chosen.resets or chosen.events[0].body.count(b"\n") > MOST_ROWS:
        return None
    row = chosen.events[0]
    rows = json.loads(b"[" + row.body[:-1].replace(b"\n", b",") + b"]")  # no line has a newline within
    for each in rows:
        each["player"] = chosen.merged.get(each["player"], each["player"])
    players = frozenset(each["player"] for each in rows)
    return OneEvent(row, rows, players) if len(players) == len(rows) else None


def rate_one(pool: Pool, one: OneEvent, standings: Mapping[int, Standing], newest: PoolState | None) -> Outcome | None:
    """Rate an event; None where it takes the way of all others, as where it is not rated at all.

    Args:
        pool: with the system that rates it.
        one: the event.
        standings: of its players before it, of those who have one.
        newest: the pool's state before it, where there is one.
    """
    system, started_at, seq = pool.system, one.row.started_at, one.row.seq
    entries = entries_of(one.rows, system)
    if entries is None:
        return None
    players = [each["player"] for each in entries]
    stood = [standings.get(number) for number in players]
    newcomer = np.array(system.newcomer(), "<f8").tobytes()
    packed = b"".join(newcomer if each is None else each.state for each in stood)
    states = np.frombuffer(packed, "<f8").astype(np.float64).reshape(len(players), -1)
    seen = np.array([started_at if each is None else each.played_at for each in stood], np.int64)
    columns = encode_small(one.rows, entries, system, pool.name, started_at, seen)
    pools = new_pools(system, 1) if newest is None else np.frombuffer(newest.state, "<f8").astype(np.float64)[None]
    history = np.empty((1, pools.shape[1]))
    replayed = Replayed(states, np.empty(len(players)), by_columns(*states.shape), None, pools, history)
    try:
        replay_settlements(system, columns, 0, 1, replayed)
    except NotFiniteError:
        return None
    size = len(players)
    ledger = Ledger(
        started_at=np.full(size, started_at),
        seq=np.full(size, seq),
        player=np.array(players, np.int64),
        place=np.arange(1, size + 1),
        before=replayed.before,
        rating=np.ascontiguousarray(replayed.after[:, system.column("rating")]),
        state=packed_states(replayed.after),
        rank=(columns.rank if columns.rank.size else columns.place).astype(np.int64),
        field=np.full(size, size),
    )
    learnt = {OrderKey(started_at, seq): history.astype("<f8").tobytes()} if history.size else {}
    return Outcome([ledger], learnt)
