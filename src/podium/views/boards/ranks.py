"""The ranks of players, and the full board of a pool."""

from dataclasses import asdict, replace
from datetime import timedelta
from statistics import fmean

import numpy as np
import polars as pl

from podium.errors import ParameterError, UnknownError
from podium.ledger import leaderboard
from podium.ledger.leaderboard import Eligibility
from podium.log.players import names_of
from podium.log.pools import (
    NUMBER_US,
    Order,
    OrderKey,
    PoolView,
    When,
    other_arithmetic,
    settings_of,
    time_of,
)
from podium.log.statements import instant
from podium.results.columns import UTC
from podium.views.board import EVERYBODY, Board, span_begins, standing_of
from podium.views.details import FILTERS, details_by_number, details_of
from podium.views.events import career
from podium.views.models import GroupRank, PlayerDetails, PlayerRank, PoolSummary, RatingCount, answer_from
from podium.views.names import number_of
from podium.views.player_models import Listing
from podium.views.reader import PoolAt

YEAR = timedelta(days=365)
GROUP_BEST = 3  # number of players by whom a club is ranked


def rank(pool: PoolAt, name: str) -> PlayerRank:
    """Return a player's rank.

    Returns:
        The rank, and the percentage of players with the same or a lower rating.

    Raises:
        UnknownError: there is no such pool or player.
    """
    row, board = standing_of(pool, name), Board.of(pool, EVERYBODY)
    place, players = 1 + int(board.count_above(row.ranked_by)), board.size
    percentile = 100.0 * (players - place + 1) / players
    return answer_from(PlayerRank, row, rank=place, players=players, percentile=percentile)


def player(pool: PoolAt, name: str, top: int = 1000) -> PlayerDetails:
    """Return a player's rank and latest changes.

    Args:
        top: number of changes to return.

    Returns:
        The fields of `rank`, and the changes as its `history`.

    Raises:
        UnknownError: there is no such pool or player.
    """
    found = rank(pool, name)
    details = details_of(pool, number_of(pool, name), found.player)
    return answer_from(PlayerDetails, found, history=career(pool, name, top), details=details)


def distribution(pool: PoolAt) -> tuple[RatingCount, ...]:
    """Count the players with each rating, rounded to a whole number.

    Returns:
        The number of players for each whole rating that occurs, lowest first.
    """
    standings = pool.snapshot.standings
    ratings, players = np.unique(np.floor(standings.ratings[standings.is_player]), return_counts=True)
    return tuple(map(RatingCount, ratings.astype(np.int64).tolist(), players.tolist()))


def group_ranks(pool: PoolAt, by: str = "club", best: int = GROUP_BEST) -> tuple[GroupRank, ...]:
    """Rank clubs, countries or divisions by the mean score of their best players.

    Players count if they have a rank and played in the year before the last event. In pools without dates, each event
    counts as one day.

    Args:
        by: `club`, `country` or `division`.
        best: number of players in each mean.

    Returns:
        The groups, best first. Groups with fewer players than `best` come last and have no rank.

    Raises:
        UnknownError: there is no such pool or group.
        ParameterError: `best` is below 1.
    """
    if by not in FILTERS:
        raise UnknownError(f"players are not grouped by {by!r}. Use one of {', '.join(FILTERS)}.")
    if best < 1:
        raise ParameterError("best: must be 1 or more.")

    def find() -> tuple[GroupRank, ...]:
        board = Board.of(pool, Listing(active_within=YEAR))
        details, groups = details_by_number(pool), dict[str, list[int]]()
        numbers = board.standings.numbers[board.entries].tolist()
        for place, number in enumerate(numbers):
            if by in details.get(number, ()):
                groups.setdefault(details[number][by], []).append(place)
        names = names_of(pool, {numbers[place] for places in groups.values() for place in places[:best]})
        scores, found = board.standings.scores[board.entries].tolist(), []
        for name, places in groups.items():
            members = tuple(names[numbers[place]] for place in places[:best])
            mean = fmean(pool.display.score(scores[place]) for place in places[:best])
            found.append(GroupRank(None, name, mean, len(places), members))
        found.sort(key=lambda group: (group.players < best, -group.score, group.name))
        ranked = [group.score for group in found if group.players >= best]
        first = {score: rank for rank, score in reversed([*enumerate(ranked, start=1)])}
        return tuple(replace(group, rank=first[group.score] if group.players >= best else None) for group in found)

    return pool.value(("groups", by, best), find)


def board(pool: PoolAt, rules: Eligibility, at: When | None = None) -> pl.DataFrame:
    """Return the board at a given time, with the players who match the rules.

    Args:
        rules: rules that a player must match to be listed.
        at: the time, or the number of an event in a numbered pool. Default: now.

    Returns:
        One row for each player, as in `Rated.leaderboard`. A numbered pool also has `last_sequence`.

    Raises:
        ParameterError: a rule does not work with this system.
    """
    return board_before(pool, rules, None if at is None else OrderKey(time_of(at), 2**62))


def board_before(pool: PoolAt, rules: Eligibility, key: OrderKey | None) -> pl.DataFrame:
    """Return each listed player's rank, name, rating, other state fields, events, last date and status."""
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
    if not pool.is_undated:
        return listed
    last = pl.col("last_played_at")
    return listed.with_columns(pl.lit(None, UTC).alias("last_played_at"), last_sequence=last.dt.epoch("us") / NUMBER_US)


def pool_order(pool: PoolView) -> Order | None:
    """Return `dated` if a pool's events are ordered by date, or `sequence` if they are ordered by number.

    Returns:
        The order, or None before the first event of a pool that was created without an order.
    """
    return pool.order


def pool_summary(pool: PoolAt) -> PoolSummary:
    """Return a pool's summary, as in `pool_summaries`.

    Returns:
        The summary.
    """
    notice = limit_notice(pool)
    says = asdict(pool.description)
    of_system = pool.system.name, settings_of(pool.system), notice
    return PoolSummary(pool.name, *of_system, **says, version=pool.version(), order=pool.order)


def limit_notice(pool: PoolAt) -> str | None:
    """Return a warning about players whose ratings have reached a limit of the pool's system.

    Returns:
        A sentence with the number of these players and a more suitable system. None if there are no such players, or if
        the pool is waiting to be rated.
    """
    if not pool.system.limits or other_arithmetic(pool):
        return None
    snapshot = pool.snapshot
    return pool.system.limit_notice(snapshot.rows.at("state", snapshot.standings.rows[snapshot.standings.is_player]))
