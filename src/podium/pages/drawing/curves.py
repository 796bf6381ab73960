"""Three pictures of how ratings work: what they promise, how far a duel moves, and whether promises come true."""

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from markupsafe import Markup

from podium.pages.drawing.axes import Plot, Scale, Step, across, number, round_values, text
from podium.support.rounding import shown, signed

HEIGHT = 196
PER_CENT = tuple(Step(k / 4.0, f"{25 * k} %") for k in range(5))
MOST_ROWS = 5
ROUND_NUMBERS = 2, 5, 10, 20, 50, 100, 200, 500, 1000  # of events
DOTS = 3.0, 7.0  # radius of the dot of few duels, and of the most
FIRST_LABEL = 0.35  # of the width, that the label of the first step takes
LABEL_FROM, LABEL_TO = 0.5, 0.88  # of the width, where labels of two lines stand


class Reliability(Protocol):
    """Duels in which about the same score was promised."""

    @property
    def expected(self) -> float:
        """The mean of what was promised."""

    @property
    def observed(self) -> float:
        """The mean of what happened."""

    @property
    def lowest(self) -> float:
        """The lower end of the 95 % interval of what happened."""

    @property
    def highest(self) -> float:
        """The upper end of it."""

    @property
    def duels(self) -> int:
        """How many there are."""


def promise_curve(points: Sequence[tuple[float, float]], marked: Mapping[float, str], label: str) -> Markup:
    """Draw the expected score by the lead in points."""
    if len(points) < 2:  # noqa: PLR2004  (a line)
        return Markup("")
    plot = Plot(Scale(points[0][0], points[-1][0]), Scale(0.0, 1.0), HEIGHT, top=8)
    steps = [Step(each, "equal" if not each else signed(shown(each, 0))) for each in halves(points)]
    dots = [
        dot(plot, x, y, 4.0) + text(plot.across(x), plot.down(y) - 10.0, marked[x], "end")
        for x, y in points
        if x in marked
    ]
    line = plot.drawn(Markup('<path class="line" d="{}"/>').format(plot.path(points)))
    return plot.chart("img", label, plot.grid(PER_CENT, steps) + line + Markup("").join(dots))


def halves(points: Sequence[tuple[float, float]]) -> list[float]:
    """The ends, the middle and what is between, where the scale is symmetrical."""
    low, high = points[0][0], points[-1][0]
    return [low, low / 2.0, 0.0, high / 2.0, high] if low == -high else [low, high]


def weights_curve(points: Sequence[tuple[int, float]], marked: Mapping[int, str], label: str) -> Markup:
    """Draw how far a duel moves a player, by the number of the event."""
    if len(points) < 2:  # noqa: PLR2004  (a line)
        return Markup("")
    top = max(points for _, points in points)
    rows = [Step(each, f"{each:g}") for each in round_values(0.0, 1.05 * top or 1.0, MOST_ROWS)]
    first, last = points[0][0], points[-1][0]
    low, high = math.log(first), math.log(last)  # the first events move most, and need the room
    room = 0.04 * (high - low)
    plot = Plot(Scale(low - room, high + room), Scale(0.0, max(1.05 * top, rows[-1].value)), HEIGHT, top=8)
    numbers = (each for each in ROUND_NUMBERS if first < each <= last)
    steps = [Step(low, f"event {first}"), *(Step(math.log(each), f"{each}") for each in numbers)]
    steps = [each for each in steps if each.value == low or plot.x.share(each.value) > FIRST_LABEL]
    marks = []
    for number_of_event, y in points:
        x = math.log(number_of_event)
        marks.append(dot(plot, x, y, 4.0))
        if number_of_event in marked:
            side = ("middle", 0, -12.0)
            if number_of_event == first:  # beside a line that falls, below one that rises
                side = ("start", 0, 20.0) if points[1][1] > y else ("start", 10, 4.0)
            marks.append(
                Markup('<text class="strong" x="{}" dx="{}" y="{}" text-anchor="{}">{}</text>').format(
                    plot.across(x), side[1], number(plot.down(y) + side[2]), side[0], marked[number_of_event]
                )
            )
    line = plot.drawn(Markup('<path class="line" d="{}"/>').format(plot.path([(math.log(x), y) for x, y in points])))
    return plot.chart("img", label, plot.grid(rows, steps) + line + Markup("").join(marks))


def reliability_curve(bins: Sequence[Reliability], label: str) -> Markup:
    """Draw what happened by what was promised: dots as large as their duels are many, each with its 95 % interval."""
    if len(bins) < 2:  # noqa: PLR2004  (a line)
        return Markup("")
    plot = Plot(Scale(0.0, 1.0), Scale(0.0, 1.0), HEIGHT, top=8)
    most = max(each.duels for each in bins)
    marks = []
    for each in bins:
        radius = DOTS[0] + (DOTS[1] - DOTS[0]) * math.sqrt(each.duels / most)
        x = plot.across(each.expected)
        marks.append(
            Markup('<line class="line" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>').format(
                x, number(plot.down(each.lowest)), number(plot.down(each.highest))
            )
        )
        marks.append(dot(plot, each.expected, each.observed, radius))
    right = [each for each in bins if each.expected > LABEL_FROM] or list(bins)
    last = right[-1]
    if last.observed > last.expected:
        happened = min(plot.down(each.highest) for each in right) - 8.0
        promised = plot.down(LABEL_FROM) + 22.0
    else:
        happened = max(plot.down(each.lowest) for each in right) + 16.0
        promised = plot.down(LABEL_TO) - 14.0
    marks.append(text(across(LABEL_TO), promised, "what was promised", "end"))
    marks.append(text(across(1.0), max(10.0, happened), "what happened", "end"))
    lines = Markup('<path class="line q" d="{}"/><path class="line" d="{}"/>').format(
        plot.path([(0.0, 0.0), (1.0, 1.0)]), plot.path([(each.expected, each.observed) for each in bins])
    )
    return plot.chart("img", label, plot.grid(PER_CENT, PER_CENT) + plot.drawn(lines) + Markup("").join(marks))


def dot(plot: Plot, x: float, y: float, radius: float) -> Markup:
    """A mark at a point."""
    return Markup('<circle class="dot" cx="{}" cy="{}" r="{}"/>').format(
        plot.across(x), number(plot.down(y)), number(radius)
    )
