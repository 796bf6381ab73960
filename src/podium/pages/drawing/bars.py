"""Bars: of a change to its side, of a share, of two chances that make a whole, and of how ratings are spread."""

from collections.abc import Sequence

from markupsafe import Markup

from podium.pages.drawing.axes import Plot, Scale, Step, across, number, round_values, text
from podium.support.rounding import shown

BAR = 12  # pixels high
HEIGHT = 196
MOST_ROWS = 4
MOST_COLUMNS = 6
MOST_NAME = 24
SPLIT_GAP = 0.004  # of the width, between two bars that make a whole


def signed_bar(value: float, low: float, high: float) -> Markup:
    """Draw a change from nothing to its side: losses to the left, gains to the right, all of a column on one scale.

    Args:
        value: the change.
        low: the largest loss of the column.
        high: its largest gain.

    Returns:
        An `<svg>` as wide as its cell.
    """
    scale = Scale(min(low, 0.0), max(high, 0.0))
    zero, end = scale.share(0.0) if scale.high > scale.low else 0.0, scale.share(value)
    left, width = min(zero, end), abs(end - zero)
    bar = Markup('<rect class="{}" x="{}" y="1" width="{}" height="10" rx="1.5"/>').format(
        "up" if value > 0.0 else "down", across(left), across(width)
    )
    line = (
        Markup('<line class="grid" x1="{0}" x2="{0}" y2="12"/>').format(across(zero)) if scale.low < 0.0 else Markup("")
    )
    return svg(BAR, (bar if value else Markup("")) + line)


def share_bar(share: float, css: str = "bar", within: float | None = None) -> Markup:
    """Draw a share of the width, and one that it is part of.

    Args:
        share: from 0 to 1.
        css: the class of its colour.
        within: a larger share, drawn behind it.

    Returns:
        An `<svg>` as wide as its cell.
    """
    behind = Markup("")
    if within is not None:
        behind = Markup('<rect class="faint" y="1" width="{}" height="10" rx="1.5"/>').format(across(within))
    bar = Markup('<rect class="{}" y="1" width="{}" height="10" rx="1.5"/>').format(css, across(share))
    return svg(BAR, behind + bar)


def svg(height: int, content: Markup) -> Markup:
    """A drawing beside the numbers that it shows."""
    return Markup('<svg width="100%" height="{}" aria-hidden="true">{}</svg>').format(height, content)


def split_bar(share: float, label: str) -> Markup:
    """Draw two chances that make a whole.

    Args:
        share: of the first, from 0 to 1.
        label: both chances, in words.

    Returns:
        An `<svg>` as wide as its column.
    """
    first = across(max(0.0, share - SPLIT_GAP / 2.0))
    second, width = across(min(1.0, share + SPLIT_GAP / 2.0)), across(max(0.0, 1.0 - share - SPLIT_GAP / 2.0))
    return Markup(
        '<svg width="100%" height="16" role="img" aria-label="{}"><rect class="bar" width="{}" height="16" rx="3"/>'
        '<rect class="bar b" x="{}" width="{}" height="16" rx="3"/></svg>'
    ).format(label, first, second, width)


def distribution_bars(
    counts: Sequence[tuple[float, int]], width: float, own: float | None, label: str, own_name: str = "you"
) -> Markup:
    """Draw how many players there are by rating.

    Args:
        counts: the lowest rating of each bar with its players, lowest first.
        width: of a bar, in points.
        own: a rating whose bar stands out; none where None.
        label: what the picture shows, in a sentence.
        own_name: what stands over that bar.

    Returns:
        An `<svg>`; nothing without counts.
    """
    if not counts:
        return Markup("")
    most = max(players for _, players in counts)
    rows = [Step(each, f"{each:g}") for each in round_values(0.0, float(most), MOST_ROWS) if each == int(each)]
    plot = Plot(Scale(counts[0][0], counts[-1][0] + width), Scale(0.0, float(most)), HEIGHT)
    steps = [
        Step(each, str(shown(each, 0 if width >= 1.0 else 1)))
        for each in round_values(plot.x.low, plot.x.high, MOST_COLUMNS)
    ]
    bars = []
    for low, players in counts:
        is_own = own is not None and low <= own < low + width
        y = plot.down(players)
        bars.append(
            Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
                "bar" if is_own else "bar b",
                plot.across(low),
                number(y),
                across(0.9 * width / (plot.x.high - plot.x.low)),
                number(plot.height - y),
            )
        )
        if is_own:
            middle = low + width / 2.0
            bars.append(text(plot.across(middle), y - 6.0, own_name[:MOST_NAME], plot.anchor(middle)))
    return plot.chart("img", label, plot.grid(rows, steps) + Markup("").join(bars))
