"""Rate results with a system, and forecast: the library's front door."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from podium.engine.replay import replay, with_idle_before
from podium.engine.system import System
from podium.engine.tables.encoding import encode
from podium.errors import ParameterError
from podium.importers.tables import read_any
from podium.ledger.saved import StartingRatings, parameters, pool_table, read_start, refuse_earlier, refuse_other
from podium.rated import Rated
from podium.results.columns import REQUIRED
from podium.results.hashing import Numbered
from podium.results.reading import Results, read_results
from podium.systems import make_system

if TYPE_CHECKING:
    from podium.ledger.forecast import Forecast, Named


def rate(
    results: Any,
    system: str | System = "elo",
    *,
    period: str = "event",
    start: Any = None,
    **settings: Any,
) -> Rated:
    """Rate results.

    Args:
        results: a file, a pandas, Polars or Arrow frame, rows as dicts, or Results. A table in another shape is read
            as its headings and cells surely mean, and a warning says how. Or a folder of Parquet files, or a pattern
            such as `results/*.parquet`, read in natural order: `part-2` before `part-10`. If these are larger than
            memory, use `rate_parts`.
        system: a system's name, with parameters where it is `elo:k=20`, or an instance.
        period: when ratings settle: `event`, or the end of every `1d`, `1w`, `1mo`.
        start: ratings to go on from: what `Rated.save` wrote, another `Rated`, or a table as `results` may be, with
            `pool, player, rating` and whatever else of the state is known; the rest is a newcomer's.
        settings: the system's parameters, by name.

    Returns:
        The rated results; `ratings`, `history` and `leaderboard()` are Polars frames.

    Raises:
        ResultsError: a table is refused; all its faults are named. Or results are older than the saved ratings.
        ParameterError: no such system, parameter or period, or the saved ratings come from another.
    """
    if "columns" in settings:
        raise ParameterError("rate takes no columns; read the table first: podium.read_results(…, columns={…})")
    chosen = make_system(system, settings)
    checked, numbered = read_any(results)
    saved = None if start is None else begin(start, chosen, period, checked)
    return rate_table(checked, chosen, period, saved, numbered)


def predict(
    results: Any,
    entrants: Sequence["Named"] = (),
    system: str | System = "elo",
    *,
    sides: Sequence[Sequence["Named"]] = (),
    top: int = 3,
    pool: str | None = None,
    **settings: Any,
) -> "Forecast":
    """Rate results, and forecast the chances of a field after them; see `Rated.predict`.

    Args:
        results: as `rate` gives it, or anything that it takes.
        entrants: the names of those who start alone; whoever has not played is a newcomer.
        system: what rates results that are not rated yet.
        sides: the names of each side's members, where several start together.
        top: how many places count as the top.
        pool: needed where there are several.
        settings: the system's parameters, by name.

    Returns:
        Chances between 0 and 1 of each rank and in each pair.

    Raises:
        ResultsError: the results are refused.
        ParameterError: as `rate` and `Rated.predict` raise it.
        UnknownError: no such pool.
    """
    rated = results if isinstance(results, Rated) else rate(results, system, **settings)
    return rated.predict(entrants, sides=sides, top=top, pool=pool)


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
