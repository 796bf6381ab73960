"""Charts of ratings and learnt parameters over time, and curves of published systems."""

import math
import textwrap
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl

from podium.engine.inputs import PRESENT, TIME_TRIAL, Entry, Heat
from podium.engine.pool_state import LearntParameter
from podium.engine.rules import compare, enter, expect
from podium.engine.system import System
from podium.errors import ParameterError, needs_extra
from podium.ledger.history import FINDING_EVENTS, SURE_DEVIATIONS, thinned
from podium.probability.gamma import ALPHA, incomplete_beta, matched_slope
from podium.support.immutable import immutable
from podium.systems import find
from podium.systems._folyami_field import agnesi
from podium.systems.stk import lead

WIDTH, HEIGHT = 640, 312  # size of a plot in pixels
NARROW_WIDTH = 290  # width on a phone
# The palette of M. Okabe and K. Ito, which colour-blind readers can tell apart. Black is reserved for text, and yellow
# is too faint.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f6fb5", "#8c8c8c")
MAIN, SECOND, QUIET = PALETTE[0], PALETTE[5], PALETTE[7]
DASHES = ([1, 0], [4, 2], [2, 2], [6, 2, 2, 2])  # numbers of pixels that are drawn and skipped in turn
LEGEND_GAP = 32  # pixels between names in a legend; the reader's font may be a fifth wider than measured
# maximum number on a phone, because a legend in one row would be wider than the plot, and shrink it
NARROW_LEGEND_COLUMNS = 2
SYMBOL_WIDTH, CHARACTER_WIDTH = 16, 6  # pixels in an entry of a legend: before the name, and for an average letter
MAX_NAME_WIDTH = 160  # pixels; Vega cuts longer names
DAYS_OF_YEARS, DAYS_OF_MONTHS = (
    1500,
    120,
)  # the axis shows years for longer spans, and months with their year for shorter ones


def altair() -> Any:
    """Return the drawing library. If it is missing, raise an error that names the required extra."""
    with needs_extra("charts", "a chart"):
        import altair as alt  # noqa: PLC0415  (an extra)
    return alt


def canvas(rows: pl.DataFrame, title: str) -> Any:
    """Return an empty chart for these rows, with times in a form that Vega can read."""
    alt = altair()
    rows = rows.with_columns(pl.selectors.datetime().dt.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return alt.Chart(alt.Data(values=rows.to_dicts()), title=title, width=WIDTH, height=HEIGHT)


def colour(column: str, names: Sequence[str], **options: Any) -> Any:
    """Return the colour scale for the names in a column.

    A name's colour depends on its position. Colours repeat after eight names.
    """
    alt, shades = altair(), [PALETTE[k % len(PALETTE)] for k in range(len(names))]
    scale = alt.Scale(domain=list(names), range=shades)
    return alt.Color(f"{column}:N", scale=scale, **{"title": ""} | options)


def dashes(names: Sequence[str]) -> Any:
    """Return the dash scale for lines of the same colour: the first eight lines are solid, and the rest are dashed."""
    patterns = [DASHES[k // len(PALETTE) % len(DASHES)] for k in range(len(names))]
    return altair().Scale(domain=list(names), range=patterns)


def line_legend() -> Any:
    """Return a legend for lines that also differ in their dashes."""
    return altair().Legend(symbolType="stroke", symbolStrokeWidth=3)


def legend_columns(names: Sequence[str], width: int) -> int | None:
    """Return the number of legend columns that fit into a width in pixels, or None if all names fit into one row."""
    widths = [SYMBOL_WIDTH + min(CHARACTER_WIDTH * len(name), MAX_NAME_WIDTH) + LEGEND_GAP for name in names]
    room = width + LEGEND_GAP  # nothing follows the last name
    return None if sum(widths) <= room else max(1, room // max(widths))


def whole_numbers() -> Any:
    only_whole = "datum.value % 1 ? '' : format(datum.value, ',d')"  # Vega still puts ticks between the labels
    return altair().Axis(labelExpr=only_whole, tickMinStep=1, labelOverlap=True)


def dates(first: datetime, last: datetime) -> Any:
    """Return an axis of dates on which the year is always visible."""
    span = last - first
    if span > timedelta(days=DAYS_OF_YEARS):
        form, step = "%Y", 366 * 86_400_000
    elif span > timedelta(days=DAYS_OF_MONTHS):
        form, step = "%b", 28 * 86_400_000
    else:
        form, step = "%-d %b %Y", 86_400_000
    with_year = "month(datum.value) == 0 || datum.index == 0 ? timeFormat(datum.value, '%b %Y') : datum.label"
    label = with_year if form == "%b" else "datum.label"
    return altair().Axis(format=form, labelExpr=label, tickMinStep=step, labelOverlap=True, labelSeparation=8)


def time_axis(moments: pl.Series) -> Any:
    """Return the axis for the `when` column, which contains dates or event numbers."""
    alt = altair()
    if moments.dtype.is_temporal():
        return alt.X("when:T", title="", axis=dates(moments.min(), moments.max()))  # type: ignore[arg-type]
    return alt.X("when:Q", title="event", axis=whole_numbers(), scale=alt.Scale(nice=False))


def configuration(*, inline: bool) -> dict[str, Any]:
    """Return the style of a chart. A chart within a page uses the page's text colour and background."""
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
            "titlePadding": 8,
        },
        "axisX": {"gridOpacity": 0.4},
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


LABEL_PIXELS = 14.0  # distance from one name to the next
LEADER_STROKE, STROKE = 3.5, 1.5  # widths in pixels of the leader's line and of the others
LEADER_WIDTH = 12  # pixels from the end of a line to the name
PADDING = 0.05  # share of the height to add above the highest rating and below the lowest


def rating_histories(
    history: pl.DataFrame, players: list[str], title: str, subtitle: str = "", hindsight: pl.DataFrame | None = None
) -> Any:
    """Chart the ratings of players over time, or by event if the results have no dates.

    Ratings in hindsight are drawn as dashed lines. Otherwise, ratings with a deviation begin at the sixth event.
    """
    alt = altair()
    numbered = history.with_columns(number=pl.col("event_id").rle_id().cast(pl.Int64) + 1)
    rows = numbered.filter(pl.col("player").is_in(players))
    has_deviation = "deviation" in rows.columns
    if has_deviation and hindsight is None:
        rows = established_rows(rows)
    dated = bool(rows.height) and not rows["started_at"].null_count()
    lines = line_points(rows, "started_at" if dated else "number")
    x = time_axis(lines["when"])
    ends = lines.group_by("player", maintain_order=True).last()
    ahead = None if hindsight is None else hindsight_points(rows, hindsight, dated=dated)
    low, high = domain(lines["rating"] if ahead is None else pl.concat([lines["rating"], ahead["low"], ahead["high"]]))
    label = pl.format("{}  {}", "player", pl.col("rating").round().cast(pl.Int64))
    if has_deviation:
        margins = rows.group_by("player").agg(margin=SURE_DEVIATIONS * pl.col("deviation").last())
        ends = ends.join(margins, on="player", maintain_order="left")
        label = pl.format("{} ±{}", label, pl.col("margin").round().cast(pl.Int64))
    ends = ends.with_columns(
        label=label,
        label_at=pl.Series(spread(ends["rating"].to_list(), low, high), dtype=pl.Float64),
    )
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    shade = colour("player", players, legend=None)
    y = alt.Y("rating:Q", title=None, scale=scale, axis=alt.Axis(format="d"))
    dash = alt.StrokeDash("player:N", legend=None, scale=dashes(players))
    leader = ends.sort("rating", maintain_order=True)["player"].tail(1)
    widths = [LEADER_STROKE if player in leader else STROKE for player in players]
    width = alt.StrokeWidth("player:N", legend=None, scale=alt.Scale(type="ordinal", domain=players, range=widths))
    heading = alt.TitleParams(title, subtitle=subtitle, fontSize=19, subtitleFontSize=14, offset=12)
    marks = canvas(lines, heading).mark_line(interpolate="step-after")
    steps = marks.encode(x=x, y=y, color=shade, strokeDash=dash, strokeWidth=width)
    names = canvas(ends, "").mark_text(align="left", dx=LEADER_WIDTH + 4, fontSize=13)
    leaders = canvas(ends, "").mark_rule(strokeWidth=LEADER_STROKE)
    ends_at = alt.X2Value({"expr": f"width + {LEADER_WIDTH}"})
    chart = (
        steps
        + leaders.encode(x=alt.XValue("width"), x2=ends_at, y=y, y2="label_at:Q", color=shade)
        + names.encode(x=x, y=alt.Y("label_at:Q", scale=scale), text="label:N")
    )
    if ahead is None:
        return chart
    known = canvas(ahead, "")
    band = known.mark_area(opacity=0.12).encode(x=x, y=alt.Y("low:Q", scale=scale), y2="high:Q", color=shade)
    return band + known.mark_line(strokeDash=[5, 3]).encode(x=x, y=y, color=shade) + chart


def established_rows(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out the first five events of players who have more, because large first steps would dominate a chart."""
    number, count = pl.int_range(pl.len()).over("player"), pl.len().over("player")
    begin = pl.when(number == FINDING_EVENTS).then("rating").otherwise("rating_before")
    return rows.with_columns(rating_before=begin).filter((number >= FINDING_EVENTS) | (count <= FINDING_EVENTS))


def hindsight_points(rows: pl.DataFrame, hindsight: pl.DataFrame, *, dated: bool) -> pl.DataFrame:
    """Return the ratings in hindsight at each event, with bands of two deviations."""
    events = rows.select("player", "event_id", when="started_at" if dated else "number").unique(maintain_order=True)
    known = events.join(hindsight, on=["player", "event_id"], maintain_order="left")
    reach = SURE_DEVIATIONS * pl.col("deviation")
    return known.select("player", "when", "rating", low=pl.col("rating") - reach, high=pl.col("rating") + reach)


def line_points(rows: pl.DataFrame, moment: str) -> pl.DataFrame:
    """Return the points of each line: the ratings before the first event, after each time, and at the end."""
    changes = rows.select("player", when=moment, before="rating_before", rating="rating")
    last = changes["when"].max()
    after = changes.group_by("player", "when", maintain_order=True).agg(
        pl.col("rating").last()
    )  # there may be several at the same time
    one = 1 if moment == "number" else 0  # one event before the first
    first = changes.group_by("player", maintain_order=True).first()
    starts = first.select("player", when=pl.col("when") - one if one else "when", rating="before")
    final = changes.group_by("player", maintain_order=True).last()
    ends = final.select("player", pl.lit(last, dtype=changes.schema["when"]).alias("when"), "rating")
    if one:
        ends = ends.with_columns(pl.col("when") + one)
    return pl.concat([starts, after, ends]).sort("player", "when", maintain_order=True)


def domain(ratings: pl.Series) -> tuple[float, float]:
    """Return the lowest and the highest rating to show in a chart."""
    if ratings.is_empty():
        return 0.0, 1.0
    values = ratings.to_numpy()
    low, high = float(values.min()), float(values.max())
    room = PADDING * (high - low) or 1.0
    return low - room, high + room


def spread(ratings: Sequence[float], low: float, high: float) -> list[float]:
    """Return heights in points for the names at the ends of lines, so that names do not overlap."""
    step = LABEL_PIXELS * (high - low) / HEIGHT
    places = [0.0] * len(ratings)
    above = float("inf")
    for number in sorted(range(len(ratings)), key=lambda k: -ratings[k]):
        above = min(ratings[number], above - step)
        places[number] = above
    beneath = low - min(places, default=low)
    if beneath <= 0.0:
        return places
    floor = low  # move the lowest names up, with all names that they would then cover
    for number in sorted(range(len(ratings)), key=lambda k: places[k]):
        places[number] = max(places[number], floor)
        floor = places[number] + step
    return places


PANEL_HEIGHT = 110  # pixels
POINTS = 600  # number of points in a curve
CHARACTERS = 44  # maximum number of characters in a line above a panel


def learnt_curves(history: pl.DataFrame, system: System, title: str) -> Any:
    """Chart every learnt parameter over time, with a dashed line at its initial value."""
    alt = altair()
    start = dict(zip(type(system.new_pool())._fields, system.new_pool(), strict=True))
    panels = [
        panel(history, parameter, parameter.convert(start[parameter.name])) for parameter in system.learnt_parameters
    ]
    return alt.concat(*panels, columns=2, title=alt.TitleParams(title, offset=12), spacing=24)


def panel(history: pl.DataFrame, parameter: LearntParameter, start: float) -> Any:
    """Chart one parameter: its curve, its initial value, and the meaning of its latest value."""
    alt = altair()
    dated = bool(history.height) and not history["started_at"].null_count()
    values = history[parameter.name].to_numpy()
    moments = history["started_at"] if dated else pl.int_range(1, history.height + 1, eager=True)
    shown = thinned(moments.cast(pl.Int64).to_numpy(), values, POINTS)
    points = pl.DataFrame({"when": moments[shown], "value": values[shown]})
    x = time_axis(moments)
    y = alt.Y("value:Q", title=parameter.unit, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))
    sentence = textwrap.wrap(parameter.describe(float(values[-1])), CHARACTERS) if values.size else []
    heading = alt.TitleParams(parameter.title, subtitle=sentence, anchor="start", frame="group")
    curve = canvas(points, "").mark_line(color=MAIN, interpolate="step-after").encode(x=x, y=y)
    began = canvas(pl.DataFrame({"value": [start]}), "").mark_rule(strokeDash=[4, 4], color=QUIET).encode(y=y)
    return (began + curve).properties(title=heading, width=NARROW_WIDTH, height=PANEL_HEIGHT)


GAPS = np.arange(-800.0, 801.0, 20.0)
Points = list[tuple[float, float, str]]  # x, y, and the name of the series


@immutable
class Curve:
    """A curve: its system, its titles, and the function that calculates its points."""

    system: str
    title: str
    x: str
    y: str
    points: Callable[[Any], Points]


def curve(kind: str, system: System | None = None) -> tuple[Curve, pl.DataFrame]:
    """Return a curve and its points, in the columns `x`, `y` and `series`.

    Args:
        kind: the name of a curve in `CURVES`.
        system: the system whose curve is drawn. Default: the curve's system with its default parameters.

    Returns:
        The curve's titles, and its points as a frame.

    Raises:
        ParameterError: the curve does not exist, or belongs to another system.
    """
    if kind not in CURVES:
        raise ParameterError(f"{kind!r} is not a curve. Choose one: {', '.join(CURVES)}.")
    chosen = CURVES[kind]
    instance = find(chosen.system)() if system is None else system
    if instance.name != chosen.system:
        raise ParameterError(
            f"{kind}: this curve belongs to {chosen.system}, not to {instance.name}. Leave out the system, or use"
            f" {chosen.system}."
        )
    return chosen, pl.DataFrame(chosen.points(instance), schema=["x", "y", "series"], orient="row")


def remoteness(system: Any) -> Points:
    """Return K for a pair of entrants by the number of places between them."""
    closeness = system.params().closeness
    return [(float(gap), system.k * agnesi(closeness * gap), "K") for gap in range(21)]


def provisional(system: Any) -> Points:
    """Return K for a newcomer and for an established opponent by the number of the newcomer's event."""
    params, newcomer = system.params(), system.newcomer()
    established = enter(params, newcomer._replace(events=1e6), PRESENT)
    points = []
    for event in range(1, system.provisional_events + 4):
        new = enter(params, newcomer._replace(events=event - 1.0), PRESENT)
        for_new, for_established = compare(params, new, established, entry(1.0), entry(2.0), Heat(2.0, TIME_TRIAL))
        side_by_side = agnesi(params.closeness)
        points.append((float(event), for_new.weight / side_by_side, "newcomer"))
        points.append((float(event), for_established.weight / side_by_side, "established opponent"))
    return points


def entry(place: float) -> Entry:
    return Entry(1.0, place, place, 60.0, 0.0, math.nan, math.nan, 0.0, 1.0)


def expected(system: Any) -> Points:
    """Return the expected score of Elo, of Folyami, and of the gamma model without the factor c."""
    shape = system.gamma_shape
    curves = {
        "Elo": (1, ALPHA),
        f"Folyami, shape {shape}": (shape, matched_slope(shape)),
        f"shape {shape} without c": (shape, ALPHA),
    }
    return [
        (float(gap), incomplete_beta(1.0 / (1.0 + math.exp(-slope * gap)), float(g)), name)
        for name, (g, slope) in curves.items()
        for gap in GAPS
    ]


def gamma_densities(system: Any) -> Points:
    """Return the distribution of performances for several ratings, where 0 is a perfect race."""
    shape = system.gamma_shape
    slope = matched_slope(shape)
    points = []
    for rating in (1200, 1350, 1500, 1650, 1800):
        rate = math.exp(slope * (rating - system.initial))
        for x in np.linspace(0.0, 3.0 * shape, 121):
            density = rate**shape * x ** (shape - 1) * math.exp(-rate * x) / math.gamma(shape)
            points.append((float(x), density, str(rating)))
    return points


def win_expectancy(system: Any) -> Points:
    """Return the probability of winning by the difference in rating."""
    params, even = system.params(), system.newcomer()
    points = []
    for gap in GAPS:
        a, b = (enter(params, entrant, PRESENT) for entrant in (even._replace(rating=even.rating + gap), even))
        points.append((float(gap), float(expect(params, a, b)), "win expectancy"))
    return points


def result_by_time(system: Any) -> Points:
    """Return a pair's result, which is the time difference in hundredths of the faster time."""
    return [(0.1 * k, lead(100.0, 100.0 + 0.1 * k), "the faster") for k in range(41)] + [
        (0.1 * k, lead(100.0 + 0.1 * k, 100.0), "the slower") for k in range(41)
    ]


def importance_by_time(system: Any) -> Points:
    """Return the points at stake for two newcomers by the length of a race."""
    params = system.params()
    me = enter(params, system.newcomer(), PRESENT)
    points = []
    for time_s in range(20, 701, 20):
        a, b = entry(1.0)._replace(time_s=float(time_s)), entry(2.0)._replace(time_s=float(time_s))
        for mode, name in ((TIME_TRIAL, "time trial"), (0.0, "other modes")):
            points.append((float(time_s), compare(params, me, me, a, b, Heat(2.0, mode))[0].weight, name))
    return points


CURVES = {
    "remoteness": Curve("folyami", "K by remoteness", "places apart", "points at stake", remoteness),
    "provisional": Curve("folyami", "K in a newcomer's events", "newcomer's event", "points at stake", provisional),
    "expected": Curve("folyami", "Expected scores", "rating difference", "expected score", expected),
    "gamma": Curve("folyami", "Performances by rating", "performance (0 is perfect)", "density", gamma_densities),
    "win-expectancy": Curve("trials", "Win expectancy", "rating difference", "chance to win", win_expectancy),
    "result": Curve("stk", "Result by time", "longer by % of the faster time", "result", result_by_time),
    "importance": Curve("stk", "Importance by time", "time of the slower, s", "points at stake", importance_by_time),
}
