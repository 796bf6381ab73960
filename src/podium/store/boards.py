"""What is read: leaderboard pages, ranks, careers. Ranks come from the counts per whole rating and one of them."""

from typing import Any

import polars as pl
import sqlalchemy as sa

from podium.errors import UnknownError
from podium.store.rerating import Key, Pool, Rerated, bucket
from podium.store.schema import change, event, player, rank_count, standing

INSTANT = pl.Datetime("us", "UTC")
CHANGES = {"player": pl.String, "rating_before": pl.Float64, "rating": pl.Float64, "delta": pl.Float64}
NO_CHANGES = pl.DataFrame(schema=CHANGES)


def page(connection: sa.Connection, of: Pool, top: int, after: tuple[float, int] | None) -> pl.DataFrame:
    """So many players from a place on: `rank, player, rating, events, last_played_at, cursor`.

    Args:
        after: rating and number of the last player of the page before, as its `cursor` says.
    """
    told = (
        sa.select(standing.c.player_id, player.c.name, standing.c.rating, standing.c.events, standing.c.started_at)
        .join(player, player.c.id == standing.c.player_id)
        .where(standing.c.pool_id == of.id)
        .order_by(standing.c.rating.desc(), standing.c.player_id.desc())
        .limit(top)
    )
    if after is not None:
        place = sa.tuple_(standing.c.rating, standing.c.player_id)
        told = told.where(place < sa.tuple_(*map(sa.literal, after)))
    rows = connection.execute(told).all()
    ranks: list[int] = []
    if rows:
        first, tied = 1 + better(connection, of, rows[0].rating), tied_before(connection, of, rows[0], after)
        for k, row in enumerate(rows):
            ranks.append(first if k == 0 else ranks[-1] if row.rating == rows[k - 1].rating else first + k + tied)
    return pl.DataFrame(
        {
            "rank": ranks,
            "player": [row.name for row in rows],
            "rating": [row.rating for row in rows],
            "events": [row.events for row in rows],
            "last_played_at": pl.Series([row.started_at for row in rows], dtype=pl.Int64).cast(INSTANT),
            "cursor": [f"{row.rating!r},{row.player_id}" for row in rows],
        },
        schema_overrides={
            "rank": pl.Int64,
            "player": pl.String,
            "rating": pl.Float64,
            "events": pl.Int64,
            "cursor": pl.String,
        },
    )


def tied_before(connection: sa.Connection, of: Pool, first: Any, after: tuple[float, int] | None) -> int:
    """How many with the first row's rating stand on the page before."""
    if after is None or after[0] != first.rating:
        return 0
    same = sa.and_(
        standing.c.pool_id == of.id, standing.c.rating == first.rating, standing.c.player_id > first.player_id
    )
    told: int = connection.execute(sa.select(sa.func.count()).select_from(standing).where(same)).scalar_one()
    return told


def better(connection: sa.Connection, of: Pool, rating: float) -> int:
    """How many are rated above."""
    at = bucket(rating)
    above = sa.select(sa.func.coalesce(sa.func.sum(rank_count.c.players), 0)).where(
        rank_count.c.pool_id == of.id, rank_count.c.bucket > at
    )
    inside = (
        sa.select(sa.func.count())
        .select_from(standing)
        .where(standing.c.pool_id == of.id, standing.c.rating > rating, standing.c.rating < at + 1.0)
    )
    return int(connection.execute(above).scalar_one()) + int(connection.execute(inside).scalar_one())


def rank(connection: sa.Connection, of: Pool, name: str) -> dict[str, Any]:
    """`player, rank, players, percentile, rating, events`: the percentile is the share who are not rated above.

    Raises:
        UnknownError: the player has no rating here.
    """
    told = (
        sa.select(standing.c.rating, standing.c.events)
        .join(player, player.c.id == standing.c.player_id)
        .where(standing.c.pool_id == of.id, player.c.name == name)
    )
    row = connection.execute(told).first()
    if row is None:
        raise not_rated(of, name)
    counted = sa.select(sa.func.sum(rank_count.c.players)).where(rank_count.c.pool_id == of.id)
    players = int(connection.execute(counted).scalar_one())
    above = better(connection, of, row.rating)
    return {
        "player": name,
        "rank": above + 1,
        "players": players,
        "percentile": 100.0 * (players - above) / players,
        "rating": row.rating,
        "events": row.events,
    }


def not_rated(of: Pool, name: str) -> UnknownError:
    """What to say of a player without a rating."""
    return UnknownError(f"there is no rated player {name!r} in pool {of.name!r}")


def career(connection: sa.Connection, of: Pool, name: str) -> pl.DataFrame:
    """`event_id, started_at, rating_before, delta, rating` of each event, newest first.

    Raises:
        UnknownError: the player has no rating here.
    """
    told = (
        sa.select(event.c.event_id, change.c.started_at, change.c.rating_before, change.c.rating)
        .join(player, player.c.id == change.c.player_id)
        .join(event, sa.and_(event.c.pool_id == change.c.pool_id, event.c.seq == change.c.seq))
        .where(change.c.pool_id == of.id, player.c.name == name)
        .order_by(change.c.started_at.desc(), change.c.seq.desc())
    )
    rows = connection.execute(told).all()
    if not rows:
        raise not_rated(of, name)
    return pl.DataFrame(
        {
            "event_id": [row.event_id for row in rows],
            "started_at": pl.Series([row.started_at for row in rows], dtype=pl.Int64).cast(INSTANT),
            "rating_before": [row.rating_before for row in rows],
            "delta": [row.rating - row.rating_before for row in rows],
            "rating": [row.rating for row in rows],
        }
    )


def changes_by_event(done: Rerated, wanted: set[Key]) -> dict[Key, pl.DataFrame]:
    """The changes of some events, of those that were written, by event: as `changes_of` has them."""
    rows: dict[Key, list[tuple[int, str, float, float, float]]] = {}
    for (at, seq, number), row in done.written.items():
        if Key(at, seq) in wanted:
            told = (row.place, done.names[number], row.rating_before, row.rating, row.rating - row.rating_before)
            rows.setdefault(Key(at, seq), []).append(told)
    schema = {"place": pl.Int64, **CHANGES}
    return {key: pl.DataFrame(sorted(some), schema=schema, orient="row").drop("place") for key, some in rows.items()}


def changes_of(connection: sa.Connection, of: Pool, key: Key) -> pl.DataFrame:
    """`player, rating_before, rating, delta` of an event, in the order of its rows."""
    told = (
        sa.select(player.c.name, change.c.rating_before, change.c.rating)
        .join(player, player.c.id == change.c.player_id)
        .where(change.c.pool_id == of.id, change.c.started_at == key.started_at, change.c.seq == key.seq)
        .order_by(change.c.place)
    )
    rows = connection.execute(told).all()
    return pl.DataFrame(
        {
            "player": [row.name for row in rows],
            "rating_before": [row.rating_before for row in rows],
            "rating": [row.rating for row in rows],
            "delta": [row.rating - row.rating_before for row in rows],
        },
        schema=CHANGES,
    )


def first_event(connection: sa.Connection, of: Pool, name: str) -> Key | None:
    """The key of a player's first rated event."""
    told = (
        sa.select(change.c.started_at, change.c.seq)
        .join(player, player.c.id == change.c.player_id)
        .where(change.c.pool_id == of.id, player.c.name == name)
        .order_by(change.c.started_at, change.c.seq)
        .limit(1)
    )
    row = connection.execute(told).first()
    return None if row is None else Key(row.started_at, row.seq)
