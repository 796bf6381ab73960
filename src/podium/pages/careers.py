"""How a player is doing, in words."""

from dataclasses import dataclass
from datetime import datetime

from podium.ledger.history import FORM_EVENTS, Trend
from podium.ledger.reasons.what_if import ordinal
from podium.pages.numbers import change, counted, day_words
from podium.support.rounding import shown

TRENDS = {"climbing": "Climbing", "falling": "Falling", "steady": "Steady"}


@dataclass(frozen=True, slots=True)
class CareerSummary:
    """What the verdict on a player depends on."""

    trend: Trend
    events: int
    judged: int  # newest events without those that found the rating
    last_ten: float  # the sum of their changes as shown
    chance: float  # so many points may be chance
    rating: float
    peak: tuple[float, datetime | None] | None  # the surely highest settled rating, and when it was reached
    is_highest: bool  # whether the rating was never higher since it was found
    provisional: bool
    would_be_rank: int | None  # of one who is not settled
    listed: int  # players who are


def career_verdict(career: CareerSummary, digits: int) -> str:
    """How a player is doing, in a sentence or two.

    Args:
        digits: decimals of a change.
    """
    if career.trend == "settling":
        sentence = f"Still settling, after {counted(career.events, 'event')}."
    elif not career.judged:
        sentence = f"{counted(career.events, 'event')} so far, which found the rating."
    else:
        since = "" if career.judged == FORM_EVENTS else " since the fifth"
        moved = shown(career.last_ten, digits)
        words = f"{'last ' if not since else ''}{counted(career.judged, 'event')}{since}"
        sentence = f"{TRENDS[career.trend]}: {change(career.last_ten, digits)} in the {words}."
        if career.trend == "steady" and moved:
            way = "Up" if moved > 0 else "Down"
            within = f"within its own ±{shown(career.chance, digits - 1)}: could be chance"
            sentence = f"{way} {abs(moved)} in the {words}, {within}."
    if career.provisional:
        rank = career.would_be_rank
        place = f"; it would be {ordinal(rank)} of {career.listed + 1}" if rank else ""
        return f"{sentence} The rating is not settled yet{place}."
    return f"{sentence} {beside_peak(career, digits)}".rstrip()


def beside_peak(career: CareerSummary, digits: int) -> str:
    """How far the rating is from its highest, in a sentence; nothing where there is none."""
    if career.peak is None:
        return ""
    highest, reached_at = career.peak
    below = shown(highest, digits - 1) - shown(career.rating, digits - 1)
    if below <= 0:
        return "Never rated higher." if career.is_highest else ""
    return f"{below} below the peak{f' of {day_words(reached_at)}' if reached_at else ''}."
