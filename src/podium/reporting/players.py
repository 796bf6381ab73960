"""The players of a pool as a report shows them: the board, and each one's section with the reasons of two changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from markupsafe import Markup

from podium.engine.system import System
from podium.ledger.history import (
    FINDING_EVENTS,
    FORM_EVENTS,
    SURE_DEVIATIONS,
    are_settled,
    can_be_unsettled,
    changes,
    own_interval,
    thinned,
    trend,
)
from podium.ledger.reasons.standings import event_ranks
from podium.pages.careers import CareerSummary, Tile, career_verdict
from podium.pages.drawing.history_chart import HistoryLine, HistoryPoint, history_chart
from podium.pages.numbers import DASH, change, counted, day_words, deviation, rating
from podium.pages.why import WhyView, why_view
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


MOST_POINTS = 120  # of a chart
CHART_HEIGHT = 180


@dataclass(frozen=True, slots=True)
class FormRow:
    """An event of a player."""

    event: str  # what people call it
    day: str  # empty where it has no date
    place: str  # "1 of 6"
    change: Decimal  # as shown
    reason: str  # the anchor of its reasons; empty where they are not given
    rating: Decimal


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an event moved a player."""

    anchor: str
    heading: str
    event: str
    day: str  # empty where it has no date
    change: Decimal
    is_against_result: bool  # won and lost points, or came last and gained
    view: WhyView


@dataclass(frozen=True, slots=True)
class PlayerSection:
    """A player of a pool."""

    anchor: str
    player: str
    rank: int | None
    rating: float
    verdict: str
    tiles: tuple[Tile, ...]
    chart: Markup
    form: tuple[FormRow, ...]
    events: int
    reasons: tuple[Reason, ...]


def player_section(
    rated: Rated, standing: dict[str, Any], career: pl.DataFrame, anchor: str, *, settled: int, would_be: int
) -> PlayerSection:
    rows, digits = career.to_dicts(), rated.system.digits
    reasons = tuple(
        reason(rated, row, f"{anchor}-{k}", "The newest change" if k == len(rows) else "The greatest surprise")
        for k, row in explained_rows(rows, digits)
    )
    anchors = {each.anchor.rsplit("-", 1)[1]: each.anchor for each in reasons}
    form = tuple(
        FormRow(
            event=event_name(row),
            day=day_of(row),
            place=f"{row['place']} of {row['field']}" if row["place"] else DASH,
            change=change_of(row, digits),
            reason=anchors.get(str(k), ""),
            rating=rating_shown(row, digits),
        )
        for k, row in reversed([*enumerate(rows, start=1)][-FORM_EVENTS:])
    )
    judged = rows[max(FINDING_EVENTS, len(rows) - FORM_EVENTS) :]
    last_ten = float(sum(change_of(row, digits) for row in judged))
    moved, margin = sum(row["delta"] for row in judged), standing.get("deviation")
    settled_now = not career.is_empty() and bool(career["settled"][-1])
    found = [row["rating"] for row in rows[FINDING_EVENTS:] if row["settled"]]
    summary = CareerSummary(
        trend=trend(rated.system, moved, margin, settled=settled_now),
        events=standing["events"],
        judged=len(judged),
        last_ten=last_ten,
        chance=own_interval(rated.system, margin),
        rating=standing["rating"],
        peak=peak(career),
        is_highest=len(found) > 1 and found[-1] > max(found[:-1]) and settled_now,
        provisional=standing["provisional"],
        would_be_rank=would_be if standing["provisional"] else None,
        listed=settled,
    )
    return PlayerSection(
        anchor=anchor,
        player=standing["player"],
        rank=standing["rank"],
        rating=standing["rating"],
        verdict=career_verdict(summary, digits),
        tiles=tiles(standing, summary, len(form), digits),
        chart=chart(standing["player"], rows, anchors, digits),
        form=form,
        events=standing["events"],
        reasons=reasons,
    )


def explained_rows(rows: list[dict[str, Any]], digits: int) -> list[tuple[int, dict[str, Any]]]:
    """The changes that are explained, each with its number from 1: the newest, and the greatest surprise before."""
    if not rows:
        return []
    numbered = [*enumerate(rows, start=1)]
    later = numbered[FINDING_EVENTS:-1]
    surprises = sorted(later, key=lambda each: (not against_result(each[1], digits), -abs(change_of(each[1], digits))))
    return [numbered[-1], *surprises[:1]]


def against_result(row: dict[str, Any], digits: int) -> bool:
    """Whether somebody won and lost points, or came last and gained."""
    points, place, last = change_of(row, digits), row["place"], row["last_place"]
    if place is None or last is None or last == 1:
        return False
    return bool((place == 1 and points < 0) or (place == last and points > 0))


def reason(rated: Rated, row: dict[str, Any], anchor: str, heading: str) -> Reason:
    """Why an event moved a player."""
    return Reason(
        anchor=anchor,
        heading=heading,
        event=event_name(row),
        day=day_of(row),
        change=change_of(row, rated.system.digits),
        is_against_result=against_result(row, rated.system.digits),
        view=why_view(rated.explain(row["event_id"], row["player"])),
    )


def day_of(row: dict[str, Any]) -> str:
    """The day of the event of a row; empty where it has no date."""
    return day_words(row["started_at"]) if row["started_at"] else ""


def event_name(row: dict[str, Any]) -> str:
    """What people call the event of a row."""
    return str(row.get("title") or row["event_id"])


def peak(career: pl.DataFrame) -> tuple[float, datetime | None] | None:
    """The settled rating that was surely highest, and when it was reached; None where none was since it was found."""
    surely = pl.col("rating") - SURE_DEVIATIONS * (pl.col("deviation") if "deviation" in career.columns else 0.0)
    settled = career.slice(FINDING_EVENTS).filter("settled").sort(surely, descending=True, maintain_order=True)
    return next(settled.select("rating", "started_at").iter_rows(), None)


def tiles(standing: dict[str, Any], career: CareerSummary, events: int, digits: int) -> tuple[Tile, ...]:
    """The figures of a player."""
    margin, played = standing.get("deviation"), f"of {counted(career.events, 'event')}"
    found = [
        *([Tile("Rating", rating(career.rating, digits - 1), deviation(margin, digits - 1))] if margin else []),
        Tile("Rank", DASH if standing["rank"] is None else f"{standing['rank']:,}", f"of {career.listed:,} settled"),
    ]
    if career.judged:
        name = "Last ten" if career.judged == FORM_EVENTS else "Since the fifth"
        found.append(Tile(name, change(career.last_ten, digits), played))
    if career.peak is not None:
        highest, reached_at = career.peak
        found.append(Tile("Peak", rating(highest, digits - 1), day_words(reached_at) if reached_at else ""))
    return tuple(found)


def chart(player: str, rows: list[dict[str, Any]], anchors: dict[str, str], digits: int) -> Markup:
    """The history; its dots lead to the reasons that are given."""
    if len(rows) < 2:  # noqa: PLR2004  (a line)
        return Markup()
    is_dated = all(row["started_at"] is not None for row in rows)
    when = [row["started_at"].timestamp() if is_dated else float(k) for k, row in enumerate(rows, start=1)]
    chosen = thinned(
        (np.array(when) * 1e6).astype(np.int64), np.array([row["rating"] for row in rows], np.float64), MOST_POINTS
    )
    wanted = sorted({*chosen.tolist(), *(int(number) - 1 for number in anchors)})
    points = [
        HistoryPoint(
            rows[k]["started_at"] if is_dated else k + 1,
            rows[k]["rating"],
            rows[k].get("deviation"),
            f"#{anchors[str(k + 1)]}" if str(k + 1) in anchors else None,
            f"Why {change(change_of(rows[k], digits), digits)} in {event_name(rows[k])}?",
        )
        for k in wanted
    ]
    first, last = (rating(shown(rows[k]["rating"], digits - 1)) for k in (0, -1))
    label = f"Rating of {player} over {counted(len(rows), 'event')}: {first} at first, {last} at last"
    return history_chart([HistoryLine(player, points)], label, digits=digits, height=CHART_HEIGHT)
