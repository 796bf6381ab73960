"""The basis of charts: scales, round steps and a labelled grid, and lines, bars and squares without a grid.

A chart is an `<svg>` without a view box. Horizontal positions are percentages and vertical positions are pixels. Thus
the chart stretches with its column, but its text does not. Only paths are in an inner view box, which can be distorted.
"""

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from markupsafe import Markup

from podium.pages.numbers import Shape
from podium.support.immutable import immutable
from podium.support.words import shown

WIDE = 1000.0  # width of the inner view box
FOOT = 20  # pixels below the plot for the labels of the steps
MAX_STEPS = 10
MAX_LETTERS = 24  # maximum number of letters in adjacent labels on a phone
ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
YEAR_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MONTH_STEPS = (1, 2, 3, 6)
DAY_STEPS = (1, 2, 7, 14)
HOUR_STEPS = (1, 2, 3, 6, 12)
BAR, BARS_HEIGHT = 12, 196  # in pixels: height of a single bar, and of the distribution of ratings
MAX_ROWS = 4
MAX_COLUMNS = 6
SPLIT_GAP = 0.004  # share of the width between two bars that form a whole


@immutable
class Scale:
    """A scale from a lowest value to a highest value."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float | Decimal]) -> "Scale":
        numbers = [float(value) for value in values]
        return cls(min(numbers), max(numbers))

    def share(self, value: float) -> float:
        """Return 0 for the lowest value and 1 for the highest. If both are equal, return 0.5."""
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5


@immutable
class Step:
    """A labelled position on a scale."""

    value: float
    label: str


def number(value: float) -> str:
    """Return a number as text for a drawing, with at most one decimal."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def percent(x: float) -> str:
    """Return a position or length as the value of an attribute."""
    return f"{x:.2f}".rstrip("0").rstrip(".") + "%"


def across(share: float) -> str:
    """Return a share of the width as a position."""
    return percent(100.0 * share)


def round_values(low: float, high: float, most: int) -> list[float]:
    """Return up to `most` round numbers, evenly spaced, between two values."""
    if not high > low:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for factor in ROUND_STEPS:
        step = factor * power
        first, last = math.ceil(low / step), math.floor(high / step)
        if last - first < most:
            break
    return [round(k * step, 10) for k in range(first, last + 1)]


def dates(since: datetime, until: datetime) -> list[Step]:
    """Return round times between two times, as seconds since 1970: years, months, days or hours of the first zone."""
    until = until.astimezone(since.tzinfo)
    span, day, hour = until - since, timedelta(days=1), timedelta(hours=1)
    if span > 60 * day:
        months = 12 * since.year + since.month - 1, 12 * until.year + until.month - 1
        if span > 1000 * day:
            step = 12 * next(years for years in YEAR_STEPS if (until.year - since.year) / years < MAX_STEPS)
        else:
            step = next(count for count in (*MONTH_STEPS, 12) if (months[1] - months[0]) / count < MAX_STEPS - 2)
        numbers = range(-(-months[0] // step) * step, months[1] + 1, step)
        moments = [datetime(m // 12, m % 12 + 1, 1, tzinfo=since.tzinfo) for m in numbers]
        labels = [f"{moment.year}" if span > 1000 * day else f"{moment:%b %Y}" for moment in moments]
    else:
        of_days, of_hours = (day, span.days, (*DAY_STEPS, 31)), (hour, span / hour, (*HOUR_STEPS, 24))
        unit, units, steps = of_days if span > 2 * day else of_hours
        step = next(length for length in steps if units / length < MAX_STEPS - 2)
        midnight = since.replace(hour=0, minute=0, second=0, microsecond=0)
        moments = [midnight + k * unit for k in range(0, (until - midnight) // unit + 1, step)]
        labels = [f"{moment.day} {moment:%b}" + ("" if unit == day else f", {moment:%H:%M}") for moment in moments]
    marked = zip(moments, labels, strict=True)
    return [Step(moment.timestamp(), label) for moment, label in marked if since <= moment <= until]


@immutable
class Plot:
    """The plot of a chart: its two scales, and its height without the labels below."""

    x: Scale
    y: Scale
    height: int
    top: int = 20  # pixels above the highest value, reserved for a label

    def across(self, value: float) -> str:
        """Return the horizontal position of a value as a percentage."""
        return across(self.x.share(value))

    def down(self, value: float) -> float:
        """Return the vertical position of a value in pixels."""
        return self.top + (1.0 - self.y.share(value)) * (self.height - self.top)

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        """Return the path through these points, in the inner view box."""
        places = (f"{WIDE * self.x.share(x):.0f} {number(self.down(y))}" for x, y in points)
        return "M" + "L".join(places)

    def grid(self, rows: Sequence[Step], columns: Sequence[Step]) -> Markup:
        """Return horizontal lines with labels on the left, and the labels below.

        Half of the labels below are only for wide screens.
        """
        lines = [
            Shape(
                '<line class="grid" x2="100%" y1="{0}" y2="{0}"/><text x="-8" y="{1}" text-anchor="end">{2}</text>'
            ).format(number(self.down(row.value)), number(self.down(row.value) + 4.0), row.label)
            for row in rows
        ]
        few = len(columns) <= MAX_STEPS // 2 and sum(len(column.label) for column in columns) <= MAX_LETTERS
        for k, column in enumerate(columns):
            hidden = Markup("") if few or k % 2 == 0 else Markup(' class="desk"')
            lines.append(
                Shape('<text x="{}" y="{}" text-anchor="{}"{}>{}</text>').format(
                    self.across(column.value), self.height + FOOT - 4, self.anchor(column.value), hidden, column.label
                )
            )
        return Markup("").join(lines)

    def anchor(self, value: float) -> str:
        """Return the text anchor with which a label at a value stays inside the chart."""
        share = self.x.share(value)
        return "start" if share < 0.06 else "end" if share > 0.94 else "middle"  # noqa: PLR2004  (about half a label)

    def view_box(self, paths: Markup) -> Markup:
        """Return these paths in the inner view box."""
        return Shape(
            '<svg width="100%" height="{0}" viewBox="0 0 1000 {0}" preserveAspectRatio="none">{1}</svg>'
        ).format(self.height, paths)

    def chart(self, role: str, label: str, content: Markup) -> Markup:
        return Shape('<svg class="chart" height="{}" role="{}" aria-label="{}">{}</svg>').format(
            self.height + FOOT, role, label, content
        )


def text(x: str, y: float, words: str, anchor: str = "middle", css: str = "") -> Markup:
    return Shape('<text class="strong{}" x="{}" y="{}" text-anchor="{}">{}</text>').format(
        css, x, number(y), anchor, words
    )


WIDTH, HEIGHT, MARGIN = 96, 24, 3


def spark(points: Sequence[float]) -> Markup:
    """Return a line with a dot at its end, or nothing if there are fewer than two points."""
    if len(points) < 2:  # noqa: PLR2004  (a line)
        return Markup()
    bottom, top = min(points), max(points)
    scale = (HEIGHT - 2 * MARGIN) / (top - bottom) if top > bottom else 0.0
    heights = [round(HEIGHT - MARGIN - (point - bottom) * scale) if scale else HEIGHT // 2 for point in points]
    across = [round(WIDTH * k / (len(points) - 1)) for k in range(len(points))]
    places = [f"{x} {y}" for x, y in zip(across, heights, strict=True)]
    return Shape(
        '<svg class="spark" viewBox="0 0 96 24" aria-hidden="true">'
        '<path d="M{}"/><circle cx="96" cy="{}" r="2.5"/></svg>'
    ).format("L".join(places), heights[-1])


def signed_bar(value: float, low: float, high: float) -> Markup:
    """Draw a change as a bar from zero, with losses to the left and gains to the right, on a common scale."""
    scale = Scale(min(low, 0.0), max(high, 0.0))
    zero, end = scale.share(0.0) if scale.high > scale.low else 0.0, scale.share(value)
    left, width = min(zero, end), abs(end - zero)
    bar = Shape('<rect class="{}" x="{}" y="1" width="{}" height="10" rx="1.5"/>').format(
        "up" if value > 0.0 else "down", across(left), across(width)
    )
    line = Shape('<line class="grid" x1="{0}" x2="{0}" y2="12"/>').format(across(zero))
    return svg(BAR, (bar if value else Markup("")) + (line if scale.low < 0.0 else Markup("")))


def share_bar(share: float, css: str = "bar", within: float | None = None) -> Markup:
    """Draw a share of the width, from 0 to 1, inside a larger share that contains it."""
    behind = Markup("")
    if within is not None:
        behind = Shape('<rect class="faint" y="1" width="{}" height="10" rx="1.5"/>').format(across(within))
    bar = Shape('<rect class="{}" y="1" width="{}" height="10" rx="1.5"/>').format(css, across(share))
    return svg(BAR, behind + bar)


def svg(height: int, content: Markup) -> Markup:
    """Return a drawing that appears next to the numbers that it shows."""
    return Shape('<svg width="100%" height="{}" aria-hidden="true">{}</svg>').format(height, content)


def split_bar(share: float, label: str, between: float = 0.0) -> Markup:
    """Draw two probabilities, given the first one and the probability `between` them, which stays empty."""
    first, start = across(max(0.0, share - SPLIT_GAP / 2.0)), share + between
    second, width = across(min(1.0, start + SPLIT_GAP / 2.0)), across(max(0.0, 1.0 - start - SPLIT_GAP / 2.0))
    return Shape(
        '<svg width="100%" height="16" role="img" aria-label="{}"><rect class="bar" width="{}" height="16" rx="3"/>'
        '<rect class="bar b" x="{}" width="{}" height="16" rx="3"/></svg>'
    ).format(label, first, second, width)


def distribution_bars(counts: Sequence[tuple[float, int]], width: float, own: float | None, label: str) -> Markup:
    """Draw the number of players for each range of ratings."""
    if not counts:
        return Markup("")
    most = max(players for _, players in counts)
    rows = [Step(count, f"{count:g}") for count in round_values(0.0, float(most), MAX_ROWS) if count == int(count)]
    plot = Plot(Scale(counts[0][0], counts[-1][0] + width), Scale(0.0, float(most)), BARS_HEIGHT)
    steps = [
        Step(value, str(shown(value, 0 if width >= 1.0 else 1)))
        for value in round_values(plot.x.low, plot.x.high, MAX_COLUMNS)
    ]
    bars, wide = [], across(0.9 * width / (plot.x.high - plot.x.low))
    shape = Shape('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>')
    for low, players in counts:
        is_own = own is not None and low <= own < low + width
        y = plot.down(players)
        css = "bar" if is_own else "bar b"
        bars.append(shape.format(css, plot.across(low), number(y), wide, number(plot.height - y)))
        if is_own:
            middle = low + width / 2.0
            bars.append(text(plot.across(middle), y - 6.0, "you", plot.anchor(middle)))
    return plot.chart("img", label, plot.grid(rows, steps) + Markup("").join(bars))


LEFT, RIGHT = 3.0, 97.0  # percentage; leaves space for the dots at the ends
MIDDLE = 50.0
THINNEST = 0.4  # percentage; width of the thinnest visible bar


def inset(scale: Scale, rating: Decimal) -> float:
    """Return the position of a rating within a waterfall as a percentage."""
    return LEFT + (RIGHT - LEFT) * scale.share(float(rating))


def bar(scale: Scale, start: Decimal, points: Decimal, *, opens: bool = False) -> Markup:
    """Return the bar for a part of a change, with lines from the row above and to the row below.

    The style sheet gives the lines, which have no width here, their size.
    """
    first, last = inset(scale, start), inset(scale, start + points)
    left, width = (f"{number(x)}%" for x in (min(first, last), max(abs(last - first), THINNEST)))
    start_x, end_x = f"{number(first)}%", f"{number(last)}%"
    kind = "up" if points > 0 else "down" if points < 0 else "none"
    below, opened = "shut" if opens else "to", Markup()
    if opens:
        opened = Shape('<rect class="opened" x="{}"/>').format(start_x)
    return Shape(
        '<svg role="none"><rect x="{}"/><rect class="{}" x="{}"/>{}<rect class="{}" x="{}" width="{}"/></svg>'
    ).format(start_x, below, end_x, opened, kind, left, width)


def end(scale: Scale, rating: Decimal, text: str, *, is_first: bool) -> Markup:
    """Return the dot and the rating at the start or end of a waterfall."""
    x = inset(scale, rating)
    to_the_right = x < MIDDLE
    return Shape(
        '<svg aria-hidden="true"><rect{0} x="{1}"/><circle class="dot" cx="{1}" cy="50%" r="4.5"/>'
        '<text class="strong" x="{1}" y="50%" dx="{2}" dy="4" text-anchor="{3}">{4}</text></svg>'
    ).format(
        Markup(' class="to"') if is_first else "",
        percent(x),
        *(("9", "start") if to_the_right else ("-9", "end")),
        text,
    )


MAX_SQUARES = {"desk": 60, "phone": 40}  # with more, the squares would touch
FIXED_SQUARES, FIXED_WIDTH = 8, 26  # up to this many squares have a fixed width, in pixels
TOP, MARK_HEIGHT = 14, 18
GAP = 0.1  # share of a square's width on each side
MARK_MIDDLE = 0.5


def duel_marks(count: int, won: float, expected: float, label: str) -> Markup:
    """Return the strip of squares for duels, or nothing if there are no duels."""
    if not count:
        return Markup()
    if count <= MAX_SQUARES["phone"]:
        return strip(count, won, expected, label, "duels", with_squares=True)
    if count > MAX_SQUARES["desk"]:
        return strip(count, won, expected, label, "duels", with_squares=False)
    wide = strip(count, won, expected, label, "duels desk", with_squares=True)
    return wide + strip(count, won, expected, label, "duels phone", with_squares=False)


def strip(count: int, won: float, expected: float, label: str, name: str, *, with_squares: bool) -> Markup:
    few = count <= FIXED_SQUARES
    width = f"{count * FIXED_WIDTH}" if few else "100%"
    x = f"{expected * FIXED_WIDTH:.1f}" if few else f"{100 * expected / count:.2f}%"
    to_the_left = expected > MARK_MIDDLE * count and not few
    if with_squares:  # squares for wins are filled; at most one is filled partly
        filled = "".join(square(k, min(1.0, won - k)) for k in range(count) if k < won)
        outlined = "".join(square(k, 1.0) for k in range(int(won), count))
    else:
        filled = f"M0 0H{won:.2f}V1H0z" if won else ""
        outlined = f"M{won:.2f} 0H{count}V1H{won:.2f}z" if won < count else ""
    outlines = (("won", filled), ("lost", outlined))
    shapes = Markup().join(Shape('<path class="{}" d="{}"/>').format(kind, path) for kind, path in outlines if path)
    return Shape(
        '<svg class="{name}" role="img" aria-label="{label}">'
        '<svg y="{top}" width="{width}" height="{height}" viewBox="0 0 {count} 1" preserveAspectRatio="none">'
        "{shapes}</svg>"
        '<line class="mark" x1="{x}" x2="{x}" y1="2" y2="36"/>'
        '<text class="strong" x="{x}" y="10" dx="{dx}" text-anchor="{anchor}">expected {expected}</text></svg>'
    ).format(
        name=name,
        label=label,
        top=TOP,
        width=width,
        height=MARK_HEIGHT,
        count=count,
        shapes=shapes,
        x=x,
        dx="-6" if to_the_left else "6",
        anchor="end" if to_the_left else "start",
        expected=f"{expected:.1f}",
    )


def square(k: int, share: float) -> str:
    """Return the outline of a square, or of the left part of one."""
    width = f"{(1 - 2 * GAP) * share:.2g}".removeprefix("0")
    return f"M{k + GAP:g} 0h{width}v1h-{width}z"
