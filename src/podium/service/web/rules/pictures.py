"""Three pictures of how ratings of a pool work, each with what it says in a sentence or two."""

from markupsafe import Markup

from podium.pages.careers import Picture, reliability_picture
from podium.pages.drawing.curves import promise_curve, weights_curve
from podium.pages.numbers import rating
from podium.service.web.rendering import PoolFrame
from podium.store.insights.fact_models import PoolFacts, PromisePoint
from podium.support.rounding import shown

LATER_EVENT = 10
LESS = 0.9  # of a first event, from which on a later one moves clearly less


def pictures(frame: PoolFrame, facts: PoolFacts) -> tuple[Picture, ...]:
    """The pictures that there is enough to draw of."""
    found = (promise(frame, facts), weights(frame, facts), reliability_picture(facts.reliability))
    return tuple(each for each in found if each.drawing)


def promise(frame: PoolFrame, facts: PoolFacts) -> Picture:
    """What ratings promise, by how far one is ahead."""
    points = [(each.gap, each.expected) for each in facts.promise]
    marked = [nearest(facts.promise, share) for share in (0.5, 0.76, 0.91)]
    labels = {each.gap: f"{100 * each.expected:.0f} %" for each in marked}
    leads = [
        f"{rating(each.gap, frame.digits - 1)} points above wins {100 * each.expected:.0f} of 100"
        for each in marked[1:]
    ]
    caption = f"The chance to win a duel, by how far one is rated above or below: {', '.join(leads)}."
    return Picture("Before the start, ratings make a promise", promise_curve(points, labels, caption), caption)


def nearest(points: tuple[PromisePoint, ...], share: float) -> PromisePoint:
    """The point whose promise is nearest to a share."""
    return min(points, key=lambda each: abs(each.expected - share))


def weights(frame: PoolFrame, facts: PoolFacts) -> Picture:
    """How far a duel moves a rating, by how often one has played."""
    points = [(each.event_number, each.points) for each in facts.weights]
    heading = "The better we know you, the less a duel moves you"
    if len(points) < 2:  # noqa: PLR2004  (a line)
        return Picture(heading, Markup(""), "")
    first = points[0]
    later = max((each for each in points if each[0] <= LATER_EVENT), key=lambda each: each[0])
    labels = {number: f"{shown(moved, frame.digits)}" for number, moved in (first, later)}
    labels[first[0]] += " points"
    if later[1] > LESS * first[1]:
        heading = "How far a duel moves you"
    caption = (
        f"The most that one duel moved the middle {frame.word}, by event: {labels[first[0]]} in event {first[0]}, "
        f"{labels[later[0]]} in event {later[0]}. Everybody’s own is in the Why."  # noqa: RUF001  (typography)
    )
    return Picture(heading, weights_curve(points, labels, caption), caption)
