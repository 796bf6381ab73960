"""Standings: where each player is after the newest change, as it is stored; only what changed is written."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from podium.log import statements
from podium.log.pools import BOUND_KEY, FOREVER, OrderKey, Pool, PoolView, key_of, newest_first
from podium.log.schema import change, player, standing, thing
from podium.log.statements import is_thing, of_generation, of_pool
from podium.store.writing.rating.ledger_rows import Floats, Ledger


class Standing(NamedTuple):
    """A player's newest change, and the start of the newest event."""

    rating: float
    started_at: int  # microseconds since 1970, UTC
    seq: int
    played_at: int  # microseconds since 1970, UTC
    state: bytes


def newest_changes(player: sa.Table, *conditions: sa.ColumnElement[bool], events_only: bool = False) -> sa.Select[Any]:
    """The statement for the newest change of each of some players before a key, by one walk of the index for each."""
    earlier = change.alias("earlier")
    last = (
        sa.select(earlier.c.started_at, earlier.c.seq)
        .where(of_generation(earlier), earlier.c.player_id == player.c.id)
        .where(key_of(earlier) < BOUND_KEY)
        .where(*([earlier.c.place > 0] if events_only else []))
        .order_by(*newest_first(earlier))
        .limit(1)
        .correlate(player)
        .scalar_subquery()
    )
    return (
        sa.select(*(change.c[name] for name in ("player_id", "rating", "started_at", "seq", "state", "place")))
        .select_from(player)
        .join(
            change,
            sa.and_(of_generation(change), change.c.player_id == player.c.id, key_of(change) == last),
        )
        .where(of_pool(player), *conditions)
    )


SELECT_NEWEST = {
    (table, is_all): tuple(
        newest_changes(table, *([] if is_all else [statements.among(table.c.id)]), events_only=events_only)
        for events_only in (False, True)
    )
    for table in (player, thing)
    for is_all in (False, True)
}
SELECT_STANDINGS = sa.select(standing.c.player_id, *(standing.c[name] for name in Standing._fields)).where(
    of_generation(standing), statements.among(standing.c.player_id)
)
SELECT_RATED_PLAYERS = sa.select(standing.c.player_id).where(of_generation(standing)).order_by(standing.c.player_id)
DELETE_STANDING = sa.delete(standing).where(of_generation(standing), standing.c.player_id == sa.bindparam("player"))


def stored_standings(pool: PoolView, players: Iterable[int]) -> dict[int, Standing]:
    """The standings of these players by number, as they are stored; none of a player without a rating."""
    return {row[0]: Standing._make(row[1:]) for row in pool.run(SELECT_STANDINGS, among=players)}


def standings_before(pool: PoolView, now: Mapping[int, Standing], first: OrderKey) -> dict[int, Standing]:
    """The standings before a key of players who have one now; none of a player without a rating then."""
    unmoved = {number: each for number, each in now.items() if (each.started_at, each.seq) < first}
    return unmoved | newest_standings(pool, now.keys() - unmoved.keys(), first)


def newest_standings(
    pool: PoolView, players: Collection[int] | None, before: OrderKey = FOREVER
) -> dict[int, Standing]:
    """The standings before a key of these players and things, or of all, by number; none without a rating then."""
    if players is not None and not players:
        return {}
    has_things = bool(pool.system.kinds) if players is None else any(map(is_thing, players))
    found = newest_among(pool, players, before)
    return found | newest_among(pool, players, before, thing) if has_things else found


def newest_among(
    pool: PoolView, players: Collection[int] | None, before: OrderKey, table: sa.Table = player
) -> dict[int, Standing]:
    """As `newest_standings`, of players alone, or of things, by their table."""
    params: dict[str, Any] = before._asdict()
    select_changes, select_events = SELECT_NEWEST[table, players is None]
    if players is not None:
        params["among"] = players
    rows = pool.fetch(select_changes, **params)
    played_at = {row.player_id: row.started_at for row in rows if row.place}
    if len(played_at) < len(rows):  # a season has begun since
        played_at |= {row.player_id: row.started_at for row in pool.execute(select_events, **params)}
    return {
        number: Standing(rating, started_at, seq, played_at[number], state)
        for number, rating, started_at, seq, state, _ in rows
    }


def refresh_standings(
    pool: PoolView, old: Mapping[int, Standing], new: Mapping[int, Standing], *, is_new_system: bool = False
) -> None:
    """Write the standings that are not as before."""
    removed = [{"generation": pool.generation, "player": number} for number in old if number not in new]
    if removed:
        pool.connection.execute(DELETE_STANDING, removed)
    changed = {number: each for number, each in new.items() if is_new_system or old.get(number) != each}
    statements.upsert(pool.connection, standing, standing_rows(pool, changed))


def standing_rows(pool: Pool, standings: Mapping[int, Standing]) -> list[tuple[Any, ...]]:
    if not standings:
        return []
    rating, started_at, seq, played_at, states = zip(*standings.values(), strict=True)
    events, provisional, deviation, scores = columns_of(pool, states_of(pool, states))
    times = started_at, seq, played_at
    generation = repeat(pool.generation, len(standings))
    return [*zip(generation, standings, rating, events, *times, states, provisional, deviation, scores, strict=True)]


class StateColumns(NamedTuple):
    """What rows of the standings repeat of their states, so that a query need not decode these."""

    events: list[int]
    provisional: list[bool]
    deviation: list[float | None]
    score: list[float]


def states_of(pool: Pool, packed: Sequence[bytes]) -> Floats:
    """States, (rows, fields), from their bytes in the database."""
    width = len(pool.system.state_type._fields)
    return np.frombuffer(b"".join(packed), "<f8").astype(np.float64).reshape(len(packed), width)


def columns_of(pool: Pool, states: Floats) -> StateColumns:
    """The columns of states, (players, fields)."""
    system, fields = pool.system, pool.system.state_type._fields
    deviation = states[:, fields.index("deviation")].tolist() if "deviation" in fields else [None] * len(states)
    events, unsettled = states[:, fields.index("events")].astype(np.int64).tolist(), system.unsettled(states).tolist()
    return StateColumns(events, unsettled, deviation, system.scores(states).tolist())


def apply_ledger(standings: dict[int, Standing], ledger: Ledger) -> None:
    """Bring standings, in place, up to date with a part of the ledger, in the order of rating."""
    if not ledger.place.all():  # a season begins, which is no event
        apply_rows(standings, ledger)
        return
    numbers, from_end = np.unique(ledger.player[::-1], return_index=True)
    last = len(ledger) - 1 - from_end
    chosen = ledger.rating, ledger.started_at, ledger.seq, ledger.started_at, ledger.state
    columns = (column[last].tolist() for column in chosen)
    standings.update(zip(numbers.tolist(), map(Standing._make, zip(*columns, strict=True)), strict=True))


def apply_rows(standings: dict[int, Standing], ledger: Ledger) -> None:
    """As `apply_ledger`, row by row, of which some may be older than the standings."""
    for started_at, seq, who, place, _, rating, state, *_ in zip(*ledger.table_columns(), strict=True):
        standing = standings.get(who)
        if standing is None or (standing.started_at, standing.seq) < (started_at, seq):
            played_at = started_at if place else standings[who].played_at
            standings[who] = Standing(rating, started_at, seq, played_at, state)
        elif place and standing.played_at < started_at:  # only a season has begun since
            standings[who] = standing._replace(played_at=started_at)


def shared_ranks(ratings: Sequence[float]) -> list[int]:
    """The ranks of ratings that stand best first, from 1; equal ratings share the best of theirs."""
    ranks: list[int] = []
    for k, rating in enumerate(ratings):
        ranks.append(ranks[-1] if k and rating == ratings[k - 1] else k + 1)
    return ranks
