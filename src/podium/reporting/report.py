"""One self-contained page about a league: who stands where, how ratings moved, and whether the system fits."""

from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from podium.analysis.audit import audit
from podium.analysis.evaluation import evaluate
from podium.errors import needs_extra
from podium.rated import Rated
from podium.reporting import charts
from podium.reporting.cells import cell
from podium.reporting.curves import CURVES
from podium.systems import find

LEADERS, BOARD = 8, 25
SCORES = ("system", "events", "pairs", "log_loss", "brier", "accuracy", "calibration_error", "kendall_tau")
BOARD_COLUMNS = ("rank", "player", "rating", "deviation", "peak", "events", "last_event_id", "last_played_at")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: a table, a picture, or both."""

    title: str
    note: str = ""
    table: pl.DataFrame | None = None
    svg: str = ""

    @property
    def header(self) -> list[tuple[str, bool]]:
        """The columns' names, and whether each holds numbers."""
        return (
            [] if self.table is None else [(n.replace("_", " "), k.is_numeric()) for n, k in self.table.schema.items()]
        )

    @property
    def rows(self) -> list[list[tuple[str, bool]]]:
        """The cells as people read them."""
        if self.table is None:
            return []
        numeric = [kind.is_numeric() for kind in self.table.dtypes]
        return [
            [(cell(v, decimals=1, instants="%Y-%m-%d"), n) for v, n in zip(row, numeric, strict=True)]
            for row in self.table.iter_rows()
        ]


def report(rated: Rated, pool: str | None = None) -> str:
    """The page as HTML that needs no network and runs no script.

    Args:
        pool: the pool that the pictures are of; the one with most events where None.

    Raises:
        UnknownError: no such pool, or nothing rated to report on.
        MissingExtraError: the extra `charts` is not installed.
    """
    page = template()
    shown = rated.pool(pool)
    board = rated.leaderboard(pool=shown)
    history = rated.history.filter(pl.col("pool") == shown)
    ratings = rated.ratings.filter(pl.col("pool") == shown)
    leaders = board["player"].head(LEADERS).to_list()
    systems = [rated.system] if rated.system.name == "elo" else [rated.system, find("elo")()]
    judged = evaluate(rated.results, systems, period=rated.period)
    points = audit(rated)
    curves = [kind for kind, each in CURVES.items() if each.system == rated.system.name]
    svg = charts.as_svg
    sections = [
        Section(
            f"Leaderboard of {shown}", table=board.select(n for n in BOARD_COLUMNS if n in board.columns).head(BOARD)
        ),
        Section("Rating histories", svg=svg(charts.rating_histories(history, leaders, "The leaders"))),
        Section("Distribution", svg=svg(charts.distribution(ratings, f"{ratings.height} players"))),
        Section(
            "Prediction",
            "Every event is predicted before it is learnt; lower log loss is better.",
            judged.scores.select(SCORES),
            svg(charts.calibration(judged.reliability, "Calibration")),
        ),
        Section("Points in circulation", svg=svg(charts.circulation(points.months, "Points by month"))),
        *(Section(CURVES[kind].title, svg=svg(charts.published_curve(kind, rated.system))) for kind in curves),
        Section("Parameters", table=parameters(rated)),
    ]
    return str(page.render(title=title(rated), summary=summary(rated), sections=sections))


def template() -> Any:
    """The page's template, every text in it escaped."""
    with needs_extra("charts", "a report"):
        import jinja2  # noqa: PLC0415  (an extra)
    loader = jinja2.PackageLoader("podium", "templates")
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined).get_template(
        "report.html"
    )


def title(rated: Rated) -> str:
    """What the page is about."""
    return f"{rated.results.source}, rated with {rated.system.title}"


def summary(rated: Rated) -> str:
    """The page in a sentence."""
    events, players = rated.history["event_id"].n_unique(), rated.ratings.height
    names = ", ".join(each.name for each in rated.events.pools)
    return f"{events:,} rated events, {players:,} ratings, pools: {names}. System: {rated.system.source}."


def parameters(rated: Rated) -> pl.DataFrame:
    """The system's parameters and what they mean."""
    return pl.DataFrame(
        [
            {"name": each.name, "value": str(getattr(rated.system, each.name)), "meaning": each.metadata["help"]}
            for each in fields(rated.system)
        ],
        schema={"name": pl.String, "value": pl.String, "meaning": pl.String},
    )
