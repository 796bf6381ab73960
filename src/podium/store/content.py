"""An event's content as it is kept: its checked rows, a line of JSON each, whose numbers read back to the same bits."""

import hashlib
import io
import json
from collections.abc import Iterable
from typing import Any

import polars as pl

from podium.columns import ALL, NUMBERS, TRUTHS
from podium.errors import Fault, ResultsError
from podium.results import Results, read_results

SCHEMA = {name: pl.Float64 if name in NUMBERS else pl.Boolean if name in TRUTHS else pl.String for name in ALL}
KEPT = [name for name in ALL if name != "pool"]  # the pool is the log's
UTC = pl.Datetime("us", "UTC")
ABSENT = {"ranked": True, "handicap": False, "weight": 1.0}  # what an event means that does not say


def checked(rows: Any, pool: str) -> Results:
    """Results for one pool, checked; an event may not be in another, and must say when it started.

    Raises:
        ResultsError: they are refused; all faults are named.
    """
    results = read_results(rows)
    frame = results.frame
    if "started_at" not in frame.columns and frame.height:
        raise ResultsError(results.source, [Fault(1, "started_at", None, "is missing; a live event says when it was")])
    other = frame.filter(~pl.col("pool").is_in([pool, "default"]))["pool"]
    if other.len():
        raise ResultsError(results.source, [Fault(None, "pool", other[0], f"is not {pool}, where the event was sent")])
    return Results(frame.with_columns(pool=pl.lit(pool)), results.source)


def events_of(results: Results) -> dict[str, tuple[int, bytes]]:
    """Each event's start in microseconds and content by its id, in the order of the rows."""
    frame = results.frame.select(name for name in KEPT if name in results.frame.columns)
    starts = results.frame["started_at"].cast(pl.Int64) if results.frame.height else pl.Series([], dtype=pl.Int64)
    lines: dict[str, list[str]] = {}
    told: dict[str, int] = {}
    for row, start in zip(frame.iter_rows(named=True), starts, strict=True):
        kept = {name: value for name, value in row.items() if value is not None}
        kept["started_at"] = kept["started_at"].isoformat()
        lines.setdefault(row["event_id"], []).append(json.dumps(kept, ensure_ascii=False, separators=(",", ":")))
        told[row["event_id"]] = start
    return {
        event_id: (told[event_id], "".join(f"{line}\n" for line in some).encode()) for event_id, some in lines.items()
    }


def unpacked(contents: Iterable[bytes], pool: str) -> pl.DataFrame:
    """The rows of many events, one after the other, as a checked results table has them."""
    text = b"".join(contents)
    schema = {name: SCHEMA[name] for name in KEPT}
    if not text:
        return pl.DataFrame(schema=schema | {"started_at": UTC, "pool": pl.String})
    frame = pl.read_ndjson(io.BytesIO(text), schema=schema).with_columns(
        pl.col("started_at").str.to_datetime(time_unit="us", time_zone="UTC"), pool=pl.lit(pool)
    )
    told = [name for name in ALL if name in frame.columns and frame[name].null_count() < frame.height]
    filled = [pl.col(name).fill_null(value) for name, value in ABSENT.items() if name in told]
    return frame.select(told).with_columns(*filled)


def digest(content: bytes) -> bytes:
    """What tells the same content from another."""
    return hashlib.blake2b(content, digest_size=16).digest()


def difference(old: bytes, new: bytes) -> str:
    """Where two contents differ first, for people."""
    was, now = (part.decode().splitlines() for part in (old, new))
    if len(was) != len(now):
        return f"it has {len(now)} rows, and had {len(was)}"
    row = next((k for k, pair in enumerate(zip(was, now, strict=True)) if pair[0] != pair[1]), 0)
    return f"row {row + 1} is {now[row]}, and was {was[row]}"
