"""How long players were away before the first of some events, by when they were seen before."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.engine.encoding import Events, frozen
from podium.engine.periods import DAY_US, numbers_at
from podium.engine.system import System

NEVER = np.iinfo(np.int64).min  # the instant of one who was not seen before


def with_idle_before(events: Events, system: System, period: str, seen: npt.NDArray[np.int64]) -> Events:
    """The events, idleness before each player's first one counted from when it was seen last.

    Args:
        seen: microseconds since 1970, or `NEVER`: (players of the events).
    """
    if not events.columns.idle.size:
        return events
    player, first = np.unique(events.columns.player, return_index=True)
    back = seen[player] != NEVER
    player, first = player[back], first[back]
    _, earliest = np.unique(events.ledger.entrant.array, return_index=True)  # the ledger is in order of time
    starts = events.results.frame["started_at"][events.ledger.row[earliest][first]]
    before = pl.Series(seen[player]).cast(starts.dtype)
    idle = events.columns.idle.copy()
    idle[first] = np.maximum(units_between(before, starts, system, period), 0)
    return replace(events, columns=events.columns._replace(idle=frozen(idle)))


def units_between(before: pl.Series, after: pl.Series, system: System, period: str) -> npt.NDArray[Any]:
    """Whole days, or rating periods missed, between instants."""
    if system.idle_unit == "period":
        return numbers_at(after, period) - numbers_at(before, period) - 1
    gap: npt.NDArray[np.int64] = after.cast(pl.Int64).to_numpy() - before.cast(pl.Int64).to_numpy()
    return gap // DAY_US
