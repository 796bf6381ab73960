"""How players stand, their ranks, and the whole board of a pool."""

import math
from dataclasses import asdict, replace
from datetime import timedelta
from typing import NamedTuple

import numpy as np
import polars as pl

from podium.errors import ParameterError, UnknownError
from podium.ledger import leaderboard
from podium.ledger.leaderboard import Eligibility
from podium.log.players import known_numbers, names_of, unrated_error
from podium.log.pools import (
    DAY,
    NUMBER_US,
    START,
    Order,
    OrderKey,
    PoolView,
    When,
    other_arithmetic,
    season_time,
    settings_of,
    time_of,
)
from podium.log.statements import DAY_US, instant, is_thing
from podium.pool.columns import Array
from podium.pool.slots import numbers_of, slot_of
from podium.results.columns import UTC
from podium.results.names import normalise
from podium.store.following import PoolReader, version
from podium.store.reading.models import PlayerRank, PoolSummary, RatingCount, Season

MAX_CURSOR_SCORE = 1e300  # what a database holds
MAX_CURSOR_NUMBER = 2**63
Place = tuple[float, int]  # a score, and the player's number


class PlayerStanding(NamedTuple):
    """How a player stands now."""

    player_id: int
    name: str
    rating: float
    events: int
    played_at: int  # microseconds since 1970
    provisional: bool
    deviation: float | None  # None if the system has no such number
    score: float  # what ranks follow


def number_now(pool: PoolReader, name: str) -> int:
    """Return a player's number; for a merged account, that of the account that it was merged into.

    Raises:
        UnknownError: no such player.
    """
    number = known_numbers(pool, [name]).get(name)
    if number is None:
        raise unrated_error(pool, name)
    return pool.snapshot.merged.get(number, number)


def standing_of(pool: PoolReader, name: str) -> PlayerStanding:
    """Return how a player stands now.

    Raises:
        UnknownError: no such player, or one without a rating.
    """
    number = number_now(pool, name)
    found = [] if is_thing(number) else standings_of(pool, np.array([slot_of(number)]))
    if not found:
        raise unrated_error(pool, name)
    return found[0]


def standings_of(pool: PoolReader, slots: Array) -> list[PlayerStanding]:
    """Return how these players stand now, in their order, without those who have no rating."""
    system, snapshot = pool.system, pool.snapshot
    newest = snapshot.newest_rows(snapshot.rows.size, slots)
    rows, numbers = newest[newest >= 0], numbers_of(slots[newest >= 0]).tolist()
    states, names = snapshot.rows.at("state", rows), names_of(pool, numbers)
    deviation = system.column("deviation") if "deviation" in system.state_type._fields else None
    columns = (
        states[:, system.column("rating")],
        states[:, system.column("events")].astype(np.int64),
        snapshot.played_at(rows),
        system.unsettled(states),
        np.full(rows.size, None) if deviation is None else states[:, deviation],
        system.scores(states),
    )
    every = zip(numbers, map(names.__getitem__, numbers), *(column.tolist() for column in columns), strict=True)
    return [*map(PlayerStanding._make, every)]


def cursor_of(row: PlayerStanding) -> str:
    return f"{row.score!r},{row.player_id}"


def parse_cursor(cursor: str) -> Place:
    score, _, number = cursor.partition(",")
    try:
        place = float(score), int(number)
    except ValueError:
        place = math.inf, 0
    if not abs(place[0]) < MAX_CURSOR_SCORE or abs(place[1]) >= MAX_CURSOR_NUMBER:
        raise ParameterError("the cursor is not the `next` of a page")
    return place


def count_better(pool: PoolReader, score: float, *, settled: bool = False) -> int:
    """Count the players above a score, or only those whose rating is settled."""
    standings = pool.snapshot.standings
    chosen = standings.is_player & standings.is_settled if settled else standings.is_player
    return int(np.count_nonzero(chosen & (standings.scores > score)))


def count_players(pool: PoolReader) -> int:
    """Count the players who have a rating."""
    return int(np.count_nonzero(pool.snapshot.standings.is_player))


def rank(pool: PoolReader, name: str) -> PlayerRank:
    """Show a player's rank.

    Returns:
        The rank, and the share of players who are not rated above.

    Raises:
        UnknownError: no such pool or player.
    """
    row = standing_of(pool, name)
    players = count_players(pool)
    above = count_better(pool, row.score)
    percentile = 100.0 * (players - above) / players
    last, number = pool.moment(row.played_at), pool.sequence(row.played_at)
    return PlayerRank(row.name, above + 1, players, percentile, row.rating, row.events, last, last_sequence=number)


def distribution(pool: PoolReader) -> tuple[RatingCount, ...]:
    """Count the players of each whole rating.

    Returns:
        A count for each whole rating that somebody has, lowest first.
    """
    standings = pool.snapshot.standings
    ratings, players = np.unique(np.floor(standings.ratings[standings.is_player]), return_counts=True)
    return tuple(map(RatingCount, ratings.astype(np.int64).tolist(), players.tolist()))


def board(pool: PoolReader, rules: Eligibility, at: When | None = None) -> pl.DataFrame:
    """Show the board of those whom the rules list, as of a moment.

    Args:
        rules: who is listed.
        at: the moment, or the number of an event in a numbered pool; now where None.

    Returns:
        A row a player, as `Rated.leaderboard` has it; `last_sequence` beside it in a numbered pool.

    Raises:
        ParameterError: a rule that the system cannot serve.
    """
    return board_before(pool, rules, None if at is None else OrderKey(time_of(at), 2**62))


def span_begins(pool: PoolReader, span: timedelta, until: int) -> int:
    """Return when a span up to a time begins; in a numbered pool a span of days has as many events, the last ones."""
    if not pool.is_counted:
        return until - round(span / DAY * DAY_US)
    events, count = pool.snapshot.events, max(1, round(span / DAY))
    rated = np.flatnonzero(events.order.part("field", 0, events.position((until, 2**62))))
    if rated.size < count:
        return START.started_at
    return events.key(int(events.order.value("uid", rated[-count]))).started_at


def board_before(pool: PoolReader, rules: Eligibility, key: OrderKey | None) -> pl.DataFrame:
    """`rank, player, rating`, the state's other fields, `events, last_played_at, provisional` of those listed."""
    snapshot = pool.snapshot
    standings = snapshot.standings if key is None else snapshot.standings_at(snapshot.events.position(key))
    entries = np.flatnonzero(standings.is_player)
    states, played_at = snapshot.rows.at("state", standings.rows[entries]), standings.played_at[entries]
    names = names_of(pool)
    shown = {name: pl.Series(values) for name, values in pool.system.shown(states).items()}
    players = pl.DataFrame(
        {
            "pool": pl.repeat(pool.name, entries.size, dtype=pl.String, eager=True),
            "player": pl.Series([names[who] for who in standings.numbers[entries].tolist()], dtype=pl.String),
            "last_played_at": pl.Series(played_at, dtype=pl.Int64).cast(UTC),
        }
    )
    until = key.started_at if key is not None else int(played_at.max()) if entries.size else 0
    if rules.active_within is not None:
        active = until - span_begins(pool, rules.active_within, until)
        rules = replace(rules, active_within=timedelta(microseconds=active))
    at = None if key is None else instant(key.started_at)
    listed = leaderboard.listed(pool.system, leaderboard.as_board(pool.system, players, shown, states), rules, at).drop(
        "pool"
    )
    if not pool.is_counted:
        return listed
    last = pl.col("last_played_at")
    return listed.with_columns(pl.lit(None, UTC).alias("last_played_at"), last_sequence=last.dt.epoch("us") / NUMBER_US)


def pool_order(pool: PoolView) -> Order | None:
    """Say what orders a pool's events: `dated` or `sequence`.

    Returns:
        The order; None before the first event of a pool that was created without one.
    """
    return pool.order


def pool_summary(pool: PoolReader) -> PoolSummary:
    """Show a pool as `pool_summaries` has it.

    Returns:
        Its summary.
    """
    notice = limit_notice(pool)
    says = asdict(pool.description)
    of_system = pool.system.name, settings_of(pool.system), notice
    return PoolSummary(pool.name, *of_system, **says, version=version(pool), order=pool.order)


def limit_notice(pool: PoolReader) -> str | None:
    """Warn of players at a limit of the pool's system.

    Returns:
        How many there are, and what suits such results; None without any, and for a pool that waits to be rated again.
    """
    if not pool.system.limits or other_arithmetic(pool):
        return None
    snapshot = pool.snapshot
    return pool.system.limit_notice(snapshot.rows.at("state", snapshot.standings.rows[snapshot.standings.is_player]))


def seasons(pool: PoolReader) -> tuple[Season, ...]:
    """List the seasons.

    Returns:
        The seasons, oldest first.
    """
    events = pool.snapshot.events
    found = sorted((events.key(uid), each) for uid, each in events.seasons.items())
    return tuple(
        Season(each.name, pool.moment(key.started_at), each.keep, sequence=pool.sequence(key.started_at))
        for key, each in found
    )


def season_board(pool: PoolReader, name: str) -> pl.DataFrame:
    """Show how the board stood when a season ended, or as it stands where it is not over.

    Returns:
        A row a player, best first.

    Raises:
        UnknownError: no such pool or season.
    """
    listed = seasons(pool)
    names = [each.name for each in listed]
    position = next((names.index(each) for each in (name, normalise(name)) if each in names), None)
    if position is None:
        raise UnknownError(f"there is no season {name!r} in pool {pool.name!r}")
    after = OrderKey(season_time(listed[position + 1].when), 0) if position + 1 < len(listed) else None
    return board_before(pool, Eligibility(), after)
