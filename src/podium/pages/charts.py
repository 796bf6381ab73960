"""Charts with axes: ratings of one or two players over time, with dots that link to reasons, and curves of rules."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

import numpy as np
from markupsafe import Markup

from podium.ledger.pair_predictions import ReliabilityBin
from podium.pages.drawing import Plot, Scale, Step, across, dates, number, round_values, text
from podium.pages.numbers import SIGMAS, Shape, percent, shortened
from podium.support.immutable import immutable
from podium.support.words import shown, signed

HEIGHT = 256
MAX_DOTS, MAX_LABELS = 44, 4  # number of links, and of links with a label
MAX_ROWS = 4
MARGIN = 0.08  # share of the span of ratings to add at the top and bottom
MAX_NAME = 24  # maximum number of characters of a name next to its line
ABOVE, BELOW = -9.0, 20.0  # distance in pixels from a point to its label
MIN_DOWN = 10.0  # minimum distance, in pixels, from the top of a drawing to the bottom of a label
LETTER_WIDTH = 0.024  # width of a letter of a label as a share of the width of a chart on a phone
LABEL_HEIGHT, LABEL_STEP = 14.0, 4  # in pixels: height of a label, and distance between its possible places
SAMPLES = 40  # number of samples of a line along a label
MAX_STEPS = 6  # maximum distance of a cause from its point
BAND_SHARES = -1.0, -0.7, -0.4, 0.4, 0.7, 1.0  # lines in a band that leave no space for a label


@immutable
class HistoryPoint:
    """A player's rating after an event."""

    at: datetime | float  # start of the event, or its number if the results have no dates
    rating: float
    deviation: float | None = None
    href: str | None = None  # link to the reasons for the change
    label: str = ""  # description of the link
    cause: str = ""  # words next to the point
    is_season: bool = False  # True for the start of a season

    def edge(self, share: float) -> float:
        """Return the edge of the band above the rating for 1, below it for -1, and a rating in between for less."""
        return self.rating + share * SIGMAS * (self.deviation or 0.0)


@immutable
class HistoryLine:
    """The ratings of one player, oldest first."""

    player: str
    points: Sequence[HistoryPoint]

    @property
    def banded(self) -> list[HistoryPoint]:
        """The points with a band: those with a deviation of at most twice the newest."""
        known = [point for point in self.points if point.deviation is not None]
        return [point for point in known if (point.deviation or 0.0) <= 2.0 * (known[-1].deviation or 0.0)]

    @property
    def best(self) -> HistoryPoint:
        """The highest of the points with a band or, without any band, of all points."""
        return max(self.banded or self.points, key=lambda point: point.rating)


def history_chart(
    lines: Sequence[HistoryLine],
    label: str,
    *,
    digits: int,
    height: int = HEIGHT,
    hindsight: Sequence[HistoryPoint] = (),
) -> Markup:
    """Draw ratings with bands: of one player with links, causes and dashed hindsight, or of two players."""
    lines = [line for line in lines if line.points]
    if not lines:
        return Markup("")
    drawn = [*lines, HistoryLine("", hindsight)] if len(hindsight) > 1 else lines
    every = [point for line in drawn for point in line.points]
    plot = Plot(Scale.over(place(point.at) for point in every), rating_span(drawn), height)
    marked = round_values(plot.y.low, plot.y.high, MAX_ROWS)
    fitting = (k for k in range(4) if all(abs(round(mark, k) - mark) < 1e-9 for mark in marked))  # noqa: PLR2004
    decimals = next(fitting, 4)  # enough decimals to tell the values apart
    rows = [Step(value, str(shown(value, decimals))) for value in marked]
    pictures = [paths(plot, line, css) for line, css in zip(drawn, ("", " b"), strict=False)]
    content = [plot.grid(rows, columns(plot, every)), plot.view_box(Markup("").join(reversed(pictures)))]
    if len(lines) == 1:
        content += [season_rules(plot, lines[0].points), dots(plot, lines[0]), marks(plot, lines[0], digits)]
    else:
        content.append(names(plot, lines))
    role = "group" if any(point.href for point in every) else "img"
    return plot.chart(role, label, Markup("").join(content))


def place(at: datetime | float) -> float:
    """Return the position of a point on the horizontal axis: seconds since 1970, or the event's number."""
    return at.timestamp() if isinstance(at, datetime) else float(at)


def rating_span(lines: Sequence[HistoryLine]) -> Scale:
    """Return the span of the ratings and bands, with a margin."""
    values = [point.rating for line in lines for point in line.points]
    values += [point.edge(side) for line in lines for point in line.banded for side in (-1, 1)]
    low, high = min(values), max(values)
    margin = MARGIN * (high - low) or max(1.0, 0.01 * abs(high))
    return Scale(low - margin, high + margin)


def columns(plot: Plot, points: Sequence[HistoryPoint]) -> list[Step]:
    moments = [point.at for point in points if isinstance(point.at, datetime)]
    if moments:
        return dates(min(moments), max(moments))
    numbers = round_values(plot.x.low, plot.x.high, MAX_ROWS)
    return [Step(number, f"event {number:.0f}") for number in numbers if number == int(number)]


def paths(plot: Plot, line: HistoryLine, css: str) -> Markup:
    """Return the band of uncertainty with the line on it."""
    band, known = Markup(""), line.banded
    if len(known) > 1:
        outline = [
            (place(point.at), point.edge(side)) for side, points in ((1, known), (-1, known[::-1])) for point in points
        ]
        band = Shape('<path class="band{}" d="{}Z"/>').format(css, plot.path(outline))
    path = plot.path([(place(point.at), point.rating) for point in line.points])
    return band + Shape('<path class="line{}" d="{}"/>').format(css, path)


def dots(plot: Plot, line: HistoryLine) -> Markup:
    """Return links to reasons: all of them or, if there are many, an even selection with the labelled points.

    A phone has only the links of labelled points.
    """
    linked = [point for point in line.points if point.href]
    every = -(-len(linked) // (MAX_DOTS - MAX_LABELS)) or 1
    parts = []
    for k, point in enumerate(linked[::-1]):
        is_labelled = k == 0 or point.cause or point is line.best
        if k % every == 0 or is_labelled:
            parts.append(
                Shape('<a href="{}" aria-label="{}"{}><circle class="dot" cx="{}" cy="{}" r="4"/></a>').format(
                    point.href,
                    point.label,
                    Markup("") if is_labelled else Markup(' class="desk"'),
                    plot.across(place(point.at)),
                    number(plot.down(point.rating)),
                )
            )
    return Markup("").join(reversed(parts))


def marks(plot: Plot, line: HistoryLine, digits: int) -> Markup:
    """Return labels for the newest rating, to the right of its dot, and for the highest rating and the causes."""
    best, newest = line.best, line.points[-1]
    label = Shape('<text class="strong last" x="{}" y="{}" dx="9">{}</text>').format(
        plot.across(place(newest.at)), number(plot.down(newest.rating) + 4.0), shown(newest.rating, digits - 1)
    )
    labels = [(point, point.cause, "") for point in line.points[::-1] if point.cause]
    if best is not newest:
        labels.insert(0, (best, f"highest {shown(best.rating, digits - 1)}", ""))
    return label + placed(plot, [line], labels)


def season_rules(plot: Plot, points: Sequence[HistoryPoint]) -> Markup:
    """Return a vertical line at the beginning of each season."""
    rule = Shape(
        '<line class="grid" x1="{0}" x2="{0}" y2="{1}"/>'
        '<text x="{0}" y="{2}" dx="-4" text-anchor="end">new season</text>'
    )
    starts = [point for point in points if point.is_season]
    return Markup("").join(rule.format(plot.across(place(point.at)), plot.height, plot.height - 6) for point in starts)


def names(plot: Plot, lines: Sequence[HistoryLine]) -> Markup:
    """Return both names in the colours of their lines, at the ends of the lines and outside the bands."""
    bands = [
        HistoryLine(
            "",
            [replace(point, rating=point.edge(share)) for point in line.banded],
        )
        for line in lines
        for share in BAND_SHARES
    ]
    labels = [
        (line.points[-1], shortened(line.player, MAX_NAME), css)
        for line, css in zip(lines, (" own", " b"), strict=True)
    ]
    return placed(plot, [*lines, *bands], sorted(labels, key=lambda label: -label[0].rating))


def placed(plot: Plot, lines: Sequence[HistoryLine], labels: Sequence[tuple[HistoryPoint, str, str]]) -> Markup:
    """Return labels, each as close to its point as possible without touching a line or another label.

    A label starts, ends or is centred at its point, and does not cross the start of a season.
    """
    drawn: list[Markup] = []
    seasons = [plot.x.share(place(point.at)) for line in lines for point in line.points if point.is_season]
    # space that labels occupy: horizontal start and end, and vertical position
    taken: list[tuple[float, float, float]] = []
    for point, words, css in labels:
        x, down, width = plot.x.share(place(point.at)), plot.down(point.rating), LETTER_WIDTH * len(words)
        anchors = ("middle", x - width / 2.0), ("start", x), ("end", x - width)
        free: list[tuple[float, float, float, str]] = []  # distance from the point, position, start and anchor
        for anchor, start in [each for each in anchors if 0.0 <= each[1] <= 1.0 - width]:
            end = start + width
            free.append((plot.height, MIN_DOWN, start, anchor))  # if no other place is free
            if any(start < season < end for season in seasons):
                continue
            beside = [height for line in lines for height in heights(plot, line, start, end)]
            beside += [y for since, until, y in taken if since < end and start < until]
            spots = (
                (step, y, start, anchor)
                for step in range(plot.height // LABEL_STEP)
                for y in (down + ABOVE - step * LABEL_STEP, down + BELOW + step * LABEL_STEP)
                if MIN_DOWN <= y <= plot.height - 4
                and not any(y - LABEL_HEIGHT <= height <= y + 3 for height in beside)
            )
            free += islice(spots, 1)  # the nearest
        steps, y, start, anchor = min(free, key=lambda spot: spot[0])
        if words == point.cause and steps > MAX_STEPS:
            continue  # it would seem to belong to another point
        taken += [(start, start + width, y - k * LABEL_HEIGHT / 2) for k in range(3)]
        drawn.append(text(plot.across(place(point.at)), y, words, anchor, css))
    return Markup("").join(drawn)


def heights(plot: Plot, line: HistoryLine, start: float, end: float) -> list[float]:
    """Return the vertical positions of a line between two positions, which are shares of the width."""
    if not line.points:
        return []
    across = [plot.x.share(place(point.at)) for point in line.points]
    down = [plot.down(point.rating) for point in line.points]
    shares = [share for share in np.linspace(start, end, SAMPLES).tolist() if across[0] <= share <= across[-1]]
    points = [y for x, y in zip(across, down, strict=True) if start <= x <= end]
    points.extend(np.interp(shares, across, down).tolist())
    return points


CURVE_HEIGHT = 196
PER_CENT = tuple(Step(k / 4.0, percent(k / 4.0)) for k in range(5))
CURVE_ROWS = 5
ROUND_NUMBERS = 2, 5, 10, 20, 50, 100, 200, 500, 1000  # event numbers that get a label
DOTS = 3.0, 7.0  # radius of the dots for the fewest and the most duels
FIRST_LABEL = 0.35  # share of the width for the first step's label
LABEL_FROM, LABEL_TO = 0.5, 0.88  # share of the width at which the two lines have their labels


def expected_curve(points: Sequence[tuple[float, float]], marked: Mapping[float, str], label: str) -> Markup:
    """Draw expected scores by lead. There must be at least two leads."""
    low, high = points[0][0], points[-1][0]
    plot = Plot(Scale(low, high), Scale(0.0, 1.0), CURVE_HEIGHT, top=8)
    marks = [low, low / 2.0, 0.0, high / 2.0, high] if low == -high else [low, high]
    steps = [Step(mark, "equal" if not mark else signed(shown(mark, 0))) for mark in marks]
    dots = [
        dot(plot, x, y, 4.0) + text(plot.across(x), plot.down(y) - 10.0, marked[x], "end")
        for x, y in points
        if x in marked
    ]
    line = plot.view_box(Shape('<path class="line" d="{}"/>').format(plot.path(points)))
    return plot.chart("img", label, plot.grid(PER_CENT, steps) + line + Markup("").join(dots))


def weights_curve(points: Sequence[tuple[int, float]], marked: Mapping[int, str], label: str) -> Markup:
    """Draw the effect of a duel by the number of the event. There must be at least two events."""
    top = max(points for _, points in points)
    rows = [Step(value, f"{value:g}") for value in round_values(0.0, 1.05 * top or 1.0, CURVE_ROWS)]
    first, last = points[0][0], points[-1][0]
    low, high = math.log(first), math.log(last)  # the first events move ratings most, so they need the space
    room = 0.04 * (high - low)
    plot = Plot(Scale(low - room, high + room), Scale(0.0, max(1.05 * top, rows[-1].value)), CURVE_HEIGHT, top=8)
    numbers = (number for number in ROUND_NUMBERS if first < number <= last)
    steps = [Step(low, f"event {first}"), *(Step(math.log(number), f"{number}") for number in numbers)]
    steps = [step for step in steps if step.value == low or plot.x.share(step.value) > FIRST_LABEL]
    marks = []
    for number_of_event, y in points:
        x = math.log(number_of_event)
        marks.append(dot(plot, x, y, 4.0))
        if number_of_event in marked:
            side = ("middle", 0, -12.0)
            if number_of_event == first:  # next to a falling line, or below a rising one
                side = ("start", 0, 20.0) if points[1][1] > y else ("start", 10, 4.0)
            marks.append(
                Shape('<text class="strong" x="{}" dx="{}" y="{}" text-anchor="{}">{}</text>').format(
                    plot.across(x), side[1], number(plot.down(y) + side[2]), side[0], marked[number_of_event]
                )
            )
    line = plot.view_box(Shape('<path class="line" d="{}"/>').format(plot.path([(math.log(x), y) for x, y in points])))
    return plot.chart("img", label, plot.grid(rows, steps) + line + Markup("").join(marks))


def reliability_curve(bins: Sequence[ReliabilityBin], label: str) -> Markup:
    """Draw observed scores by expected score. There must be at least two bins.

    A dot's size shows its number of duels. The line through it shows its 95 % interval.
    """
    plot = Plot(Scale(0.0, 1.0), Scale(0.0, 1.0), CURVE_HEIGHT, top=8)
    most = max(bin_.duels for bin_ in bins)
    marks = []
    for bin_ in bins:
        radius = DOTS[0] + (DOTS[1] - DOTS[0]) * math.sqrt(bin_.duels / most)
        x = plot.across(bin_.expected)
        marks.append(
            Shape('<line class="line" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>').format(
                x, number(plot.down(bin_.lowest)), number(plot.down(bin_.highest))
            )
        )
        marks.append(dot(plot, bin_.expected, bin_.observed, radius))
    right = [bin_ for bin_ in bins if bin_.expected > LABEL_FROM] or list(bins)
    last = right[-1]
    if last.observed > last.expected:
        happened = min(plot.down(bin_.highest) for bin_ in right) - 8.0
        expected_label = plot.down(LABEL_FROM) + 22.0
    else:
        happened = max(plot.down(bin_.lowest) for bin_ in right) + 16.0
        expected_label = plot.down(LABEL_TO) - 14.0
    marks.append(text(across(LABEL_TO), expected_label, "what was expected", "end"))
    marks.append(text(across(1.0), max(10.0, happened), "what happened", "end"))
    lines = Shape('<path class="line q" d="{}"/><path class="line" d="{}"/>').format(
        plot.path([(0.0, 0.0), (1.0, 1.0)]), plot.path([(bin_.expected, bin_.observed) for bin_ in bins])
    )
    return plot.chart("img", label, plot.grid(PER_CENT, PER_CENT) + plot.view_box(lines) + Markup("").join(marks))


def dot(plot: Plot, x: float, y: float, radius: float) -> Markup:
    return Shape('<circle class="dot" cx="{}" cy="{}" r="{}"/>').format(
        plot.across(x), number(plot.down(y)), number(radius)
    )
