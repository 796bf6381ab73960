"""What a pool has learnt of itself over time: the parameters of systems that keep a state of the pool."""

import numpy as np
import polars as pl

from podium.engine.replay import Replayed
from podium.engine.system import System
from podium.engine.tables.encoding import Events
from podium.errors import ParameterError
from podium.ledger.history import started_at
from podium.results.hashing import Integers


def learnt_history(system: System, events: Events, replayed: Replayed, pool: str) -> pl.DataFrame:
    """The parameters that a pool has learnt, a row an event (or rating period) in the order of rating.

    Returns:
        `event_id, started_at` of what settled, then a column for each parameter, by name and in its own unit.

    Raises:
        ParameterError: the system learns none.
    """
    if not system.learnt_parameters or system.pool_state_type is None:
        raise ParameterError(
            f"{system.name} learns no parameters from results; take a system that does, such as podium"
        )
    span = next(each for each in events.pools if each.name == pool)
    last_entrants = events.columns.entrants[span.first + 1 : span.last + 1] - 1
    rows = events.results.frame[entrant_rows(events)[last_entrants]]
    fields = system.pool_state_type._fields
    numbers = replayed.pool_history[span.first : span.last]
    return pl.DataFrame(
        {
            "event_id": rows["event_id"],
            "started_at": started_at(rows),
            **{
                each.name: pl.Series([each.convert(value) for value in numbers[:, fields.index(each.name)].tolist()])
                for each in system.learnt_parameters
            },
        }
    )


def entrant_rows(events: Events) -> Integers:
    """The row of the results table, (entrants), that each entrant's last change stands in."""
    rows = np.zeros(events.columns.player.size, np.int64)
    rows[events.ledger.entrant.array] = events.ledger.row.array  # the last assignment stays
    return rows
