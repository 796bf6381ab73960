"""Derive missing dates and data about heats: their order, overall results, and quits that carry over."""

import re
from datetime import MAXYEAR, UTC, datetime
from typing import NamedTuple

import numpy as np
import polars as pl

from podium.errors import ParameterError
from podium.kernels.decimal_sums import decimal_sums
from podium.results.columns import UTC as INSTANT
from podium.results.consistency import SEQUENCE
from podium.results.hashing import number_runs
from podium.support.arrays import Floats, Integers, Mask

OVERALL = "overall"
PAIR = ("event_id", "player")


def heat_codes(heats: pl.Series) -> Integers:
    """Return numbers that sort heats: unnamed heats first, then integers, then names, and `overall` last."""
    filled = heats.fill_null("")
    names = filled.unique().to_list()
    names.sort(key=heat_key)
    return filled.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)


def heat_key(name: str) -> tuple[bool, bool, bool, int, str]:
    """Return the key that sorts the heats of an event."""
    number = int(name) if name.isdecimal() else 0
    return name == OVERALL, name != "", not name.isdecimal(), number, name


def with_derived_heats(frame: pl.DataFrame, *, overall: bool, quits_carry_over: bool) -> pl.DataFrame:
    if quits_carry_over:
        frame = carry_over_quits(frame)
    if overall:
        frame = pl.concat([frame, overall_rows(frame)], how="diagonal")
    return frame


def carry_over_quits(frame: pl.DataFrame) -> pl.DataFrame:
    """Mark every heat after a player's quit as a quit, even if the table has no row for it."""
    frame = frame.with_columns(_heat=pl.Series(heat_codes(frame["heat"])))
    quits = frame.filter((pl.col("status") == "quit") & pl.col("heat").ne_missing(OVERALL))
    left = quits.sort("_heat", "row").unique(PAIR, keep="first", maintain_order=True)
    if left.is_empty():
        return frame.drop("_heat")
    first = left.select(*PAIR, _quit="_heat")
    played = frame.join(first, on=list(PAIR), how="left", maintain_order="left")
    later = (pl.col("_heat") > pl.col("_quit")) & (pl.col("heat") != OVERALL)
    played = played.with_columns(status=pl.when(later).then(pl.lit("quit")).otherwise("status"))
    heats = frame.filter(pl.col("heat") != OVERALL).select("event_id", "heat", "_heat").unique(maintain_order=True)
    names = "row", "event_id", "pool", "started_at", "mode", "weight", "player", "team"
    shared = [name for name in names if name in left.columns]
    missing = (
        left.select(*shared, _quit="_heat")
        .join(heats, on="event_id")
        .filter(pl.col("_heat") > pl.col("_quit"))
        .join(frame.select(*PAIR, "heat"), on=[*PAIR, "heat"], how="anti")
        .with_columns(status=pl.lit("quit"))
    )
    return pl.concat([played, missing], how="diagonal").drop("_heat", "_quit")


class Overall(NamedTuple):
    """Overall results calculated from the heats, for events that have no overall result of their own."""

    entrant: Integers  # (rows): the entrant in each row, or -1 in other events
    first: Integers  # (entrants): first row
    event: Integers  # (entrants): number of the event
    finished: Mask  # (entrants), as are the columns below
    score: Floats  # NaN if the event has no scores
    time_s: Floats  # NaN if the event has scores, and for entrants who did not finish


def overall_results(frame: pl.DataFrame) -> Overall:
    """Calculate the overall result of each entrant, for events with several heats but no overall result.

    The overall result is the sum of an entrant's scores, counting 0 for each heat that was missed or quit. In events
    without scores, it is the sum of the times, for entrants who finished every heat. All other entrants lose to them.
    Events that have neither, and events that nobody finished, do not get an overall result.
    """
    event, player = (number_runs(frame[name]).code.astype(np.int64) for name in PAIR)
    names = frame["heat"].fill_null("") if frame["heat"].null_count() else frame["heat"]
    heat = number_runs(names).code
    finished = frame.select(pl.col("status") == "finished").to_series().to_numpy()
    score, time_s = (number_column(frame, name) for name in ("score", "time_s"))
    events = int(event.max(initial=-1)) + 1

    def has_any(rows: Mask) -> Mask:
        return np.bincount(event[rows], minlength=events) > 0

    span = int(heat.max(initial=0)) + 1
    heats = np.bincount(np.unique(event * span + heat) // span, minlength=events)
    scored, timed = (~has_any(finished & np.isnan(column)) for column in (score, time_s))
    has_overall = has_any((names == OVERALL).to_numpy())
    derived = (heats > 1) & ~has_overall & has_any(finished) & (scored | timed)
    rows = np.flatnonzero(derived[event])
    pairs = event[rows] * (int(player.max(initial=0)) + 1) + player[rows]
    _, first, number = np.unique(pairs, return_index=True, return_inverse=True)
    entrant = np.argsort(np.argsort(first))[number]  # numbered in the order of rows
    first = rows[np.sort(first)]
    by_entrant = np.argsort(entrant, kind="stable")
    points = np.nan_to_num(np.where(finished, score, 0.0), nan=0.0)[rows][by_entrant]
    times = time_s[rows][by_entrant]
    ways = slice(None), ~np.isnan(time_s[rows]), finished[rows]
    counts, timed_counts, finishes = (np.bincount(entrant[way], minlength=first.size) for way in ways)
    by_score = scored[event[first]]
    done = by_score | (finishes == heats[event[first]])
    of_row = np.full(frame.height, -1)
    of_row[rows] = entrant
    return Overall(
        of_row,
        first,
        event[first],
        done,
        np.where(by_score, decimal_sums(points, counts), np.nan),
        np.where(~by_score & done, decimal_sums(times[~np.isnan(times)], timed_counts), np.nan),
    )


def number_column(frame: pl.DataFrame, name: str) -> Floats:
    """Return a column as floats, with NaN for empty cells or if the column is absent."""
    return np.full(frame.height, np.nan) if name not in frame.columns else frame[name].to_numpy().astype(np.float64)


def overall_rows(frame: pl.DataFrame, overall: Overall | None = None) -> pl.DataFrame:
    """Return one row for each overall result calculated from heats."""
    found = overall_results(frame) if overall is None else overall
    shared = [name for name in ("pool", "started_at", "team", "weight") if name in frame.columns]
    row = frame["row"].to_numpy()
    earliest = row[found.first].copy()
    rows = np.flatnonzero(found.entrant >= 0)
    np.minimum.at(earliest, found.entrant[rows], row[rows])
    finished = pl.Series("status", found.finished)
    return frame[found.first].select(
        *PAIR,
        pl.Series("row", earliest),
        *shared,
        pl.when(finished).then(pl.lit("finished")).otherwise(pl.lit("dnf")).alias("status"),
        pl.lit(OVERALL).alias("heat"),
        pl.Series("score", found.score).fill_nan(None),
        pl.Series("time_s", found.time_s).fill_nan(None),
    )


SPAN = re.compile(r"([1-9]\d{0,4})(h|d|w|mo|y)")  # calendar spans; one month after 31 January is 28 February
IN_A_YEAR = {"h": 8760, "d": 365, "w": 52, "mo": 12, "y": 1}  # number of units per year, ignoring leap days


def made_up(start: datetime, every: str) -> str:
    """Describe the generated dates, for the log."""
    when = f"the first {start:%Y-%m-%d}, then one every {every}" if every else f"all on {start:%Y-%m-%d}"
    return f"dates made up: {when}"


def with_made_dates(frame: pl.DataFrame, start: datetime, every: str) -> pl.DataFrame:
    """Add dates to the events of a checked table: the first at `start`, then one every 12h, 7d, 2w, 1mo or 1y.

    If `every` is empty, all events take place at `start`.
    """
    span = SPAN.fullmatch(every.strip() or "1d")
    if span is None:
        raise ParameterError(
            f"{every!r} is not a time span. Write a number followed by h, d, w, mo or y, for example 1w"
        )
    if "started_at" in frame.columns and frame["started_at"].null_count() < frame.height:
        raise ParameterError("the events have dates. Leave out the first date and the time between events")
    orders = [pl.col(SEQUENCE).first()] if SEQUENCE in frame.columns else []
    events = frame.group_by("event_id", maintain_order=True).agg(orders)
    events = events.sort(SEQUENCE, maintain_order=True) if orders else events
    if every.strip() and start.year + (events.height - 1) * int(span[1]) // IN_A_YEAR[span[2]] >= MAXYEAR:
        raise ParameterError("the last event would be thousands of years in the future. Use a shorter span.")
    steps = pl.format(f"{{}}{span[2]}", pl.int_range(pl.len()) * (int(span[1]) if every.strip() else 0))
    dated = events.select("event_id", started_at=pl.lit(start).cast(INSTANT).dt.offset_by(steps))
    last = dated["started_at"].max()
    if isinstance(last, datetime) and last > datetime.now(UTC):
        day = f"the last event would be on {last:%Y-%m-%d}, in the future"
        raise ParameterError(f"{day}. Start earlier, or use a shorter span.")
    return frame.drop("started_at", strict=False).join(dated, on="event_id", how="left", maintain_order="left")
