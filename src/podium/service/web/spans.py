"""Spans that pages offer, of time or in a counted pool of events: who played within, and how much a chart shows."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, Literal, NamedTuple

from podium.store.log.pools import Pool

Active = Literal["any", "1y", "90d"]
Range = Literal["1y", "5y", "all"]


class Span(NamedTuple):
    """A span as an address calls it, by its length in a dated pool; in a counted one its days are events."""

    length: timedelta | None  # None of all there is
    words: str


def days(count: float, words: str) -> Span:
    return Span(timedelta(days=count), words)


ANY, ALL = Span(None, "any time"), Span(None, "All")
ACTIVE: Final[Mapping[Active, Span]] = {
    "any": ANY, "1y": days(365, "in the last year"), "90d": days(90, "in the last 90 days"),
}  # fmt: skip
ACTIVE_COUNTED: Final[Mapping[Active, Span]] = {
    "any": ANY, "1y": days(50, "in the last 50 events"), "90d": days(10, "in the last 10 events"),
}  # fmt: skip
RANGES: Final[Mapping[Range, Span]] = {"1y": days(365.25, "1 year"), "5y": days(5 * 365.25, "5 years"), "all": ALL}
RANGES_COUNTED: Final[Mapping[Range, Span]] = {"1y": days(50, "50 events"), "5y": days(250, "250 events"), "all": ALL}


def spans_of(pool: Pool) -> Mapping[Active, Span]:
    """Within which spans a pool's boards list who has played."""
    return ACTIVE_COUNTED if pool.is_counted else ACTIVE


def ranges_of(pool: Pool) -> Mapping[Range, Span]:
    """How much of a history a pool's charts show."""
    return RANGES_COUNTED if pool.is_counted else RANGES
