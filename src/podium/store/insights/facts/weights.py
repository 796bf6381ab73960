"""How far one duel moves the middle player of a pool, event by event, from a sample of explanations."""

import statistics
from typing import Any

import numpy as np
import sqlalchemy as sa

from podium.store.insights.careers.changes import event_names_of
from podium.store.insights.fact_models import WeightPoint
from podium.store.log.players import names_of
from podium.store.log.pools import Pool
from podium.store.read.events import explanation
from podium.store.sql.schema import change, standing

EVENT_NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)  # of which the picture has a point
SELECT_PLAYERS = (
    sa.select(standing.c.player_id, standing.c.events)
    .where(standing.c.generation_id == sa.bindparam("generation"))
    .order_by(standing.c.player_id)
)
SELECT_NTH_EVENT = (
    sa.select(change.c.seq)
    .where(
        change.c.generation_id == sa.bindparam("generation"),
        change.c.player_id == sa.bindparam("who"),
        change.c.place > 0,
    )
    .order_by(change.c.started_at, change.c.seq)
    .limit(1)
    .offset(sa.bindparam("earlier"))
)


def weights(connection: sa.Connection, pool: Pool, most: int) -> tuple[WeightPoint, ...]:
    """How far the most moving duel of their n-th rated event moved so many players, at most, for some n."""
    rows = connection.execute(SELECT_PLAYERS, {"generation": pool.generation}).all()
    numbers, events = np.array(rows, np.int64).reshape(-1, 2).T
    points = []
    for number in EVENT_NUMBERS:
        players = numbers[events >= number].tolist()
        spread = np.linspace(0, len(players) - 1, min(most, len(players))).round().astype(np.int64)
        moved = [largest_duel(connection, pool, players[k], number) for k in spread.tolist()]
        known = [each for each in moved if each is not None]
        if known:
            points.append(WeightPoint(number, statistics.median(known), len(known)))
    return tuple(points)


def largest_duel(connection: sa.Connection, pool: Pool, player: int, number: int) -> float | None:
    """The most that one duel of a player's n-th rated event moved the rating; None where nobody was compared."""
    params: dict[str, Any] = {"generation": pool.generation, "who": player, "earlier": number - 1}
    seq = connection.execute(SELECT_NTH_EVENT, params).scalar_one()
    event_id, _ = event_names_of(connection, pool, [seq])[seq]
    (name,) = names_of(connection, pool, [player]).values()
    rows = explanation(connection, pool, event_id, name).rows
    duels = rows.filter(rows["opponent"].is_not_null())["contribution"].abs().to_list()
    return max(duels, default=None)
