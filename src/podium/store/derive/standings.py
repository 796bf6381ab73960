"""The ledger and the standings as they are stored: only what changed is written, and the counts of players with it."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from podium.store.log.players import number_of, unrated_error
from podium.store.log.pools import BOUND_KEY, FOREVER, OrderKey, Pool, key_of, key_params
from podium.store.sql.among import among, values
from podium.store.sql.schema import change, player, rank_count, standing
from podium.store.sql.upsert import upsert


class LedgerRow(NamedTuple):
    """A row of the ledger, but for its key."""

    place: int  # the order of the row in its event, from 1; 0 where a season begins
    rating_before: float
    rating: float
    state: bytes
    rank: int | None  # in the overall result of the event; None where there is none
    field: int | None  # rated entrants of the event; 0 where a season begins; None until a pool is upgraded


Ledger = dict[tuple[int, int, int], LedgerRow]  # by start, sequence, player


class Standing(NamedTuple):
    """A player's newest change, and the start of the newest event."""

    rating: float
    started_at: int  # microseconds since 1970, UTC
    seq: int
    played_at: int  # microseconds since 1970, UTC
    state: bytes


POOL: sa.BindParameter[int] = sa.bindparam("pool")
GENERATION: sa.BindParameter[int] = sa.bindparam("generation")
BEFORE_END = key_of(change) < sa.tuple_(sa.bindparam("end_started_at"), sa.bindparam("end_seq"))
SELECT_LEDGER = sa.select(change).where(change.c.generation_id == GENERATION, key_of(change) >= BOUND_KEY, BEFORE_END)


def newest_changes(*conditions: sa.ColumnElement[bool], events_only: bool = False) -> sa.Select[Any]:
    """The statement for the newest change of each of some players before a key, by one walk of the index for each.

    Args:
        conditions: which rows of the pool's players.
        events_only: skip changes by a new season.
    """
    earlier = change.alias("earlier")
    last = (
        sa.select(earlier.c.started_at, earlier.c.seq)
        .where(earlier.c.generation_id == GENERATION, earlier.c.player_id == player.c.id)
        .where(key_of(earlier) < BOUND_KEY)
        .where(*([earlier.c.place > 0] if events_only else []))
        .order_by(earlier.c.started_at.desc(), earlier.c.seq.desc())
        .limit(1)
        .correlate(player)
        .scalar_subquery()
    )
    return (
        sa.select(*(change.c[name] for name in ("player_id", "rating", "started_at", "seq", "state", "place")))
        .select_from(player)
        .join(
            change,
            sa.and_(change.c.generation_id == GENERATION, change.c.player_id == player.c.id, key_of(change) == last),
        )
        .where(player.c.pool_id == POOL, *conditions)
    )


SELECT_NEWEST_CHANGES = newest_changes(among(player.c.id))
SELECT_NEWEST_EVENTS = newest_changes(among(player.c.id), events_only=True)
SELECT_ALL_NEWEST_CHANGES = newest_changes()
SELECT_ALL_NEWEST_EVENTS = newest_changes(events_only=True)
SELECT_STANDINGS = sa.select(
    standing.c.player_id,
    standing.c.rating,
    standing.c.started_at,
    standing.c.seq,
    standing.c.played_at,
    standing.c.state,
).where(standing.c.generation_id == GENERATION, among(standing.c.player_id))
BOARD_COLUMNS = (standing.c.player_id, player.c.name, standing.c.rating, standing.c.events, standing.c.played_at)
HAS_STANDING = sa.and_(player.c.pool_id == POOL, player.c.id == standing.c.player_id)
SELECT_STANDING = (
    sa.select(*BOARD_COLUMNS)
    .join(player, HAS_STANDING)
    .where(standing.c.generation_id == GENERATION, player.c.id == sa.bindparam("player"))
)
SELECT_RATED_PLAYERS = (
    sa.select(standing.c.player_id).where(standing.c.generation_id == GENERATION).order_by(standing.c.player_id)
)
DELETE_CHANGE = sa.delete(change).where(
    change.c.generation_id == GENERATION,
    change.c.started_at == sa.bindparam("started_at"),
    change.c.seq == sa.bindparam("seq"),
    change.c.player_id == sa.bindparam("player"),
)
DELETE_STANDING = sa.delete(standing).where(
    standing.c.generation_id == GENERATION, standing.c.player_id == sa.bindparam("player")
)
DELETE_COUNTS = sa.delete(rank_count).where(rank_count.c.generation_id == GENERATION)
DELETE_EMPTY_COUNTS = sa.delete(rank_count).where(rank_count.c.generation_id == GENERATION, rank_count.c.players == 0)
FINE_PER_POINT = 256  # counts per point: in a large pool many share a whole rating
COUNTS_PER_POINT = (1, FINE_PER_POINT)


def stored_ledger(connection: sa.Connection, pool: Pool, first: OrderKey, end: OrderKey = FOREVER) -> Ledger:
    """The ledger as it is stored, from a key on, up to another."""
    end_params = {"end_started_at": end.started_at, "end_seq": end.seq}
    rows = connection.execute(SELECT_LEDGER, key_params(pool, first) | end_params).all()
    return {
        (started_at, seq, number): LedgerRow(place, before, rating, state, rank, field)
        for _, started_at, seq, number, place, before, rating, state, rank, field in rows
    }


def stored_standings(connection: sa.Connection, pool: Pool, players: Iterable[int]) -> dict[int, Standing]:
    """The standings of these players by number, as they are stored; none of a player without a rating."""
    rows = connection.execute(SELECT_STANDINGS, {"generation": pool.generation, "among": values(players)}).all()
    return {
        number: Standing(rating, started_at, seq, played_at, state)
        for number, rating, started_at, seq, played_at, state in rows
    }


def get_standing(connection: sa.Connection, pool: Pool, name: str) -> Any:
    """A player's row of the board.

    Raises:
        UnknownError: the player has no rating in the pool.
    """
    row = connection.execute(
        SELECT_STANDING, {"pool": pool.id, "generation": pool.generation, "player": number_of(connection, pool, name)}
    ).first()
    if row is None:
        raise unrated_error(pool, name)
    return row


def standings_before(
    connection: sa.Connection, pool: Pool, now: Mapping[int, Standing], first: OrderKey
) -> dict[int, Standing]:
    """The standings before a key of players who have one now; none of a player without a rating then."""
    unmoved = {number: each for number, each in now.items() if (each.started_at, each.seq) < first}
    return unmoved | newest_standings(connection, pool, now.keys() - unmoved.keys(), first)


def newest_standings(
    connection: sa.Connection, pool: Pool, players: Collection[int] | None, before: OrderKey = FOREVER
) -> dict[int, Standing]:
    """The standings before a key of these players, or of all, by number; none of a player without a rating then."""
    if players is not None and not players:
        return {}
    params: dict[str, Any] = dict(key_params(pool, before))
    if players is None:
        select_changes, select_events = SELECT_ALL_NEWEST_CHANGES, SELECT_ALL_NEWEST_EVENTS
    else:
        select_changes, select_events = SELECT_NEWEST_CHANGES, SELECT_NEWEST_EVENTS
        params["among"] = values(players)
    rows = connection.execute(select_changes, params).all()
    played_at = {row.player_id: row.started_at for row in rows if row.place}
    if len(played_at) < len(rows):  # a season has begun since
        played_at |= {row.player_id: row.started_at for row in connection.execute(select_events, params)}
    return {
        number: Standing(rating, started_at, seq, played_at[number], state)
        for number, rating, started_at, seq, state, _ in rows
    }


def write_changes(
    connection: sa.Connection, pool: Pool, removed: Iterable[tuple[int, int, int]], written: Ledger
) -> None:
    """Write the difference of two ledgers: the keys that are gone, and the rows that are new or other."""
    gone = [
        {"generation": pool.generation, "started_at": started_at, "seq": seq, "player": number}
        for started_at, seq, number in removed
    ]
    if gone:
        connection.execute(DELETE_CHANGE, gone)
    upsert(connection, change, [(pool.generation, *key, *row) for key, row in written.items()])


def refresh_standings(
    connection: sa.Connection,
    pool: Pool,
    old: Mapping[int, Standing],
    new: Mapping[int, Standing],
    *,
    is_new_system: bool = False,
) -> None:
    """Write the standings that are not as before, and the counts of players by rating.

    Args:
        is_new_system: write every standing and every count: another system may call another rating provisional.
            All players must be among the standings.
    """
    removed = [{"generation": pool.generation, "player": number} for number in old if number not in new]
    if removed:
        connection.execute(DELETE_STANDING, removed)
    changed = {number: each for number, each in new.items() if is_new_system or old.get(number) != each}
    upsert(connection, standing, standing_rows(pool, changed))
    counts = bucket_counts(pool, new.values())
    if is_new_system:
        connection.execute(DELETE_COUNTS, {"generation": pool.generation})
    else:
        counts.subtract(bucket_counts(pool, old.values()))
    count_ranks(connection, pool, counts)


def standing_rows(pool: Pool, standings: Mapping[int, Standing]) -> list[tuple[Any, ...]]:
    """Standings as rows of their table."""
    columns = state_columns(pool, [each.state for each in standings.values()])
    return [
        (pool.generation, number, each.rating, events, *each[1:], provisional, deviation)
        for (number, each), events, provisional, deviation in zip(standings.items(), *columns, strict=True)
    ]


class StateColumns(NamedTuple):
    """What rows of the standings repeat of their states, so that a query need not decode these."""

    events: list[int]
    provisional: list[bool]
    deviation: list[float | None]


def state_columns(pool: Pool, states: Sequence[bytes]) -> StateColumns:
    """The columns of states as they are stored."""
    system, fields = pool.system, pool.system.state_type._fields
    table = np.frombuffer(b"".join(states), "<f8").reshape(len(states), len(fields))
    deviation = table[:, fields.index("deviation")].tolist() if "deviation" in fields else [None] * len(states)
    return StateColumns(
        table[:, fields.index("events")].astype(np.int64).tolist(), system.unsettled(table).tolist(), deviation
    )


def apply_ledger(standings: dict[int, Standing], ledger: Ledger) -> None:
    """Bring standings, in place, up to date with a part of the ledger, in the order of rating."""
    for (started_at, seq, number), row in ledger.items():
        played_at = started_at if row.place else standings[number].played_at
        standings[number] = Standing(row.rating, started_at, seq, played_at, row.state)


def bucket(rating: float, per_point: int = 1) -> int:
    """The count that a rating belongs to; the product is exact."""
    return math.floor(rating * per_point)


def buckets(ratings: Iterable[float]) -> Counter[tuple[int, int]]:
    """How many ratings belong to each count, by counts per point and bucket."""
    return Counter((per_point, bucket(rating, per_point)) for per_point, rating in product(COUNTS_PER_POINT, ratings))


class BucketCounts(NamedTuple):
    """How many players belong to each count, and how many of them are settled, by counts per point and bucket."""

    players: Counter[tuple[int, int]]
    settled: Counter[tuple[int, int]]

    def subtract(self, other: "BucketCounts") -> None:
        """Take others away, in place."""
        self.players.subtract(other.players)
        self.settled.subtract(other.settled)

    def rows(self) -> list[tuple[int, int, int, int]]:
        """Counts per point, bucket, players and settled of every count that is not 0."""
        return [
            (*key, self.players[key], self.settled[key])
            for key in self.players.keys() | self.settled.keys()
            if self.players[key] or self.settled[key]
        ]


def bucket_counts(pool: Pool, standings: Collection[Standing]) -> BucketCounts:
    """The counts that players belong to."""
    ratings = [each.rating for each in standings]
    provisional = state_columns(pool, [each.state for each in standings]).provisional
    settled = (rating for rating, early in zip(ratings, provisional, strict=True) if not early)
    return BucketCounts(buckets(ratings), buckets(settled))


def count_ranks(connection: sa.Connection, pool: Pool, counts: BucketCounts) -> None:
    """Add to the counts of players, and delete those that become 0."""
    columns = "generation_id", "per_point", "bucket", "players", "settled"
    rows = [dict(zip(columns, (pool.generation, *row), strict=True)) for row in counts.rows()]
    if not rows:
        return
    connection.execute(UPSERT_COUNTS[connection.dialect.name], rows)
    if any(row["players"] < 0 for row in rows):
        connection.execute(DELETE_EMPTY_COUNTS, {"generation": pool.generation})


COUNT_SETTLED = (
    sa.update(rank_count)
    .where(rank_count.c.generation_id == GENERATION)
    .values(
        settled=sa.select(sa.func.count())
        .select_from(standing)
        .where(standing.c.generation_id == GENERATION, standing.c.provisional.is_(sa.false()))
        .where(standing.c.rating >= rank_count.c.bucket * 1.0 / rank_count.c.per_point)
        .where(standing.c.rating < (rank_count.c.bucket + 1) * 1.0 / rank_count.c.per_point)
        .correlate(rank_count)
        .scalar_subquery()
    )
)
SELECT_UNCOUNTED = sa.select(rank_count.c.bucket).where(
    rank_count.c.generation_id == GENERATION, rank_count.c.settled.is_(None)
)


def lack_settled(connection: sa.Connection, pool: Pool) -> bool:
    """Whether an earlier version counted the players, and not how many of them are settled."""
    return connection.execute(SELECT_UNCOUNTED, {"generation": pool.generation}).first() is not None


def count_settled(connection: sa.Connection, pool: Pool, _actor: str) -> str:
    """Count the settled players, whose standings say that they are; nothing to say of it."""
    connection.execute(COUNT_SETTLED, {"generation": pool.generation})
    return ""


def upsert_counts(insert: Any) -> Any:
    """The statement that adds to a count, or inserts it, by a dialect's `insert`."""
    statement = insert(rank_count)
    # A count of the settled that is empty stays so until a pool is upgraded.
    total = {name: rank_count.c[name] + statement.excluded[name] for name in ("players", "settled")}
    return statement.on_conflict_do_update(index_elements=["generation_id", "per_point", "bucket"], set_=total)


UPSERT_COUNTS = {"postgresql": upsert_counts(postgresql.insert), "sqlite": upsert_counts(sqlite.insert)}
