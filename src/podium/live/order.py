"""Which events live rating can still take: those that were not rated, and come after all that were."""

import math
from collections.abc import Collection, Iterator, Mapping
from itertools import repeat

import polars as pl

from podium.engine.replay import NEVER
from podium.errors import Fault
from podium.results.consistency import SEQUENCE

FIRST = -math.inf  # the sequence of an event that has none
Moment = tuple[int, float]  # microseconds since 1970 and sequence
LATE = "is before the newest event; a late one needs a replay"


def moments(frame: pl.DataFrame) -> Iterator[tuple[str, Moment]]:
    """The pool of each row and when its event was, as far as the results say."""
    started = frame["started_at"].to_physical().to_list() if "started_at" in frame.columns else repeat(NEVER)
    sequence = frame[SEQUENCE].to_list() if SEQUENCE in frame.columns else repeat(FIRST)
    return zip(frame["pool"].to_list(), zip(started, sequence, strict=False), strict=False)


def note_newest(newest: dict[str, Moment], frame: pl.DataFrame) -> None:
    """Bring the newest event of each pool up to date."""
    for pool, moment in set(moments(frame)):
        newest[pool] = max(newest.get(pool, (NEVER, FIRST)), moment)


def untimely(frame: pl.DataFrame, rated: Collection[str], newest: Mapping[str, Moment]) -> Iterator[Fault]:
    """What is wrong with the time of events.

    Args:
        frame: of the results table.
        rated: the ids of the events that were rated.
        newest: when the newest event of each pool was.
    """
    for row, event_id in enumerate(frame["event_id"], start=1):
        if event_id in rated:
            yield Fault(row, "event_id", event_id, "was rated before; a correction needs a replay")
    for row, (pool, (start, sequence)) in enumerate(moments(frame), start=1):
        last_start, last_sequence = newest.get(pool, (NEVER, FIRST))
        if start < last_start:
            yield Fault(row, "started_at", None, LATE)
        elif start == last_start and FIRST < sequence < last_sequence:
            yield Fault(row, SEQUENCE, sequence, LATE)
