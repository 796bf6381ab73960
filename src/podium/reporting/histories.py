"""Ratings over time: a line a player, from the first rating on, with the player's name and rating at its end."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from podium.reporting.style import HEIGHT, altair, canvas, colours, dashes, dates, whole_numbers

LABEL_PIXELS = 14.0  # from one name to the next
PADDING = 0.05  # of the height, above the highest rating and below the lowest


def rating_histories(history: pl.DataFrame, players: list[str], title: str) -> Any:
    """The ratings of some players over time, or over events where the results have no dates.

    Args:
        history: rows of the ledger, of one pool.
        players: whose, in the order of their colours.
        title: what stands above.
    """
    alt = altair()
    numbered = history.with_columns(number=pl.col("event_id").rle_id().cast(pl.Int64) + 1)
    rows = numbered.filter(pl.col("player").is_in(players))
    dated = bool(rows.height) and not rows["started_at"].null_count()
    lines = line_points(rows, "started_at" if dated else "number")
    if dated:
        axis = dates(lines["moment"].min(), lines["moment"].max()) if rows.height else alt.Axis()  # type: ignore[arg-type]
        x = alt.X("when:T", title="", axis=axis)
        lines = lines.with_columns(when=pl.col("moment").dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    else:
        x = alt.X("when:Q", title="event", axis=whole_numbers(), scale=alt.Scale(nice=False))
        lines = lines.with_columns(when=pl.col("moment"))
    ends = lines.group_by("player", maintain_order=True).last()
    low, high = domain(lines["rating"])
    ends = ends.with_columns(
        label=pl.format("{}  {}", "player", pl.col("rating").round().cast(pl.Int64)),
        label_at=pl.Series(spread(ends["rating"].to_list(), low, high), dtype=pl.Float64),
    )
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    colour = alt.Color("player:N", legend=None, scale=colours(players))
    y = alt.Y("rating:Q", title="rating", scale=scale)
    dash = alt.StrokeDash("player:N", legend=None, scale=dashes(players))
    marks = canvas(lines.drop("moment"), title).mark_line(interpolate="step-after")
    steps = marks.encode(x=x, y=y, color=colour, strokeDash=dash)
    names = canvas(ends.drop("moment"), "").mark_text(align="left", dx=6, fontSize=12)
    return steps + names.encode(x=x, y=alt.Y("label_at:Q", scale=scale), text="label:N", color=colour)


def line_points(rows: pl.DataFrame, moment: str) -> pl.DataFrame:
    """The points of each line: the rating before the first event, that after each moment, and the last at the end.

    Returns:
        `player, moment, rating`, by player and moment.
    """
    changes = rows.select("player", moment=moment, before="rating_before", rating="rating")
    last = changes["moment"].max()
    after = changes.group_by("player", "moment", maintain_order=True).agg(pl.col("rating").last())  # several a moment
    one = 1 if moment == "number" else 0  # an event before the first
    first = changes.group_by("player", maintain_order=True).first()
    starts = first.select("player", moment=pl.col("moment") - one if one else "moment", rating="before")
    final = changes.group_by("player", maintain_order=True).last()
    ends = final.select("player", pl.lit(last, dtype=changes.schema["moment"]).alias("moment"), "rating")
    if one:
        ends = ends.with_columns(pl.col("moment") + one)
    return pl.concat([starts, after, ends]).sort("player", "moment", maintain_order=True)


def domain(ratings: pl.Series) -> tuple[float, float]:
    """The lowest and highest rating that a chart shows."""
    if ratings.is_empty():
        return 0.0, 1.0
    values = ratings.to_numpy()
    low, high = float(values.min()), float(values.max())
    room = PADDING * (high - low) or 1.0
    return low - room, high + room


def spread(ratings: Sequence[float], low: float, high: float) -> list[float]:
    """Where names stand beside the ends of their lines, in points, so that none covers another."""
    step = LABEL_PIXELS * (high - low) / HEIGHT
    places = [0.0] * len(ratings)
    above = float("inf")
    for number in sorted(range(len(ratings)), key=lambda k: -ratings[k]):
        above = min(ratings[number], above - step)
        places[number] = above
    beneath = low - min(places, default=low)
    if beneath <= 0.0:
        return places
    floor = low  # the lowest are lifted, and those whom they meet with them
    for number in sorted(range(len(ratings)), key=lambda k: places[k]):
        places[number] = max(places[number], floor)
        floor = places[number] + step
    return places
