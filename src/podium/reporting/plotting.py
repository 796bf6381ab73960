"""The chart of a kind by its name, from rated results, results or a system. Needs the extra `charts`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from podium.analysis.audit import audit
from podium.analysis.evaluation import evaluate
from podium.engine.system import System
from podium.errors import ParameterError, UnknownError
from podium.ledger.forecast import suggestion
from podium.rated import Rated, rate
from podium.reporting import charts
from podium.reporting.curves import CURVES
from podium.reporting.histories import rating_histories
from podium.reporting.learnt import learnt_curves
from podium.reporting.saving import check_path, save
from podium.results.columns import DEFAULTS
from podium.systems import make_system

SHOWN_PLAYERS = 8
FROM_RESULTS = ("histories", "distribution", "calibration", "circulation", "parameters")


def plot(
    kind: str,
    results: Any = None,
    system: str | System | None = None,
    *,
    pool: str | None = None,
    players: Sequence[str] | None = None,
    period: str = "event",
    out: str | Path | None = None,
) -> Any:
    """Draw a chart.

    Args:
        kind: `histories`, `distribution`, `calibration`, `circulation` or `parameters` (as a system has learnt them)
            of results; or a curve of a published system, which needs none.
        results: as `podium.rate` gives it, or anything that it takes.
        system: what rates results that are not rated yet, elo where None; or whose curve is drawn.
        pool: what histories, the distribution and parameters are of; the pool with most events where None.
        players: whose histories are drawn; the leaders' where None.
        period: when ratings settle.
        out: a file to write the chart to: .svg, .png or .html.

    Returns:
        The chart, as Altair has it; a notebook shows it.

    Raises:
        ParameterError: there is no such chart, or it needs results.
        UnknownError: no such pool or player.
        MissingExtraError: the extra `charts` is not installed.
        ChartError: it cannot be written.
    """
    if out is not None:
        check_path(Path(out))
    chart = draw(kind, results, system, pool, players, period)
    if out is not None:
        save(chart, Path(out))
    return chart


def draw(
    kind: str, results: Any, system: str | System | None, pool: str | None, players: Sequence[str] | None, period: str
) -> Any:
    """The chart that `plot` draws."""
    if kind in CURVES:
        return charts.published_curve(kind, None if system is None else make_system(system))
    if kind not in FROM_RESULTS:
        kinds = (*FROM_RESULTS, *CURVES)
        raise ParameterError(f"there is no chart {kind!r}{suggestion(kind, kinds)} (there are {', '.join(kinds)})")
    if results is None:
        raise ParameterError(f"{kind} is drawn from results; give them after the kind of the chart")
    rated = results if isinstance(results, Rated) else rate(results, system or "elo", period=period)
    if kind == "calibration":
        return charts.calibration(
            evaluate(rated.results, rated.system, period=rated.period).reliability, rated.system.title
        )
    if kind == "circulation":
        return charts.circulation(audit(rated).months, rated.system.title)
    shown = rated.pool(pool)
    title = rated.system.title if shown == DEFAULTS["pool"] else f"{shown}, {rated.system.title}"
    if kind == "parameters":
        return learnt_curves(rated.learnt(pool=shown), rated.system, title)
    if kind == "distribution":
        return charts.distribution(rated.ratings.filter(pl.col("pool") == shown), title)
    history = rated.history.filter(pl.col("pool") == shown)
    unknown = sorted(set(players or []) - set(history["player"]))
    if unknown:
        hint = suggestion(unknown[0], history["player"].unique().to_list())
        raise UnknownError(f"there is no player {unknown[0]!r} in pool {shown}{hint}")
    leaders = rated.leaderboard(pool=shown)["player"].head(SHOWN_PLAYERS).to_list()
    return rating_histories(history, list(players or leaders), title)
