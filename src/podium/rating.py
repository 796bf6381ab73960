"""Rate results with a system, and forecast: the library's front door."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from podium.engine.system import System
from podium.errors import ParameterError
from podium.importers.tables import read_any
from podium.rated import Rated, begin, rate_table
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
