"""The ledger and the standings as they are kept: only what changed is written, and counts of ranks with it."""

import math
import struct
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from podium.store.log.players import not_rated, number_of
from podium.store.log.pools import FOREVER, KEY, Key, Pool, key_of, key_params
from podium.store.sql.among import among, values
from podium.store.sql.schema import change, player, rank_count, standing
from podium.store.sql.upsert import upsert


class LedgerRow(NamedTuple):
    """A row of the ledger, but for its key."""

    place: int
    rating_before: float
    rating: float
    state: bytes


Ledger = dict[tuple[int, int, int], LedgerRow]  # by start, sequence, player


class Standing(NamedTuple):
    """A player's newest change, and when the newest event was."""

    rating: float
    started_at: int
    seq: int
    played_at: int
    state: bytes


POOL: sa.BindParameter[int] = sa.bindparam("pool")
UNTIL = key_of(change) < sa.tuple_(sa.bindparam("end_at"), sa.bindparam("end_number"))
LEDGER = sa.select(change).where(change.c.pool_id == POOL, key_of(change) >= KEY, UNTIL)


def newest_changes(*of_players: sa.ColumnElement[bool], events_only: bool = False) -> sa.Select[Any]:
    """The newest change of each of these players before a key, by one walk of the index for each."""
    earlier = change.alias("earlier")
    last = (
        sa.select(earlier.c.started_at, earlier.c.seq)
        .where(earlier.c.pool_id == POOL, earlier.c.player_id == player.c.id)
        .where(key_of(earlier) < KEY)
        .where(*([earlier.c.place > 0] if events_only else []))
        .order_by(earlier.c.started_at.desc(), earlier.c.seq.desc())
        .limit(1)
        .correlate(player)
        .scalar_subquery()
    )
    same = key_of(change) == last
    return (
        sa.select(*(change.c[name] for name in ("player_id", "rating", "started_at", "seq", "state", "place")))
        .select_from(player)
        .join(change, sa.and_(change.c.pool_id == POOL, change.c.player_id == player.c.id, same))
        .where(*of_players)
    )


NEWEST = newest_changes(among(player.c.id))
PLAYED = newest_changes(among(player.c.id), events_only=True)
NEWEST_OF_ALL = newest_changes(player.c.pool_id == POOL)
PLAYED_OF_ALL = newest_changes(player.c.pool_id == POOL, events_only=True)
STANDINGS = sa.select(
    standing.c.player_id,
    standing.c.rating,
    standing.c.started_at,
    standing.c.seq,
    standing.c.played_at,
    standing.c.state,
).where(standing.c.pool_id == POOL, among(standing.c.player_id))
LISTED = (standing.c.player_id, player.c.name, standing.c.rating, standing.c.events, standing.c.played_at)
SELECT_STANDING = (
    sa.select(*LISTED)
    .join(player, player.c.id == standing.c.player_id)
    .where(standing.c.pool_id == POOL, player.c.id == sa.bindparam("who"))
)
EVERYONE = sa.select(standing.c.player_id).where(standing.c.pool_id == POOL).order_by(standing.c.player_id)
CHANGE_GOES = sa.delete(change).where(
    change.c.pool_id == POOL,
    change.c.started_at == sa.bindparam("at"),
    change.c.seq == sa.bindparam("number"),
    change.c.player_id == sa.bindparam("who"),
)
STANDING_GOES = sa.delete(standing).where(standing.c.pool_id == POOL, standing.c.player_id == sa.bindparam("who"))
NOBODY_COUNTED = sa.delete(rank_count).where(rank_count.c.pool_id == POOL, rank_count.c.players == 0)
FINE = 256  # to a point: in a large pool many share a whole rating
GRAINS = (1, FINE)
DOUBLE = struct.Struct("<d")


def kept_ledger(connection: sa.Connection, pool: Pool, first: Key, end: Key = FOREVER) -> Ledger:
    """The ledger as it is written, from a key on, up to another."""
    until = {"end_at": end.started_at, "end_number": end.seq}
    rows = connection.execute(LEDGER, key_params(pool, first) | until).all()
    return {
        (at, seq, number): LedgerRow(place, before, rating, state)
        for _, at, seq, number, place, before, rating, state in rows
    }


def kept_standings(connection: sa.Connection, pool: Pool, players: Iterable[int]) -> dict[int, Standing]:
    """Where these players stand; nobody who has no rating."""
    rows = connection.execute(STANDINGS, {"pool": pool.id, "among": values(players)}).all()
    return {who: Standing(rating, at, seq, played, state) for who, rating, at, seq, played, state in rows}


def get_standing(connection: sa.Connection, pool: Pool, name: str) -> Any:
    """A player's row of the board.

    Raises:
        UnknownError: the player has no rating here.
    """
    row = connection.execute(SELECT_STANDING, {"pool": pool.id, "who": number_of(connection, pool, name)}).first()
    if row is None:
        raise not_rated(pool, name)
    return row


def standings_before(
    connection: sa.Connection, pool: Pool, now: Mapping[int, Standing], first: Key
) -> dict[int, Standing]:
    """Where those who stand somewhere stood before a key; nobody who had no rating then."""
    then = {number: each for number, each in now.items() if (each.started_at, each.seq) < first}
    return then | newest(connection, pool, now.keys() - then.keys(), first)


def newest(
    connection: sa.Connection, pool: Pool, players: Collection[int] | None, before: Key = FOREVER
) -> dict[int, Standing]:
    """The newest change before a key of these players, or of everyone; nobody who had none."""
    if players is not None and not players:
        return {}
    changes, events = (NEWEST_OF_ALL, PLAYED_OF_ALL) if players is None else (NEWEST, PLAYED)
    these: dict[str, Any] = {} if players is None else {"among": values(players)}
    rows = connection.execute(changes, key_params(pool, before) | these).all()
    played = {who: at for who, _, at, _, _, place in rows if place}
    if len(played) < len(rows):  # a season has begun since
        played |= {who: at for who, _, at, _, _, _ in connection.execute(events, key_params(pool, before) | these)}
    return {who: Standing(rating, at, seq, played[who], state) for who, rating, at, seq, state, _ in rows}


def write_changes(connection: sa.Connection, pool: Pool, old: Ledger, new: Ledger) -> Ledger:
    """Write the difference of two ledgers; the rows that are new or other."""
    gone = [{"pool": pool.id, "at": at, "number": seq, "who": who} for at, seq, who in old if (at, seq, who) not in new]
    written = {key: row for key, row in new.items() if old.get(key) != row}
    if gone:
        connection.execute(CHANGE_GOES, gone)
    upsert(connection, change, [(pool.id, *key, *row) for key, row in written.items()])
    return written


def refresh_standings(
    connection: sa.Connection, pool: Pool, old: Mapping[int, Standing], last: Mapping[int, Standing]
) -> None:
    """Write where players stand now instead of where they stood, and the counts of ranks."""
    at = 8 * pool.system.state_type._fields.index("events")
    gone = [{"pool": pool.id, "who": number} for number in old if number not in last]
    if gone:
        connection.execute(STANDING_GOES, gone)
    rows = [
        (pool.id, who, each.rating, int(DOUBLE.unpack_from(each.state, at)[0]), *each[1:])
        for who, each in last.items()
        if old.get(who) != each
    ]
    upsert(connection, standing, rows)
    counts = buckets(each.rating for each in last.values())
    counts.subtract(buckets(each.rating for each in old.values()))
    count_ranks(connection, pool, counts)


def apply_ledger(last: dict[int, Standing], ledger: Ledger) -> None:
    """Let where players stand follow a part of the ledger, in the order of rating."""
    for (at, seq, number), row in ledger.items():
        played_at = at if row.place else last[number].played_at
        last[number] = Standing(row.rating, at, seq, played_at, row.state)


def bucket(rating: float, per_point: int = 1) -> int:
    """The count that a rating belongs to; the product is exact."""
    return math.floor(rating * per_point)


def buckets(ratings: Iterable[float]) -> Counter[tuple[int, int]]:
    """How many there are in each count: how fine, and which."""
    told = list(ratings)
    return Counter((fine, bucket(rating, fine)) for fine in GRAINS for rating in told)


def count_ranks(connection: sa.Connection, pool: Pool, counts: Counter[tuple[int, int]]) -> None:
    """Add to the counts of players; a count of nobody goes."""
    rows = [
        {"pool_id": pool.id, "per_point": fine, "bucket": at, "players": more}
        for (fine, at), more in counts.items()
        if more
    ]
    if not rows:
        return
    connection.execute(COUNTED[connection.dialect.name], rows)
    if any(row["players"] < 0 for row in rows):
        connection.execute(NOBODY_COUNTED, {"pool": pool.id})


def counted(insert: Any) -> Any:
    """The statement that adds to a count, or begins it."""
    added = insert(rank_count)
    inflated = {"players": rank_count.c.players + added.excluded.players}
    return added.on_conflict_do_update(index_elements=["pool_id", "per_point", "bucket"], set_=inflated)


COUNTED = {"postgresql": counted(postgresql.insert), "sqlite": counted(sqlite.insert)}
