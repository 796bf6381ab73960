"""How every chart looks: its size, its fixed colours, its axes. Needs the extra `charts`."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from podium.errors import needs_extra

WIDTH, HEIGHT = 640, 300  # pixels of a plot
NARROW_WIDTH = 290  # the same on a phone
# After M. Okabe and K. Ito: all kinds of sight tell them apart. Black is left to texts; yellow is too faint.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f6fb5", "#8c8c8c")
MAIN, SECOND, QUIET = PALETTE[0], PALETTE[5], PALETTE[7]
DASHES = ([1, 0], [4, 2], [2, 2], [6, 2, 2, 2])  # pixels drawn and left out, in turn
LEGEND_GAP = 32  # pixels between names of a legend: in the reader's font they may be a fifth wider than measured
NARROW_LEGEND_COLUMNS = 2  # on a phone, at most: a legend in one row would be wider than the plot, and shrink it
SYMBOL_WIDTH, CHARACTER_WIDTH = 16, 6  # pixels of a legend's entry: before its name, and of a letter of it, about
MAX_NAME_WIDTH = 160  # pixels, at which Vega cuts a name
DAYS_OF_YEARS, DAYS_OF_MONTHS = 1500, 120  # spans from which an axis shows years, and months with their year


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


def colours(names: Sequence[str]) -> Any:
    """The scale that gives each name its colour, by its place in the list; they begin anew after the eighth."""
    shades = [PALETTE[k % len(PALETTE)] for k in range(len(names))]
    return altair().Scale(domain=list(names), range=shades)


def dashes(names: Sequence[str]) -> Any:
    """The scale by which lines of one colour differ: the first eight are drawn through, the next dashed."""
    patterns = [DASHES[k // len(PALETTE) % len(DASHES)] for k in range(len(names))]
    return altair().Scale(domain=list(names), range=patterns)


def line_legend() -> Any:
    """The legend of lines that differ by their dashes, too."""
    return altair().Legend(symbolType="stroke", symbolStrokeWidth=3)


def legend_columns(names: Sequence[str], width: int) -> int | None:
    """How many columns of a legend are no wider than so many pixels; None where all names stand in one row."""
    widths = [SYMBOL_WIDTH + min(CHARACTER_WIDTH * len(name), MAX_NAME_WIDTH) + LEGEND_GAP for name in names]
    room = width + LEGEND_GAP  # none follows the last
    return None if sum(widths) <= room else max(1, room // max(widths))


def whole_numbers() -> Any:
    """An axis of whole numbers."""
    only_whole = "datum.value % 1 ? '' : format(datum.value, ',d')"  # Vega puts ticks between them all the same
    return altair().Axis(labelExpr=only_whole, tickMinStep=1, labelOverlap=True)


def dates(first: datetime, last: datetime) -> Any:
    """An axis of dates that always shows the year."""
    span = last - first
    if span > timedelta(days=DAYS_OF_YEARS):
        form, step = "%Y", 366 * 86_400_000
    elif span > timedelta(days=DAYS_OF_MONTHS):
        form, step = "%b %Y", 28 * 86_400_000
    else:
        form, step = "%-d %b %Y", 86_400_000
    return altair().Axis(format=form, tickMinStep=step, labelOverlap=True, labelSeparation=8)


def configuration(*, inline: bool) -> dict[str, Any]:
    """The look of a drawing: one that stands in a page takes its text colour and background from there."""
    ink, grid = ("currentColor", "#8888884d") if inline else ("#1d1b2e", "#dddde4")
    return {
        "background": None if inline else "white",
        "font": "system-ui, Segoe UI, Roboto, sans-serif",
        "view": {"stroke": None},
        "title": {"color": ink, "subtitleColor": ink, "anchor": "start", "fontSize": 14, "subtitleFontSize": 12},
        "text": {"color": ink},
        "axis": {
            "labelColor": ink,
            "titleColor": ink,
            "gridColor": grid,
            "domainColor": grid,
            "tickColor": grid,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
        },
        "legend": {
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 12,
            "columnPadding": LEGEND_GAP,
            "orient": "top",
            "title": None,
        },
        "header": {"labelColor": ink, "titleColor": ink, "labelAnchor": "start"},
    }
