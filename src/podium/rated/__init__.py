"""Whole tables, rated at once: from nothing, or from where their players stood before."""

import os
from typing import Any

import polars as pl

from podium.engine.replay import replay, with_idle_before
from podium.engine.system import System
from podium.engine.tables.encoding import encode
from podium.ledger.saved import StartingRatings, parameters, pool_table, read_start, refuse_earlier, refuse_other
from podium.rated.rated import Rated
from podium.results.columns import REQUIRED
from podium.results.hashing import Numbered
from podium.results.reading import Results, read_results

__all__ = ["Rated", "begin", "empty_results", "rate_table"]
PARALLEL_MIN_ENTRANTS = 100_000  # entrants below which threads cost more than they save


def rate_table(
    results: Results,
    system: System,
    period: str,
    start: StartingRatings | None = None,
    numbered: Numbered | None = None,
) -> Rated:
    """Rate a checked table."""
    events = encode(results, system, period, numbered)
    large = int(events.columns.entrants[-1]) > PARALLEL_MIN_ENTRANTS
    workers = (os.cpu_count() or 1) if large else 1
    if start is None:
        return Rated(system, period, events, replay(system, events, workers=workers))
    rows = start.rows(events)
    events = with_idle_before(events, system, period, start.seen_of(rows))
    known = start.states_of(system, rows), pool_table(system, [pool.name for pool in events.pools], start.pools)
    return Rated(system, period, events, replay(system, events, *known, workers=workers), start)


def begin(start: Any, system: System, period: str, results: Results) -> StartingRatings:
    """Where players stand before the results."""
    if isinstance(start, Rated):
        refuse_other("start", start.system.name, parameters(start.system), start.period, system, period)
        start = start.states
    pools = results.frame.select("pool").unique(maintain_order=True).to_series().to_list()
    saved = start if isinstance(start, StartingRatings) else read_start(start, system, period, pools)
    refuse_earlier(saved, results, period)
    return saved


def empty_results() -> Results:
    """A table without a row."""
    return read_results(pl.DataFrame(schema=dict.fromkeys(REQUIRED, pl.String)))
