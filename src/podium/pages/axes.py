"""What charts stand on: scales, round steps of numbers and of dates, and a grid with its labels; and a line alone.

A chart is an `<svg>` without a view box: places across are per cent and places down are pixels, so that it stretches
with its column while its text keeps the size of the page's. Only paths stand in an inner view box, which may distort.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from podium.pages.numbers import Shape

WIDE = 1000.0  # of the inner view box, across
FOOT = 20  # pixels below the plot, where the labels of the steps stand
MOST_STEPS = 10
MOST_LETTERS = 24  # of labels beside each other on a phone
ROUND_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
YEAR_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
MONTH_STEPS = (1, 2, 3, 6)
DAY_STEPS = (1, 2, 7, 14)
HOUR_STEPS = (1, 2, 3, 6, 12)
LAST_YEAR = 9999  # that a date can have


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a value stands between a lowest and a highest one."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """0 at the lowest value, 1 at the highest; in the middle where they are one."""
        return (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """A place on a scale that has a label."""

    value: float
    label: str


def number(value: float) -> str:
    """A number of a drawing: at most one decimal."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def percent(x: float) -> str:
    """A place or length as an attribute has it."""
    return f"{x:.2f}".rstrip("0").rstrip(".") + "%"


def across(share: float) -> str:
    """A share of the width."""
    return percent(100.0 * share)


def round_values(low: float, high: float, most: int) -> list[float]:
    """Round numbers between two, evenly apart: at most so many."""
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
    """Round moments between two, as seconds since 1970 in UTC: years, months, days or hours."""
    since, until = since.astimezone(UTC), until.astimezone(UTC)
    span = until - since
    if span > timedelta(days=1000):
        step = next(each for each in YEAR_STEPS if (until.year - since.year) / each < MOST_STEPS)
        years = range(-(-since.year // step) * step, min(until.year, LAST_YEAR) + 1, step)
        return [labelled(each, f"{each.year}") for each in within((year(y) for y in years), since, until)]
    if span > timedelta(days=60):
        months = 12 * since.year + since.month - 1, 12 * until.year + until.month - 1
        step = next(each for each in (*MONTH_STEPS, 12) if (months[1] - months[0]) / each < MOST_STEPS - 2)
        numbers = range(-(-months[0] // step) * step, months[1] + 1, step)
        moments = (datetime(m // 12, m % 12 + 1, 1, tzinfo=UTC) for m in numbers)
        return [labelled(each, f"{each:%b %Y}") for each in within(moments, since, until)]
    if span > timedelta(days=2):
        step = next(each for each in (*DAY_STEPS, 31) if span.days / each < MOST_STEPS - 2)
        midnight = since.replace(hour=0, minute=0, second=0, microsecond=0)
        moments = (midnight + timedelta(days=k) for k in range(0, span.days + 2, step))
        return [labelled(each, f"{each.day} {each:%b}") for each in within(moments, since, until)]
    hours = span.total_seconds() / 3600.0
    step = next(each for each in (*HOUR_STEPS, 24) if hours / each < MOST_STEPS - 2)
    midnight = since.replace(hour=0, minute=0, second=0, microsecond=0)
    moments = (midnight + timedelta(hours=k) for k in range(0, 24 * 4, step))
    return [labelled(each, f"{each.day} {each:%b}, {each:%H:%M}") for each in within(moments, since, until)]


def year(number: int) -> datetime:
    """The first moment of a year."""
    return datetime(number, 1, 1, tzinfo=UTC)


def labelled(moment: datetime, label: str) -> Step:
    return Step(moment.timestamp(), label)


def within(moments: Iterable[datetime], since: datetime, until: datetime) -> list[datetime]:
    """The moments of a span."""
    return [each for each in moments if since <= each <= until]


@dataclass(frozen=True, slots=True)
class Plot:
    """The inside of a chart: a scale each way, and its height without the labels below it."""

    x: Scale
    y: Scale
    height: int
    top: int = 20  # pixels above the highest value, for the label of a mark

    def across(self, value: float) -> str:
        """The place of a value across, in per cent."""
        return across(self.x.share(value))

    def down(self, value: float) -> float:
        """The place of a value down, in pixels."""
        return self.top + (1.0 - self.y.share(value)) * (self.height - self.top)

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        """The outline through points, in the inner view box."""
        places = (f"{WIDE * self.x.share(x):.0f} {number(self.down(y))}" for x, y in points)
        return "M" + "L".join(places)

    def grid(self, rows: Sequence[Step], columns: Sequence[Step]) -> Markup:
        """Lines across with their labels on the left, and labels below: every second one on wide screens only."""
        lines = [
            Shape(
                '<line class="grid" x2="100%" y1="{0}" y2="{0}"/><text x="-8" y="{1}" text-anchor="end">{2}</text>'
            ).format(number(self.down(each.value)), number(self.down(each.value) + 4.0), each.label)
            for each in rows
        ]
        few = len(columns) <= MOST_STEPS // 2 and sum(len(each.label) for each in columns) <= MOST_LETTERS
        for k, each in enumerate(columns):
            hidden = Markup("") if few or k % 2 == 0 else Markup(' class="desk"')
            lines.append(
                Shape('<text x="{}" y="{}" text-anchor="{}"{}>{}</text>').format(
                    self.across(each.value), self.height + FOOT - 4, self.anchor(each.value), hidden, each.label
                )
            )
        return Markup("").join(lines)

    def anchor(self, value: float) -> str:
        """Which end of a label stands at a value, so that it stays inside."""
        share = self.x.share(value)
        return "start" if share < 0.06 else "end" if share > 0.94 else "middle"  # noqa: PLR2004  (about half a label)

    def drawn(self, paths: Markup) -> Markup:
        """Paths in the inner view box."""
        return Shape(
            '<svg width="100%" height="{0}" viewBox="0 0 1000 {0}" preserveAspectRatio="none">{1}</svg>'
        ).format(self.height, paths)

    def chart(self, role: str, label: str, content: Markup) -> Markup:
        return Shape('<svg class="chart" height="{}" role="{}" aria-label="{}">{}</svg>').format(
            self.height + FOOT, role, label, content
        )


def text(x: str, y: float, words: str, anchor: str = "middle") -> Markup:
    return Shape('<text class="strong" x="{}" y="{}" text-anchor="{}">{}</text>').format(x, number(y), anchor, words)


WIDTH, HEIGHT, MARGIN = 96, 24, 3


def spark(points: Sequence[float], low: float | None = None, high: float | None = None) -> Markup:
    """The line, with a dot at its end; nothing for fewer than two points."""
    if len(points) < 2:  # noqa: PLR2004  (a line)
        return Markup()
    bottom, top = min(points) if low is None else low, max(points) if high is None else high
    scale = (HEIGHT - 2 * MARGIN) / (top - bottom) if top > bottom else 0.0
    heights = [round(HEIGHT - MARGIN - (each - bottom) * scale) if scale else HEIGHT // 2 for each in points]
    across = [round(WIDTH * k / (len(points) - 1)) for k in range(len(points))]
    places = [f"{x} {y}" for x, y in zip(across, heights, strict=True)]
    return Shape(
        '<svg class="spark" viewBox="0 0 96 24" aria-hidden="true">'
        '<path d="M{}"/><circle cx="96" cy="{}" r="2.5"/></svg>'
    ).format("L".join(places), heights[-1])
