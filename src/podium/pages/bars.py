"""Bars: of a change to its side, of a share, of two chances that make a whole, and of how ratings are spread."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from markupsafe import Markup

from podium.pages.axes import Plot, Scale, Step, across, number, percent, round_values, text
from podium.pages.numbers import Shape
from podium.support.words import shown

BAR = 12  # pixels high
HEIGHT = 196
MOST_ROWS = 4
MOST_COLUMNS = 6
MOST_NAME = 24
SPLIT_GAP = 0.004  # of the width, between two bars that make a whole


def signed_bar(value: float, low: float, high: float) -> Markup:
    """Draw a change from nothing to its side: losses to the left, gains to the right, all of a column on one scale."""
    scale = Scale(min(low, 0.0), max(high, 0.0))
    zero, end = scale.share(0.0) if scale.high > scale.low else 0.0, scale.share(value)
    left, width = min(zero, end), abs(end - zero)
    bar = Shape('<rect class="{}" x="{}" y="1" width="{}" height="10" rx="1.5"/>').format(
        "up" if value > 0.0 else "down", across(left), across(width)
    )
    line = Shape('<line class="grid" x1="{0}" x2="{0}" y2="12"/>').format(across(zero))
    return svg(BAR, (bar if value else Markup("")) + (line if scale.low < 0.0 else Markup("")))


def share_bar(share: float, css: str = "bar", within: float | None = None) -> Markup:
    """Draw a share of the width, from 0 to 1, and one that it is part of."""
    behind = Markup("")
    if within is not None:
        behind = Shape('<rect class="faint" y="1" width="{}" height="10" rx="1.5"/>').format(across(within))
    bar = Shape('<rect class="{}" y="1" width="{}" height="10" rx="1.5"/>').format(css, across(share))
    return svg(BAR, behind + bar)


def svg(height: int, content: Markup) -> Markup:
    """A drawing beside the numbers that it shows."""
    return Shape('<svg width="100%" height="{}" aria-hidden="true">{}</svg>').format(height, content)


def split_bar(share: float, label: str) -> Markup:
    """Draw two chances that make a whole, of which the first is a share from 0 to 1."""
    first = across(max(0.0, share - SPLIT_GAP / 2.0))
    second, width = across(min(1.0, share + SPLIT_GAP / 2.0)), across(max(0.0, 1.0 - share - SPLIT_GAP / 2.0))
    return Shape(
        '<svg width="100%" height="16" role="img" aria-label="{}"><rect class="bar" width="{}" height="16" rx="3"/>'
        '<rect class="bar b" x="{}" width="{}" height="16" rx="3"/></svg>'
    ).format(label, first, second, width)


def distribution_bars(
    counts: Sequence[tuple[float, int]], width: float, own: float | None, label: str, own_name: str = "you"
) -> Markup:
    """Draw how many players there are by rating."""
    if not counts:
        return Markup("")
    most = max(players for _, players in counts)
    rows = [Step(each, f"{each:g}") for each in round_values(0.0, float(most), MOST_ROWS) if each == int(each)]
    plot = Plot(Scale(counts[0][0], counts[-1][0] + width), Scale(0.0, float(most)), HEIGHT)
    steps = [
        Step(each, str(shown(each, 0 if width >= 1.0 else 1)))
        for each in round_values(plot.x.low, plot.x.high, MOST_COLUMNS)
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
            bars.append(text(plot.across(middle), y - 6.0, own_name[:MOST_NAME], plot.anchor(middle)))
    return plot.chart("img", label, plot.grid(rows, steps) + Markup("").join(bars))


LEFT, RIGHT = 3.0, 97.0  # per cent; room for the dots at the ends
MIDDLE = 50.0
THINNEST = 0.4  # per cent of a bar that can be seen


@dataclass(frozen=True, slots=True)
class StepScale:
    """Where a rating is, from left to right."""

    low: float
    high: float

    @classmethod
    def over(cls, ratings: Iterable[Decimal]) -> "StepScale":
        values = [float(each) for each in ratings]
        return cls(min(values), max(values))

    def x(self, rating: Decimal) -> float:
        """The place of a rating, in per cent."""
        if self.high <= self.low:
            return MIDDLE
        return LEFT + (RIGHT - LEFT) * (float(rating) - self.low) / (self.high - self.low)


def bar(scale: StepScale, start: Decimal, points: Decimal, *, opens: bool = False) -> Markup:
    """The bar of a part, and the lines from the row above and to the row below."""
    first, last = scale.x(start), scale.x(start + points)
    left, width = min(first, last), max(abs(last - first), THINNEST)
    kind = "up" if points > 0 else "down" if points < 0 else "none"
    below, inner = Shape('<line x1="{0}" x2="{0}" y1="50%" y2="100%"/>'), Markup()
    if opens:
        below = Shape('<line class="shut" x1="{0}" x2="{0}" y1="50%" y2="100%"/>')
        inner = Shape('<line class="opened" x1="{0}" x2="{0}" y1="50%" y2="100%"/>').format(percent(first))
    return Shape(
        '<svg aria-hidden="true"><line x1="{0}" x2="{0}" y2="50%"/>{1}{2}'
        '<rect class="{3}" x="{4}" y="50%" width="{5}" height="20"/></svg>'
    ).format(percent(first), below.format(percent(last)), inner, kind, percent(left), percent(width))


def end(scale: StepScale, rating: Decimal, text: str, *, is_first: bool) -> Markup:
    """A dot with the rating at the beginning or the end of the waterfall."""
    x = scale.x(rating)
    to_the_right = x < MIDDLE
    line = Shape('<line x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>').format(
        percent(x), *(("50%", "100%") if is_first else ("0", "50%"))
    )
    return Shape(
        '<svg aria-hidden="true">{0}<circle class="dot" cx="{1}" cy="50%" r="4.5"/>'
        '<text class="strong" x="{1}" y="50%" dx="{2}" dy="4" text-anchor="{3}">{4}</text></svg>'
    ).format(line, percent(x), *(("9", "start") if to_the_right else ("-9", "end")), text)


MOST_SQUARES = {"desk": 60, "phone": 40}  # beyond, squares would touch
FEW, FEW_WIDTH = 8, 26  # so few squares have a width of their own, in pixels
TOP, MARK_HEIGHT = 14, 18
GAP = 0.11  # of the width of a square, on each side
MARK_MIDDLE = 0.5


def duel_marks(count: int, won: float, expected: float, label: str) -> Markup:
    """The strip; nothing where there are no duels."""
    if not count:
        return Markup()
    if count <= MOST_SQUARES["phone"]:
        return strip(count, won, expected, label, "duels", with_squares=True)
    if count > MOST_SQUARES["desk"]:
        return strip(count, won, expected, label, "duels", with_squares=False)
    wide = strip(count, won, expected, label, "duels desk", with_squares=True)
    return wide + strip(count, won, expected, label, "duels phone", with_squares=False)


def strip(count: int, won: float, expected: float, label: str, name: str, *, with_squares: bool) -> Markup:
    """One form of the strip."""
    few = count <= FEW
    width = f"{count * FEW_WIDTH}" if few else "100%"
    x = f"{expected * FEW_WIDTH:.1f}" if few else f"{100 * expected / count:.2f}%"
    to_the_left = expected > MARK_MIDDLE * count and not few
    shapes = squares(count, won) if with_squares else halves_of_bar(count, won)
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


def squares(count: int, won: float) -> Markup:
    """Filled ones, at most one that is filled in part, and outlined ones."""
    whole = int(won)
    share = won - whole
    filled = "".join(square(k, 1.0) for k in range(whole)) + (square(whole, share) if share else "")
    outlined = "".join(square(k, 1.0) for k in range(whole, count))
    return paths(filled, outlined)


def square(k: int, share: float) -> str:
    """The outline of one square, or of its left part."""
    width = (1 - 2 * GAP) * share
    return f"M{k + GAP:.2f} 0h{width:.2f}v1h-{width:.2f}z"


def halves_of_bar(count: int, won: float) -> Markup:
    """A bar: filled as far as duels were won."""
    return paths(f"M0 0H{won:.2f}V1H0z" if won else "", f"M{won:.2f} 0H{count}V1H{won:.2f}z" if won < count else "")


def paths(filled: str, outlined: str) -> Markup:
    shapes = (("won", filled), ("lost", outlined))
    return Markup().join(Shape('<path class="{}" d="{}"/>').format(kind, shape) for kind, shape in shapes if shape)
