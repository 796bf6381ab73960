"""What pages read beside the states and contents it follows from, filled in where an earlier version left it out."""

import sqlalchemy as sa

from podium.engine.encoding import encode
from podium.ledger.reasons.standings import event_ranks
from podium.results.reading import Results
from podium.store.derive.rating import SeasonSegment, as_table, events_from
from podium.store.log.pools import OrderKey, Pool, key_of
from podium.store.rows.ledger import GENERATION
from podium.store.rows.standings import state_columns
from podium.store.sql.schema import change, standing

WAITS = "waits for the ranks that pages show; run podium db upgrade (podium serve does so as it starts)"
FILLED = "the ranks that pages show are filled in"
TURN_EVENTS = 1_000  # whose changes are filled in one transaction
TURN_PLAYERS = 5_000
SELECT_FIRST_CHANGE = (
    sa.select(change.c.started_at, change.c.seq)
    .where(change.c.generation_id == GENERATION, change.c.field.is_(None))
    .order_by(change.c.started_at, change.c.seq)
    .limit(1)
)
SELECT_STANDINGS = (
    sa.select(standing.c.player_id, standing.c.state)
    .where(standing.c.generation_id == GENERATION, standing.c.provisional.is_(None))
    .order_by(standing.c.player_id)
    .limit(sa.bindparam("players"))
)
UPDATE_CHANGE = (
    sa.update(change)
    .where(
        change.c.generation_id == GENERATION,
        change.c.started_at == sa.bindparam("start"),
        change.c.seq == sa.bindparam("entry"),
        change.c.player_id == sa.bindparam("player"),
    )
    .values(rank=sa.bindparam("new_rank"), field=sa.bindparam("new_field"))
)
UPDATE_STANDING = (
    sa.update(standing)
    .where(standing.c.generation_id == GENERATION, standing.c.player_id == sa.bindparam("player"))
    .values(provisional=sa.bindparam("unsettled"), deviation=sa.bindparam("new_deviation"))
)


def is_due(connection: sa.Connection, pool: Pool) -> bool:
    """Whether a change or a standing lacks what pages read of it."""
    of_pool = {"generation": pool.generation, "players": 1}
    return any(connection.execute(select, of_pool).first() for select in (SELECT_FIRST_CHANGE, SELECT_STANDINGS))


def fill(connection: sa.Connection, pool: Pool, _actor: str) -> str:
    """Fill in what some of a pool's changes lack, the oldest first, or else some of its standings.

    Returns:
        A sentence for the admin once nothing is lacking any more; empty before.
    """
    first = connection.execute(SELECT_FIRST_CHANGE, {"generation": pool.generation}).first()
    if first is None:
        fill_standings(connection, pool)
    else:
        fill_changes(connection, pool, OrderKey(*first))
    return "" if is_due(connection, pool) else FILLED


def fill_changes(connection: sa.Connection, pool: Pool, first: OrderKey) -> None:
    """Fill in the ranks of some events, from a key on."""
    segments, end = events_from(connection, pool, first, TURN_EVENTS)
    rows = [row for segment in segments if segment.table.height for row in ranked_rows(pool, segment)]
    if rows:
        connection.execute(UPDATE_CHANGE, rows)
    # Left are rows where a season begins; and those that no event explains, which verification reports.
    span = key_of(change) >= sa.tuple_(*first), key_of(change) < sa.tuple_(*end)
    rest = sa.update(change).where(change.c.generation_id == pool.generation, change.c.field.is_(None), *span)
    connection.execute(rest.values(field=0))


def ranked_rows(pool: Pool, segment: SeasonSegment) -> list[dict[str, int | None]]:
    """The parameters of the statement that fills in the ranks of a segment's changes."""
    events = encode(Results(as_table(pool, segment.table), pool.name), pool.system)
    ids, players = (segment.table[name][events.ledger.row.array].to_list() for name in ("event_id", "player"))
    keys = {row.event_id: (row.started_at, row.seq) for row in segment.events}
    names = ("start", "entry", "player", "new_rank", "new_field")
    ranked = zip(ids, players, *event_ranks(events), strict=True)
    return [
        {"generation": pool.generation, **dict(zip(names, (*keys[event_id], int(player), *row), strict=True))}
        for event_id, player, *row in ranked
    ]


def fill_standings(connection: sa.Connection, pool: Pool) -> None:
    """Fill in what some standings lack."""
    found = connection.execute(SELECT_STANDINGS, {"generation": pool.generation, "players": TURN_PLAYERS}).all()
    columns = state_columns(pool, [row.state for row in found])
    rows = [
        {"generation": pool.generation, "player": row.player_id, "unsettled": unsettled, "new_deviation": deviation}
        for row, unsettled, deviation in zip(found, columns.provisional, columns.deviation, strict=True)
    ]
    connection.execute(UPDATE_STANDING, rows)
