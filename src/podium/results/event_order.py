"""The order of events: by their start, then by `sequence`, then as they stand in the file."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.results.hashing import Integers, as_indices, number_runs

SEQUENCE = "sequence"


def order_keys(frame: pl.DataFrame, first: Integers) -> tuple[npt.NDArray[Any], ...]:
    """What orders events, the weightiest first; the order of the file is the last.

    Args:
        frame: results, with `started_at` and `sequence` where they have them.
        first: (events) an event's first row, in the order of the file.
    """
    at = as_indices(first)
    keys: list[npt.NDArray[Any]] = []
    if "started_at" in frame.columns:
        keys.append(frame["started_at"].gather(at).cast(pl.Int64).to_numpy())
    if SEQUENCE in frame.columns:
        keys.append(frame[SEQUENCE].gather(at).to_numpy())
    return (*keys, np.arange(first.size, dtype=first.dtype))


def in_sequence(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows by `sequence`, those of one number as they stand; without the column, which only orders."""
    return frame.sort(SEQUENCE, maintain_order=True).drop(SEQUENCE) if SEQUENCE in frame.columns else frame


def tie_notice(frame: pl.DataFrame) -> str | None:
    """How many dated events only the order of the file puts in order; None where there is none.

    Args:
        frame: checked results.
    """
    if "started_at" not in frame.columns:
        return None
    moment = [name for name in ("pool", "started_at", SEQUENCE) if name in frame.columns]
    first = as_indices(number_runs(frame["event_id"]).first)
    events = frame.select(pl.col(name).gather(first) for name in moment)
    if (np.diff(events["started_at"].cast(pl.Int64).to_numpy()) > 0).all():
        return None
    tied = int((events.group_by(moment).len()["len"].replace(1, 0)).sum())
    if not tied:
        return None
    shared, remedy = (
        ("start and sequence", "give each its own sequence to decide otherwise")
        if SEQUENCE in moment
        else ("start", "a column sequence, a number for each event, would decide instead")
    )
    return (
        f"{tied:,} of {events.height:,} events share their {shared} with another: "
        f"they are rated in the order of the file ({remedy})"
    )
