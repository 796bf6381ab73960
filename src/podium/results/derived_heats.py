"""Heats: their order, the overall result of a match where a system compares by it, and quits that carry over."""

import numpy as np
import numpy.typing as npt
import polars as pl

from podium.kernels.decimal_sums import decimal_sums

OVERALL = "overall"
PAIR = ("event_id", "player")


def heat_codes(heats: pl.Series) -> npt.NDArray[np.int64]:
    """A number a heat that rises with its order: unnamed, then whole numbers, then texts, `overall` last."""
    filled = heats.fill_null("")
    names = filled.unique().to_list()
    names.sort(key=lambda name: (name == OVERALL, name != "", not name.isdecimal(), _number(name), name))
    return filled.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64)


def _number(name: str) -> int:
    return int(name) if name.isdecimal() else 0


def with_derived_heats(frame: pl.DataFrame, *, overall: bool, quits_carry_over: bool) -> pl.DataFrame:
    """The rows, and those that a system derives: an overall heat, quits in the heats after a quit."""
    if quits_carry_over:
        frame = carry_over_quits(frame)
    if overall:
        frame = pl.concat([frame, overall_rows(frame)], how="diagonal")
    return frame


def carry_over_quits(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn every heat after a player's quit into a quit, whether or not the table has a row for it."""
    frame = frame.with_columns(_heat=pl.Series(heat_codes(frame["heat"])))
    left = (
        frame.filter((pl.col("status") == "quit") & (pl.col("heat") != OVERALL))
        .sort("_heat", "row")
        .unique(PAIR, keep="first", maintain_order=True)
    )
    if left.is_empty():
        return frame.drop("_heat")
    first = left.select(*PAIR, _quit="_heat")
    played = frame.join(first, on=list(PAIR), how="left", maintain_order="left")
    later = (pl.col("_heat") > pl.col("_quit")) & (pl.col("heat") != OVERALL)
    played = played.with_columns(status=pl.when(later).then(pl.lit("quit")).otherwise("status"))
    heats = frame.filter(pl.col("heat") != OVERALL).select("event_id", "heat", "_heat").unique(maintain_order=True)
    shared = [
        name
        for name in ("row", "event_id", "pool", "started_at", "mode", "weight", "player", "team")
        if name in left.columns
    ]
    missing = (
        left.select(*shared, _quit="_heat")
        .join(heats, on="event_id")
        .filter(pl.col("_heat") > pl.col("_quit"))
        .join(frame.select(*PAIR, "heat"), on=[*PAIR, "heat"], how="anti")
        .with_columns(status=pl.lit("quit"))
    )
    return pl.concat([played, missing], how="diagonal").drop("_heat", "_quit")


def overall_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """A row an entrant with the overall result of each event of several heats that has none of its own.

    By the sum of the heats' scores, a missing or quit heat scoring 0; in an event without scores by the sum
    of the times of those who finished every heat, the others losing to them. An event with neither has none,
    nor one that nobody finished.
    """
    heats = pl.col("heat").fill_null("")
    events = frame.group_by("event_id", maintain_order=True).agg(
        heats.n_unique().alias("_heats"),
        (pl.col("heat") == OVERALL).any().fill_null(value=False).alias("_has_overall"),
        _all_known(frame, "score").alias("_scored"),
        _all_known(frame, "time_s").alias("_timed"),
        (pl.col("status") == "finished").any().alias("_decided"),
    )
    known = pl.col("_decided") & (pl.col("_scored") | pl.col("_timed"))
    without_overall = events.filter((pl.col("_heats") > 1) & ~pl.col("_has_overall") & known)
    shared = [name for name in ("pool", "started_at", "team", "weight") if name in frame.columns]
    finished = pl.col("status") == "finished"
    score = pl.when(finished).then(_column(frame, "score")).otherwise(0.0).fill_null(0.0)
    time_s = _column(frame, "time_s").drop_nulls()
    all_heats = finished.sum() == pl.col("_heats").first()
    entrants = (
        frame.join(without_overall, on="event_id", maintain_order="left")
        .group_by(*PAIR, maintain_order=True)
        .agg(
            pl.col("row").min(),
            *(pl.col(name).first() for name in shared),
            score.alias("_scores"),
            time_s.alias("_times"),
            pl.col("_scored").first(),
            all_heats.alias("_whole"),
            pl.when(pl.col("_scored").first() | all_heats)
            .then(pl.lit("finished"))
            .otherwise(pl.lit("dnf"))
            .alias("status"),
        )
        .with_columns(heat=pl.lit(OVERALL))
    )
    scored, timed = pl.col("_scored"), ~pl.col("_scored") & pl.col("_whole")
    return entrants.with_columns(
        score=pl.when(scored).then(_sums(entrants["_scores"])), time_s=pl.when(timed).then(_sums(entrants["_times"]))
    ).drop("_scores", "_times", "_scored", "_whole")


def _sums(lists: pl.Series) -> pl.Series:
    """The sum of each list of numbers, whatever their order."""
    sizes = lists.list.len().to_numpy().astype(np.int64)
    parts = lists.explode().drop_nulls().to_numpy().astype(np.float64)
    return pl.Series(decimal_sums(parts, sizes), dtype=pl.Float64)


def _column(frame: pl.DataFrame, name: str) -> pl.Expr:
    return pl.col(name) if name in frame.columns else pl.lit(None, pl.Float64)


def _all_known(frame: pl.DataFrame, name: str) -> pl.Expr:
    """Whether every finisher of a heat or an event has a value in this column."""
    if name not in frame.columns:
        return pl.lit(value=False).first()
    return (pl.col(name).is_not_null() | (pl.col("status") != "finished")).all()
