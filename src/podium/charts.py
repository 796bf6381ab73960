"""Charts, drawn without a browser or a network. Needs the extra `charts`."""

from pathlib import Path
from typing import Any

import polars as pl

from podium.errors import PodiumError


class ChartError(PodiumError):
    """A chart cannot be drawn or written."""


def altair() -> Any:
    """The drawing library.

    Raises:
        ChartError: it is not installed.
    """
    try:
        import altair as alt  # noqa: PLC0415  (an extra)
    except ImportError:
        raise ChartError("charts need an extra: pip install 'podium-ratings[charts]'") from None
    return alt


def rating_histories(history: pl.DataFrame, players: list[str], title: str) -> Any:
    """The ratings of some players over time, or over events where the results have no dates.

    Args:
        history: rows of the ledger, of one pool.
    """
    alt = altair()
    told = history.filter(pl.col("player").is_in(players))
    dated = told.height and not told["started_at"].null_count()
    when = alt.X("when:T", title="") if dated else alt.X("when:Q", title="event")
    instants = pl.col("started_at").dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    numbers = pl.col("event_id").rle_id().cast(pl.Int64) + 1
    rows = told.select("player", "rating", "event_id", when=instants if dated else numbers)
    chart = alt.Chart(alt.Data(values=rows.to_dicts()), title=title, width=640, height=300)
    colour = alt.Color("player:N", title="", sort=players)
    rating = alt.Y("rating:Q", title="rating", scale=alt.Scale(zero=False))
    return chart.mark_line(interpolate="step-after").encode(x=when, y=rating, color=colour)


def save(chart: Any, path: Path) -> None:
    """Write a chart: .png, .svg, or .html that needs no network.

    Raises:
        ChartError: another suffix, or the file cannot be written.
    """
    if path.suffix not in (".png", ".svg", ".html"):
        raise ChartError(f"{path}: a chart is written as .png, .svg or .html")
    try:
        if path.suffix == ".html":
            chart.save(str(path), inline=True)
        else:
            chart.save(str(path), scale_factor=2) if path.suffix == ".png" else chart.save(str(path))
    except OSError as error:
        raise ChartError(f"{path}: cannot be written ({error.strerror or error})") from error
