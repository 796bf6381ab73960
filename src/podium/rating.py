"""Rate results, and forecast events."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from podium.engine.replay import replay, with_idle_before
from podium.engine.system import System
from podium.engine.tables.encoding import encode
from podium.errors import ParameterError
from podium.importers.tables import read_any
from podium.ledger.saved import StartingRatings, parameters, pool_table, read_start, refuse_earlier, refuse_other
from podium.rated import Rated
from podium.results.hashing import Numbered
from podium.results.reading import Results
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
        results: a file, a pandas, Polars or Arrow frame, rows as dicts, or Results. Podium also reads tables in many
            other layouts, and a warning explains how it read them. You can also pass a folder of Parquet files, or a
            pattern such as `results/*.parquet`. The files are read in natural order: `part-2` before `part-10`. If the
            files are larger than memory, use `rate_parts`.
        system: the name of a system, a name with parameters such as `elo:k=20`, or an instance.
        period: the rating period: `event`, or a span such as `1d`, `1w` or `1mo`.
        start: ratings to start from: a file written by `Rated.save`, another `Rated`, or a table with the columns
            `pool`, `player`, `rating` and any other fields of the state. Missing fields get a newcomer's values.
        settings: the system's parameters, by name.

    Returns:
        The rated results. Its `ratings`, `history` and `leaderboard()` are Polars frames.

    Raises:
        ResultsError: a table is invalid, or the results are older than the starting ratings. The error lists every
            problem.
        ParameterError: the system or a parameter does not exist, the period is invalid, or `start` comes from another
            system.
    """
    if "columns" in settings:
        raise ParameterError(
            "rate: `columns` is not a setting. Read the table first: podium.read_results(…, columns={…})"
        )
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
    """Rate results, and forecast the next event.

    See `Rated.predict`.

    Args:
        results: the result of `rate`, or anything that `rate` accepts.
        entrants: the names of players who compete individually. Unknown names count as newcomers.
        system: the rating system, if the results are not rated yet.
        sides: the names of the members of each team.
        top: number of places that count as top places.
        pool: the pool. Required if the results have several pools.
        settings: the system's parameters, by name.

    Returns:
        The probability (0 to 1) of each rank, and the expected score for each pair of entrants.

    Raises:
        ResultsError: the results are invalid.
        ParameterError: a setting or the list of entrants is invalid.
        UnknownError: the pool does not exist.
    """
    rated = results if isinstance(results, Rated) else rate(results, system, **settings)
    return rated.predict(entrants, sides=sides, top=top, pool=pool)


PARALLEL_MIN_ENTRANTS = 100_000  # with fewer entrants, threads cost more time than they save


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
    """Return the players' ratings before the first result."""
    if isinstance(start, Rated):
        refuse_other("start", start.system.name, parameters(start.system), start.period, system, period)
        start = start.states
    pools = results.frame.select("pool").unique(maintain_order=True).to_series().to_list()
    saved = start if isinstance(start, StartingRatings) else read_start(start, system, period, pools)
    refuse_earlier(saved, results, period)
    return saved
