"""The ledger: every change of every player's rating, with the state after it."""

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.pool_state import PoolNumbers, new_pools
from podium.engine.replay import Replayed, States, newcomers
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.engine.tables.inputs import Occasion, occasion_at
from podium.ledger.saved import Start
from podium.results.columns import UTC as INSTANT
from podium.results.reading import Results


def history(system: System, events: Events, replayed: Replayed) -> pl.DataFrame:
    """One row a player an event, in event order, then file order.

    Columns: `event_id, pool, started_at, player, rating_before, delta`, then every field of the state after
    the event. Within a rating period only a player's last event moves the rating; the rows before it show
    the state as it was.
    """
    taken, row = named_rows(events.results), events.ledger.row
    if not row.are_all(taken.height):  # else they share their columns
        taken = taken[row.array]
    before, after = changes(system, events, replayed)
    rating_before = pl.Series("rating_before", before)
    columns = [pl.Series(name, values) for name, values in system.shown(after).items()]
    rating = next(column for column in columns if column.name == "rating")
    return taken.hstack([rating_before, (rating - rating_before).alias("delta"), *columns])


def named_rows(results: Results) -> pl.DataFrame:
    """What a history shows of each row of the results: `event_id, pool, started_at, player`."""
    frame = results.frame
    if "started_at" not in frame.columns:
        frame = frame.with_columns(started_at=pl.lit(None, INSTANT))
    return frame.select("event_id", "pool", "started_at", "player")


def starting_rows(system: System, start: Start) -> pl.DataFrame:
    """Where players stood before the first event, as the history has rows."""
    players = start.players
    shown = {name: pl.Series(values) for name, values in system.shown(start.states).items()}
    return pl.DataFrame(
        {
            "event_id": players["last_event_id"],
            "pool": players["pool"],
            "started_at": players["last_played_at"],
            "player": players["player"],
            "rating_before": shown["rating"],
            "delta": np.zeros(players.height),
            **shown,
        }
    )


def started_at(frame: pl.DataFrame) -> pl.Series:
    """When each row's event started; empty where the table does not say."""
    if "started_at" in frame.columns:
        return frame["started_at"]
    return pl.Series([None], dtype=pl.Datetime("us", "UTC")).extend_constant(None, frame.height)[1:]


def changes(system: System, events: Events, replayed: Replayed) -> tuple[npt.NDArray[np.float64], States]:
    """The rating before and the state after, for each row of the history."""
    rows = events.ledger
    if rows.settles is None:
        return rows.entrant.take(replayed.before), rows.entrant.take(replayed.after)
    before, after = replayed.before[rows.entrant.array], replayed.after[rows.entrant.array]
    waiting = ~rows.settles
    after[waiting] = states_brought(system, events, replayed)[rows.entrant[waiting]]
    return before, after


def pools_brought(system: System, events: Events, replayed: Replayed) -> PoolNumbers:
    """The state of the pool before each settlement, (settlements, fields)."""
    start = new_pools(system, len(events.pools)) if replayed.pool_start is None else replayed.pool_start
    brought = np.roll(replayed.pool_history, 1, axis=0)
    if brought.size:
        brought[[pool.first for pool in events.pools]] = start
    return brought


def system_at(system: System, events: Events, replayed: Replayed, settlement: int) -> System:
    """The system bound to the state of the pool before a settlement, on its occasion; itself where pools have none."""
    if system.pool_state_type is None:
        return system
    number = next(k for k, pool in enumerate(events.pools) if pool.first <= settlement < pool.last)
    if settlement > events.pools[number].first:
        state = replayed.pool_history[settlement - 1]
    else:
        state = new_pools(system, 1)[0] if replayed.pool_start is None else replayed.pool_start[number]
    return system.within(state, Occasion(*map(float, occasion_at(events.columns, settlement))))


def states_brought(system: System, events: Events, replayed: Replayed) -> States:
    """The state each entrant brought: its player's last before, or where the replay began."""
    player = events.columns.player
    order = np.lexsort((np.arange(player.size), player))
    start = newcomers(system, events.player_names.len()) if replayed.start is None else replayed.start
    brought: States = start[player]
    again = player[order][1:] == player[order][:-1]
    brought[order[1:][again]] = replayed.after[order[:-1][again]]
    return brought
