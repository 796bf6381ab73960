"""Rate one table, from newcomers or from where players stand."""

import os
from typing import Any

from podium.engine.replay import replay, with_idle_before
from podium.engine.system import System
from podium.engine.tables.encoding import encode
from podium.ledger.saved import Start, parameters, read_start, refuse_earlier, refuse_other
from podium.rated.rated import Rated
from podium.results.hashing import Numbered
from podium.results.reading import Results

PARALLEL_MIN_ENTRANTS = 100_000  # entrants below which threads cost more than they save


def rate_table(
    results: Results, system: System, period: str, start: Start | None = None, numbered: Numbered | None = None
) -> Rated:
    """Rate a checked table.

    Args:
        start: where players stand before it; all are newcomers where None.
        numbered: the numbers of the results' events; found where None.

    Raises:
        ResultsError: a finisher lacks what the system needs.
        ParameterError: a rating period that the system or the table cannot have.
    """
    events = encode(results, system, period, numbered)
    large = int(events.columns.entrants[-1]) > PARALLEL_MIN_ENTRANTS
    workers = (os.cpu_count() or 1) if large else 1
    if start is None:
        return Rated(system, period, events, replay(system, events, workers=workers))
    rows = start.rows(events)
    events = with_idle_before(events, system, period, start.seen_of(rows))
    known = start.states_of(system, rows), start.pools_of(system, events)
    return Rated(system, period, events, replay(system, events, *known, workers=workers), start)


def begin(start: Any, system: System, period: str, results: Results) -> Start:
    """Where players stand before the results.

    Raises:
        ResultsError: the start is refused, or results are older than it.
        ParameterError: it comes from another system, other parameters or another rating period.
    """
    if isinstance(start, Rated):
        refuse_other("start", start.system.name, parameters(start.system), start.period, system, period)
        start = start.states
    pools = results.frame.select("pool").unique(maintain_order=True).to_series().to_list()
    saved = start if isinstance(start, Start) else read_start(start, system, period, pools)
    refuse_earlier(saved, results, period)
    return saved
