"""The waterfall of a change: each part's bar begins where the one above ends.

Every number is in per cent of one scale, so that a bar stretches with its row; a line leads from bar to bar.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from markupsafe import Markup

LEFT, RIGHT = 3.0, 97.0  # per cent; room for the dots at the ends
MIDDLE = 50.0
THINNEST = 0.4  # per cent of a bar that can be seen


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a rating is, from left to right."""

    low: float
    high: float

    @classmethod
    def over(cls, ratings: Iterable[Decimal]) -> "Scale":
        """The scale that holds all of them."""
        values = [float(each) for each in ratings]
        return cls(min(values), max(values))

    def x(self, rating: Decimal) -> float:
        """The place of a rating, in per cent."""
        if self.high <= self.low:
            return MIDDLE
        return LEFT + (RIGHT - LEFT) * (float(rating) - self.low) / (self.high - self.low)


def percent(x: float) -> str:
    """A place or length as an attribute has it."""
    return f"{x:.2f}".rstrip("0").rstrip(".") + "%"


def bar(scale: Scale, start: Decimal, points: Decimal, *, opens: bool = False) -> Markup:
    """The bar of a part, and the lines from the row above and to the row below.

    Args:
        scale: of the waterfall.
        start: the running sum before the part.
        points: of the part.
        opens: whether rows of the part can stand below it, which begin where the bar does.
    """
    first, last = scale.x(start), scale.x(start + points)
    left, width = min(first, last), max(abs(last - first), THINNEST)
    kind = "up" if points > 0 else "down" if points < 0 else "none"
    below = Markup('<line x1="{0}" x2="{0}" y1="50%" y2="100%"/>')
    if opens:
        below = Markup('<line class="shut" x1="{0}" x2="{0}" y1="50%" y2="100%"/>')
        inner = Markup('<line class="opened" x1="{0}" x2="{0}" y1="50%" y2="100%"/>').format(percent(first))
    else:
        inner = Markup()
    return Markup(
        '<svg aria-hidden="true"><line x1="{0}" x2="{0}" y2="50%"/>{1}{2}'
        '<rect class="{3}" x="{4}" y="50%" width="{5}" height="20"/></svg>'
    ).format(percent(first), below.format(percent(last)), inner, kind, percent(left), percent(width))


def end(scale: Scale, rating: Decimal, text: str, *, is_first: bool) -> Markup:
    """A dot with the rating at the beginning or the end of the waterfall."""
    x = scale.x(rating)
    to_the_right = x < MIDDLE
    line = Markup('<line x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>').format(
        percent(x), *(("50%", "100%") if is_first else ("0", "50%"))
    )
    return Markup(
        '<svg aria-hidden="true">{0}<circle class="dot" cx="{1}" cy="50%" r="4.5"/>'
        '<text class="strong" x="{1}" y="50%" dx="{2}" dy="4" text-anchor="{3}">{4}</text></svg>'
    ).format(line, percent(x), *(("9", "start") if to_the_right else ("-9", "end")), text)
