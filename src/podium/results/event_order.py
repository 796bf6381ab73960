"""The order of events: by their start, then by `sequence`, then as they stand in the file."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.results.hashing import number_runs

SEQUENCE = "sequence"


def order_keys(firsts: pl.DataFrame) -> tuple[npt.NDArray[Any], ...]:
    """What orders events, the weightiest first; the order of the file is the last.

    Args:
        firsts: a row an event, in the order of the file, with `started_at` and `sequence` where the results have them.
    """
    keys: list[npt.NDArray[Any]] = []
    if "started_at" in firsts.columns:
        keys.append(firsts["started_at"].cast(pl.Int64).to_numpy())
    if SEQUENCE in firsts.columns:
        keys.append(firsts[SEQUENCE].to_numpy())
    return (*keys, np.arange(firsts.height))


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
    first = number_runs(frame["event_id"]).first
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
