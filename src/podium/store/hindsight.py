"""Strengths in hindsight. They are calculated overnight and stored separately from the ledger.

They never affect ratings. Seasons are left out, because they shrink leads by a rule that does not change any player's
strength.
"""

import json
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from podium.errors import UnknownError
from podium.ledger.hindsight import chance_above, why_unavailable
from podium.ledger.history import thinned
from podium.log.players import names_of
from podium.log.pools import Pool, PoolView, When, date_of, time_of, today
from podium.pool.rating import results_of
from podium.pool.roster import as_results
from podium.pool.snapshot import RATED, Snapshot
from podium.rating import rate
from podium.store import kept
from podium.store.following import PoolReader
from podium.store.moments import Moments
from podium.store.pool_facts import system_text
from podium.support.answers import answer, described
from podium.views.board import standing_of
from podium.views.models import STARTED, Started

MAX_ENTRIES, MAX_PAIRS = 2_000_000, 10_000_000  # maximum size of a history to analyze: 1,000,000 duels
CHUNK_ROWS = 1_000  # number of rows to write at once
MAX_POINTS = 300  # maximum number of points to store per curve, chosen to keep its shape
MAX_BEST = 50  # number of players on the board
POINT = np.dtype([("at", "<i8"), ("rating", "<f8"), ("deviation", "<f8")])  # microseconds since 1970, and points


@answer
class HindsightPoint(Started):
    """A player's strength at an event, in hindsight.

    Attributes:
        rating: Rating in hindsight, in points.
        deviation: Uncertainty of the rating, in points.
    """

    started_at: datetime | None = described(STARTED)
    rating: float
    deviation: float


@answer
class BestEver(HindsightPoint):
    """The point of a player's hindsight curve that is furthest ahead of its year, less two deviations.

    Attributes:
        player: The player.
        ahead: Rating minus the mean rating of that year's entrants.
        above_next: Probability of having been further ahead than the next player. Null for the last player.
    """

    player: str
    ahead: float
    above_next: float | None


@answer
class BestEverBoard:
    """The best players of all time, in hindsight. These are not official ratings.

    Attributes:
        as_of: Day of the calculation.
        players: At most 50 players with an established rating, best first.
    """

    as_of: date
    players: tuple[BestEver, ...]


class Kept(NamedTuple):
    """The stored strengths in hindsight in a pool, without the curves."""

    day: int  # days since 1970
    version: int  # version of the pool's log
    system: str  # the system's parameters, as JSON
    too_large: str  # reason why the pool was skipped, or an empty string
    best: list[tuple[int, int, float, float, float]]  # number of the player, and the best point of the curve


def kept_of(pool: PoolView) -> Kept | None:
    """Return the stored hindsight, or None if it does not exist or was calculated with another system."""
    found = kept.read(pool, kept.HINDSIGHT)
    known = None if found is None else Kept(*json.loads(found.body))
    return known if known is not None and known.system == system_text(pool) else None


def keep(store: Moments, pool_name: str) -> bool:
    """Calculate and store a pool's hindsight, at most once a day, and only if something has changed.

    Returns:
        True if the calculation was due. It is never due if the system does not support hindsight.
    """

    def find_due(pool: PoolReader) -> Snapshot | None:
        known = kept_of(pool)
        if why_unavailable(pool.system) or (
            known is not None and (known.day == today() or known.version == pool.version())
        ):
            return None
        return pool.snapshot

    snapshot = store.read_pool(pool_name, find_due)
    if snapshot is None:
        return False
    pool, standings = snapshot.pool, snapshot.standings
    established = set(standings.numbers[standings.is_player & standings.is_established].tolist())
    entries = int(standings.events[standings.is_player].sum())
    table = rated_results(snapshot) if entries <= MAX_ENTRIES else pl.DataFrame()
    pairs = 0 if table.is_empty() else pairs_in(table)
    too_large = max(entries - MAX_ENTRIES, pairs - MAX_PAIRS) > 0
    curves, peaks = ({}, []) if too_large or table.is_empty() else look_back(pool, table)
    reason = f"hindsight works with up to {MAX_ENTRIES:,} results and {MAX_PAIRS:,} pairs of them; there are more here"
    best = [peak for peak in peaks if peak[0] in established][:MAX_BEST]
    found = Kept(today(), snapshot.seq, system_text(pool), reason if too_large else "", best)
    parts = [(number, curve.tobytes()) for number, curve in curves.items()]
    chunks = [parts[start : start + CHUNK_ROWS] for start in range(0, len(parts), CHUNK_ROWS)]
    for number, chunk in enumerate([[], *chunks, [(kept.HEAD, json.dumps(found).encode())]]):
        with store.writing(pool_name, even_closed=True) as now:
            if now.secret != pool.secret:  # another pool with the same name, and possibly the same number
                return False
            if number == 0:
                kept.clear(now, kept.HINDSIGHT)
            kept.write(now, kept.HINDSIGHT, snapshot.seq, dict(chunk))
    return True


def rated_results(snapshot: Snapshot) -> pl.DataFrame:
    """Return the results of all rated events, with players by number."""
    uids = snapshot.events.order.part("uid")
    return results_of(snapshot, uids[snapshot.events.columns.at("status", uids) == RATED])


def pairs_in(table: pl.DataFrame) -> int:
    """Return the number of pairs of entrants in all heats."""
    heats = table.group_by("event_id", *(["heat"] if "heat" in table.columns else [])).len()["len"].cast(pl.Int64)
    return int((heats * (heats - 1)).sum()) // 2


def look_back(pool: Pool, table: pl.DataFrame) -> tuple[dict[int, Any], list[Any]]:
    """Return each player's curve as an array of `POINT`, and each player's best point, best first, as in `Kept`."""
    found = rate(as_results(pool, table), pool.system).hindsight()
    starts = table.select("event_id", pl.col("started_at").to_physical()).unique("event_id")
    known, best = (each.join(starts, "event_id", "left", maintain_order="left") for each in (found.frame, found.best()))
    peaks = best.select(pl.col("player").cast(pl.Int64), "started_at", "rating", "ahead", "deviation").rows()
    curves = {}
    for (name,), rows in known.group_by("player", maintain_order=True):
        at, rating = rows["started_at"].to_numpy(), rows["rating"].to_numpy()
        points = np.zeros(at.size, POINT)
        points["at"], points["rating"], points["deviation"] = at, rating, rows["deviation"].to_numpy()
        curves[int(str(name))] = points[thinned(at, rating, MAX_POINTS)]
    return curves, peaks


def best_ever(pool: PoolReader) -> BestEverBoard:
    """Return the best players of all time, in the order of `Hindsight.best`, as of the latest calculation.

    Returns:
        Players with an established rating, each with the probability of having been further ahead than the next one.

    Raises:
        UnknownError: the pool does not exist, is too large or has not been analyzed yet, or its system does not support
            hindsight.
    """
    known, merged = kept_of(pool), pool.snapshot.merged
    none_yet = "hindsight is calculated once a day, and has not been calculated yet" if known is None else ""
    lack = why_unavailable(pool.system) or none_yet
    if known is None or lack or known.too_large:
        raise UnknownError(f"{pool.name}: {lack or (known and known.too_large)}")
    peaks = [row for row in known.best if row[0] not in merged]
    names = names_of(pool, [number for number, *_ in peaks])
    players = tuple(
        BestEver(
            pool.moment(at), rating, deviation, names[number], ahead,
            None if k + 1 == len(peaks) else chance_above((ahead, deviation), peaks[k + 1][3:]),
            sequence=pool.sequence(at),
        )
        for k, (number, at, rating, ahead, deviation) in enumerate(peaks)
    )  # fmt: skip
    return BestEverBoard(date_of(known.day), players)


def hindsight_day(pool: PoolView) -> date | None:
    """Return the day on which a pool's hindsight was calculated.

    Returns:
        The day, or None if there is no hindsight.
    """
    known = kept_of(pool)
    return None if known is None or known.too_large else date_of(known.day)


def curve_of(pool: PoolReader, name: str, since: When | None = None) -> tuple[HindsightPoint, ...]:
    """Return a player's strength in hindsight at each event, or fewer points that trace the same curve.

    Args:
        pool: the pool.
        name: the player.
        since: the start, as a time or an event number. Default: the first event.

    Returns:
        The points, oldest first. The list is empty if there is no hindsight, or if the player joined after it was
        calculated.

    Raises:
        UnknownError: the pool or the player does not exist.
    """
    who = standing_of(pool, name).number
    known, curve = kept_of(pool), kept.read(pool, kept.HINDSIGHT, who)
    is_known = known is not None and curve is not None and curve.seq == known.version
    points = np.frombuffer(curve.body if curve is not None and is_known else b"", POINT)
    points = points if since is None else points[points["at"] >= time_of(since)]
    return tuple(
        HindsightPoint(pool.moment(at), rating, deviation, sequence=pool.sequence(at))
        for at, rating, deviation in points.tolist()
    )
