"""The ledger and the standings as they are kept: only what changed is written, and counts of ranks with it."""

import math
import struct
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from podium.store.among import among, values
from podium.store.many import put
from podium.store.pools import Key, Pool
from podium.store.schema import change, rank_count, standing


class Row(NamedTuple):
    """A row of the ledger, but for its key."""

    place: int
    rating_before: float
    rating: float
    state: bytes


Ledger = dict[tuple[int, int, int], Row]  # by start, sequence, player


class Last(NamedTuple):
    """A player's newest change, and when the newest event was."""

    rating: float
    started_at: int
    seq: int
    played_at: int
    state: bytes


class Before(NamedTuple):
    """A player before some event."""

    state: bytes
    played_at: int


POOL: sa.BindParameter[int] = sa.bindparam("of")
FROM = sa.tuple_(change.c.started_at, change.c.seq) >= sa.tuple_(sa.bindparam("at"), sa.bindparam("number"))
BEFORE = sa.tuple_(change.c.started_at, change.c.seq) < sa.tuple_(sa.bindparam("at"), sa.bindparam("number"))
LEDGER = sa.select(change).where(change.c.pool_id == POOL, FROM)
LATEST = change.c.started_at.desc(), change.c.seq.desc()
NEWEST = (
    sa.select(change.c.rating, change.c.started_at, change.c.seq, change.c.state, change.c.place)
    .where(change.c.pool_id == POOL, change.c.player_id == sa.bindparam("who"), BEFORE)
    .order_by(*LATEST)
    .limit(1)
)
PLAYED = (
    sa.select(change.c.started_at)
    .where(change.c.pool_id == POOL, change.c.player_id == sa.bindparam("who"), BEFORE, change.c.place > 0)
    .order_by(*LATEST)
    .limit(1)
)
STANDINGS = sa.select(
    standing.c.player_id,
    standing.c.rating,
    standing.c.started_at,
    standing.c.seq,
    standing.c.played_at,
    standing.c.state,
).where(standing.c.pool_id == POOL, among(standing.c.player_id))
EVERYONE = sa.select(standing.c.player_id).where(standing.c.pool_id == POOL).order_by(standing.c.player_id)
CHANGE_GOES = sa.delete(change).where(
    change.c.pool_id == POOL,
    change.c.started_at == sa.bindparam("at"),
    change.c.seq == sa.bindparam("number"),
    change.c.player_id == sa.bindparam("who"),
)
STANDING_GOES = sa.delete(standing).where(standing.c.pool_id == POOL, standing.c.player_id == sa.bindparam("who"))
NOBODY_COUNTED = sa.delete(rank_count).where(rank_count.c.pool_id == POOL, rank_count.c.players == 0)
DOUBLE = struct.Struct("<d")
FOREVER = Key(2**62, 0)  # after every event


def kept_ledger(connection: sa.Connection, of: Pool, first: Key) -> Ledger:
    """The ledger as it is written, from a key on."""
    rows = connection.execute(LEDGER, {"of": of.id, "at": first.started_at, "number": first.seq}).all()
    return {
        (at, seq, number): Row(place, before, rating, state)
        for _, at, seq, number, place, before, rating, state in rows
    }


def kept_standings(connection: sa.Connection, of: Pool, players: Iterable[int]) -> dict[int, Last]:
    """Where these players stand; nobody who has no rating."""
    rows = connection.execute(STANDINGS, {"of": of.id, "among": values(players)}).all()
    return {who: Last(rating, at, seq, played, state) for who, rating, at, seq, played, state in rows}


def states_before(connection: sa.Connection, of: Pool, now: Mapping[int, Last], first: Key) -> dict[int, Before]:
    """The state and newest event before a key of each player who stands somewhere; nobody who had none."""
    found: dict[int, Before] = {}
    for number, each in now.items():
        last = each if (each.started_at, each.seq) < first else newest(connection, of, number, first)
        if last is not None:
            found[number] = Before(last.state, last.played_at)
    return found


def newest(connection: sa.Connection, of: Pool, number: int, before: Key = FOREVER) -> Last | None:
    """A player's newest change before a key."""
    asked = {"of": of.id, "who": number, "at": before.started_at, "number": before.seq}
    row = connection.execute(NEWEST, asked).first()
    if row is None:
        return None
    played_at = row.started_at if row.place else connection.execute(PLAYED, asked).scalar_one()
    return Last(row.rating, row.started_at, row.seq, played_at, row.state)


def write_changes(connection: sa.Connection, of: Pool, old: Ledger, new: Ledger) -> Ledger:
    """Write the difference of two ledgers; the rows that are new or other."""
    gone = [{"of": of.id, "at": at, "number": seq, "who": who} for at, seq, who in old if (at, seq, who) not in new]
    written = {key: row for key, row in new.items() if old.get(key) != row}
    if gone:
        connection.execute(CHANGE_GOES, gone)
    put(connection, change, [(of.id, *key, *row) for key, row in written.items()])
    return written


def refresh_standings(
    connection: sa.Connection, of: Pool, old: Mapping[int, Last], new: Ledger, before: Mapping[int, Before]
) -> None:
    """The newest state of everyone who is in either, and the counts of ranks.

    Args:
        old: where those stood who the correction touches.
        new: the ledger from some event on to its end.
        before: who had a state before it, and when they played.
    """
    last = last_states(connection, of, old, new, before)
    at = 8 * of.system.state_type._fields.index("events")
    gone = [{"of": of.id, "who": number} for number in old if number not in last]
    if gone:
        connection.execute(STANDING_GOES, gone)
    rows = [
        (of.id, who, each.rating, int(DOUBLE.unpack_from(each.state, at)[0]), *each[1:])
        for who, each in last.items()
        if old.get(who) != each
    ]
    put(connection, standing, rows)
    counts = Counter(bucket(each.rating) for each in last.values())
    counts.subtract(bucket(each.rating) for each in old.values())
    count_ranks(connection, of, counts)


def last_states(
    connection: sa.Connection, of: Pool, old: Mapping[int, Last], new: Ledger, before: Mapping[int, Before]
) -> dict[int, Last]:
    """The newest of each player, who may be without: from the new ledger, else from what is kept before it."""
    found: dict[int, Last] = {}
    played = {number: each.played_at for number, each in before.items()}
    for (at, seq, number), row in new.items():  # in the order of rating
        played[number] = at if row.place else played[number]
        found[number] = Last(row.rating, at, seq, played[number], row.state)
    for number in old.keys() - found.keys():
        kept = newest(connection, of, number)
        if kept is not None:
            found[number] = kept
    return found


def bucket(rating: float) -> int:
    """The count that a rating belongs to."""
    return math.floor(rating)


def count_ranks(connection: sa.Connection, of: Pool, counts: Counter[int]) -> None:
    """Add to the counts of players per whole rating; a count of nobody goes."""
    rows = [{"pool_id": of.id, "bucket": at, "players": more} for at, more in counts.items() if more]
    if not rows:
        return
    connection.execute(COUNTED[connection.dialect.name], rows)
    if any(row["players"] < 0 for row in rows):
        connection.execute(NOBODY_COUNTED, {"of": of.id})


def counted(insert: Any) -> Any:
    """The statement that adds to a count, or begins it."""
    added = insert(rank_count)
    grown = {"players": rank_count.c.players + added.excluded.players}
    return added.on_conflict_do_update(index_elements=["pool_id", "bucket"], set_=grown)


COUNTED = {"postgresql": counted(postgresql.insert), "sqlite": counted(sqlite.insert)}
