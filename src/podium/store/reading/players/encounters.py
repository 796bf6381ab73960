"""Whom a player finished ahead of and behind, by the overall ranks of the newest events."""

import sqlalchemy as sa

from podium.store.log.log import newest_seq
from podium.store.log.players import names_of
from podium.store.log.pools import Pool
from podium.store.reading.events.events import same_event
from podium.store.reading.moments import Answers
from podium.store.reading.players.models import Encounters
from podium.store.sql.schema import change

MOST_EVENTS, MOST_MET = 100, 4_000  # events, and entrants of them, that are looked at
MOST_NAMED = 3
OWN = (
    sa.select(change.c.generation_id, change.c.started_at, change.c.seq, change.c.rank)
    .where(
        change.c.generation_id == sa.bindparam("generation"),
        change.c.player_id == sa.bindparam("who"),
        change.c.rank.is_not(None),
    )
    .order_by(change.c.started_at.desc(), change.c.seq.desc())
    .limit(sa.bindparam("top"))
    .subquery()
)
AHEAD = sa.func.sum(sa.case((change.c.rank > OWN.c.rank, 1), else_=0))
BEHIND = sa.func.sum(sa.case((change.c.rank < OWN.c.rank, 1), else_=0))
SELECT_MET = (
    sa.select(change.c.player_id, sa.func.count().label("met"), AHEAD.label("ahead"), BEHIND.label("behind"))
    .select_from(OWN)
    .join(change, sa.and_(change.c.generation_id == OWN.c.generation_id, same_event(change, OWN)))
    .where(change.c.player_id != sa.bindparam("who"), change.c.rank.is_not(None))
    .group_by(change.c.player_id)
    .having(sa.func.count() > 1)
)


def encounters(
    connection: sa.Connection, pool: Pool, answers: Answers, number: int, fields: list[int]
) -> tuple[Encounters, ...]:
    """Up to three whom a player finished ahead of more often than behind, then the one who leads most.

    The largest lead stands first, and nobody is among them who was met once. `fields` are how many entrants each of the
    player's events had, newest first.
    """
    total, top = 0, 0
    for field in fields[:MOST_EVENTS]:
        total += field
        if total > MOST_MET:
            break
        top += 1

    def find() -> tuple[Encounters, ...]:
        params = {"generation": pool.generation, "who": number, "top": top}
        rows = sorted(
            connection.execute(SELECT_MET, params).all(),
            key=lambda row: (row.behind - row.ahead, -row.met, row.player_id),
        )
        chosen = [row for row in rows[:MOST_NAMED] if row.ahead > row.behind]
        chosen += [row for row in rows[-1:] if row.behind > row.ahead]
        names = names_of(connection, pool, {row.player_id for row in chosen})
        return tuple(Encounters(names[row.player_id], row.met, row.ahead, row.behind) for row in chosen)

    key = ("encounters", pool.id, pool.generation, number)
    return answers.value(key, newest_seq(connection, pool), find)
