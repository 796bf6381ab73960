"""The page about how a pool's ratings work: three pictures, questions and answers, settings, formulas and source."""

import threading
from datetime import UTC, datetime
from inspect import getdoc
from typing import Any

from fastapi import Response
from markupsafe import Markup

from podium.ledger.history import without_days
from podium.pages.charts import expected_curve, weights_curve
from podium.pages.environment import settings
from podium.pages.numbers import percent
from podium.pages.reliability import Picture, reliability_picture
from podium.service.web.rendering import PageRouter, PoolHeader, pool_header
from podium.service.web.rules.questions import Known, find_examples, questions
from podium.service.web.visiting import VisiblePool
from podium.store import Store
from podium.store.pool_facts import PoolFacts
from podium.support.words import shown

LATER_EVENT = 10
LESS_SHARE = 0.9  # share of a first event's effect, below which a later event moves ratings clearly less


def expected(header: PoolHeader, facts: PoolFacts) -> Picture:
    points = [(level.gap, level.expected) for level in facts.expected]
    marked = [min(facts.expected, key=lambda level: abs(level.expected - share)) for share in (0.5, 0.76, 0.91)]
    labels = {level.gap: percent(level.expected) for level in marked}
    leads = [f"{header.rating(level.gap)} points ahead win {100 * level.expected:.0f} of 100" for level in marked[1:]]
    caption = f"The chance of winning a duel by rating lead: {', '.join(leads)}."
    return Picture("Before the start, ratings predict the result", expected_curve(points, labels, caption), caption)


def weights(header: PoolHeader, facts: PoolFacts) -> Picture:
    points = [(weight.event_number, weight.points) for weight in facts.weights]
    heading = "The better we know you, the less a duel changes your rating"
    if len(points) < 2:  # noqa: PLR2004  (a line)
        return Picture(heading, Markup(""), "")
    first, second = points[:2]
    later = max((point for point in points[1:] if point[0] <= LATER_EVENT), default=second)
    labels = {number: f"{shown(moved, header.digits)}" for number, moved in (first, later)}
    labels[first[0]] += " points"
    if later[1] > LESS_SHARE * first[1]:
        heading = "How much a duel changes your rating"
    caption = (
        f"The most that a single duel changed the median {header.word}'s rating, by event: {labels[first[0]]} in"
        f" event {first[0]}, {labels[later[0]]} in event {later[0]}. Explanations show each player’s own."  # noqa: RUF001  (typography)
    )
    return Picture(heading, weights_curve(points, labels, caption), caption)


WRITING = threading.Lock()  # held while writing a page, so that only one is written at a time
router = PageRouter()


@router.pool_page("/system")
def rules(visit: VisiblePool) -> Response:
    version = visit.store.edition(visit.pool), datetime.now(UTC).date()
    with WRITING:
        found = visit.store.answers.value(
            ("rules", visit.pool), version, lambda: explained_rules(visit.store, visit.pool)
        )
    return visit.show("system.html", tab="system", **found)


def explained_rules(store: Store, pool_name: str) -> dict[str, Any]:
    """Return the content of the page.

    It is cached until the next log entry, because it shows the newest events as examples.
    """
    pool, facts = store.pool(pool_name), store.pool_facts(pool_name)
    header, system = pool_header(pool), pool.system
    pictures = expected(header, facts), weights(header, facts), reliability_picture(facts.reliability)
    return {
        "title": f"How {header.title} ratings work",
        "description": header.sentence,
        "pictures": tuple(picture for picture in pictures if picture.drawing),
        "counted_on": facts.day,
        "questions": tuple(questions(Known(header, system, facts, find_examples(store, pool_name, header.digits)))),
        "settings": settings(system),  # names, meanings, values, and True for default values
        "system": system,
        "about": (getdoc(type(system)) or "").partition("\n")[0],
        "made_up": store.made_up(pool_name),  # notes about dates that were filled in
        "without_days": without_days(system) if pool.is_undated else "",
    }
