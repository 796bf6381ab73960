"""The players of a pool as a report lists them: where they stand, since when, and how their ratings went."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import polars as pl

from podium.engine.system import System
from podium.ledger.history import are_settled, can_be_unsettled, changes
from podium.ledger.reasons.standings import event_ranks
from podium.rated import Rated
from podium.support.rounding import shown, shown_change

SPARK = 16  # events of the line in a row
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A player on the board."""

    rank: int | None  # among the settled; None of one who is not
    player: str
    anchor: str  # of the player's section; empty where there is none
    rating: float
    deviation: float | None
    move: int | None  # ranks risen since the day before the newest event's
    is_new: bool
    spark: tuple[float, ...]  # oldest first
    newest_change: Decimal | None  # by the pool's newest event, as shown; None of those who were not in it
    newest_reason: str  # the anchor of its reasons; empty where they are not given
    events: int
    last_played_at: datetime | None


@dataclass(frozen=True, slots=True)
class Board:
    """Everybody of a pool."""

    settled: tuple[BoardRow, ...]  # best first
    unsettled: tuple[BoardRow, ...]
    left_out: int  # players below those listed
    since: date | None  # the day that `move` compares with
    has_newest: bool  # whether the newest event moved anybody who is listed
    has_dates: bool


def with_places(rated: Rated) -> pl.DataFrame:
    """The history, with place and field in each event, its last place, its title, and whether ratings were settled."""
    ranks = event_ranks(rated.events)
    _, after = changes(rated.system, rated.events, rated.replayed)
    rows = rated.results.frame[rated.events.ledger.row.array]
    titles = {"title": rows["title"]} if "title" in rows.columns else {}
    return rated.history.with_columns(
        pl.Series("place", [each or None for each in ranks.rank], pl.Int64),
        pl.Series("field", ranks.field, pl.Int64),
        pl.Series("settled", are_settled(rated.system, after)),
        **titles,
    ).with_columns(last_place=pl.col("place").max().over("pool", "event_id"))


def ranked(system: System, players: pl.DataFrame) -> pl.DataFrame:
    """Players of one pool with their rank, best first; where the system has a rule, the settled come first, ranked."""
    takes_no_rank = pl.col("provisional") & pl.lit(can_be_unsettled(system))
    rank = pl.col("rating").rank("min", descending=True)
    listed = players.filter(~takes_no_rank).with_columns(rank=rank.cast(pl.Int64)).sort("rank", maintain_order=True)
    others = players.filter(takes_no_rank).with_columns(rank=pl.lit(None, pl.Int64))
    return pl.concat([listed, others.sort("rating", descending=True, maintain_order=True)])


def earlier_ranks(rated: Rated, pool: str, history: pl.DataFrame) -> tuple[date | None, Mapping[str, int]]:
    """The day before that of the newest event, and the ranks among those settled at its end, by player."""
    newest = history["started_at"].max()
    if not isinstance(newest, datetime) or history["started_at"].null_count() or rated.start is not None:
        return None, {}
    day = newest.date() - ONE_DAY
    if not history.filter(pl.col("started_at") < datetime.combine(newest.date(), time(), newest.tzinfo)).height:
        return None, {}
    earlier = ranked(rated.system, rated.leaderboard(pool=pool, at=day, min_events=0)).drop_nulls("rank")
    return day, dict(earlier.select("player", "rank").iter_rows())


def board(
    rated: Rated, pool: str, history: pl.DataFrame, most: int, anchors: Mapping[str, str], reasons: Mapping[str, str]
) -> Board:
    """The board of a pool."""
    players = ranked(rated.system, rated.ratings.filter(pl.col("pool") == pool))
    day, earlier = earlier_ranks(rated, pool, history)
    newest: dict[str, Any] = {}
    if history.height:
        last = history.filter(pl.col("event_id") == history["event_id"][-1])
        newest = {row["player"]: row for row in last.iter_rows(named=True)}
    listed = players.head(most)
    lines = history.filter(pl.col("player").is_in(listed["player"].implode())).group_by("player").tail(SPARK)
    sparks = {name: part["rating"].to_list() for (name,), part in lines.partition_by("player", as_dict=True).items()}
    rows = [
        row_of(rated, row, earlier if day else None, newest.get(row["player"]), sparks, anchors, reasons)
        for row in listed.iter_rows(named=True)
    ]
    return Board(
        settled=tuple(row for row in rows if row.rank is not None),
        unsettled=tuple(row for row in rows if row.rank is None),
        left_out=players.height - listed.height,
        since=day,
        has_newest=any(row.newest_change is not None for row in rows),
        has_dates=any(row.last_played_at is not None for row in rows),
    )


def row_of(
    rated: Rated,
    row: dict[str, Any],
    earlier: Mapping[str, int] | None,
    newest: dict[str, Any] | None,
    sparks: Mapping[str, list[float]],
    anchors: Mapping[str, str],
    reasons: Mapping[str, str],
) -> BoardRow:
    """A player's row; lines only of those who have a section, so that the rest weighs little."""
    player, before = row["player"], None if earlier is None else earlier.get(row["player"])
    return BoardRow(
        rank=row["rank"],
        player=player,
        anchor=anchors.get(player, ""),
        rating=row["rating"],
        deviation=row.get("deviation"),
        move=before - row["rank"] if before and row["rank"] else None,
        is_new=earlier is not None and before is None and row["rank"] is not None,
        spark=tuple(sparks.get(player, ())) if player in anchors else (),
        newest_change=None if newest is None else change_of(newest, rated.system.digits),
        newest_reason="" if newest is None else reasons.get(player, ""),
        events=row["events"],
        last_played_at=row["last_played_at"],
    )


def change_of(row: dict[str, Any], digits: int) -> Decimal:
    """The change in a row of the history, as people read it."""
    return shown_change(row["rating_before"], row["rating"], digits)


def rating_shown(row: dict[str, Any], digits: int) -> Decimal:
    """The rating after it, as boards show it."""
    return shown(row["rating"], digits - 1)
