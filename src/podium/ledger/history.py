"""The ledger: every rating change with the resulting state, a thinned-out history for charts, and trends."""

from typing import Literal

import numpy as np
import polars as pl

from podium.engine.inputs import Occasion, occasion_at
from podium.engine.pool_state import PoolNumbers, new_pools
from podium.engine.replay import Replayed, States, newcomers
from podium.engine.system import ELO_SCALE, System
from podium.engine.tables.encoding import Events
from podium.engine.tables.equipment import are_equipment
from podium.errors import ParameterError
from podium.ledger.saved import StartingRatings
from podium.results.columns import UTC as INSTANT
from podium.results.reading import Results
from podium.support.arrays import Array, Floats, Integers, Mask


def history(system: System, events: Events, replayed: Replayed) -> pl.DataFrame:
    """Return one row per player and event, by event and then by file order.

    Columns: `event_id, pool, started_at, player, rating_before, delta`, then every field of the state after the event.
    Within a rating period, only a player's last event changes the rating. Earlier rows repeat the state before the
    period.
    """
    taken, row = named_rows(events.results), events.ledger.row
    if not row.are_all(taken.height):  # otherwise they share their columns
        taken = taken[row.array]
    before, after = changes(system, events, replayed)
    rating_before = pl.Series("rating_before", before)
    columns = [pl.Series(name, values) for name, values in system.shown(after).items()]
    rating = next(column for column in columns if column.name == "rating")
    return taken.hstack([rating_before, (rating - rating_before).alias("delta"), *columns])


def named_rows(results: Results) -> pl.DataFrame:
    """Return the first columns of the history for each row: `event_id, pool, started_at, player`."""
    return results.frame.select("event_id", "pool", started_at(results.frame), "player")


def starting_rows(system: System, start: StartingRatings) -> pl.DataFrame:
    """Return the ratings before the first event, as rows of the history."""
    are_players = ~are_equipment(start.players["player"])
    players = start.players.filter(are_players)
    states = start.states[are_players.to_numpy()]
    shown = {name: pl.Series(values) for name, values in system.shown(states).items()}
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
    """Return the start time of each row's event, or null if the table has no times."""
    if "started_at" in frame.columns:
        return frame["started_at"]
    return pl.Series("started_at", [None], INSTANT).new_from_index(0, frame.height)


def changes(system: System, events: Events, replayed: Replayed) -> tuple[Floats, States]:
    """Return, for each row of the history, the rating before the event and the state after it."""
    rows = events.ledger
    if rows.ends_period is None:
        return rows.entrant.take(replayed.before), rows.entrant.take(replayed.after)
    before, after = replayed.before[rows.entrant.array], replayed.after[rows.entrant.array]
    waiting = ~rows.ends_period
    after[waiting] = states_brought(system, events, replayed)[rows.entrant[waiting]]
    return before, after


def pools_brought(system: System, events: Events, replayed: Replayed) -> PoolNumbers:
    """Return the state of each update's pool before the update, as an array of shape (updates, fields)."""
    start = new_pools(system, len(events.pools)) if replayed.pool_start is None else replayed.pool_start
    brought = np.roll(replayed.pool_history, 1, axis=0)
    if brought.size:
        brought[[pool.first for pool in events.pools]] = start
    return brought


def system_at(system: System, events: Events, replayed: Replayed, update: int) -> System:
    """Return the system bound to its pool's state before a rating update.

    Systems whose pools have no state are returned unchanged.
    """
    if system.pool_state_type is None:
        return system
    number = next(k for k, pool in enumerate(events.pools) if pool.first <= update < pool.last)
    if update > events.pools[number].first:
        state = replayed.pool_history[update - 1]
    else:
        state = new_pools(system, 1)[0] if replayed.pool_start is None else replayed.pool_start[number]
    return system.within(state, Occasion(*map(float, occasion_at(events.columns, update))))


def states_brought(system: System, events: Events, replayed: Replayed) -> States:
    """Return each entrant's state before the event: the state after the player's last event, or the starting state."""
    player = events.columns.player
    order = np.lexsort((np.arange(player.size), player))
    start = newcomers(system, events.player_names.len()) if replayed.start is None else replayed.start
    brought: States = start[player]
    again = player[order][1:] == player[order][:-1]
    brought[order[1:][again]] = replayed.after[order[:-1][again]]
    return brought


POINTS_A_COLUMN = 4  # the first, the lowest, the highest and the last point


def thinned(times: Integers, ratings: Floats, most: int) -> Integers:
    """Return the indices of the points to chart, in order: the first, lowest, highest and last of each pixel column."""
    if times.size <= most:
        return np.arange(times.size)
    columns = most // POINTS_A_COLUMN
    width = max(int(times[-1]) - int(times[0]), 1)
    column = np.minimum((times - times[0]) / width * columns, columns - 1).astype(np.int64)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    taken = set[int]()
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), times.size], strict=True):
        heights = ratings[start:stop]
        taken |= {start, start + int(heights.argmin()), start + int(heights.argmax()), stop - 1}
    return np.array(sorted(taken))


Trend = Literal["climbing", "falling", "steady", "provisional"]
FORM_EVENTS = 10  # number of events that form and trend cover
FINDING_EVENTS = 5  # first events, which establish a rating and do not count for records
SURE_DEVIATIONS = 2.0  # in deviations: rating ± this covers 19 of 20 cases; a peak minus this is not due to luck
STEADY_ELO = 25.0  # most points by which ten events move a steady player, for ratings without an interval


def without_days(system: System) -> str:
    """Return how the system treats idle time if events have no dates, or an empty string if idle time has no effect."""
    if system.reads_days:
        return "a month passes between two events of a player, whatever their dates"
    if system.idle_unit is None or "deviation" not in system.state_type._fields:
        return ""
    return f"no {system.idle_unit} passes between them, so idle time does not increase deviations"


def can_be_provisional(system: System) -> bool:
    """Return True if a system has its own rule for provisional ratings, which have no rank."""
    return system.min_events > 0 or system.established_deviation is not None


def are_established(system: System, states: Array) -> Mask:
    """Return a mask of the established ratings, by the system's own rule, or else from the fifth event on."""
    if can_be_provisional(system):
        return ~system.is_provisional(states)
    return states[:, system.column("events")] >= FINDING_EVENTS


def own_interval(system: System, deviation: float | None) -> float:
    """Return how many points may be due to chance: the rating's interval, or a fixed number if it has none."""
    scale = system.points_per_logit / ELO_SCALE
    return STEADY_ELO * scale if deviation is None else SURE_DEVIATIONS * deviation


def trend(system: System, moved: float, deviation: float | None, *, established: bool) -> Trend:
    """Return a player's trend from the latest changes, excluding changes made while the rating was provisional."""
    interval = own_interval(system, deviation)
    if not established:
        return "provisional"
    return "climbing" if moved > interval else "falling" if moved < -interval else "steady"


def events_of_updates(events: Events) -> pl.DataFrame:
    """Return `update, event_id, pool, started_at` for each update, in the order of the history."""
    rows = events.ledger
    update = np.searchsorted(events.columns.entrants, rows.entrant.array, side="right") - 1
    taken = events.results.frame[rows.row.array]
    table = pl.DataFrame(
        {
            "update": update,
            "event_id": taken["event_id"],
            "pool": taken["pool"],
            "started_at": started_at(taken),
        }
    )
    return table.unique("update", keep="last", maintain_order=True)


def learnt_history(system: System, events: Events, replayed: Replayed, pool: str) -> pl.DataFrame:
    """Return the parameters that a pool has learnt, with one row per event or rating period, in rating order.

    Returns:
        `event_id` and `started_at` of the event, and then one column per parameter, in the parameter's own unit.

    Raises:
        ParameterError: the system does not learn parameters.
    """
    if not system.learnt_parameters or system.pool_state_type is None:
        raise ParameterError(
            f"{system.name}: this system learns no parameters from results. Use one that does, such as adaptive."
        )
    span = next(part for part in events.pools if part.name == pool)
    last_entrants = events.columns.entrants[span.first + 1 : span.last + 1] - 1
    rows = events.results.frame[entrant_rows(events)[last_entrants]]
    fields = system.pool_state_type._fields
    numbers = replayed.pool_history[span.first : span.last]
    return pl.DataFrame(
        {
            "event_id": rows["event_id"],
            "started_at": started_at(rows),
            **{
                parameter.name: pl.Series(
                    [parameter.convert(value) for value in numbers[:, fields.index(parameter.name)].tolist()]
                )
                for parameter in system.learnt_parameters
            },
        }
    )


def entrant_rows(events: Events) -> Integers:
    """Return the row of the results table that has each entrant's last change: an array of shape (entrants,)."""
    rows = np.zeros(events.columns.player.size, np.int64)
    rows[events.ledger.entrant.array] = events.ledger.row.array  # the last assignment wins
    return rows
