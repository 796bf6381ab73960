"""Charts of a league, its system and its players. Needs the extra `charts`."""

from typing import Any

import polars as pl

from podium.engine.system import System
from podium.reporting.curves import curve
from podium.reporting.style import MAIN, QUIET, SECOND, altair, canvas, colours, dashes, line_legend, whole_numbers


def distribution(ratings: pl.DataFrame, title: str) -> Any:
    """How many players have which rating, the provisional ones apart."""
    alt = altair()
    kind = pl.when(pl.col("provisional")).then(pl.lit("provisional")).otherwise(pl.lit("settled"))
    bars = canvas(ratings.select("rating", kind=kind), title).mark_bar()
    rating = alt.X("rating:Q", bin=alt.Bin(maxbins=40), title="rating", axis=alt.Axis(format=",d", labelOverlap=True))
    players = alt.Y("count()", title="players", axis=whole_numbers())
    scale = alt.Scale(domain=["settled", "provisional"], range=[MAIN, SECOND])
    return bars.encode(x=rating, y=players, color=alt.Color("kind:N", title="", scale=scale))


def calibration(reliability: pl.DataFrame, title: str) -> Any:
    """What was expected against what came; on the diagonal every expectation was right."""
    alt = altair()
    ends = pl.DataFrame({"expected": [0.0, 1.0], "actual": [0.0, 1.0]})
    diagonal = canvas(ends, title).mark_line(strokeDash=[4, 4], color=QUIET)
    tenths = alt.Axis(format="%", values=[0.0, 0.2, 0.4, 0.6, 0.8, 1.0], labelFlush=True)
    x = alt.X("expected:Q", title="expected score", scale=alt.Scale(domain=[0, 1]), axis=tenths)
    y = alt.Y("actual:Q", title="mean result", scale=alt.Scale(domain=[0, 1]), axis=tenths)
    marks = canvas(reliability.select("system", "expected", "actual", "pairs"), title)
    names = reliability["system"].unique(maintain_order=True).to_list()
    legend = line_legend() if len(names) > 1 else None
    colour = alt.Color("system:N", title="", scale=colours(names), legend=legend)
    size = alt.Size("pairs:Q", title="pairs", legend=None)
    dash = alt.StrokeDash("system:N", title="", scale=dashes(names), legend=legend)
    lines = marks.mark_line(point=False).encode(x=x, y=y, color=colour, strokeDash=dash)
    return diagonal.encode(x=x, y=y) + lines + marks.mark_point(filled=True).encode(x=x, y=y, color=colour, size=size)


def circulation(months: pl.DataFrame, title: str) -> Any:
    """Points that came and went by month, newcomers' starts apart, and how the month's players stand.

    Args:
        months: the table of that name in `podium.analysis.audit.Audit`.
    """
    alt = altair()
    starts = months.select("month", points="introduced_starts")
    flows = months.select(
        "month",
        pl.col("introduced_base_points").alias("base points"),
        "created",
        leaked=-pl.col("leaked"),
    ).unpivot(index="month", variable_name="flow", value_name="points")
    levels = months.select("month", "mean", "median", pl.col("top_10").alias("top 10")).unpivot(
        index="month", variable_name="level", value_name="rating"
    )
    month = alt.X("month:O", title="", axis=alt.Axis(labelOverlap=True, labelAngle=0))
    points = alt.Y("points:Q", title="points", axis=alt.Axis(format=",~f", labelOverlap=True))
    newcomers = canvas(starts, f"{title}: newcomers' starts").mark_bar(color=MAIN).encode(x=month, y=points)
    flow = alt.Color("flow:N", title="", scale=colours(["base points", "created", "leaked"]))
    others = canvas(flows, "Points from elsewhere, and points lost").mark_bar().encode(x=month, y=points, color=flow)
    rating = alt.Y("rating:Q", title="rating of the active", scale=alt.Scale(zero=False))
    level = alt.Color("level:N", title="", scale=colours(["mean", "median", "top 10"]))
    lines = canvas(levels, "Ratings of those who played").mark_line(point=months.height < 3)  # noqa: PLR2004
    panels = (newcomers.properties(height=120), others, lines.encode(x=month, y=rating, color=level))
    return alt.vconcat(*panels).resolve_scale(color="independent")


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
    when = alt.X("when:T", title="") if dated else alt.X("when:Q", title="event", axis=whole_numbers())
    y = alt.Y("strength:Q", title="strength", scale=alt.Scale(type="log"))
    pools = rows["pool"].unique(maintain_order=True).to_list()
    legend = alt.Legend() if len(pools) > 1 else None
    colour = alt.Color("pool:N", title="", scale=colours(pools), legend=legend)
    return canvas(rows, title).mark_circle().encode(x=when, y=y, color=colour)


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
    colour = alt.Color("crowd:N", title="population", scale=colours(crowds))
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
    colour = alt.Color("series:N", title="", scale=colours(names)) if len(names) > 1 else alt.value(MAIN)
    dash = alt.StrokeDash("series:N", legend=None, sort=names) if len(names) > 1 else alt.value([1, 0])
    return (
        canvas(points, description.title)
        .mark_line()
        .encode(x=x, y=alt.Y("y:Q", title=description.y), color=colour, strokeDash=dash)
    )
