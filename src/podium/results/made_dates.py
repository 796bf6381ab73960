"""Dates made up for a history that has none: the first event at a moment, and each next one a span later."""

import re
from datetime import UTC, datetime

import polars as pl

from podium.errors import ParameterError
from podium.results.columns import UTC as INSTANT
from podium.results.consistency import SEQUENCE

SPAN = re.compile(r"([1-9]\d{0,4})(h|d|w|mo|y)")  # of the calendar: a month after 31 January is 28 February


def made_up(start: datetime, every: str) -> str:
    """What was made up, in words for the log."""
    return f"dates made up: the first {start:%Y-%m-%d}, then one every {every}"


def with_made_dates(frame: pl.DataFrame, start: datetime, every: str) -> pl.DataFrame:
    """Give the events of a checked table dates, in the order of `sequence` or else as they stand.

    Args:
        start: of the first event.
        every: from each event to the next, as 12h, 7d, 2w, 1mo or 1y.

    Raises:
        ParameterError: they have dates, it is no such span, or the last would be in the future.
    """
    span = SPAN.fullmatch(every.strip())
    if span is None:
        raise ParameterError(f"{every!r} is not a span from one event to the next; like 12h, 7d, 2w, 1mo or 1y")
    if "started_at" in frame.columns and frame["started_at"].null_count() < frame.height:
        raise ParameterError("the events have dates, so none are made up; leave the first date and the span out")
    orders = [pl.col(SEQUENCE).first()] if SEQUENCE in frame.columns else []
    events = frame.group_by("event_id", maintain_order=True).agg(orders)
    events = events.sort(SEQUENCE, maintain_order=True) if orders else events
    steps = pl.format(f"{{}}{span[2]}", pl.int_range(pl.len()) * int(span[1]))
    dated = events.select("event_id", started_at=pl.lit(start).cast(INSTANT).dt.offset_by(steps))
    last = dated["started_at"].max()
    if isinstance(last, datetime) and last > datetime.now(UTC):
        raise ParameterError(
            f"the last event would be on {last:%Y-%m-%d}, in the future; begin earlier, or take a shorter span"
        )
    return frame.drop("started_at", strict=False).join(dated, on="event_id", how="left", maintain_order="left")
