"""Draw charts by name, from rated results, results or a system. This needs the `charts` extra."""

import html
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from podium.analysis.audit import audit
from podium.analysis.evaluation import evaluate
from podium.engine.system import System
from podium.errors import ParameterError, PodiumError, UnknownError, needs_extra
from podium.ledger.reasons import Explanation
from podium.pages.numbers import change, day_words, rating
from podium.pages.share_picture import CardRow, card_words, draw_png, poster, result_card, standings_card
from podium.rated import Rated
from podium.rating import rate
from podium.reporting.histories import (
    CURVES,
    MAIN,
    NARROW_LEGEND_COLUMNS,
    NARROW_WIDTH,
    QUIET,
    SECOND,
    WIDTH,
    altair,
    canvas,
    colour,
    configuration,
    curve,
    dashes,
    established_rows,
    learnt_curves,
    legend_columns,
    line_legend,
    rating_histories,
    whole_numbers,
)
from podium.results.columns import DEFAULTS
from podium.support.part_files import part_file
from podium.support.words import capitalised, counted, listed, ordinal_number, shown_change, suggestion
from podium.systems import make_system


def distribution(ratings: pl.DataFrame, title: str) -> Any:
    """Chart the number of players by rating, with provisional players shown separately."""
    alt = altair()
    kind = pl.when(pl.col("provisional")).then(pl.lit("provisional")).otherwise(pl.lit("established"))
    bars = canvas(ratings.select("rating", kind=kind), title).mark_bar()
    rating = alt.X("rating:Q", bin=alt.Bin(maxbins=40), title="rating", axis=alt.Axis(format=",d", labelOverlap=True))
    players = alt.Y("count()", title="players", axis=whole_numbers())
    scale = alt.Scale(domain=["established", "provisional"], range=[MAIN, SECOND])
    return bars.encode(x=rating, y=players, color=alt.Color("kind:N", title="", scale=scale))


def calibration(reliability: pl.DataFrame, title: str) -> Any:
    """Chart expected results against actual results. If every expectation is right, the points lie on the diagonal."""
    alt = altair()
    ends = pl.DataFrame({"expected": [0.0, 1.0], "actual": [0.0, 1.0]})
    diagonal = canvas(ends, title).mark_line(strokeDash=[4, 4], color=QUIET)
    tenths = alt.Axis(format="%", values=[0.0, 0.2, 0.4, 0.6, 0.8, 1.0], labelFlush=True)
    x = alt.X("expected:Q", title="expected score", scale=alt.Scale(domain=[0, 1]), axis=tenths)
    y = alt.Y("actual:Q", title="mean result", scale=alt.Scale(domain=[0, 1]), axis=tenths)
    marks = canvas(reliability.select("system", "expected", "actual", "pairs"), title)
    names = reliability["system"].unique(maintain_order=True).to_list()
    legend = line_legend() if len(names) > 1 else None
    shade = colour("system", names, legend=legend)
    size = alt.Size("pairs:Q", title="pairs", legend=None)
    dash = alt.StrokeDash("system:N", title="", scale=dashes(names), legend=legend)
    lines = marks.mark_line(point=False).encode(x=x, y=y, color=shade, strokeDash=dash)
    return diagonal.encode(x=x, y=y) + lines + marks.mark_point(filled=True).encode(x=x, y=y, color=shade, size=size)


def circulation(months: pl.DataFrame, title: str) -> Any:
    """Chart the points gained and lost per month (newcomers separately), and the ratings of each month's players."""
    alt = altair()
    starts = months.select("month", points="introduced_starts")
    flows = months.select(
        "month", pl.col("introduced_base_points").alias("base points"), "created", leaked=-pl.col("leaked")
    ).unpivot(index="month", variable_name="flow", value_name="points")
    levels = months.select("month", "mean", "median", pl.col("top_10").alias("top 10")).unpivot(
        index="month", variable_name="level", value_name="rating"
    )
    month = alt.X("month:O", title="", axis=alt.Axis(labelOverlap=True, labelAngle=0))
    points = alt.Y("points:Q", title="points", axis=alt.Axis(format=",~f", labelOverlap=True))
    newcomers = canvas(starts, f"{title}: newcomers' starts").mark_bar(color=MAIN).encode(x=month, y=points)
    flow = colour("flow", ["base points", "created", "leaked"])
    others = canvas(flows, "Points from elsewhere, and points lost").mark_bar().encode(x=month, y=points, color=flow)
    rating = alt.Y("rating:Q", title="ratings of active players", scale=alt.Scale(zero=False))
    level = colour("level", ["mean", "median", "top 10"])
    lines = canvas(levels, "Ratings of those who played").mark_line(point=months.height < 3)  # noqa: PLR2004
    panels = (newcomers.properties(height=120), others, lines.encode(x=month, y=rating, color=level))
    return alt.vconcat(*panels).resolve_scale(color="independent")


def race_strengths(strengths: pl.DataFrame, title: str) -> Any:
    """Chart the strength of each event, on a logarithmic scale."""
    alt = altair()
    dated = strengths.height and not strengths["started_at"].null_count()
    rows = strengths.filter(pl.col("strength").is_finite()).select(
        "event_id", "pool", "strength", when="started_at" if dated else pl.int_range(1, pl.len() + 1)
    )
    when = alt.X("when:T", title="") if dated else alt.X("when:Q", title="event", axis=whole_numbers())
    y = alt.Y("strength:Q", title="strength", scale=alt.Scale(type="log"))
    pools = rows["pool"].unique(maintain_order=True).to_list()
    legend = alt.Legend() if len(pools) > 1 else None
    shade = colour("pool", pools, legend=legend)
    return canvas(rows, title).mark_circle().encode(x=when, y=y, color=shade)


def waits_and_spreads(runs: pl.DataFrame, title: str) -> Any:
    """Chart, for each run, the 95th percentile of waits against the median spread of ratings."""
    alt = altair()
    label = (
        pl.when(pl.col("target_s").is_null())
        .then("kind")
        .otherwise(pl.format("{} s", pl.col("target_s").round().cast(pl.Int64)))
    )
    crowd = pl.col("players").cast(pl.String).fill_null("as they came")
    rows = runs.select("wait_p95", "spread_median", "kind", crowd=crowd, label=label).drop_nulls("spread_median")
    x, y = alt.X("wait_p95:Q", title="95% wait at most, s"), alt.Y("spread_median:Q", title="median spread, points")
    crowds = rows["crowd"].unique(maintain_order=True).to_list()
    shade = colour("crowd", crowds, title="population")
    marks = canvas(rows, title).mark_point(filled=True, size=90).encode(x=x, y=y, color=shade, shape="kind:N")
    return marks + canvas(rows, "").mark_text(align="left", dx=8).encode(x=x, y=y, text="label:N")


def published_curve(kind: str, system: System | None) -> Any:
    """Chart a curve of a published system, as described in `podium.reporting.histories`."""
    alt = altair()
    description, points = curve(kind, system)
    x = alt.X("x:Q", title=description.x)
    names = points["series"].unique(maintain_order=True).to_list()
    shade = colour("series", names) if len(names) > 1 else alt.value(MAIN)
    dash = alt.StrokeDash("series:N", legend=None, sort=names) if len(names) > 1 else alt.value([1, 0])
    return (
        canvas(points, description.title)
        .mark_line()
        .encode(x=x, y=alt.Y("y:Q", title=description.y), color=shade, strokeDash=dash)
    )


SUFFIXES = (".png", ".svg", ".html")
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1d1b2e; --page: #fff; font-family: system-ui, sans-serif }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #eceaf4; --page: #17161f }} }}
body {{ margin: 1rem; color: var(--ink); background: var(--page) }}
svg {{ display: block; max-width: 100%; height: auto }}
.narrow {{ display: none }}
@media (max-width: 50rem) {{ .wide {{ display: none }} .narrow {{ display: block }} }}
</style>
<div class="wide">{wide}</div>
<div class="narrow">{narrow}</div>
</html>
"""


class ChartError(PodiumError):
    """A chart cannot be drawn or written."""


def as_svg(chart: Any, *, inline: bool = False, narrow: bool = False) -> str:
    with needs_extra("charts", "a chart"):
        import vl_convert  # noqa: PLC0415  (an extra, and large)
    svg: str = vl_convert.vegalite_to_svg(specification(chart, inline=inline, narrow=narrow))
    return svg


def as_page(chart: Any, title: str) -> str:
    """Return a page with the chart for wide and narrow screens, in light and dark colours."""
    wide, narrow = (as_svg(chart, inline=True, narrow=narrow) for narrow in (False, True))
    return PAGE.format(title=html.escape(title), wide=wide, narrow=narrow)


def specification(chart: Any, *, inline: bool, narrow: bool) -> dict[str, Any]:
    """Return the chart as a Vega-Lite document that includes its style."""
    document: dict[str, Any] = chart.to_dict(validate=False)  # validation would take longer than drawing
    document["config"] = configuration(inline=inline)
    width, columns = (NARROW_WIDTH, [NARROW_LEGEND_COLUMNS]) if narrow else (WIDTH, [])
    columns += [fitting for names in coloured_names(document) if (fitting := legend_columns(names, width)) is not None]
    if narrow:
        narrow_plots(document)
    if columns:
        document["config"]["legend"]["columns"] = min(columns)
    return document


def parts_of(document: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in a document, except objects in its data."""
    if isinstance(document, dict):
        yield document
        document = [value for name, value in document.items() if name not in ("data", "datasets")]
    if isinstance(document, list):
        for item in document:
            yield from parts_of(item)


def coloured_names(document: dict[str, Any]) -> Iterator[list[str]]:
    """Yield the names in each of a document's colour scales."""
    for part in parts_of(document):
        match part:
            case {"color": {"scale": {"domain": [*names]}}}:
                yield [str(name) for name in names]


def narrow_plots(document: dict[str, Any]) -> None:
    """Limit the width of every plot in a document to the width of a phone's screen."""
    for part in parts_of(document):
        if part.get("width") == WIDTH:
            part["width"] = NARROW_WIDTH
        if "columns" in part:  # the panels are side by side
            part["columns"] = 1


def check_path(path: Path) -> Path:
    """Check that a chart can be written to a path, and return the path."""
    if path.suffix not in SUFFIXES:
        raise ChartError(
            f"{path}: charts cannot be written in this format. Use a name that ends in "
            f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}."
        )
    if not path.resolve().parent.is_dir():
        raise ChartError(f"{path}: the folder {path.parent} does not exist. Create it, or choose another folder.")
    return path


def save(chart: Any, path: Path) -> None:
    """Write a chart or card to a .png, .svg or .html file. An .html file also works offline."""
    check_path(path)
    if isinstance(chart, Markup):
        content = draw_png(chart) if path.suffix == ".png" else chart.encode()
    elif path.suffix == ".png":
        content = draw_png(poster(Markup(as_svg(chart))))  # noqa: S704  (our drawing)
    else:
        text = as_svg(chart) if path.suffix == ".svg" else as_page(chart, path.stem)
        content = text.encode()
    with part_file(path, ChartError) as part:
        part.write_bytes(content)


SHOWN_PLAYERS = 8
FROM_RESULTS = ("histories", "distribution", "calibration", "circulation", "parameters", "card", "result-card")


def plot(
    kind: str,
    results: Any = None,
    system: str | System | None = None,
    *,
    pool: str | None = None,
    players: Sequence[str] | None = None,
    period: str = "event",
    out: str | Path | None = None,
    hindsight: bool = False,
) -> Any:
    """Draw a chart.

    Args:
        kind: `histories`, `distribution`, `calibration`, `circulation`, `parameters` (values that a system has
            learnt), or `card` or `result-card` (pictures of the leaderboard and of the newest event to post) for
            results, or the name of a curve of a published system.
        results: the result of `podium.rate`, or anything that `podium.rate` accepts. Curves do not need results.
        system: the system with which to rate results, or the system whose curve to draw. Default: elo for results.
        pool: the pool for histories, the distribution or the parameters. Default: the pool with the most events.
        players: the players in `histories`. Default: the leaders.
        period: the rating period.
        out: the file for the chart (.svg, .png or .html).
        hindsight: True to also draw ratings in hindsight, as dashed lines with bands of two deviations.

    Returns:
        The chart, as an Altair object that notebooks can display.

    Raises:
        ParameterError: the chart does not exist, it needs results, or the system has no hindsight.
        UnknownError: the pool or a player does not exist.
        MissingExtraError: the `charts` extra is not installed.
        ChartError: the file cannot be written.
    """
    if out is not None:
        check_path(Path(out))
    if hindsight and kind != "histories":
        raise ParameterError(
            f"hindsight: only histories can show it, not {kind}. Omit this option, or choose the chart kind histories."
        )
    if kind in CURVES:
        chart = published_curve(kind, None if system is None else make_system(system))
    elif kind not in FROM_RESULTS:
        kinds = (*FROM_RESULTS, *CURVES)
        raise ParameterError(f"{kind!r} is not a chart (charts: {', '.join(kinds)}){suggestion(kind, kinds)}")
    elif results is None:
        raise ParameterError(f"{kind}: this chart needs results. Specify them after the chart kind.")
    else:
        rated = results if isinstance(results, Rated) else rate(results, system or "elo", period=period)
        chart = draw(kind, rated, pool, players, hindsight=hindsight)
    if out is not None:
        save(chart, Path(out))
    return chart


TREND_EVENTS = 16  # number of a player's latest ratings in a trend


def card_of_pool(rated: Rated, pool: str, title: str) -> Markup:
    """Return the first places of a pool's leaderboard, with the changes of the newest event, as SVG."""
    board, digits = rated.leaderboard(pool=pool), rated.system.digits
    event_id, day, changes, explanation = newest_event(rated, pool)
    points = {player: shown_change(before, after, digits) for player, before, after in changes}
    every = changes_of(rated, pool).group_by("player", maintain_order=True).agg(pl.col("rating").tail(TREND_EVENTS))
    trends = dict(every.iter_rows())
    rows = [
        CardRow(
            ordinal_number(rank), player, float(points.get(player, 0.0)),
            change(points[player], digits) if player in points else "", rating(value, digits - 1),
            trend=trends.get(player, ()),
        )
        for rank, player, value in board.select("rank", "player", "rating").iter_rows()
    ]  # fmt: skip
    headline, _ = card_words(won_by(explanation), explanation)
    cause = f"{event_id}: {headline}"
    return standings_card(f"{title} · {counted(len(rows), 'player')}{day}", rows, cause=cause)


def won_by(explanation: Explanation) -> str:
    winners = explanation.winners
    return f"{listed(winners)} won." if winners else "Nobody won."


def card_of_event(rated: Rated, pool: str, title: str) -> Markup:
    """Return the result of a pool's newest event, with each player's change and new rating, as SVG."""
    digits = rated.system.digits
    event_id, day, changes, explanation = newest_event(rated, pool)
    places, points = explanation.places, [shown_change(before, after, digits) for _, before, after in changes]
    rows = [
        CardRow(
            ordinal_number(places[player]) if player in places else "\N{EN DASH}",
            player, float(gain), change(gain, digits), rating(after, digits - 1),
        )
        for (player, _, after), gain in zip(changes, points, strict=True)
    ]  # fmt: skip
    rows.sort(key=lambda row: places.get(row.name, len(changes) + 1))
    headline, cause = card_words(won_by(explanation), explanation)
    return result_card(f"{title} · {event_id}{day}", headline, rows, "", cause=cause)


def newest_event(rated: Rated, pool: str) -> tuple[str, str, list[tuple[str, float, float]], Explanation]:
    """Return a pool's newest event: ID, date, each player's ratings before and after, and the largest gain's reasons.

    The date begins with a dot, and is empty if unknown.
    """
    history = changes_of(rated, pool)
    event_id, moment = history.select("event_id", "started_at").row(-1)
    changes = history.filter(pl.col("event_id") == event_id).select("player", "rating_before", "rating").rows()
    best, _, _ = max(changes, key=lambda row: row[2] - row[1])
    return event_id, "" if moment is None else f" · {day_words(moment)}", changes, rated.explain(event_id, best)


def changes_of(rated: Rated, pool: str) -> pl.DataFrame:
    return rated.history.filter(pl.col("pool") == pool)


CARDS = {"card": card_of_pool, "result-card": card_of_event}


def draw(kind: str, rated: Rated, pool: str | None, players: Sequence[str] | None, *, hindsight: bool) -> Any:
    if kind == "calibration":
        return calibration(evaluate(rated.results, rated.system, period=rated.period).reliability, rated.system.title)
    if kind == "circulation":
        return circulation(audit(rated).months, rated.system.title)
    shown = rated.pool(pool)
    title = rated.system.title if shown == DEFAULTS["pool"] else f"{capitalised(shown)}, {rated.system.title}"
    if kind in CARDS:
        return CARDS[kind](rated, shown, title)
    if kind == "parameters":
        return learnt_curves(rated.learnt(pool=shown), rated.system, title)
    if kind == "distribution":
        return distribution(rated.ratings.filter(pl.col("pool") == shown), title)
    history = changes_of(rated, shown)
    unknown = sorted(set(players or []) - set(history["player"]))
    if unknown:
        hint = suggestion(unknown[0], history["player"].unique().to_list())
        raise UnknownError(f"player {unknown[0]!r} is not in pool {shown}{hint}")
    board = rated.leaderboard(pool=shown)
    shown_players = list(players or board["player"].head(SHOWN_PLAYERS))
    known = rated.hindsight().frame.filter(pl.col("pool") == shown) if hindsight else None
    rows = history.filter(pl.col("player").is_in(shown_players))
    is_later = "deviation" in history.columns and not hindsight
    span = span_words(established_rows(rows) if is_later else rows)
    subtitle = f"{title}: {len(shown_players)} of {counted(history['player'].n_unique(), 'player')}{span}"
    if is_later:
        subtitle += ", from the sixth event of each player"
    finding = leader_words(board.filter(pl.col("player").is_in(shown_players)), rated.system.digits - 1)
    return rating_histories(history, shown_players, finding or title, subtitle, known)


def leader_words(board: pl.DataFrame, digits: int) -> str:
    """Return the rating of the first player on a leaderboard and the distance to the second, or nothing if empty."""
    best = board.select("rank", "player", "rating").head(2).rows()
    if not best:
        return ""
    rank, player, value = best[0]
    words = f"{player} {'leads with' if rank == 1 else 'has'} {rating(value, digits)}"
    for _, other, lower in best[1:]:
        ahead = shown_change(lower, value, digits)
        if ahead > 0:
            words += f", {ahead} point{'' if ahead == 1 else 's'} ahead of {other}"
    return words


def span_words(history: pl.DataFrame) -> str:
    """Return the months of the first and the last event, such as ", Jan to Dec 2025", or nothing without dates."""
    first, last = history["started_at"].min(), history["started_at"].max()
    if not isinstance(first, datetime) or not isinstance(last, datetime):
        return ""
    begin = f"{first:%b}" if first.year == last.year else f"{first:%b %Y}"
    return f", {last:%b %Y}" if begin == f"{last:%b}" else f", {begin} to {last:%b %Y}"
