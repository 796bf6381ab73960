"""Charts, drawn without a browser or a network. Needs the extra `charts`."""

import json
from pathlib import Path
from typing import Any

import polars as pl

from podium.engine.system import System
from podium.errors import PodiumError, needs_extra
from podium.reporting.curves import curve

WIDTH, HEIGHT = 640, 300
SUFFIXES = (".png", ".svg", ".html")


class ChartError(PodiumError):
    """A chart cannot be drawn or written."""


def altair() -> Any:
    """The drawing library.

    Raises:
        MissingExtraError: it is not installed.
    """
    with needs_extra("charts", "a chart"):
        import altair as alt  # noqa: PLC0415  (an extra)
    return alt


def canvas(rows: pl.DataFrame, title: str) -> Any:
    """An empty chart over rows."""
    alt = altair()
    return alt.Chart(alt.Data(values=rows.to_dicts()), title=title, width=WIDTH, height=HEIGHT)


def rating_histories(history: pl.DataFrame, players: list[str], title: str) -> Any:
    """The ratings of some players over time, or over events where the results have no dates.

    Args:
        history: rows of the ledger, of one pool.
    """
    alt = altair()
    numbered = history.with_columns(number=pl.col("event_id").rle_id().cast(pl.Int64) + 1)
    shown = numbered.filter(pl.col("player").is_in(players))
    dated = shown.height and not shown["started_at"].null_count()
    when = alt.X("when:T", title="") if dated else alt.X("when:Q", title="event")
    instants = pl.col("started_at").dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    rows = shown.select("player", "rating", "event_id", when=instants if dated else "number")
    colour = alt.Color("player:N", title="", sort=players)
    rating = alt.Y("rating:Q", title="rating", scale=alt.Scale(zero=False))
    return canvas(rows, title).mark_line(interpolate="step-after").encode(x=when, y=rating, color=colour)


def distribution(ratings: pl.DataFrame, title: str) -> Any:
    """How many players have which rating, the provisional ones apart."""
    alt = altair()
    kind = pl.when(pl.col("provisional")).then(pl.lit("provisional")).otherwise(pl.lit("settled"))
    bars = canvas(ratings.select("rating", kind=kind), title).mark_bar()
    rating = alt.X("rating:Q", bin=alt.Bin(maxbins=40), title="rating")
    return bars.encode(x=rating, y=alt.Y("count()", title="players"), color=alt.Color("kind:N", title=""))


def calibration(reliability: pl.DataFrame, title: str) -> Any:
    """What was expected against what came; on the diagonal every expectation was right."""
    alt = altair()
    ends = pl.DataFrame({"expected": [0.0, 1.0], "actual": [0.0, 1.0]})
    diagonal = canvas(ends, title).mark_line(strokeDash=[4, 4], color="grey")
    x = alt.X("expected:Q", title="expected score", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("actual:Q", title="mean result", scale=alt.Scale(domain=[0, 1]))
    marks = canvas(reliability.select("system", "expected", "actual", "pairs"), title)
    colour, size = alt.Color("system:N", title=""), alt.Size("pairs:Q", title="pairs")
    lines = marks.mark_line(point=False).encode(x=x, y=y, color=colour)
    return diagonal.encode(x=x, y=y) + lines + marks.mark_point(filled=True).encode(x=x, y=y, color=colour, size=size)


def circulation(months: pl.DataFrame, title: str) -> Any:
    """Points that came and went by month, and how the month's players stand.

    Args:
        months: the table of that name in `podium.analysis.audit.Audit`.
    """
    alt = altair()
    flows = months.select(
        "month",
        pl.col("introduced_starts").alias("newcomers' starts"),
        pl.col("introduced_base_points").alias("base points"),
        "created",
        leaked=-pl.col("leaked"),
    ).unpivot(index="month", variable_name="flow", value_name="points")
    levels = months.select("month", "mean", "median", pl.col("top_10").alias("top 10")).unpivot(
        index="month", variable_name="level", value_name="rating"
    )
    month = alt.X("month:O", title="", axis=alt.Axis(labelOverlap=True))
    points, flow = alt.Y("points:Q", title="points"), alt.Color("flow:N", title="")
    bars = canvas(flows, title).mark_bar().encode(x=month, y=points, color=flow)
    rating = alt.Y("rating:Q", title="rating of the active", scale=alt.Scale(zero=False))
    lines = canvas(levels, "").mark_line(point=months.height < 3).encode(x=month, y=rating, color="level:N")  # noqa: PLR2004
    return alt.vconcat(bars, lines).resolve_scale(color="independent")


def race_strengths(strengths: pl.DataFrame, title: str) -> Any:
    """How strong each event was, on a logarithmic scale.

    Args:
        strengths: as `Rated.strengths` gives them.
    """
    alt = altair()
    dated = strengths.height and not strengths["started_at"].null_count()
    instants = pl.col("started_at").dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    rows = strengths.filter(pl.col("strength").is_finite()).select(
        "event_id", "pool", "strength", when=instants if dated else pl.int_range(1, pl.len() + 1)
    )
    when = alt.X("when:T", title="") if dated else alt.X("when:Q", title="event")
    y = alt.Y("strength:Q", title="strength", scale=alt.Scale(type="log"))
    return canvas(rows, title).mark_circle().encode(x=when, y=y, color=alt.Color("pool:N", title=""))


def waits_and_spreads(runs: pl.DataFrame, title: str) -> Any:
    """What nineteen in twenty wait at most, against the middle spread of ratings, run by run.

    Args:
        runs: as `podium.matchmaking.lab.compared` gives them.
    """
    alt = altair()
    label = (
        pl.when(pl.col("target_s").is_null())
        .then("kind")
        .otherwise(pl.format("{} s", pl.col("target_s").round().cast(pl.Int64)))
    )
    crowd = pl.col("players").cast(pl.String).fill_null("as they came")
    rows = runs.select("wait_p95", "spread_median", "kind", crowd=crowd, label=label).drop_nulls("spread_median")
    x, y = alt.X("wait_p95:Q", title="95 % wait at most, s"), alt.Y("spread_median:Q", title="median spread, points")
    crowds = rows["crowd"].unique(maintain_order=True).to_list()
    colour = alt.Color("crowd:N", title="population", sort=crowds)
    marks = canvas(rows, title).mark_point(filled=True, size=90).encode(x=x, y=y, color=colour, shape="kind:N")
    return marks + canvas(rows, "").mark_text(align="left", dx=8).encode(x=x, y=y, text="label:N")


def published_curve(kind: str, system: System | None = None) -> Any:
    """A curve of one of the published texts; see `podium.reporting.curves`.

    Raises:
        ParameterError: there is no such curve, or it is about another system.
    """
    alt = altair()
    description, points = curve(kind, system)
    x = alt.X("x:Q", title=description.x)
    names = points["series"].unique(maintain_order=True).to_list()
    colour = alt.Color("series:N", title="", sort=names) if len(names) > 1 else alt.value("#4c78a8")
    return canvas(points, description.title).mark_line().encode(x=x, y=alt.Y("y:Q", title=description.y), color=colour)


def as_svg(chart: Any) -> str:
    """The chart as SVG text."""
    with needs_extra("charts", "a chart"):
        import vl_convert  # noqa: PLC0415  (an extra, and large)

    svg: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return svg


def check_path(path: Path) -> Path:
    """The path, if a chart can be written there.

    Raises:
        ChartError: another suffix, or no such folder.
    """
    if path.suffix not in SUFFIXES:
        raise ChartError(f"{path}: a chart is written as {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if not path.resolve().parent.is_dir():
        raise ChartError(f"{path}: there is no folder {path.parent}")
    return path


class ScriptEncoder(json.JSONEncoder):
    """JSON within a page's script: a name cannot end the script."""

    def encode(self, o: Any) -> str:
        """The value as JSON without `<`."""
        return super().encode(o).replace("<", "\\u003c")


def save(chart: Any, path: Path) -> None:
    """Write a chart: .png, .svg, or .html that needs no network.

    Raises:
        ChartError: another suffix, or the file cannot be written.
    """
    check_path(path)
    try:
        if path.suffix == ".html":
            chart.save(str(path), inline=True, json_kwds={"cls": ScriptEncoder})
        else:
            chart.save(str(path), scale_factor=2) if path.suffix == ".png" else chart.save(str(path))
    except OSError as error:
        raise ChartError(f"{path}: cannot be written ({error.strerror or error})") from error
